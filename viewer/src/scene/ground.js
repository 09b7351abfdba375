// Grounds: a plane that fits the motion, any mesh, a curve of a planar scene, a wire.
import {
    BufferAttribute, BufferGeometry, CircleGeometry, Group, Mesh, MeshLambertMaterial,
    PlaneGeometry,
    Quaternion, Vector3,
} from 'three';
import { niceStep } from '../numbers.js';
import { FatLine } from './line.js';
import { groundMaterials } from './materials.js';
import { color, stage } from './palette.js';
import { expand } from './extent.js';
import { meshGeometry, tubeGeometry, vector } from './shapes.js';

const Z = new Vector3(0, 0, 1);

export function buildGrounds(world) {
    const source = world.spec.ground;
    const sources = (Array.isArray(source) ? source : source ? [source] : [])
        .filter((g) => g && typeof g === 'object');
    const grounds = [];
    for (const g of sources) {
        const group = new Group();
        const ground = { group, pose: g.pose ? world.pose(g.pose, 'the ground') : null,
            step: 0 };
        if (g.plane) plane(world, ground, g);
        else if (g.mesh) mesh(world, ground, g);
        else if (g.curve) curve(world, ground, g);
        else if (g.wire) wire(world, ground, g);
        else {
            world.data.trouble('A ground is not shown',
                'it is neither plane nor mesh nor curve nor wire');
            continue;
        }
        world.root.add(group);
        grounds.push(ground);
    }
    if (world.upright) backdrop(world, grounds);
    return grounds;
}

function stepFor(world, g) {
    if (g.grid > 0) return g.grid;
    return niceStep(world.far
        ? world.bodyRadius
        : Math.max(world.radius / 10, 0.45 * world.bodyRadius), 1);
}

/** Front and back of one geometry, with grid and colours. */
function surface(world, ground, geometry, options) {
    const { front, back, uniforms } = groundMaterials({ ...options, plain: ground.plain });
    const top = new Mesh(geometry, front);
    const bottom = new Mesh(geometry, back);
    top.receiveShadow = !ground.plain;
    // a fading plane is blended: first of all, so that what lies on it is drawn over it
    top.renderOrder = options.radius > 0 ? -2 : -1;
    bottom.renderOrder = 8;
    ground.group.add(world.layer('Ground', true, top), world.layer('Ground', true, bottom));
    world.materials.push({
        paint: (dark) => {
            const c = stage(dark);
            front.color.set(c.ground);
            back.color.set(c.major);
            uniforms.uLine.value.set(c.line);
            uniforms.uMajor.value.set(c.major);
        },
    });
    world.layers.set('Grid', world.layers.get('Grid') ??
        { label: 'Grid', shown: true, objects: [], uniforms: [] });
    const grid = world.layers.get('Grid');
    grid.uniforms.push(uniforms);
    grid.apply = (on) => grid.uniforms.forEach((u) => { u.uLines.value = on ? 1 : 0; });
}

function plane(world, ground, g) {
    const p = typeof g.plane === 'object' ? g.plane : {};
    const normal = vector(p.normal, [0, 0, 1]).normalize();
    const step = stepFor(world, g);
    const point = vector(p.point);
    let centre = point.clone();
    if (!ground.pose) {
        // around the motion, at a corner of the grid
        const d = world.center.clone().sub(point);
        d.addScaledVector(normal, -d.dot(normal));
        const turn = new Quaternion().setFromUnitVectors(normal, Z);
        d.applyQuaternion(turn);
        d.set(Math.round(d.x / (5 * step)) * 5 * step, Math.round(d.y / (5 * step)) * 5 * step,
            0);
        centre = point.clone().add(d.applyQuaternion(turn.invert()));
    }
    const radius = p.radius > 0 ? p.radius : Math.max(2.1 * world.radius, 7 * world.bodyRadius);
    if (p.radius > 0) {
        const turn = new Quaternion().setFromUnitVectors(Z, normal);
        for (let k = 0; k < 32; k++) {
            const rim = new Vector3(radius * Math.cos(k * Math.PI / 16),
                radius * Math.sin(k * Math.PI / 16), 0);
            world.box.expandByPoint(rim.applyQuaternion(turn).add(centre));
        }
        world.box.getCenter(world.center);
        world.radius = world.box.getSize(new Vector3()).length() / 2;
    }
    const geometry = new CircleGeometry(radius, 128);
    // a floor that the motion goes through hides nothing below it
    const below = Math.min(...[0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
        const { min, max } = world.box;
        return new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z)
            .sub(point).dot(normal);
    }));
    const glass = !ground.pose && normal.z > 0.99 && below < -0.03 * world.radius;
    surface(world, ground, geometry, { step, radius: p.radius > 0 ? 0 : radius, glass });
    for (const holder of ground.group.children) {
        holder.children[0].position.copy(centre);
        holder.children[0].quaternion.setFromUnitVectors(Z, normal);
    }
    ground.step = step;
    ground.normal = normal;
    ground.flat = true;
}

function mesh(world, ground, g) {
    const geometry = meshGeometry(g.mesh, world.data, 'The ground');
    if (!geometry) return;
    geometry.computeBoundingBox();
    const box = geometry.boundingBox;
    const extent = box.getSize(new Vector3());
    const step = g.grid > 0 ? g.grid : niceStep(Math.max(extent.x, extent.y, extent.z) / 14, 1);
    const hasUv = Boolean(geometry.attributes.grid);
    const uvStep = Array.isArray(g.grid) && g.grid.length === 2 ? g.grid : [step, step];
    surface(world, ground, geometry, { step, hasUv, uvStep, relief: reliefOf(geometry) });
    if (!ground.pose) world.box.union(box);
    else world.box.expandByPoint(box.min).expandByPoint(box.max);
    world.radius = world.box.getSize(new Vector3()).length() / 2;
    world.box.getCenter(world.center);
    ground.step = hasUv ? 0 : step;
    ground.shaped = true;
    ground.deep = extent.z > 0.35 * Math.max(extent.x, extent.y);
}

