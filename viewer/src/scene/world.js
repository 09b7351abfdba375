// What is in the picture: bodies, grounds, curves, arrows, links and labelled points, made of
// the data and moved to the current time.
import {
    Box3, CanvasTexture, Color, CylinderGeometry, DoubleSide, Group, Mesh, MeshLambertMaterial,
    Quaternion,
    SphereGeometry, Sprite, SpriteMaterial, Vector3,
} from 'three';
import { refine, Rotation, Track } from '../motion.js';
import { Arrow } from './arrow.js';
import { expand } from './extent.js';
import { buildGrounds } from './ground.js';
import { FatLine } from './line.js';
import { bodyMaterial, paintBody } from './materials.js';
import { color, known, order, stage } from './palette.js';
import { shapeGeometry, springGeometry, vector } from './shapes.js';

const list = (v) => Array.isArray(v) ? v : [];
const Z = new Vector3(0, 0, 1);
const rodGeometry = new CylinderGeometry(1, 1, 1, 18).rotateX(Math.PI / 2).translate(0, 0, 0.5);
const ballGeometry = new SphereGeometry(1, 24, 16);

let comSign = null;

/** Quartered circle, the usual sign of a centre of mass; one for all worlds. */
function comTexture() {
    if (comSign) return comSign;
    const size = 64;
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = size;
    const c = canvas.getContext('2d', { willReadFrequently: true }); // small: no accelerator
    const r = size / 2 - 3;
    c.translate(size / 2, size / 2);
    for (let i = 0; i < 4; i++) {
        c.fillStyle = i % 2 ? '#ffffff' : '#111418';
        c.beginPath();
        c.moveTo(0, 0);
        c.arc(0, 0, r, i * Math.PI / 2, (i + 1) * Math.PI / 2);
        c.fill();
    }
    c.lineWidth = 4;
    c.strokeStyle = '#111418';
    c.beginPath();
    c.arc(0, 0, r, 0, 2 * Math.PI);
    c.stroke();
    comSign = new CanvasTexture(canvas);
    return comSign;
}

export class World {
    constructor(spec, data, samples) {
        this.spec = spec;
        this.data = data;
        this.samples = samples;
        this.planar = spec.kind === 'plane';
        this.upright = this.planar && spec.plane === 'xz';
        this.root = new Group();
        this.bodies = [];
        this.paths = [];
        this.arrows = [];
        this.links = [];
        this.points = [];
        this.lines = [];        // every FatLine, for widths
        this.materials = [];    // everything that casts colour: {paint(dark)}
        this.layers = new Map(); // toggles: label -> {label, shown, objects, color}
        this.box = new Box3();
        this.tips = new Box3();      // where the arrows reach
        this.tail = Math.max(0.06 * (samples.t1 - samples.t0), 0);
        this.unit = typeof spec.unit === 'string' ? spec.unit : 'm';
        this.size = this.guessSize();
        this.buildBodies();
        this.buildPaths();
        this.measure();
        this.grounds = buildGrounds(this);
        this.placeGroundPaths();
        this.buildArrows();
        this.buildLinks();
        this.buildPoints();
        this.buildDecor();
    }

    /** Length of a body from its shapes' own numbers, before anything is built. */
    guessSize() {
        let size = 0;
        for (const body of list(this.spec.bodies)) {
            for (const s of this.shapesOf(body)) {
                for (const v of [s.radius, s.length, s.height, ...list(s.radii),
                    ...list(s.size), ...list(s.to), ...list(s.from)]) {
                    if (s.shape !== 'point' && Number.isFinite(v))
                        size = Math.max(size, Math.abs(v));
                }
                for (const p of list(s.outline))
                    for (const v of list(p))
                        if (Number.isFinite(v)) size = Math.max(size, Math.abs(v));
            }
        }
        if (size > 0) return size;
        // points only: a fraction of where they go
        const box = new Box3();
        for (const body of list(this.spec.bodies)) {
            const data = body?.pose?.position
                ? this.data.track(body.pose.position, 3, 'A position')
                : null;
            if (data) expand(box, data);
        }
        return box.isEmpty() ? 1 : Math.max(1e-6,
            0.25 * box.getSize(new Vector3()).length() || 1);
    }

