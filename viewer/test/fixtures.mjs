// Plausible reports of every kind of scene, for the tests and for looking at the page. The
// motions are integrated here by simple means: right enough to look right.
//
//     node test/fixtures.mjs DIR      writes one page each
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { about, add, back, cross, dot, f32, f64, fill, meshFromGrid, times, turn, u32, unit } from './encode.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** Classical Runge-Kutta: states at the given times. */
function integrate(rate, state, times, substeps = 4, tidy = (y) => y) {
    const out = [state];
    let y = state;
    for (let i = 1; i < times.length; i++) {
        const h = (times[i] - times[i - 1]) / substeps;
        for (let k = 0; k < substeps; k++) {
            const a = rate(y);
            const b = rate(add(y, a, h / 2));
            const c = rate(add(y, b, h / 2));
            const d = rate(add(y, c, h));
            y = tidy(y.map((v, j) => v + h / 6 * (a[j] + 2 * b[j] + 2 * c[j] + d[j])));
        }
        out.push(y);
    }
    return out;
}

const uniform = (t1, n) => Array.from({ length: n }, (_, i) => t1 * i / (n - 1));

function common(title, extra) {
    return {
        format: 1, title, file: 'models/fixture.mech',
        model: `# ${title}\n# A page for the tests of the viewer.\ntitle "${title}"\nparam a = 0.20, b = 0.03, c = 0.02, m = 1   # sizes and mass\nground plane\n` +
            'body ellipsoid(a, b, c) {\n    mass    m\n    centre  [0, 0, -0.01]\n}\nstart { roll 0.5 deg; pitch 0.5 deg; omega [0, 0, -5] }\nrun { until 20; tolerance 1e-14 }\n',
        formulation: 'rolling', method: 'gauss', engine: 'interpreter', tolerance: 1e-14, status: 'done', reason: '', steps: 4120,
        evaluations: 263680, seconds: 0.184, version: '0.1.0', command: 'noslip run models/fixture.mech --report fixture.html',
        accuracy: 'motion between them right to 1e-4 of the body',
        parameters: [{ name: 'a', value: 0.2, unit: 'm' }, { name: 'b', value: 0.03, unit: 'm' }, { name: 'm', value: 1, unit: 'kg' }, { name: 'g', value: 9.81, unit: 'm/s²' }],
        facts: [
            { name: 'energy', text: 'kept to 3.1 · 10⁻¹⁵ of its size', level: 'good' },
            { name: 'contact', text: 'on both surfaces to 2 · 10⁻¹⁶ m', level: 'good' },
            { name: 'smallest normal force', text: '7.91 N at 3.2 s: the contact is never lost' },
            { name: 'needed friction', text: 'a coefficient of 0.76 at 5.31 s', level: 'note' },
        ],
        warnings: [], events: [], equations, ...extra,
    };
}

const equations = [
    { caption: 'Angular momentum about the contact', mathml: '<math><mrow><mover><mi>M</mi><mo>˙</mo></mover><mo>=</mo><mi>M</mi><mo>×</mo><mi>ω</mi><mo>+</mo><mi>m</mi><mover><mi>s</mi><mo>˙</mo></mover><mo>×</mo><mo>(</mo><mi>ω</mi><mo>×</mo><mi>s</mi><mo>)</mo><mo>+</mo><mi>m</mi><mi>g</mi><mi>s</mi><mo>×</mo><mi>γ</mi></mrow></math>' },
    { caption: 'Contact point', mathml: '<math><mrow><mi>s</mi><mo>=</mo><mo>−</mo><mfrac><mrow><msup><mi>D</mi><mn>2</mn></msup><mi>γ</mi></mrow><msqrt><mrow><mi>γ</mi><mo>·</mo><msup><mi>D</mi><mn>2</mn></msup><mi>γ</mi></mrow></msqrt></mfrac></mrow></math>' },
];

const noise = (i, scale) => scale * (1 + 0.8 * Math.sin(12.9898 * i) * Math.sin(78.233 * i)) * Math.sqrt(1 + i / 40);

function quality(n) {
    return [
        { name: 'energy error', unit: '1', group: 'energy error', log: true, data: f32(Array.from({ length: n }, (_, i) => i ? noise(i, 2e-16) : 0)) },
        { name: 'contact.body', unit: 'm', group: 'constraints', log: true, data: f32(Array.from({ length: n }, (_, i) => noise(i + 3, 1e-17))) },
        { name: 'contact.ground', unit: 'm', group: 'constraints', log: true, data: f32(Array.from({ length: n }, (_, i) => noise(2 * i + 1, 3e-17))) },
        { name: 'quaternion norm', unit: '1', group: 'constraints', log: true, data: f32(Array.from({ length: n }, (_, i) => noise(3 * i + 1, 1e-16))) },
    ];
}

// ---- a rattleback-like ellipsoid that really rolls on the plane ------------------------------

