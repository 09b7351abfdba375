// Reading the data of the page: docs/report.md has the format. What is wrong or missing is put
// right or left out, and said in `problems`; the page shows whatever can be shown.

const kinds = {
    f32: Float32Array, f64: Float64Array, u16: Uint16Array, u32: Uint32Array,
};

export function bytesOf(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

/** Numbers of "f32:BASE64" (or f64, u16, u32), or of a JSON array whose nulls are gaps. */
export function numbers(source, Fallback = Float64Array) {
    if (Array.isArray(source)) {
        const flat = source.flat();
        return Fallback.from(flat, (v) => typeof v === 'number' ? v : NaN);
    }
    if (ArrayBuffer.isView(source)) return source;
    if (typeof source !== 'string') return null;
    const colon = source.indexOf(':');
    const Kind = kinds[source.slice(0, colon)];
    if (!Kind) throw new Error(`unknown kind of array "${source.slice(0, 12)}"`);
    const bytes = bytesOf(source.slice(colon + 1));
    const size = Kind.BYTES_PER_ELEMENT;
    if (bytes.length % size) throw new Error('array ends inside a number');
    return new Kind(bytes.buffer, bytes.byteOffset, bytes.length / size);
}

const text = (v) => v === undefined || v === null ? '' : String(v);
const list = (v) => Array.isArray(v) ? v : [];
const finite = (v) => typeof v === 'number' && Number.isFinite(v);

/** The raw object of the page, or {missing: true} in the bare template. */
export function readPage() {
    const source = document.getElementById('noslip-data').textContent.trim();
    if (source === '' || source.startsWith('/*')) return { missing: true };
    return JSON.parse(source);
}

export function normalise(raw) {
    const problems = [];
    const trouble = (what, e) => problems.push(
        `${what}: ${e instanceof Error ? e.message : e}.`);

    let time = new Float64Array(0);
    try {
        time = numbers(raw.time) ?? time;
        if (!(time instanceof Float64Array)) time = Float64Array.from(time);
    } catch (e) {
        trouble('The times cannot be read', e);
    }
    for (let i = 0; i < time.length; i++) {
        if (!Number.isFinite(time[i]) || (i > 0 && time[i] < time[i - 1])) {
            trouble('The times are used only as far as they grow',
                `sample ${i} of ${time.length}`);
            time = time.slice(0, i);
            break;
        }
    }
    const n = time.length;

    /** A track of n samples with `width` numbers each, or null. */
    const track = (source, width, what) => {
        if (source === undefined || source === null) return null;
        try {
            let data = numbers(source, Float32Array);
            if (data === null) throw new Error('not an array');
            if (data.length < n * width) {
                throw new Error(`${data.length} numbers where ${n * width} are needed`);
            }
            if (data.length > n * width) data = data.subarray(0, n * width);
            return data;
        } catch (e) {
            trouble(`${what} is not shown`, e);
            return null;
        }
    };
    /** Numbers of any count that is a multiple of `width`. */
    const points = (source, width, what) => {
        if (source === undefined || source === null) return null;
        try {
            const data = numbers(source, Float32Array);
            if (data === null || data.length % width)
                throw new Error(`not rows of ${width} numbers`);
            return data;
        } catch (e) {
            trouble(`${what} is not shown`, e);
            return null;
        }
    };

    const series = [];
    const used = new Set();
    for (const s of list(raw.series)) {
        const name = text(s?.name) || 'unnamed';
        const data = track(s?.data, 1, `The series ${name}`);
        if (!data) continue;
        if (used.has(name)) {
            trouble(`The series ${name} is not shown`, 'the name is used twice');
            continue;
        }
        used.add(name);
        series.push({
            name, unit: text(s.unit), group: text(s.group) || 'other', log: s.log === true,
            label: text(s.label) || name, shown: s.shown !== false, data,
        });
    }

    const events = list(raw.events).map((e) => ({
        name: text(e?.name) || 'event', t: finite(e?.t) ? e.t : NaN,
        direction: text(e?.direction),
        action: text(e?.action), text: text(e?.text),
    }));
    const spans = list(raw.spans).filter((s) => finite(s?.from) && finite(s?.to)).map((s) => ({
        name: text(s.name), from: s.from, to: s.to, mode: finite(s.mode) ? s.mode : null,
    }));
    for (const s of spans) {
        if (s.mode !== null) s.color = `--c${1 + s.mode % 6}`;
    }
    const levels = list(raw.levels).filter((l) => finite(l?.value)).map((l) => ({
        group: text(l.group), unit: text(l.unit), value: l.value, name: text(l.name),
    }));
    const plots = [];
    for (const p of list(raw.plots)) {
        const x = series.find((s) => s.name === p?.x);
        const y = series.find((s) => s.name === p?.y);
        if (!x || !y) {
            trouble(`The plot ${text(p?.title)} is not shown`,
                'it names a series that is not there');
            continue;
        }
        const background = list(p.curves).map((c) => ({
            name: text(c?.name), points: points(c?.points, 2, `A curve of ${text(p.title)}`),
        })).filter((c) => c.points);
        plots.push({ title: text(p.title) || `${y.name} over ${x.name}`, x, y,
            equal: p.equal === true, background });
    }

    /** Any numbers; null with a note if they are none. */
    const free = (source, what) => points(source, 1, what);
    const axis = (a) => ({
        label: text(a?.label), unit: text(a?.unit), log: a?.log === true,
        from: finite(a?.from) ? a.from : NaN, to: finite(a?.to) ? a.to : NaN,
    });
    const size = (v, most) => Number.isInteger(v) && v > 0 && v <= most ? v : 0;

    const notes = (source) => new Map(list(source)
        .filter((e) => Array.isArray(e) && Number.isInteger(e[0]))
        .map(([i, t]) => [i, text(t)]));
    /** Small numbers given as length, number, length, number, ... */
    const runs = (source, n) => {
        const out = new Uint8Array(n);
        for (let i = 0, at = 0; i + 1 < list(source).length && at < n;
            at += Math.max(0, source[i]), i += 2)
            out.fill(source[i + 1], at, at + source[i]);
        return out;
    };

    /** The values of a grid, with the range of its colours as it is drawn. */
    const field = (f, what) => {
        if (!f || typeof f !== 'object') return null;
        const value = free(f.value, what);
        const columns = size(f.columns, 8192);
        const rows = size(f.rows, 8192);
        const edges = [f.x, f.y].map((e) => list(e).filter(finite));
        if (!value) return null;
        if (!columns || !rows || value.length !== columns * rows ||
            edges.some((e) => e.length !== 2 || e[0] === e[1])) {
            trouble(`${what} is not shown`, 'its size does not fit its values');
            return null;
        }
        const out = { ...axis(f), columns, rows, value, x: edges[0], y: edges[1],
            diverging: f.diverging === true };
        let [low, high] = [Infinity, -Infinity];
        const drawn = (v) => out.log ? (v > 0 ? Math.log10(v) : NaN) : v;
        const word = runs(f.word, columns * rows);
        for (const v of Number.isFinite(out.from + out.to)
            ? [out.from, out.to]
            : value.filter((_, i) => !word[i])) {
            const d = drawn(v);
            if (!Number.isFinite(d)) continue;
            low = Math.min(low, d);
            high = Math.max(high, d);
        }
        if (!(high >= low)) [low, high] = [0, 1];
        if (out.diverging) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
        if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
        const numbers = (v, n) => v === undefined
            ? null
            : points(v, 1, what)?.slice(0, n) ?? null;
        return Object.assign(out, {
            low, high, at: [numbers(f.at_x, columns), numbers(f.at_y, rows)],
            notes: notes(f.notes),
            words: list(f.words).map(text), wordColors: list(f.word_colors).map(text), word,
        });
    };
    const figures = list(raw.figures).map((f) => ({
        title: text(f?.title), columns: size(f?.columns, 6) || 1,
        panels: list(f?.panels).map((p) => {
            const what = text(p?.title) || text(f?.title) || 'a figure';
            const series = [];
            for (const s of list(p?.series)) {
                const x = free(s?.x, `A series of ${what}`);
                const y = free(s?.y, `A series of ${what}`);
                if (!x || !y) continue;
                if (x.length !== y.length) {
                    trouble(`A series of ${what} is not shown`,
                        'x and y have different lengths');
                    continue;
                }
                series.push({
                    name: text(s.name), x, y, line: s.line === true, dashed: s.dashed === true,
                    marker: text(s.marker), color: text(s.color),
                    width: finite(s.width) && s.width > 0 ? Math.min(s.width, 40) : 0,
                    notes: notes(s.notes),
                });
            }
            return {
                title: text(p?.title), x: axis(p?.x), y: axis(p?.y), equal: p?.equal === true,
                height: finite(p?.height) ? p.height : 0, series,
                levels: list(p?.levels).filter((l) => finite(l?.at))
                    .map((l) => ({ name: text(l.name), at: l.at,
                        vertical: l.vertical === true })),
                spans: list(p?.spans).filter((l) => finite(l?.from) && finite(l?.to))
                    .map((l) => ({ from: l.from, to: l.to,
                        horizontal: l.horizontal === true })),
                field: field(p?.field, `The field of ${what}`), command: text(p?.command),
            };
        }),
    })).filter((f) => f.panels.length);

    const tables = list(raw.tables).map((t) => {
        const name = text(t?.name) || 'table';
        const columns = list(t?.columns).map((c) => ({
            name: text(c?.name), unit: text(c?.unit),
            data: Array.isArray(c?.words)
            ? c.words.map(text)
            : free(c?.data, `A column of ${name}`) ?? [],
        }));
        const shown = Math.max(0, ...columns.map((c) => c.data.length));
        return { name, columns, shown, total: Number.isInteger(t?.rows) ? t.rows : shown };
    });

    const rows = (source) => list(source).map((r) => ({
        name: text(r?.name), value: r?.value ?? null, unit: text(r?.unit), text: text(r?.text),
        level: ['good', 'note', 'bad'].includes(r?.level) ? r.level : '',
    }));
    const equations = list(raw.equations)
        .map((e) => ({ caption: text(e?.caption), mathml: text(e?.mathml),
            text: text(e?.text) }));

    let final = rows(raw.final);
    if (!final.length && n) {
        final = series.map((s) => ({ name: s.name, value: s.data[n - 1], unit: s.unit,
            text: '' }));
    }

    return {
        title: text(raw.title) || text(raw.file) || 'Untitled motion',
        file: text(raw.file), about: text(raw.about), model: text(raw.model),
        formulation: text(raw.formulation),
        method: text(raw.method), engine: text(raw.engine), tolerance: raw.tolerance ?? null,
        status: text(raw.status) || 'done', reason: text(raw.reason), steps: raw.steps ?? null,
        evaluations: raw.evaluations ?? null, seconds: raw.seconds ?? null,
        version: text(raw.version),
        command: text(raw.command), accuracy: text(raw.accuracy),
        timeUnit: text(raw.time_unit) || 's',
        parameters: rows(raw.parameters), facts: rows(raw.facts),
        warnings: list(raw.warnings).map(text),
        study: text(raw.study), results: rows(raw.results), figures, tables,
        events, spans, levels, equations, final, time, n, series, plots,
        scene: raw.scene && typeof raw.scene === 'object' ? raw.scene : { kind: 'none' },
        sphere: raw.sphere && typeof raw.sphere === 'object' ? raw.sphere : null,
        problems, track, points, trouble,
    };
}
