// Quantities over time, in panels of one group and unit each. All panels share the time axis
// and show the moment of the scene; pressing or dragging in a panel moves that moment.
import uPlot from 'uplot';
import { button, byId, css, csv, download, el, fileName } from './dom.js';
import { addCurve, valueAt } from './motion.js';
import { number, power, steady, ticks } from './numbers.js';
import { XYPlot } from './xy.js';

const seriesColors = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7', '--c8'];
const dashes = [undefined, [7, 3], [2, 3], [9, 3, 2, 3]];
const height = 196;
const lines = uPlot.paths.linear();
export const font = '12px system-ui, sans-serif';

const capital = (s) => s.charAt(0).toUpperCase() + s.slice(1);
const withUnit = (name, unit) => unit && unit !== '1' ? `${name} [${unit}]` : name;

export class Plots {
    constructor(data, samples, clock) {
        this.samples = samples;
        this.clock = clock;
        this.panels = [];
        this.xy = [];
        this.pinned = null;
        this.zoomOut = button('Show all times',
            { iconName: 'reset', title: 'Show all times',
                on: () => this.setWindow(...this.full) });
        const bar = el('div', { class: 'plot-bar' }, el('h2', {}, 'Plots'),
            el('span', { class: 'hint' },
                'drag: move time · shift-drag: zoom · double-click: all'),
            el('div', { class: 'tools' },
                button('Zoom in', { iconName: 'plus', title: 'Zoom in around the current time',
                    on: () => this.zoom(0.5) }),
                button('Zoom out', { iconName: 'minus', title: 'Zoom out',
                    on: () => this.zoom(2) }), this.zoomOut,
                button('Download all series as CSV',
                    { iconName: 'table', text: 'CSV', on: () => this.saveAll() })));
        this.grid = el('div', { class: 'panels' });
        this.modes = el('ul', { class: 'modes', 'aria-label': 'Modes' });
        bar.append(this.modes);
        this.bar = bar;
        byId('plots').append(bar, this.grid);
        this.watcher = new IntersectionObserver((entries) => {
            for (const e of entries) {
                const panel = [...this.panels, ...this.xy].find((p) => p.card === e.target);
                if (!panel) continue;
                panel.visible = e.isIntersecting;
                if (panel.visible) panel.appear();
            }
        }, { rootMargin: '200px' });
        this.load(data);
        new ResizeObserver(() => {
            for (const p of [...this.panels, ...this.xy]) p.resize();
        }).observe(this.grid);
    }

    /** Shows another motion; panels of the same quantities stay as they are. */
    load(data) {
        this.data = data;
        const time = data.time;
        this.time = Array.from(time);
        this.full = [time[0] ?? 0, time[data.n - 1] ?? 1];
        if (!(this.full[1] > this.full[0]))
            this.full = [this.full[0] - 0.5, this.full[0] + 0.5];
        this.window = [...this.full];
        this.events = data.events.filter((e) => Number.isFinite(e.t)).sort((a, b) => a.t - b.t);
        const none = !data.n || (!data.series.length && !data.plots.length);
        byId('plots').hidden = none;
        document.body.classList.toggle('no-plots', none);
        this.nameModes();
        this.largest = new Map(); // by unit
        const groups = new Map();
        for (const s of data.series) {
            let most = this.largest.get(s.unit) ?? 0;
            for (const v of s.data)
                if (Number.isFinite(v)) most = Math.max(most, Math.abs(v));
            this.largest.set(s.unit, most);
            const key = JSON.stringify([s.group, s.unit]);
            if (!groups.has(key)) groups.set(key, []);
            groups.get(key).push(s);
        }
        const lists = [...groups.values()];
        const make = JSON.stringify([lists.map((l) => l.map((s) => [s.name, s.group, s.unit])),
            data.plots.map((p) => [p.title, p.x.name, p.y.name])]);
        this.updateZoom();
        if (make === this.make) {
            this.panels.forEach((p, i) => p.load(lists[i]));
            this.xy.forEach((p, i) => p.load(data.plots[i]));
            return;
        }
        this.make = make;
        this.watcher.disconnect();
        for (const p of this.panels) p.plot?.destroy();
        const perGroup = new Map();
        for (const list of lists)
            perGroup.set(list[0].group, (perGroup.get(list[0].group) ?? 0) + 1);
        this.panels = lists.map((list) =>
            new Panel(this, list, perGroup.get(list[0].group) > 1));
        this.xy = data.plots.map((p) => new XYPlot(this, p));
        // what one looks at first; the pictures in the plane come after it
        const first = ['observe', 'force', 'friction / normal force', 'slip',
            'angular velocity', 'quasivelocities', 'momenta'];
        const others = this.panels.findIndex((p) => !first.includes(p.group));
        const leads = this.panels.slice(0, others < 0 ? this.panels.length : others);
        const flat = leads.filter((p) => p.flat); // but for rounding errors
        const cards = [...leads.filter((p) => !p.flat),
            ...this.panels.filter((p) => !leads.includes(p))].map((p) => p.card);
        cards.splice(Math.max(2, Math.min(5, leads.length - flat.length)), 0,
            ...this.xy.map((p) => p.card), ...flat.map((p) => p.card));
        this.grid.replaceChildren(...cards);
        for (const card of cards) this.watcher.observe(card);
    }

