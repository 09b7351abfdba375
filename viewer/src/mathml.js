// MathML from the data, rebuilt node by node from a list of what is allowed. The text is read
// by the few rules below and never by the browser's own parser.
import { byId } from './dom.js';

const elements = new Set(['math', 'mrow', 'mi', 'mn', 'mo', 'mtext', 'ms', 'mspace', 'mfrac',
    'msqrt', 'mroot', 'msub', 'msup',
    'msubsup', 'munder', 'mover', 'munderover', 'mmultiscripts', 'mprescripts', 'none',
    'mtable', 'mtr', 'mtd', 'mstyle',
    'mpadded', 'mphantom', 'merror']);
const attributes = new Set(['display', 'displaystyle', 'mathvariant', 'stretchy', 'fence',
    'separator', 'lspace', 'rspace',
    'accent', 'accentunder', 'columnalign', 'rowspacing', 'columnspacing', 'scriptlevel',
    'linethickness', 'width', 'height',
    'depth', 'largeop', 'movablelimits', 'symmetric', 'minsize', 'maxsize', 'form']);
const entities = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: '\u00a0' };

function unescape(text) {
    return text.replace(/&(#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-z]+);/g, (whole, name) => {
        if (name[0] !== '#') return entities[name] ?? whole;
        const code = name[1] === 'x'
            ? parseInt(name.slice(2), 16)
            : parseInt(name.slice(1), 10);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
}

/** A <math> element; null if the source is not well-formed MathML of allowed elements. */
function parse(source) {
    const space = byId('math').content.firstElementChild.namespaceURI;
    const token = // closing, name, attributes, empty; or text
    /<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
    const stack = [];
    let root = null;
    token.lastIndex = 0;
    while (token.lastIndex < source.length) {
        const found = token.exec(source);
        if (!found) return null;
        const [, closing, name, rest, empty, text] = found;
        const top = stack[stack.length - 1];
        if (text !== undefined) {
            if (top) top.append(unescape(text).replace(/\s+/g, ' '));
            else if (text.trim()) return null;
        } else if (closing) {
            if (!top || top.localName !== name) return null;
            stack.pop();
        } else {
            if (!elements.has(name) || (name === 'math') !== !top || (!top && root) ||
                stack.length > 200)
                return null;
            const node = document.createElementNS(space, name);
            for (const [, a, v1, v2] of rest.matchAll(
                /([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
                const value = v1 ?? v2;
                if (attributes.has(a) && /^[\w\s.%+-]*$/.test(value))
                    node.setAttribute(a, value);
            }
            if (top) top.append(node);
            else root = node;
            if (!empty) stack.push(node);
        }
    }
    return stack.length ? null : root;
}

/** The formula, or its source as text if it cannot be read. */
export function mathElement(source) {
    const math = parse(source.trim());
    if (!math) {
        const code = document.createElement('code');
        code.textContent = source;
        return code;
    }
    if (!math.hasAttribute('display')) math.setAttribute('display', 'block');
    return math;
}