/** Rolling ellipsoid on a plane: y = (q, omega body, x, y); momentum about the contact. */
export function ellipsoid(t1 = 20, n = 4001, shape = 'ellipsoid') {
    const D = [0.2, 0.03, 0.02];
    const centre = [0, 0, 0.004];   // geometric centre in the frame of the centre of mass
    const m = 1;
    const g = 9.81;
    const I = [[2e-4, -2e-5, 0], [-2e-5, 1.6e-3, 0], [0, 0, 1.7e-3]];
    const mul = (A, v) => A.map((r) => dot(r, v));
    const contact = (q) => {
        const gamma = back(q, [0, 0, 1]);
        const w = D.map((d, i) => d * d * gamma[i]);
        const norm = Math.sqrt(dot(gamma, w));
        return { gamma, s: add(w.map((v) => -v / norm), centre), w, norm };
    };
    const rate = (y) => {
        const q = y.slice(0, 4);
        const om = y.slice(4, 7);
        const { gamma, s, w, norm } = contact(q);
        const gdot = cross(gamma, om);
        const wdot = D.map((d, i) => d * d * gdot[i]);
        const ndot = dot(gamma, wdot) / norm;   // d/dt of sqrt(gamma.D2 gamma)
        const sdot = wdot.map((v, i) => -v / norm + w[i] * ndot / (norm * norm));
        // J om' = -om x I om - m s x (om x (om x s) + ... ): from d/dt of velocity v = -om x s
        const v = cross(s, om);
        const J = [0, 1, 2].map((i) => [0, 1, 2].map((j) => I[i][j] + m * ((i === j ? dot(s, s) : 0) - s[i] * s[j])));
        // m(v' + om x v) = F - m g gamma, I om' + om x I om = s x F, v' = s' x om + s x om'
        const a = add(add(cross(sdot, om), cross(om, v)), gamma, g);
        const rhs = add(cross(I.map((r) => dot(r, om)), om), cross(s, a), m);
        const omdot = solve3(J, rhs);
        const vs = turn(q, v);
        return [...times(q, [0, ...om]).map((x) => x / 2), ...omdot, vs[0], vs[1]];
    };
    const tidy = (y) => [...unit(y.slice(0, 4)), ...y.slice(4)];
    const time = uniform(t1, n);
    const start = times(about([1, 0, 0], 0.008), about([0, 1, 0], 0.008));
    const states = integrate(rate, [...start, 0, 0, -5, 0, 0], time, 6, tidy);
    void mul;
    const position = [];
    const quaternion = [];
    const ground = [];
    const onBody = [];
    const com = [];
    const omega = [];
    const force = [];
    const s3 = { x: [], y: [], z: [] };
    const normal = [];
    const ratio = [];
    const energy = [];
    for (const y of states) {
        const q = y.slice(0, 4);
        const om = y.slice(4, 7);
        const { s, gamma } = contact(q);
        const x = [y[7], y[8], -dot(s, gamma)];
        const rates = rate(y);
        const omdot = rates.slice(4, 7);
        const gdot = cross(gamma, om);
        const { w, norm } = contact(q);
        const wdot = D.map((d, i) => d * d * gdot[i]);
        const ndot = dot(gamma, wdot) / norm;
        const sdot = wdot.map((v, i) => -v / norm + w[i] * ndot / (norm * norm));
        const v = cross(s, om);
        const F = add(add(add(cross(sdot, om), cross(s, omdot)), cross(om, v)), gamma, g).map((f) => m * f);
        const Fs = turn(q, F);
        quaternion.push(...q);
        position.push(...add(x, turn(q, centre)));
        com.push(...x);
        const c = add(x, turn(q, s));
        ground.push(c[0], c[1], 0);
        onBody.push(...add(s, centre, -1));
        omega.push(...turn(q, om));
        force.push(...Fs);
        s3.x.push(om[0]);
        s3.y.push(om[1]);
        s3.z.push(om[2]);
        normal.push(Fs[2]);
        ratio.push(Math.hypot(Fs[0], Fs[1]) / Fs[2]);
        energy.push(0.5 * (dot(om, I.map((r) => dot(r, om))) + m * dot(v, v)) + m * g * x[2]);
    }
    const events = [];
    for (let i = 1; i < n; i++) {
        if (s3.z[i - 1] < 0 !== s3.z[i] < 0 && (!events.length || time[i] - events[events.length - 1].t > 0.5)) {
            events.push({ name: 'reversal', t: time[i], direction: s3.z[i] > 0 ? 'rising' : 'falling', action: 'noted', text: 'omega.z passes zero' });
        }
    }
    const body = shape === 'ellipsoid' ? { shapes: [{ shape: 'ellipsoid', radii: D }] } : {
        mesh: meshFromGrid((u, v) => {
            const [a, b] = [2 * Math.PI * u, Math.PI * (v - 0.5)];
            const e = [Math.cos(a) * Math.cos(b), Math.sin(a) * Math.cos(b), Math.sin(b)];
            const nn = unit(e.map((x, i) => x / D[i]));
            return { p: e.map((x, i) => x * D[i]), n: nn };
        }, 96, 48),
    };
    const maxRatio = Math.max(...ratio);
    return common('Rattleback (a test of the page)', {
        about: 'A body with skew axes of inertia on a plane: it spins in its unfavourable sense, begins to rock, and turns back.',
        warnings: [`The motion needs a friction coefficient of ${maxRatio.toFixed(2)}.`],
        events,
        levels: [{ group: 'force', unit: 'N', value: 0, name: 'lift-off' }],
        time: f64(time),
        series: [
            ...quality(n),
            { name: 'omega.x', unit: 'rad/s', group: 'angular velocity', data: f32(s3.x) },
            { name: 'omega.y', unit: 'rad/s', group: 'angular velocity', data: f32(s3.y) },
            { name: 'omega.z', unit: 'rad/s', group: 'angular velocity', data: f32(s3.z) },
            { name: 'force.normal', unit: 'N', group: 'force', data: f32(normal) },
            { name: 'force.ratio', unit: '1', group: 'force', data: f32(ratio) },
            { name: 'com.z', unit: 'm', group: 'position', data: f32(com.filter((_, i) => i % 3 === 2)) },
            { name: 'contact.x', unit: 'm', group: 'position', data: f32(ground.filter((_, i) => i % 3 === 0)) },
            { name: 'contact.y', unit: 'm', group: 'position', data: f32(ground.filter((_, i) => i % 3 === 1)) },
            { name: 'energy', unit: 'J', group: 'energy', data: f32(energy) },
        ],
        plots: [{ title: 'Contact path', x: 'contact.x', y: 'contact.y', equal: true }, { title: 'Rocking against spin', x: 'omega.z', y: 'omega.x' }],
        scene: {
            kind: '3d',
            bodies: [{
                name: 'rattleback', ...body, pose: { position: f32(position), quaternion: f32(quaternion) },
                com: centre.map((v) => -v), axes: [[0.24, 0.016, 0], [-0.005, 0.07, 0], [0, 0, 0.06]],
            }],
            ground: { plane: {} },
            paths: [
                { name: 'contact on the ground', role: 'contact', frame: 'space', points: f32(ground) },
                { name: 'contact on the body', role: 'contact', frame: 'rattleback', points: f32(onBody) },
                { name: 'path of the centre of mass', role: 'com', frame: 'space', points: f32(com) },
            ],
            arrows: [
                { name: 'angular velocity', origin: f32(com), vector: f32(omega), unit: 'rad/s', color: 'purple' },
                { name: 'contact force', origin: f32(ground), vector: f32(force), unit: 'N', color: 'orange' },
            ],
        },
    });
}

function solve3(A, b) {
    const c = (i, j) => {
        const r = [0, 1, 2].filter((k) => k !== i);
        const s = [0, 1, 2].filter((k) => k !== j);
        return A[r[0]][s[0]] * A[r[1]][s[1]] - A[r[0]][s[1]] * A[r[1]][s[0]];
    };
    const det = A[0][0] * c(0, 0) - A[0][1] * c(0, 1) + A[0][2] * c(0, 2);
    return [0, 1, 2].map((j) => [0, 1, 2].reduce((sum, i) => sum + b[i] * ((i + j) % 2 ? -1 : 1) * c(i, j), 0) / det);
}

// ---- a disk rolling in circles ---------------------------------------------------------------

