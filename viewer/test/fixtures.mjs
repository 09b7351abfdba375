// Plausible reports of every kind of scene, for the tests and for looking at the page. The
// motions are integrated here by simple means: right enough to look right.
//
//     node test/fixtures.mjs DIR      writes one page each
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fill } from './encode.mjs';
import { hostile, single, empty, broken, plotsOnly, both, shapes, circle, torus,
    study } from './fixtures/odd.mjs';
import { sleigh, rollers, rods, bicycle, lie, suslov } from './fixtures/planar.mjs';
import { ellipsoid, disk, wanderer, bowl, cylinder, trough,
    turntable } from './fixtures/rolling.mjs';

const here = dirname(fileURLToPath(import.meta.url));

export const fixtures = {
    ellipsoid, 'ellipsoid-mesh': () => ellipsoid(4, 801, 'mesh'), disk, wanderer, bowl,
    cylinder, trough, turntable, sleigh, rollers, rods, bicycle, lie, suslov, both, shapes,
    circle, torus,
    hostile, single, empty, broken, 'plots-only': plotsOnly, study,
};

/** Write pages of all fixtures (or the named ones) to a folder; returns name -> path. */
export async function writePages(folder, names = Object.keys(fixtures)) {
    const template = await readFile(join(here, '../dist/template.html'), 'utf8');
    await mkdir(folder, { recursive: true });
    const pages = {};
    for (const name of names) {
        pages[name] = join(folder, `${name}.html`);
        await writeFile(pages[name], fill(template, fixtures[name]()));
    }
    return pages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    if (process.argv[2]?.startsWith('-')) {
        console.error('usage: node test/fixtures.mjs [DIR]');
        process.exit(2);
    }
    await writePages(process.argv[2] ?? join(here, '../dist/fixtures'));
}
