// The motion between samples, against motions known in closed form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addCurve, refine, Rotation, Samples, slopesOf, Track, valueAt }
    from '../src/motion.js';
import { about, times, unit } from './encode.mjs';

/** Uneven times over [0, 2]. */
const uneven = (n) => Float64Array.from({ length: n },
    (_, i) => 2 * i / (n - 1) + 0.15 / n * Math.sin(9 * i));

const place = (t) => [Math.cos(3 * t), Math.sin(2 * t + 1), t * t * t];
const attitude = (t) => unit(times(
    times(about([0, 0, 1], 3 * t), about([1, 0, 0], 0.5 + 0.3 * Math.sin(2 * t))),
    about([0, 0, 1], -7 * t)));

function worst(n) {
    const time = uneven(n);
    const samples = new Samples(time);
    const track = new Track(samples, Float64Array.from([...time].flatMap(place)));
    const rotation = new Rotation(samples,
        Float64Array.from([...time].flatMap((t) => attitude(t))));
    const error = [0, 0];
    for (let k = 0; k <= 2000; k++) {
        const t = samples.t0 + (samples.t1 - samples.t0) * k / 2000;
        samples.locate(t);
        const p = [0, 0, 0];
        const q = [0, 0, 0, 0];
        assert.ok(track.at(p) && rotation.at(q));
        place(t).forEach((v, i) => { error[0] = Math.max(error[0], Math.abs(v - p[i])); });
        const e = attitude(t);
        const d = Math.abs(e.reduce((s, v, i) => s + v * q[i], 0));
        error[1] = Math.max(error[1], 2 * Math.acos(Math.min(1, d)));
    }
    return error;
}

test('positions and orientations converge with third order or better', () => {
    const coarse = worst(51);
    const fine = worst(201);
    for (const k of [0, 1]) {
        const order = Math.log(coarse[k] / fine[k]) / Math.log(200 / 50);
        assert.ok(order > 2.7, `order ${order}, errors ${coarse[k]} ${fine[k]}`);
    }
    assert.ok(fine[0] < 1e-4 && fine[1] < 1e-4, String(fine));
});

test('a uniform rotation is exact, however coarse the samples', () => {
    const time = Float64Array.from([0, 0.3, 0.4, 1]);
    const samples = new Samples(time);
    const q = (t) => about([1, 2, -1], 2.4 * t);
    const rotation = new Rotation(samples, Float64Array.from([...time].flatMap(q)));
    for (const t of [0.01, 0.25, 0.33, 0.7, 0.99]) {
        const out = [0, 0, 0, 0];
        samples.locate(t);
        rotation.at(out);
        q(t).forEach((v, i) => assert.ok(Math.abs(v - out[i]) < 1e-14));
    }
});

test('samples are met exactly, the sign of a quaternion does not matter', () => {
    const time = uneven(20);
    const samples = new Samples(time);
    const data = Float64Array.from(
        [...time].flatMap((t, i) => attitude(t).map((v) => i % 3 ? v : -v)));
    const rotation = new Rotation(samples, data);
    for (let i = 0; i < 20; i++) {
        samples.locate(time[i]);
        const out = [0, 0, 0, 0];
        rotation.at(out);
        const d = Math.abs(attitude(time[i]).reduce((s, v, k) => s + v * out[k], 0));
        assert.ok(Math.abs(d - 1) < 1e-14);
    }
    samples.locate((time[5] + time[6]) / 2);
    const out = [0, 0, 0, 0];
    rotation.at(out);
    const d = Math.abs(attitude((time[5] + time[6]) / 2)
        .reduce((s, v, k) => s + v * out[k], 0));
    assert.ok(2 * Math.acos(Math.min(1, d)) < 0.02);
});

test('equal neighbouring times are a jump', () => {
    const samples = new Samples(Float64Array.from([0, 1, 1, 2]));
    const track = new Track(samples, Float64Array.from([0, 1, 5, 6]), 1);
    const at = (t) => {
        const out = [0];
        samples.locate(t);
        track.at(out);
        return out[0];
    };
    assert.ok(Math.abs(at(0.5) - 0.5) < 1e-12);
    assert.ok(Math.abs(at(1.5) - 5.5) < 1e-12);
    assert.equal(at(1), 5);
    assert.equal(at(2), 6);
});

