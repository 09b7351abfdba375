// Sheets to look at: models of the gallery in the playground and in reports, at desktop and
// phone size, light and dark.
//
//     node sheets.mjs PLAYGROUND.html NOSLIP OUT-FOLDER [NAME...]
//
// Writes OUT-FOLDER/{playground,report}-{desktop,phone}-{light,dark}-N.png, twelve models each.
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launch, openPage } from './test/browser.mjs';

const [playground, program, folder, ...chosen] = process.argv.slice(2);
if (!folder) {
    console.error('usage: node sheets.mjs PLAYGROUND.html NOSLIP OUT-FOLDER [NAME...]');
    process.exit(2);
}
const perSheet = 12;
const sizes = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };
await mkdir(folder, { recursive: true });
const browser = await launch();
const first = await openPage(browser, playground, { hash: '#gallery=chaplygin-sleigh' });
const names = chosen.length ? chosen
    : await first.page.evaluate(() => window.noslip.playground.models.map((m) => m.name));
await first.context.close();

/** A third of the motion in: nothing is where it began. */
async function picture(page) {
    await page.evaluate(() => {
        const n = window.noslip;
        if (n.setTime && n.duration() > 0) n.setTime(0.37 * n.duration());
    });
    await page.waitForTimeout(120);
    return (await page.screenshot({ type: 'jpeg', quality: 80 })).toString('base64');
}

async function ofPlayground(options, hash) {
    const { page, context } = await openPage(browser, playground,
        { ...options, hash: `#gallery=${names[0]}&${hash}` });
    const out = [];
    for (const name of names) {
        const before = await page.evaluate(() => window.noslip.state().shown);
        await page.evaluate((n) => window.noslip.choose(n), name);
        await page.waitForFunction((n) => window.noslip.state().shown > n, before,
            { timeout: 60000 }).catch(() => console.log(`${name}: no motion in a minute`));
        out.push(await picture(page));
    }
    await context.close();
    return out;
}

async function ofReports(options, hash) {
    const out = [];
    const file = join(folder, 'report.html');
    for (const name of names) {
        execFileSync(program, ['run', name, '--quiet', '--report', file], { stdio: 'ignore' });
        const { page, context } = await openPage(browser, file,
            { ...options, hash: `#${hash}` });
        out.push(await picture(page));
        await context.close();
    }
    await rm(file, { force: true });
    return out;
}

const sheet = await (await browser.newContext({ viewport: { width: 1640, height: 1200 } }))
    .newPage();
for (const [kind, make] of [['playground', ofPlayground], ['report', ofReports]])
    for (const [size, viewport] of Object.entries(sizes))
        for (const theme of ['light', 'dark']) {
            const pictures = await make({ viewport }, `theme=${theme}`);
            const columns = size === 'phone' ? 6 : 4;
            for (let i = 0; i < names.length; i += perSheet) {
                await sheet.setContent(`<body style="margin:8px;display:grid;gap:8px;` +
                    'align-content:start;font:14px sans-serif;' +
                    `grid-template-columns:repeat(${columns},1fr)">` +
                    names.slice(i, i + perSheet).map((name, k) => `<div>${name}<br><img ` +
                        `style="width:100%" src="data:image/jpeg;base64,${pictures[i + k]}">` +
                        '</div>').join(''));
                const file = `${kind}-${size}-${theme}-${i / perSheet + 1}.png`;
                await writeFile(join(folder, file),
                    await sheet.screenshot({ fullPage: true }));
            }
        }
await browser.close();
