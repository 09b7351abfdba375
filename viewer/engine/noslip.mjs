// The library for a page: models from text, runs and studies as plain objects.
//
//     const noslip = new Noslip(await Module.start(bytes));
//     const about = noslip.open('top', text);    // {ok, messages, parameters, states, ...}
//     const run = noslip.run({ numbers: { spin: 5 }, until: 10 });   // {ok, data, ...}
//
// One model is open at a time. Numbers set on it make a variant, which is not derived again.

const KINDS = { parameters: 0, states: 1, values: 2, events: 5 };
const ARRAYS = { f32: Float32Array, f64: Float64Array, u16: Uint16Array, u32: Uint32Array };
const WORDS = /^(f32|f64|u16|u32):/;

/** Arrays of a report are base64 text: unpack them here, off the page's own thread. */
export function unpack(value) {
    if (typeof value === 'string') {
        const kind = WORDS.exec(value);
        if (!kind) return value;
        const binary = atob(value.slice(4));
        const bytes = new Uint8Array(binary.length);
        for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
        return new ARRAYS[kind[1]](bytes.buffer);
    }
    if (Array.isArray(value)) return value.map(unpack);
    if (value && typeof value === 'object')
        for (const key of Object.keys(value)) value[key] = unpack(value[key]);
    return value;
}

export class Noslip {
    constructor(module) {
        this.module = module;
        this.base = 0;
        this.model = 0;
        this.numbers = '{}';
        this.slot = module.exports.malloc(64); // for results by pointer
    }

    list(name) {
        const out = [];
        for (let i = 0; ; i++) {
            const at = this.module.call('ns_list', name, i, 0);
            if (!at) return out;
            out.push(this.module.text(at));
        }
    }

    galleryText(name) {
        return this.module.text(this.module.call('ns_gallery_text', name));
    }

    /** Errors and warnings with places; columns count characters from 1. */
    messages(model = this.model) {
        const { module, slot } = this;
        const out = [];
        const n = module.call('ns_model_message_count', model);
        for (let i = 0; i < n; i++) {
            const at = module.call('ns_model_message', model, i, slot, slot + 4, slot + 8,
                slot + 12, slot + 16, slot + 20);
            const [severity, file, line, column, length, hint] =
                new Uint32Array(module.exports.memory.buffer, slot, 6);
            out.push({ text: module.text(at), severity: module.text(severity),
                file: module.text(file), line, column, length, hint: module.text(hint) });
        }
        return out;
    }

    close() {
        if (this.model && this.model !== this.base)
            this.module.call('ns_model_close', this.model);
        if (this.base) this.module.call('ns_model_close', this.base);
        this.base = this.model = 0;
        this.numbers = '{}';
    }

    open(name, text) {
        this.close();
        const { module } = this;
        this.base = this.model = module.call('ns_model_open_text', name, text, 0, 0, 0);
        if (!this.base) throw new Error('out of memory');
        return this.about();
    }

    list_of(kind) {
        const { module, model } = this;
        const k = KINDS[kind];
        const n = module.call('ns_model_count', model, k);
        const say = (f, i) => module.text(module.call(f, model, k, i));
        return Array.from({ length: n }, (_, i) => ({
            name: say('ns_model_name', i), unit: say('ns_model_unit', i),
            value: module.call('ns_model_number', model, k, i),
            kind: say('ns_model_quantity', i), role: say('ns_model_role', i),
        }));
    }

    about() {
        const { module, model } = this;
        const ok = module.call('ns_model_verdict', model) === 0;
        const setting = (name) => {
            const v = module.call('ns_model_setting', model, name);
            return Number.isFinite(v) ? v : null;
        };
        return {
            ok, messages: this.messages(),
            title: module.text(module.call('ns_model_title', model)),
            formulation: ok ? module.text(module.call('ns_model_formulation', model)) : '',
            parameters: ok ? this.list_of('parameters') : [],
            states: ok ? this.list_of('states') : [],
            values: ok ? this.list_of('values') : [],
            until: setting('until'), tolerance: setting('tolerance'),
        };
    }

    /** The open model with other numbers: {name: number}. */
    set(numbers) {
        const wanted = JSON.stringify(numbers);
        if (wanted === this.numbers) return;
        const { module } = this;
        if (this.model !== this.base) module.call('ns_model_close', this.model);
        this.model = this.base;
        this.numbers = '{}';
        const names = Object.keys(numbers);
        if (!names.length) return;
        const texts = module.putTexts(names);
        const values = module.exports.malloc(8 * names.length);
        new Float64Array(module.exports.memory.buffer, values, names.length)
            .set(names.map((n) => numbers[n]));
        this.model = module.call('ns_model_variant_numbers', this.base, texts.at, values,
            names.length);
        module.drop(texts);
        module.exports.free(values);
        if (!this.model) throw new Error('out of memory');
        this.numbers = wanted;
    }

    /** A whole run: {ok, verdict, reason, data (of the report), messages}; `brief`: without
     *  the formulas, which no number changes. */
    run({ numbers = {}, until, tolerance, method, brief = false } = {}) {
        this.set(numbers);
        const { module } = this;
        if (module.call('ns_model_verdict', this.model))
            return { ok: false, reason: '', messages: this.messages() };
        const options = module.call('ns_options_new');
        const say = (name, v) => v > 0 &&
            module.call('ns_options_set_number', options, name, v);
        say('motion', 1);
        say('until', until);
        say('tolerance', tolerance);
        if (method) module.call('ns_options_set_text', options, 'method', method);
        module.call('ns_options_set_progress', options, module.call('ns_wasm_progress'), 0);
        const result = module.call('ns_simulate', this.model, options);
        const verdict = module.call('ns_result_verdict', result);
        const reason = module.text(module.call('ns_result_reason', result));
        const json = module.take(module.call('ns_result_bytes', result,
            brief ? 'motion' : 'report', 0));
        const error = json ? '' : module.text(module.call('ns_result_error', result));
        module.call('ns_result_close', result);
        module.call('ns_options_free', options);
        return {
            ok: Boolean(json), verdict, reason: reason || error, messages: this.messages(),
            data: json ? unpack(JSON.parse(json)) : null,
        };
    }

    /** Another command on the model: {ok, summary, messages, data (of the page)}. */
    study(name, options = [], numbers = {}) {
        this.set(numbers);
        const { module } = this;
        const names = module.putTexts(options.map((o) => o[0]));
        const values = module.putTexts(options.map((o) => String(o[1] ?? '')));
        const study = module.call('ns_study_run', this.model, 0, name, names.at, values.at,
            options.length, module.call('ns_wasm_progress'), 0);
        module.drop(names);
        module.drop(values);
        const verdict = module.call('ns_study_verdict', study);
        const page = module.text(module.call('ns_study_report', study));
        const out = {
            ok: verdict < 2, verdict, data: page ? unpack(JSON.parse(page)) : null,
            summary: module.text(module.call('ns_study_summary', study)),
            messages: module.text(module.call('ns_study_messages', study)),
        };
        module.call('ns_study_close', study);
        return out;
    }
}
