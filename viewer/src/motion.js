// The motion between the samples. With r_i the value at t_i, every track is a cubic Hermite
// spline whose slope at t_i is that of the parabola through three neighbours; rotations are
// treated the same way in the rotation vector of q_i^-1 q. Equal neighbouring times are a jump.

/** Where a time lies among the samples: interval i..i+1, fraction u of its length h. */
export class Samples {
    constructor(time) {
        this.reset(time);
    }

    /** Other times: whoever looks at these samples sees the new ones. */
    reset(time) {
        this.time = time;
        this.n = time.length;
        this.t0 = this.n ? time[0] : 0;
        this.t1 = this.n ? time[this.n - 1] : 0;
        this.i = 0;
        this.u = 0;
        this.h = 0;
    }

    locate(t) {
        const { time, n } = this;
        if (n < 2) {
            this.i = 0;
            this.u = this.h = 0;
            return this;
        }
        let low = 0;
        let high = n - 1; // time[low] <= t < time[high]
        if (t >= time[high]) {
            low = n - 2;
        } else {
            while (high - low > 1) {
                const middle = (low + high) >> 1;
                if (time[middle] <= t) low = middle;
                else high = middle;
            }
        }
        this.i = low;
        this.h = time[low + 1] - time[low];
        this.u = this.h > 0 ? Math.min(1, Math.max(0, (t - time[low]) / this.h)) : 1;
        return this;
    }
}

/** Slope at the middle of three points from the differences left and right of it. */
function slope(dLeft, hLeft, dRight, hRight) {
    if (!(hLeft > 0) || !Number.isFinite(dLeft))
        return hRight > 0 && Number.isFinite(dRight) ? dRight / hRight : 0;
    if (!(hRight > 0) || !Number.isFinite(dRight)) return dLeft / hLeft;
    return (dLeft / hLeft * hRight + dRight / hRight * hLeft) / (hLeft + hRight);
}

/**
 * One-sided slope of the parabola at the first of three points; of the chord if there is no
 * third.
 */
function endSlope(d0, h0, d1, h1) {
    if (!(h1 > 0) || !Number.isFinite(d1)) return h0 > 0 ? d0 / h0 : 0;
    const s0 = d0 / h0;
    return s0 + (s0 - d1 / h1) * h0 / (h0 + h1);
}

/** Slopes in interval i of component c, written to out: at its left and right end. */
function slopes(time, difference, n, i, out) {
    const h = time[i + 1] - time[i];
    const d = difference(i);
    const before = i > 0 ? time[i] - time[i - 1] : 0;
    const after = i + 2 < n ? time[i + 2] - time[i + 1] : 0;
    const dBefore = before > 0 ? difference(i - 1) : NaN;
    const dAfter = after > 0 ? difference(i + 1) : NaN;
    const left = before > 0 && Number.isFinite(dBefore);
    const right = after > 0 && Number.isFinite(dAfter);
    out[0] = left ? slope(dBefore, before, d, h) : endSlope(d, h, dAfter, right ? after : 0);
    out[1] = right ? slope(d, h, dAfter, after) : endSlope(d, h, dBefore, left ? before : 0);
}

/** Points, vectors or numbers: `width` components a sample. */
export class Track {
    constructor(samples, data, width = 3) {
        this.samples = samples;
        this.data = data;
        this.width = width;
        this.pair = [0, 0];
    }

    /** Value at the located time, into out. False if it is not finite. */
    at(out) {
        const { samples, data, width, pair } = this;
        const { i, u, h, n, time } = samples;
        if (n === 0) return false;
        for (let c = 0; c < width; c++) {
            const a = data[i * width + c];
            if (n === 1 || u === 0) {
                out[c] = a;
                continue;
            }
            const b = data[(i + 1) * width + c];
            if (u === 1 || h === 0) {
                out[c] = b;
                continue;
            }
            slopes(time, (k) => data[(k + 1) * width + c] - data[k * width + c], n, i, pair);
            out[c] = cubic(a, b, pair[0], pair[1], h, u);
        }
        for (let c = 0; c < width; c++) if (!Number.isFinite(out[c])) return false;
        return true;
    }
}

/** Rotation vector of conj(p) q, shortest way, into out. */
function relative(p, pi, q, qi, out) {
    const [a, b, c, d] = [p[pi], -p[pi + 1], -p[pi + 2], -p[pi + 3]];
    const [e, f, g, k] = [q[qi], q[qi + 1], q[qi + 2], q[qi + 3]];
    let w = a * e - b * f - c * g - d * k;
    let x = a * f + b * e + c * k - d * g;
    let y = a * g - b * k + c * e + d * f;
    let z = a * k + b * g - c * f + d * e;
    if (w < 0) {
        w = -w;
        x = -x;
        y = -y;
        z = -z;
    }
    const s = Math.hypot(x, y, z);
    const factor = s > 1e-12 ? 2 * Math.atan2(s, w) / s : 2;
    out[0] = x * factor;
    out[1] = y * factor;
    out[2] = z * factor;
}

