// Writing data of the format in docs/report.md, as the program does it.
export const placeholder = '/*NOSLIP_DATA*/';

const base64 = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength)
    .toString('base64');
export const f32 = (values) => 'f32:' + base64(Float32Array.from(values));
export const f64 = (values) => 'f64:' + base64(Float64Array.from(values));
export const u32 = (values) => 'u32:' + base64(Uint32Array.from(values));

/** The page with its data: every < is escaped, so that no end tag can appear. */
export function fill(template, data) {
    return template.replace(placeholder, () => JSON.stringify(data).replace(/</g, '\\u003c'));
}

export function meshFromGrid(f, nu, nv) {
    const positions = [];
    const normals = [];
    const indices = [];
    for (let i = 0; i <= nu; i++) {
        for (let j = 0; j <= nv; j++) {
            const { p, n } = f(i / nu, j / nv);
            positions.push(...p);
            normals.push(...n);
            if (i < nu && j < nv) {
                const a = i * (nv + 1) + j;
                const b = a + nv + 1;
                indices.push(a, b, a + 1, b, b + 1, a + 1);
            }
        }
    }
    return { positions: f32(positions), normals: f32(normals), indices: u32(indices) };
}

// ---- a little mechanics --------------------------------------------------------------------

export const cross = (a, b) =>
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const add = (a, b, s = 1) => a.map((v, i) => v + s * b[i]);
export const times = (q, p) => [
    q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
    q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
    q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
    q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0],
];
export const unit = (q) => {
    const n = Math.hypot(...q);
    return q.map((v) => v / n);
};
/** Rotate v by q (body to space), or back. */
export function turn(q, v) {
    const t = cross(q.slice(1), v).map((x) => 2 * x);
    return add(add(v, t, q[0]), cross(q.slice(1), t));
}
export const back = (q, v) => turn([q[0], -q[1], -q[2], -q[3]], v);
export const about = (axis, angle) => {
    const n = Math.hypot(...axis);
    const s = Math.sin(angle / 2) / n;
    return [Math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s];
};
