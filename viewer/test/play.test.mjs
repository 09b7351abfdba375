// The playground as a person uses it. PLAYGROUND names the page, NOSLIP the program whose
// numbers it must show.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';

const file = process.env.PLAYGROUND;
const program = process.env.NOSLIP;
const skip = !file || !program ? 'PLAYGROUND and NOSLIP are not set' : false;
let browser;
let page;
let notes;
let folder;

const state = () => page.evaluate(() => window.noslip.state());
/** Waits until another motion is on the screen and nothing is under way. */
const settled = async (shown) => {
    await page.waitForFunction((n) => {
        const s = window.noslip.state?.();
        return s && s.shown > n && !s.busy;
    }, shown, { timeout: 20000 });
    return page.evaluate(() => window.noslip.final());
};
const choose = async (name) => {
    const { shown } = await state();
    await page.evaluate((n) => window.noslip.choose(n), name);
    return settled(shown);
};
const slider = (name) => page.locator(`.slider input[type=range][data-name="${name}"]`);
const type = async (line, text) => {
    await page.evaluate((n) => window.noslip.playground.editor.go({ line: n, column: 1 }),
        line);
    await page.keyboard.type(text);
};

/** What the program prints for the same numbers. */
function program_run(model, args) {
    const out = execFileSync(program, ['run', model, ...args, '--json'],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
    return JSON.parse(out);
}

/** Final values of the page, in full precision, against the program's. */
function same(final, json, least = 3) {
    let compared = 0;
    for (const [name, values] of Object.entries(json.values)) {
        const value = values.at(-1);
        if (!(name in final) || typeof value !== 'number') continue;
        const shown = Number(String(final[name]).replace('−', '-').split(' ')[0]);
        const digits = Math.abs(shown - value) <= 1e-12 * Math.max(1, Math.abs(value));
        assert.ok(digits, `${name}: ${final[name]} on the page, ${value} by the program`);
        compared++;
    }
    assert.ok(compared >= least, `only ${compared} values compared`);
}

before(async () => {
    if (skip) return;
    folder = await mkdtemp(join(tmpdir(), 'noslip-play-'));
    browser = await launch();
    ({ page, notes } = await openPage(browser, file, { hash: '#gallery=chaplygin-sleigh' }));
}, { timeout: 60000 });

after(async () => {
    await browser?.close();
    if (folder) await rm(folder, { recursive: true });
});

test('sizes: the page below 2 MB, the library below 600 kB', { skip }, async () => {
    assert.ok((await stat(file)).size < 2e6);
    if (!process.env.NOSLIP_WASM) return;
    const { brotliCompressSync } = await import('node:zlib');
    const size = brotliCompressSync(await readFile(process.env.NOSLIP_WASM)).length;
    console.log(`# page ${(await stat(file)).size} bytes, library ${size} by brotli`);
    assert.ok(size < 600000, `${size} bytes by brotli`);
});

test('opens offline, from a file, without a request', { skip }, async () => {
    const at = await page.evaluate(() => window.noslip.readyAt);
    console.log(`# first frame after ${(at / 1000).toFixed(2)} s`);
    assert.deepEqual(notes.requests.filter((r) => !r.startsWith('blob:')), []);
    assert.deepEqual(notes.errors, []);
    assert.deepEqual(notes.console, []);
});

test('an error is underlined while typing, and goes away', { skip }, async () => {
    const { text, shown } = await state();
    const line = text.split('\n').findIndex((l) => /^param/.test(l)) + 1;
    await type(line, 'let wrong = 2*thtea\n');
    await page.waitForFunction(() => window.noslip.state().messages.length > 0);
    assert.match((await state()).messages[0], /thtea.*did you mean 'theta'/);
    const marked = page.locator('.cm-lintRange-error');
    assert.equal(await marked.first().textContent(), 'thtea');
    await marked.first().hover();
    await page.waitForSelector('.cm-tooltip .cm-diagnostic');
    assert.match(await page.locator('.cm-tooltip .cm-diagnostic').first().textContent(),
        /\^~~~~/);
    await page.keyboard.press('Control+z');
    await page.evaluate((t) => {
        const { editor } = window.noslip.playground;
        if (editor.text !== t) editor.text = t;
        window.noslip.playground.run();
    }, text);
    await settled(shown);
    assert.equal(await page.locator('.cm-lintRange-error').count(), 0);
});

test('completion offers names of the model', { skip }, async () => {
    const { text, shown } = await state();
    await page.evaluate(() => window.noslip.playground.editor.go({ line: 1e6, column: 1 }));
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nobserve zz = thet');
    await page.waitForSelector('.cm-tooltip-autocomplete');
    assert.match(await page.locator('.cm-tooltip-autocomplete').textContent(), /theta/);
    await page.keyboard.press('Escape');
    await page.evaluate((t) => {
        window.noslip.playground.editor.text = t;
        window.noslip.playground.run();
    }, text);
    await settled(shown);
});

test('a slider gives the motion of the program with the same number', { skip }, async () => {
    for (const [model, name] of [['chaplygin-sleigh', null], ['snakeboard', 'wb'],
        ['torus', null]]) {
        await choose(model);
        const chosen = name ? slider(name) : page.locator('.slider input[type=range]').first();
        const { shown } = await state();
        await chosen.focus();
        for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
        const final = await settled(shown);
        const { numbers } = await state();
        const set = Object.entries(numbers);
        assert.equal(set.length, 1);
        same(final, program_run(model, ['--set', `${set[0][0]}=${set[0][1]}`]));
    }
});

test('play, scrub, pin', { skip }, async () => {
    await choose('chaplygin-sleigh');
    await page.click('#transport .play');
    await page.waitForFunction(() => window.noslip.time() > 0.2);
    await page.click('#transport .play');
    const box = await page.locator('.scrub').boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const [t, d] = await page.evaluate(() => [window.noslip.time(), window.noslip.duration()]);
    assert.ok(Math.abs(t / d - 0.5) < 0.03);
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    const { shown } = await state();
    await page.locator('.slider input[type=range]').first().focus();
    for (let i = 0; i < 9; i++) await page.keyboard.press('ArrowRight');
    await settled(shown);
    assert.equal((await state()).pinned, true);
    assert.ok(Math.abs(await page.evaluate(() => window.noslip.time()) - t) < 1e-9,
        'the time stays');
    assert.ok(await page.evaluate(() =>
        Boolean(window.noslip.playground.report.stage.view.ghost)));
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
});

test('share and reopen: address and file', { skip }, async () => {
    const here = await state();
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

test('studies: steady motions and a section, with figures', { skip }, async () => {
    await choose('falling-disk');
    await page.getByRole('button', { name: 'Steady motions' }).click();
    await page.waitForSelector('.study-result pre', { timeout: 30000 });
    assert.match(await page.locator('.study-result pre').textContent(), /steady|eigenvalue/i);
});

test('hostile models hurt nothing', { skip }, async () => {
    const nasty = '# </script><img src=x onerror="window.hurt=1">\n' +
        'title "</title><script>window.hurt=1</script><b>x"\n' +
        'state x\' = -x\nstart { x = 1 }\nobserve a = x\nrun { until 1 }\n';
    let { shown } = await state();
    await page.evaluate((text) => window.noslip.playground.show({ name: '<i>n</i>', text }),
        nasty);
    await settled(shown);
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assert.match(await page.title(), /<script>/);
    // an endless run: the page answers, shows progress, and the next model ends it
    const endless = "state x' = v, v' = -1e8*x\nstart { x = 1; v = 0 }\nrun { until 1e6 }\n";
    await page.evaluate((text) => window.noslip.playground.show({ name: 'endless', text }),
        endless);
    await page.waitForSelector('.working progress:not([hidden])');
    const t0 = Date.now();
    await page.evaluate(() => new Promise((r) => { requestAnimationFrame(r); }));
    assert.ok(Date.now() - t0 < 2000, 'the page does not freeze');
    ({ shown } = await state());
    // a sum of a million terms
    await page.evaluate(() => window.noslip.playground.show({ name: 'sum',
        text: `state x' = -x\nlet s = 1${'+1'.repeat(1e6)}\nstart { x = 1 }\n` +
            'run { until 1 }\n' }));
    await page.evaluate(() => new Promise((r) => { requestAnimationFrame(r); }));
    await choose('chaplygin-sleigh');
    assert.ok((await state()).shown > shown);
    assert.equal((await state()).name, 'chaplygin-sleigh');
});

test('memory does not grow over 500 moves of a slider', { skip, timeout: 120000 }, async () => {
    await choose('chaplygin-sleigh');
    const session = await page.context().newCDPSession(page);
    const used = async () => {
        await session.send('HeapProfiler.collectGarbage');
        const { usedSize } = await session.send('Runtime.getHeapUsage');
        const { geometries, textures } = await page.evaluate(() =>
            window.noslip.playground.report.stage.view.renderer.info.memory);
        const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
        return { usedSize, geometries, textures, nodes };
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
    await page.waitForFunction(() => !window.noslip.state().busy);
    await page.waitForTimeout(300);
    const begin = await used();
    await move(60, 560);
    await page.waitForFunction(() => !window.noslip.state().busy);
    await page.waitForTimeout(300); // facts follow when the slider rests
    const end = await used();
    assert.ok(end.usedSize < begin.usedSize + 12e6,
        `${(begin.usedSize / 1e6).toFixed(1)} to ${(end.usedSize / 1e6).toFixed(1)} MB`);
    assert.ok(end.geometries <= begin.geometries + 2, `${end.geometries} geometries`);
    assert.ok(end.textures <= begin.textures + 1, `${end.textures} textures`);
    assert.ok(end.nodes <= begin.nodes + 50, `${end.nodes} elements`);
});

test('a live report shows its motion and recomputes', { skip }, async () => {
    const live = join(folder, 'live.html');
    execFileSync(program, ['run', 'chaplygin-sleigh', '--set', 'm=3', '--quiet', '--report',
        live, '--live'], { env: { ...process.env, NOSLIP_PLAYGROUND: file }, stdio: 'ignore' });
    const opened = await openPage(browser, live);
    const there = opened.page;
    await there.waitForFunction(() => window.noslip.state().shown > 1 &&
        !window.noslip.state().busy);
    assert.deepEqual(await there.evaluate(() => window.noslip.state().numbers), { m: 3 });
    const { shown } = await there.evaluate(() => window.noslip.state());
    await there.locator('.slider input[data-name="m"]').focus();
    await there.keyboard.press('ArrowRight');
    await there.waitForFunction((n) => window.noslip.state().shown > n &&
        !window.noslip.state().busy, shown);
    const [numbers, final] = await there.evaluate(() =>
        [window.noslip.state().numbers, window.noslip.final()]);
    same(final, program_run('chaplygin-sleigh', ['--set', `m=${numbers.m}`]));
    assert.deepEqual(opened.notes.errors, []);
    await opened.context.close();
    assert.throws(() => execFileSync(program, ['run', 'chaplygin-sleigh', '--live'],
        { stdio: 'ignore' }));
});

test('no message on the console in all this', { skip }, () => {
    assert.deepEqual(notes.errors, []);
    assert.deepEqual(notes.console, []);
});