export function disk(t1 = 12, n = 1501) {
    const a = 0.25;
    const tilt = 0.35;
    const R = 1.1;
    const rate = 1.4;      // of going round
    const time = uniform(t1, n);
    const position = [];
    const quaternion = [];
    const ground = [];
    const onBody = [];
    const omega = [];
    for (const t of time) {
        const f = rate * t + 0.15 * Math.sin(0.9 * t);
        const th = tilt + 0.06 * Math.sin(2.3 * t);
        const spin = -f * (R / a);
        // disk axis is z of the body; upright, heading along the circle, leaning inwards
        const q = unit(times(times(about([0, 0, 1], f), about([0, 1, 0], Math.PI / 2 - th)), about([0, 0, 1], -spin)));
        const c = [R * Math.cos(f), R * Math.sin(f), 0];
        const down = [Math.sin(th), 0, -Math.cos(th)];
        const rim = turn(about([0, 0, 1], f), down);
        const x = add(c, rim, -a);
        position.push(...x);
        quaternion.push(...q);
        ground.push(...c);
        onBody.push(...back(q, add(c, x, -1)));
        omega.push(...add(turn(q, [0, 0, 1]).map((v) => v * rate * R / a), [0, 0, rate]));
    }
    return common('Disk rolling in circles', {
        status: 'stopped', reason: 'the disk lies flat at 12.000 s (tilt below 0.1 deg)',
        warnings: ['The motion needs a friction coefficient of 0.41.', 'The contact would lift off at 3.21 s; it is kept, as the model asks for an ideal contact.'],
        events: [{ name: 'lift-off', t: 3.21, direction: 'falling', action: 'noted', text: 'force.normal = 0' }, { name: 'contact again', t: 4.02, direction: 'rising', action: 'noted', text: '' },
            { name: 'lying flat', t: 12, direction: '', action: 'stopped', text: 'tilt below 0.1 deg' }],
        spans: [{ name: 'lifted off', from: 3.21, to: 4.02 }],
        levels: [{ group: 'force', unit: 'N', value: 0, name: 'lift-off' }],
        time: f64(time),
        series: [...quality(n),
            { name: 'force.normal', unit: 'N', group: 'force', data: f32(time.map((t) => 9.81 * (0.4 + 0.6 * Math.cos(0.87 * t)) + (t > 3.21 && t < 4.02 ? -4 : 0))) },
            { name: 'tilt', unit: 'rad', group: 'angles', data: f32(time.map((t) => tilt + 0.06 * Math.sin(2.3 * t))) },
            { name: 'x', unit: 'm', group: 'position', data: f32(ground.filter((_, i) => i % 3 === 0)) },
            { name: 'y', unit: 'm', group: 'position', data: f32(ground.filter((_, i) => i % 3 === 1)) }],
        plots: [{ title: 'Contact path', x: 'x', y: 'y', equal: true }],
        scene: {
            kind: '3d',
            bodies: [{ name: 'disk', shapes: [{ shape: 'disk', radius: a, thickness: 0.012 }], com: [0, 0, 0], axes: [[0.32, 0, 0], [0, 0.32, 0], [0, 0, 0.2]],
                pose: { position: f32(position), quaternion: f32(quaternion) } }],
            ground: { plane: {} },
            paths: [{ name: 'contact on the ground', role: 'contact', frame: 'space', points: f32(ground) }, { name: 'contact on the body', role: 'contact', frame: 'disk', points: f32(onBody) },
                { name: 'path of the centre of mass', role: 'com', frame: 'space', points: f32(position) }],
            arrows: [{ name: 'angular velocity', origin: f32(position), vector: f32(omega), unit: 'rad/s', color: 'purple' }],
        },
    });
}

/** The same disk going far away: the camera has to follow. */
export function wanderer() {
    const n = 2001;
    const time = uniform(30, n);
    const a = 0.05;
    const position = [];
    const quaternion = [];
    const ground = [];
    let [x, y] = [0, 0];
    for (let i = 0; i < n; i++) {
        const t = time[i];
        const f = 0.8 * Math.sin(0.35 * t);
        if (i) {
            const h = t - time[i - 1];
            x += h * 0.9 * Math.cos(f);
            y += h * 0.9 * Math.sin(f);
        }
        quaternion.push(...unit(times(times(about([0, 0, 1], f + Math.PI / 2), about([0, 1, 0], Math.PI / 2)), about([0, 0, 1], -0.9 * t / a))));
        position.push(x, y, a);
        ground.push(x, y, 0);
    }
    return common('Coin on a long way', {
        time: f64(time), series: quality(n),
        scene: { kind: '3d', bodies: [{ name: 'coin', shapes: [{ shape: 'disk', radius: a, thickness: 0.006 }], com: [0, 0, 0], pose: { position: f32(position), quaternion: f32(quaternion) } }],
            ground: { plane: {} }, paths: [{ name: 'contact on the ground', role: 'contact', frame: 'space', points: f32(ground) }] },
    });
}

// ---- a ball in a bowl, and one in a vertical cylinder ------------------------------------------

/** Ball rolling on a surface given by its centre's path; orientation by integrating the rolling rate. */
function rollingBall(path, normal, r, time) {
    const position = [];
    const quaternion = [];
    const ground = [];
    const onBody = [];
    const omegas = [];
    const e = 1e-5;
    let q = [1, 0, 0, 0];
    const omegaAt = (t) => {
        const v = add(path(t + e), path(t - e), -1).map((x) => x / (2 * e));
        return cross(normal(t), v).map((x) => x / r);
    };
    time.forEach((t, i) => {
        if (i) {
            const h = t - time[i - 1];
            const om = omegaAt(t - h / 2);
            q = unit(times(about(Math.hypot(...om) > 0 ? om : [0, 0, 1], Math.hypot(...om) * h), q));
        }
        const x = path(t);
        const c = add(x, normal(t), -r);
        position.push(...x);
        quaternion.push(...q);
        ground.push(...c);
        onBody.push(...back(q, normal(t).map((v) => -r * v)));
        omegas.push(...omegaAt(t));
    });
    return { position, quaternion, ground, onBody, omegas };
}

export function bowl() {
    const R = 0.5;
    const r = 0.06;
    const n = 1601;
    const time = uniform(16, n);
    const rho = R - r;
    const place = (t) => {
        const th = 0.75 + 0.28 * Math.cos(5.1 * t);
        const f = 2.2 * t + 0.1 * Math.sin(5.1 * t);
        return [Math.sin(th) * Math.cos(f), Math.sin(th) * Math.sin(f), -Math.cos(th)];
    };
    const b = rollingBall((t) => place(t).map((v) => v * rho), (t) => place(t).map((v) => -v), r, time);
    const mesh = meshFromGrid((u, v) => {
        const th = Math.PI * (0.56 * u);
        const f = 2 * Math.PI * v;
        const e = [Math.sin(th) * Math.cos(f), Math.sin(th) * Math.sin(f), -Math.cos(th)];
        return { p: e.map((x) => x * R), n: e.map((x) => -x) };
    }, 48, 120);
    // normals look inwards, to the ball: turn the triangles accordingly
    return common('Ball in a bowl', {
        time: f64(time), series: [...quality(n), { name: 'height', unit: 'm', group: 'position', data: f32(b.position.filter((_, i) => i % 3 === 2)) }],
        scene: { kind: '3d',
            bodies: [{ name: 'ball', shapes: [{ shape: 'sphere', radius: r }], com: [0, 0, 0], pose: { position: f32(b.position), quaternion: f32(b.quaternion) } }],
            ground: { mesh: flip(mesh) },
            paths: [{ name: 'contact on the ground', role: 'contact', frame: 'ground', points: f32(b.ground) }, { name: 'contact on the body', role: 'contact', frame: 'ball', points: f32(b.onBody) }],
            arrows: [{ name: 'angular velocity', origin: f32(b.position), vector: f32(b.omegas), unit: 'rad/s', color: 'purple' }] },
    });
}

