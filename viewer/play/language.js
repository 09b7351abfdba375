// The model language for the editor: colours, folding, completion.
import { ifNotIn } from '@codemirror/autocomplete';
import {
    HighlightStyle, LRLanguage, LanguageSupport, foldInside, foldNodeProp, syntaxHighlighting,
} from '@codemirror/language';
import { styleTags, tags } from '@lezer/highlight';
import { parser } from './mech.grammar';

export const mech = LRLanguage.define({
    name: 'mech',
    parser: parser.configure({ props: [
        styleTags({
            Keyword: tags.keyword, Modifier: tags.modifier, In: tags.modifier,
            BuiltIn: tags.function(tags.name), Constant: tags.constant(tags.name),
            Name: tags.variableName, Number: tags.number, Unit: tags.unit, String: tags.string,
            Comment: tags.comment, Prime: tags.operator, 'Plus Minus Times Divide Power':
                tags.operator, 'Equals About': tags.definitionOperator,
        }),
        foldNodeProp.add({ Block: foldInside }),
    ] }),
    languageData: { commentTokens: { line: '#' },
        closeBrackets: { brackets: ['(', '[', '{', '"'] } },
});

const style = HighlightStyle.define([
    { tag: tags.keyword, color: 'var(--hl-keyword)', fontWeight: '600' },
    { tag: tags.modifier, color: 'var(--hl-keyword)' },
    { tag: tags.function(tags.name), color: 'var(--hl-function)' },
    { tag: tags.constant(tags.name), color: 'var(--hl-function)' },
    { tag: tags.number, color: 'var(--hl-number)' },
    { tag: tags.unit, color: 'var(--hl-unit)' },
    { tag: tags.string, color: 'var(--hl-string)' },
    { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
]);

const words = (type, boost, list) => list.split(' ').map((label) => ({ label, type, boost }));
const statements = [
    ['title', '"…"'], ['formulation', 'NAME'], ['param', 'NAME = VALUE UNIT'],
    ['let', 'NAME = EXPRESSION'], ['surface', 'NAME(x, y, z) = EXPRESSION'],
    ['coordinate', 'NAME in UNIT'], ['state', "NAME' = RATE"], ['lagrangian', 'T - V'],
    ['constraint', 'NAME: EXPRESSION = 0'], ['force', 'COORDINATE = EXPRESSION'],
    ['start', "{ x = 1; x' = 0 }"], ['observe', 'NAME in UNIT = EXPRESSION'],
    ['invariant', 'NAME = EXPRESSION'], ['event', 'NAME: EXPRESSION = 0 rising stop'],
    ['run', '{ until 10; tolerance 1e-9 }'], ['draw', '{ rod A, B; trail P }'],
    ['ground', 'plane'], ['body', 'ellipsoid(a, b, c) { mass 1; uniform }'],
    ['solid', 'sphere(r) { mass 1 }'], ['rolling', '{ arm VECTOR }'], ['load', '{ force … }'],
    ['particle', 'NAME { mass 1 }'], ['label', 'NAME { … }'], ['spring', 'NAME { … }'],
    ['damper', 'NAME { … }'], ['gravity', 'VECTOR'], ['frame', '{ … }'],
    ['symmetry', '{ … }'], ['algebra', '{ … }'], ['solve', '{ … }'],
].map(([label, detail]) => ({ label, detail, type: 'keyword', boost: 2 }));
const functions = words('function', 0, 'sqrt abs sign exp log pow min max sin cos tan asin ' +
    'acos atan atan2 sinh cosh tanh asinh acosh atanh dot cross norm sum transpose identity ' +
    'diag solve diff grad');
const units = words('unit', -1, 'm km cm mm s ms min kg g rad deg rpm turn Hz N kN J W Pa');
const properties = words('property', -1, 'mass com inertia uniform omega roll pitch yaw ' +
    'contact position until tolerance method every max_step mu flip side inside outside above');

/** `names`: of the model that was last read, [{name, unit, what}]. */
export function mechSupport(names) {
    const own = (context) => {
        const word = context.matchBefore(/[A-Za-z_][\w.]*/);
        if (!word && !context.explicit) return null;
        const line = context.state.doc.lineAt(context.pos);
        const first = /^\s*[A-Za-z_]*$/.test(line.text.slice(0, context.pos - line.from));
        const after = /\d\s*[A-Za-z]*$/.test(line.text.slice(0, context.pos - line.from));
        return {
            from: word ? word.from : context.pos, validFor: /^[\w.]*$/,
            options: [...(first ? statements : []), ...(after ? units : []), ...functions,
                ...properties, ...names().map((n) => ({ label: n.name, detail: n.unit,
                    info: n.what, type: 'variable', boost: 1 }))],
        };
    };
    return new LanguageSupport(mech, [
        mech.data.of({ autocomplete: ifNotIn(['Comment', 'String'], own) }),
        syntaxHighlighting(style),
    ]);
}

