// Runs the library beside the page. One request at a time; whoever wants to stop it ends the
// worker.
import { Module } from '../engine/module.mjs';
import { Noslip } from '../engine/noslip.mjs';

let engine = null;
let opened = null; // name and text of the open model
let told = false; // the page has its formulas

function buffers(value, found = new Set()) {
    if (ArrayBuffer.isView(value)) found.add(value.buffer);
    else if (value && typeof value === 'object')
        for (const v of Object.values(value)) buffers(v, found);
    return found;
}

function open({ name, text }) {
    if (opened === `${name}\n${text}`) return engine.about();
    opened = null;
    told = false;
    const about = engine.open(name, text);
    if (about.ok) opened = `${name}\n${text}`;
    return about;
}

function answer({ id, kind, ...request }) {
    if (kind === 'gallery') {
        const list = engine.list('gallery').map((name) =>
            ({ name, text: engine.galleryText(name) }));
        postMessage({ id, done: true, list });
        return;
    }
    const began = performance.now();
    const known = opened === `${request.name}\n${request.text}`;
    engine.set({}); // names and numbers of the text itself
    const about = open(request);
    const derived = performance.now() - began;
    if (!known || !about.ok) postMessage({ id, about });
    if (!about.ok) {
        postMessage({ id, done: true, about, failed: true });
        return;
    }
    const result = kind === 'study'
        ? engine.study(request.study, request.options, request.numbers)
        : engine.run({ ...request, brief: told });
    told ||= kind === 'run' && result.ok;
    const seconds = (performance.now() - began) / 1000;
    const memory = engine.module.exports.memory.buffer.byteLength;
    postMessage({ id, done: true, result, derived: derived / 1000, seconds, memory },
        [...buffers(result.data)]);
}

let started = null; // requests may come before the module is there

addEventListener('message', async ({ data }) => {
    if (data.module) {
        started = Module.start(data.module);
        engine = new Noslip(await started);
        postMessage({ ready: true });
        return;
    }
    await started;
    engine.module.progress = (fraction) => {
        postMessage({ id: data.id, progress: fraction });
        return false;
    };
    try {
        answer(data);
    } catch (e) {
        opened = null;
        postMessage({ id: data.id, done: true, broken: true, error: String(e?.message ?? e) });
    }
});
