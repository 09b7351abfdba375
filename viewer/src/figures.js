// Figures of studies: curves, points and fields of numbers over any two quantities, with the
// values under the pointer and zoom. Everything works by keyboard too: arrows go from point to
// point, + and − zoom about it, Home shows everything.
import { button, byId, css, download, el, fileName } from './dom.js';
import { number, niceStep, power, ticks } from './numbers.js';
import { copyBox } from './facts.js';
import { composePng } from './plots.js';
import { cssColor } from './scene/palette.js';

const autoColors = ['blue', 'vermilion', 'green', 'purple', 'orange', 'sky', 'brown', 'black'];
const near = 36; // pixels within which the pointer finds a point
const withUnit = (a) => a.unit && a.unit !== '1' ? `${a.label} [${a.unit}]` : a.label;

// as in the SVG files: dark to light, even in brightness; blue through white to red about zero
const even = [[68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142],
    [31, 158, 137], [53, 183, 121], [110, 206, 88],
    [181, 222, 43], [253, 231, 37]];
const two = [[24, 79, 149], [67, 135, 196], [150, 196, 225], [214, 231, 241], [247, 247, 247],
    [251, 222, 204], [243, 164, 129],
    [214, 96, 77], [165, 23, 43]];

function shade(map, place) {
    const p = Math.min(1, Math.max(0, place)) * (map.length - 1);
    const k = Math.min(map.length - 2, Math.floor(p));
    return map[k].map((v, i) => Math.round(v + (p - k) * (map[k + 1][i] - v)));
}

/** Numbers of an axis as they are drawn: themselves or their logarithms. */
const scaled = (axis, v) => axis.log ? (v > 0 ? Math.log10(v) : NaN) : v;
const unscaled = (axis, v) => axis.log ? 10 ** v : v;

function axisTicks(axis, from, to, most) {
    const [lo, hi] = from < to ? [from, to] : [to, from];
    if (axis.log && hi - lo >= 1) {
        const step = Math.max(1, Math.ceil((hi - lo) / most));
        const at = [];
        for (let k = Math.ceil(lo / step - 1e-9) * step; k <= hi + 1e-9; k += step) at.push(k);
        return { at, labels: at.map(power) };
    }
    const [a, b] = [unscaled(axis, lo), unscaled(axis, hi)];
    const step = niceStep(b - a, most);
    const values = [];
    for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step && values.length < 60;
        k++)
        values.push(k * step);
    return { at: values.map((v) => scaled(axis, v)), labels: ticks(values, step) };
}

const markers = {
    dot: (c, x, y, r) => c.rect(x - r, y - r, 2 * r, 2 * r),
    circle: (c, x, y, r) => { c.moveTo(x + r, y); c.arc(x, y, r, 0, 2 * Math.PI); },
    square: (c, x, y, r) => c.rect(x - r, y - r, 2 * r, 2 * r),
    triangle: (c, x, y, r) => {
        c.moveTo(x, y - 1.2 * r);
        c.lineTo(x + 1.1 * r, y + 0.8 * r);
        c.lineTo(x - 1.1 * r, y + 0.8 * r);
        c.closePath();
    },
    diamond: (c, x, y, r) => {
        c.moveTo(x, y - 1.3 * r);
        c.lineTo(x + 1.3 * r, y);
        c.lineTo(x, y + 1.3 * r);
        c.lineTo(x - 1.3 * r, y);
        c.closePath();
    },
    cross: (c, x, y, r) => {
        c.moveTo(x - r, y - r);
        c.lineTo(x + r, y + r);
        c.moveTo(x - r, y + r);
        c.lineTo(x + r, y - r);
    },
};