/** Orientation from quaternions (w, x, y, z), body to space. */
export class Rotation {
    constructor(samples, data) {
        this.samples = samples;
        this.data = data;
        this.r = [0, 0, 0];
        this.before = [0, 0, 0];
        this.after = [0, 0, 0];
        this.pair = [0, 0];
    }

    /** Unit quaternion at the located time, into out. False if it is not finite. */
    at(out) {
        const { samples, data } = this;
        const { i, u, h, n, time } = samples;
        if (n === 0) return false;
        const single = n === 1 || u === 0 || u === 1 || h === 0;
        if (single) {
            const k = 4 * (n > 1 && u !== 0 ? i + 1 : i);
            for (let c = 0; c < 4; c++) out[c] = data[k + c];
        } else {
            // r(u) in the chart at sample i; the slope at the right end is taken in the chart
            // of sample i+1 and carried over by the inverse of the exponential's derivative.
            const { r, before, after, pair } = this;
            relative(data, 4 * i, data, 4 * (i + 1), r);
            const hBefore = i > 0 ? time[i] - time[i - 1] : 0;
            const hAfter = i + 2 < n ? time[i + 2] - time[i + 1] : 0;
            if (hBefore > 0) relative(data, 4 * (i - 1), data, 4 * i, before);
            if (hAfter > 0) relative(data, 4 * (i + 1), data, 4 * (i + 2), after);
            const m = [0, 0, 0];
            const k = [0, 0, 0];
            for (let c = 0; c < 3; c++) {
                const difference = (j) => j < i ? before[c] : j > i ? after[c] : r[c];
                slopes(time, difference, n, i, pair);
                m[c] = pair[0];
                k[c] = pair[1];
            }
            const x1 = cross(r, k);
            const x2 = cross(r, x1);
            const v = 1 - u;
            const s = [0, 0, 0];
            for (let c = 0; c < 3; c++) {
                const right = k[c] + x1[c] / 2 + x2[c] / 12;
                s[c] = r[c] * u * u * (3 - 2 * u) + h * u * v * (m[c] * v - right * u);
            }
            const angle = Math.hypot(s[0], s[1], s[2]);
            const f = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
            const [e0, e1, e2, e3] = [Math.cos(angle / 2), s[0] * f, s[1] * f, s[2] * f];
            const o = 4 * i;
            const [w, x, y, z] = [data[o], data[o + 1], data[o + 2], data[o + 3]];
            out[0] = w * e0 - x * e1 - y * e2 - z * e3;
            out[1] = w * e1 + x * e0 + y * e3 - z * e2;
            out[2] = w * e2 - x * e3 + y * e0 + z * e1;
            out[3] = w * e3 + x * e2 - y * e1 + z * e0;
        }
        const norm = Math.hypot(out[0], out[1], out[2], out[3]);
        if (!(norm > 0) || !Number.isFinite(norm)) return false;
        for (let c = 0; c < 4; c++) out[c] /= norm;
        return true;
    }
}

