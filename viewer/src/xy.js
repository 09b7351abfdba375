// One quantity against another (contact path, phase portrait) with the moving point. Pressing
// or dragging goes to the nearest moment; shift-drag zooms; double-click shows everything.
import { button, css, csv, download, el, fileName } from './dom.js';
import { number, niceStep, steady, ticks } from './numbers.js';
import { addCurve, valueAt } from './motion.js';
import { composePng } from './plots.js';

const withUnit = (s) => s.unit && s.unit !== '1' ? `${s.label} [${s.unit}]` : s.label;

export class XYPlot {
    constructor(owner, spec) {
        this.owner = owner;
        this.spec = spec;
        this.visible = false;
        this.stale = true;
        this.canvas = el('canvas', {});
        this.host = el('div', { class: 'plot xy' }, this.canvas);
        this.readout = el('span', { class: 'value' });
        this.card = el('figure', { class: 'panel',
            'aria-label': `${spec.title}: ${withUnit(spec.y)} over ${withUnit(spec.x)}` },
            el('figcaption', {}, el('h3', {}, spec.title),
                el('div', { class: 'tools' },
                    button('Save this plot as PNG',
                        { text: 'PNG', cls: 'text', on: () => this.savePng() }),
                    button('Save these series as CSV',
                        { text: 'CSV', cls: 'text', on: () => this.saveCsv() }))),
            el('p', { class: 'xy-values' }, this.readout), this.host);
        this.load(spec);
        this.listen();
    }

    /** Other numbers of the same two quantities. */
    load(spec) {
        this.spec = spec;
        this.reload();
    }

    reload() {
        this.full = this.extent();
        this.range = this.full;
        this.stale = true;
        if (this.visible) this.draw();
    }

    /** The pinned motion's curve. */
    earlier() {
        const { pinned } = this.owner;
        const of = (s) => pinned?.series.find((p) => p.name === s.name)?.data;
        const [x, y] = [of(this.spec.x), of(this.spec.y)];
        return x && y ? { time: pinned.time, x, y } : null;
    }

