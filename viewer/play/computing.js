// Requests to the workers: the newest counts. What is under way may end if it soon will, and is
// shown; otherwise its worker is ended and the other one, which stands ready, goes on.
const patience = 150; // ms that a change waits for what is under way

export class Computing {
    constructor(module, source) {
        this.module = module;
        this.url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
        this.number = 0;
        this.usual = 0; // ms that the last run took
        this.active = this.hire();
        this.next = null;
        this.timer = 0;
    }

    hire() {
        const worker = new Worker(this.url);
        worker.onmessage = ({ data }) => this.heard(worker, data);
        worker.onerror = (e) => {
            e.preventDefault();
            this.heard(worker, { id: worker.job?.id, done: true, broken: true,
                error: e.message || 'the computation failed' });
        };
        worker.postMessage({ module: this.module });
        return worker;
    }

    /** handlers: about, progress, done. Whatever was asked before is superseded. */
    ask(request, handlers) {
        const job = { request: { ...request, id: ++this.number }, handlers };
        clearTimeout(this.timer);
        const { job: present } = this.active;
        if (!present) {
            this.send(job);
            return;
        }
        this.next = job;
        const passed = performance.now() - present.began;
        const rest = this.usual - passed;
        const same = present.request.text === request.text &&
            present.request.kind === request.kind;
        const wait = same && rest > 0 && rest < 600 ? rest + patience : patience;
        this.timer = setTimeout(() => this.replace(), wait);
    }

    /** Ends what is under way, and goes on with what waits, if anything does. */
    replace() {
        clearTimeout(this.timer);
        const { next } = this;
        this.next = null;
        if (this.active.job) {
            this.active.job.handlers.done({ stopped: true });
            this.active.terminate();
            this.active = this.spare ?? this.hire();
            this.spare = null;
        }
        if (next) this.send(next);
    }

    send(job) {
        job.began = performance.now();
        job.id = job.request.id;
        this.active.job = job;
        this.active.postMessage(job.request);
    }

    heard(worker, data) {
        if (data.ready) {
            worker.ready = true;
            return;
        }
        const { job } = worker;
        if (worker !== this.active || !job || data.id !== job.id) return;
        if (data.about) job.handlers.about?.(data.about);
        if (data.progress !== undefined) job.handlers.progress?.(data.progress);
        if (!data.done) return;
        worker.job = null;
        if (job.request.kind === 'run') this.usual = performance.now() - job.began;
        if (data.broken) {
            worker.terminate();
            this.active = this.spare ?? this.hire();
            this.spare = null;
        }
        const { next } = this;
        this.next = null;
        clearTimeout(this.timer);
        if (next) this.send(next);
        job.handlers.done(data);
        clearTimeout(this.hiring); // not while the first motion is awaited
        this.hiring = setTimeout(() => { this.spare ??= this.hire(); }, 400);
    }
}