    /** What the colours of the bands below the curves mean. */
    nameModes() {
        const modes = new Map(this.data.spans.filter((s) => s.mode !== null)
            .sort((a, b) => a.mode - b.mode).map((s) => [s.name, s.color]));
        this.modes.hidden = modes.size < 1;
        this.modes.replaceChildren(...[...modes].map(([name, color]) => el('li', {},
            el('i', { class: 'swatch line', style: { background: `var(${color})` } }), name)));
    }

    /** The mode at a time, or ''. */
    modeAt(t) {
        return this.data.spans.find((s) => s.mode !== null && t >= s.from && t <= s.to)?.name ??
            '';
    }

    /** An earlier motion, drawn thin behind this one; null: none. */
    pin(data) {
        this.pinned = data;
        for (const p of this.panels) p.reload();
        for (const p of this.xy) p.reload();
    }

    setTime(force) {
        const now = performance.now();
        const text = force || !this.clock.playing || !this.lastText || now - this.lastText > 90;
        if (text) this.lastText = now;
        for (const p of this.panels) if (p.visible) p.setTime(text);
        for (const p of this.xy) if (p.visible) p.draw();
    }

    setWindow(a, b) {
        const span = Math.min(b - a, this.full[1] - this.full[0]);
        const least = (this.full[1] - this.full[0]) * 1e-6;
        if (!(span > least)) return;
        a = Math.max(this.full[0], Math.min(a, this.full[1] - span));
        this.window = [a, a + span];
        for (const p of this.panels) p.plot?.setScale('x', { min: a, max: a + span });
        this.updateZoom();
        this.setTime(true);
    }

    updateZoom() {
        this.zoomOut.disabled = this.window[0] === this.full[0] &&
            this.window[1] === this.full[1];
    }

    zoom(factor, around = this.clock.t) {
        const [a, b] = this.window;
        const middle = Math.min(b, Math.max(a, around));
        this.setWindow(middle - (middle - a) * factor, middle + (b - middle) * factor);
    }

    saveAll() {
        const { data } = this;
        download(fileName(data.title, '.csv'),
            csv([{ name: 't', unit: data.timeUnit, data: data.time }, ...data.series]));
    }

    redraw() {
        for (const p of this.panels) {
            p.plot?.redraw(false, true);
            p.paintLegend();
        }
        for (const p of this.xy) {
            p.stale = true;
            if (p.visible) p.draw();
        }
    }
}

