// docs/gallery.md and its pictures: runs every model, opens its report, photographs the scene
// in mid-motion.
//
//     node gallery.mjs --program build/release/noslip [--review DIR] [NAME...]
//
// With names only these pictures are made; the page always covers all models. --review also
// takes a second picture of each, later and from another side, and leaves the reports there.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { launch, openPage } from './test/browser.mjs';

const { values: options, positionals: chosen } = parseArgs({
    allowPositionals: true, options: { program: { type: 'string' },
        review: { type: 'string' } },
});
if (!options.program) {
    console.error('usage: node gallery.mjs --program PROGRAM [--review DIR] [NAME...]');
    process.exit(2);
}
const top = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const images = join(top, 'docs/images/gallery');
const run = promisify(execFile);

async function modelsIn(folder, prefix = '') {
    const found = [];
    for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (entry.isDirectory())
            found.push(...await modelsIn(join(folder, entry.name), `${prefix}${entry.name}/`));
        else if (entry.name.endsWith('.mech'))
            found.push(prefix + basename(entry.name, '.mech'));
    }
    return found.sort();
}

async function dataOf(file) {
    const html = await readFile(file, 'utf8');
    const open = '<script type="application/json" id="noslip-data">';
    const from = html.indexOf(open) + open.length;
    return JSON.parse(html.slice(from, html.indexOf('</script>', from)));
}

function decode(source) {
    const raw = Buffer.from(source.slice(4), 'base64');
    return new Float64Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
}

/** The picture alone, without buttons and legend; the first plots where there is none. */
async function photograph(page, data, fraction, view, path) {
    const time = decode(data.time);
    const at = time[0] + fraction * (time[time.length - 1] - time[0]);
    const pictured = (data.scene && data.scene.kind !== 'none') || data.sphere;
    await page.evaluate(([u, v]) => {
        document.querySelector('.big-play')?.setAttribute('hidden', '');
        if (v) window.noslip.setView(v);
        window.noslip.setTime(u);
    }, [at, view]);
    if (pictured) {
        await page.evaluate(() => {
            const stage = document.querySelector('#scene');
            for (const e of stage.querySelectorAll('*')) {
                if (!e.querySelector('canvas') && e.tagName !== 'CANVAS' &&
                    !e.closest('svg#triad'))
                    e.style.visibility = 'hidden';
            }
        });
        await page.waitForTimeout(150);
        await page.locator('#scene').screenshot({ path, type: 'jpeg', quality: 86 });
    } else {
        await page.waitForTimeout(150);
        const { x, y, width } = await page.locator('#plots').boundingBox();
        await page.evaluate(() => document.querySelector('#transport')
            .style.setProperty('visibility', 'hidden'));
        await page.screenshot({ path, type: 'jpeg', quality: 86, fullPage: true,
            clip: { x, y, width, height: 428 } });
    }
}

/** What the head of a model says: paragraphs, as text. */
function headOf(text) {
    const lines = [];
    for (const line of text.split('\n')) {
        if (!line.startsWith('#')) break;
        lines.push(line.replace(/^#+ ?/, ''));
    }
    return lines;
}

/** The part of the head that begins with a word: "Source:", "Known:". */
function part(lines, word) {
    const from = lines.findIndex((l) => l.startsWith(`${word}:`));
    if (from < 0) return null;
    const out = [lines[from].slice(word.length + 1).trim()];
    for (let i = from + 1; i < lines.length && /^\s+\S/.test(lines[i]); i++)
        out.push(lines[i].trim());
    return out.join(' ');
}

const plain = (text) => text.replace(/[\\`*_{}[\]<>#|]/g, (c) => `\\${c}`);

const models = await modelsIn(join(top, 'models'));
const work = options.review
    ? resolve(options.review)
    : await mkdtemp(join(tmpdir(), 'noslip-gallery-'));
await mkdir(images, { recursive: true });
await mkdir(work, { recursive: true });
const browser = await launch();
const entries = [];
let failed = false;
for (const name of models) {
    const stem = name.replaceAll('/', '-');
    const report = join(work, `${stem}.html`);
    try {
        await run(resolve(top, options.program),
            ['run', join(top, 'models', `${name}.mech`), '--quiet', '--report', report])
            .catch((e) => { if (e.code !== 1) throw e; });
        const data = await dataOf(report);
        entries.push({ name, stem, data });
        if (chosen.length && !chosen.includes(name)) continue;
        const { page, context } = await openPage(browser, report,
            { hash: '#quality=high&theme=light', viewport: { width: 640, height: 690 } });
        await photograph(page, data, 0.4, null, join(images, `${stem}.jpg`));
        if (options.review) {
            await photograph(page, data, 0.4, null, join(work, `${stem}-a.jpg`));
            await page.evaluate(() => ['side',
                'solid'].forEach((v) => window.noslip.setView(v)));
            await photograph(page, data, 0.85, null, join(work, `${stem}-b.jpg`));
        }
        await context.close();
        console.log(name);
    } catch (e) {
        failed = true;
        console.log(`FAIL ${name}: ${e.stderr || e.message}`);
    }
}
// the whole page, for README
const shown = entries.find((e) => e.name === 'rattleback');
if (shown && (!chosen.length || chosen.includes('rattleback'))) {
    const { page, context } = await openPage(browser, join(work, 'rattleback.html'),
        { hash: '#quality=high&theme=light&t=8', viewport: { width: 1280, height: 800 } });
    await page.evaluate(() => document.querySelector('.big-play')?.setAttribute('hidden', ''));
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(top, 'docs/images/report.jpg'), type: 'jpeg',
        quality: 86 });
    await context.close();
}
await browser.close();
if (!options.review) await rm(work, { recursive: true });

const out = ['# Gallery', '',
    'Every bundled model: what it is, what is known about it, and how to see it move.',
    'Made by `scripts/gallery` from the models and their reports; run it after adding a model.',
    ''];
const groups = new Map();
for (const e of entries)
    groups.set(e.data.formulation, [...(groups.get(e.data.formulation) ?? []), e]);
out.push([...groups.keys()].map((g) => `[${g}](#${g})`).join(' · '), '');
for (const [group, list] of groups) {
    out.push(`## ${group}`, '');
    for (const { name, stem, data } of list) {
        const head = headOf(data.model);
        out.push(`### ${plain(data.title)}`, '',
            `![${plain(data.title)}](images/gallery/${stem}.jpg)`, '');
        if (data.about) out.push(plain(data.about), '');
        for (const word of ['Known', 'Source']) {
            const text = part(head, word);
            if (text) out.push(`*${word}:* ${plain(text)}`, '');
        }
        out.push(`    noslip run ${name} --report ${stem}.html`, '',
            `[${name}.mech](../models/${name}.mech)`, '');
    }
}
await writeFile(join(top, 'docs/gallery.md'), `${out.join('\n').trimEnd()}\n`);
console.log('docs/gallery.md');
process.exit(failed ? 1 : 0);
