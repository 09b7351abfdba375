// Opens reports in a browser, checks what must hold for each, and takes pictures of them.
//
//     node check.mjs [--shots DIR] [--quality high|low] [--audit] REPORT.html...
//
// --audit also asks axe-core about accessibility, which takes longest.
// Prints a line for each report; exit status 1 if any of them fails. CHROMIUM names the
// browser.
import { mkdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, openPage } from './test/browser.mjs';
import { violations } from './test/axe.mjs';
import { intoFrame, toMesh, toPlane, toPolyline } from './touch.mjs';

const { values: options, positionals: files } = parseArgs({
    allowPositionals: true, options: { shots: { type: 'string' },
        quality: { type: 'string', default: 'low' }, audit: { type: 'boolean' } },
});
if (!files.length) {
    console.error('usage: node check.mjs [--shots DIR] [--quality high|low] REPORT.html...');
    process.exit(2);
}

/** The data a report carries. */
async function dataOf(file) {
    const html = await readFile(file, 'utf8');
    const open = '<script type="application/json" id="noslip-data">';
    const from = html.indexOf(open) + open.length;
    return JSON.parse(html.slice(from, html.indexOf('</script>', from)));
}

function decode(source) {
    if (source === undefined || source === null) return [];
    if (Array.isArray(source)) return source.flat();
    const Kind = { f32: Float32Array, f64: Float64Array, u16: Uint16Array,
        u32: Uint32Array }[source.slice(0, 3)];
    const raw = Buffer.from(source.slice(4), 'base64');
    return new Kind(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
}

/** What a body is drawn as, and its size; null if it has no mesh. */
function meshOf(body) {
    const source = body.mesh ?? body.shapes?.find((s) => s.shape === 'mesh')?.mesh;
    if (!source) return null;
    const mesh = { positions: decode(source.positions), indices: decode(source.indices) };
    let size = 0;
    for (let i = 0; i < mesh.positions.length; i += 3)
        size = Math.max(size, Math.hypot(...mesh.positions.slice(i, i + 3)));
    return { ...mesh, size };
}

/** The first contact: its point is on the drawn body and on the ground, at sample i. */
function touches(data, i, contact, pose, expect) {
    const path = data.scene?.paths?.find((p) =>
        p.role === 'contact' && data.scene.bodies?.some((b) => b.name === p.frame));
    const body = path && data.scene.bodies.findIndex((b) => b.name === path.frame);
    const mesh = path && meshOf(data.scene.bodies[body]);
    if (!mesh || !contact) return false;
    const fromBody = toMesh(intoFrame(contact, pose(body)), mesh) / mesh.size;
    expect(fromBody < 0.02, `the contact is ${fromBody.toFixed(3)} body sizes from the body ` +
        `at sample ${i}`);
    const ground = data.scene.ground?.[0];
    if (!ground) return true;
    const at = ground.pose ? intoFrame(contact, {
        position: Array.from(decode(ground.pose.position).slice(3 * i, 3 * i + 3)),
        quaternion: ground.pose.quaternion &&
            Array.from(decode(ground.pose.quaternion).slice(4 * i, 4 * i + 4)),
    }) : contact;
    const fromGround = ground.plane ? toPlane(at, ground.plane) : ground.wire
        ? toPolyline(at, decode(ground.wire.points), ground.wire.closed)
        : ground.mesh ? toMesh(at, { positions: decode(ground.mesh.positions),
            indices: decode(ground.mesh.indices) }) : 0;
    expect(fromGround / mesh.size < 0.02,
        `the contact is ${(fromGround / mesh.size).toFixed(3)} body sizes from the ground at ` +
            `sample ${i}`);
    return true;
}

/**
 * Figures of a study: every panel is drawn; hover, wheel, drag, double click and keys do what
 * they say.
 */
async function checkFigures(page, data, expect) {
    const panels = (data.figures ?? []).flatMap((f) => f.panels);
    const count = await page.evaluate(() => window.noslip.figures());
    expect(count === panels.length, `${count} panels, not ${panels.length}`);
    for (const [i, panel] of panels.entries()) {
        const canvas = page.locator('#figures canvas').nth(i);
        await canvas.scrollIntoViewIfNeeded();
        await page.waitForFunction((k) => window.noslip.figure(k), i, { timeout: 5000 });
        const look = () => page.evaluate((k) => window.noslip.figure(k), i);
        const box = await canvas.boundingBox();
        const first = await look();
        const { left, right, top, bottom } = first.area;
        const size = (s) => Math.abs((s.range[1] - s.range[0]) * (s.range[3] - s.range[2]));
        const inside = ([x, y]) => x > left + 8 && x < right - 8 && y > top + 8 &&
            y < bottom - 8;
        // a point of the first series that has one in the frame: the tip tells its values
        let spot = null;
        for (const [s, series] of panel.series.entries()) {
            const x = decode(series.x);
            for (let k = 0; k < x.length && !spot;
                k += Math.max(1, Math.floor(x.length / 50))) {
                const at = await page.evaluate((a) => window.noslip.figurePixel(...a),
                    [i, s, k]);
                if (at && inside(at)) spot = at;
            }
        }
        const [px, py] = spot ?? [(left + right) / 2, (top + bottom) / 2];
        await page.mouse.move(box.x + px, box.y + py);
        const hovered = await look();
        if (spot || panel.field)
            expect(hovered.tip && hovered.tip.includes(panel.y.label),
                `hover on panel ${i} shows ${hovered.tip}`);
        if (panel.command) {
            await page.mouse.click(box.x + px, box.y + py);
            const { command } = await look();
            expect(command?.startsWith('noslip run ') && !/[{}]/.test(command),
                `click on panel ${i} tells ${command}`);
        }
        await page.keyboard.down('Control');
        await page.mouse.wheel(0, -300);
        await page.keyboard.up('Control');
        await page.waitForTimeout(50);
        expect(size(await look()) < 0.9 * size(first), `wheel on panel ${i}`);
        await page.mouse.dblclick(box.x + px, box.y + py);
        expect(Math.abs(size(await look()) / size(first) - 1) < 1e-9,
            `double click on panel ${i}`);
        await page.mouse.move(box.x + left + 0.3 * (right - left),
            box.y + top + 0.3 * (bottom - top));
        await page.mouse.down();
        await page.mouse.move(box.x + left + 0.7 * (right - left),
            box.y + top + 0.8 * (bottom - top), { steps: 3 });
        await page.mouse.up();
        expect(size(await look()) < 0.6 * size(first), `drag on panel ${i}`);
        await canvas.focus();
        await page.keyboard.press('Home');
        expect(Math.abs(size(await look()) / size(first) - 1) < 1e-9, `Home on panel ${i}`);
        await page.keyboard.press('ArrowRight');
        const said = (await look()).said;
        if (panel.field || panel.series.some((s) => decode(s.x).length))
            expect(said.includes(panel.x.label), `key on panel ${i} says ${said}`);
        await page.keyboard.press('+');
        expect(size(await look()) < 0.5 * size(first), `+ on panel ${i}`);
        await page.keyboard.press('Home');
        await page.keyboard.press('Escape');
        // what is drawn is more than the frame
        const colours = await page.evaluate((k) => {
            const c = document.querySelectorAll('#figures canvas')[k];
            const pixels = new Uint32Array(c.getContext('2d')
                .getImageData(0, 0, c.width, c.height).data.buffer);
            return new Set(pixels).size;
        }, i);
        expect(colours > 8, `panel ${i} is empty`);
    }
    const words = await page.evaluate(() => document.querySelector('#facts').textContent);
    // how it ended is said with the study
    expect(!data.study || /Status(completed|stopped)/.test(words), 'the status is missing');
    for (const r of data.results ?? [])
        if (!['status', 'reason'].includes(r.name) && (r.text || typeof r.value === 'number'))
            expect(words.includes(r.name.replaceAll('_', ' ')), `result ${r.name} is missing`);
    for (const t of data.tables ?? [])
        expect(words.includes(t.name.replaceAll('_', ' ')), `table ${t.name} is missing`);
    if (data.model)
        expect(words.includes(data.model.trim().split('\n')[0]),
            'the text of the model is missing');
}

/**
 * What axe-core says of the page with everything unfolded: all its rules on a wide page, those
 * that depend on size and colours on a narrow dark one.
 */
async function audit(page, expect) {
    const before = page.viewportSize();
    await page.evaluate(() => document.querySelectorAll('details').forEach((d) => {
        d.open = true;
    }));
    for (const line of await violations(page)) expect(false, `accessibility: ${line}`);
    await page.setViewportSize({ width: 390, height: 844 });
    for (let i = 0; i < 3 && await page.evaluate(() =>
        document.documentElement.dataset.theme !== 'dark'); i++)
        await page.evaluate(() => document.querySelector('#theme').click());
    // buttons take a moment to change their colour
    await page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished)));
    for (const line of await violations(page, 'html', ['color-contrast', 'target-size',
        'scrollable-region-focusable']))
        expect(false, `accessibility, narrow and dark: ${line}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide <= 390, `a page of 390 pixels is ${wide} wide`);
    await page.setViewportSize(before);
}

async function check(browser, file) {
    const wrong = [];
    const expect = (condition, what) => { if (!condition) wrong.push(what); };
    const data = await dataOf(file);
    const { page, context, notes } =
        await openPage(browser, resolve(file),
            { hash: `#quality=${options.quality}&theme=light` });
    const ask = (f, x) => page.evaluate(f, x);
    const ready = await ask(() => window.noslip.readyAt);
    const problems = await ask(() => window.noslip.problems?.() ?? [window.noslip.error]);
    expect(problems.length === 0, `data: ${problems.join(' ')}`);
    const time = decode(data.time);
    const n = time.length;
    let touched = false;
    if (n > 1 && time[n - 1] > time[0]) {
        await ask(() => window.noslip.play());
        await page.waitForFunction((t) => window.noslip.time() > t, time[0], { timeout: 20000 })
            .catch(() => wrong.push('play does not advance'));
        await ask(() => window.noslip.pause());
        // body and cursor go together, also when the time line is dragged; the body is where
        // the data says
        const bodies = data.scene?.bodies ?? [];
        for (const i of [0, Math.floor(n / 3), Math.floor(0.7 * n), n - 1]) {
            const now = await ask(([t, count]) => {
                window.noslip.setTime(t);
                return {
                    t: window.noslip.time(), cursors: window.noslip.cursorTimes(),
                    contact: window.noslip.contactPoint(),
                    poses: Array.from({ length: count }, (_, k) => window.noslip.bodyPose(k)),
                };
            }, [time[i], bodies.length]);
            expect(now.cursors.length > 0 &&
                now.cursors.every((c) => Math.abs(c - now.t) <= 0.01 * (time[n - 1] - time[0])),
                `cursor at ${time[i]}`);
            for (const [k, body] of bodies.entries()) {
                if (!body.pose?.position) continue;
                const p = decode(body.pose.position).slice(3 * i, 3 * i + 3);
                const pose = now.poses[k];
                expect(pose && pose.position.every((v, c) =>
                    Math.abs(v - p[c]) <= 1e-6 * (1 + Math.abs(p[c]))),
                    `pose of ${body.name} at ${time[i]}`);
            }
            if (touches(data, i, now.contact, (k) => now.poses[k], expect)) touched = true;
        }
        const dragged = await ask(() => {
            const range = document.querySelector('input[type=range]');
            range.value = String(Number(range.max) / 2);
            range.dispatchEvent(new Event('input', { bubbles: true }));
            return { t: window.noslip.time(), cursors: window.noslip.cursorTimes(),
                pose: window.noslip.bodyPose(0) };
        });
        expect(Math.abs(dragged.t - (time[0] + time[n - 1]) / 2) < 1e-3 * (
            time[n - 1] - time[0]), 'dragging the time line');
        expect(dragged.cursors.every((c) =>
            Math.abs(c - dragged.t) <= 0.01 * (time[n - 1] - time[0])),
            'cursor while dragging');
        // the plots end with the final values of the run
        const series = data.series ?? [];
        const ends = await ask(([t, names]) => {
            window.noslip.setTime(t);
            return names.map((name) => window.noslip.seriesValue(name));
        }, [time[n - 1], series.map((s) => s.name)]);
        for (const [k, s] of series.entries()) {
            const last = decode(s.data)[n - 1];
            expect(Object.is(ends[k], last) || last === null || Number.isNaN(last),
                `last sample of ${s.name}`);
            const final = data.final?.find((f) => f.name === s.name);
            if (final && final.value !== null && !Number.isNaN(ends[k])) {
                expect(Math.abs(ends[k] - final.value) <= 1e-6 * Math.max(1e-30,
                    Math.abs(final.value)), `final value of ${s.name}: ${ends[k]}, not ` +
                        `${final.value}`);
            }
        }
    }
    if (data.study) await checkFigures(page, data, expect);
    if (data.study || n > 1) {
        // what is written is the model's own text, and nothing in it became part of the page
        const words = await ask(() =>
            ({ title: document.querySelector('#title')?.textContent, injected: window.injected,
                images: document.images.length }));
        expect(words.title === data.title, `title is ${words.title}`);
        expect(words.injected === undefined && words.images === 0, 'something was injected');
    }
    const stats = await ask(() => window.noslip.sceneStats?.());
    const pictured = (data.scene && data.scene.kind !== 'none') || data.sphere;
    if (pictured) expect(stats?.webgl && stats.triangles > 50, 'nothing is drawn');
    if (options.shots) {
        await mkdir(options.shots, { recursive: true });
        const stem = join(options.shots, basename(file, '.html'));
        await ask(() => document.querySelector('.big-play')?.setAttribute('hidden', ''));
        if (data.study) await page.screenshot({ path: `${stem}.png`, fullPage: true });
        else for (const [key, u] of [['a', 0.4], ['b', 0.85]]) {
            await ask((t) => window.noslip.setTime(t), time[0] + u * (time[n - 1] - time[0]));
            if (key === 'b')
                await ask(() => ['side', 'solid'].forEach((v) => window.noslip.setView(v)));
            await page.waitForTimeout(100);
            await page.screenshot({ path: `${stem}-${key}.png` });
            if (pictured)
                await page.locator('#scene').screenshot({ path: `${stem}-${key}-scene.png` });
        }
    }
    if (options.audit) await audit(page, expect);
    for (const [what, list] of Object.entries(notes))
        expect(list.length === 0, `${what}: ${list.join(' | ')}`);
    await context.close();
    return { wrong, ready, touched };
}

const browser = await launch();
let failed = false;
for (const file of files) {
    let result;
    try {
        result = await check(browser, file);
    } catch (e) {
        result = { wrong: [String(e.message ?? e)], ready: NaN };
    }
    failed ||= result.wrong.length > 0;
    console.log(`${result.wrong.length ? 'FAIL' : 'ok  '} ${file} (ready in ` +
        `${Math.round(result.ready)} ms${result.touched ? ', touches' : ''})`);
    for (const w of result.wrong) console.log(`     ${w}`);
}
await browser.close();
process.exit(failed ? 1 : 0);