    shapesOf(body) {
        const shapes = list(body?.shapes).filter((s) => s && typeof s === 'object');
        if (body?.mesh && typeof body.mesh === 'object')
            shapes.unshift({ shape: 'mesh', mesh: body.mesh });
        return shapes;
    }

    layer(label, shown, object, key) {
        let layer = this.layers.get(label);
        if (!layer) {
            layer = { label, shown, objects: [], key };
            this.layers.set(label, layer);
        }
        const holder = new Group();
        holder.visible = layer.shown;
        layer.objects.push(holder);
        holder.add(object);
        return holder;
    }

    show(label, on) {
        const layer = this.layers.get(label);
        if (!layer) return;
        layer.shown = on;
        for (const o of layer.objects) o.visible = on;
        if (layer.apply) layer.apply(on);
    }

    // ---- bodies -----------------------------------------------------------------------------

    /** Position and orientation over time of a pose object. */
    pose(source, what) {
        const p = source && typeof source === 'object' ? source : {};
        const { data, samples } = this;
        const at = data.track(p.position, 3, `The position of ${what}`);
        let q = data.track(p.quaternion, 4, `The orientation of ${what}`);
        const angle = q ? null : data.track(p.angle, 1, `The angle of ${what}`);
        if (angle) {
            q = new Float64Array(4 * angle.length);
            for (let i = 0; i < angle.length; i++) {
                q[4 * i] = Math.cos(angle[i] / 2);
                q[4 * i + (this.upright ? 2 : 3)] =
                    (this.upright ? -1 : 1) * Math.sin(angle[i] / 2);
            }
        }
        return {
            position: at && samples.n ? new Track(samples, at) : null,
            rotation: q && samples.n ? new Rotation(samples, q) : null,
        };
    }

    buildBodies() {
        const texture = comTexture();
        list(this.spec.bodies).forEach((source, i) => {
            const name = String(source?.name ?? `body ${i + 1}`);
            const group = new Group();
            const body = {
                name, group, pose: this.pose(source?.pose, name), com: vector(source?.com),
                radius: 0,
                key: known(source?.color) ?? order[i % order.length], materials: [], axes: [],
                sprite: null, valid: true,
                box: new Box3(),
            };
            const com = source?.com ? body.com : null;
            for (const shape of this.shapesOf(source)) {
                const made = shapeGeometry(shape, this.data, this.size, name, this.upright);
                if (!made) continue;
                const box = made.geometry.boundingBox;
                const opaque = !(shape.opacity < 1);
                const material = bodyMaterial({
                    pattern: made.pattern, centre: box.getCenter(new Vector3()),
                    half: box.getSize(new Vector3()).multiplyScalar(0.5),
                    doubleSided: made.open || !opaque,
                    flat: shape.flat === true,
                });
                const opacity = opaque ? 1 : Math.max(0.05, shape.opacity);
                const setOpacity = (ghost) => {
                    material.opacity = ghost ? Math.min(opacity, 0.35) : opacity;
                    material.transparent = material.opacity < 1;
                    material.depthWrite = material.opacity >= 1;
                    material.needsUpdate = true;
                };
                setOpacity(false);
                body.materials.push({ setOpacity });
                const key = known(shape.color) ?? body.key;
                this.materials.push({
                    paint: (dark) => paintBody(material, color(key, body.key), dark,
                        stage(dark)),
                });
                const mesh = new Mesh(made.geometry, material);
                mesh.position.copy(made.at);
                mesh.quaternion.copy(made.turn);
                mesh.castShadow = opaque;
                mesh.renderOrder = opaque ? 0 : 5;
                group.add(mesh);
                mesh.updateMatrix();
                body.box.union(box.clone().applyMatrix4(mesh.matrix));
                body.radius = Math.max(body.radius, made.geometry.boundingSphere.radius +
                    made.geometry.boundingSphere.center.clone().applyQuaternion(made.turn)
                        .add(made.at).distanceTo(body.com));
            }
            list(source?.axes).slice(0, 3).forEach((axis, k) => {
                const arrow = new Arrow({ width: 1.6 });
                arrow.vector = vector(axis, [0, 0, 0]);
                this.materials.push({ paint: () =>
                    arrow.setColor(color(['vermilion', 'green', 'sky'][k])) });
                body.axes.push(arrow);
                group.add(this.layer('Principal axes', false, arrow.object));
            });
            if (com) {
                const sprite = new Sprite(new SpriteMaterial(
                    { map: texture, depthTest: false, transparent: true }));
                sprite.renderOrder = 20;
                sprite.position.copy(com);
                body.sprite = sprite;
                group.add(this.layer('Centre of mass', true, sprite));
            }
            this.root.add(group);
            this.bodies.push(body);
        });
        if (this.bodies.some((b) => b.materials.length)) {
            this.layers.set('See through bodies', {
                label: 'See through bodies', shown: false, objects: [],
                apply: (on) => this.bodies.forEach((b) =>
                    b.materials.forEach((m) => m.setOpacity(on))),
            });
        }
    }