    extent() {
        const box = [Infinity, -Infinity, Infinity, -Infinity];
        const grow = (x, y) => {
            if (!Number.isFinite(x + y)) return;
            box[0] = Math.min(box[0], x);
            box[1] = Math.max(box[1], x);
            box[2] = Math.min(box[2], y);
            box[3] = Math.max(box[3], y);
        };
        const { x, y, background } = this.spec;
        for (let i = 0; i < x.data.length; i++) grow(x.data[i], y.data[i]);
        for (const c of background)
            for (let i = 0; i + 1 < c.points.length; i += 2) grow(c.points[i], c.points[i + 1]);
        const earlier = this.earlier();
        if (earlier) earlier.x.forEach((v, i) => grow(v, earlier.y[i]));
        if (!(box[1] >= box[0])) return [0, 1, 0, 1];
        for (const k of [0, 2]) {
            const size = Math.max(Math.abs(box[k]), Math.abs(box[k + 1]));
            let pad = 0.06 * (box[k + 1] - box[k]);
            if (!(pad > size * 1e-8)) pad = size > 0 ? 0.1 * size : 1;
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
        const height = this.spec.equal
            ? Math.round(Math.min(340, Math.max(220, width * 0.7)))
            : 240;
        const ratio = window.devicePixelRatio || 1;
        if (this.width === width && this.height === height && this.ratio === ratio) return;
        Object.assign(this, { width, height, ratio });
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${height}px`;
        this.host.style.height = `${height}px`;
        this.stale = true;
        if (this.visible) this.draw();
    }

    /** Place of the axes and the mapping to pixels. */
    layout(c) {
        c.font = '12px system-ui, sans-serif';
        const bottom = this.height - 38;
        const top = 8;
        let [x0, x1, y0, y1] = this.range;
        let left = 60;
        let yTicks;
        for (let pass = 0; pass < 2; pass++) {
            if (this.spec.equal) {
                const scale = Math.max((this.range[1] - this.range[0]) / (
                    this.width - left - 12), (this.range[3] - this.range[2]) / (bottom - top));
                const [mx, my] = [(this.range[0] + this.range[1]) / 2,
                    (this.range[2] + this.range[3]) / 2];
                const [hx, hy] = [scale * (this.width - left - 12) / 2,
                    scale * (bottom - top) / 2];
                [x0, x1, y0, y1] = [mx - hx, mx + hx, my - hy, my + hy];
            }
            const step = niceStep(y1 - y0, Math.max(2, (bottom - top) / 42));
            const values = multiples(y0, y1, step);
            const labels = ticks(values, step);
            yTicks = { values, labels };
            left = 30 + Math.ceil(Math.max(18, ...labels.map((l) => c.measureText(l).width)));
        }
        const right = this.width - 12;
        const step = niceStep(x1 - x0, Math.max(2, (right - left) / 80));
        const values = multiples(x0, x1, step);
        this.area = { left, right, top, bottom, x0, x1, y0, y1 };
        this.toX = (v) => left + (v - x0) / (x1 - x0) * (right - left);
        this.toY = (v) => bottom - (v - y0) / (y1 - y0) * (bottom - top);
        return { x: { values, labels: ticks(values, step) }, y: yTicks };
    }

    /** Everything that does not move. */
    drawStill() {
        this.still ??= document.createElement('canvas');
        this.still.width = this.canvas.width;
        this.still.height = this.canvas.height;
        const c = this.still.getContext('2d');
        c.scale(this.ratio, this.ratio);
        const axes = this.layout(c);
        const { left, right, top, bottom } = this.area;
        c.strokeStyle = css('--grid');
        c.fillStyle = css('--muted');
        c.lineWidth = 1;
        c.textBaseline = 'middle';
        c.textAlign = 'right';
        axes.y.values.forEach((v, i) => {
            const y = Math.round(this.toY(v)) + 0.5;
            segment(c, left, y, right, y);
            c.fillText(axes.y.labels[i], left - 6, y);
        });
        c.textAlign = 'center';
        c.textBaseline = 'top';
        axes.x.values.forEach((v, i) => {
            const x = Math.round(this.toX(v)) + 0.5;
            segment(c, x, top, x, bottom);
            c.fillText(axes.x.labels[i], x, bottom + 5);
        });
        c.fillText(withUnit(this.spec.x), (left + right) / 2, bottom + 22);
        c.save();
        c.translate(4, (top + bottom) / 2);
        c.rotate(-Math.PI / 2);
        c.fillText(withUnit(this.spec.y), 0, 0);
        c.restore();
        c.strokeStyle = css('--line');
        c.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
        c.save();
        this.clip(c);
        c.lineJoin = 'round';
        c.strokeStyle = css('--muted');
        c.globalAlpha = 0.55;
        for (const curve of this.spec.background) {
            const p = curve.points;
            c.beginPath();
            let pen = false;
            for (let i = 0; i + 1 < p.length; i += 2) {
                if (!Number.isFinite(p[i] + p[i + 1])) {
                    pen = false;
                    continue;
                }
                if (pen) c.lineTo(this.toX(p[i]), this.toY(p[i + 1]));
                else c.moveTo(this.toX(p[i]), this.toY(p[i + 1]));
                pen = true;
            }
            c.stroke();
        }
        const earlier = this.earlier();
        if (earlier) {
            c.strokeStyle = css('--c2');
            c.setLineDash([5, 3]);
            this.trace(c, earlier.x.length - 1, 0, earlier);
            c.stroke();
            c.setLineDash([]);
        }
        c.globalAlpha = 0.3;
        c.strokeStyle = css('--c5');
        c.lineWidth = 1.6;
        this.trace(c, this.spec.x.data.length - 1);
        c.stroke();
        c.restore();
        this.stale = false;
    }

    clip(c) {
        const { left, right, top, bottom } = this.area;
        c.beginPath();
        c.rect(left, top, right - left, bottom - top);
        c.clip();
    }

    /** Path through samples 0..last and the part of an interval after it. */
    trace(c, last, part = 0, of = null) {
        c.beginPath();
        addCurve(c, of?.time ?? this.owner.data.time, of?.x ?? this.spec.x.data,
            of?.y ?? this.spec.y.data, this.toX, this.toY, { to: last, part });
    }

    draw() {
        if (!this.width) this.resize();
        if (!this.width) return;
        if (this.stale) this.drawStill();
        const c = this.canvas.getContext('2d');
        c.setTransform(1, 0, 0, 1, 0, 0);
        c.clearRect(0, 0, this.canvas.width, this.canvas.height);
        c.drawImage(this.still, 0, 0);
        c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        const point = [this.spec.x, this.spec.y]
            .map((of) => valueAt(this.owner.samples, of.data));
        const good = Number.isFinite(point[0] + point[1]);
        c.save();
        this.clip(c);
        c.lineJoin = 'round';
        c.strokeStyle = css('--c5');
        c.lineWidth = 1.8;
        this.trace(c, this.owner.samples.i, this.owner.samples.u);
        c.stroke();
        c.restore();
        if (good) {
            c.beginPath();
            c.arc(this.toX(point[0]), this.toY(point[1]), 5, 0, 2 * Math.PI);
            c.fillStyle = css('--accent');
            c.fill();
            c.lineWidth = 2;
            c.strokeStyle = css('--card');
            c.stroke();
        }
        const { x, y } = this.spec;
        const value = (s) => `${s.label} = ${steady(valueAt(this.owner.samples, s.data))}` +
            (s.unit && s.unit !== '1' ? ' ' + s.unit : '');
        this.readout.textContent = `${value(x)},  ${value(y)}`;
    }

    listen() {
        let start = null;
        let zooming = false;
        const place = (e) => {
            const box = this.canvas.getBoundingClientRect();
            return [e.clientX - box.left, e.clientY - box.top];
        };
        const value = ([px, py]) => {
            const { left, right, top, bottom, x0, x1, y0, y1 } = this.area;
            return [x0 + (px - left) / (right - left) * (x1 - x0),
                y0 + (bottom - py) / (bottom - top) * (y1 - y0)];
        };
        this.canvas.addEventListener('pointerdown', (e) => {
            if (e.button !== 0 || !this.area) return;
            start = place(e);
            zooming = e.shiftKey;
            this.canvas.setPointerCapture(e.pointerId);
            if (!zooming) this.goNearest(start, false);
        });
        this.canvas.addEventListener('pointermove', (e) => {
            if (start === null) return;
            const now = place(e);
            if (zooming) {
                this.draw();
                const c = this.canvas.getContext('2d');
                c.strokeStyle = css('--accent');
                c.strokeRect(start[0], start[1], now[0] - start[0], now[1] - start[1]);
            } else {
                this.goNearest(now, true);
            }
        });
        const finish = (e) => {
            if (start !== null && zooming && e.type === 'pointerup') {
                const [a, b] = [value(start), value(place(e))];
                const range = [Math.min(a[0], b[0]), Math.max(a[0], b[0]), Math.min(a[1], b[1]),
                    Math.max(a[1], b[1])];
                if (range[1] > range[0] && range[3] > range[2]) this.range = range;
                this.stale = true;
                this.draw();
            }
            start = null;
        };
        this.canvas.addEventListener('pointerup', finish);
        this.canvas.addEventListener('pointercancel', finish);
        this.canvas.addEventListener('dblclick', () => {
            this.range = this.full;
            this.stale = true;
            this.draw();
        });
    }

    /** The sample nearest on the screen; while dragging, nearby moments are preferred. */
    goNearest([px, py], dragging) {
        const x = this.spec.x.data;
        const y = this.spec.y.data;
        const n = x.length;
        let best = -1;
        let least = Infinity;
        for (let i = 0; i < n; i++) {
            let d = Math.hypot(this.toX(x[i]) - px, this.toY(y[i]) - py);
            if (dragging) d += 60 * Math.abs(i - this.owner.samples.i) / n;
            if (d < least) {
                least = d;
                best = i;
            }
        }
        if (best < 0) return;
        this.owner.clock.pause();
        this.owner.clock.setTime(this.owner.data.time[best]);
    }

    saveCsv() {
        const { data } = this.owner;
        download(fileName(`${data.title}-${this.spec.title}`, '.csv'),
            csv([{ name: 't', unit: data.timeUnit, data: data.time }, this.spec.x,
                this.spec.y]));
    }

    savePng() {
        this.draw();
        const t = `t = ${number(this.owner.clock.t, 6)} ${this.owner.data.timeUnit}`;
        composePng(this.canvas, this.spec.title, [{ label: t, color: css('--c5') }],
            fileName(`${this.owner.data.title}-${this.spec.title}`, '.png'));
    }
}

function segment(c, x0, y0, x1, y1) {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
}

function multiples(a, b, step) {
    const out = [];
    for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step && out.length < 100;
        k++)
        out.push(k * step);
    return out;
}
