// The playground as a person uses it. PLAYGROUND names the page, NOSLIP the program whose
// numbers it must show.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { violations } from './axe.mjs';
import { launch, openPage } from './browser.mjs';
import { Person, programRun, same } from './person.mjs';

const file = process.env.PLAYGROUND;
const program = process.env.NOSLIP;
const skip = !file || !program ? 'PLAYGROUND and NOSLIP are not set' : false;
let browser;
let page;
let notes;
let folder;
let me;
let packed; // the library by brotli, which takes seconds: beside the tests

before(async () => {
    if (skip) return;
    folder = await mkdtemp(join(tmpdir(), 'noslip-play-'));
    if (process.env.NOSLIP_WASM)
        packed = promisify(brotliCompress)(await readFile(process.env.NOSLIP_WASM));
    browser = await launch();
    ({ page, notes } = await openPage(browser, file, { hash: '#gallery=chaplygin-sleigh' }));
    me = new Person(page);
}, { timeout: 60000 });

after(async () => {
    await browser?.close();
    if (folder) await rm(folder, { recursive: true });
});

test('opens offline, from a file, without a request', { skip }, async () => {
    await page.context().setOffline(true); // for all that follows
    const at = await page.evaluate(() => window.noslip.readyAt);
    console.log(`# first frame after ${(at / 1000).toFixed(2)} s`);
    assert.deepEqual(notes.requests.filter((r) => !r.startsWith('blob:')), []);
    assert.deepEqual(notes.errors, []);
    assert.deepEqual(notes.console, []);
});

test('an error is underlined while typing, and goes away', { skip }, async () => {
    const { text } = await me.state();
    const line = text.split('\n').findIndex((l) => /^param/.test(l)) + 1;
    await me.type(line, 'let wrong = 2*thtea\n');
    // what is marked while one still types goes away
    await page.waitForFunction(() => /thtea/.test(window.noslip.state().messages[0]) &&
        document.querySelector('.cm-lintRange-error')?.textContent === 'thtea');
    assert.match((await me.state()).messages[0], /thtea.*did you mean `theta`/);
    const marked = page.locator('.cm-lintRange-error');
    assert.equal(await marked.first().textContent(), 'thtea');
    await marked.first().hover();
    await page.waitForSelector('.cm-tooltip .cm-diagnostic');
    assert.match(await page.locator('.cm-tooltip .cm-diagnostic').first().textContent(),
        /\^~~~~/);
    await me.restore(text);
    assert.equal(await page.locator('.cm-lintRange-error').count(), 0);
});

test('completion offers names of the model', { skip }, async () => {
    const { text } = await me.state();
    await page.evaluate(() => window.noslip.playground.editor.go({ line: 1e6, column: 1 }));
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nobserve zz = thet');
    await page.waitForSelector('.cm-tooltip-autocomplete');
    assert.match(await page.locator('.cm-tooltip-autocomplete').textContent(), /theta/);
    await page.keyboard.press('Escape');
    await me.restore(text);
});

test('a slider gives the motion of the program with the same number', { skip }, async () => {
    for (const [model, name] of [['chaplygin-sleigh', null], ['snakeboard', 'wb'],
        ['torus', null]]) {
        await me.choose(model);
        const final = await me.move(name, 5);
        const { numbers } = await me.state();
        assert.equal(Object.keys(numbers).length, 1);
        same(final, await programRun(me));
    }
});

test('play, scrub, pin', { skip }, async () => {
    await me.choose('chaplygin-sleigh');
    await page.click('#transport .play');
    await page.waitForFunction(() => window.noslip.time() > 0.2);
    await page.click('#transport .play');
    const box = await page.locator('.scrub').boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const [t, d] = await page.evaluate(() => [window.noslip.time(), window.noslip.duration()]);
    assert.ok(Math.abs(t / d - 0.5) < 0.03);
    await me.button('Pin').click();
    await me.move(null, 9);
    assert.equal((await me.state()).pinned, true);
    assert.ok(Math.abs(await page.evaluate(() => window.noslip.time()) - t) < 1e-9,
        'the time stays');
    assert.ok(await page.evaluate(() =>
        Boolean(window.noslip.playground.report.stage.view.ghost)));
    await me.button('Pin').click();
});

