// From slider to motion: for every model of the gallery, the time from a slider's move to the
// frame with the new motion, and what of it is the engine's.
//
//     node latency.mjs ../build/playground.html [NAME...]
//
// The slider of every model moves a step five times; the median counts. The frame is over when
// the browser begins the next one.
import { launch, openPage } from './test/browser.mjs';

const [file, ...chosen] = process.argv.slice(2);
const browser = await launch();
const { page } = await openPage(browser, file, { hash: '#gallery=chaplygin-sleigh' });
console.log(`first frame after ${(await page.evaluate(() => window.noslip.readyAt) / 1000)
    .toFixed(2)} s`);
const names = chosen.length ? chosen
    : await page.evaluate(() => window.noslip.playground.models.map((m) => m.name));
const rows = [];
for (const name of names) {
    const before = await page.evaluate(() => window.noslip.state().shown);
    await page.evaluate((n) => window.noslip.choose(n), name);
    try {
        await page.waitForFunction((n) => window.noslip.state().shown > n &&
            !window.noslip.state().busy, before, { timeout: 30000 });
    } catch {
        console.log(`${name}: no motion within 30 s`);
        rows.push([name, Infinity]);
        continue;
    }
    const [total, engine] = await page.evaluate(async () => {
        const range = document.querySelector('.slider input[type=range]');
        const frame = () => new Promise((r) => { requestAnimationFrame(r); });
        const out = [];
        for (let i = 0; i < 5; i++) {
            const { shown } = window.noslip.state();
            await frame();
            const began = performance.now();
            range.value = String(Number(range.value) + 1);
            range.dispatchEvent(new Event('input'));
            while (window.noslip.state().shown === shown && performance.now() - began < 20000)
                await new Promise((r) => { setTimeout(r, 1); });
            await frame(); // draws
            await frame(); // what was drawn has been handed on
            out.push([performance.now() - began, 1000 * window.noslip.state().seconds]);
        }
        return out.sort((a, b) => a[0] - b[0])[2];
    });
    rows.push([name, total]);
    console.log(`${name.padEnd(36)} ${total.toFixed(0).padStart(6)} ms, engine ` +
        `${engine.toFixed(0).padStart(5)} ms`);
}
await browser.close();
const sorted = rows.map((r) => r[1]).sort((a, b) => a - b);
const part = (p) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
console.log(`${rows.length} models: median ${part(0.5).toFixed(0)} ms, ` +
    `nine tenths below ${part(0.9).toFixed(0)} ms`);