/**
 * By how much slopes are exaggerated in the shading, as on a map: more where the surface is
 * nearly level; 0 where it is none that lies (a bowl, a pipe).
 */
function reliefOf(geometry) {
    const n = geometry.attributes.normal;
    if (!n) return 0;
    let sum = 0;
    for (let i = 0; i < n.count; i++) {
        if (Math.abs(n.getZ(i)) < 0.5) return 0;
        sum += n.getX(i) ** 2 + n.getY(i) ** 2;
    }
    const slope = Math.sqrt(sum / n.count);
    return slope > 1e-3 ? Math.min(6, Math.max(1, 0.5 / slope)) : 0;
}

/** Curve of a planar scene with the ground's side hatched; a sheet across the plane in 3D. */
function curve(world, ground, g) {
    const points = world.data.points(g.curve, 3, 'The ground');
    if (!points || points.length < 6) return;
    const n = points.length / 3;
    const side = g.side === -1 ? -1 : 1;
        // the body is on the left (1) or right (-1) of the curve
    const depth = 0.5 * world.bodyRadius;
    const across = world.upright ? new Vector3(0, depth, 0) : new Vector3(0, 0, depth);
    const out = world.upright ? new Vector3(0, -1, 0) : new Vector3(0, 0, 1);
        // towards the viewer
    const at = (i) => new Vector3(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
    const position = new Float32Array(n * 6);
    const index = [];
    for (let i = 0; i < n; i++) {
        at(i).sub(across).toArray(position, 6 * i);
        at(i).add(across).toArray(position, 6 * i + 3);
        if (i + 1 < n) {
            const o = 2 * i;
            index.push(o, o + 1, o + 2, o + 1, o + 3, o + 2);
        }
    }
    expand(world.box, points);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(position, 3));
    geometry.setIndex(index);
    geometry.computeVertexNormals();
    const material = new MeshLambertMaterial(
        { side: 2, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    const sheet = new Mesh(geometry, material);
    sheet.receiveShadow = true;
    ground.group.add(world.layer('Ground', true, sheet));

    const line = new FatLine(points, null, { width: 3, past: 1, bias: 0.001 });
    // hatching: short strokes on the far side at equal distances
    const gap = 0.22 * world.bodyRadius;
    const strokes = [];
    let left = 0;
    for (let i = 0; i + 1 < n; i++) {
        const a = at(i);
        const d = at(i + 1).sub(a);
        const length = d.length();
        if (!(length > 0)) continue;
        d.divideScalar(length);
        const normal = new Vector3().crossVectors(out, d).multiplyScalar(side);
        for (; left < length; left += gap) {
            const p = a.clone().addScaledVector(d, left);
            const q = p.clone().addScaledVector(normal, -0.8 * gap)
                .addScaledVector(d, -0.8 * gap * side);
            strokes.push(...p.toArray(), ...q.toArray(), NaN, NaN, NaN);
        }
        left -= length;
        if (strokes.length > 60000) break;
    }
    const hatch = new FatLine(new Float32Array(strokes), null,
        { width: 1.2, past: 0.8, bias: 0.001 });
    world.radius = world.box.getSize(new Vector3()).length() / 2;
    world.box.getCenter(world.center);
    for (const l of [line, hatch]) {
        world.lines.push(l);
        ground.group.add(world.layer('Ground', true, l.object));
    }
    world.materials.push({
        paint: (dark) => {
            material.color.set(stage(dark).ground);
            line.setColor(color('black'));
            hatch.setColor(color('grey'));
        },
    });
}

function wire(world, ground, g) {
    const points = world.data.points(g.wire.points ?? g.wire, 3, 'The ground');
    if (!points) return;
    const radius = g.wire.radius > 0 ? g.wire.radius : 0.03 * world.bodyRadius;
    const geometry = tubeGeometry(points, radius, g.wire.closed === true);
    if (!geometry) return;
    const material = new MeshLambertMaterial();
    world.materials.push({ paint: () => material.color.copy(color('grey')) });
    const tube = new Mesh(geometry, material);
    tube.castShadow = true;
    ground.group.add(world.layer('Ground', true, tube));
    geometry.computeBoundingBox();
    world.box.union(geometry.boundingBox);
    world.radius = world.box.getSize(new Vector3()).length() / 2;
    world.box.getCenter(world.center);
}

/** A faint grid behind a scene of the x-z plane, for scale. */
function backdrop(world, grounds) {
    const ground = { group: new Group(), pose: null, step: 0 };
    const step = niceStep(world.radius / 6, 1);
    ground.plain = true;
    const radius = 3 * world.radius;
    surface(world, ground, new PlaneGeometry(2 * radius, 2 * radius), { step, radius });
    const centre = world.center.clone();
    centre.set(Math.round(centre.x / (5 * step)) * 5 * step, centre.y,
        Math.round(centre.z / (5 * step)) * 5 * step);
    for (const holder of ground.group.children) {
        const m = holder.children[0];
        m.quaternion.setFromAxisAngle(new Vector3(1, 0, 0), Math.PI / 2);
        m.position.copy(centre).setY(world.box.max.y + 0.6 * world.bodyRadius);
    }
    ground.step = step;
    world.root.add(ground.group);
    grounds.push(ground);
}
