// The text of the model: CodeMirror with the language, messages of the program under what they
// are about.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers,
} from '@codemirror/view';
import { mechSupport } from './language.js';

const theme = EditorView.theme({
    '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--card)',
        color: 'var(--text)' },
    '.cm-scroller': { fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, monospace",
        lineHeight: '1.5' },
    '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--muted)', border: 'none' },
    '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--active-line)' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
        backgroundColor: 'var(--selection) !important' },
    '.cm-tooltip': { backgroundColor: 'var(--card)', color: 'var(--text)',
        border: '1px solid var(--line)', borderRadius: '7px' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)',
        color: 'var(--accent-text)' },
    '.cm-diagnostic': { whiteSpace: 'pre-wrap', maxWidth: '60ch' },
    '.cm-panels': { backgroundColor: 'var(--card)', color: 'var(--text)' },
});

export class Editor {
    /** changed(text): after every change by a person. */
    constructor(parent, text, nonce, changed) {
        this.names = [];
        this.quiet = false;
        this.view = new EditorView({
            parent,
            state: EditorState.create({
                doc: text,
                extensions: [
                    nonce ? EditorView.cspNonce.of(nonce) : [],
                    lineNumbers(), foldGutter(), lintGutter(), history(), drawSelection(),
                    bracketMatching(), closeBrackets(), autocompletion(),
                    highlightActiveLine(), highlightSelectionMatches(), theme,
                    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label':
                        'Text of the model. Escape, then Tab leaves it' }),
                    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap,
                        ...searchKeymap, ...historyKeymap, ...foldKeymap, indentWithTab,
                        ...defaultKeymap]),
                    mechSupport(() => this.names),
                    EditorView.updateListener.of((u) => {
                        if (u.docChanged && !this.quiet) changed(this.text);
                    }),
                ],
            }),
        });
    }

    get text() {
        return this.view.state.doc.toString();
    }

    set text(text) {
        this.quiet = true;
        this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length,
            insert: text } });
        // past what the head of the file says, to the first statement
        const at = Math.max(0, this.text.search(/^[^#\s]/m));
        this.view.dispatch({ selection: { anchor: at } });
        // the editor alone: what CodeMirror scrolls into view takes the page with it
        this.view.requestMeasure({ read: (v) => v.lineBlockAt(Math.min(at,
            v.state.doc.length)).top, write: (top, v) => {
            v.scrollDOM.scrollTop = Math.max(0, top - 24);
        } });
        this.quiet = false;
        this.mark([]);
    }

    /** Messages with line, column (characters from 1) and length in bytes. */
    mark(messages) {
        const { state } = this.view;
        const encoder = new TextEncoder();
        const diagnostics = messages.filter((m) => m.line > 0 && m.line <= state.doc.lines)
            .map((m) => {
                const line = state.doc.line(m.line);
                const characters = [...line.text];
                const from = line.from + characters.slice(0, m.column - 1).join('').length;
                let to = from;
                for (let bytes = 0; bytes < m.length && to < state.doc.length;) {
                    const c = String.fromCodePoint(state.doc.sliceString(to, to + 2)
                        .codePointAt(0));
                    bytes += encoder.encode(c).length;
                    to += c.length;
                }
                return { from, to: Math.max(to, Math.min(from + 1, line.to)),
                    severity: m.severity === 'note' ? 'info' : m.severity,
                    message: `${m.text}\n${caret(line.text, m)}` };
            });
        this.view.dispatch(setDiagnostics(state, diagnostics));
    }

    go(message) {
        const line = this.view.state.doc.line(Math.min(message.line,
            this.view.state.doc.lines));
        this.view.dispatch({ selection: { anchor: Math.min(line.to,
            line.from + Math.max(0, message.column - 1)) }, scrollIntoView: true });
        this.view.focus();
    }
}

/** The line with a caret under the place, as the program prints it. */
export function caret(line, { column, length }) {
    const marks = Math.max(1, Math.min(length, line.length - column + 1));
    return `${line}\n${' '.repeat(Math.max(0, column - 1))}^${'~'.repeat(marks - 1)}`;
}
