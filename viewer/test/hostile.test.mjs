// Data that lie: reports changed at random, and addresses that somebody else wrote. What cannot
// be shown is left out with a word; nothing throws, nothing takes long, nothing grows without
// end. TRIALS=N tries more; the seed changes by day and is printed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { fromFile, fromFragment, toFragment } from '../play/share.js';
import { normalise } from '../src/data.js';
import { fixtures } from './fixtures.mjs';

const trials = Number(process.env.TRIALS ?? 1500);
const seed = Number(process.env.SEED ?? Math.floor(Date.now() / 86400e3));
let state = seed >>> 0;
const random = () => { // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
};
const pick = (list) => list[Math.floor(random() * list.length)];

const odd = [null, undefined, true, false, 0, -1, 1e308, -1e-320, NaN, Infinity, 2 ** 53, '',
    'x', 'f64:', 'f32:AAAA', 'f64:AAAAAAAA8D8=', 'u16:!!', 'q8:AAAA', 'constructor',
    '__proto__',
    '<img src=x onerror=alert(1)>', [], [[]], [null], [1, 'a', null, [2]], {}, { x: 1 },
    { name: {}, data: [1, 2] }, [[1, 2], [3]], new Array(1000).fill('y')];

/** One value of it, somewhere, becomes another, goes, or comes twice. */
function spoil(root) {
    let at = root, key = pick(Object.keys(root));
    while (at[key] && typeof at[key] === 'object' && Object.keys(at[key]).length &&
        random() < 0.8) {
        at = at[key];
        key = pick(Object.keys(at));
    }
    if (random() < 0.1) delete at[key];
    else if (random() < 0.1 && Array.isArray(at)) at.push(at[key]);
    else if (random() < 0.2 && typeof at[key] === 'string')
        at[key] = at[key].slice(0, Math.floor(random() * at[key].length));
    else at[key] = structuredClone(pick(odd));
}

test(`reports that were changed (seed ${seed})`, async () => {
    const bases = [];
    for (const make of Object.values(fixtures)) bases.push(await make());
    for (let i = 0; i < trials; i++) {
        const base = pick(bases);
        const raw = typeof base === 'object' && base ? structuredClone(base) : {};
        if (!Object.keys(raw).length) continue;
        for (let k = 1 + Math.floor(random() * 4); k > 0; k--)
            if (Object.keys(raw).length) spoil(raw);
        const data = normalise(raw);
        assert.ok(Array.isArray(data.problems) && Array.isArray(data.series));
        for (let k = 1; k < data.time.length; k++)
            if (!(data.time[k] >= data.time[k - 1])) assert.fail('times that do not grow');
        for (const s of data.series) assert.equal(s.data.length, data.n);
    }
});

test('addresses that somebody else wrote', async () => {
    const good = { name: 'a', text: 'coordinate x', numbers: { k: 2 }, until: 3,
        tolerance: null };
    assert.deepEqual(await fromFragment(await toFragment(good)), good);
    const packed = (text) => 'm=' + deflateRawSync(text).toString('base64')
        .replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    const bomb = packed(`{"text": "${' '.repeat(1e8)}"}`);
    await assert.rejects(fromFragment(bomb), /too large/);
    const liar = await fromFragment(packed('{"text": 5, "name": {}, "until": "9", ' +
        '"numbers": {"a": "x", "b": 2, "__proto__": 7}}'));
    assert.deepEqual(liar, { name: 'model', text: null, numbers: { b: 2 }, until: null,
        tolerance: null });
    for (let i = 0; i < trials / 4; i++) {
        const bytes = [...await toFragment(good)];
        bytes[2 + Math.floor(random() * (bytes.length - 2))] = pick([...'AZaz09-_%~ ']);
        await fromFragment(bytes.join('')).then((m) => {
            assert.ok(m === null || m.text === null || typeof m.text === 'string');
        }, () => {});
    }
    assert.equal(fromFile('m.mech', 'coordinate x\n# playground: {').text,
        'coordinate x\n# playground: {');
});