test('gaps are gaps, ends are ends', () => {
    const samples = new Samples(Float64Array.from([0, 1, 2, 3]));
    const data = Float32Array.from([0, NaN, 2, 3]);
    const track = new Track(samples, data, 1);
    const out = [0];
    samples.locate(0.5);
    assert.equal(track.at(out), false);
    samples.locate(2.5);
    assert.equal(track.at(out), true);
    assert.ok(Math.abs(out[0] - 2.5) < 1e-6);
    samples.locate(99);
    assert.equal(valueAt(samples, data), 3);
    samples.locate(-1);
    assert.equal(valueAt(samples, data), 0);
    const none = new Samples(new Float64Array(0));
    none.locate(1);
    assert.equal(new Track(none, new Float64Array(0), 1).at(out), false);
});

/** What is drawn of a curve: points of its pieces, each Bezier curve at 20 places. */
function drawn(...of) {
    const points = [];
    let last = null;
    addCurve({
        moveTo: (x, y) => points.push(last = [x, y]),
        lineTo: (x, y) => points.push(last = [x, y]),
        bezierCurveTo: (...c) => {
            const p = [last, [c[0], c[1]], [c[2], c[3]], [c[4], c[5]]];
            for (let k = 1; k <= 20; k++) {
                const [u, v] = [k / 20, 1 - k / 20];
                points.push([0, 1].map((i) => v ** 3 * p[0][i] + 3 * v * v * u * p[1][i] +
                    3 * v * u * u * p[2][i] + u ** 3 * p[3][i]));
            }
            last = p[3];
        },
    }, ...of);
    return points;
}

const pixels = (v) => 100 * v;

test('a plotted curve of few samples is smooth and where the motion is', () => {
    // a circle by 16 samples a turn: chords are 2 % of its radius off, these curves 0.2 %
    const time = Float64Array.from({ length: 33 }, (_, i) => i / 16);
    const x = time.map((t) => Math.cos(2 * Math.PI * t));
    const y = time.map((t) => Math.sin(2 * Math.PI * t));
    const points = drawn(time, x, y, pixels, pixels).slice(20, -20);
    for (const [px, py] of points) assert.ok(Math.abs(Math.hypot(px, py) - 100) < 0.3);
    let turn = 0;
    for (let i = 2; i < points.length; i++) {
        const [a, b] = [1, 0].map((k) => Math.atan2(points[i - k][1] - points[i - k - 1][1],
            points[i - k][0] - points[i - k - 1][0]));
        turn = Math.max(turn, Math.abs((b - a + 3 * Math.PI) % (2 * Math.PI) - Math.PI));
    }
    assert.ok(turn < 0.04, `a corner of ${turn}`); // 2 pi/320 = 0.02 is the circle's own
    // over time, and up to a moment between samples
    const part = drawn(time, null, y, pixels, pixels, { to: 4, part: 0.3 });
    const end = part[part.length - 1];
    assert.ok(Math.abs(end[0] - 100 * 4.3 / 16) < 1e-9);
    const samples = new Samples(time).locate(4.3 / 16);
    assert.ok(Math.abs(end[1] - 100 * valueAt(samples, y)) < 1e-9);
});

test('a jump is drawn as one, marked or not', () => {
    const time = Float64Array.from([0, 1, 2, 2, 3, 4]);
    const marked = Float64Array.from([0, 1, 2, 7, 8, 9]);
    for (const [, y] of drawn(time, null, marked, pixels, pixels))
        assert.ok(y <= 200 + 1e-9 || y >= 700 - 1e-9);
    const step = Float64Array.from({ length: 20 }, (_, i) => i < 10 ? 0 : 1);
    const even = Float64Array.from({ length: 20 }, (_, i) => i);
    for (const [, y] of drawn(even, null, step, pixels, pixels))
        assert.ok(y > -1e-9 && y < 100 + 1e-9, `beyond the step: ${y}`);
    assert.equal(slopesOf(even, step)[2 * 9], 1);
});

test('paths in the picture turn by a degree at a time', () => {
    const time = Float64Array.from({ length: 17 }, (_, i) => i / 16);
    const points = Float64Array.from([...time].flatMap((t) =>
        [Math.cos(6 * t), Math.sin(6 * t), 0.1 * t]));
    const fine = refine(time, points);
    assert.equal(fine.points.length, 3 * fine.stamps.length);
    assert.ok(fine.stamps.length > 250 && fine.stamps.length < 450);
    for (let i = 1; i < fine.stamps.length; i++) assert.ok(fine.stamps[i] > fine.stamps[i - 1]);
    for (let i = 0; i < fine.stamps.length; i++)
        assert.ok(Math.abs(Math.hypot(fine.points[3 * i], fine.points[3 * i + 1]) - 1) < 0.01);
});
