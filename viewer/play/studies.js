// Studies of the motion on the page: steady motions with eigenvalues, sections, exponents.
import { button, el } from '../src/dom.js';
import { Figures } from '../src/figures.js';
import { normalise } from '../src/data.js';

export class Studies {
    /** ask(study, options, handlers) */
    constructor(host, ask) {
        this.ask = ask;
        this.figures = null;
        this.on = el('select', { 'aria-label': 'Surface of the section' });
        this.result = el('div', { class: 'study-result', 'aria-live': 'polite' });
        this.drawn = el('div', { class: 'study-figures' });
        const study = (label, title, name, options) => button(label, { text: label, title,
            on: () => this.run(label, name, options()) });
        host.append(el('div', { class: 'study-bar' }, el('h2', {}, 'Studies'),
            study('Steady motions', 'Steady motions near the start, with their eigenvalues',
                'equilibria', () => []),
            el('span', { class: 'group' }, study('Section',
                'Poincaré section from the present start', 'section',
                () => [['on', this.on.value]]), el('label', {}, 'where', this.on, '= 0')),
            study('Portrait', 'Phase portrait of two states: equilibria, separatrices, levels',
                'portrait', () => []),
            study('Exponents', 'Lyapunov exponents', 'lyapunov', () => []),
            study('Check', 'Equations, constraints and invariants at random states', 'check',
                () => [])), this.result, this.drawn);
    }

    load(values) {
        const names = values.filter((v) => v.role === 'basic' && v.kind !== 'quaternion')
            .map((v) => v.name);
        const before = this.on.value;
        this.on.replaceChildren(...names.map((n) => el('option', { value: n }, n)));
        const turning = names.find((n) => /omega|'$|velocity/.test(n));
        this.on.value = names.includes(before) ? before : turning ?? names[0] ?? '';
    }

    clear() {
        this.result.replaceChildren();
        this.drawn.replaceChildren();
    }

    run(label, name, options) {
        this.clear();
        this.result.replaceChildren(el('p', {}, `${label}: computing…`));
        this.ask(name, options, ({ result, error, stopped }) => {
            if (stopped) {
                this.clear();
                return;
            }
            const text = [result?.messages, result?.summary, error].filter(Boolean).join('\n');
            this.result.replaceChildren(el('pre', { tabindex: 0 }, text.trim() || 'Done.'));
            if (!result?.data) return;
            const data = normalise(result.data);
            this.figures ??= new Figures({ figures: [] });
            this.figures.load(data, this.drawn);
        });
    }
}