    bodyNamed(name) {
        return this.bodies.find((b) => b.name === name);
    }

    // ---- curves -----------------------------------------------------------------------------

    buildPaths() {
        const contacts = new Map(); // colours of contact paths, by what they are on
        list(this.spec.paths).forEach((source, i) => {
            const name = String(source?.name ?? `path ${i + 1}`);
            const still = source?.static === true;
            const points = still
                ? this.data.points(source.points, 3, name)
                : this.data.track(source?.points, 3, name);
            if (!points || points.length < 3) return;
            const role = String(source.role ?? '');
            const frame = String(source.frame ?? 'space');
            const body = this.bodyNamed(frame);
            const fallback = role === 'com' ? 'green'
                : role === 'contact' ? 'vermilion'
                : order[(i + 3) % order.length];
            let key = known(source.color) ?? fallback;
            if (role === 'contact') {
                // several contacts: each its own colour, the same on ground and body
                const on = body ? 'body' : 'ground';
                const used = contacts.get(on) ?? [];
                const free = [key, 'purple', 'sky', 'brown', 'orange', 'green'];
                key = free.find((c) => !used.includes(c)) ?? key;
                contacts.set(on, [...used, key]);
            }
            const smooth = still ? { points, stamps: null }
                : refine(this.samples.time, points);
            const line = new FatLine(smooth.points, smooth.stamps, {
                width: source.width > 0 ? Math.min(12, source.width)
                    : still ? 1.6
                    : body ? 2
                    : 2.6, past: still ? 0.75
                    : 1,
                tail: source.tail >= 0 ? source.tail : body && !still ? this.tail : 0,
                future: source.future === false || (body && source.future !== true) ? 0 : 0.25,
                bias: body ? 0.0022 : 0.0016,
            });
            this.materials.push({ paint: () => line.setColor(color(key, fallback)) });
            this.lines.push(line);
            const path = {
                quiet: source.quiet === true, name, role, frame, line,
                track: still || !this.samples.n ? null : new Track(this.samples, points),
                points, body,
            };
            const shown = source.shown ?? (role !== 'com');
            const holder = this.layer(name, shown, line.object, key);
            path.holder = holder;
            if (body) body.group.add(holder);
            else if (frame !== 'ground') this.root.add(holder);
            this.paths.push(path);
        });
    }

    placeGroundPaths() {
        const parent = this.grounds[0]?.group ?? this.root;
        for (const path of this.paths)
            if (path.frame === 'ground' && !path.body) parent.add(path.holder);
    }

    /**
     * About `count` indices of samples spread over the motion; one even if there is no time.
     */
    someSamples(count) {
        const n = Math.max(1, this.samples.n);
        const step = Math.max(1, Math.floor(n / count));
        const out = [];
        for (let i = 0; i < n; i += step) out.push(i);
        return out;
    }