export function cylinder() {
    const R = 0.4;
    const r = 0.05;
    const n = 1201;
    const time = uniform(10, n);
    const w = 5;
    const path = (t) => [(R - r) * Math.cos(w * t), (R - r) * Math.sin(w * t), 0.5 + 0.22 * Math.cos(Math.sqrt(2 / 7) * w * t)];
    const normal = (t) => [-Math.cos(w * t), -Math.sin(w * t), 0];
    const b = rollingBall(path, normal, r, time);
    const mesh = meshFromGrid((u, v) => {
        const f = 2 * Math.PI * u;
        return { p: [R * Math.cos(f), R * Math.sin(f), v], n: [-Math.cos(f), -Math.sin(f), 0] };
    }, 120, 40);
    return common('Ball inside a vertical cylinder', {
        time: f64(time), series: [...quality(n), { name: 'z', unit: 'm', group: 'position', data: f32(b.position.filter((_, i) => i % 3 === 2)) }],
        scene: { kind: '3d', bodies: [{ name: 'ball', shapes: [{ shape: 'sphere', radius: r }], com: [0, 0, 0], pose: { position: f32(b.position), quaternion: f32(b.quaternion) } }],
            ground: { mesh: flip(mesh) }, paths: [{ name: 'contact on the ground', role: 'contact', frame: 'space', points: f32(b.ground) }] },
    });
}

/** Turn all triangles of an encoded mesh round. */
function flip(mesh) {
    const raw = Buffer.from(mesh.indices.slice(4), 'base64');
    const ids = new Uint32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
    for (let i = 0; i < ids.length; i += 3) [ids[i + 1], ids[i + 2]] = [ids[i + 2], ids[i + 1]];
    return { ...mesh, indices: u32(ids) };
}

/** Sphere on the trough of height f(x), as a height field; sphere given as a mesh. */
export function trough() {
    const r = 0.2;
    const n = 1001;
    const time = uniform(10, n);
    const f = (x) => 0.35 * x * x;
    const df = (x) => 0.7 * x;
    const contact = (t) => [1.1 * Math.cos(1.6 * t), 0.25 * t - 1.25, 0];
    const normalAt = (x) => unit([-df(x), 0, 1]);
    const path = (t) => {
        const c = contact(t);
        return add([c[0], c[1], f(c[0])], normalAt(c[0]), r);
    };
    const b = rollingBall(path, (t) => normalAt(contact(t)[0]), r, time);
    const mesh = meshFromGrid((u, v) => {
        const [x, y] = [-1.7 + 3.4 * u, -1.7 + 3.4 * v];
        return { p: [x, y, f(x)], n: normalAt(x) };
    }, 64, 40);
    return common('Two metals on a trough', {
        formulation: 'constrained', time: f64(time), series: quality(n),
        scene: { kind: '3d', bodies: [{ name: 'sphere', shapes: [{ shape: 'sphere', radius: r, pattern: 'halves', color: 'orange' }], com: [0, 0, -0.012], pose: { position: f32(b.position), quaternion: f32(b.quaternion) } }],
            ground: { mesh }, paths: [{ name: 'contact on the ground', role: 'contact', frame: 'space', points: f32(b.ground) }],
            points: [{ name: 'P', body: 'sphere', point: [0, 0, r] }] },
    });
}

/** Ball on a turning table: the ground has a pose, its path is drawn in its frame. */
export function turntable() {
    const n = 1201;
    const r = 0.05;
    const W = 2;
    const time = uniform(22, n);
    const path = (t) => [0.15 + 0.25 * Math.cos(W * 2 / 7 * t), 0.25 * Math.sin(W * 2 / 7 * t), r];
    const b = rollingBall(path, () => [0, 0, 1], r, time);
    const inTable = [];
    const quaternion = [];
    const zero = [];
    time.forEach((t, i) => {
        const q = about([0, 0, 1], W * t);
        quaternion.push(...q);
        zero.push(0, 0, 0);
        inTable.push(...back(q, b.ground.slice(3 * i, 3 * i + 3)));
    });
    return common('Ball on a turntable', {
        time: f64(time), series: quality(n),
        scene: { kind: '3d', bodies: [{ name: 'ball', shapes: [{ shape: 'sphere', radius: r }], com: [0, 0, 0], pose: { position: f32(b.position), quaternion: f32(b.quaternion) } }],
            ground: { plane: { radius: 0.6 }, pose: { position: f32(zero), quaternion: f32(quaternion) } },
            paths: [{ name: 'path in space', role: 'contact', frame: 'space', points: f32(b.ground) }, { name: 'path on the table', frame: 'ground', points: f32(inTable), color: 'sky' }] },
    });
}

// ---- planar ------------------------------------------------------------------------------------

export function sleigh() {
    const n = 1201;
    const time = uniform(12, n);
    const [m, J, a] = [1, 1, 1];
    const rate = ([th, x, y, u, w]) => [w, u * Math.cos(th), u * Math.sin(th), a * w * w, -m * a * u * w / (J + m * a * a)];
    const states = integrate(rate, [0, 0, 0, -1.5, 1.0], time, 8);
    const at = (k) => states.map((s) => s[k]);
    const position = states.flatMap((s) => [s[1], s[2], 0]);
    const com = states.flatMap((s) => [s[1] + a * Math.cos(s[0]), s[2] + a * Math.sin(s[0]), 0]);
    const curves = [];
    for (const e of [0.5, 1, 1.5, 2]) {
        curves.push({ name: 'orbit', points: f32(Array.from({ length: 101 }, (_, i) => Math.PI * i / 100).flatMap((f) => [-e * Math.cos(f) * 1.414, e * Math.sin(f)])) });
    }
    return common('Chaplygin sleigh', {
        formulation: 'hamel', time: f64(time),
        series: [...quality(n), { name: 'theta', unit: 'rad', group: 'coordinates', data: f32(at(0)) }, { name: 'x', unit: 'm', group: 'position', data: f32(at(1)) }, { name: 'y', unit: 'm', group: 'position', data: f32(at(2)) },
            { name: 'v1', unit: 'm/s', group: 'quasivelocities', data: f32(at(3)) }, { name: 'v2', unit: 'rad/s', group: 'quasivelocities', data: f32(at(4)) },
            { name: 'lambda.blade', unit: 'N', group: 'multipliers', data: f32(states.map((s) => s[3] * s[4])) }],
        plots: [{ title: 'Phase portrait', x: 'v1', y: 'v2', curves }, { title: 'Track of the blade', x: 'x', y: 'y', equal: true }],
        scene: {
            kind: 'plane', plane: 'xy',
            bodies: [{ name: 'sleigh', com: [a, 0, 0], color: 'blue', pose: { position: f32(position), angle: f32(at(0)) },
                shapes: [{ shape: 'plate', outline: [[-0.25, -0.12], [1.1, -0.45], [1.35, -0.3], [1.35, 0.3], [1.1, 0.45], [-0.25, 0.12]], thickness: 0.05 },
                    { shape: 'blade', length: 0.7, color: 'black', at: [0, 0, 0.05] }, { shape: 'point', radius: 0.06, at: [1.1, 0.38, 0.05], color: 'grey' }, { shape: 'point', radius: 0.06, at: [1.1, -0.38, 0.05], color: 'grey' }] }],
            ground: { plane: {} },
            paths: [{ name: 'track of the blade', role: 'contact', frame: 'space', points: f32(position) }, { name: 'path of the centre of mass', role: 'com', shown: true, frame: 'space', points: f32(com) }],
            arrows: [{ name: 'force on the blade', origin: f32(position), vector: f32(states.flatMap((s) => [-Math.sin(s[0]) * s[3] * s[4], Math.cos(s[0]) * s[3] * s[4], 0])), unit: 'N', color: 'orange' }],
        },
    });
}

