// The playground: edit a model, move a slider, see the motion change. Also the live report, a
// page that brings its model and motion along.
import { button, byId, download, el } from '../src/dom.js';
import { bytesOf, normalise, readPage } from '../src/data.js';
import { number } from '../src/numbers.js';
import { readOptions, Report } from '../src/report.js';
import { isDark, themeButton } from '../src/theme.js';
import { Computing } from './computing.js';
import { compile } from '../engine/module.mjs';
import { Editor } from './editor.js';
import { Gallery } from './gallery.js';
import { fromFile, fromFragment, toFile, toFragment } from './share.js';
import { declaredRanges, Sliders } from './sliders.js';
import { Studies } from './studies.js';

const first = 'rattleback';
// while a slider moves: less exact than anybody sees, if the run takes long (ms)
const drafts = [[300, 1e-6], [30, 1e-8]];

class Playground {
    constructor(computing, nonce) {
        this.computing = computing;
        this.coming = null;
        this.name = first;
        this.report = null;
        this.about = null;
        this.models = [];
        this.shown = 0; // motions shown so far
        this.layout();
        this.parameters = new Sliders(this.parameterRows, (n, done) => this.moved(done));
        this.starts = new Sliders(this.startRows, (n, done) => this.moved(done));
        this.studies = new Studies(this.studyHost, (study, options, done) => this.compute(
            { kind: 'study', study, options }, done), (numbers) => this.begin(numbers));
        let waiting = 0;
        this.editor = new Editor(this.editorHost, '', nonce, () => {
            clearTimeout(waiting);
            waiting = setTimeout(() => this.run({ edited: true }), 250);
        });
    }

    // ---- the page ---------------------------------------------------------------------------

    layout() {
        document.body.classList.add('play');
        const main = document.querySelector('main');
        this.editorHost = el('div', { class: 'editor' });
        this.messages = el('ul', { class: 'messages', 'aria-live': 'polite' });
        this.bar = el('progress', { max: 1, value: 0, hidden: true,
            'aria-label': 'Progress of the computation' });
        this.stop = button('Stop', { text: 'Stop', cls: 'text', title: 'Stop the computation',
            on: () => { this.computing.next = null; this.computing.replace(); } });
        this.stop.hidden = true;
        this.state = el('span', { class: 'state', role: 'status' });
        this.pinButton = button('Pin', { text: 'Pin', pressed: false,
            title: 'Keep this motion behind the next ones', on: () => this.pin() });
        this.resetButton = button('Reset', { text: 'Reset', on: () => this.reset(),
            title: 'All numbers as the model says' });
        this.until = el('input', { type: 'number', min: 0, step: 'any', class: 'number',
            'aria-label': 'Duration' });
        this.tolerance = el('select', { 'aria-label': 'Tolerance' },
            ['', '1e-4', '1e-6', '1e-8', '1e-10', '1e-12', '1e-14'].map((v) =>
                el('option', { value: v }, v || 'as the model says')));
        for (const field of [this.until, this.tolerance])
            field.addEventListener('change', () => this.run());
        this.parameterRows = el('div', { class: 'sliders' });
        this.startRows = el('div', { class: 'sliders' });
        this.startFold = el('details', { class: 'starts' },
            el('summary', {}, 'Start values'), this.startRows);
        this.studyHost = el('section', { id: 'studies', 'aria-label': 'Studies' });
        const text = el('section', { id: 'text', 'aria-label': 'Model' }, this.editorHost,
            this.messages);
        this.controls = el('section', { id: 'controls', 'aria-label': 'Numbers' },
            el('div', { class: 'control-bar' }, el('h2', {}, 'Numbers'),
                el('label', {}, 'until', this.until, 's'),
                el('label', {}, 'tolerance', this.tolerance), this.pinButton, this.resetButton,
                el('span', { class: 'working' }, this.bar, this.stop, this.state)),
            this.parameterRows, this.startFold);
        const seen = el('div', { class: 'seen' }, byId('scene'), byId('transport'));
        main.replaceChildren(text, seen, this.controls, byId('plots'), this.studyHost,
            byId('figures'), byId('facts'));
        byId('plots').tabIndex = -1;
        this.buildMenu();
    }

