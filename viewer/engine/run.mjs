// `noslip run` by the WebAssembly module, for tests: the same options, the object of --json.
//
//     node viewer/engine/run.mjs build/wasm/noslip.wasm run MODEL [--method M] ... --json
import { readFile } from 'node:fs/promises';
import { Module } from './module.mjs';

const NUMBERS = { '--until': 'until', '--tol': 'tolerance', '--every': 'every' };
const TEXTS = { '--method': 'method', '--engine': 'engine' };

const [file, command, name, ...rest] = process.argv.slice(2);
const noslip = await Module.start(await readFile(file));
if (command !== 'run') {
    console.error('built without this command');
    process.exit(2);
}
const options = noslip.call('ns_options_new');
for (let i = 0; i < rest.length; i++) {
    const key = rest[i];
    if (key === '--json' || key === '--quiet') continue;
    let status = 0;
    if (NUMBERS[key]) {
        const value = Number(rest[++i]);
        status = noslip.call('ns_options_set_number', options, NUMBERS[key], value);
    } else if (TEXTS[key]) {
        status = noslip.call('ns_options_set_text', options, TEXTS[key], rest[++i]);
    } else status = 2; // --digits and --precision quad need more than doubles
    if (status) {
        console.error(`built without ${key}`);
        process.exit(2);
    }
}
const model = noslip.call('ns_model_open_gallery', name, 0, 0, 0);
if (noslip.call('ns_model_verdict', model)) {
    console.error(noslip.text(noslip.call('ns_model_messages', model)));
    process.exit(2);
}
const result = noslip.call('ns_simulate', model, options);
const verdict = noslip.call('ns_result_verdict', result);
const json = noslip.take(noslip.call('ns_result_bytes', result, 'json', 0));
if (json) process.stdout.write(json);
else console.error(noslip.text(noslip.call('ns_result_reason', result)));
process.exitCode = verdict;
