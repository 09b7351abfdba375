// Makes dist/template.html: the whole page in one file, with a place for the data.
//
//     npm install && npm run build
//
// Scripts and styles are allowed by their hashes, so that nothing else in the file can run.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const placeholder = '/*NOSLIP_DATA*/';

async function bundle(file) {
    const result = await build({
        entryPoints: [join(here, file)], bundle: true, minify: true, write: false,
        format: 'iife', charset: 'utf8',
        target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'], legalComments: 'none',
        logLevel: 'warning',
    });
    return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

export async function makeTemplate() {
    let [script, style] = await Promise.all([bundle('src/main.js'), bundle('src/style.css')]);
    // three names the XHTML namespace by its address; the document knows it, and the page then
    // holds no address at all
    script = script.replace(/(["'`])http:\/\/www\.w3\.org\/1999\/xhtml\1/g,
        'document.documentElement.namespaceURI');
    const licenses = [];
    for (const name of ['three', 'uplot']) {
        const { version } = JSON.parse(
            await readFile(join(here, 'node_modules', name, 'package.json'), 'utf8'));
        const text = await readFile(join(here, 'node_modules', name, 'LICENSE'), 'utf8');
        licenses.push(`This page contains ${name} ${version}:\n\n${text.trim()}\n`);
    }
    const csp = [
        "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`,
        'img-src data: blob:', 'media-src blob:',
        "base-uri 'none'", "form-action 'none'",
    ].join('; ');
    let html = await readFile(join(here, 'src/index.html'), 'utf8');
    const fill = (name, text) => { html = html.replace(`{{${name}}}`, () => text); };
    fill('csp', csp);
    fill('licenses', licenses.join('\n').replace(/--+/g, '-'));
    fill('style', style);
    fill('script', script);
    const wrong = [];
    if (html.split(placeholder).length !== 2)
        wrong.push('the placeholder must be there exactly once');
    if (/<\/script/i.test(script)) wrong.push('the script contains its own end');
    const addresses = html.match(/\b(?:https?|wss?):\/\/[^\s"'`)]+/g);
    if (addresses) wrong.push(`addresses in the page: ${[...new Set(addresses)].join(' ')}`);
    if (wrong.length) throw new Error(wrong.join('; '));
    return html;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const html = await makeTemplate();
    await mkdir(join(here, 'dist'), { recursive: true });
    await writeFile(join(here, 'dist/template.html'), html);
    console.log(`dist/template.html: ${(Buffer.byteLength(html) / 1000).toFixed(0)} kB`);
}
