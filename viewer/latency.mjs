// From slider to motion: for every model of the gallery, the time from a slider's move to the
// first frame with the new motion.
//
//     node latency.mjs ../build/playground.html [NAME...]
import { launch, openPage } from './test/browser.mjs';

const [file, ...chosen] = process.argv.slice(2);
const browser = await launch();
const { page } = await openPage(browser, file, { hash: '#gallery=chaplygin-sleigh' });
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
    const times = await page.evaluate(async () => {
        const range = document.querySelector('.slider input[type=range]');
        const out = [];
        for (let i = 0; i < 5; i++) {
            const { shown } = window.noslip.state();
            const began = performance.now();
            range.value = String(Number(range.value) + 1);
            range.dispatchEvent(new Event('input'));
            while (window.noslip.state().shown === shown && performance.now() - began < 20000)
                await new Promise((r) => { setTimeout(r, 2); });
            await new Promise((r) => { requestAnimationFrame(() => setTimeout(r, 0)); });
            out.push(performance.now() - began);
        }
        return out.sort((a, b) => a - b);
    });
    rows.push([name, times[2]]);
    console.log(`${name.padEnd(36)} ${times[2].toFixed(0).padStart(6)} ms`);
}
await browser.close();
const sorted = rows.map((r) => r[1]).sort((a, b) => a - b);
const part = (p) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
console.log(`${rows.length} models: median ${part(0.5).toFixed(0)} ms, ` +
    `nine tenths below ${part(0.9).toFixed(0)} ms`);
