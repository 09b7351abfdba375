// The library as a WebAssembly module: what it imports, and texts and arrays across the border.
//
//     const noslip = await Module.start(bytes);
//     const model = noslip.call('ns_model_open_text', 'model', text, 0, 0, 0);
//
// Strings among the arguments are copied into the module for the time of the call. A module
// that ran out of memory traps: `broken` is set, and a new one has to be started.

const OK = 0, BADF = 8, NOSYS = 52;

export class Module {
    static async start(source) {
        const self = new Module();
        const { instance } = source instanceof WebAssembly.Module
            ? { instance: await WebAssembly.instantiate(source, self.imports()) }
            : await WebAssembly.instantiate(source, self.imports());
        self.exports = instance.exports;
        self.exports._initialize?.();
        return self;
    }

    constructor() {
        this.broken = false;
        this.encoder = new TextEncoder();
        this.decoder = new TextDecoder();
    }

    // WASI as far as the library needs it: a clock, no files, no environment.
    imports() {
        const data = () => new DataView(this.exports.memory.buffer);
        const zero = (...places) => {
            places.forEach((at) => data().setUint32(at, 0, true));
            return OK;
        };
        const known = {
            clock_time_get: (_id, _precision, at) => {
                data().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
                return OK;
            },
            environ_sizes_get: (count, size) => zero(count, size),
            environ_get: () => OK,
            args_sizes_get: (count, size) => zero(count, size),
            args_get: () => OK,
            fd_write: (_fd, vectors, n, written) => {
                let length = 0;
                for (let i = 0; i < n; i++)
                    length += data().getUint32(vectors + 8 * i + 4, true);
                data().setUint32(written, length, true);
                return OK;
            },
            proc_exit: (status) => {
                throw new Error(`the module ended with status ${status}`);
            },
        };
        const answer = (name) => (known[name] ? known[name]
            : name.startsWith('fd_') ? () => BADF : () => NOSYS);
        return {
            wasi_snapshot_preview1: new Proxy({}, { get: (_target, name) => answer(name) }),
        };
    }

    text(at) {
        if (!at) return '';
        const bytes = new Uint8Array(this.exports.memory.buffer);
        return this.decoder.decode(bytes.slice(at, bytes.indexOf(0, at)));
    }

    // A view that is good until the next call: the memory may grow.
    numbers(at, n) {
        return at ? new Float64Array(this.exports.memory.buffer, at, n) : new Float64Array(0);
    }

    put(text) {
        const bytes = this.encoder.encode(text);
        const at = this.exports.malloc(bytes.length + 1);
        if (!at) throw new Error('out of memory');
        const memory = new Uint8Array(this.exports.memory.buffer, at, bytes.length + 1);
        memory.set(bytes);
        memory[bytes.length] = 0;
        return at;
    }

    // An array of C strings, to be freed by `drop`.
    putTexts(texts) {
        const at = this.exports.malloc(4 * texts.length + 4);
        const items = texts.map((text) => this.put(text));
        const memory = new Uint32Array(this.exports.memory.buffer, at, texts.length + 1);
        memory.set(items);
        memory[texts.length] = 0;
        return { at, items };
    }

    drop({ at, items }) {
        items.forEach((item) => this.exports.free(item));
        this.exports.free(at);
    }

    call(name, ...args) {
        if (this.broken) throw new Error('the module ran out of memory; start another one');
        const texts = [];
        const passed = args.map((arg) => {
            if (typeof arg !== 'string') return arg;
            texts.push(this.put(arg));
            return texts[texts.length - 1];
        });
        try {
            return this.exports[name](...passed);
        } catch (error) {
            this.broken = error instanceof WebAssembly.RuntimeError;
            throw error;
        } finally {
            if (!this.broken) texts.forEach((at) => this.exports.free(at));
        }
    }

    // Text that the library allocated for the caller.
    take(at) {
        const text = this.text(at);
        if (at) this.exports.ns_free(at);
        return text;
    }
}