    // ---- extent -----------------------------------------------------------------------------

    /** Boxes of the motion and the length of the largest body. */
    measure() {
        let largest = 0;
        const corner = new Vector3();
        const q = new Quaternion();
        for (const body of this.bodies) {
            largest = Math.max(largest, body.radius);
            const at = body.pose.position?.data;
            const turn = body.pose.rotation?.data;
            if (at) expand(this.box, at);
            if (body.box.isEmpty()) continue;
            for (const i of this.someSamples(200)) {
                if (turn)
                    q.set(turn[4 * i + 1], turn[4 * i + 2], turn[4 * i + 3], turn[4 * i])
                        .normalize();
                for (let k = 0; k < 8; k++) {
                    const { min, max } = body.box;
                    corner.set(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y,
                        k & 4 ? max.z : min.z).applyQuaternion(q);
                    if (at)
                        corner.set(corner.x + at[3 * i], corner.y + at[3 * i + 1],
                            corner.z + at[3 * i + 2]);
                    if (Number.isFinite(corner.x + corner.y + corner.z))
                        this.box.expandByPoint(corner);
                }
            }
        }
        for (const path of this.paths)
            if (path.frame === 'space') expand(this.box, path.points);
        // rods, springs and marks at the start; a line that stands is scenery
        const now = new Box3();
        for (const ends of [...list(this.spec.points).map((p) => [p]),
            ...list(this.spec.links).map((l) => [l?.a, l?.b])]) {
            const tracks = ends.filter((e) => e && e.body === undefined).map((e) =>
                e.track === undefined ? vector(e.point).toArray()
                    : this.data.track(e.track, 3, 'an end of a link')).filter(Boolean);
            const moves = ends.length === 1 || tracks.length < 2 ||
                tracks.some((t) => t.some((v, i) => v !== t[i % 3]));
            this.scenery ||= !moves;
            for (const track of tracks) {
                expand(this.box, track);
                if (moves) expand(now, track.slice(0, 3));
            }
        }
        const spread = now.isEmpty() ? 0 : now.getSize(new Vector3()).length() / 2;
        if (this.box.isEmpty()) this.box.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
        const whole = this.box.getSize(new Vector3()).length() / 2;
        this.bodyRadius = largest > 0 ? largest : whole * 0.08 || 1;
        this.radius = Math.max(whole, this.bodyRadius, 1e-9);
        this.center = this.box.getCenter(new Vector3());
        let apart = 0; // how far the bodies are from one another
        for (const i of this.someSamples(50)) {
            const box = new Box3();
            for (const { pose } of this.bodies)
                if (pose.position) expand(box, pose.position.data.slice(3 * i, 3 * i + 3));
            if (!box.isEmpty()) apart = Math.max(apart, box.getSize(corner).length() / 2);
        }
        // how many times as large as the bodies the motion is
        this.stretch = this.radius / Math.max(this.bodyRadius, spread, apart);
        // what happens between things that stand is seen with them
        this.far = this.bodies.length > 0 && !this.scenery &&
            this.stretch > (this.planar ? 16 : 12);
        for (const path of this.paths) // what is drawn on a ground that moves belongs to it
            if (path.frame === 'ground') expand(this.box, path.points);
        this.box.getCenter(this.center);
        this.radius = Math.max(this.radius, this.box.getSize(corner).length() / 2);
        this.longest = this.spec.abstract ? Infinity : 3 * this.bodyRadius;
    }

    // ---- arrows -----------------------------------------------------------------------------

