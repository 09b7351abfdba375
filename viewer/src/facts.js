// What is known about the run, in words and tables.
import { button, byId, el } from './dom.js';
import { mathElement } from './mathml.js';
import { number } from './numbers.js';

const dash = '–';

function value(v, unit) {
    const shown = typeof v === 'number' ? number(v, 7) : v === null ? dash : String(v);
    return unit && unit !== '1' ? `${shown} ${unit}` : shown;
}

function section(id, title, ...content) {
    return el('section', { class: 'card', id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), content);
}

/** Long tables open on demand. */
function folded(summary, node, open) {
    const details = el('details', { open }, el('summary', {}, summary), node);
    return details;
}

function table(headings, rows, cls) {
    return el('div', { class: 'table' }, el('table', { class: cls },
        el('thead', {}, el('tr', {}, headings.map((h) => el('th', { scope: 'col' }, h)))),
        el('tbody', {}, rows)));
}

/** Status and warnings above everything. */
export function buildHeader(data) {
    document.title = `${data.title} – noslip`;
    byId('title').textContent = data.title;
    const done = data.status === 'done';
    const about = [data.formulation && `formulation ${data.formulation}`, data.method, data.file].filter(Boolean).join(' · ');
    byId('subtitle').textContent = about;
    const chips = byId('chips');
    chips.append(el('span', { class: `chip ${done ? 'good' : 'bad'}` }, done ? 'completed' : 'stopped early'));
    const signs = { good: '✓', note: '!', bad: '✕' };
    for (const f of data.facts.filter((f) => f.level).slice(0, 3)) {
        chips.append(el('span', { class: `chip ${f.level}`, title: f.text }, `${signs[f.level]} ${f.name}`));
    }
    const alerts = byId('alerts');
    const all = [];
    if (!done) all.push(alert('bad', `Stopped early${data.reason ? ': ' + data.reason : ''}. Everything up to then is shown.`));
    for (const w of data.warnings) all.push(alert('note', w));
    for (const p of data.problems) all.push(alert('note', `This page: ${p}`));
    const few = all.length > 4 ? 3 : all.length;
    alerts.append(...all.slice(0, few));
    if (all.length > few) alerts.append(folded(`${all.length - few} more`, el('div', { class: 'more' }, all.slice(few)), false));
}

function alert(level, text) {
    return el('p', { class: `alert ${level}`, role: level === 'bad' ? 'alert' : 'note' },
        el('span', { class: 'sign', 'aria-hidden': 'true' }, level === 'bad' ? '✕' : '!'), el('span', {}, text));
}