class Panel {
    constructor(owner, list, several) {
        this.owner = owner;
        this.list = list;
        this.group = list[0].group;
        this.unit = list[0].unit;
        this.log = list.some((s) => s.log);
        this.shown = list.map((s) => s.shown);
        this.visible = false;
        const title = list.length === 1 && several && list[0].label !== this.group
            ? `${capital(this.group)}: ${list[0].label}`
            : capital(this.group);
        this.title = title;
        this.axisLabel = `[${this.unit || '1'}]`;
        this.levels = owner.data.levels.filter((l) =>
            l.group === this.group && (l.unit || this.unit) === this.unit);
        this.host = el('div', { class: 'plot', style: { height: `${height}px` } });
        this.legend = el('ul', { class: 'series' });
        this.logButton = button('log: logarithmic scale',
            { text: 'log', title: 'Logarithmic scale', pressed: this.log, cls: 'text',
                on: () => this.setLog(!this.log) });
        this.card = el('figure', { class: 'panel', 'aria-label': withUnit(title, this.unit) },
            el('figcaption', {}, el('h3', {}, title),
                el('div', { class: 'tools' }, this.logButton,
                    button('Save this plot as PNG',
                        { text: 'PNG', cls: 'text', on: () => this.savePng() }),
                    button('Save these series as CSV',
                        { text: 'CSV', cls: 'text', on: () => this.saveCsv() }))),
            this.legend, this.host);
        this.values = list.map((s, i) => {
            const value = el('span', { class: 'value' });
            const swatch = el('i', { class: 'swatch line' });
            const toggle = el('button', {
                type: 'button', class: 'series-toggle', 'aria-pressed': String(this.shown[i]),
                title: `Show or hide ${s.label}`,
                on: { click: () => this.toggle(i) },
            }, swatch, el('span', { class: 'name' }, s.label), value);
            this.legend.append(el('li', {}, toggle));
            return { value, swatch, toggle };
        });
        this.paintLegend();
        this.measure();
    }

    /** What is rounding beside the largest value of this unit on the page is shown as 0. */
    measure() {
        this.noise = this.list.some((s) => s.log) ? 0
            : 4e-15 * (this.owner.largest.get(this.unit) ?? 0);
        const still = this.group === 'observe' ? 1e-12 : 0; // an expected value, say
        this.flat = this.list.every((s) => {
            const first = s.data[0];
            const most = Math.max(this.noise, still * Math.abs(first));
            return s.data.every((v) => !(Math.abs(v) > most)) ||
                (still && s.data.every((v) => !(Math.abs(v - first) > most)));
        });
    }

    /** Other numbers of the same series. */
    load(list) {
        this.list = list;
        this.measure();
        this.log = this.logButton.getAttribute('aria-pressed') === 'true';
        this.levels = this.owner.data.levels.filter((l) =>
            l.group === this.group && (l.unit || this.unit) === this.unit);
        this.reload();
    }

    reload() {
        if (!this.plot) return;
        if (!this.visible) {
            this.plot.destroy(); // built again when it is seen
            this.plot = null;
            return;
        }
        const { owner } = this;
        this.plot.setData([owner.time, ...this.columns()], false);
        this.plot.setScale('x', { min: owner.window[0], max: owner.window[1] });
        this.setTime(true);
    }

    /** The pinned motion's series of these names, with their times. */
    earlier() {
        const { pinned } = this.owner;
        if (!pinned) return [];
        return this.list.map((s, i) => ({ i, s: pinned.series.find((p) => p.name === s.name) }))
            .filter(({ i, s }) => s && this.shown[i])
            .map(({ i, s }) => ({ i, x: pinned.time, y: s.data }));
    }