class Panel {
    /** pick([x, y], panel), if given: what a click into the figure does. */
    constructor(data, spec, pick = null) {
        this.data = data;
        this.spec = spec;
        this.pick = pick;
        this.visible = false;
        this.at = null; // the point shown: {series, i} or {cell}
        this.auto = 0;
        this.series = spec.series.map((s) => this.coloured(s));
        this.canvas = el('canvas', { tabindex: 0, role: 'application',
            'aria-label': this.describe() });
        this.tip = el('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
        this.said = el('p', { class: 'said', 'aria-live': 'polite' });
        this.host = el('div', { class: 'plot xy' }, this.canvas, this.tip);
        const title = spec.title || `${spec.y.label} over ${spec.x.label}`;
        this.title = title;
        this.repeat = el('div', { class: 'repeat', hidden: true });
        this.card = el('figure', { class: 'panel' },
            el('figcaption', {}, el('h3', {}, title),
                el('div', { class: 'tools' },
                    button('Zoom in', { iconName: 'plus', on: () => this.zoom(0.5) }),
                    button('Zoom out', { iconName: 'minus', on: () => this.zoom(2) }),
                    button('Show everything', { iconName: 'reset', on: () => this.reset() }),
                    button('Save this figure as PNG',
                        { text: 'PNG', cls: 'text', on: () => this.savePng() }),
                    button('Save the numbers of this figure as CSV',
                        { text: 'CSV', cls: 'text', on: () => this.saveCsv() }))),
            this.names = this.legend(), this.host, this.repeat, this.said);
        this.full = this.extent();
        this.range = [...this.full];
        this.listen();
    }

    coloured(s) {
        return { ...s, shown: true,
            color: s.color || autoColors[this.auto++ % autoColors.length] };
    }

    /** One series more, over the others. */
    add(s) {
        this.series.push(this.coloured({ notes: new Map(), marker: '', width: 0, ...s }));
        const names = this.legend();
        this.names.replaceWith(names);
        this.names = names;
        this.draw();
    }

    describe() {
        const { x, y, field, title } = this.spec;
        const { series } = this;
        const points = series.reduce((n, s) => n + s.x.length, 0);
        const what = field ? `${field.label || 'values'} on a grid of ${field.columns} by ` +
            `${field.rows}` : `${series.length} series, ${points} points`;
        const keys = 'Arrow keys go from point to point, plus and minus zoom, ' +
            'Home shows everything';
        const enter = this.pick ? ', Enter begins a motion at the point'
            : this.spec.command
                ? ', Enter tells the command that repeats the run behind the point' : '';
        return `${title ? title + ': ' : ''}${withUnit(y)} over ${withUnit(x)}, ${what}. ` +
            `${keys}${enter}.`;
    }

    legend() {
        const named = this.series.filter((s) => s.name);
        const f = this.spec.field;
        const words = f ? f.words.map((name, k) => ({ name, color: f.wordColors[k] }))
            .filter((_, k) => f.word.includes(k + 1)) : [];
        if (!named.length && !words.length) return el('ul', { class: 'series', hidden: true });
        return el('ul', { class: 'series' },
            words.map((w) => el('li', {},
                el('span', { class: 'swatch word', style: { background: w.color } }),
            el('span', { class: 'name' }, w.name))), named.map((s) => {
            const swatch = el('span', { class: `swatch${s.line ? ' line' : ''}` });
            s.swatch = swatch;
            const toggle = button(`${s.name}: show or hide`,
                { cls: 'series-toggle', pressed: true, title: s.name, on: () => {
                s.shown = !s.shown;
                toggle.setAttribute('aria-pressed', String(s.shown));
                if (this.at && this.at.series === s) this.point(null);
                this.draw();
            } });
            toggle.append(swatch, el('span', { class: 'name' }, s.name));
            return el('li', {}, toggle);
        }));
    }

    /** Range of the data in what is drawn: [x0, x1, y0, y1]. */
    extent() {
        const { x, y, field, levels } = this.spec;
        const box = [Infinity, -Infinity, Infinity, -Infinity];
        const grow = (k, v) => {
            if (!Number.isFinite(v)) return;
            box[k] = Math.min(box[k], v);
            box[k + 1] = Math.max(box[k + 1], v);
        };
        const fixed = (a) => Number.isFinite(scaled(a, a.from) + scaled(a, a.to));
        const inside = (a, v) => !fixed(a) ||
            (v >= Math.min(a.from, a.to) && v <= Math.max(a.from, a.to));
        for (const s of this.series) {
            for (let i = 0; i < s.x.length; i++) {
                const [u, v] = [scaled(x, s.x[i]), scaled(y, s.y[i])];
                if (!Number.isFinite(u + v)) continue;
                if (inside(y, s.y[i])) grow(0, u);
                if (inside(x, s.x[i])) grow(2, v);
            }
        }
        for (const l of levels) grow(l.vertical ? 0 : 2, scaled(l.vertical ? x : y, l.at));
        if (field) {
            for (const v of field.x) grow(0, scaled(x, v));
            for (const v of field.y) grow(2, scaled(y, v));
        }
        for (const [k, a] of [[0, x], [2, y]]) {
            if (fixed(a)) {
                box[k] = scaled(a, a.from);
                box[k + 1] = scaled(a, a.to);
                continue;
            }
            if (!(box[k + 1] >= box[k])) [box[k], box[k + 1]] = [0, 1];
            const size = Math.max(Math.abs(box[k]), Math.abs(box[k + 1]));
            let pad = (field && !this.series.length ? 0 : 0.05) * (box[k + 1] - box[k]);
            if (!(box[k + 1] - box[k] > size * 1e-13)) pad = size > 0 ? 0.1 * size : 1;
            box[k] -= pad;
            box[k + 1] += pad;
        }
        return box;
    }

    appear() {
        this.resize();
        this.draw();
    }

    resize() {
        const width = this.host.clientWidth;
        if (!width) return;
        const height = Math.round(Math.min(620,
            Math.max(260, this.spec.height || width * (this.spec.equal ? 0.75 : 0.5))));
        const ratio = window.devicePixelRatio || 1;
        if (this.width === width && this.height === height && this.ratio === ratio) return;
        Object.assign(this, { width, height, ratio });
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${height}px`;
        this.host.style.height = `${height}px`;
        if (this.visible) this.draw();
    }

    /** Place of the axes and the mapping to pixels. */
    layout(c) {
        const { x, y, field, equal } = this.spec;
        c.font = '12px system-ui, sans-serif';
        const top = 8;
        const bottom = this.height - 40;
        let bar = null;
        let right = this.width - 12;
        if (field) {
            const most = Math.max(2, (bottom - top) / 42);
            bar = axisTicks(field, field.low, field.high, most);
            right -= 30 + Math.ceil(Math.max(...bar.labels.map((l) => c.measureText(l).width),
                10)) + (field.label ? 18 : 0);
        }
        let [x0, x1, y0, y1] = this.range;
        let left = 60;
        let vertical;
        for (let pass = 0; pass < 2; pass++) {
            if (equal) {
                [x0, x1, y0, y1] = this.range;
                const scale = Math.max(Math.abs(x1 - x0) / (right - left),
                    Math.abs(y1 - y0) / (bottom - top));
                const [hx, hy] = [scale * (right - left) / 2 * Math.sign(x1 - x0),
                    scale * (bottom - top) / 2 * Math.sign(y1 - y0)];
                const [mx, my] = [(x0 + x1) / 2, (y0 + y1) / 2];
                [x0, x1, y0, y1] = [mx - hx, mx + hx, my - hy, my + hy];
            }
            vertical = axisTicks(y, y0, y1, Math.max(2, (bottom - top) / 42));
            left = 30 + Math.ceil(Math.max(18,
                ...vertical.labels.map((l) => c.measureText(l).width)));
        }
        this.area = { left, right, top, bottom, x0, x1, y0, y1 };
        this.toX = (v) => left + (scaled(x, v) - x0) / (x1 - x0) * (right - left);
        this.toY = (v) => bottom - (scaled(y, v) - y0) / (y1 - y0) * (bottom - top);
        return { horizontal: axisTicks(x, x0, x1, Math.max(2, (right - left) / 80)), vertical,
            bar };
    }

    draw() {
        if (!this.width) this.resize();
        if (!this.width) return;
        const c = this.canvas.getContext('2d');
        c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        c.clearRect(0, 0, this.width, this.height);
        const axes = this.layout(c);
        const { left, right, top, bottom } = this.area;
        c.save();
        c.beginPath();
        c.rect(left, top, right - left, bottom - top);
        c.clip();
        if (this.spec.field) this.drawField(c);
        this.drawSpans(c);
        c.restore();
        this.drawAxes(c, axes);
        c.save();
        c.beginPath();
        c.rect(left, top, right - left, bottom - top);
        c.clip();
        this.drawLevels(c);
        for (const s of this.series) if (s.shown) this.drawSeries(c, s);
        this.drawPoint(c);
        c.restore();
        if (axes.bar) this.drawBar(c, axes.bar);
        for (const s of this.series)
            s.swatch?.style.setProperty('background', cssColor(s.color));
        this.showTip();
    }

    drawAxes(c, axes) {
        const { left, right, top, bottom, x0, x1, y0, y1 } = this.area;
        const over = Boolean(this.spec.field);
        c.strokeStyle = over ? css('--line') : css('--grid');
        c.fillStyle = css('--muted');
        c.lineWidth = 1;
        c.textBaseline = 'middle';
        c.textAlign = 'right';
        axes.vertical.at.forEach((v, i) => {
            const y = Math.round(bottom - (v - y0) / (y1 - y0) * (bottom - top)) + 0.5;
            segment(c, over ? left - 4 : left, y, over ? left : right, y);
            c.fillText(axes.vertical.labels[i], left - 6, y);
        });
        c.textAlign = 'center';
        c.textBaseline = 'top';
        axes.horizontal.at.forEach((v, i) => {
            const x = Math.round(left + (v - x0) / (x1 - x0) * (right - left)) + 0.5;
            segment(c, x, over ? bottom : top, x, over ? bottom + 4 : bottom);
            c.fillText(axes.horizontal.labels[i], x, bottom + 6);
        });
        c.fillText(withUnit(this.spec.x), (left + right) / 2, bottom + 23);
        sideways(c, withUnit(this.spec.y), 4, (top + bottom) / 2);
        c.strokeStyle = css('--line');
        c.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
    }

    drawField(c) {
        const f = this.spec.field;
        const map = f.diverging ? two : even;
        if (!f.image) {
            f.image = document.createElement('canvas');
            f.image.width = f.columns;
            f.image.height = f.rows;
            const g = f.image.getContext('2d');
            const pixels = g.createImageData(f.columns, f.rows);
            for (let row = 0; row < f.rows; row++) {
                for (let k = 0; k < f.columns; k++) {
                    const place = (scaled(f, f.value[row * f.columns + k]) - f.low) / (
                        f.high - f.low);
                    const word = f.word[row * f.columns + k];
                    const rgb = word ? rgbOf(f.wordColors[word - 1])
                        : Number.isFinite(place) ? shade(map, place)
                        : [200, 200, 200];
                    // rows go up the page, those of an image down
                    pixels.data.set([...rgb, 255], 4 * ((f.rows - 1 - row) * f.columns + k));
                }
            }
            g.putImageData(pixels, 0, 0);
        }
        c.imageSmoothingEnabled = false;
        const [x0, x1] = f.x.map((v) => this.toX(v));
        const [y0, y1] = f.y.map((v) => this.toY(v));
        c.drawImage(f.image, x0, y1, x1 - x0, y0 - y1);
    }

    drawBar(c, bar) {
        const f = this.spec.field;
        const { right, top, bottom } = this.area;
        const map = f.diverging ? two : even;
        const gradient = c.createLinearGradient(0, bottom, 0, top);
        for (let k = 0; k <= 32; k++)
            gradient.addColorStop(k / 32, `rgb(${shade(map, k / 32).join(' ')})`);
        c.fillStyle = gradient;
        c.fillRect(right + 10, top, 12, bottom - top);
        c.fillStyle = css('--muted');
        c.textAlign = 'left';
        c.textBaseline = 'middle';
        bar.at.forEach((v, i) => c.fillText(bar.labels[i], right + 27,
            bottom - (v - f.low) / (f.high - f.low) * (bottom - top)));
        if (f.label) sideways(c, withUnit(f), this.width - 16, (top + bottom) / 2);
    }

    drawSpans(c) {
        const { left, right, top, bottom } = this.area;
        c.fillStyle = css('--span');
        for (const s of this.spec.spans) {
            if (s.horizontal)
                c.fillRect(left, this.toY(s.to), right - left,
                    this.toY(s.from) - this.toY(s.to));
            else c.fillRect(this.toX(s.from), top, this.toX(s.to) - this.toX(s.from),
                bottom - top);
        }
    }

    drawLevels(c) {
        const { left, right, top, bottom } = this.area;
        c.strokeStyle = css('--muted');
        c.fillStyle = css('--muted');
        c.lineWidth = 1;
        c.setLineDash([5, 4]);
        let line = 0;
        for (const l of this.spec.levels) {
            if (l.vertical) {
                const x = this.toX(l.at);
                segment(c, x, top, x, bottom);
                c.textAlign = x > right - 130 ? 'right' : 'left';
                c.textBaseline = 'top';
                if (l.name)
                    c.fillText(l.name, x + (x > right - 130 ? -4 : 4),
                        top + 4 + 14 * (line++ % 4));
            } else {
                const y = this.toY(l.at);
                segment(c, left, y, right, y);
                c.textAlign = 'right';
                c.textBaseline = 'bottom';
                if (l.name) c.fillText(l.name, right - 4, y - 2);
            }
        }
        c.setLineDash([]);
    }

    drawSeries(c, s) {
        c.strokeStyle = cssColor(s.color);
        c.fillStyle = cssColor(s.color);
        c.lineJoin = 'round';
        if (s.line) {
            c.lineWidth = s.width || 1.7;
            c.setLineDash(s.dashed ? [6, 4] : []);
            c.beginPath();
            let pen = false;
            let [px, py] = [NaN, NaN];
            for (let i = 0; i < s.x.length; i++) {
                const X = this.toX(s.x[i]);
                const Y = this.toY(s.y[i]);
                if (!Number.isFinite(X + Y)) {
                    pen = false;
                } else if (!pen) {
                    c.moveTo(X, Y);
                    pen = true;
                    [px, py] = [X, Y];
                } else if (Math.abs(X - px) + Math.abs(Y - py) > 0.3 || i === s.x.length - 1) {
                    c.lineTo(X, Y);
                    [px, py] = [X, Y];
                }
            }
            c.stroke();
            c.setLineDash([]);
        }
        const marker = markers[s.marker];
        if (!marker) return;
        const dot = s.x.length > 3000 ? 1.6 : 3; // few must be seen, many must not run together
        const size = s.marker === 'dot'
            ? (s.line ? 1 : s.width || dot) / 2
            : (s.line ? 7 : s.width || 7) / 2;
        const { left, right, top, bottom } = this.area;
        c.lineWidth = 1.6;
        c.beginPath();
        for (let i = 0; i < s.x.length; i++) {
            const X = this.toX(s.x[i]);
            const Y = this.toY(s.y[i]);
            if (X > left - 9 && X < right + 9 && Y > top - 9 && Y < bottom + 9)
                marker(c, X, Y, size);
        }
        if (s.marker === 'cross') c.stroke();
        else c.fill();
    }

    // ---- the point under the pointer

    drawPoint(c) {
        if (!this.at?.series) return;
        const { series, i } = this.at;
        c.beginPath();
        c.arc(this.toX(series.x[i]), this.toY(series.y[i]), 6, 0, 2 * Math.PI);
        c.lineWidth = 3.5;
        c.strokeStyle = css('--card');
        c.stroke();
        c.lineWidth = 2;
        c.strokeStyle = css('--accent');
        c.stroke();
    }

    /** What is near a place of the canvas: a point of a series, or a cell of the field. */
    find([px, py]) {
        let best = null;
        let least = near * near;
        for (const s of this.series) {
            if (!s.shown) continue;
            for (let i = 0; i < s.x.length; i++) {
                const dx = this.toX(s.x[i]) - px;
                const dy = this.toY(s.y[i]) - py;
                const d = dx * dx + dy * dy;
                if (d < least) {
                    least = d;
                    best = { series: s, i };
                }
            }
        }
        const f = this.spec.field;
        if (!f || (best && least < 64)) return best;
        const [x0, x1] = f.x.map((v) => this.toX(v));
        const [y0, y1] = f.y.map((v) => this.toY(v));
        const column = Math.floor((px - x0) / (x1 - x0) * f.columns);
        const row = Math.floor((py - y0) / (y1 - y0) * f.rows);
        return column >= 0 && column < f.columns && row >= 0 && row < f.rows
            ? { column, row }
            : best;
    }

    /** The middle of a cell in the numbers of the axes. */
    middle({ column, row }) {
        const { field: f, x, y } = this.spec;
        const along = (axis, [a, b], k, n, exact) => {
            if (exact) return exact[k];
            const [u, v] = [scaled(axis, a), scaled(axis, b)];
            return unscaled(axis, u + (k + 0.5) / n * (v - u));
        };
        return [along(x, f.x, column, f.columns, f.at[0]), along(y, f.y, row, f.rows, f.at[1])];
    }

    /** Name and values of the point shown: [title, [[label, value], ...]]. */
    values() {
        const { x, y, field } = this.spec;
        const note = (notes, i) => notes.has(i) ? [['', notes.get(i)]] : [];
        const value = (v, a) => number(v, 9) + (a.unit && a.unit !== '1' ? ` ${a.unit}` : '');
        if (this.at.series) {
            const { series: s, i } = this.at;
            return [s.name, [[x.label, value(s.x[i], x)], [y.label, value(s.y[i], y)],
                ...note(s.notes, i)]];
        }
        const [u, v] = this.middle(this.at);
        const cell = this.at.row * field.columns + this.at.column;
        const word = field.words[field.word[cell] - 1];
        return ['', [[x.label, value(u, x)], [y.label, value(v, y)],
            [field.label || 'value', word ?? value(field.value[cell], field)],
            ...note(field.notes, cell)]];
    }

    /** The command that repeats the run behind a point, below the figure. */
    tellCommand() {
        if (!this.at || !this.spec.command) return;
        const [u, v] = this.at.series
            ? [this.at.series.x[this.at.i], this.at.series.y[this.at.i]]
            : this.middle(this.at);
        const command = this.spec.command.replaceAll('{x}', String(u))
            .replaceAll('{y}', String(v));
        this.repeat.replaceChildren(el('p', {}, 'To see this motion in 3D:'), copyBox(command));
        this.repeat.hidden = false;
    }

    point(at, say = false) {
        this.at = at;
        this.draw();
        if (say && at) {
            const [title, rows] = this.values();
            this.said.textContent = [title,
                ...rows.map(([k, v]) => `${k} ${v}`)].filter(Boolean).join(', ');
        }
    }

    showTip() {
        this.tip.hidden = !this.at;
        if (!this.at) return;
        const [title, rows] = this.values();
        this.tip.replaceChildren(...(title ? [el('b', {}, title)] : []), ...rows.map(([k, v]) =>
            el('span', {}, el('span', { class: 'name' }, k),
                el('span', { class: 'value' }, v))));
        const [u, v] = this.at.series
            ? [this.at.series.x[this.at.i], this.at.series.y[this.at.i]]
            : this.middle(this.at);
        const [X, Y] = [this.toX(u), this.toY(v)];
        const w = this.tip.offsetWidth;
        const h = this.tip.offsetHeight;
        const left = X + 14 + w > this.width ? X - 14 - w : X + 14;
        const top = Math.min(Math.max(2, Y - h / 2), this.height - h - 2);
        this.tip.style.transform = `translate(${Math.round(Math.max(2, left))}px, ` +
            `${Math.round(top)}px)`;
    }

    // ---- zoom

    /** Place of the canvas in the numbers that are drawn. */
    place([px, py]) {
        const { left, right, top, bottom, x0, x1, y0, y1 } = this.area;
        return [x0 + (px - left) / (right - left) * (x1 - x0),
            y0 + (bottom - py) / (bottom - top) * (y1 - y0)];
    }

    /** A click, in the numbers that are drawn. */
    pickAt([u, v]) {
        this.pick?.([unscaled(this.spec.x, u), unscaled(this.spec.y, v)], this);
    }

    setRange(range) {
        const small = (a, b) => !(Math.abs(b - a) > 1e-13 * Math.max(Math.abs(a), Math.abs(b)));
        if (!range.every(Number.isFinite) || small(range[0], range[1]) ||
            small(range[2], range[3]))
            return;
        this.range = range;
        this.draw();
    }

    reset() {
        this.range = [...this.full];
        this.draw();
    }

    /** About a place of the canvas, the point shown, or the middle. */
    zoom(factor, pixels = null) {
        if (!this.area) return;
        const { x0, x1, y0, y1 } = this.area;
        let about = pixels && this.place(pixels);
        if (!about && this.at?.series) {
            const { series, i } = this.at;
            about = [scaled(this.spec.x, series.x[i]), scaled(this.spec.y, series.y[i])];
        }
        const [ax, ay] = about ?? [(x0 + x1) / 2, (y0 + y1) / 2];
        this.setRange([ax + (x0 - ax) * factor, ax + (x1 - ax) * factor,
            ay + (y0 - ay) * factor, ay + (y1 - ay) * factor]);
    }

    listen() {
        const place = (e) => {
            const box = this.canvas.getBoundingClientRect();
            return [e.clientX - box.left, e.clientY - box.top];
        };
        let start = null;
        let moved = null; // the range from which shift-drag began
        this.canvas.addEventListener('pointerdown', (e) => {
            if (e.button !== 0 || !this.area) return;
            start = place(e);
            moved = e.shiftKey ? { ...this.area } : null;
            this.canvas.setPointerCapture(e.pointerId);
        });
        this.canvas.addEventListener('pointermove', (e) => {
            const now = place(e);
            if (!this.area) return;
            if (start === null) {
                this.point(this.find(now));
            } else if (moved) {
                const { left, right, top, bottom, x0, x1, y0, y1 } = moved;
                const dx = (start[0] - now[0]) / (right - left) * (x1 - x0);
                const dy = (now[1] - start[1]) / (bottom - top) * (y1 - y0);
                this.setRange([x0 + dx, x1 + dx, y0 + dy, y1 + dy]);
            } else {
                this.at = null;
                this.draw();
                const c = this.canvas.getContext('2d');
                c.strokeStyle = css('--accent');
                c.strokeRect(start[0], start[1], now[0] - start[0], now[1] - start[1]);
            }
        });
        const finish = (e) => {
            const now = place(e);
            if (start !== null && !moved && e.type === 'pointerup') {
                if (Math.abs(now[0] - start[0]) > 6 && Math.abs(now[1] - start[1]) > 6) {
                    const [a, b] = [this.place(start), this.place(now)];
                    const { x0, x1, y0, y1 } = this.area;
                    const order = (u, v, up) => up
                        ? [Math.min(u, v), Math.max(u, v)]
                        : [Math.max(u, v), Math.min(u, v)];
                    this.setRange([...order(a[0], b[0], x1 > x0),
                        ...order(a[1], b[1], y1 > y0)]);
                } else {
                    this.point(this.find(now), true);
                    this.tellCommand();
                    const { left, right, top, bottom } = this.area;
                    if (now[0] >= left && now[0] <= right && now[1] >= top &&
                        now[1] <= bottom) {
                        const place = this.place(now);
                        clearTimeout(this.picking); // not by the clicks of a double-click
                        this.picking = setTimeout(() => this.pickAt(place), 250);
                    }
                }
            }
            start = null;
        };
        this.canvas.addEventListener('pointerup', finish);
        this.canvas.addEventListener('pointercancel', finish);
        this.canvas.addEventListener('pointerleave',
            () => { if (start === null) this.point(null); });
        this.canvas.addEventListener('dblclick', () => {
            clearTimeout(this.picking);
            this.reset();
        });
        // the page must scroll past a figure that nobody works with
        this.canvas.addEventListener('wheel', (e) => {
            if (!e.ctrlKey && document.activeElement !== this.canvas) return;
            e.preventDefault();
            this.zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY)) * 0.002), place(e));
        }, { passive: false });
        this.canvas.addEventListener('keydown', (e) => {
            if (e.ctrlKey || e.metaKey || e.altKey) return;
            const actions = {
                ArrowLeft: () => this.go(-1, 0), ArrowRight: () => this.go(1, 0),
                ArrowUp: () => this.go(0, 1), ArrowDown: () => this.go(0, -1),
                '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
                Home: () => this.reset(), Escape: () => this.point(null),
                Enter: () => {
                    this.tellCommand();
                    const { x0, x1, y0, y1 } = this.area ?? {};
                    const { series: s, i } = this.at ?? {};
                    if (this.area) this.pickAt(s ? [scaled(this.spec.x, s.x[i]),
                        scaled(this.spec.y, s.y[i])] : [(x0 + x1) / 2, (y0 + y1) / 2]);
                },
            };
            if (!Object.hasOwn(actions, e.key)) return;
            e.preventDefault();
            actions[e.key]();
        });
        this.canvas.addEventListener('blur', () => this.point(null));
    }

    /** Keys: along the series, and from series to series; from cell to cell of a field. */
    go(along, across) {
        const f = this.spec.field;
        const shown = this.series.filter((s) => s.shown && s.x.length);
        if (f && (!this.at || this.at.column !== undefined)) {
            const at = this.at ?? { column: -along, row: -across };
            this.point({
                column: Math.min(f.columns - 1, Math.max(0, at.column + along)),
                row: Math.min(f.rows - 1, Math.max(0, at.row + across)),
            }, true);
            return;
        }
        if (!shown.length) return;
        let { series, i } = this.at ?? { series: shown[0], i: along > 0 ? -1 : 0 };
        if (across) {
            const k = Math.max(0, shown.indexOf(series));
            series = shown[(k + (across > 0 ? 1 : shown.length - 1)) % shown.length];
            i = Math.min(Math.max(i, 0), series.x.length - 1);
        } else {
            for (let k = i + along; k >= 0 && k < series.x.length; k += along) {
                i = k;
                if (Number.isFinite(series.x[k] + series.y[k])) break;
            }
        }
        this.point({ series, i: Math.max(0, i) }, true);
    }

    // ---- files

    saveCsv() {
        const quote = (s) => /[",\r\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
        const { x, y, field } = this.spec;
        const value = (v) => Number.isFinite(v) ? String(v) : '';
        const lines = [['series', withUnit(x), withUnit(y),
            ...(field ? [withUnit({ ...field, label: field.label || 'value' })] : [])].map(
            quote).join(',')];
        this.series.forEach((s, k) => {
            for (let i = 0; i < s.x.length; i++)
                lines.push(
                    `${quote(s.name || String(k + 1))},${value(s.x[i])},${value(s.y[i])}`);
        });
        for (let row = 0; field && row < field.rows; row++) {
            for (let column = 0; column < field.columns; column++) {
                const [u, v] = this.middle({ column, row });
                const w = field.value[row * field.columns + column];
                lines.push(`field,${value(u)},${value(v)},${value(w)}`);
            }
        }
        download(fileName(`${this.data.title}-${this.title}`, '.csv'),
            new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }));
    }

    savePng() {
        this.draw();
        const entries = this.series.filter((s) => s.name && s.shown)
            .map((s) => ({ label: s.name, color: cssColor(s.color) }));
        composePng(this.canvas, this.title, entries,
            fileName(`${this.data.title}-${this.title}`, '.png'));
    }
}

export class Figures {
    constructor(data) {
        this.load(data);
    }

    /** pick, hint: what a click into a figure does, and how the page says so. */
    load(data, host = byId('figures'), { pick = null, hint = '' } = {}) {
        this.panels = [];
        this.watcher?.disconnect();
        this.sizes?.disconnect();
        host.replaceChildren();
        host.hidden = data.figures.length === 0;
        if (host.hidden) return;
        this.watcher = new IntersectionObserver((entries) => {
            for (const e of entries) {
                const panel = this.panels.find((p) => p.card === e.target);
                if (!panel) continue;
                panel.visible = e.isIntersecting;
                if (panel.visible) panel.appear();
            }
        }, { rootMargin: '200px' });
        this.sizes = new ResizeObserver(() => this.panels.forEach((p) => p.resize()));
        this.sizes.observe(host);
        data.figures.forEach((figure, i) => {
            const bar = el('div', { class: 'plot-bar' }, el('h2', {}, figure.title || 'Figure'),
                i === 0 && el('span', { class: 'hint' },
                    `${hint}drag or ctrl-scroll: zoom (scroll after a click) · ` +
                        'shift-drag: move · double-click: all'));
            const grid = el('div', { class: 'panels figures',
                style: { '--columns': String(figure.columns) } });
            host.append(bar, grid);
            for (const spec of figure.panels) {
                const panel = new Panel(data, spec, pick);
                this.panels.push(panel);
                grid.append(panel.card);
                this.watcher.observe(panel.card);
            }
        });
    }

    redraw() {
        for (const p of this.panels) if (p.visible) p.draw();
    }

    /** For tests: where a point of a panel is drawn, in pixels of its canvas. */
    pixel(i, series, k) {
        const p = this.panels[i];
        return p?.area ? [p.toX(p.series[series].x[k]), p.toY(p.series[series].y[k])] : null;
    }

    /** For tests: what a panel shows. */
    state(i) {
        const p = this.panels[i];
        if (!p?.area) return null;
        const { left, right, top, bottom, x0, x1, y0, y1 } = p.area;
        return {
            title: p.title, area: { left, right, top, bottom }, range: [x0, x1, y0, y1],
            said: p.said.textContent,
            tip: p.tip.hidden ? null : p.tip.textContent,
            command: p.repeat.hidden ? null : p.repeat.querySelector('code').textContent,
            series: p.series.map((s) => ({ name: s.name, n: s.x.length, shown: s.shown })),
        };
    }
}

const rgbOf = (hex) => [1, 3, 5].map((i) => parseInt(hex?.slice(i, i + 2), 16) || 0);

function segment(c, x0, y0, x1, y1) {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
}

function sideways(c, text, x, y) {
    c.save();
    c.translate(x, y);
    c.rotate(-Math.PI / 2);
    c.textAlign = 'center';
    c.textBaseline = 'top';
    c.fillText(text, 0, 0);
    c.restore();
}