export function buildFacts(data, clock) {
    const host = byId('facts');
    const cards = [];
    if (data.about || data.facts.length) {
        cards.push(section('quality', 'How good is this', data.about && el('p', { class: 'about' }, data.about),
            el('dl', { class: 'facts' }, data.facts.map((f) => [
                el('dt', { class: f.level }, f.name), el('dd', {}, f.text || value(f.value, f.unit)),
            ]))));
    }
    const run = [
        ['Status', data.status === 'done' ? 'completed' : `stopped early${data.reason ? ': ' + data.reason : ''}`],
        ['Formulation', data.formulation], ['Method', data.method], ['Engine', data.engine],
        ['Tolerance', data.tolerance === null ? '' : value(data.tolerance)],
        ['Time', data.n ? `${number(data.time[0])} to ${number(data.time[data.n - 1], 7)} ${data.timeUnit}` : ''],
        ['Steps', data.steps === null ? '' : value(data.steps)],
        ['Evaluations', data.evaluations === null ? '' : value(data.evaluations)],
        ['Computing time', data.seconds === null ? '' : value(data.seconds, 's')],
        ['Samples on this page', data.n ? `${data.n}${data.accuracy ? ', ' + data.accuracy : ''}` : 'none'],
        ['Model file', data.file], ['Version', data.version && `noslip ${data.version}`],
    ].filter(([, v]) => v);
    const events = data.events.length ? section('events', 'Events', eventTable(data, clock)) : null;
    const runCard = section('run', 'Run', el('dl', { class: 'facts' }, run.map(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])));
    if (data.command) runCard.append(el('h3', {}, 'To repeat it'), copyBox(data.command));
    if (data.parameters.length) {
        cards.push(section('parameters', 'Parameters', table(['Name', 'Value'], data.parameters.map((p) =>
            el('tr', {}, el('th', { scope: 'row' }, p.name), el('td', {}, value(p.value, p.unit)))))));
    }
    cards.push(runCard);
    if (events) cards.push(events);
    if (data.final.length) {
        const rows = data.final.map((f) => el('tr', {}, el('th', { scope: 'row' }, f.name), el('td', {}, f.text || value(f.value, f.unit))));
        const all = table(['Quantity', 'Value'], rows);
        const end = data.n ? ` at ${number(data.time[data.n - 1], 7)} ${data.timeUnit}` : '';
        cards.push(section('final', `Final values${end}`, rows.length > 14 ? folded(`${rows.length} quantities`, all, false) : all));
    }
    if (data.equations.length) {
        cards.push(section('equations', 'Equations', data.equations.map((e) =>
            el('figure', { class: 'equation' }, e.caption && el('figcaption', {}, e.caption),
                el('div', { class: 'math', tabindex: 0, role: 'group', 'aria-label': e.caption || 'Equation' }, mathElement(e.mathml))))));
        cards[cards.length - 1].classList.add('wide');
    }
    if (data.model) {
        const card = section('model', data.file ? `Model: ${data.file}` : 'Model', modelText(data.model));
        card.classList.add('wide');
        cards.push(card);
    }
    // short cards in columns, wide ones below them
    const wide = cards.filter((c) => c.classList.contains('wide'));
    host.append(el('div', { class: 'columns' }, cards.filter((c) => !wide.includes(c))), ...wide);
}

function eventTable(data, clock) {
    const rows = data.events.map((e) => {
        const go = Number.isFinite(e.t)
            ? el('button', { type: 'button', class: 'link', title: 'Show this moment', on: { click: () => { clock.pause(); clock.setTime(e.t); } } },
                number(e.t, 8))
            : dash;
        const note = [e.text, e.direction, e.action].filter(Boolean).join('; ');
        return el('tr', {}, el('td', {}, go), el('th', { scope: 'row' }, e.name), el('td', { class: 'wrap' }, note));
    });
    const all = table([`Time [${data.timeUnit}]`, 'Event', 'What happened'], rows.slice(0, 2000), 'events');
    return rows.length > 12 ? folded(`${rows.length} events`, all, false) : all;
}

function copyBox(text) {
    const code = el('code', {}, text);
    const copy = button('Copy the command', { iconName: 'copy', on: async () => {
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            // opened from disk some browsers refuse: select it instead
            const range = document.createRange();
            range.selectNodeContents(code);
            const selection = getSelection();
            selection.removeAllRanges();
            selection.addRange(range);
        }
        copy.classList.add('done');
        setTimeout(() => copy.classList.remove('done'), 1200);
    } });
    return el('div', { class: 'command' }, code, copy);
}

/** The model, line by line; numbers come from the style sheet so that copying leaves them out. */
function modelText(text) {
    const lines = text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n');
    const pre = el('pre', { class: 'model', tabindex: 0, 'aria-label': 'Text of the model' });
    for (const line of lines) {
        const row = el('span', { class: 'row' });
        const hash = commentStart(line);
        if (hash >= 0) row.append(line.slice(0, hash), el('span', { class: 'comment' }, line.slice(hash)));
        else row.append(line);
        row.append('\n');
        pre.append(row);
    }
    return pre;
}

/** Place of the # that starts a comment, outside of strings. */
function commentStart(line) {
    let inside = false;
    for (let i = 0; i < line.length; i++) {
        if (line[i] === '"') inside = !inside;
        else if (line[i] === '#' && !inside) return i;
    }
    return -1;
}
