// Building the document. Text from the data reaches the page only through text nodes and
// attributes set here; nothing is ever parsed as HTML.

/** An element: el('div', {class: 'x', on: {click: f}}, 'text', child, ...). */
export function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (name === 'on') {
            for (const [type, f] of Object.entries(value)) node.addEventListener(type, f);
        } else if (name === 'style') {
            for (const [key, v] of Object.entries(value)) node.style.setProperty(key, v);
        } else {
            node.setAttribute(name, value === true ? '' : String(value));
        }
    }
    append(node, children);
    return node;
}

function append(node, children) {
    for (const child of children) {
        if (child === null || child === undefined || child === false) continue;
        if (Array.isArray(child)) append(node, child);
        else node.append(child instanceof Node ? child : String(child));
    }
}

/** Text with `code` in it. */
export function worded(text) {
    return String(text).split(/`([^`\n]+)`/).map((part, i) =>
        i % 2 ? el('code', {}, part) : part);
}

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** A copy of an icon of the page's <template id="icons">. */
export function icon(name) {
    const found = byId('icons').content.querySelector(`[data-icon="${name}"]`);
    const copy = found.cloneNode(true);
    copy.setAttribute('aria-hidden', 'true');
    return copy;
}

export function button(label, { iconName, title, on, pressed, cls, text } = {}) {
    const node = el('button', {
        type: 'button', class: cls, 'aria-label': label, title: title ?? label,
        'aria-pressed': pressed === undefined ? undefined : String(pressed),
        on: on ? { click: on } : undefined,
    });
    if (iconName) node.append(icon(iconName));
    if (text) node.append(el('span', {}, text));
    return node;
}

/** Was the node made of the same before? Then it need not be made again, nor painted. */
export function unchanged(node, ...of) {
    const key = JSON.stringify(of);
    if (node.madeOf === key) return true;
    node.madeOf = key;
    return false;
}

/** Give the user a file. */
export function download(name, blob) {
    const url = URL.createObjectURL(blob);
    const a = el('a', { href: url, download: name });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A file name made of a title. */
export function fileName(text, ending) {
    const stem = String(text).normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '');
    return (stem.slice(0, 60).toLowerCase() || 'noslip') + ending;
}

/** Comma-separated values: columns [{name, unit, data}], all of one length. */
export function csv(columns) {
    const quote = (s) => /[",\r\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
    const lines = [columns.map((c) => quote(c.unit ? `${c.name} [${c.unit}]` : c.name))
        .join(',')];
    const n = columns.length ? columns[0].data.length : 0;
    for (let i = 0; i < n; i++) {
        lines.push(columns.map((c) => {
            const v = c.data[i];
            if (!Number.isFinite(v)) return '';
            return c.data instanceof Float32Array
                ? String(Number(v.toPrecision(8)))
                : String(v);
        }).join(','));
    }
    return new Blob([lines.join('\n') + '\n'], { type: 'text/csv' });
}

/** Colour of the style sheet, for canvases. */
export function css(name) {
    let value = colours.get(name);
    if (value === undefined) {
        value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        colours.set(name, value);
    }
    return value;
}

// asking the page each time makes it work out its styles again
const colours = new Map();
document.addEventListener('noslip-theme', () => colours.clear());
