// How far a point is from what a report draws: bodies (meshes) and grounds (planes, meshes,
// wires).

function sub(a, b) {
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function dot(a, b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a, b) {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** A point of space in the frame of a pose {position, quaternion (w, x, y, z)}. */
export function intoFrame(point, { position, quaternion }) {
    const v = sub(point, position);
    if (!quaternion) return v;
    const [w, x, y, z] = quaternion;
    const u = [-x, -y, -z];
    const c = cross(u, v).map((k, i) => k + w * v[i]);
    return v.map((k, i) => k + 2 * cross(u, c)[i]);
}

export function toSegment(p, a, b) {
    const way = sub(b, a);
    const off = sub(p, a);
    const s = Math.min(1, Math.max(0, dot(way, off) / (dot(way, way) || 1)));
    return Math.hypot(...off.map((k, i) => k - s * way[i]));
}

function toTriangle(p, a, b, c) {
    const e = sub(b, a);
    const f = sub(c, a);
    const d = sub(p, a);
    const [ee, ef, ff, ed, fd] = [dot(e, e), dot(e, f), dot(f, f), dot(e, d), dot(f, d)];
    const det = ee * ff - ef * ef;
    const u = (ff * ed - ef * fd) / det;
    const v = (ee * fd - ef * ed) / det;
    if (det > 0 && u >= 0 && v >= 0 && u + v <= 1)
        return Math.hypot(...d.map((k, i) => k - u * e[i] - v * f[i]));
    return Math.min(toSegment(p, a, b), toSegment(p, b, c), toSegment(p, c, a));
}

/** mesh: {positions, indices} already decoded */
export function toMesh(p, { positions, indices }) {
    const at = (i) => [positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]];
    let least = Infinity;
    for (let k = 0; k + 2 < indices.length; k += 3) {
        least = Math.min(least, toTriangle(p, at(indices[k]), at(indices[k + 1]),
            at(indices[k + 2])));
    }
    return least;
}

export function toPolyline(p, points, closed) {
    const n = points.length / 3;
    const at = (i) => [points[3 * (i % n)], points[3 * (i % n) + 1], points[3 * (i % n) + 2]];
    let least = Infinity;
    for (let i = 0; i + (closed ? 0 : 1) < n; i++)
        least = Math.min(least, toSegment(p, at(i), at(i + 1)));
    return least;
}

export function toPlane(p, { point = [0, 0, 0], normal = [0, 0, 1] }) {
    return Math.abs(dot(sub(p, point), normal)) / Math.hypot(...normal);
}
