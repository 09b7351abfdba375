// Makes the playground: the report's page with editor, sliders and the library itself, in one
// file.
//
//     node playground.mjs MODULE.wasm OUT.html
//
// Scripts are packed (gzip, base64) and unpacked by a few lines; the content security policy
// names them by the hashes of what they unpack to. Pictures of the gallery are made smaller by
// the browser of the tests, where there is one.
import { buildParserFile } from '@lezer/generator';
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { countRelaxed } from './engine/module.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString('base64');

/** Words that begin statements, from the tables of the program. */
async function keywords() {
    const source = join(here, '../src');
    const text = await readFile(join(source, 'lang/statements.c'), 'utf8');
    const found = new Set([...text.matchAll(/^ {4}\{"([a-z]+)", \w+,/gm)].map((m) => m[1]));
    for (const file of await readdir(join(source, 'mech'), { recursive: true }))
        if (file.endsWith('.c'))
            for (const m of (await readFile(join(source, 'mech', file), 'utf8'))
                .matchAll(/\.keyword = "([a-z]+)"/g)) found.add(m[1]);
    return [...found].map((word) => `"${word}"`).join(' | ');
}

/** Imports of FILE.grammar give the parser, of FILE.terms.js the numbers of its terms. */
export const grammars = {
    name: 'grammars',
    setup(b) {
        const made = async (file) => buildParserFile((await readFile(file, 'utf8'))
            .replace('KEYWORDS', await keywords()),
        { fileName: file, warn: (w) => { throw new Error(w); } });
        b.onLoad({ filter: /\.grammar$/ }, async ({ path }) =>
            ({ contents: (await made(path)).parser, loader: 'js', resolveDir: dirname(path) }));
        b.onResolve({ filter: /\.terms\.js$/ }, ({ path, resolveDir }) =>
            ({ path: join(resolveDir, path), namespace: 'terms' }));
        b.onLoad({ filter: /./, namespace: 'terms' }, async ({ path }) =>
            ({ contents: (await made(path.replace('.terms.js', '.grammar'))).terms,
                loader: 'js' }));
    },
};

async function bundle(file) {
    const result = await build({
        entryPoints: [join(here, file)], bundle: true, minify: true, write: false,
        format: 'iife', charset: 'utf8', plugins: [grammars],
        target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'], legalComments: 'none',
        logLevel: 'warning',
    });
    return result.outputFiles[0].text.trim().replace(
        /(["'`])http:\/\/www\.w3\.org\/1999\/xhtml\1/g, 'document.documentElement.namespaceURI')
        .replace(/(["'`])http:\/\/www\.w3\.org\/2000\/svg\1/g,
            '("ht"+"tp://www.w3.org/2000/svg")');
}

/** Small pictures of docs/images/gallery as data URLs, kept in dist/pictures.json. */
async function pictures() {
    const folder = join(here, '../docs/images/gallery');
    const kept = join(here, 'dist/pictures.json');
    const files = (await readdir(folder)).filter((f) => f.endsWith('.jpg')).sort();
    const newest = Math.max(...await Promise.all(files.map(async (f) =>
        (await stat(join(folder, f))).mtimeMs)));
    try {
        const [about, text] = [await stat(kept), await readFile(kept, 'utf8')];
        if (about.mtimeMs > newest && Object.keys(JSON.parse(text)).length === files.length)
            return text;
    } catch {
        // made for the first time
    }
    let browser;
    try {
        const { launch } = await import('./test/browser.mjs');
        browser = await launch();
    } catch (e) {
        console.error(`playground: no browser, no pictures of the gallery (${e.message
            .split('\n')[0]})`);
        return '{}';
    }
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(folder, files[0])).href);
    const out = {};
    for (const file of files) {
        const source = (await readFile(join(folder, file))).toString('base64');
        out[basename(file, '.jpg')] = await page.evaluate(async (data) => {
            const image = new Image();
            image.src = `data:image/jpeg;base64,${data}`;
            await image.decode();
            const canvas = document.createElement('canvas');
            canvas.width = 224;
            canvas.height = Math.round(224 * image.height / image.width);
            const c = canvas.getContext('2d');
            c.imageSmoothingQuality = 'high';
            c.drawImage(image, 0, 0, canvas.width, canvas.height);
            return canvas.toDataURL('image/webp', 0.55);
        }, source);
    }
    await browser.close();
    await mkdir(dirname(kept), { recursive: true });
    await writeFile(kept, JSON.stringify(out));
    return JSON.stringify(out);
}

async function notices() {
    const out = [];
    const names = ['three', 'uplot', ...['autocomplete', 'commands', 'language', 'lint',
        'search', 'state', 'view'].map((n) => `@codemirror/${n}`), '@lezer/lr',
    '@lezer/common', '@lezer/highlight', 'style-mod', 'w3c-keyname', 'crelt'];
    const seen = new Map();
    for (const name of names) {
        const folder = join(here, 'node_modules', name);
        const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
        const text = (await readFile(join(folder, 'LICENSE'), 'utf8')).trim();
        if (!seen.has(text)) seen.set(text, []);
        seen.get(text).push(`${name} ${version}`);
    }
    for (const [text, of] of seen)
        out.push(`This page contains ${of.join(', ')}:\n\n${text}\n`);
    return out.join('\n').replace(/--+/g, '-');
}

// The graphics system takes longest to start, and a page that asks for it waits: a worker asks
// first, while the page unpacks the rest.
const early = `{const u=URL.createObjectURL(new Blob(["const c=self.OffscreenCanvas&&
new OffscreenCanvas(1,1);c&&c.getContext('webgl2');postMessage(0)"]));const w=new Worker(u);
w.onerror=e=>e.preventDefault();w.onmessage=()=>{w.terminate();URL.revokeObjectURL(u)}}`
    .replace(/\n/g, '');

const loader = `(async()=>{const u=async i=>{const e=document.getElementById(i),
t=atob(e.textContent),b=new Uint8Array(t.length);
for(let k=0;k<t.length;k++)b[k]=t.charCodeAt(k);e.remove();return new Response(
new Blob([b]).stream().pipeThrough(new DecompressionStream('gzip'))).text()};
const [v,m]=await Promise.all([u('noslip-packed-worker'),u('noslip-packed')]);
const w=document.createElement('script');w.type='text/plain';w.id='noslip-worker';
w.textContent=v;document.body.append(w);
const s=document.createElement('script');s.textContent=m;document.body.append(s)})()`;

export async function makePlayground(wasm) {
    const [script, worker, style] = await Promise.all([bundle('play/main.js'),
        bundle('play/worker.js'), bundle('play/style.css')]);
    const nonce = createHash('sha256').update(script).digest('base64').slice(0, 22);
    const csp = [
        "default-src 'none'",
        `script-src ${[script, early, loader].map(hash).join(' ')} 'wasm-unsafe-eval'`,
        `style-src ${hash(style)} 'nonce-${nonce}'`, 'worker-src blob:', 'img-src data: blob:',
        'media-src blob:', "base-uri 'none'", "form-action 'none'",
    ].join('; ');
    let html = await readFile(join(here, 'src/index.html'), 'utf8');
    const fill = (name, text) => { html = html.replace(name, () => text); };
    fill('{{csp}}', csp);
    fill('<title>noslip</title>', '<title>noslip playground</title>\n' +
        `<meta name="noslip-nonce" content="${nonce}">`);
    fill('{{licenses}}', await notices());
    fill('{{style}}', style);
    fill('Drawn with three.js and uPlot (MIT licence;',
        'Drawn with three.js and uPlot, edited with CodeMirror (MIT licence;');
    const part = (id, text) =>
        `<script type="text/plain" id="${id}">${text}</script>\n`;
    fill('<script>{{script}}</script>',
        `<script>${early}</script>\n` + part('noslip-pictures', await pictures()) +
        part('noslip-wasm', packed(wasm)) +
        part('noslip-packed-worker', packed(worker)) + part('noslip-packed', packed(script)) +
        `<script>${loader}</script>`);
    const addresses = html.match(/\b(?:https?|wss?):\/\/[^\s"'`)]+/g);
    if (addresses) throw new Error(`addresses in the page: ${[...new Set(addresses)]}`);
    if (html.split('/*NOSLIP_DATA*/').length !== 2)
        throw new Error('the placeholder must be there exactly once');
    return html;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const [module, out] = process.argv.slice(2);
    const wasm = await readFile(module);
    if (!countRelaxed(wasm)) throw new Error(`${module} has no relaxed multiply-adds`);
    const html = await makePlayground(wasm);
    await mkdir(dirname(out), { recursive: true });
    await writeFile(out, html);
    const kB = (n) => `${(n / 1000).toFixed(0)} kB`;
    console.log(`${out}: ${kB(Buffer.byteLength(html))} ` +
        `(library ${kB(gzipSync(wasm, { level: 9 }).length)} by gzip)`);
}
