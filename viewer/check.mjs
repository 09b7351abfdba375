// Opens reports in a browser, checks what must hold for each, and takes pictures of them.
//
//     node check.mjs [--shots DIR] [--quality high|low] REPORT.html...
//
// Prints a line for each report; exit status 1 if any of them fails. CHROMIUM names the browser.
import { mkdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, openPage } from './test/browser.mjs';

const { values: options, positionals: files } = parseArgs({
    allowPositionals: true, options: { shots: { type: 'string' }, quality: { type: 'string', default: 'low' } },
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
    const Kind = { f32: Float32Array, f64: Float64Array, u16: Uint16Array, u32: Uint32Array }[source.slice(0, 3)];
    const raw = Buffer.from(source.slice(4), 'base64');
    return new Kind(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
}

async function check(browser, file) {
    const wrong = [];
    const expect = (condition, what) => { if (!condition) wrong.push(what); };
    const data = await dataOf(file);
    const { page, context, notes } = await openPage(browser, resolve(file), { hash: `#quality=${options.quality}&theme=light` });
    const ask = (f, x) => page.evaluate(f, x);
    const ready = await ask(() => window.noslip.readyAt);
    const problems = await ask(() => window.noslip.problems?.() ?? [window.noslip.error]);
    expect(problems.length === 0, `data: ${problems.join(' ')}`);
    const time = decode(data.time);
    const n = time.length;
    if (n > 1 && time[n - 1] > time[0]) {
        await ask(() => window.noslip.play());
        await page.waitForFunction((t) => window.noslip.time() > t, time[0], { timeout: 20000 }).catch(() => wrong.push('play does not advance'));
        await ask(() => window.noslip.pause());
        // body and cursor go together; the body is where the data says
        for (const i of [0, Math.floor(n / 3), Math.floor(0.7 * n), n - 1]) {
            const now = await ask((t) => {
                window.noslip.setTime(t);
                return { t: window.noslip.time(), cursors: window.noslip.cursorTimes() };
            }, time[i]);
            expect(now.cursors.every((c) => Math.abs(c - now.t) <= 0.01 * (time[n - 1] - time[0])), `cursor at ${time[i]}`);
            for (const [k, body] of (data.scene?.bodies ?? []).entries()) {
                if (!body.pose?.position) continue;
                const p = decode(body.pose.position).slice(3 * i, 3 * i + 3);
                const pose = await ask((b) => window.noslip.bodyPose(b), k);
                expect(pose && pose.position.every((v, c) => Math.abs(v - p[c]) <= 1e-6 * (1 + Math.abs(p[c]))), `pose of ${body.name} at ${time[i]}`);
            }
        }
        for (const s of data.series ?? []) {
            const last = decode(s.data)[n - 1];
            const shown = await ask((name) => window.noslip.seriesValue(name), s.name);
            expect(Object.is(shown, last) || (last === null || Number.isNaN(last)), `final value of ${s.name}`);
        }
    }
    const stats = await ask(() => window.noslip.sceneStats?.());
    const pictured = (data.scene && data.scene.kind !== 'none') || data.sphere;
    if (pictured) expect(stats?.webgl && stats.triangles > 50, 'nothing is drawn');
    if (options.shots) {
        await mkdir(options.shots, { recursive: true });
        const stem = join(options.shots, basename(file, '.html'));
        await ask(() => document.querySelector('.big-play')?.setAttribute('hidden', ''));
        for (const [key, u] of [['a', 0.4], ['b', 0.85]]) {
            await ask((t) => window.noslip.setTime(t), time[0] + u * (time[n - 1] - time[0]));
            if (key === 'b') await ask(() => ['side', 'solid'].forEach((v) => window.noslip.setView(v)));
            await page.waitForTimeout(100);
            await page.screenshot({ path: `${stem}-${key}.png` });
            if (pictured) await page.locator('#scene').screenshot({ path: `${stem}-${key}-scene.png` });
        }
    }
    for (const [what, list] of Object.entries(notes)) expect(list.length === 0, `${what}: ${list.join(' | ')}`);
    await context.close();
    return { wrong, ready };
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
    console.log(`${result.wrong.length ? 'FAIL' : 'ok  '} ${file} (ready in ${Math.round(result.ready)} ms)`);
    for (const w of result.wrong) console.log(`     ${w}`);
}
await browser.close();
process.exit(failed ? 1 : 0);
