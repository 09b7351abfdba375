// Numbers as people write them.

const superscripts = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷',
    8: '⁸', 9: '⁹' };

/** 10 to the power e: '10⁻¹²'. */
export const power = (e) => '10' + [...String(e)].map((c) => superscripts[c]).join('');

const minus = (s) => s.replace('-', '−');

/** A value with about `digits` significant digits. */
export function number(v, digits = 5) {
    if (v === null || v === undefined || Number.isNaN(v)) return '–';
    if (v === Infinity) return '∞';
    if (v === -Infinity) return '−∞';
    if (v === 0) return '0';
    const e = Math.floor(Math.log10(Math.abs(v)));
    if (e < -4 || e >= Math.max(6, digits)) {
        const [m, x] = v.toExponential(digits - 1).split('e');
        const mantissa = m.includes('.') ? m.replace(/\.?0+$/, '') : m;
        return minus(mantissa) + ' · ' + power(Number(x));
    }
    const s = v.toPrecision(digits);
    return minus(s.includes('.') && !s.includes('e') ? s.replace(/\.?0+$/, '') : s);
}

/** A value at fixed width, for readouts that change quickly. */
export function steady(v, digits = 4) {
    if (!Number.isFinite(v)) return number(v);
    const a = Math.abs(v);
    if (a !== 0 && (a < 1e-3 || a >= 1e5)) {
        const [m, x] = v.toExponential(digits - 2).split('e');
        return minus(m) + ' · ' + power(Number(x));
    }
    const whole = a < 1 ? 1 : Math.floor(Math.log10(a)) + 1;
    return minus(v.toFixed(Math.max(0, digits - whole)));
}

/** Labels of an axis whose ticks are `step` apart. */
export function ticks(values, step) {
    let largest = 0;
    for (const v of values) if (v !== null) largest = Math.max(largest, Math.abs(v));
    const es = Math.floor(Math.log10(step || 1) + 1e-9);
    const el = largest > 0 ? Math.floor(Math.log10(largest) + 1e-9) : 0;
    const exponent = el >= 5 || el < -3;
    // decimals that show the step itself, 2.5 as well as 2
    const lead = (step || 1) / 10 ** es;
    const more = Math.abs(lead - Math.round(lead)) > 1e-6 ? 1 : 0;
    const digits = exponent ? Math.max(0, el - es + more) : Math.max(0, -es + more);
    return values.map((v) => {
        if (v === null) return null;
        if (v === 0 || Math.abs(v) < step * 1e-6) return '0';
        if (!exponent) return minus(v.toFixed(Math.min(digits, 20)));
        return minus((v / 10 ** el).toFixed(Math.min(digits, 12))) + '·' + power(el);
    });
}

/**
 * Step of a scale with at most `count` intervals over `range`: 1, 2 or 5 times a power of ten.
 */
export function niceStep(range, count) {
    if (!(range > 0) || !Number.isFinite(range)) return 1;
    const raw = range / Math.max(1, count);
    const e = 10 ** Math.floor(Math.log10(raw));
    for (const m of [1, 2, 5, 10]) if (raw <= m * e * (1 + 1e-12)) return m * e;
    return 10 * e;
}

/** Decimals that make time steps of the run visible. */
export function timeDigits(duration) {
    if (!(duration > 0)) return 3;
    return Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(duration) + 1e-9)));
}