    buildArrows() {
        list(this.spec.arrows).forEach((source, i) => {
            const name = String(source?.name ?? `arrow ${i + 1}`);
            const origin = this.data.track(source?.origin, 3, `The arrow ${name}`);
            const vectorData = this.data.track(source?.vector, 3, `The arrow ${name}`);
            if (!vectorData || !this.samples.n) return;
            let scale = source.scale;
            if (!(scale > 0)) {
                // the length that nine tenths of the samples stay below gets a fitting size
                const lengths = [];
                for (const i of this.someSamples(400)) {
                    const k = 3 * i;
                    const v = Math.hypot(vectorData[k], vectorData[k + 1], vectorData[k + 2]);
                    if (Number.isFinite(v)) lengths.push(v);
                }
                lengths.sort((a, b) => a - b);
                const typical = lengths.length
                    ? lengths[Math.floor(0.9 * (lengths.length - 1))]
                    : 0;
                const longest = lengths.length ? lengths[lengths.length - 1] : 0;
                scale = 1.4 * this.bodyRadius / (typical > 0 ? typical
                    : longest > 0 ? longest
                    : 1);
            }
            if (source.shown !== false) {
                const tip = new Vector3();
                const at = new Vector3();
                for (const k of this.someSamples(200)) {
                    tip.fromArray(vectorData, 3 * k).multiplyScalar(scale)
                        .clampLength(0, Math.min(this.longest, 1.5 * this.bodyRadius));
                    if (origin) tip.add(at.fromArray(origin, 3 * k));
                    if (Number.isFinite(tip.x + tip.y + tip.z)) this.tips.expandByPoint(tip);
                }
            }
            const arrow = new Arrow();
            const key = known(source.color) ??
                ['purple', 'orange', 'sky', 'yellow', 'grey'][i % 5];
            this.materials.push({ paint: () => arrow.setColor(color(key, 'purple')) });
            this.root.add(this.layer(name, source.shown !== false, arrow.object, key));
            this.arrows.push({
                name, unit: String(source.unit ?? ''), arrow, key, scale,
                origin: origin ? new Track(this.samples, origin) : null,
                vector: new Track(this.samples, vectorData),
                at: new Vector3(), value: new Vector3(), magnitude: NaN, valid: false,
            });
        });
    }

    // ---- links and points -------------------------------------------------------------------

    /**
     * Function that writes the place of an end ({body, point} | {point} | {track}) into a
     * Vector3.
     */
    end(source, what) {
        const point = vector(source?.point);
        if (source?.track !== undefined) {
            const data = this.data.track(source.track, 3, what);
            if (!data || !this.samples.n) return null;
            const track = new Track(this.samples, data);
            const out = [0, 0, 0];
            return (v) => track.at(out) && Boolean(v.set(out[0], out[1], out[2]));
        }
        if (source?.body !== undefined) {
            const body = this.bodyNamed(String(source.body));
            if (!body) {
                this.data.trouble(`${what} is not shown`,
                    `there is no body "${String(source.body)}"`);
                return null;
            }
            return (v) => {
                v.copy(point).applyQuaternion(body.group.quaternion).add(body.group.position);
                return body.valid;
            };
        }
        return (v) => Boolean(v.copy(point));
    }

    buildLinks() {
        list(this.spec.links).forEach((source, i) => {
            const name = String(source?.name ?? `link ${i + 1}`);
            const a = this.end(source?.a, name);
            const b = this.end(source?.b, name);
            if (!a || !b) return;
            const spring = source.kind === 'spring';
            const thin = source.kind === 'line';
            const fitting = Math.max(this.bodyRadius, 0.22 * this.radius);
            // not thicker than its own length allows
            const [from, to] = [new Vector3(), new Vector3()];
            this.samples.locate(this.samples.t0);
            const length = a(from) && b(to) ? from.distanceTo(to) : 0;
            const thick = (spring ? 0.09 : 0.04) * fitting;
            const radius = source.radius > 0 ? source.radius
                : length > 0 ? Math.min(thick, (spring ? 0.2 : 0.03) * length)
                : thick;
            const key = known(source.color) ?? 'grey';
            const object = new Group();
            const link = { a, b, radius, object, pa: new Vector3(), pb: new Vector3(),
                d: new Vector3(), spring, thin, parts: [] };
            if (spring || thin) {
                const points = spring ? springGeometry() : new Float32Array([0, 0, 0, 0, 0, 1]);
                const line = new FatLine(points, null,
                    { width: thin ? 1.5 : 2.2, past: 1, bias: 0.0005 });
                this.lines.push(line);
                this.materials.push({ paint: () => line.setColor(color(key, 'grey')) });
                line.object.frustumCulled = false;
                object.add(line.object);
                link.stretch = line.object;
            } else {
                const material = new MeshLambertMaterial();
                this.materials.push({
                    paint: () => {
                        material.color.copy(color(key, 'grey'));
                        material.emissive.copy(material.color).multiplyScalar(0.2);
                    },
                });
                link.stretch = new Mesh(rodGeometry, material);
                link.ends = [new Mesh(ballGeometry, material),
                    new Mesh(ballGeometry, material)];
                for (const e of link.ends) e.scale.setScalar(radius * 1.7);
                for (const m of [link.stretch, ...link.ends]) {
                    m.castShadow = true;
                    object.add(m);
                }
            }
            this.root.add(this.layer('Rods, springs and joints', true, object));
            this.links.push(link);
        });
    }