/** Two unbalanced disks on a curve in the vertical plane, joined by a rod, and a spring. */
export function rollers() {
    const n = 1001;
    const time = uniform(10, n);
    const r = 0.3;
    const f = (x) => 0.12 * x * x;
    const df = (x) => 0.24 * x;
    const centre = (x) => {
        const k = Math.hypot(1, df(x));
        return [x - r * df(x) / k, 0, f(x) + r / k];
    };
    const arc = (x) => x * Math.hypot(1, df(x) / 2);
    const xa = (t) => -0.7 + 0.9 * Math.sin(1.3 * t);
    const one = time.map((t) => centre(xa(t)));
    const two = time.map((t) => {
        // the second one at the length of the rod from the first
        const c = centre(xa(t));
        let [lo, hi] = [xa(t), xa(t) + 3];
        for (let i = 0; i < 60; i++) {
            const mid = (lo + hi) / 2;
            if (Math.hypot(...add(centre(mid), c, -1)) < 1.1) lo = mid;
            else hi = mid;
        }
        return { x: lo, c: centre(lo) };
    });
    const curve = [];
    for (let i = 0; i <= 200; i++) {
        const x = -2.4 + 4.8 * i / 200;
        curve.push(x, 0, f(x));
    }
    const body = (name, positions, angles) => ({ name, com: [0.12, 0, 0], shapes: [{ shape: 'disk', radius: r, thickness: 0.06 }, { shape: 'point', radius: 0.03, at: [0, -0.05, 0], color: 'black' }],
        pose: { position: f32(positions.flat()), angle: f32(angles) } });
    return common('Two unbalanced disks joined by a rod, on a curve', {
        formulation: 'constrained', time: f64(time),
        series: [...quality(n), { name: 'phi1', unit: 'rad', group: 'angles', data: f32(time.map((t) => -arc(xa(t)) / r)) }, { name: 'phi2', unit: 'rad', group: 'angles', data: f32(two.map((w) => -arc(w.x) / r)) },
            { name: 'rod tension', unit: 'N', group: 'force', data: f32(time.map((t) => 3 + 2 * Math.cos(2.6 * t))) }],
        plots: [{ title: 'Angles', x: 'phi1', y: 'phi2', equal: true }],
        scene: {
            kind: 'plane', plane: 'xz', bodies: [body('first', one, time.map((t) => -arc(xa(t)) / r)), body('second', two.map((w) => w.c), two.map((w) => -arc(w.x) / r))],
            ground: { curve: f32(curve), side: 1 },
            links: [{ kind: 'rod', name: 'rod', a: { body: 'first', point: [0, -0.08, 0] }, b: { body: 'second', point: [0, -0.08, 0] } }, { kind: 'spring', a: { point: [-2.3, -0.08, 1.3] }, b: { body: 'first', point: [0, -0.08, 0] }, color: 'green' }],
            paths: [{ name: 'path of the first centre', frame: 'space', points: f32(one.flat()), color: 'sky' }],
            points: [{ name: 'A', body: 'first', point: [0, -0.08, 0] }, { name: 'B', body: 'second', point: [0, -0.08, 0] }, { name: 'wall', point: [-2.3, -0.08, 1.3] }],
        },
    });
}

/** A double pendulum of point masses: rods, labelled points, particles. */
export function rods() {
    const n = 1501;
    const time = uniform(15, n);
    const g = 9.81;
    const rate = ([a, b, u, v]) => {
        const d = a - b;
        const den = 3 - Math.cos(2 * d);
        return [u, v, (-3 * g * Math.sin(a) - g * Math.sin(a - 2 * b) - 2 * Math.sin(d) * (v * v + u * u * Math.cos(d))) / den,
            2 * Math.sin(d) * (2 * u * u + 2 * g * Math.cos(a) + v * v * Math.cos(d)) / den];
    };
    const states = integrate(rate, [2.0, 2.4, 0, 0], time, 10);
    const p = states.map((s) => [Math.sin(s[0]), 0, -Math.cos(s[0])]);
    const q = states.map((s, i) => add(p[i], [Math.sin(s[1]), 0, -Math.cos(s[1])]));
    return common('Double pendulum from particles and rods', {
        formulation: 'constrained', time: f64(time), series: [...quality(n), { name: 'a', unit: 'rad', group: 'angles', data: f32(states.map((s) => s[0])) }, { name: 'b', unit: 'rad', group: 'angles', data: f32(states.map((s) => s[1])) },
            { name: 'a\'', unit: 'rad/s', group: 'rates', data: f32(states.map((s) => s[2])) }],
        plots: [{ title: 'Phase portrait', x: 'a', y: 'a\'' }],
        scene: { kind: 'plane', plane: 'xz', bodies: [{ name: 'P', shapes: [{ shape: 'point', radius: 0.08 }], pose: { position: f32(p.flat()) } }, { name: 'Q', shapes: [{ shape: 'point', radius: 0.08 }], pose: { position: f32(q.flat()) } }],
            links: [{ kind: 'rod', a: { point: [0, 0, 0] }, b: { body: 'P' } }, { kind: 'rod', a: { body: 'P' }, b: { body: 'Q' } }],
            paths: [{ name: 'path of Q', frame: 'space', points: f32(q.flat()), future: false }],
            points: [{ name: 'O', point: [0, 0, 0] }, { name: 'P', body: 'P' }, { name: 'Q', body: 'Q' }] },
    });
}

// ---- a bicycle from parts -----------------------------------------------------------------------

