// The library as a WebAssembly module: what it imports, and texts and arrays across the border.
//
//     const noslip = await Module.start(bytes);
//     const model = noslip.call('ns_model_open_text', 'model', text, 0, 0, 0);
//
// Strings among the arguments are copied into the module for the time of the call. A module
// that ran out of memory traps: `broken` is set, and a new one has to be started.

const OK = 0, BADF = 8, NOSYS = 52;

// ---- fused multiply-adds -------------------------------------------------------------------
// The module uses f64x2.relaxed_madd, which is one fused instruction on every current machine;
// but the standard lets it round twice, and some browsers do not have it. Then each of these
// instructions, three bytes, is replaced by a call, three bytes too, of the exact function that
// the module exports for it. The bits of all results are the same.
const MADD = [0xfd, 0x87, 0x02];

/** (module (func (export "f") (result i32)  (1+e)(1-e) - 1 is not 0, with e = 2^-30) */
const PROBE = (() => {
    const f64 = (v) => [...new Uint8Array(new Float64Array([v, v]).buffer)];
    const constant = (v) => [0xfd, 0x0c, ...f64(v)];
    const body = [0, ...constant(1 + 2 ** -30), ...constant(1 - 2 ** -30), ...constant(-1),
        ...MADD, 0xfd, 0x21, 0, 0x44, ...f64(0).slice(0, 8), 0x62, 0x0b];
    return new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7f,
        3, 2, 1, 0, 7, 5, 1, 1, 0x66, 0, 0, 10, body.length + 2, 1, body.length, ...body]);
})();

/** Is relaxed_madd there, and fused? */
export function fuses() {
    try {
        return WebAssembly.validate(PROBE) &&
            new WebAssembly.Instance(new WebAssembly.Module(PROBE)).exports.f() === 1;
    } catch {
        return false;
    }
}

/** Places of the instruction in the code section, and the number of the function instead. */
function* madds(bytes) {
    let at = 8;
    const leb = () => {
        for (let value = 0, shift = 0; ; shift += 7) {
            const byte = bytes[at++];
            value |= (byte & 127) << shift;
            if (byte < 128) return value;
        }
    };
    const text = () => {
        const n = leb();
        at += n;
        return String.fromCharCode(...bytes.subarray(at - n, at));
    };
    let instead = -1;
    while (at < bytes.length) {
        const id = bytes[at++];
        const end = leb() + at;
        if (id === 7)
            for (let n = leb(); n > 0; n--) {
                const name = text();
                at++;
                const index = leb();
                if (name === 'ns_wasm_fused') instead = index;
            }
        if (id === 10)
            for (let i = at; i + 2 < end; i++)
                if (MADD.every((byte, k) => bytes[i + k] === byte))
                    yield { i, instead };
        at = end;
    }
}

/** The module for machines on which relaxed_madd is not fused. */
export function withoutRelaxed(bytes) {
    const out = bytes.slice();
    for (const { i, instead } of madds(bytes)) {
        if (instead < 0 || instead >= 1 << 14) throw new Error('no ns_wasm_fused to call');
        out.set([0x10, (instead & 127) | 128, instead >> 7], i);
    }
    return out;
}

/** How many there are, for the build to compare with a disassembler's count. */
export const countRelaxed = (bytes) => [...madds(bytes)].length;

export async function compile(bytes) {
    return WebAssembly.compile(fuses() ? bytes : withoutRelaxed(bytes));
}

export class Module {
    static async start(source) {
        const self = new Module();
        const module = source instanceof WebAssembly.Module ? source : await compile(source);
        const instance = await WebAssembly.instantiate(module, self.imports());
        self.exports = instance.exports;
        self.exports._initialize?.();
        return self;
    }

    constructor() {
        this.broken = false;
        this.progress = null; // called with (fraction, at) while it works; true: stop
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
            noslip: { progress: (fraction, at) => (this.progress?.(fraction, at) ? 1 : 0) },
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