test('share and reopen: address and file', { skip }, async () => {
    const here = await me.state();
    await page.getByRole('button', { name: 'Share' }).click();
    await page.waitForFunction(() => location.hash.startsWith('#m='));
    const hash = await page.evaluate(() => location.hash);
    const again = await openPage(browser, file, { hash });
    const there = await again.page.evaluate(() => window.noslip.state());
    assert.equal(there.text, here.text);
    assert.deepEqual(there.numbers, here.numbers);
    const [download] = await Promise.all([again.page.waitForEvent('download'),
        again.page.getByRole('button', { name: 'Save as a file' }).click()]);
    const saved = join(folder, 'saved.mech');
    await download.saveAs(saved);
    execFileSync(program, ['check', saved]); // the program reads it too
    await again.page.locator('input[type=file]').setInputFiles(saved);
    await again.page.waitForFunction(() => window.noslip.state().name === 'chaplygin-sleigh');
    assert.deepEqual((await again.page.evaluate(() => window.noslip.state())).numbers,
        here.numbers);
    await again.context.close();
});

/** Clicks into the figure of a study, at these parts of its width and height. */
async function clickFigure(x, y) {
    const canvas = page.locator('.study-figures canvas').first();
    await canvas.scrollIntoViewIfNeeded();
    const [box, area] = [await canvas.boundingBox(), await page.evaluate(() =>
        window.noslip.playground.studies.figures.state(0).area)];
    await page.mouse.click(box.x + area.left + x * (area.right - area.left),
        box.y + area.top + y * (area.bottom - area.top));
    return page.evaluate(([u, v]) => {
        const { range: [x0, x1, y0, y1] } = window.noslip.playground.studies.figures.state(0);
        return [x0 + u * (x1 - x0), y1 + v * (y0 - y1)];
    }, [x, y]);
}

const study = async (name) => {
    await me.button(name).click();
    await page.waitForSelector('.study-result pre', { timeout: 30000 });
    return page.locator('.study-result pre').textContent();
};
const series = () => page.evaluate(() =>
    window.noslip.playground.studies.figures.state(0).series.length);

test('steady motions, and a click into a portrait begins a motion there', { skip },
    async () => {
        await me.choose('falling-disk');
        assert.match(await study('Steady motions'), /steady|eigenvalue/i);
        await me.choose('sleigh-frame');
        await study('Portrait');
        await page.waitForFunction(() => window.noslip.playground.studies.figures.state(0));
        const before = await series();
        let at;
        const final = await me.after(async () => { at = await clickFigure(0.7, 0.4); });
        const { numbers } = await me.state();
        const set = Object.values(numbers);
        assert.equal(set.length, 2);
        at.forEach((v, i) => assert.ok(Math.abs(set[i] - v) < 0.02 * Math.abs(v) + 0.02));
        same(final, await programRun(me));
        assert.equal(await series(), before + 1, 'the motion is a curve of the portrait');
        await me.after(() => me.button('Reset').click());
        assert.deepEqual((await me.state()).numbers, {});
    });

test('a click into a Poincaré section begins a motion there', { skip }, async () => {
    await me.choose('double-pendulum');
    assert.match(await study('Section'), /crossings/);
    await page.waitForFunction(() => window.noslip.playground.studies.figures.state(0));
    const before = await series();
    const { energy } = await page.evaluate(() => window.noslip.final());
    const final = await me.after(() => clickFigure(0.45, 0.55));
    assert.equal(await series(), before + 1);
    assert.ok(Math.abs(final.energy - energy) < 1e-9 * Math.abs(energy), 'the same energy');
    same(final, await programRun(me));
});

test('nothing for axe-core to say, light and dark, gallery and studies open', { skip },
    async () => {
        assert.deepEqual(await violations(page), []);
        await me.button('Gallery').click();
        assert.deepEqual(await violations(page, 'dialog.gallery'), []);
        await page.keyboard.press('Escape');
        await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
        assert.deepEqual(await violations(page), []);
        assert.equal(await page.evaluate(() =>
            getComputedStyle(document.querySelector('button')).transitionDuration), '0s');
        await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
    });

test('by keyboard: no trap, every stop is seen', { skip }, async () => {
    await page.evaluate(() => document.querySelector('.skip').focus());
    const met = new Set();
    for (let i = 0; i < 120 && !met.has('Section'); i++) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(() => {
            const e = document.activeElement;
            if (e === document.body) return null;
            const s = getComputedStyle(e);
            const editor = Boolean(e.closest('.cm-editor'));
            return { name: e.getAttribute('aria-label') || e.textContent.trim().slice(0, 40),
                editor, seen: editor || (s.outlineStyle !== 'none' &&
                    parseFloat(s.outlineWidth) > 0) };
        });
        if (!at) break;
        assert.ok(at.seen, `the focus is not to be seen on ${at.name}`);
        met.add(at.name);
        if (at.editor) await page.keyboard.press('Escape'); // Tab indents unless one leaves
    }
    for (const name of ['Gallery', 'Share', 'Play', 'Pin', 'Duration', 'Tolerance', 'Section'])
        assert.ok(met.has(name), `${name} is not reached; met ${[...met]}`);
});