export function bicycle() {
    const n = 801;
    const time = uniform(8, n);
    const v = 4.6;
    const [rr, rf, w] = [0.3, 0.35, 1.02];
    const rear = [];
    const rq = [];
    const fq = [];
    const front = [];
    const frameQ = [];
    const forkQ = [];
    const gr = [];
    const gf = [];
    let [x, y, psi] = [0, 0, 0];
    time.forEach((t, i) => {
        const lean = 0.16 * Math.exp(-0.25 * t) * Math.sin(3.1 * t);
        const steer = 0.14 * Math.exp(-0.25 * t) * Math.sin(3.1 * t - 0.7);
        if (i) {
            const h = t - time[i - 1];
            psi += h * v * Math.tan(steer) / w;
            x += h * v * Math.cos(psi);
            y += h * v * Math.sin(psi);
        }
        const heading = times(about([0, 0, 1], psi), about([1, 0, 0], lean));
        const hub = add([x, y, 0], turn(heading, [0, 0, rr]));
        const hubF = add([x, y, 0], turn(heading, [w, 0, rf]));
        rear.push(...hub);
        front.push(...hubF);
        frameQ.push(...heading);
        const fork = times(heading, about([-0.31, 0, 0.95], steer));
        forkQ.push(...fork);
        rq.push(...times(heading, about([0, 1, 0], v * t / rr)));
        fq.push(...times(fork, about([0, 1, 0], v * t / rf)));
        gr.push(x, y, 0);
        const g = add([x, y, 0], turn(heading, [w, 0, 0]));
        gf.push(g[0], g[1], 0);
    });
    const bar = (from, to, radius = 0.018) => ({ shape: 'rod', from, to, radius });
    return common('Whipple bicycle', {
        formulation: 'constrained', time: f64(time), series: quality(n),
        scene: { kind: '3d', camera: { follow: true },
            bodies: [
                { name: 'rear wheel', color: 'black', shapes: [{ shape: 'wheel', radius: rr, tube: 0.018, axis: [0, 1, 0], spokes: 16 }], pose: { position: f32(rear), quaternion: f32(rq) } },
                { name: 'frame', color: 'blue', com: [0.3, 0, 0.6], pose: { position: f32(rear), quaternion: f32(frameQ) },
                    shapes: [bar([0, 0, 0], [0.42, 0, -0.02]), bar([0.42, 0, -0.02], [0.26, 0, 0.5]), bar([0, 0, 0], [0.27, 0, 0.44]), bar([0.42, 0, -0.02], [0.8, 0, 0.42]), bar([0.27, 0, 0.44], [0.79, 0, 0.47]),
                        { shape: 'box', size: [0.24, 0.12, 0.04], at: [0.23, 0, 0.53], color: 'black', pattern: 'plain' }] },
                { name: 'fork', color: 'orange', pose: { position: f32(front), quaternion: f32(forkQ) },
                    shapes: [bar([0, 0.06, 0], [-0.17, 0.06, 0.4], 0.013), bar([0, -0.06, 0], [-0.17, -0.06, 0.4], 0.013), bar([-0.17, 0, 0.38], [-0.25, 0, 0.62]), bar([-0.25, -0.26, 0.62], [-0.25, 0.26, 0.62], 0.014), bar([-0.17, -0.07, 0.4], [-0.17, 0.07, 0.4], 0.013)] },
                { name: 'front wheel', color: 'black', shapes: [{ shape: 'wheel', radius: rf, tube: 0.018, axis: [0, 1, 0], spokes: 16 }], pose: { position: f32(front), quaternion: f32(fq) } },
            ],
            ground: { plane: {} },
            paths: [{ name: 'rear contact', role: 'contact', frame: 'space', points: f32(gr) }, { name: 'front contact', frame: 'space', points: f32(gf), color: 'sky' }] },
    });
}

// ---- Lie algebra --------------------------------------------------------------------------------

export function lie() {
    const n = 1501;
    const time = uniform(30, n);
    const I = [1, 2, 3];
    const rate = (w) => [(I[1] - I[2]) / I[0] * w[1] * w[2], (I[2] - I[0]) / I[1] * w[2] * w[0], (I[0] - I[1]) / I[2] * w[0] * w[1]];
    const states = integrate(rate, [0.1, 1, 0.12], time, 6);
    const M = states.map((w) => w.map((v, i) => v * I[i]));
    const radius = Math.hypot(...M[0]);
    const E = dot(states[0], M[0]);
    return common('Euler top on its momentum sphere', {
        formulation: 'lie', time: f64(time),
        series: [...quality(n), ...[0, 1, 2].map((k) => ({ name: `M${k + 1}`, unit: 'kg m²/s', group: 'momentum', data: f32(M.map((v) => v[k])) }))],
        plots: [{ title: 'Portrait', x: 'M1', y: 'M3', equal: true }],
        scene: { kind: 'none' },
        sphere: { title: 'Momentum sphere', unit: 'kg m²/s', name: 'momentum M', curve: f32(M.flat()), axes: ['M₁', 'M₂', 'M₃'], radius, radius_name: 'sphere |M| = const',
            ellipsoid: { radii: I.map((i) => Math.sqrt(E * i)), name: 'energy ellipsoid' }, points: [{ name: 'unstable axis', point: [0, radius, 0] }] },
    });
}

export function suslov() {
    const n = 801;
    const time = uniform(16, n);
    const states = time.map((t) => {
        const u = Math.tanh(0.6 * (t - 5));
        const v = 1 / Math.cosh(0.6 * (t - 5));
        return [1.2 * u, 1.2 * v, -0.4 * (1.2 * u + 1.2 * v)];
    });
    return common('Suslov problem', {
        formulation: 'lie', time: f64(time), series: [...quality(n), ...[0, 1, 2].map((k) => ({ name: `Omega.${k + 1}`, unit: 'rad/s', group: 'angular velocity', data: f32(states.map((s) => s[k])) }))],
        scene: { kind: 'none' },
        sphere: { title: 'Angular velocities', unit: 'rad/s', name: 'Ω', curve: f32(states.flat()), axes: ['Ω₁', 'Ω₂', 'Ω₃'], plane: { normal: [0.4, 0.4, 1], offset: 0, name: 'a · Ω = 0' },
            ellipsoid: { radii: [1.6, 1.35, 1.1], name: 'energy ellipsoid' } },
    });
}

// ---- hostile and broken ---------------------------------------------------------------------------

export function hostile() {
    const bad = '<script>window.pwned=1</script>';
    const img = '"><img src=x onerror="window.pwned=2">';
    const out = disk(4, 201);
    const closing = '</script><script>window.pwned=3</script><!--';
    return {
        ...out, title: `A ${bad} & "quotes" '${img}`, file: `${img}.mech`, model: `${closing}\ntitle "${bad}" # ${img}\n`, formulation: bad, method: img, reason: closing, command: `noslip run '${img}' ${closing}`,
        warnings: [bad, img, closing], facts: [{ name: bad, text: img, level: 'bad' }, { name: 'x', text: closing, level: 'javascript:alert(1)' }],
        parameters: [{ name: bad, value: img, unit: bad }, { name: '__proto__', value: 1, unit: '' }],
        events: [{ name: bad, t: 1, direction: img, action: bad, text: closing }, { name: img, t: null, direction: '', action: '', text: '' }],
        equations: [{ caption: bad, mathml: `<math onclick="window.pwned=4"><mi onmouseover="window.pwned=5" href="javascript:window.pwned=6">x</mi><script>window.pwned=7</script><mo>=</mo><annotation-xml encoding="text/html"><img src=x onerror="window.pwned=8"></annotation-xml><mtext><img src=x onerror="window.pwned=9">y</mtext></math>` },
            { caption: 'no math', mathml: bad }, { caption: 'svg', mathml: '<svg onload="window.pwned=10"></svg><math><mi>z</mi></math>' }],
        series: [{ name: bad, unit: img, group: bad, data: f32(Array.from({ length: 201 }, (_, i) => Math.sin(i / 9))) }, { name: img, unit: img, group: img, data: f32(Array.from({ length: 201 }, (_, i) => i)) }],
        plots: [{ title: bad, x: bad, y: img }],
        scene: { ...out.scene, bodies: [{ ...out.scene.bodies[0], name: bad, color: 'url(javascript:1)' }], paths: [{ ...out.scene.paths[0], name: img, color: '"><b>' }], points: [{ name: bad, body: bad, point: [0, 0, 0.1] }] },
    };
}

export function single() {
    const d = disk(4, 201);
    return { ...d, title: 'One sample only', status: 'stopped', reason: 'the start is singular', spans: [], events: [], time: f64([0]), series: [{ name: 'energy', unit: 'J', group: 'energy', data: f32([1.25]) }], plots: [],
        scene: { kind: '3d', bodies: [{ name: 'disk', shapes: [{ shape: 'disk', radius: 0.25 }], com: [0, 0, 0], pose: { position: f32([0, 0, 0.25]), quaternion: f32([0.7071, 0.7071, 0, 0]) } }], ground: { plane: {} },
            paths: [{ name: 'contact', role: 'contact', points: f32([0, 0, 0]) }] } };
}