    buildMenu() {
        const dialog = el('dialog', { class: 'gallery', 'aria-label': 'Gallery' });
        const file = el('input', { type: 'file', accept: '.mech,text/plain', hidden: true });
        file.addEventListener('change', async () => {
            if (file.files[0])
                this.show(fromFile(file.files[0].name, await file.files[0].text()));
            file.value = '';
        });
        this.galleryButton = button('Gallery', { text: 'Gallery', disabled: true,
            on: () => this.openGallery() });
        this.shareButton = button('Share', { text: 'Share',
            title: 'An address that holds model and numbers', on: () => this.share() });
        const menu = el('nav', { class: 'menu', 'aria-label': 'Model' }, this.galleryButton,
            button('Open a file', { text: 'Open', on: () => file.click() }),
            button('Save as a file', { text: 'Save', on: () => download(`${this.name}.mech`,
                new Blob([toFile(this.settings())], { type: 'text/plain' })) }),
            this.shareButton,
            button('Text', { text: 'Text', pressed: true, title: 'Show or hide the text',
                on: (e) => this.showText(e.currentTarget.getAttribute('aria-pressed') !==
                    'true') }));
        this.textButton = menu.lastChild;
        byId('theme').before(menu);
        document.body.append(dialog, file);
        this.dialog = dialog;
    }

    showText(on) {
        this.textButton.setAttribute('aria-pressed', String(on));
        document.body.classList.toggle('no-text', !on);
    }

    // ---- models -----------------------------------------------------------------------------

    loadGallery(then) {
        this.computing.ask({ kind: 'gallery' }, { done: ({ list }) => {
            if (!list) return;
            this.models = list;
            this.galleryButton.disabled = false;
            then();
        } });
    }

    openGallery() {
        this.gallery ??= new Gallery(this.dialog, this.models,
            JSON.parse(byId('noslip-pictures').textContent || '{}'), (m) => this.show(m));
        this.gallery.open();
    }

    /** The text that counts: of the editor, or what it is about to show. */
    get text() {
        return this.coming ?? this.editor.text;
    }

    settings() {
        const numbers = { ...this.parameters.numbers, ...this.starts.numbers };
        const own = this.until.value !== '' && Number(this.until.value) !== this.about?.until;
        return { name: this.name, text: this.text, numbers,
            until: own ? Number(this.until.value) : null,
            tolerance: Number(this.tolerance.value) || null };
    }

    /** A model, with settings or as it is. */
    show({ name, text, numbers = {}, until = null, tolerance = null }) {
        this.name = name;
        this.coming = text;
        this.about = null;
        this.parameters.make = this.starts.make = '';
        this.parameters.numbers = { ...numbers };
        this.starts.numbers = { ...numbers };
        this.until.value = until ?? '';
        this.tolerance.value = tolerance ? String(tolerance.toExponential()) : '';
        if (this.pinned) this.pin();
        this.studies.clear();
        this.fresh = true;
        this.run(); // the worker begins while the editor takes the text
        this.coming = null;
        this.editor.text = text;
    }

    // ---- runs -------------------------------------------------------------------------------

    moved(done) {
        const draft = done ? 0 : drafts.find(([ms]) => this.whole > ms)?.[1] ?? 0;
        if (done && !this.drafted && this.lastNumbers === this.numbersNow()) return;
        this.run({ draft });
    }

    /** Everything as the text says. */
    reset() {
        this.parameters.clear();
        this.starts.clear();
        this.until.value = this.tolerance.value = '';
        this.run();
    }

    /** A motion from these states. */
    begin(numbers) {
        this.starts.take(numbers);
        this.run();
    }

    numbersNow() {
        return JSON.stringify([this.parameters.numbers, this.starts.numbers]);
    }

