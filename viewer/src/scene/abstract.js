// The picture of a system on a Lie algebra: its curve in the space of momenta or angular
// velocities, with the surfaces that hold it. It is made into a scene like any other.

const list = (v) => Array.isArray(v) ? v : [];

/** v turned by a quaternion (w, x, y, z), or v if there is none. */
function rotate(q, v) {
    if (!Array.isArray(q) || q.length !== 4) return v;
    const [w, a, b, c] = q;
    const t = [2 * (b * v[2] - c * v[1]), 2 * (c * v[0] - a * v[2]), 2 * (a * v[1] - b * v[0])];
    return [v[0] + w * t[0] + b * t[2] - c * t[1], v[1] + w * t[1] + c * t[0] - a * t[2],
        v[2] + w * t[2] + a * t[1] - b * t[0]];
}

export function abstractScene(sphere, data) {
    const curve = data.track(sphere.curve, 3, 'The curve');
    let reach = 0;
    if (curve)
        for (const v of curve) if (Number.isFinite(v)) reach = Math.max(reach, Math.abs(v));
    const radius = sphere.radius > 0 ? sphere.radius : 0;
    reach = Math.max(reach, radius);
    const ellipsoids = list(sphere.ellipsoids ?? (sphere.ellipsoid ? [sphere.ellipsoid] : []));
    for (const e of ellipsoids)
        for (const v of list(e?.radii)) if (Number.isFinite(v)) reach = Math.max(reach, v);
    if (!(reach > 0)) reach = 1;

    const decor = [];
    const rings = [];
    if (radius)
        decor.push({ shape: 'sphere', radius, name: String(sphere.radius_name ?? 'Sphere'),
            color: 'grey', opacity: 0.13 });
    for (const [i, e] of ellipsoids.entries()) {
        decor.push({
            shape: 'ellipsoid', radii: e.radii, quaternion: e.quaternion,
            name: String(e.name ?? 'Ellipsoid'),
            color: e.color ?? ['sky', 'orange', 'purple'][i % 3], opacity: 0.2,
        });
    }
    for (const p of list(sphere.planes ?? (sphere.plane ? [sphere.plane] : []))) {
        const n = list(p?.normal);
        const norm = Math.hypot(...n);
        if (!(norm > 0)) continue;
        const d = (Number.isFinite(p.offset) ? p.offset : 0) / (norm * norm);
        decor.push({
            shape: 'disk', radius: 1.35 * reach, thickness: 0.002 * reach,
            axis: n.map((v) => v / norm), at: n.map((v) => v * d),
            name: String(p.name ?? 'Constraint plane'), color: p.color ?? 'yellow',
            opacity: 0.11,
        });
        rings.push({ n: n.map((v) => v / norm), at: n.map((v) => v * d),
            name: String(p.name ?? 'Constraint plane'), color: p.color ?? 'yellow' });
    }
    const names = list(sphere.axes).length === 3 ? sphere.axes.map(String) : ['1', '2', '3'];
    const paths = [];
    for (let k = 0; k < 3; k++) {
        const points = [0, 0, 0, 0, 0, 0];
        points[k] = -1.3 * reach;
        points[3 + k] = 1.3 * reach;
        paths.push({ name: 'Axes', points, static: true, color: 'grey', width: 1.2,
            quiet: true });
    }
    // circles in the coordinate planes give the glassy surfaces their shape
    const round = (radii, name, color, q) => {
        for (let k = 0; k < 3; k++) {
            const points = [];
            for (let i = 0; i <= 96; i++) {
                const p = [0, 0, 0];
                p[(k + 1) % 3] = radii[(k + 1) % 3] * Math.cos(2 * Math.PI * i / 96);
                p[(k + 2) % 3] = radii[(k + 2) % 3] * Math.sin(2 * Math.PI * i / 96);
                points.push(...rotate(q, p));
            }
            paths.push({ name, points, static: true, color, width: 1, quiet: true });
        }
    };
    for (const ring of rings) {
        // two directions across the normal
        const [x, y, z] = ring.n;
        const a = Math.abs(x) < 0.8 ? [0, -z, y] : [z, 0, -x];
        const norm = Math.hypot(...a);
        const e = a.map((v) => v / norm);
        const f = [y * e[2] - z * e[1], z * e[0] - x * e[2], x * e[1] - y * e[0]];
        const points = [];
        for (let i = 0; i <= 96; i++) {
            const c = 1.35 * reach * Math.cos(2 * Math.PI * i / 96);
            const s = 1.35 * reach * Math.sin(2 * Math.PI * i / 96);
            for (let k = 0; k < 3; k++) points.push(ring.at[k] + c * e[k] + s * f[k]);
        }
        paths.push({ name: ring.name, points, static: true, color: ring.color, width: 1.4,
            quiet: true });
    }
    for (const d of decor) {
        if (d.shape === 'sphere') round([d.radius, d.radius, d.radius], d.name, d.color);
        if (d.shape === 'ellipsoid' && list(d.radii).length === 3)
            round(d.radii, d.name, d.color, d.quaternion);
    }
    for (const c of list(sphere.curves)) {
        paths.push({ name: String(c?.name ?? 'Other orbits'), points: c?.points, static: true,
            color: c?.color ?? 'grey', shown: c?.shown });
    }
    if (sphere.curve !== undefined) {
        paths.push({ name: String(sphere.name ?? 'Curve'), points: sphere.curve,
            color: 'vermilion', role: 'curve', width: 3 });
    }
    const arrows = [];
    if (sphere.curve !== undefined) {
        arrows.push({ name: String(sphere.name ?? 'Vector'), vector: sphere.curve,
            unit: sphere.unit ?? '', scale: 1, color: 'vermilion' });
    }
    for (const v of list(sphere.vectors)) {
        arrows.push({ name: String(v?.name ?? 'Vector'), vector: v?.vector,
            unit: v?.unit ?? sphere.unit ?? '', scale: 1, color: v?.color });
    }
    const points = names.map((name, k) => {
        const point = [0, 0, 0];
        point[k] = 1.38 * reach;
        return { name, point, bare: true };
    });
    for (const p of list(sphere.points))
        points.push({ name: p?.name, point: p?.point, color: p?.color });
    return {
        kind: '3d', abstract: true, unit: String(sphere.unit ?? ''), decor, paths, arrows,
        points, bodies: [], reach,
        camera: { follow: false },
    };
}
