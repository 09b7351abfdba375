// Studies of the motion on the page: steady motions with eigenvalues, sections, portraits,
// exponents. A click into a portrait or a section begins a motion there.
import { button, el } from '../src/dom.js';
import { Figures } from '../src/figures.js';
import { normalise } from '../src/data.js';

const select = (label) => el('select', { 'aria-label': label });

const round = (v) => Number(v.toPrecision(6)); // a click is no finer

/** One start of a section at a click: on the surface, with the energy of the present start. */
const startAt = (name, value) => ['grid', `${name}=${value}:${value}:1`];

export class Studies {
    /** ask(study, options, done); begin(numbers): a motion from these states. */
    constructor(host, ask, begin) {
        this.ask = ask;
        this.begin = begin;
        this.figures = null;
        this.states = [];
        this.on = select('Surface of the section');
        this.across = select('Section, to the right');
        this.up = select('Section, upward');
        this.result = el('div', { class: 'study-result', 'aria-live': 'polite' });
        this.drawn = el('div', { class: 'study-figures' });
        const study = (label, title, name, options) => button(label, { text: label, title,
            on: () => this.run(label, name, options()) });
        host.append(el('div', { class: 'study-bar' }, el('h2', {}, 'Studies'),
            study('Steady motions', 'Steady motions near the start, with their eigenvalues',
                'equilibria', () => []),
            study('Portrait', 'Phase portrait of two states: equilibria, separatrices, levels',
                'portrait', () => []),
            el('span', { class: 'group' }, study('Section',
                'Poincaré section from the present start', 'section',
                () => this.section()), el('label', {}, 'where', this.on, '= 0'),
            el('label', {}, 'of', this.across), el('label', {}, 'and', this.up)),
            study('Exponents', 'Lyapunov exponents', 'lyapunov', () => []),
            study('Check', 'Equations, constraints and invariants at random states', 'check',
                () => [])), this.result, this.drawn);
    }

    section() {
        const plot = this.across.value && this.up.value && this.across.value !== this.up.value
            ? [['plot', `${this.across.value},${this.up.value}`]] : [];
        return [['on', this.on.value], ...plot];
    }

    load(values, states) {
        this.states = states.map((s) => s.name);
        const fill = (list, names, wanted) => {
            const before = list.value;
            list.replaceChildren(...names.map((n) => el('option', { value: n }, n)));
            list.value = names.includes(before) ? before : wanted ?? names[0] ?? '';
        };
        const names = values.filter((v) => v.role === 'basic' && v.kind !== 'quaternion')
            .map((v) => v.name);
        const isRate = (n) => /omega|'$|velocity/.test(n);
        fill(this.on, names, names.find(isRate));
        const free = states.filter((s) => s.kind !== 'quaternion').map((s) => s.name)
            .filter((n) => n !== this.on.value);
        const rates = free.filter(isRate);
        const pair = free.find((n) => `${n}'` !== this.on.value && free.includes(`${n}'`));
        const [a, b] = pair ? [pair, `${pair}'`] : rates.length > 1 ? rates
            : [...free.filter((n) => !isRate(n)), ...rates];
        fill(this.across, free, a);
        fill(this.up, free, b);
    }

    clear() {
        this.result.replaceChildren();
        this.drawn.replaceChildren();
        this.awaited = null;
    }

    run(label, name, options) {
        this.clear();
        this.say(`${label}: computing…`);
        this.ask(name, options, ({ result, error, stopped }) => {
            if (stopped) {
                this.clear();
                return;
            }
            const text = [result?.messages, result?.summary, error].filter(Boolean).join('\n');
            this.result.replaceChildren(el('pre', { tabindex: 0 }, text.trim() || 'Done.'));
            if (!result?.data) return;
            const data = normalise(result.data);
            const pick = { portrait: (at, panel) => this.pickPortrait(at, panel),
                section: (at, panel) => this.pickSection(at, panel, options) }[name];
            this.figures ??= new Figures({ figures: [] });
            this.figures.load(data, this.drawn, { pick,
                hint: pick ? 'click: a motion from there · ' : '' });
        });
    }

    say(text) {
        this.result.replaceChildren(el('p', {}, text));
    }

    /** The two states are the clicked ones, the others as they are. */
    pickPortrait([u, v], panel) {
        const { x, y } = panel.spec;
        this.awaited = { panel, x: x.label, y: y.label };
        this.begin({ [x.label]: round(u), [y.label]: round(v) });
    }

    /** The program finds the other states, on the surface and with the same energy. */
    pickSection([u, v], panel, options) {
        const { x, y } = panel.spec;
        const start = [startAt(x.label, round(u)), startAt(y.label, round(v))];
        this.say('Section: computing…');
        this.ask('section', [...options, ...start],
            ({ result, error, stopped }) => {
                if (stopped) return;
                const data = result?.data ? normalise(result.data) : null;
                const points = data?.figures[0]?.panels[0]?.series[0];
                this.say(points ? `Section from ${x.label} = ${u.toPrecision(4)}, ${y.label} ` +
                    `= ${v.toPrecision(4)}: ${points.x.length} points.`
                    : [result?.messages, error].filter(Boolean).join('\n').trim());
                if (!points) return;
                panel.add({ ...points, color: '' });
                const of = new Map(data.tables[0]?.columns.map((c) => [c.name, c.data[0]]));
                if (this.states.every((n) => Number.isFinite(of.get(n))))
                    this.begin(Object.fromEntries(this.states.map((n) => [n, of.get(n)])));
            });
    }

    /** The motion that a click began, as a curve of the portrait. */
    arrived(data) {
        const { panel, x, y } = this.awaited ?? {};
        this.awaited = null;
        const [a, b] = [x, y].map((n) => data.series.find((s) => s.name === n));
        if (panel && a && b) panel.add({ name: '', x: a.data, y: b.data, line: true,
            width: 2.4 });
    }
}