    /** draft: a tolerance to begin with; 0: as it should be. */
    run({ draft = 0, edited = false } = {}) {
        const { numbers, until, tolerance } = this.settings();
        this.drafted = draft;
        this.lastNumbers = this.numbersNow();
        const began = performance.now();
        this.compute({ kind: 'run', until, edited,
            tolerance: draft ? Math.max(tolerance ?? 0, draft) : tolerance, numbers },
        (answer) => {
            if (!draft && answer.seconds)
                this.whole = 1000 * (answer.seconds - answer.derived);
            this.arrived(answer, began);
        });
    }

    compute(request, done) {
        this.busy(true);
        this.computing.ask({ numbers: this.settings().numbers, ...request, name: this.name,
            text: this.text }, {
            about: (about) => this.learned(about),
            progress: (fraction) => this.progress(fraction),
            done: (answer) => {
                if (!this.computing.active.job) this.busy(false);
                done(answer);
            },
        });
    }

    busy(on) {
        clearTimeout(this.showing);
        if (on) {
            this.showing = setTimeout(() => {
                this.bar.hidden = this.stop.hidden = false;
                this.bar.removeAttribute('value');
                this.state.textContent = 'computing…';
            }, 300);
        } else {
            this.bar.hidden = this.stop.hidden = true;
        }
    }

    progress(fraction) {
        if (Number.isFinite(fraction)) this.bar.value = fraction;
    }

    /** The model was read: its messages, names, parameters and start. */
    learned(about) {
        this.editor.mark(about.messages);
        this.messages.replaceChildren(...about.messages.slice(0, 30).map((m) =>
            el('li', { class: m.severity }, el('button', { type: 'button', class: 'link',
                on: { click: () => m.line && this.editor.go(m) } },
            m.line ? `${m.line}:${m.column}` : m.severity), ' ', m.text)));
        if (!about.ok) {
            this.state.textContent = 'The model has mistakes; the last good motion is shown.';
            return;
        }
        this.about = about;
        this.editor.names = [...about.parameters.map((p) => ({ ...p, what: 'parameter' })),
            ...about.values.map((v) => ({ ...v, what: v.kind }))];
        const ranges = declaredRanges(this.editor.text);
        this.parameters.load(about.parameters.filter((p) => p.role === 'given'), ranges);
        const moving = about.states.filter((s) => s.kind !== 'quaternion');
        this.starts.load(moving, ranges, about.states);
        this.startFold.hidden = !moving.length;
        if (!this.parameterRows.children.length) this.startFold.open = true;
        this.until.placeholder = about.until === null ? '' : String(about.until);
        this.studies.load(about.values, about.states);
    }

    arrived({ result, error, stopped, failed, seconds, memory }, began) {
        if (stopped) {
            this.state.textContent = 'stopped';
            return;
        }
        if (failed) return;
        if (!result?.ok) {
            this.state.textContent = error || result?.reason ||
                result?.messages?.map((m) => m.text).join(' ') || 'There is no motion.';
            return;
        }
        if (result.data.equations) this.formulas = result.data.equations;
        else result.data.equations = this.formulas;
        const data = normalise(result.data);
        data.file = this.name;
        data.command = this.command();
        if (!this.report) {
            this.report = new Report(data, this.options);
            Object.assign(window.noslip, this.report.handles());
        } else this.report.load(data, !this.fresh);
        this.fresh = false;
        if (this.until.value === '' || !this.about?.until)
            this.until.placeholder = String(this.about?.until ?? number(data.time[data.n - 1]));
        const early = data.status === 'done' ? '' : ` · stopped early: ${data.reason}`;
        const took = seconds < 1 ? `${Math.round(1000 * seconds)} ms`
            : `${number(seconds, 3)} s`;
        this.state.textContent = `computed in ${took}${early}`;
        this.studies.arrived(data);
        this.shown++;
        this.seconds = seconds; // of the worker
        this.memory = memory;
        this.latency = performance.now() - began;
    }

    /** The motion that a live report brings along. */
    adopt(raw) {
        this.report = new Report(normalise(raw), this.options);
        window.noslip = Object.assign(window.noslip, this.report.handles());
        this.shown++;
    }

