// The page: reads its data, and shows it.
import { byId, el } from './dom.js';
import { normalise, readPage } from './data.js';
import { readOptions, Report } from './report.js';
import { themeButton } from './theme.js';

function fail(message) {
    byId('title').textContent = 'noslip';
    byId('alerts').replaceChildren(el('p', { class: 'alert bad', role: 'alert' }, message));
    for (const id of ['scene', 'plots', 'figures', 'facts', 'transport'])
        byId(id).hidden = true;
    window.noslip = { ready: true, error: message };
}

function start() {
    const options = readOptions();
    themeButton(byId('theme'), options.theme);
    let raw;
    try {
        raw = readPage();
    } catch (e) {
        fail(`The data of this page cannot be read: ${e.message}`);
        return;
    }
    if (raw.missing) {
        fail('This is the empty template of a report. "noslip run MODEL --report FILE.html" ' +
            'fills it.');
        return;
    }
    if (raw.format !== 1) {
        fail(`This page reads format 1, the data has format ${String(raw.format)}.`);
        return;
    }
    const report = new Report(normalise(raw), options);
    window.noslip = { ready: false, ...report.handles() };
    requestAnimationFrame(() => {
        window.noslip.ready = true;
        window.noslip.readyAt = performance.now();
    });
}

start();