export function empty() {
    return { format: 1, title: 'Nothing at all', status: 'stopped', reason: 'no step was taken', time: f64([]), series: [], scene: { kind: '3d', bodies: [{ name: 'b', shapes: [{ shape: 'sphere', radius: 1 }] }], ground: { plane: {} } } };
}

/** Gaps, infinities, wrong lengths, unknown shapes, names used twice. */
export function broken() {
    const n = 301;
    const d = disk(6, n);
    const gaps = Array.from({ length: n }, (_, i) => i > 100 && i < 140 ? NaN : i === 200 ? Infinity : Math.sin(i / 20));
    const time = uniform(6, n);
    const p = time.flatMap((t, i) => i > 150 && i < 170 ? [NaN, 0, 0] : [t, 0, 0.3]);
    return { ...d, title: 'Not everything is finite', series: [{ name: 'gaps', unit: 'm', group: 'observe', data: f32(gaps) }, { name: 'all gaps', unit: 's', group: 'observe', log: true, data: f32(gaps.map(() => NaN)) }, { name: 'zero', unit: '1', group: 'constraints', log: true, data: f32(gaps.map(() => 0)) },
        { name: 'short', unit: 'm', group: 'observe', data: f32([1, 2, 3]) }, { name: 'gaps', unit: 'm', group: 'observe', data: f32(gaps) }, { name: 'nothing', unit: 'm', group: 'observe' }, { name: 'bad kind', group: 'observe', data: 'f99:AAAA' },
        { name: 'json', unit: 'm', group: 'observe', data: gaps.map((v) => Number.isFinite(v) ? v : null) }],
    plots: [{ title: 'gone', x: 'nowhere', y: 'gaps' }, { title: 'with gaps', x: 'json', y: 'gaps' }],
    scene: { kind: '3d', bodies: [{ name: 'ball', shapes: [{ shape: 'sphere', radius: 0.3 }, { shape: 'teapot' }], pose: { position: f32(p) } }, { name: 'mesh', mesh: { positions: f32([0, 0, 0, 1, 0, 0, 0, 1, NaN]), indices: u32([0, 1, 2]) } }, { name: 'mesh2', mesh: { positions: f32([0, 0, 0, 1, 0, 0, 0, 1, 0]), indices: u32([0, 1, 7]) } }],
        ground: { plane: {} }, paths: [{ name: 'path', points: f32(p) }], links: [{ kind: 'rod', a: { body: 'nobody' }, b: { point: [0, 0, 0] } }], arrows: [{ name: 'v', origin: f32(p), vector: f32(p) }] } };
}

/** Plots and facts without a picture. */
export function plotsOnly() {
    const d = lie();
    const { sphere, ...rest } = d;
    void sphere;
    return { ...rest, title: 'A system without a picture' };
}

/** A moving body and its momentum sphere: two pictures. */
export function both() {
    const d = ellipsoid(6, 601);
    const l = lie();
    const keep = 601;
    const raw = Buffer.from(l.sphere.curve.slice(4), 'base64');
    const curve = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength)).slice(0, 3 * keep);
    return { ...d, title: 'A body and its momentum sphere', sphere: { ...l.sphere, curve: f32(curve) } };
}

/** Every shape, pattern and link there is, slowly turning above an inclined plane; a wire. */
export function shapes() {
    const n = 121;
    const time = uniform(6, n);
    const kinds = [
        { shape: 'sphere', radius: 0.4 }, { shape: 'ellipsoid', radii: [0.5, 0.3, 0.2] }, { shape: 'torus', radius: 0.35, tube: 0.12 },
        { shape: 'cylinder', radius: 0.3, height: 0.6 }, { shape: 'cylinder', radius: 0.35, top: 0, height: 0.7 }, { shape: 'disk', radius: 0.45 },
        { shape: 'wheel', radius: 0.45, spokes: 10 }, { shape: 'box', size: [0.6, 0.4, 0.3] }, { shape: 'rod', from: [-0.4, 0, 0], to: [0.4, 0, 0], radius: 0.06 },
        { shape: 'tube', points: Array.from({ length: 61 }, (_, i) => [0.4 * Math.cos(i / 5), 0.4 * Math.sin(i / 5), 0.01 * i - 0.3]).flat(), radius: 0.05 },
        { shape: 'plate', outline: [[-0.4, -0.3], [0.4, -0.2], [0.4, 0.2], [-0.4, 0.3]] }, { shape: 'blade', length: 0.8 }, { shape: 'point', radius: 0.2 },
        { shape: 'sphere', radius: 0.4, pattern: 'halves' }, { shape: 'ellipsoid', radii: [0.4, 0.4, 0.25], pattern: 'sectors' }, { shape: 'sphere', radius: 0.4, opacity: 0.4 },
    ];
    const bodies = kinds.map((s, i) => {
        const place = [1.2 * (i % 4) - 1.8, 1.2 * Math.floor(i / 4) - 1.8, 1.1];
        return { name: `${i + 1} ${s.shape}`, com: [0, 0, 0], axes: [[0.6, 0, 0], [0, 0.6, 0], [0, 0, 0.6]], shapes: [s],
            pose: { position: f32(time.flatMap(() => place)), quaternion: f32(time.flatMap((t) => about([1, 0.4, 0.2 * i], 0.9 * t))) } };
    });
    return common('Every shape', {
        time: f64(time), series: quality(n),
        scene: { kind: '3d', bodies, ground: [{ plane: { point: [0, 0, -0.2], normal: [0.12, 0, 1] } },
            { wire: { points: Array.from({ length: 80 }, (_, i) => [2.6 * Math.cos(i * Math.PI / 40), 2.6 * Math.sin(i * Math.PI / 40), 0.6]).flat(), radius: 0.03, closed: true } }],
            links: [{ kind: 'rod', a: { body: '1 sphere' }, b: { body: '2 ellipsoid' } }, { kind: 'spring', a: { body: '3 torus' }, b: { body: '4 cylinder' } }, { kind: 'line', a: { body: '15 ellipsoid' }, b: { track: f32(time.flatMap((t) => [2, 2 + Math.sin(t), 2])) } }],
            points: bodies.slice(0, 4).map((b) => ({ name: b.name, body: b.name, point: [0, 0, 0.5] })) },
    });
}

