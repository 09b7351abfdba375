// The grammar of the editor against every model of the gallery: no place that it cannot read,
// and every statement of the program is a keyword of it.
import assert from 'node:assert/strict';
import { build } from 'esbuild';
import { readdirSync, readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { grammars } from '../playground.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const models = join(here, '../../models');
const made = await build({
    stdin: { contents: "export { parser } from './mech.grammar';",
        resolveDir: join(here, '../play') },
    bundle: true, write: false, format: 'esm', plugins: [grammars], platform: 'node',
});
mkdirSync(join(here, '../dist'), { recursive: true });
const out = join(here, '../dist/mech.mjs');
writeFileSync(out, made.outputFiles[0].text);
const { parser } = await import(pathToFileURL(out).href);

function errors(text) {
    const found = [];
    parser.parse(text).iterate({ enter: (n) => {
        if (n.type.isError)
            found.push(`line ${text.slice(0, n.from).split('\n').length}: ` +
                JSON.stringify(text.slice(n.from, n.from + 20)));
    } });
    return found;
}

test('every model of the gallery is read without an error', () => {
    const files = readdirSync(models, { recursive: true }).filter((f) => f.endsWith('.mech'));
    assert.ok(files.length > 90);
    for (const file of files)
        assert.deepEqual(errors(readFileSync(join(models, file), 'utf8')), [], file);
});

test('units follow numbers, lines go on after operators and in brackets', () => {
    const text = 'param a = 6 cm\nlet b = a +\n  (a\n + 2 m/s^2)\ncoordinate x in 1/m\n';
    const names = [];
    parser.parse(text).iterate({ enter: (n) => { names.push(n.name); } });
    assert.equal(names.filter((n) => n === 'Statement').length, 3);
    assert.equal(names.filter((n) => n === 'Unit').length, 3);
    assert.ok(!names.includes('⚠'));
});

test('what is no statement is an error', () => {
    assert.ok(errors('parm a = 1\n').length > 0);
    assert.ok(errors('let a = (1 + 2\n').length > 0);
});
