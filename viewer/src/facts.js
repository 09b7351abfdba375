// What is known about the run, in words and tables.
import { button, byId, download, el, fileName, unchanged, worded } from './dom.js';
import { mathElement } from './mathml.js';
import { number } from './numbers.js';

const dash = '–';

function value(v, unit) {
    const shown = typeof v === 'number' ? number(v, 7) : v === null ? dash : String(v);
    return unit && unit !== '1' ? `${shown} ${unit}` : shown;
}

function section(id, title, ...content) {
    return el('section', { class: 'card', id, 'aria-labelledby': `${id}-title` },
        el('h2', { id: `${id}-title` }, title), content);
}

/** Long tables open on demand. */
function folded(summary, node, open) {
    const details = el('details', { open }, el('summary', {}, summary), node);
    return details;
}

function table(headings, rows, cls) {
    // it scrolls where it is wider than the page: by keyboard too
    return el('div', { class: 'table', tabindex: 0, role: 'group',
        'aria-label': `Table: ${headings.join(', ')}` }, el('table', { class: cls },
        el('thead', {}, el('tr', {}, headings.map((h) => el('th', { scope: 'col' }, h)))),
        el('tbody', {}, rows)));
}

/** Status and warnings above everything. */
export function buildHeader(data) {
    document.title = `${data.title} – noslip`;
    byId('title').textContent = data.title;
    const done = data.status === 'done';
    const about = [data.study && `study: ${data.study}`,
        data.formulation && `formulation ${data.formulation}`, data.method,
        data.file].filter(Boolean).join(' · ');
    byId('subtitle').textContent = about;
    const chips = byId('chips');
    const judged = data.facts.filter((f) => f.level).slice(0, 3);
    if (unchanged(chips, done, data.reason, judged.map((f) => [f.name, f.level]),
        data.warnings, data.problems)) {
        judged.forEach((f, i) => { chips.children[i + 1].title = f.text; });
        return;
    }
    chips.replaceChildren(el('span', { class: `chip ${done ? 'good' : 'bad'}` },
        done ? 'completed' : 'stopped early'));
    const signs = { good: '✓', note: '!', bad: '✕' };
    for (const f of judged) {
        chips.append(el('span', { class: `chip ${f.level}`, title: f.text },
            `${signs[f.level]} ${f.name}`));
    }
    const alerts = byId('alerts');
    const all = [];
    if (!done)
        all.push(alert('bad', `Stopped early${data.reason ? ': ' + data.reason : ''}. ` +
            `Everything up to then is shown.`));
    for (const w of data.warnings) all.push(alert('note', w));
    for (const p of data.problems) all.push(alert('note', `This page: ${p}`));
    const few = all.length > 4 ? 3 : all.length;
    alerts.replaceChildren(...all.slice(0, few));
    if (all.length > few)
        alerts.append(folded(`${all.length - few} more`,
            el('div', { class: 'more' }, all.slice(few)), false));
}

function alert(level, text) {
    return el('p', { class: `alert ${level}`, role: level === 'bad' ? 'alert' : 'note' },
        el('span', { class: 'sign', 'aria-hidden': 'true' }, level === 'bad' ? '✕' : '!'),
        el('span', {}, worded(text)));
}

/** Names of results as words: kaplan_yorke is "kaplan yorke". */
const words = (name) => name.replaceAll('_', ' ');

function resultTable(data, t) {
    const cell = (v) => typeof v === 'number' ? value(v) : v === undefined ? dash : String(v);
    const most = 200;
    const rows = [];
    for (let i = 0; i < Math.min(t.shown, most); i++)
        rows.push(el('tr', {}, t.columns.map((c) =>
            el('td', { class: Array.isArray(c.data) ? 'wrap' : null }, cell(c.data[i])))));
    const all = table(t.columns.map((c) => c.unit && c.unit !== '1'
        ? `${c.name} [${c.unit}]`
        : c.name), rows);
    const note = t.total > rows.length
        ? `${rows.length} of ${t.total} rows`
        : `${rows.length} rows`;
    const save = button('Save this table as CSV',
        { text: 'CSV', cls: 'text', on: () => saveTable(data, t) });
    const more = t.total > t.shown
        ? `; the CSV has ${t.shown}, --out FILE writes them all`
        : '';
    const shown = rows.length > 14
        ? folded(note + more, all, false)
        : [all, more && el('p', {}, note + more)];
    return [el('h3', {}, words(t.name), ' ', save), shown];
}

function saveTable(data, t) {
    const quote = (s) => /[",\r\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
    const lines = [t.columns.map((c) => quote(c.unit ? `${c.name} [${c.unit}]` : c.name))
        .join(',')];
    for (let i = 0; i < t.shown; i++) {
        lines.push(t.columns.map((c) => {
            const v = c.data[i];
            return typeof v === 'number'
                ? (Number.isFinite(v) ? String(v) : '')
                : quote(v ?? '');
        }).join(','));
    }
    download(fileName(`${data.title}-${t.name}`, '.csv'),
        new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }));
}

