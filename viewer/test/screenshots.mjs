// Pictures of the fixtures, to be looked at: node test/screenshots.mjs [DIR] [NAME...]
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, openPage } from './browser.mjs';
import { fixtures, writePages } from './fixtures.mjs';

const here = dirname(fileURLToPath(import.meta.url));
if (process.argv.slice(2).some((word) => word.startsWith('-'))) {
    console.error('usage: node test/screenshots.mjs [DIR] [NAME...]');
    process.exit(2);
}
const folder = process.argv[2] ?? join(here, '../dist/screenshots');
const names = process.argv.length > 3 ? process.argv.slice(3) : Object.keys(fixtures);
await mkdir(folder, { recursive: true });
const pages = await writePages(join(here, '../dist/fixtures'), names);
const browser = await launch();
const shots = [
    { key: 'light', hash: '#theme=light&quality=high', at: 0.37 },
    { key: 'dark', hash: '#theme=dark&quality=high', at: 0.8 },
    { key: 'phone', hash: '#theme=light&quality=high', at: 0.6,
        viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
];
for (const name of names) {
    for (const shot of shots) {
        const { page, context, notes } =
            await openPage(browser, pages[name],
                { hash: shot.hash, ...(shot.viewport
                    ? { viewport: shot.viewport, deviceScaleFactor: shot.deviceScaleFactor }
                    : {}) });
        await page.evaluate((u) => {
            const n = window.noslip;
            if (n.setTime && n.duration() > 0) n.setTime(u * n.duration());
            document.querySelector('.big-play')?.setAttribute('hidden', '');
        }, shot.at);
        await page.waitForTimeout(150);
        await page.screenshot({ path: join(folder, `${name}-${shot.key}.png`) });
        if (shot.key === 'light') {
            for (const view of ['top', 'side', 'solid']) {
                const has = await page.evaluate((v) => {
                    const labels = { top: 'Top', side: 'Side', solid: '3D' };
                    const b = [...document.querySelectorAll('.views button')].find((x) =>
                        x.textContent === labels[v]);
                    b?.click();
                    return Boolean(b);
                }, view);
                if (!has) continue;
                await page.waitForTimeout(100);
                await (await page.$('#scene'))
                    .screenshot({ path: join(folder, `${name}-${view}.png`) });
            }
        }
        const wrong = [...notes.console, ...notes.errors, ...notes.requests];
        if (wrong.length) console.log(name, shot.key, wrong);
        await context.close();
    }
}
await browser.close();
