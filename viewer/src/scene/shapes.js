// Geometry of the shapes a body is made of, in body coordinates.
import {
    BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, ExtrudeGeometry, Matrix4,
    Quaternion,
    Shape, SphereGeometry, TorusGeometry, Vector2, Vector3,
} from 'three';

const Z = new Vector3(0, 0, 1);

export const vector = (v, fallback = [0, 0, 0]) => {
    const a = Array.isArray(v) && v.length >= 3 && v.every(Number.isFinite) ? v : fallback;
    return new Vector3(a[0], a[1], a[2]);
};
const positive = (v, fallback) => typeof v === 'number' && v > 0 && Number.isFinite(v)
    ? v
    : fallback;

/** three's cylinders stand along y; ours along z. */
const alongZ = (geometry) => geometry.rotateX(Math.PI / 2);

/** Join geometries that all have position, normal and index. */
function join(parts) {
    const position = [];
    const normal = [];
    const index = [];
    for (const part of parts) {
        const base = position.length / 3;
        for (const v of part.attributes.position.array) position.push(v);
        for (const v of part.attributes.normal.array) normal.push(v);
        const ids = part.index
            ? part.index.array
            : [...Array(part.attributes.position.count).keys()];
        for (const i of ids) index.push(base + i);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(position), 3));
    geometry.setAttribute('normal', new BufferAttribute(new Float32Array(normal), 3));
    geometry.setIndex(index);
    return geometry;
}