export function buildFacts(data, clock) {
    const host = byId('facts');
    const cards = [];
    // how it ended is said with the study; what has no value is not said
    const results = data.results.filter((r) => !['status', 'reason'].includes(r.name) &&
        (r.text || r.value !== null));
    if (results.length) {
        cards.push(section('results', 'Results',
            el('dl', { class: 'facts' }, results.map((r) => [
            el('dt', {}, words(r.name)), el('dd', {},
                r.text || (typeof r.value === 'number'
                    ? number(r.value, 12)
                    : value(r.value, r.unit))),
        ]))));
    }
    if (data.about || data.facts.length) {
        cards.push(section('quality', data.study ? 'What this is' : 'How good is this',
            data.about && el('p', { class: 'about' }, worded(data.about)),
            el('dl', { class: 'facts' }, data.facts.map((f) => [
                el('dt', { class: f.level }, f.name),
                el('dd', {}, f.text ? worded(f.text) : value(f.value, f.unit)),
            ]))));
    }
    const run = [
        ['Status', data.status === 'done'
            ? `completed${data.reason ? ': ' + data.reason : ''}`
            : `stopped early${data.reason ? ': ' + data.reason : ''}`],
        ['Formulation', data.formulation], ['Method', data.method], ['Engine', data.engine],
        ['Tolerance', data.tolerance === null ? '' : value(data.tolerance)],
        ['Time', data.n ? `${number(data.time[0])} to ${number(data.time[data.n - 1], 7)} ` +
            `${data.timeUnit}` : ''],
        ['Steps', data.steps === null ? '' : value(data.steps)],
        ['Evaluations', data.evaluations === null ? '' : value(data.evaluations)],
        ['Computing time', data.seconds === null ? '' : value(data.seconds, 's')],
        ['Samples on this page', data.study ? ''
            : data.n ? `${data.n}${data.accuracy ? ', ' + data.accuracy : ''}`
            : 'none'],
        ['Model file', data.file], ['Version', data.version && `noslip ${data.version}`],
    ].filter(([, v]) => v);
    const events = data.events.length
        ? section('events', 'Events', eventTable(data, clock))
        : null;
    const runCard = section('run', data.study ? 'Study' : 'Run',
        el('dl', { class: 'facts' }, run.map(([k, v]) => [el('dt', {}, k),
            el('dd', {}, worded(v))])));
    if (data.command) runCard.append(el('h3', {}, 'To repeat it'), copyBox(data.command));
    if (data.parameters.length) {
        cards.push(section('parameters', 'Parameters',
            table(['Name', 'Value'], data.parameters.map((p) =>
            el('tr', {}, el('th', { scope: 'row' }, p.name),
                el('td', {}, value(p.value, p.unit)))))));
    }
    cards.push(runCard);
    if (events) cards.push(events);
    if (data.final.length) {
        const rows = data.final.map((f) =>
            el('tr', {}, el('th', { scope: 'row' }, f.name),
                el('td', {}, f.text || value(f.value, f.unit))));
        const all = table(['Quantity', 'Value'], rows);
        const end = data.n ? ` at ${number(data.time[data.n - 1], 7)} ${data.timeUnit}` : '';
        cards.push(section('final', `Final values${end}`,
            rows.length > 14 ? folded(`${rows.length} quantities`, all, false) : all));
    }
    if (data.tables.length) {
        const card = section('tables', 'Tables', data.tables.map((t) => resultTable(data, t)));
        card.classList.add('wide');
        cards.push(card);
    }
    // formulas take longest, and are the same for all numbers
    const kept = (id, of, make) => {
        const card = byId(id)?.madeOf === JSON.stringify([of]) ? byId(id) : make();
        unchanged(card, of);
        card.classList.add('wide');
        cards.push(card);
    };
    if (data.equations.length)
        kept('equations', data.equations, () => section('equations', 'Equations',
            data.equations.map((e) => el('figure', { class: 'equation' },
                e.caption && el('figcaption', {}, e.caption),
                el('div', { class: 'math', tabindex: 0, role: 'group',
                    'aria-label': e.caption || 'Equation' },
                e.text ? worded(e.text) : mathElement(e.mathml))))));
    if (data.model)
        kept('model', [data.file, data.model], () => section('model',
            data.file ? `Model: ${data.file}` : 'Model', modelText(data.model)));
    // short cards in columns, wide ones below them
    const wide = cards.filter((c) => c.classList.contains('wide'));
    const short = cards.filter((c) => !wide.includes(c));
    host.replaceChildren(el('div', { class: 'columns' }, short), ...wide);
}

function eventTable(data, clock) {
    const rows = data.events.map((e) => {
        const go = Number.isFinite(e.t)
            ? el('button', { type: 'button', class: 'link', title: 'Show this moment',
                on: { click: () => { clock.pause(); clock.setTime(e.t); } } },
                number(e.t, 8))
            : dash;
        const note = [e.text, e.direction, e.action].filter(Boolean).join('; ');
        return el('tr', {}, el('td', {}, go), el('th', { scope: 'row' }, e.name),
            el('td', { class: 'wrap' }, note));
    });
    const all = table([`Time [${data.timeUnit}]`, 'Event', 'What happened'],
        rows.slice(0, 2000), 'events');
    return rows.length > 12 ? folded(`${rows.length} events`, all, false) : all;
}

export function copyBox(text) {
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

/**
 * The model, line by line; numbers come from the style sheet so that copying leaves them out.
 */
function modelText(text) {
    const lines = text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n');
    const pre = el('pre', { class: 'model', tabindex: 0, 'aria-label': 'Text of the model' });
    for (const line of lines) {
        const row = el('span', { class: 'row' });
        const hash = commentStart(line);
        if (hash >= 0)
            row.append(line.slice(0, hash), el('span', { class: 'comment' }, line.slice(hash)));
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