    /** What the program would be told. */
    command() {
        const { numbers, until, tolerance } = this.settings();
        return ['noslip run', `${this.name}.mech`,
            ...Object.entries(numbers).map(([n, v]) => n in this.starts.numbers &&
                !(n in this.parameters.numbers) ? `--start ${n}=${v}` : `--set ${n}=${v}`),
            until ? `--until ${until}` : '', tolerance ? `--tol ${tolerance}` : '']
            .filter(Boolean).join(' ');
    }

    pin() {
        this.pinned = !this.pinned;
        this.pinButton.setAttribute('aria-pressed', String(this.pinned));
        this.report?.pin(this.pinned ? this.report.data : null);
    }

    async share() {
        const fragment = await toFragment(this.settings());
        history.replaceState(null, '', `#${fragment}`);
        try {
            await navigator.clipboard.writeText(location.href);
            this.state.textContent = 'The address is in the clipboard.';
        } catch {
            this.state.textContent = 'The address of this page now holds everything.';
        }
    }
}

async function unpackBytes(id) {
    const bytes = bytesOf(byId(id).textContent);
    byId(id).remove();
    return new Response(new Blob([bytes]).stream()
        .pipeThrough(new DecompressionStream('gzip')));
}

/** The numbers of a report's parameters where they are not the model's own. */
function numbersOf(raw) {
    return Object.fromEntries((raw.parameters ?? []).filter((p) => Number.isFinite(p.value))
        .map((p) => [p.name, p.value]));
}

async function start() {
    window.noslip = { ready: false };
    const options = readOptions();
    themeButton(byId('theme'), options.theme);
    byId('title').textContent = 'noslip';
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    const nonce = document.querySelector('meta[name=noslip-nonce]').content;
    const module = await compile(new Uint8Array(
        await (await unpackBytes('noslip-wasm')).arrayBuffer()));
    const computing = new Computing(module, byId('noslip-worker').textContent);
    const page = new Playground(computing, nonce);
    page.options = options;
    let given = null;
    try {
        given = await fromFragment(location.hash.slice(1));
    } catch {
        page.state.textContent = 'The address holds no model that can be read.';
    }
    const raw = readPage();
    page.loadGallery(() => {
        const named = new URLSearchParams(location.hash.slice(1)).get('gallery') ?? first;
        const model = page.models.find((m) => m.name === named) ?? page.models[0];
        if (given?.text) page.show(given);
        else if (!raw.missing && raw.model) {
            page.showText(false);
            page.adopt(raw);
            page.show({ name: (raw.file ?? 'model').replace(/\.mech$/, ''), text: raw.model,
                numbers: numbersOf(raw), until: page.report.data.time.at(-1) ?? null });
        } else page.show(model);
    });
    Object.assign(window.noslip, {
        playground: page,
        state: () => ({ text: page.editor.text, name: page.name, shown: page.shown,
            latency: page.latency, seconds: page.seconds, memory: page.memory,
            busy: Boolean(computing.active.job),
            messages: [...page.messages.children].map((m) => m.textContent),
            numbers: page.settings().numbers, state: page.state.textContent,
            pinned: Boolean(page.report?.pinned) }),
        final: () => Object.fromEntries(page.report.data.final.map((f) =>
            [f.name, f.text || f.value])),
        choose: (name) => page.show(page.models.find((m) => m.name === name)),
    });
    const wait = () => requestAnimationFrame(() => {
        if (!page.shown) return wait();
        window.noslip.ready = true;
        window.noslip.readyAt = performance.now();
    });
    wait();
    document.body.addEventListener('dragover', (e) => e.preventDefault());
    document.body.addEventListener('drop', async (e) => {
        const file = e.dataTransfer?.files?.[0];
        if (!file) return;
        e.preventDefault();
        page.show(fromFile(file.name, await file.text()));
    });
}

start().catch((e) => {
    byId('alerts').replaceChildren(el('p', { class: 'alert bad', role: 'alert' },
        `The playground cannot start: ${e.message}. It needs a browser of 2023 or later.`));
    window.noslip = { ready: true, error: String(e) };
});