/** A straight round bar. */
export function bar(a, b, radius, segments = 16) {
    const d = new Vector3().subVectors(b, a);
    const length = Math.max(d.length(), 1e-9);
    const geometry = alongZ(new CylinderGeometry(radius, radius, length, segments));
    geometry.applyMatrix4(new Matrix4().makeRotationFromQuaternion(
        new Quaternion().setFromUnitVectors(Z, d.clone().divideScalar(length))));
    return geometry.translate((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2);
}

/** Turn all triangles round if most of them look away from their normals. */
function orient(geometry) {
    const p = geometry.attributes.position;
    const n = geometry.attributes.normal;
    const index = geometry.index ? geometry.index.array : null;
    const count = index ? index.length : p.count;
    const [a, b, c, m] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
    let sum = 0;
    for (let i = 0; i + 2 < count; i += 3) {
        const [j, k, l] = index ? [index[i], index[i + 1], index[i + 2]] : [i, i + 1, i + 2];
        a.fromBufferAttribute(p, j);
        b.fromBufferAttribute(p, k).sub(a);
        c.fromBufferAttribute(p, l).sub(a);
        sum += Math.sign(b.cross(c).dot(m.fromBufferAttribute(n, j)));
    }
    if (sum >= 0 || !index) return;
    for (let i = 0; i + 2 < count; i += 3)
        [index[i + 1], index[i + 2]] = [index[i + 2], index[i + 1]];
}

export function meshGeometry(mesh, data, what) {
    const positions = data.points(mesh.positions, 3, what);
    if (!positions || positions.length < 9) return null;
    for (const v of positions) {
        if (!Number.isFinite(v)) {
            data.trouble(`${what} is not shown`, 'a vertex is not finite');
            return null;
        }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(Float32Array.from(positions), 3));
    const n = positions.length / 3;
    let index = mesh.indices ? data.points(mesh.indices, 3, what) : null;
    if (index) {
        index = Uint32Array.from(index);
        if (index.some((i) => i >= n)) {
            data.trouble(`${what} is not shown`, 'a triangle names a vertex that is not there');
            return null;
        }
        geometry.setIndex(new BufferAttribute(index, 1));
    }
    const normals = data.points(mesh.normals, 3, what);
    if (normals && normals.length === positions.length) {
        geometry.setAttribute('normal', new BufferAttribute(Float32Array.from(normals), 3));
        orient(geometry);
    } else {
        geometry.computeVertexNormals();
    }
    const uv = data.points(mesh.uv, 2, what);
    if (uv && uv.length === 2 * n)
        geometry.setAttribute('grid', new BufferAttribute(Float32Array.from(uv), 2));
    return geometry;
}

/** Outline [[x, y], ...] as a plate of this thickness about z = 0. */
function plate(outline, thickness) {
    const points = (Array.isArray(outline) ? outline : [])
        .filter((p) => Array.isArray(p) && p.every(Number.isFinite))
        .map((p) => new Vector2(p[0], p[1]));
    if (points.length < 3) return null;
    return new ExtrudeGeometry(new Shape(points),
        { depth: thickness, bevelEnabled: false, steps: 1 })
        .translate(0, 0, -thickness / 2);
}

/** Blade of a sleigh, seen from above a long lens, pointing along x. */
function blade(length, width, height) {
    const points = [];
    for (let i = 0; i <= 24; i++) {
        const x = i / 24 - 0.5;
        points.push(new Vector2(x * length, (0.25 - x * x) * 2 * width));
    }
    for (let i = 23; i > 0; i--) {
        const x = i / 24 - 0.5;
        points.push(new Vector2(x * length, -(0.25 - x * x) * 2 * width));
    }
    return new ExtrudeGeometry(new Shape(points),
        { depth: height, bevelEnabled: false, steps: 1 });
}

/** A round tube along a polyline, its cross sections carried along without twist. */
export function tubeGeometry(points, radius, closed = false, sides = 12) {
    const p = [];
    for (let i = 0; i + 2 < points.length; i += 3) {
        const v = new Vector3(points[i], points[i + 1], points[i + 2]);
        if (Number.isFinite(v.x + v.y + v.z) &&
            (!p.length || v.distanceTo(p[p.length - 1]) > 1e-9))
            p.push(v);
    }
    if (closed && p.length > 2) p.push(p[0].clone());
    const n = p.length;
    if (n < 2) return null;
    const position = new Float32Array(n * (sides + 1) * 3);
    const normals = new Float32Array(n * (sides + 1) * 3);
    const index = [];
    const across = new Vector3();
    let last = null;
    for (let i = 0; i < n; i++) {
        const along = new Vector3().subVectors(p[Math.min(n - 1, i + 1)], p[Math.max(0, i - 1)])
            .normalize();
        if (closed && (i === 0 || i === n - 1)) along.subVectors(p[1], p[n - 2]).normalize();
        if (!last)
            across.set(Math.abs(along.x) < 0.8 ? 1 : 0, Math.abs(along.x) < 0.8 ? 0 : 1, 0);
        across.addScaledVector(along, -across.dot(along)).normalize();
        last = along;
        const other = new Vector3().crossVectors(along, across);
        for (let k = 0; k <= sides; k++) {
            const a = 2 * Math.PI * k / sides;
            const d = new Vector3().addScaledVector(across, Math.cos(a))
                .addScaledVector(other, Math.sin(a));
            const o = (i * (sides + 1) + k) * 3;
            d.toArray(normals, o);
            d.multiplyScalar(radius).add(p[i]).toArray(position, o);
            if (i + 1 < n && k < sides) {
                const c = i * (sides + 1) + k;
                index.push(c, c + 1, c + sides + 1, c + 1, c + sides + 2, c + sides + 1);
            }
        }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(position, 3));
    geometry.setAttribute('normal', new BufferAttribute(normals, 3));
    geometry.setIndex(index);
    return geometry;
}

/** Rim, hub and spokes about the z axis; outer radius r. */
function wheel(r, tube, spokes) {
    const parts = [new TorusGeometry(r - tube, tube, 20, 96)];
    parts.push(alongZ(new CylinderGeometry(0.06 * r, 0.06 * r, 5 * tube, 20)));
    for (let i = 0; i < spokes; i++) {
        const a = 2 * Math.PI * i / spokes;
        parts.push(bar(new Vector3(0.04 * r * Math.cos(a), 0.04 * r * Math.sin(a), 0),
            new Vector3((r - tube) * Math.cos(a), (r - tube) * Math.sin(a), 0),
            Math.max(0.18 * tube, 0.006 * r), 8));
    }
    return join(parts);
}

/** Shapes that face the viewer in a scene of the x-z plane unless told otherwise. */
const flat = ['disk', 'wheel', 'plate', 'blade', 'cylinder', 'torus'];

/**
 * Geometry of one shape in its own frame and its place in the body, or null. `size`: length
 * that fits the scene, for what has no size of its own. `upright`: the scene is the x-z plane.
 */
export function shapeGeometry(shape, data, size, what, upright) {
    const kind = shape.shape ?? (shape.mesh ? 'mesh' : '');
    let geometry = null;
    let pattern = 'octants';
    let open = false;
    switch (kind) {
    case 'mesh':
        geometry = meshGeometry(shape.mesh ?? shape, data, what);
        open = true;
        break;
    case 'sphere':
        geometry = new SphereGeometry(positive(shape.radius, size), 64, 40)
            .rotateX(Math.PI / 2);
        break;
    case 'ellipsoid': {
        const r = vector(shape.radii, [size, size, size]);
        geometry = new SphereGeometry(1, 80, 52).rotateX(Math.PI / 2);
        const normal = geometry.attributes.normal;
        for (let i = 0; i < normal.count; i++) {
            const v = new Vector3(normal.getX(i) / r.x, normal.getY(i) / r.y,
                normal.getZ(i) / r.z).normalize();
            normal.setXYZ(i, v.x, v.y, v.z);
        }
        const position = geometry.attributes.position;
        for (let i = 0; i < position.count; i++) {
            position.setXYZ(i, position.getX(i) * r.x, position.getY(i) * r.y,
                position.getZ(i) * r.z);
        }
        break;
    }
    case 'torus': {
        const radius = positive(shape.radius, size);
        geometry = new TorusGeometry(radius, positive(shape.tube, radius / 4), 32, 96);
        break;
    }
    case 'cylinder': {
        const radius = positive(shape.radius, size);
        const top = typeof shape.top === 'number' && shape.top >= 0 ? shape.top : radius;
        geometry = alongZ(new CylinderGeometry(top, radius, positive(shape.height, 2 * radius),
            72));
        pattern = 'sectors';
        break;
    }
    case 'disk': {
        const radius = positive(shape.radius, size);
        geometry = alongZ(new CylinderGeometry(radius, radius,
            positive(shape.thickness, 0.03 * radius), 96));
        pattern = 'sectors';
        break;
    }
    case 'wheel': {
        const radius = positive(shape.radius, size);
        const spokes = Math.round(Math.min(72, Math.max(0, shape.spokes ?? 12)));
        geometry = wheel(radius, positive(shape.tube, 0.04 * radius), spokes);
        pattern = 'sectors';
        break;
    }
    case 'box': {
        const s = vector(shape.size, [size, size, size]);
        geometry = new BoxGeometry(s.x, s.y, s.z);
        break;
    }
    case 'rod':
        geometry = bar(vector(shape.from), vector(shape.to, [size, 0, 0]),
            positive(shape.radius, 0.04 * size));
        pattern = 'plain';
        break;
    case 'tube': {
        const points = data.points(shape.points, 3, what);
        geometry = points && tubeGeometry(points, positive(shape.radius, 0.03 * size),
            shape.closed === true);
        pattern = 'plain';
        break;
    }
    case 'plate':
        geometry = plate(shape.outline, positive(shape.thickness, 0.04 * size));
        pattern = 'plain';
        break;
    case 'blade': {
        const length = positive(shape.length, 0.5 * size);
        geometry = blade(length, positive(shape.width, 0.14 * length),
            positive(shape.height, 0.1 * length));
        pattern = 'plain';
        break;
    }
    case 'point':
        geometry = new SphereGeometry(positive(shape.radius, 0.06 * size), 32, 20);
        pattern = 'plain';
        break;
    default:
        data.trouble(`A part of ${what} is not shown`, `there is no shape "${String(kind)}"`);
        return null;
    }
    if (!geometry) return null;
    const turn = new Quaternion();
    if (shape.axis) {
        turn.setFromUnitVectors(Z, vector(shape.axis, [0, 0, 1]).normalize());
    } else if (Array.isArray(shape.quaternion) && shape.quaternion.length === 4) {
        const [w, x, y, z] = shape.quaternion;
        turn.set(x, y, z, w).normalize();
    } else if (upright && flat.includes(kind)) {
        turn.setFromAxisAngle(new Vector3(1, 0, 0), Math.PI / 2);
    }
    geometry.computeBoundingBox();
    geometry.computeBoundingSphere();
    return { geometry, turn, at: vector(shape.at), pattern: shape.pattern ?? pattern, open };
}

/** A unit spring from z = 0 to z = 1, of radius 1 across, to be stretched. */
export function springGeometry(turns = 9) {
    const steps = turns * 16;
    const points = [];
    for (let i = 0; i <= steps; i++) {
        const u = i / steps;
        const fade = Math.min(1, Math.min(u, 1 - u) * 10);
        const a = 2 * Math.PI * turns * u;
        points.push(fade * Math.cos(a), fade * Math.sin(a), u);
    }
    return new Float32Array(points);
}