    drawEarlier(u) {
        const { ctx } = u;
        ctx.save();
        ctx.globalAlpha = 0.45;
        ctx.lineWidth = 1.2 * uPlot.pxRatio;
        ctx.setLineDash([5 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
        for (const { i, x, y } of this.earlier()) {
            ctx.strokeStyle = this.color(i);
            ctx.beginPath();
            this.addCurve(u, ctx, x, y);
            ctx.stroke();
        }
        ctx.restore();
    }

    /** A series as it is between its samples; straight where it is logarithmic. */
    addCurve(u, path, time, data, from, to) {
        const toX = (v) => u.valToPos(v, 'x', true);
        const toY = (v) => u.valToPos(v, 'y', true);
        if (!this.log) {
            addCurve(path, time, null, data, toX, toY, { from, to });
            return;
        }
        let pen = false;
        for (let k = from ?? 0; k <= (to ?? data.length - 1); k++) {
            const v = Math.abs(data[k]);
            if (!(v > 0) || !Number.isFinite(v)) pen = false;
            else if (pen) path.lineTo(toX(time[k]), toY(v));
            else path.moveTo(toX(time[k]), toY(v));
            pen = v > 0 && Number.isFinite(v);
        }
    }

    /** What uPlot draws of series k: its own lines where there are more samples than pixels. */
    paths(u, k, from, to) {
        if (this.log || to - from > 2 * u.bbox.width / uPlot.pxRatio)
            return lines(u, k, from, to);
        const stroke = new Path2D();
        this.addCurve(u, stroke, this.owner.data.time, this.list[k - 1].data,
            Math.max(0, from - 1), Math.min(this.owner.data.n - 1, to + 1));
        return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 1 };
    }

    color(i) {
        return css(seriesColors[i % seriesColors.length]);
    }

    paintLegend() {
        this.values.forEach((v, i) => { v.swatch.style.background = this.color(i); });
    }

    toggle(i) {
        this.shown[i] = !this.shown[i];
        this.values[i].toggle.setAttribute('aria-pressed', String(this.shown[i]));
        this.plot?.setSeries(i + 1, { show: this.shown[i] });
    }

    setLog(on) {
        this.log = on;
        this.logButton.setAttribute('aria-pressed', String(on));
        this.build();
    }

    appear() {
        if (!this.plot) this.build();
        this.setTime(true);
    }

    columns() {
        return this.list.map((s) => Array.from(s.data, (v) => {
            if (!Number.isFinite(v)) return null;
            if (!this.log) return v;
            const a = Math.abs(v);
            return a > 0 ? a : null;
        }));
    }

    build() {
        const { owner } = this;
        this.plot?.destroy();
        const text = () => css('--muted');
        const grid = { stroke: () => css('--grid'), width: 1 };
        const options = {
            width: Math.max(160, this.host.clientWidth), height,
            padding: [14, 18, 0, 0],
            pxAlign: 0, // points where they are, not on the next pixel: curves are smooth
            legend: { show: false },
            cursor: { y: false, drag: { x: false, y: false, setScale: false },
                points: { size: 7 } },
            scales: {
                x: { time: false, min: owner.window[0], max: owner.window[1],
                    range: (u, a, b) => [a ?? owner.full[0], b ?? owner.full[1]] },
                y: { distr: this.log ? 3 : 1, log: 10,
                    range: this.log ? logRange
                        : (u, low, high) =>
                            linearRange(this.levels, this.noise, this.earlier(), low, high) },
            },
            axes: [
                { stroke: text, grid, ticks: grid, font, labelFont: font, size: 34,
                    label: `t [${owner.data.timeUnit}]`, labelSize: 16,
                    labelGap: -2, values: (u, splits, i, space, step) => ticks(splits, step) },
                { stroke: text, grid, ticks: grid, font, labelFont: font,
                    label: this.log ? `|value| ${this.axisLabel}` : this.axisLabel,
                    labelSize: 20, gap: 5,
                    size: (u, values) => axisSize(u, values),
                    ...(this.log ? { splits: logSplits,
                        values: (u, splits) => splits.map((v) =>
                            power(Math.round(Math.log10(v)))) }
                        : { space: 34, values: (u, splits, i, space, step) =>
                            ticks(splits, step) }) },
            ],
            series: [{}, ...this.list.map((s, i) => ({
                label: s.label, stroke: () => this.color(i), width: 1.7,
                dash: dashes[Math.floor(i / seriesColors.length) % dashes.length],
                show: this.shown[i],
                paths: (u, k, from, to) => this.paths(u, k, from, to),
                points: { show: owner.data.n === 1, size: 7 },
            }))],
            hooks: {
                drawClear: [(u) => this.drawSpans(u)], draw: [(u) => this.drawMarks(u)],
                setCursor: [(u) => this.hover(u)], setSize: [() => this.setTime(false)],
            },
        };
        this.plot = new uPlot(options, [owner.time, ...this.columns()], this.host);
        this.now = el('div', { class: 'now' });
        this.tip = el('div', { class: 'tip', hidden: true });
        this.plot.over.append(this.now, this.tip);
        this.listen(this.plot.over);
        this.setTime(true);
    }

    resize() {
        if (!this.plot) return;
        const width = Math.max(160, this.host.clientWidth);
        if (width !== this.plot.width) this.plot.setSize({ width, height });
    }

    /** Drag: time. Shift-drag: zoom. Ctrl-wheel: zoom. Double-click: everything. */
    listen(over) {
        const { owner } = this;
        const timeAt = (e) => {
            const box = over.getBoundingClientRect();
            return this.plot.posToVal(Math.min(box.width, Math.max(0, e.clientX - box.left)),
                'x');
        };
        let start = null;
        let zooming = false;
        over.addEventListener('pointerdown', (e) => {
            if (e.button !== 0) return;
            start = timeAt(e);
            zooming = e.shiftKey;
            over.setPointerCapture(e.pointerId);
            if (!zooming) {
                this.wasPlaying = owner.clock.playing;
                owner.clock.pause();
                owner.clock.setTime(start);
            }
        });
        over.addEventListener('pointermove', (e) => {
            if (start === null) return;
            if (!zooming) {
                owner.clock.setTime(timeAt(e));
                return;
            }
            const a = this.plot.valToPos(start, 'x');
            const b = this.plot.valToPos(timeAt(e), 'x');
            this.plot.setSelect({ left: Math.min(a, b), top: 0, width: Math.abs(b - a),
                height: over.clientHeight }, false);
        });
        const finish = (e) => {
            if (start === null) return;
            const end = timeAt(e);
            if (zooming && e.type === 'pointerup') {
                this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                if (end !== start) owner.setWindow(Math.min(start, end), Math.max(start, end));
            } else if (this.wasPlaying) {
                owner.clock.play();
            }
            start = null;
        };
        over.addEventListener('pointerup', finish);
        over.addEventListener('pointercancel', finish);
        over.addEventListener('dblclick', () => owner.setWindow(...owner.full));
        over.addEventListener('wheel', (e) => {
            if (!e.ctrlKey && !e.metaKey) return;
            e.preventDefault();
            owner.zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e));
        }, { passive: false });
        over.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    }

    hover(u) {
        if (!this.tip) return;
        const { idx, left } = u.cursor;
        if (idx === null || idx === undefined || left === undefined || left < 0) {
            this.tip.hidden = true;
            return;
        }
        const rows = [el('b', {}, `t = ${number(this.owner.data.time[idx], 6)} ` +
            `${this.owner.data.timeUnit}`)];
        const mode = this.owner.modeAt(this.owner.data.time[idx]);
        if (mode) rows.push(el('span', {}, mode));
        this.list.forEach((s, i) => {
            if (!this.shown[i] || rows.length > 9) return;
            const swatch = el('i', { class: 'swatch line' });
            swatch.style.background = this.color(i);
            rows.push(el('span', {}, swatch, el('span', { class: 'name' }, s.label),
                el('span', { class: 'value' }, number(s.data[idx], 6))));
        });
        this.tip.replaceChildren(...rows);
        this.tip.hidden = false;
        const width = this.tip.offsetWidth;
        const room = u.over.clientWidth;
        const x = left + 14 + width > room ? Math.max(0, left - width - 14) : left + 14;
        this.tip.style.transform = `translate(${x}px, 6px)`;
    }

    setTime(text) {
        const { owner } = this;
        if (text) {
            this.list.forEach((s, i) => {
                const v = valueAt(owner.samples, s.data);
                this.values[i].value.textContent = steady(Math.abs(v) < this.noise ? 0 : v);
            });
        }
        if (!this.plot || !this.now) return;
        const x = this.plot.valToPos(owner.clock.t, 'x');
        // from the plot's own numbers: asking the page would make it lay out everything
        const inside = x >= -1 && x <= this.plot.bbox.width / uPlot.pxRatio + 1;
        this.now.style.visibility = inside ? 'visible' : 'hidden';
        if (inside) this.now.style.transform = `translateX(${x.toFixed(2)}px)`;
    }

    drawSpans(u) {
        const { ctx, bbox } = u;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        const band = 5 * uPlot.pxRatio; // of a mode, along the bottom
        for (const s of this.owner.data.spans) {
            const a = u.valToPos(s.from, 'x', true);
            const b = u.valToPos(s.to, 'x', true);
            const height = s.color ? band : bbox.height;
            ctx.fillStyle = css(s.color ?? '--span');
            ctx.fillRect(a, bbox.top + bbox.height - height, Math.max(1, b - a), height);
        }
        this.drawEarlier(u);
        ctx.restore();
    }

    drawMarks(u) {
        const { ctx, bbox } = u;
        const ratio = uPlot.pxRatio;
        ctx.save();
        ctx.font = `${11 * ratio}px system-ui, sans-serif`;
        ctx.lineWidth = ratio;
        ctx.setLineDash([4 * ratio, 3 * ratio]);
        ctx.strokeStyle = css('--event');
        ctx.fillStyle = css('--event');
        ctx.textBaseline = 'alphabetic';
        ctx.textAlign = 'left';
        let free = -Infinity;
        const seen = [];
        for (const e of this.owner.events) {
            const x = Math.round(u.valToPos(e.t, 'x', true));
            if (x >= bbox.left - 1 && x <= bbox.left + bbox.width + 1 &&
                !(x - seen.at(-1)?.x < 2)) seen.push({ x, name: e.name });
        }
        // lines through the curves, unless so many that one would not see these
        const dense = seen.length > bbox.width / (10 * ratio);
        if (dense) ctx.setLineDash([]);
        for (const { x, name } of seen) {
            ctx.beginPath();
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + (dense ? 5 * ratio : bbox.height));
            ctx.stroke();
            const label = name.length > 22 ? name.slice(0, 21) + '…' : name;
            const width = ctx.measureText(label).width;
            const left = Math.min(x, bbox.left + bbox.width - width);
            if (left > free) {
                ctx.fillText(label, left, bbox.top - 4 * ratio);
                free = left + width + 8 * ratio;
            }
        }
        ctx.setLineDash([4 * ratio, 3 * ratio]);
        for (const l of this.levels) {
            const y = Math.round(u.valToPos(l.value, 'y', true));
            if (!(y >= bbox.top - 1 && y <= bbox.top + bbox.height + 1)) continue;
            ctx.beginPath();
            ctx.moveTo(bbox.left, y);
            ctx.lineTo(bbox.left + bbox.width, y);
            ctx.stroke();
            ctx.textAlign = 'right';
            legible(ctx, l.name, bbox.left + bbox.width - 4 * ratio, y - 4 * ratio);
            ctx.textAlign = 'left';
        }
        ctx.restore();
    }

    saveCsv() {
        const { data } = this.owner;
        download(fileName(`${data.title}-${this.title}`, '.csv'),
            csv([{ name: 't', unit: data.timeUnit, data: data.time }, ...this.list]));
    }

    savePng() {
        if (!this.plot) this.build();
        const source = this.plot.ctx.canvas;
        const entries = this.list.map((s, i) =>
            ({ label: s.label, color: this.color(i), shown: this.shown[i] }))
            .filter((s) => s.shown);
        composePng(source, this.title, entries,
            fileName(`${this.owner.data.title}-${this.title}`, '.png'));
    }
}