    buildPoints() {
        list(this.spec.points).forEach((source, i) => {
            const name = String(source?.name ?? `P${i + 1}`);
            const place = this.end(source, name);
            if (!place) return;
            const material = new MeshLambertMaterial({ depthTest: source.inside !== true });
            const key = known(source.color) ?? 'black';
            this.materials.push({
                paint: () => {
                    material.color.copy(color(key, 'black'));
                    material.emissive.copy(material.color).multiplyScalar(0.4);
                },
            });
            const object = new Mesh(ballGeometry, material);
            object.renderOrder = 6;
            if (source.bare === true) material.visible = false;
            this.root.add(this.layer('Labelled points', true, object));
            this.points.push({ name, place, object, pixels: 4, label: source.label !== false,
                position: object.position });
        });
    }

    /** Glassy surfaces around the motion: spheres, ellipsoids, planes (see abstract.js). */
    buildDecor() {
        list(this.spec.decor).forEach((source) => {
            const made = shapeGeometry(source, this.data, this.bodyRadius,
                String(source?.name ?? 'decor'), false);
            if (!made) return;
            const opacity = source.opacity > 0 ? Math.min(1, source.opacity) : 0.16;
            const material = new MeshLambertMaterial({
                side: DoubleSide, transparent: opacity < 1, opacity, depthWrite: opacity >= 1,
            });
            this.materials.push({
                paint: () => {
                    material.color.copy(color(known(source.color) ?? 'grey'));
                    material.emissive.copy(new Color(material.color)).multiplyScalar(0.25);
                },
            });
            const mesh = new Mesh(made.geometry, material);
            mesh.position.copy(made.at);
            mesh.quaternion.copy(made.turn);
            mesh.renderOrder = 1;
            const label = String(source?.name ?? 'Surfaces');
            this.root.add(this.layer(label, source.shown !== false, mesh,
                known(source.color) ?? 'grey'));
        });
    }

    // ---- time -------------------------------------------------------------------------------

    /** Move everything to the located time of `samples`. */
    update(t) {
        const out = [0, 0, 0, 0];
        const place = (group, pose) => {
            let valid = true;
            if (pose.position) {
                valid = pose.position.at(out);
                if (valid) group.position.set(out[0], out[1], out[2]);
            }
            if (pose.rotation) {
                if (pose.rotation.at(out)) group.quaternion.set(out[1], out[2], out[3], out[0]);
                else valid = false;
            }
            return valid;
        };
        for (const body of this.bodies) {
            body.valid = place(body.group, body.pose);
            body.group.visible = body.valid;
        }
        for (const ground of this.grounds)
            if (ground.pose) ground.group.visible = place(ground.group, ground.pose);
        for (const path of this.paths) path.line.setTime(t);
        for (const a of this.arrows) {
            a.valid = a.vector.at(out);
            if (a.valid) a.value.set(out[0], out[1], out[2]);
            if (a.origin) {
                if (a.origin.at(out)) a.at.set(out[0], out[1], out[2]);
                else a.valid = false;
            }
            a.magnitude = a.valid ? a.value.length() : NaN;
        }
        for (const link of this.links) {
            link.object.visible = Boolean(link.a(link.pa) && link.b(link.pb));
            if (!link.object.visible) continue;
            const length = link.d.subVectors(link.pb, link.pa).length();
            link.stretch.position.copy(link.pa);
            link.stretch.quaternion.setFromUnitVectors(Z,
                length > 0 ? link.d.divideScalar(length) : Z);
            link.stretch.scale.set(link.radius, link.radius, Math.max(length, 1e-9));
            if (link.ends) {
                link.ends[0].position.copy(link.pa);
                link.ends[1].position.copy(link.pb);
            }
        }
        for (const p of this.points) p.object.visible = Boolean(p.place(p.object.position));
    }

