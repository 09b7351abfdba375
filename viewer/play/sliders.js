// A slider for every given parameter and start value.
import { button, el } from '../src/dom.js';

const steps = 1000;
const positive = /^(m|cm|mm|km|kg|g|s|ms|N\/m|kg\*m\^2|g\*cm\^2|m\/s\^2|N\*s\/m)$/;

/** Ranges that the text declares in comments: `# from 0.1 to 0.3` or `# a from 1 to 2, b …`. */
export function declaredRanges(text) {
    const out = new Map();
    const number = '([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?)';
    for (const line of text.split('\n')) {
        const hash = line.indexOf('#');
        if (hash < 0 || !/^\s*param\b/.test(line)) continue;
        const names = [...line.slice(0, hash).matchAll(/(?:param|,)\s*([A-Za-z_]\w*)\s*=/g)]
            .map((m) => m[1]);
        for (const m of line.slice(hash).matchAll(
            new RegExp(`(?:([A-Za-z_]\\w*)\\s+)?from\\s+${number}\\s+to\\s+${number}`, 'g'))) {
            const name = m[1] ?? names[0];
            const [low, high] = [Number(m[2]), Number(m[3])];
            if (names.includes(name) && high > low) out.set(name, [low, high]);
        }
    }
    return out;
}

/** Where a value may reasonably go: what is a size stays one, an angle turns once. */
export function guessRange({ value, unit }) {
    if (unit === 'rad' && Math.abs(value) <= Math.PI) return [-Math.PI, Math.PI];
    if (!(Math.abs(value) > 0)) return [-1, 1];
    if (value > 0 && positive.test(unit)) return [nice(value / 5), nice(value * 2.5)];
    const reach = nice(2 * Math.abs(value));
    return value > 0 && !unit ? [0, reach] : [-reach, reach];
}

function nice(v) {
    const e = 10 ** Math.floor(Math.log10(v) - 1);
    return Number((Math.round(v / e) * e).toPrecision(3));
}

/** Six digits, in the shorter of the two ways to write them: they have to fit. */
function shown(v) {
    const rounded = Number(v.toPrecision(6));
    const [plain, power] = [String(rounded), rounded.toExponential()];
    return power.length < plain.length ? power : plain;
}

export class Sliders {
    /** changed(numbers, done): while a slider moves, and when it stays. */
    constructor(host, changed) {
        this.host = host;
        this.changed = changed;
        this.numbers = {};
        this.rows = new Map();
        this.make = '';
    }

    /** Rows for these; what is there stays where it is, with its value. `known`: what may be
     *  set, with or without a row. */
    load(items, ranges, known = items) {
        const make = JSON.stringify(items.map((i) =>
            [i.name, i.unit, i.value, ranges.get(i.name)]));
        if (make === this.make) return;
        this.make = make;
        const active = document.activeElement?.dataset?.name;
        for (const name of Object.keys(this.numbers))
            if (known.find((i) => i.name === name)?.value === this.numbers[name] ||
                !known.some((i) => i.name === name)) delete this.numbers[name];
        this.rows = new Map(items.map((item) => [item.name, this.row(item, ranges)]));
        this.host.replaceChildren(...[...this.rows.values()].map((r) => r.node));
        if (active) this.rows.get(active)?.range.focus();
    }

    row(item, ranges) {
        const [low, high] = ranges.get(item.name) ?? guessRange(item);
        const step = (high - low) / steps;
        const range = el('input', { type: 'range', min: 0, max: steps, step: 1,
            'aria-label': item.name, 'data-name': item.name });
        const field = el('input', { type: 'number', step: 'any', class: 'number',
            'aria-label': `${item.name}, as a number` });
        const reset = button(`Set ${item.name} back`, { iconName: 'reset', cls: 'text',
            title: `Back to ${shown(item.value)}`, on: () => this.set(item.name, null, true) });
        const row = { item, range, field, reset, low, high, step };
        range.addEventListener('input', () =>
            this.set(item.name, Number((low + step * range.valueAsNumber).toPrecision(6)),
                false, true));
        range.addEventListener('change', () => this.changed(this.numbers, true));
        field.addEventListener('change', () => {
            if (Number.isFinite(field.valueAsNumber))
                this.set(item.name, field.valueAsNumber, true);
        });
        row.node = el('div', { class: 'slider' }, el('span', { class: 'name',
            title: item.name }, item.name), range, field,
            el('span', { class: 'unit' }, item.unit && item.unit !== '1' ? item.unit : ''),
            reset);
        this.show(row);
        return row;
    }

    show(row) {
        const value = this.numbers[row.item.name] ?? row.item.value;
        row.range.value = String(Math.round((value - row.low) / row.step));
        row.range.setAttribute('aria-valuetext', `${shown(value)} ${row.item.unit}`);
        row.field.value = shown(value);
        row.reset.style.visibility = row.item.name in this.numbers ? 'visible' : 'hidden';
    }

    /** Other numbers for some; nobody is told. */
    take(numbers) {
        Object.assign(this.numbers, numbers);
        this.rows.forEach((row) => this.show(row));
    }

    clear() {
        this.numbers = {};
        this.rows.forEach((row) => this.show(row));
    }

    set(name, value, done, moving = false) {
        const row = this.rows.get(name);
        if (!row) return;
        if (value === null || value === row.item.value) delete this.numbers[name];
        else this.numbers[name] = value;
        const place = row.range.value;
        this.show(row);
        if (moving) row.range.value = place;
        this.changed(this.numbers, done);
    }
}