/** Text over curves: in a rim of the colour of the ground. */
function legible(c, words, x, y) {
    c.save();
    c.setLineDash([]);
    c.lineJoin = 'round';
    c.lineWidth = 4 * uPlot.pxRatio;
    c.strokeStyle = css('--card');
    c.globalAlpha = 0.8;
    c.strokeText(words, x, y);
    c.restore();
    c.fillText(words, x, y);
}

/** A plot with its title and legend as a PNG file. */
export function composePng(source, title, entries, name) {
    const ratio = window.devicePixelRatio || 1;
    const line = 20 * ratio;
    const canvas = document.createElement('canvas');
    const c = canvas.getContext('2d');
    c.font = `${12 * ratio}px system-ui, sans-serif`;
    const rows = [[]];
    let x = 10 * ratio;
    for (const e of entries) {
        const w = c.measureText(e.label).width + 34 * ratio;
        if (x + w > source.width && rows[rows.length - 1].length) {
            rows.push([]);
            x = 10 * ratio;
        }
        rows[rows.length - 1].push({ ...e, x });
        x += w;
    }
    const head = 26 * ratio + rows.length * line;
    canvas.width = source.width;
    canvas.height = source.height + head;
    c.fillStyle = css('--card');
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.fillStyle = css('--text');
    c.font = `600 ${14 * ratio}px system-ui, sans-serif`;
    c.fillText(title, 10 * ratio, 18 * ratio);
    c.font = `${12 * ratio}px system-ui, sans-serif`;
    rows.forEach((row, i) => row.forEach((e) => {
        const y = 26 * ratio + i * line + 12 * ratio;
        c.fillStyle = e.color;
        c.fillRect(e.x, y - 5 * ratio, 16 * ratio, 3 * ratio);
        c.fillStyle = css('--text');
        c.fillText(e.label, e.x + 21 * ratio, y);
    }));
    c.drawImage(source, 0, head);
    canvas.toBlob((blob) => blob && download(name, blob), 'image/png');
}