/** Disk inside a large circle in the vertical plane; and a torus-shaped ground with lines in its own coordinates. */
export function circle() {
    const n = 601;
    const time = uniform(8, n);
    const [R, r] = [1, 0.25];
    const phi = (t) => 1.1 * Math.cos(2.4 * t);
    const centre = time.flatMap((t) => [(R - r) * Math.sin(phi(t)), 0, -(R - r) * Math.cos(phi(t))]);
    const ring = Array.from({ length: 181 }, (_, i) => [R * Math.cos(i * Math.PI / 90), 0, R * Math.sin(i * Math.PI / 90)]).flat();
    return common('Disk in a large circle', {
        time: f64(time), series: [...quality(n), { name: 'phi', unit: 'rad', group: 'angles', data: f32(time.map(phi)) }, { name: 'phi\'', unit: 'rad/s', group: 'rates', data: f32(time.map((t) => -2.64 * Math.sin(2.4 * t))) }],
        plots: [{ title: 'Phase portrait', x: 'phi', y: 'phi\'', curves: [0.4, 0.8, 1.4].map((a) => ({ name: 'orbit', points: f32(Array.from({ length: 73 }, (_, i) => [a * Math.cos(i * Math.PI / 36), 2.4 * a * Math.sin(i * Math.PI / 36)]).flat()) })) }],
        scene: { kind: 'plane', plane: 'xz', bodies: [{ name: 'disk', com: [0.08, 0, 0], shapes: [{ shape: 'disk', radius: r }], pose: { position: f32(centre), angle: f32(time.map((t) => -phi(t) * (R - r) / r)) } }],
            ground: { curve: f32(ring), side: 1 }, paths: [{ name: 'path of the centre', points: f32(centre), color: 'sky' }],
            arrows: [{ name: 'contact force', origin: f32(time.flatMap((t) => [R * Math.sin(phi(t)), 0, -R * Math.cos(phi(t))])), vector: f32(time.flatMap((t) => [-12 * Math.sin(phi(t)), 0, 12 * Math.cos(phi(t))])), unit: 'N', color: 'orange' }] },
    });
}

/** Ball on a torus; lines of the ground in its own two coordinates. */
export function torus() {
    const n = 801;
    const time = uniform(10, n);
    const [R, a, r] = [0.6, 0.25, 0.07];
    const normal = (t) => {
        const [u, v] = [0.9 * t, 1.1 + 0.35 * Math.sin(2.2 * t)];
        return [Math.cos(u) * Math.cos(v), Math.sin(u) * Math.cos(v), Math.sin(v)];
    };
    const path = (t) => {
        const u = 0.9 * t;
        return add([R * Math.cos(u), R * Math.sin(u), 0], normal(t), a + r);
    };
    const b = rollingBall(path, normal, r, time);
    const uv = [];
    const mesh = meshFromGrid((u, v) => {
        const [f, g] = [2 * Math.PI * u, 2 * Math.PI * v];
        uv.push(f, g);
        const nn = [Math.cos(f) * Math.cos(g), Math.sin(f) * Math.cos(g), Math.sin(g)];
        return { p: add([R * Math.cos(f), R * Math.sin(f), 0], nn, a), n: nn };
    }, 96, 48);
    return common('Ball on a torus', {
        time: f64(time), series: quality(n),
        scene: { kind: '3d', bodies: [{ name: 'ball', shapes: [{ shape: 'sphere', radius: r }], com: [0, 0, 0], pose: { position: f32(b.position), quaternion: f32(b.quaternion) } }],
            ground: { mesh: { ...mesh, uv: f32(uv) }, grid: [Math.PI / 12, Math.PI / 8] }, paths: [{ name: 'contact on the ground', role: 'contact', points: f32(b.ground) }] },
    });
}

/** A study: curves with gaps, markers, levels, a span, logarithmic axes, two fields, tables, and names that look like markup. */
export function study() {
    const evil = '<img src=x onerror="window.injected=1"></script>';
    const k = Array.from({ length: 41 }, (_, i) => i / 20 - 1);
    const [columns, rows] = [30, 20];
    const value = Array.from({ length: columns * rows }, (_, i) => i === 7 ? NaN : Math.sin(i % columns / 5) * Math.cos(Math.floor(i / columns) / 4));
    const axis = (label, unit, more) => ({ label, unit, ...more });
    return {
        format: 1, study: 'sweep', title: `Study of ${evil}`, file: 'study.mech', model: `# ${evil}\ntitle "x"\n`, formulation: 'rolling', version: '0', status: 'done',
        command: 'noslip sweep study.mech', scene: { kind: 'none' },
        results: [{ name: 'largest_value', value: 0.123456789012 }, { name: 'verdict', text: evil }],
        tables: [{ name: 'points', rows: 5000, columns: [{ name: 'a', unit: 'm', data: f64(k) }, { name: evil, words: k.map(() => evil) }] }],
        figures: [{ title: `branches ${evil}`, columns: 2, panels: [
            { title: 'curves', x: axis('a', 'm'), y: axis('b', 'rad'), series: [
                { name: 'stable', line: true, x: f64(k), y: f64(k.map((v, i) => i === 20 ? NaN : v * v)), color: 'blue' },
                { name: evil, line: true, dashed: true, x: f64(k), y: f64(k.map((v) => -v * v)) },
                { name: 'folds', marker: 'diamond', x: [0, 0.5], y: [0, 0.25], color: 'vermilion' },
            ], levels: [{ name: 'hopf', at: 0.25, vertical: true }, { at: 0 }], spans: [{ from: -0.5, to: -0.2 }] },
            { title: 'field', x: axis('p', '1', { log: true }), y: axis('q', 's'), field: { label: 'exponent', unit: '1/s', columns, rows, value: f64(value),
                x: [0.01, 10], y: [0, 4], diverging: true }, series: [] },
            { title: 'words', x: axis('p', '1'), y: axis('q', 's'), field: { label: 'time', unit: 's', columns: 3, rows: 2, value: [1, 2, NaN, NaN, 5, 6],
                x: [0.5, 3.5], y: [0, 2], at_x: f64([1, 2, 3]), at_y: f64([0.1, 1.7]), words: ['never', evil], word_colors: ['#e4e4e4', '#e0703a'], word: [2, 0, 1, 1, 1, 2, 2, 0],
                notes: [[3, `stopped ${evil}`]] }, series: [], command: `noslip run 'x${evil}' --set p={x} --set q={y} --report motion.html` },
            { title: 'logarithmic', x: axis('n', ''), y: axis('error', '', { log: true }), series: [
                { name: 'error', line: true, marker: 'circle', x: [1, 2, 3, 4, 5], y: [1e-2, 1e-4, 0, 1e-9, 1e-12] }], equal: false },
            { title: 'round', x: axis('x', 'm'), y: axis('y', 'm', { from: 1.5, to: -1.5 }), equal: true, series: [
                { marker: 'dot', x: f64(k.map((v) => Math.cos(3 * v))), y: f64(k.map((v) => Math.sin(3 * v))) }] },
        ] }],
    };
}

export const fixtures = {
    ellipsoid, 'ellipsoid-mesh': () => ellipsoid(4, 801, 'mesh'), disk, wanderer, bowl, cylinder, trough, turntable, sleigh, rollers, rods, bicycle, lie, suslov, both, shapes, circle, torus,
    hostile, single, empty, broken, 'plots-only': plotsOnly, study,
};

/** Write pages of all fixtures (or the named ones) to a folder; returns name -> path. */
export async function writePages(folder, names = Object.keys(fixtures)) {
    const template = await readFile(join(here, '../dist/template.html'), 'utf8');
    await mkdir(folder, { recursive: true });
    const pages = {};
    for (const name of names) {
        pages[name] = join(folder, `${name}.html`);
        await writeFile(pages[name], fill(template, fixtures[name]()));
    }
    return pages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    if (process.argv[2]?.startsWith('-')) {
        console.error('usage: node test/fixtures.mjs [DIR]');
        process.exit(2);
    }
    await writePages(process.argv[2] ?? join(here, '../dist/fixtures'));
}
