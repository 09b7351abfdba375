// The playground in Debian's Firefox, with a picture drawn by software: under xvfb-run, since
// Firefox has no WebGL without a screen.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchFirefox, openPage } from './browser.mjs';
import { Person, programRun, same } from './person.mjs';

const file = process.env.PLAYGROUND;
const skip = !file || !process.env.NOSLIP ? 'PLAYGROUND and NOSLIP are not set' : false;
let browser;
let page;
let notes;
let me;

before(async () => {
    if (skip) return;
    browser = await launchFirefox();
    ({ page, notes } = await openPage(browser, file, { hash: '#gallery=chaplygin-sleigh' }));
    me = new Person(page);
}, { timeout: 90000 });

after(() => browser?.close());

test('opens, draws and plays', { skip }, async () => {
    const stats = await page.evaluate(() => window.noslip.sceneStats());
    assert.equal(stats.webgl, true);
    assert.ok(stats.triangles > 100);
    await page.click('#transport .play');
    await page.waitForFunction(() => window.noslip.time() > 0.1);
    await page.click('#transport .play');
});

test('an error is underlined', { skip }, async () => {
    const { text } = await me.state();
    const line = text.split('\n').findIndex((l) => /^param/.test(l)) + 1;
    await me.type(line, 'let wrong = 2*thtea\n');
    // what is marked while one still types goes away
    await page.waitForFunction(() =>
        document.querySelector('.cm-lintRange-error')?.textContent === 'thtea');
    await me.restore(text);
});

test('a slider gives the motion of the program; the address holds it', { skip }, async () => {
    same(await me.move(null, 3), await programRun(me));
    const { numbers, text } = await me.state();
    await page.getByRole('button', { name: 'Share' }).click();
    await page.waitForFunction(() => location.hash.startsWith('#m='));
    const again = await openPage(browser, file,
        { hash: await page.evaluate(() => location.hash) });
    const there = await again.page.evaluate(() => window.noslip.state());
    assert.deepEqual([there.numbers, there.text], [numbers, text]);
    await again.context.close();
});

test('no error, no request', { skip }, () => {
    assert.deepEqual(notes.errors, []);
    assert.deepEqual(notes.requests.filter((r) => !r.startsWith('blob:')), []);
});