    /**
     * Sizes that are constant on the screen. `pixelAt(v)`: world size of a pixel at a point.
     */
    decorate(pixelAt, unitPixel) {
        for (const line of this.lines) line.setPixel(unitPixel);
        const v = new Vector3();
        for (const a of this.arrows) {
            if (!a.valid) {
                a.arrow.object.visible = false;
                continue;
            }
            v.copy(a.value).multiplyScalar(a.scale);
            v.clampLength(0, this.longest);
            a.arrow.set(a.at, v, pixelAt(a.at));
        }
        for (const body of this.bodies) {
            const pixel = pixelAt(v.copy(body.com).applyQuaternion(body.group.quaternion)
                .add(body.group.position));
            // on small bodies a small mark
            body.sprite?.scale.setScalar(Math.max(5 * pixel,
                Math.min(15 * pixel, 0.4 * body.radius)));
            for (const axis of body.axes) {
                axis.set(body.com, axis.vector, pixel);
            }
        }
        for (const p of this.points)
            p.object.scale.setScalar(p.pixels * pixelAt(p.object.position));
    }

    /** Middle of the bodies now, and the radius around it that holds them. */
    focus(center) {
        const box = new Box3();
        const v = new Vector3();
        const place = (body) => v.copy(body.com).applyQuaternion(body.group.quaternion)
            .add(body.group.position);
        for (const body of this.bodies) if (body.valid) box.expandByPoint(place(body));
        if (box.isEmpty()) {
            center.copy(this.center);
            return this.radius;
        }
        box.getCenter(center);
        let reach = 0;
        for (const body of this.bodies)
            if (body.valid)
                reach = Math.max(reach, place(body).distanceTo(center) + body.radius);
        return reach > 0 ? reach : this.bodyRadius;
    }

    /** Point of contact now, in space, or null. */
    contact() {
        const path = this.paths.find((p) => p.role === 'contact' && p.track && !p.body);
        const out = [0, 0, 0];
        if (!path || !path.track.at(out)) return null;
        if (path.frame !== 'ground') return out;
        const g = this.grounds[0]?.group;
        if (!g) return out;
        g.updateMatrix();
        return new Vector3(...out).applyMatrix4(g.matrix).toArray();
    }

    paint(dark) {
        for (const m of this.materials) m.paint(dark);
    }

    /** Only bodies and their curves, see-through: an earlier motion behind the present one. */
    ghost() {
        for (const layer of this.layers.values()) this.show(layer.label, false);
        this.show('See through bodies', true);
        for (const path of this.paths)
            if (path.frame === 'space' && !path.quiet) this.show(path.name, true);
        this.show('Rods, springs and joints', true);
        for (const g of this.grounds) g.group.visible = false;
        this.grounds = [];
        this.points = [];
    }

    /** Everything that the graphics system keeps for it. */
    dispose() {
        this.root.removeFromParent();
        this.root.traverse((o) => {
            if (o.geometry && o.geometry !== rodGeometry && o.geometry !== ballGeometry)
                o.geometry.dispose();
            for (const m of [o.material].flat()) {
                if (m?.map !== comSign) m?.map?.dispose();
                m?.dispose();
            }
        });
    }
}
