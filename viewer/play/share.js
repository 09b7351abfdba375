// A model with its settings in the address, or in the file itself.
const mark = '# playground: ';

const pack = async (bytes) => new Uint8Array(await new Response(new Blob([bytes]).stream()
    .pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer());

/** What is needed to see the same again: {name, text, numbers, until, tolerance}. */
export async function toFragment(state) {
    const bytes = new TextEncoder().encode(JSON.stringify(state));
    const packed = await pack(bytes);
    let binary = '';
    for (const b of packed) binary += String.fromCharCode(b);
    return 'm=' + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

const most = 4e6; // characters of a model that comes with an address
const mostUnpacked = 3e7; // a thousand times more may be packed into them

/** The bytes of a packed text, as far as anybody writes models; more is refused. */
async function unpack(bytes) {
    const reader = new Blob([bytes]).stream()
        .pipeThrough(new DecompressionStream('deflate-raw')).getReader();
    const parts = [];
    let length = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        length += value.length;
        if (length > mostUnpacked) {
            await reader.cancel();
            throw new Error('the model of this address is too large');
        }
        parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

export async function fromFragment(hash) {
    const found = new URLSearchParams(hash).get('m');
    if (!found || found.length > most) return null;
    const binary = atob(found.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = await unpack(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
}

/** The model as a file that the program reads too: settings are a comment at its end. */
export function toFile({ text, ...settings }) {
    return `${text.replace(/\n*$/, '\n')}${mark}${JSON.stringify(settings)}\n`;
}

export function fromFile(name, content) {
    const at = content.lastIndexOf(mark);
    const own = { name: name.replace(/\.mech$/, ''), text: content };
    if (at < 0) return own;
    try {
        const settings = JSON.parse(content.slice(at + mark.length).split('\n')[0]);
        return checked({ ...own, ...settings, text: content.slice(0, at) });
    } catch {
        return own;
    }
}

/** Whatever somebody sends: only texts and finite numbers come through. */
function checked(raw) {
    const number = (v) => Number.isFinite(v) && v > 0 ? v : null;
    const numbers = {};
    if (raw?.numbers && typeof raw.numbers === 'object')
        for (const [name, v] of Object.entries(raw.numbers))
            if (Number.isFinite(v)) numbers[name] = v;
    return {
        name: typeof raw?.name === 'string' ? raw.name.slice(0, 100) : 'model',
        text: typeof raw?.text === 'string' ? raw.text : null,
        numbers, until: number(raw?.until), tolerance: number(raw?.tolerance),
    };
}