function cross(a, b) {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/**
 * Slopes of a series by the same rule: those of interval i at its left and right end are
 * out[2 i] and out[2 i + 1]. An interval eight times as steep as its neighbours is a jump that
 * nobody has marked: it is straight, and its neighbours end there.
 */
export function slopesOf(time, data) {
    const n = data.length;
    const out = new Float64Array(2 * Math.max(0, n - 1));
    const steep = (i) => Math.abs((data[i + 1] - data[i]) / (time[i + 1] - time[i]));
    const jump = (i) => i > 0 && i + 2 < n && steep(i) > 8 * steep(i - 1) &&
        steep(i) > 8 * steep(i + 1);
    const difference = (i) => jump(i) ? NaN : data[i + 1] - data[i];
    const pair = [0, 0];
    for (let i = 0; i + 1 < n; i++) {
        const h = time[i + 1] - time[i];
        if (!(h > 0)) continue;
        if (jump(i)) pair.fill((data[i + 1] - data[i]) / h);
        else slopes(time, difference, n, i, pair);
        out[2 * i] = pair[0];
        out[2 * i + 1] = pair[1];
    }
    return out;
}

const known = new WeakMap();

/** slopesOf, computed once for an array. */
export function knownSlopes(time, data) {
    if (!known.has(data)) known.set(data, slopesOf(time, data));
    return known.get(data);
}

/** A number from a series at the located time, as the plots draw it. */
export function valueAt(samples, data) {
    const { i, u, h, n, time } = samples;
    if (n === 0) return NaN;
    if (n === 1 || u === 0) return data[i];
    if (u === 1) return data[i + 1];
    const m = knownSlopes(time, data);
    return cubic(data[i], data[i + 1], m[2 * i], m[2 * i + 1], h, u);
}

function cubic(a, b, ma, mb, h, u) {
    const v = 1 - u;
    return a * v * v * (1 + 2 * u) + b * u * u * (3 - 2 * u) + h * u * v * (ma * v - mb * u);
}

/**
 * Points (3 numbers each) with as many more between them that neighbouring pieces turn by about
 * a degree, or so much more that there are not too many: {points, stamps}. A jump is a gap.
 */
export function refine(time, points) {
    const n = time.length;
    const columns = [0, 1, 2].map((c) =>
        Float64Array.from({ length: n }, (_, i) => points[3 * i + c]));
    const m = columns.map((column) => slopesOf(time, column));
    const turns = Float64Array.from({ length: Math.max(0, n - 1) }, (_, i) => {
        const chord = columns.map((c) => c[i + 1] - c[i]);
        return angle(m.map((s) => s[2 * i]), chord) + angle(chord, m.map((s) => s[2 * i + 1]));
    });
    const piece = Math.max(0.02, turns.reduce((sum, t) => sum + t, 0) / 20000);
    const at = [];
    const stamps = [];
    const put = (t, p) => {
        at.push(p[0], p[1], p[2]);
        stamps.push(t);
    };
    for (let i = 0; i < n; i++) {
        const here = columns.map((c) => c[i]);
        put(time[i], here);
        if (i + 1 === n) break;
        const h = time[i + 1] - time[i];
        const there = columns.map((c) => c[i + 1]);
        if (!(h > 0)) {
            if (here.some((v, c) => v !== there[c])) put(time[i], [NaN, NaN, NaN]);
            continue;
        }
        const pieces = Math.min(64, Math.ceil(turns[i] / piece));
        for (let k = 1; k < pieces; k++)
            put(time[i] + h * k / pieces, here.map((v, c) =>
                cubic(v, there[c], m[c][2 * i], m[c][2 * i + 1], h, k / pieces)));
    }
    return { points: Float32Array.from(at), stamps: Float64Array.from(stamps) };
}

function angle(a, b) {
    const lengths = Math.hypot(...a) * Math.hypot(...b);
    const cosine = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / lengths;
    return Number.isFinite(cosine) ? Math.acos(Math.min(1, Math.max(-1, cosine))) : 0;
}

/**
 * A curve through samples of two series, into a path: y over x, or over time if x is null. Both
 * are cubic in time between samples, so each interval is exactly a Bezier curve. It ends at
 * sample `to`, or the fraction `part` of an interval after it.
 */
export function addCurve(path, time, x, y, toX, toY, { from = 0, to = y.length - 1,
    part = 0 } = {}) {
    const my = knownSlopes(time, y);
    const mx = x && knownSlopes(time, x);
    const place = (i) => [toX(x ? x[i] : time[i]), toY(y[i])];
    let last = null; // where the pen is
    for (let i = from; i <= to + (part > 0 ? 1 : 0) && i < y.length; i++) {
        const p = place(i);
        if (!Number.isFinite(p[0] + p[1])) {
            last = null;
            continue;
        }
        if (!last) {
            path.moveTo(...p);
            last = p;
            continue;
        }
        const far = Math.abs(p[0] - last[0]) + Math.abs(p[1] - last[1]);
        if (far < 0.4 && i < to) continue; // less than can be seen
        last = p;
        const h = time[i] - time[i - 1];
        if (!(h > 0) || far < 1.5) {
            path.lineTo(...p);
            continue;
        }
        const k = 2 * (i - 1);
        const ends = [place(i - 1),
            [toX(x ? x[i - 1] + mx[k] * h / 3 : time[i - 1] + h / 3),
                toY(y[i - 1] + my[k] * h / 3)],
            [toX(x ? x[i] - mx[k + 1] * h / 3 : time[i] - h / 3),
                toY(y[i] - my[k + 1] * h / 3)], p];
        const bezier = i > to ? firstPart(ends, part) : ends;
        path.bezierCurveTo(...bezier[1], ...bezier[2], ...bezier[3]);
    }
}

/** The part 0..u of a Bezier curve (de Casteljau). */
function firstPart([a, b, c, d], u) {
    const mix = (p, q) => [p[0] + (q[0] - p[0]) * u, p[1] + (q[1] - p[1]) * u];
    const [ab, bc, cd] = [mix(a, b), mix(b, c), mix(c, d)];
    const [abc, bcd] = [mix(ab, bc), mix(bc, cd)];
    return [a, ab, abc, mix(abc, bcd)];
}
