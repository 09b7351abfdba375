import assert from 'node:assert/strict';
import { test } from 'node:test';
import { niceStep, number, power, steady, ticks, timeDigits } from '../src/numbers.js';

test('numbers as people write them', () => {
    assert.equal(number(0), '0');
    assert.equal(number(-1.5), '−1.5');
    assert.equal(number(1e-14, 7), '1 · 10⁻¹⁴');
    assert.equal(number(2.5e-9), '2.5 · 10⁻⁹');
    assert.equal(number(263680, 7), '263680');
    assert.equal(number(9.81, 7), '9.81');
    assert.equal(number(NaN), '–');
    assert.equal(number(-Infinity), '−∞');
    assert.equal(number(null), '–');
    assert.equal(steady(5.0004), '5.000');
    assert.equal(steady(0), '0.000');
    assert.equal(power(-12), '10⁻¹²');
});

test('labels of axes show their step', () => {
    assert.deepEqual(ticks([0, 2.5, 5], 2.5), ['0', '2.5', '5.0']);
    assert.deepEqual(ticks([0, 2, 4], 2), ['0', '2', '4']);
    assert.deepEqual(ticks([-0.02, 0, 0.02], 0.02), ['−0.02', '0', '0.02']);
    assert.deepEqual(ticks([1e6, 2e6], 1e6),
        ['1·10⁶', '2·10⁶'].map((s) => s).map((s, i) => i ? '2·10⁶' : s));
    assert.deepEqual(ticks([1e-9, 1.5e-9], 5e-10), ['1.0·10⁻⁹', '1.5·10⁻⁹']);
});

test('steps are 1, 2, 5 times a power of ten', () => {
    assert.equal(niceStep(1, 10), 0.1);
    assert.equal(niceStep(1, 3), 0.5);
    assert.equal(niceStep(17, 10), 2);
    assert.equal(niceStep(0, 10), 1);
    assert.equal(timeDigits(20), 2);
    assert.equal(timeDigits(0.02), 5);
    assert.equal(timeDigits(0), 3);
});
