// Sheets to look at: models of the gallery in the playground and in reports, at desktop and
// phone size, light and dark.
//
//     [LOOKS=desktop-light,...] [KINDS=playground,report] node sheets.mjs \
//         PLAYGROUND.html NOSLIP OUT-FOLDER [NAME...]
//
// Writes OUT-FOLDER/{playground,report}-{desktop,phone}-{light,dark}-N.png, twelve models each.
// Every model is opened once; the window and the colours change around it.
import { spawnSync } from 'node:child_process';
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
const looks = (process.env.LOOKS ?? 'desktop-light,desktop-dark,phone-light,phone-dark')
    .split(',').map((l) => l.split('-'));
const kinds = (process.env.KINDS ?? 'playground,report').split(',');
await mkdir(folder, { recursive: true });
const browser = await launch();

/** The page has seen its new size and drawn itself. */
async function settled(page) {
    await page.waitForTimeout(150);
    await page.evaluate(() => new Promise((done) => {
        let left = 4;
        const frame = () => left-- ? requestAnimationFrame(frame) : done();
        frame();
    }));
}

/** {look: picture} of a page, a third of the motion in, where nothing is where it began. */
async function pictures(page) {
    await page.evaluate(() => {
        const n = window.noslip;
        if (n.setTime && n.duration() > 0) n.setTime(0.37 * n.duration());
    });
    const out = {};
    for (const [size, theme] of looks) {
        await page.setViewportSize(sizes[size]);
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await settled(page);
        out[`${size}-${theme}`] = (await page.screenshot({ type: 'jpeg', quality: 80 }))
            .toString('base64');
    }
    await page.setViewportSize(sizes.desktop);
    return out;
}

const { page, context } = await openPage(browser, playground,
    { hash: '#gallery=chaplygin-sleigh' });
const names = chosen.length ? chosen
    : await page.evaluate(() => window.noslip.playground.models.map((m) => m.name));

async function ofPlayground(name) {
    const before = await page.evaluate(() => window.noslip.state().shown);
    await page.evaluate((n) => window.noslip.choose(n), name);
    await page.waitForFunction((n) => window.noslip.state().shown > n, before,
        { timeout: 60000 }).catch(() => console.log(`${name}: no motion in a minute`));
    return pictures(page);
}

async function ofReport(name) {
    const file = join(folder, 'report.html');
    // a motion that stops early (status 1) has its page too
    spawnSync(program, ['run', name, '--quiet', '--report', file], { stdio: 'ignore' });
    const report = await openPage(browser, file);
    const out = await pictures(report.page);
    await report.context.close();
    await rm(file, { force: true });
    return out;
}

const sheet = await (await browser.newContext({ viewport: { width: 1640, height: 1200 } }))
    .newPage();
for (const [kind, make] of [['playground', ofPlayground], ['report', ofReport]]
    .filter(([name]) => kinds.includes(name)))
    for (let i = 0; i < names.length; i += perSheet) {
        const some = names.slice(i, i + perSheet);
        const taken = [];
        for (const name of some)
            taken.push(await make(name).catch((e) => {
                console.log(`${kind} of ${name}: ${e.message.split('\n')[0]}`);
                return {};
            }));
        for (const [size, theme] of looks) {
            await sheet.setContent(`<body style="margin:8px;display:grid;gap:8px;` +
                'align-content:start;font:14px sans-serif;' +
                `grid-template-columns:repeat(${size === 'phone' ? 6 : 4},1fr)">` +
                some.map((name, k) => `<div>${name}<br><img style="width:100%" src=` +
                    `"data:image/jpeg;base64,${taken[k][`${size}-${theme}`]}"></div>`)
                    .join(''));
            await writeFile(join(folder, `${kind}-${size}-${theme}-${i / perSheet + 1}.png`),
                await sheet.screenshot({ fullPage: true }));
        }
    }
await context.close();
await browser.close();