function linearRange(levels, noise, earlier, low, high) {
    if (low === null || high === null || !Number.isFinite(low + high)) return [0, 1];
    for (const { y } of earlier)
        for (const v of y) {
            if (v < low) low = v;
            if (v > high) high = v;
        }
    for (const l of levels) {
        // a level belongs into the picture if that does not squeeze the curves
        const span = high - low || Math.abs(high) || 1;
        if (l.value > low - span && l.value < high + span) {
            low = Math.min(low, l.value);
            high = Math.max(high, l.value);
        }
    }
    if (Math.max(Math.abs(low), Math.abs(high)) < noise) return [-1, 1];
    let span = high - low;
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (!(span > size * 1e-7)) span = size > 0 ? size * (span > 0 ? 1e-6 : 0.2) : 1;
    const middle = (low + high) / 2;
    const half = Math.max((high - low) / 2, span / 2) * 1.08;
    return [middle - half, middle + half];
}

function logRange(u, low, high) {
    if (!(low > 0) || !(high > 0)) return [1e-16, 1];
    let a = Math.floor(Math.log10(low) + 1e-9);
    let b = Math.ceil(Math.log10(high) - 1e-9);
    if (b - a < 1) b = a + 1;
    if (b - a > 24) a = b - 24;
    return [10 ** a, 10 ** b];
}

function logSplits(u, axis, low, high) {
    const a = Math.round(Math.log10(low));
    const b = Math.round(Math.log10(high));
    const room = Math.max(1, Math.floor(u.bbox.height / uPlot.pxRatio / 26));
    const step = Math.max(1, Math.ceil((b - a) / room));
    const out = [];
    for (let e = Math.ceil(a / step) * step; e <= b; e += step) out.push(10 ** e);
    return out;
}

function axisSize(u, values) {
    const longest = (values ?? []).reduce((m, v) => v && v.length > m.length ? v : m, '');
    if (!longest) return 44;
    u.ctx.save();
    u.ctx.font = `${12 * uPlot.pxRatio}px system-ui, sans-serif`;
    const width = u.ctx.measureText(longest).width / uPlot.pxRatio;
    u.ctx.restore();
    return Math.max(46, Math.ceil(width) + 18);
}