test('hostile models hurt nothing', { skip }, async () => {
    const nasty = '# </script><img src=x onerror="window.hurt=1">\n' +
        'title "</title><script>window.hurt=1</script><b>x"\n' +
        'state x\' = -x\nstart { x = 1 }\nobserve a = x\nrun { until 1 }\n';
    await me.after(() => me.show('<i>n</i>', nasty));
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assert.match(await page.title(), /<script>/);
    // an endless run: the page answers, shows progress, and the next model ends it
    await me.show('endless',
        "state x' = v, v' = -1e8*x\nstart { x = 1; v = 0 }\nrun { until 1e6 }\n");
    await page.waitForSelector('.working progress:not([hidden])');
    const t0 = Date.now();
    await page.evaluate(() => new Promise((r) => { requestAnimationFrame(r); }));
    assert.ok(Date.now() - t0 < 2000, 'the page does not freeze');
    const { shown } = await me.state();
    // a sum of a million terms
    await page.evaluate(() => window.noslip.playground.show({ name: 'sum',
        text: `state x' = -x\nlet s = 1${'+1'.repeat(1e6)}\nstart { x = 1 }\n` +
            'run { until 1 }\n' }));
    await page.evaluate(() => new Promise((r) => { requestAnimationFrame(r); }));
    await me.choose('chaplygin-sleigh');
    assert.ok((await me.state()).shown > shown);
    assert.equal((await me.state()).name, 'chaplygin-sleigh');
});

test('memory does not grow over 500 moves of a slider', { skip, timeout: 120000 }, async () => {
    await me.choose('chaplygin-sleigh');
    const session = await page.context().newCDPSession(page);
    const used = async () => {
        await page.waitForFunction(() => !window.noslip.state().busy);
        await page.waitForTimeout(500); // facts follow when the slider rests
        await session.send('HeapProfiler.collectGarbage');
        const { usedSize } = await session.send('Runtime.getHeapUsage');
        const { geometries, textures } = await page.evaluate(() =>
            window.noslip.playground.report.stage.view.renderer.info.memory);
        const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
        return { usedSize, geometries, textures, nodes, library: (await me.state()).memory };
    };
    const move = (from, to) => page.evaluate(async ([a, b]) => {
        const range = document.querySelector('.slider input[type=range]');
        for (let i = a; i < b; i++) {
            range.value = String(200 + i % 300);
            range.dispatchEvent(new Event('input'));
            if (i % 5 === 4) await new Promise((r) => { setTimeout(r, 4); });
        }
    }, [from, to]);
    await move(0, 60);
    const begin = await used();
    await move(60, 560);
    const end = await used();
    assert.ok(end.usedSize < begin.usedSize + 12e6,
        `${(begin.usedSize / 1e6).toFixed(1)} to ${(end.usedSize / 1e6).toFixed(1)} MB`);
    assert.ok(end.geometries <= begin.geometries + 2, `${end.geometries} geometries`);
    assert.ok(end.textures <= begin.textures + 1, `${end.textures} textures`);
    assert.ok(end.nodes <= begin.nodes + 50, `${end.nodes} elements`);
    assert.ok(end.library <= begin.library, `${begin.library} to ${end.library} bytes`);
});

test('a live report shows its motion and recomputes', { skip }, async () => {
    const live = join(folder, 'live.html');
    execFileSync(program, ['run', 'chaplygin-sleigh', '--set', 'm=3', '--quiet', '--report',
        live, '--live'], { env: { ...process.env, NOSLIP_PLAYGROUND: file }, stdio: 'ignore' });
    const opened = await openPage(browser, live);
    const there = new Person(opened.page);
    await there.settled(1);
    assert.deepEqual((await there.state()).numbers, { m: 3 });
    const final = await there.move('m', 1);
    same(final, await programRun(there));
    assert.deepEqual(opened.notes.errors, []);
    await opened.context.close();
    assert.throws(() => execFileSync(program, ['run', 'chaplygin-sleigh', '--live'],
        { stdio: 'ignore' }));
});

test('no message on the console in all this', { skip }, () => {
    assert.deepEqual(notes.errors, []);
    assert.deepEqual(notes.console, []);
});

test('sizes: the page below 2 MB, the library below 600 kB', { skip }, async () => {
    const { size } = await stat(file);
    assert.ok(size < 2e6, `${size} bytes`);
    if (!packed) return;
    const { length } = await packed;
    console.log(`# page ${size} bytes, library ${length} by brotli`);
    assert.ok(length < 600000, `${length} bytes by brotli`);
});
