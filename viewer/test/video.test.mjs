// Videos that the page makes, played by the browser.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeTemplate } from '../build.mjs';
import { launch, openPage } from './browser.mjs';
import { fill } from './encode.mjs';
import { fixtures } from './fixtures.mjs';

let browser;
let folder;
let file;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'noslip-video-'));
    file = join(folder, 'disk.html');
    await writeFile(file, fill(await makeTemplate(), fixtures.disk()));
    browser = await launch();
});

after(async () => {
    await browser?.close();
    if (folder) await rm(folder, { recursive: true });
});

/** Records `seconds` of video with the dialog, as a person would: {name, bytes}. */
async function made(page, { seconds, size, turn = false }) {
    await page.evaluate((s) => window.noslip.setSpeed(window.noslip.duration() / s), seconds);
    await page.click('button[aria-label="Record a video"]');
    await page.selectOption('select[aria-label="Size"]', String(size));
    if (turn) await page.check('input[aria-label="Turntable"]');
    const [download] = await Promise.all([page.waitForEvent('download', { timeout: 60000 }),
        page.getByRole('button', { name: 'Record', exact: true }).click()]);
    await page.waitForFunction(() =>
        /MB were saved/.test(document.querySelector('dialog [role=status]').textContent));
    await page.getByRole('button', { name: 'Close' }).click();
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** What a player finds in it: its length and size, and pictures of 16 x 12 at some times. */
async function played(page, bytes, times) {
    const context = await page.context().browser().newContext();
    const player = await context.newPage();
    const found = await player.evaluate(async ([source, at]) => {
        const video = document.createElement('video');
        video.muted = true;
        const seen = (name) => new Promise((done, failed) => {
            video.addEventListener(name, done, { once: true });
            video.addEventListener('error', () => failed(new Error(video.error.message)));
        });
        video.src = source;
        await seen('loadeddata');
        const c = Object.assign(document.createElement('canvas'), { width: 64, height: 48 })
            .getContext('2d', { willReadFrequently: true });
        const pictures = [];
        for (const t of at) {
            video.currentTime = t;
            await seen('seeked');
            c.drawImage(video, 0, 0, 64, 48);
            pictures.push([...c.getImageData(0, 0, 64, 48).data]);
        }
        return { duration: video.duration, width: video.videoWidth,
            height: video.videoHeight, pictures };
    }, [`data:video/webm;base64,${bytes.toString('base64')}`, times]);
    await context.close();
    return found;
}

const apart = (a, b) => a.reduce((sum, v, i) => sum + Math.abs(v - b[i]), 0) / a.length;

test('a frame for every thirtieth of a second, at the size that was asked for', async () => {
    const { page, context, notes } = await openPage(browser, file, { acceptDownloads: true });
    await page.evaluate(() => window.noslip.setTime(1));
    const speed = await page.evaluate(() => window.noslip.duration() / 2.5);
    const { name, bytes } = await made(page, { seconds: 2.5, size: 1280 });
    assert.match(name, /\.webm$/);
    const { duration, width, pictures } = await played(page, bytes, [0.1, 1.2, 2.3, 1.2]);
    assert.ok(Math.abs(duration - 76 / 30) < 0.002, `${duration} s`);
    assert.equal(width, 1280);
    assert.ok(apart(pictures[0], pictures[1]) > 0.2 && apart(pictures[1], pictures[2]) > 0.2,
        'it moves');
    assert.ok(apart(pictures[1], pictures[3]) < 1e-9, 'one can go back in it');
    // the page is as it was
    assert.equal(await page.evaluate(() => window.noslip.time()), 1);
    assert.equal(await page.evaluate(() => window.noslip.playing()), false);
    const { width: w, pixelRatio } = await page.evaluate(() => window.noslip.sceneStats());
    assert.equal(await page.evaluate(() => document.querySelector('canvas.gl').width),
        Math.floor(w * pixelRatio));
    assert.ok(speed > 0);
    assert.deepEqual(notes, { console: [], errors: [], requests: [] });
    await context.close();
});

test('once round on a turntable', async () => {
    const { page, context } = await openPage(browser, file, { acceptDownloads: true });
    const still = await played(page, (await made(page, { seconds: 1, size: 0 })).bytes,
        [0.01, 0.51, 1.01]);
    const turning = await played(page, (await made(page, { seconds: 1, size: 0,
        turn: true })).bytes, [0.01, 0.51, 1.01]);
    // half way round it looks another way, at the end again as it would without
    const [begin, half, end] = turning.pictures.map((p, i) => apart(p, still.pictures[i]));
    assert.ok(half > 3 * Math.max(begin, end), `${begin} ${half} ${end}`);
    await context.close();
});

test('without encoders it is recorded as it plays', async () => {
    const context = await browser.newContext({ acceptDownloads: true });
    const page = await context.newPage();
    await page.addInitScript(() => { delete window.VideoEncoder; });
    await page.goto(`file://${file}`);
    await page.waitForFunction(() => window.noslip?.ready);
    const { bytes } = await made(page, { seconds: 2, size: 0 });
    const { width, pictures } = await played(page, bytes, [0.1, 1.2]);
    assert.ok(width > 100);
    assert.ok(apart(pictures[0], pictures[1]) > 0.2, 'it moves');
    await context.close();
});
