// The page in a real browser: every kind of scene, hostile and broken data, keyboard, phone,
// dark.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeTemplate } from '../build.mjs';
import { launch, openPage } from './browser.mjs';
import { f64, fill, placeholder } from './encode.mjs';
import { fixtures } from './fixtures.mjs';

const decode = (text) => {
    const raw = Buffer.from(text.slice(4), 'base64');
    const buffer = raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength);
    return text.startsWith('f64') ? new Float64Array(buffer) : new Float32Array(buffer);
};

let browser;
let folder;
let template;
const data = {};
const pages = {};

before(async () => {
    template = await makeTemplate();
    folder = await mkdtemp(join(tmpdir(), 'noslip-viewer-'));
    for (const [name, make] of Object.entries(fixtures)) {
        data[name] = make();
        pages[name] = join(folder, `${name}.html`);
        await writeFile(pages[name], fill(template, data[name]));
    }
    browser = await launch();
});

after(async () => {
    await browser?.close();
    if (folder) await rm(folder, { recursive: true });
});

async function open(name, options) {
    return openPage(browser, pages[name] ?? name, options);
}

function assertQuiet(notes) {
    assert.deepEqual(notes, { console: [], errors: [], requests: [] });
}

describe('the template', () => {
    test('is small, has one placeholder and no address', async () => {
        assert.equal(template.split(placeholder).length, 2);
        assert.ok(Buffer.byteLength(template) < 900e3, `${Buffer.byteLength(template)} bytes`);
        assert.doesNotMatch(template, /\b(https?|wss?|ftp):\/\//);
        assert.doesNotMatch(template, /<[a-z]+[^>]* on(click|load|error)=/i);
        assert.match(template, /default-src 'none'; script-src 'sha256-/);
        assert.match(template, /three\.js authors/);
        assert.match(template, /Leon Sorokin/);
    });

    test('says so when it is empty or its data cannot be read', async () => {
        for (const [content, expected] of [[template, /empty template/],
            [template.replace(placeholder, '{"format": 1,'), /cannot be read/],
            [template.replace(placeholder, '{"format": 2}'), /format 2/]]) {
            const file = join(folder, 'bare.html');
            await writeFile(file, content);
            const { page, context, notes } = await open(file);
            assert.match(await page.textContent('#alerts'), expected);
            assertQuiet(notes);
            await context.close();
        }
    });

    test('a rattleback of 20 s stays under 3 MB', async () => {
        assert.ok((await stat(pages.ellipsoid)).size < 3e6);
    });
});

describe('the manual', () => {
    test('its example is a page', async () => {
        const manual = await readFile(new URL('../../docs/report.md', import.meta.url), 'utf8');
        const example = manual.split('### A small example')[1].split('\n')
            .filter((l) => l.startsWith('    ')).join('\n');
        const file = join(folder, 'manual.html');
        await writeFile(file, fill(template, JSON.parse(example)));
        const { page, context, notes } = await open(file);
        await page.evaluate(() => window.noslip.setTime(2));
        assert.deepEqual((await page.evaluate(() => window.noslip.bodyPose(0))).position,
            [2, 0, 0.5]);
        assert.deepEqual(await page.evaluate(() => window.noslip.contactPoint()), [2, 0, 0]);
        assert.deepEqual(await page.evaluate(() => window.noslip.problems()), []);
        assertQuiet(notes);
        await context.close();
    });
});

describe('every scene', () => {
    for (const name of Object.keys(fixtures)) {
        test(`${name}: opens, plays, draws, stays quiet`, async () => {
            const { page, context, notes } = await open(name);
            const moves = await page.evaluate(() => window.noslip.duration() > 0);
            if (moves) {
                await page.evaluate(() => window.noslip.play());
                await page.waitForFunction(() => window.noslip.time() > 0, null,
                    { timeout: 10000 });
                await page.evaluate(() => window.noslip.pause());
            }
            await page.evaluate(() => window.noslip.setTime(window.noslip.duration() * 0.6));
            const stats = await page.evaluate(() => window.noslip.sceneStats());
            if (data[name].scene.kind !== 'none' || data[name].sphere) {
                assert.equal(stats.webgl, true);
                assert.ok(stats.triangles > 100, `${stats.triangles} triangles`);
                assert.ok(await colours(page) > 12, 'the picture is empty');
            }
            assertQuiet(notes);
            assert.deepEqual(await page.evaluate(() => window.noslip.problems().length > 0),
                name === 'broken');
            await context.close();
        });
    }
});

/** Number of different colours in the picture. */
async function colours(page) {
    return page.evaluate(async () => {
        window.noslip.sceneStats();
        const gl = document.querySelector('canvas.gl');
        const c = document.createElement('canvas');
        c.width = 96;
        c.height = 72;
        const d = c.getContext('2d');
        d.drawImage(gl, 0, 0, 96, 72);
        const seen = new Set();
        const p = d.getImageData(0, 0, 96, 72).data;
        for (let i = 0; i < p.length; i += 4)
            seen.add((p[i] >> 3) << 10 | (p[i + 1] >> 3) << 5 | p[i + 2] >> 3);
        return seen.size;
    });
}

describe('time', () => {
    test('the drawn body is where the data says, and touches the ground', async () => {
        const { page, context } = await open('ellipsoid');
        const time = decode(data.ellipsoid.time);
        const pose = data.ellipsoid.scene.bodies[0].pose;
        const position = decode(pose.position);
        const quaternion = decode(pose.quaternion);
        for (const i of [0, 1, 777, 2500, 4000]) {
            const [p, c] = await page.evaluate((t) => {
                window.noslip.setTime(t);
                return [window.noslip.bodyPose(0), window.noslip.contactPoint()];
            }, time[i]);
            for (let k = 0; k < 3; k++)
                assert.ok(Math.abs(p.position[k] - position[3 * i + k]) < 1e-7);
            const d = p.quaternion.reduce((s, v, k) => s + v * quaternion[4 * i + k], 0);
            assert.ok(Math.abs(Math.abs(d) - 1) < 1e-6);
            // support of the ellipsoid downwards: the centre is as high as the body is deep
            const [w, x, y, z] = p.quaternion;
            const gamma = [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
            const depth = Math.hypot(0.2 * gamma[0], 0.03 * gamma[1], 0.02 * gamma[2]);
            assert.ok(Math.abs(p.position[2] - depth) < 1e-6, `gap ${p.position[2] - depth}`);
            assert.ok(Math.abs(c[2]) < 1e-7);
        }
        // and between the samples, on the smooth motion
        const gaps = await page.evaluate(() => Array.from({ length: 200 }, (_, i) => {
            window.noslip.setTime(1 + 0.0137 * i);
            const { position: p, quaternion: [w, x, y, z] } = window.noslip.bodyPose(0);
            const gamma = [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
            return Math.abs(p[2] - Math.hypot(0.2 * gamma[0], 0.03 * gamma[1],
                0.02 * gamma[2]));
        }));
        // 12 samples a period of the rocking, amplitude of the tip several cm
        assert.ok(Math.max(...gaps) < 1.5e-4, `largest gap ${Math.max(...gaps)} m`);
        await context.close();
    });

    test('scrubbing moves body, cursor, readout and values together', async () => {
        const { page, context, notes } = await open('ellipsoid');
        const slider = page.locator('input.scrub');
        const box = await slider.boundingBox();
        await page.mouse.click(box.x + box.width * 0.5, box.y + box.height / 2);
        const t = await page.evaluate(() => window.noslip.time());
        assert.ok(Math.abs(t - 10) < 0.5, String(t));
        const cursors = await page.evaluate(() => window.noslip.cursorTimes());
        assert.ok(cursors.length > 0);
        for (const c of cursors) assert.ok(Math.abs(c - t) < 0.05, `${c} for ${t}`);
        assert.match(await page.textContent('output.time'), new RegExp(t.toFixed(2)));
        const expected = decode(data.ellipsoid.series.find((s) => s.name === 'omega.z').data);
        const value = await page.evaluate(() => window.noslip.seriesValue('omega.z'));
        const i = Math.floor(t / 20 * 4000);
        assert.ok(value >= Math.min(expected[i], expected[i + 1]) - 1e-6 &&
            value <= Math.max(expected[i], expected[i + 1]) + 1e-6);
        assertQuiet(notes);
        await context.close();
    });

    test('pressing and dragging in a plot moves time; shift-drag zooms; double-click shows all',
        async () => {
        const { page, context, notes } = await open('disk');
        const over = page.locator('.u-over').first();
        await over.scrollIntoViewIfNeeded();
        const box = await over.boundingBox();
        const at = (f) => [box.x + box.width * f, box.y + box.height / 2];
        const time = () => page.evaluate(() => window.noslip.time());
        await page.mouse.move(...at(0.25));
        assert.ok(await page.locator('.tip').first().isVisible());
        await page.mouse.down();
        assert.ok(Math.abs(await time() - 3) < 0.1, String(await time()));
        await page.mouse.move(...at(0.75));
        assert.ok(Math.abs(await time() - 9) < 0.1);
        await page.mouse.up();
        await page.keyboard.down('Shift');
        await page.mouse.move(...at(0.5));
        await page.mouse.down();
        await page.mouse.move(...at(0.6));
        await page.mouse.move(...at(0.75));
        await page.mouse.up();
        await page.keyboard.up('Shift');
        assert.ok(Math.abs(await time() - 9) < 0.1, 'zooming leaves the time');
        await page.mouse.click(...at(0.5));
        assert.ok(Math.abs(await time() - 7.5) < 0.1,
            `in the zoomed window the middle is 7.5, not ${await time()}`);
        await page.mouse.dblclick(...at(0.5));
        await page.mouse.click(...at(0.5));
        assert.ok(Math.abs(await time() - 6) < 0.1);
        assertQuiet(notes);
        await context.close();
    });

    test('pressing in an x-y plot goes to the nearest moment', async () => {
        const { page, context } = await open('disk');
        const canvas = page.locator('.xy canvas').first();
        await canvas.scrollIntoViewIfNeeded();
        const box = await canvas.boundingBox();
        await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.08);
        const [x, y] = await page.evaluate(() =>
            [window.noslip.seriesValue('x'), window.noslip.seriesValue('y')]);
        assert.ok(y > 0.9 && Math.abs(x) < 0.5, `${x} ${y}`);
        await context.close();
    });

    test('play loops, ends without repeat, events jump, final values are right', async () => {
        const { page, context, notes } = await open('disk');
        await page.evaluate(() => {
            window.noslip.setSpeed(100);
            window.noslip.setTime(11.9);
        });
        await page.click('button[aria-label="Repeat"]');
        await page.click('#transport .play');
        await page.waitForFunction(() => !window.noslip.playing(), null, { timeout: 10000 });
        assert.equal(await page.evaluate(() => window.noslip.time()), 12);
        for (const s of data.disk.series) {
            const last = decode(s.data).at(-1);
            assert.equal(await page.evaluate((n) => window.noslip.seriesValue(n), s.name),
                last);
        }
        await page.click('#events button.link');
        assert.equal(await page.evaluate(() => window.noslip.time()), 3.21);
        assertQuiet(notes);
        await context.close();
    });

    test('many events are marked to the end; what is zero is not the first plot', async () => {
        const file = join(folder, 'many.html');
        const t = decode(data.disk.time);
        await writeFile(file, fill(template, { ...data.disk,
            events: Array.from({ length: 1000 }, (_, k) =>
                ({ name: 'hit', t: 12 * (k + 1) / 1000 })),
            series: [{ name: 'error', unit: 'm', group: 'observe', data: f64(t.map(() => 0)) },
                ...data.disk.series] }));
        const { page, context, notes } = await open(file);
        const places = await page.evaluate(() => [...document.querySelectorAll('.marks .event')]
            .map((m) => parseFloat(m.style.left)));
        assert.ok(places.length > 60 && places.length <= 250, `${places.length} marks`);
        assert.ok(places.at(-1) > 99);
        const titles = await page.locator('.panel h3').allTextContents();
        assert.ok(titles.findIndex((x) => /observe/i.test(x)) >= 2, titles.join());
        assertQuiet(notes);
        await context.close();
    });
});

describe('figures of studies', () => {
    test('values under the pointer, zoom by drag, wheel and keys, legend, fields', async () => {
        const { page, context, notes } = await open('study');
        const look = (i) => page.evaluate((k) => window.noslip.figure(k), i);
        const canvas = (i) => page.locator('#figures canvas').nth(i);
        assert.equal(await page.evaluate(() => window.noslip.figures()), 5);
        const pointAt = async (i, series, k) => {
            await canvas(i).scrollIntoViewIfNeeded();
            await page.waitForFunction((n) => window.noslip.figure(n), i);
            const box = await canvas(i).boundingBox();
            const [x, y] = await page.evaluate((a) => window.noslip.figurePixel(...a),
                [i, series, k]);
            await page.mouse.move(box.x + x, box.y + y);
            return [box.x + x, box.y + y];
        };
        await pointAt(0, 0, 30);
        assert.equal((await look(0)).tip, 'stablea0.5 mb0.25 rad');
        const at = await pointAt(0, 2, 1);
        const before = (await look(0)).range;
        // ctrl-wheel keeps the place under the pointer
        await page.keyboard.down('Control');
        await page.mouse.wheel(0, -200);
        await page.keyboard.up('Control');
        await page.waitForFunction((w) =>
            window.noslip.figure(0).range[1] - window.noslip.figure(0).range[0] < w,
            0.8 * (before[1] - before[0]));
        const after = await pointAt(0, 2, 1);
        assert.ok(Math.hypot(after[0] - at[0], after[1] - at[1]) < 1, `${at} ${after}`);
        await page.mouse.dblclick(...after);
        assert.deepEqual((await look(0)).range, before);
        // hidden series are not found
        await page.click('.series-toggle >> nth=0');
        assert.deepEqual((await look(0)).series.map((s) => s.shown), [false, true, true]);
        // the field tells the value of a cell; keys go from cell to cell
        await canvas(1).scrollIntoViewIfNeeded();
        await canvas(1).focus();
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowUp');
        const { said } = await look(1);
        const expected = Math.sin(1 / 5) * Math.cos(1 / 4);
        assert.match(said, /^p .*, q 0.3 s, exponent /);
        assert.ok(Math.abs(Number(said.match(/exponent ([0-9.]+)/)[1]) - expected) < 1e-8,
            said);
        const p = 10 ** (-2 + 3 * 1.5 / 30);
        assert.ok(Math.abs(Number(said.match(/p ([0-9.]+)/)[1]) - p) < 1e-8, said);
        // cells with words and notes; a click tells the command that repeats the run
        await canvas(2).scrollIntoViewIfNeeded();
        await page.waitForFunction(() => window.noslip.figure(2));
        const cell = async (column, row) => {
            const { area } = await look(2);
            const box = await canvas(2).boundingBox();
            return [box.x + area.left + (column + 0.5) / 3 * (area.right - area.left),
                box.y + area.bottom - (row + 0.5) / 2 * (area.bottom - area.top)];
        };
        await page.mouse.move(...await cell(2, 0));
        assert.equal((await look(2)).tip, 'p3q0.1 stimenever');
        assert.equal((await look(2)).command, null);
        await page.mouse.click(...await cell(0, 1));
        assert.match((await look(2)).tip, /^p1q1.7 stime<img src=x .*stopped <img/);
        assert.match((await look(2)).command, /--set p=1 --set q=1.7 --report motion.html$/);
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('Enter');
        assert.match((await look(2)).command, /--set p=2 --set q=1.7 /);
        assert.match(await page.locator('#figures figure').nth(2).textContent(), /never/);
        // a point that a logarithm cannot show is left out
        await canvas(3).focus();
        for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
        assert.match((await look(3)).said, /n 3, error 0$/);
        assert.ok((await look(3)).range[2] < -12 && (await look(3)).range[3] > -2);
        // an axis turned round, the same scale on both
        await canvas(4).scrollIntoViewIfNeeded();
        await page.waitForFunction(() => window.noslip.figure(4));
        const { range, area } = await look(4);
        assert.ok(range[2] > range[3]);
        const scale = [(range[1] - range[0]) / (area.right - area.left),
            (range[2] - range[3]) / (area.bottom - area.top)];
        assert.ok(Math.abs(scale[0] / scale[1] - 1) < 0.02, String(scale));
        assert.match(await page.textContent('#results'), /largest value0.123456789012/);
        assert.doesNotMatch(await page.textContent('#results'), /status|reason/);
        assert.match(await page.textContent('#tables'), /41 of 5000 rows; the CSV has 41/);
        assert.equal(await page.evaluate(() => window.injected), undefined);
        assertQuiet(notes);
        await context.close();
    });
});

describe('controls', () => {
    test('the keyboard plays, steps, jumps, changes speed and cameras', async () => {
        const { page, context, notes } = await open('disk');
        const time = () => page.evaluate(() => window.noslip.time());
        const playing = () => page.evaluate(() => window.noslip.playing());
        await page.keyboard.press('Space');
        assert.equal(await playing(), true);
        await page.keyboard.press('Space');
        assert.equal(await playing(), false);
        await page.keyboard.press('Home');
        assert.equal(await time(), 0);
        await page.keyboard.press('ArrowRight');
        assert.ok(Math.abs(await time() - 0.06) < 1e-9);
        await page.keyboard.press('Shift+ArrowRight');
        assert.ok(Math.abs(await time() - 0.66) < 1e-9);
        await page.keyboard.press('ArrowLeft');
        assert.ok(Math.abs(await time() - 0.6) < 1e-9);
        await page.keyboard.press('End');
        assert.equal(await time(), 12);
        await page.keyboard.press('+');
        assert.equal(await page.inputValue('#transport select'), '2');
        await page.keyboard.press('-');
        await page.keyboard.press('-');
        assert.equal(await page.inputValue('#transport select'), '0.5');
        await page.keyboard.press('2');
        assert.equal(await page.getAttribute('.views button:has-text("Top")', 'aria-pressed'),
            'true');
        await page.keyboard.press('f');
        assert.equal((await page.evaluate(() => window.noslip.sceneStats())).follow, true);
        await page.keyboard.press('r');
        assert.equal((await page.evaluate(() => window.noslip.sceneStats())).follow, false);
        await page.keyboard.press('?');
        assert.ok(await page.locator('#help').isVisible());
        await page.keyboard.press('Escape');
        assert.ok(!await page.locator('#help').isVisible());
        // everything can be reached with the tab key
        const reached = new Set();
        for (let i = 0; i < 60; i++) {
            await page.keyboard.press('Tab');
            reached.add(await page.evaluate(() =>
                document.activeElement.className || document.activeElement.id ||
                document.activeElement.getAttribute('aria-label')));
        }
        for (const want of ['gl', 'scrub', 'play', 'series-toggle'])
            assert.ok(reached.has(want), `${want} in ${[...reached]}`);
        assertQuiet(notes);
        await context.close();
    });

    test('arrows, curves and axes can be switched; log scale, series too', async () => {
        const { page, context, notes } = await open('ellipsoid');
        await page.click('.switches summary');
        const count = await page.locator('.switch-list input').count();
        const before = await page.evaluate(() => window.noslip.sceneStats().triangles);
        for (let i = 0; i < count; i++) await page.locator('.switch-list input').nth(i).click();
        const layers = await page.evaluate(() => window.noslip.layers());
        assert.ok(layers.find((l) => l.label === 'Principal axes').shown);
        assert.ok(!layers.find((l) => l.label === 'angular velocity').shown);
        assert.notEqual(await page.evaluate(() => window.noslip.sceneStats().triangles),
            before);
        const log = page.locator('.panel button.text:has-text("log")').first();
        assert.equal(await log.getAttribute('aria-pressed'), 'true');
        await log.click();
        assert.equal(await log.getAttribute('aria-pressed'), 'false');
        const toggle = page.locator('.series-toggle').first();
        await toggle.click();
        assert.equal(await toggle.getAttribute('aria-pressed'), 'false');
        assertQuiet(notes);
        await context.close();
    });

    test('downloads: CSV has all samples, PNG is one', async () => {
        const { page, context } = await open('ellipsoid', { acceptDownloads: true });
        const get = async (selector) => {
            const [download] = await Promise.all(
                [page.waitForEvent('download'), page.locator(selector).first().click()]);
            return readFile(await download.path());
        };
        const lines = (await get('button[aria-label="Download all series as CSV"]')).toString()
            .trim().split('\n');
        assert.equal(lines.length, 4002);
        assert.equal(lines[0].split(',')[0], 't [s]');
        const omega = decode(data.ellipsoid.series.find((s) => s.name === 'omega.z').data);
        const column = lines[0].split(',').indexOf('omega.z [rad/s]');
        assert.ok(Math.abs(Number(lines[1001].split(',')[column]) - omega[1000]) < 1e-6);
        for (const selector of ['button[aria-label="Save this plot as PNG"]',
            'button[aria-label="Save the picture"]']) {
            const png = await get(selector);
            assert.equal(png.subarray(1, 4).toString(), 'PNG');
            assert.ok(png.length > 5000);
        }
        await context.close();
    });

    test('follow keeps the body in the picture', async () => {
        const { page, context } = await open('wanderer');
        assert.equal((await page.evaluate(() => window.noslip.sceneStats())).follow, true);
        for (const t of [5, 29]) {
            await page.evaluate((x) => window.noslip.setTime(x), t);
            assert.ok(await colours(page) > 25, 'the coin is gone');
        }
        await context.close();
    });

    test('two pictures: both can be opened, both follow the time', async () => {
        const { page, context, notes } = await open('both');
        assert.deepEqual(await page.evaluate(() => window.noslip.pictures()),
            ['Motion', 'Momentum sphere']);
        await page.click('.tabs button:nth-child(2)');
        await page.evaluate(() => window.noslip.setTime(3));
        assert.ok(await colours(page) > 12);
        const pose = await page.evaluate(() => window.noslip.bodyPose(0));
        assert.ok(pose.position[2] > 0);
        assertQuiet(notes);
        await context.close();
    });
});

describe('hostile data', () => {
    test('is text and nothing else', async () => {
        const { page, context, notes } = await open('hostile');
        await page.evaluate(() => { window.noslip.setTime(1.5);
            document.querySelectorAll('details').forEach((d) => { d.open = true; }); });
        await page.hover('.u-over');
        for (const card of await page.locator('.panel').all())
            await card.scrollIntoViewIfNeeded();
        await page.waitForTimeout(200);
        assert.equal(await page.evaluate(() => window.pwned), undefined);
        assertQuiet(notes);
        const bad = await page.evaluate(() => {
            const out = [];
            for (const e of document.querySelectorAll('body *')) {
                for (const a of e.attributes)
                    if (/^on/i.test(a.name) || /javascript:/i.test(a.value) &&
                        a.name === 'href')
                        out.push(`${e.localName} ${a.name}`);
                if (['img', 'iframe', 'object', 'embed',
                    'annotation-xml'].includes(e.localName))
                    out.push(e.localName);
            }
            return { out, scripts: document.scripts.length,
                title: document.querySelector('h1').textContent,
                model: document.querySelector('pre.model').textContent };
        });
        assert.deepEqual(bad.out, []);
        assert.equal(bad.scripts, 2);
        assert.equal(bad.title, data.hostile.title);
        assert.equal(bad.model, data.hostile.model);
        await context.close();
    });

    test('formulas are shown as formulas', async () => {
        const { page, context } = await open('disk');
        assert.equal(await page.locator('math').count(), 2);
        assert.ok(await page.locator('math mfrac').count() >= 1);
        const box = await page.locator('math').first().boundingBox();
        assert.ok(box.width > 100 && box.height > 15);
        await context.close();
    });
});

describe('devices', () => {
    for (const name of ['ellipsoid', 'disk', 'hostile', 'broken', 'both', 'lie', 'plots-only',
        'sleigh']) {
        test(`${name}: no sideways scrolling on a phone, text does not overlap`, async () => {
            const { page, context, notes } =
                await open(name, { viewport: { width: 360, height: 740 }, hasTouch: true,
                    isMobile: true });
            const width = await page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(width <= 360, `${width} px wide`);
            const overlaps = await page.evaluate(() => {
                const nodes = [...document.querySelectorAll(
                    '#stage .switches summary, #stage .views button, .tabs button, ' +
                        'header h1, #subtitle, #chips .chip, #theme, #transport > *')]
                    .filter((e) => e.getClientRects().length);
                const boxes = nodes.map((e) => e.getBoundingClientRect());
                const out = [];
                const transport = document.querySelector('#transport');
                for (let i = 0; i < boxes.length; i++) {
                    for (let k = i + 1; k < boxes.length; k++) {
                        if (transport.contains(nodes[i]) !== transport.contains(nodes[k]))
                            continue;
                        const [a, b] = [boxes[i], boxes[k]];
                        const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                        const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                        if (x > 1 && y > 1)
                            out.push(`${nodes[i].textContent.trim()} | ` +
                                `${nodes[k].textContent.trim()}`);
                    }
                }
                return out;
            });
            assert.deepEqual(overlaps, []);
            assertQuiet(notes);
            await context.close();
        });
    }

    test('dark follows the system and the button', async () => {
        const { page, context, notes } = await open('disk', { colorScheme: 'dark' });
        const shade = () => page.evaluate(() =>
            getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3)
            .reduce((s, v) => s + Number(v), 0));
        assert.ok(await shade() < 150);
        await page.click('#theme');
        assert.ok(await shade() > 600, 'light');
        await page.click('#theme');
        assert.ok(await shade() < 150, 'dark');
        assertQuiet(notes);
        await context.close();
    });

    test('contrast of text is at least 4.5 in both themes', async () => {
        for (const theme of ['light', 'dark']) {
            const { page, context } = await open('disk', { hash: `#theme=${theme}` });
            const low = await page.evaluate(() => {
                const number = (c) => c.match(/[\d.]+/g).map(Number);
                const luminance = ([r, g, b]) => {
                    const f = (v) => { v /= 255; return v <= 0.04045
                        ? v / 12.92
                        : ((v + 0.055) / 1.055) ** 2.4; };
                    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
                };
                const back = (e) => {
                    for (let n = e; n; n = n.parentElement) {
                        const c = number(getComputedStyle(n).backgroundColor);
                        if (c.length < 4 || c[3] > 0.7) return c;
                    }
                    return [255, 255, 255];
                };
                const out = new Set();
                for (const e of document.querySelectorAll(
                    'h1, h2, h3, p, dt, dd, th, td, .chip, .value, .name, button span, ' +
                        '.comment, .hint, summary, figcaption, output')) {
                    if (!e.getClientRects().length || !e.textContent.trim() ||
                        e.closest(':disabled'))
                        continue;
                    const [a, b] = [luminance(number(getComputedStyle(e).color)),
                        luminance(back(e))].sort((x, y) => y - x);
                    const ratio = (a + 0.05) / (b + 0.05);
                    if (ratio < 4.5)
                        out.add(`${e.localName}.${e.className} ${ratio.toFixed(2)}`);
                }
                return [...out];
            });
            assert.deepEqual(low, [], theme);
            await context.close();
        }
    });

    test('without WebGL a message appears and the rest works', async () => {
        const other = await launch(['--disable-gpu', '--disable-3d-apis']);
        const { page, context, notes } = await openPage(other, pages.disk);
        assert.match(await page.textContent('.no-webgl'), /no WebGL/);
        assert.deepEqual(await page.evaluate(() => window.noslip.sceneStats()),
            { webgl: false });
        await page.keyboard.press('Space');
        await page.waitForFunction(() => window.noslip.time() > 0);
        await page.keyboard.press('Space');
        await page.evaluate(() => window.noslip.setTime(4));
        assert.ok(await page.evaluate(() => window.noslip.bodyPose(0).position[2] > 0));
        assert.ok((await page.evaluate(() => window.noslip.cursorTimes()))
            .every((t) => Math.abs(t - 4) < 0.05));
        assert.deepEqual(notes.errors, []);
        assert.deepEqual(notes.requests, []);
        await context.close();
        await other.close();
    });

    test('nothing is drawn while nothing changes', async () => {
        const { page, context } = await open('disk');
        await page.waitForTimeout(400);
        const frames = () => page.evaluate(() => window.noslip.sceneStats().frames);
        const a = await frames();
        await page.waitForTimeout(600);
        assert.equal(await frames(), a + 1, 'only the frame that asking draws');
        await context.close();
    });

    test('prints with picture and open tables', async () => {
        const { page, context, notes } = await open('ellipsoid');
        const pdf = await page.pdf({ format: 'A4' });
        assert.ok(pdf.length > 30000);
        assertQuiet(notes);
        await context.close();
    });

    test('opens fast', async () => {
        const { page, context } = await open('ellipsoid');
        const ms = await page.evaluate(() => window.noslip.readyAt);
        console.log(`ready after ${ms.toFixed(0)} ms`);
        assert.ok(ms < 20000);
        await context.close();
    });
});
