"""Formulas of the pages, $...$ and $$...$$, as MathML: the part of TeX that the pages use.
What it does not know is an error, so that no page shows raw TeX."""
import html
import re

SYMBOLS = {
    'alpha': 'α', 'beta': 'β', 'gamma': 'γ', 'delta': 'δ', 'kappa': 'κ', 'lambda': 'λ',
    'mu': 'μ', 'omega': 'ω', 'phi': 'ϕ', 'varphi': 'φ', 'pi': 'π', 'psi': 'ψ', 'rho': 'ρ',
    'sigma': 'σ', 'theta': 'θ', 'tau': 'τ', 'xi': 'ξ', 'eta': 'η', 'Gamma': 'Γ',
    'Lambda': 'Λ', 'Omega': 'Ω', 'Phi': 'Φ', 'Psi': 'Ψ', 'partial': '∂', 'nabla': '∇',
}
OPERATORS = {
    'sum': '∑', 'prod': '∏', 'int': '∫', 'cdot': '·', 'times': '×', 'pm': '±', 'dots': '…',
    'ldots': '…', 'cdots': '⋯', 'in': '∈', 'le': '≤', 'ge': '≥', 'ne': '≠', 'to': '→',
    'leftarrow': '←', 'rightarrow': '→', 'approx': '≈', 'infty': '∞', 'wedge': '∧', 
    'langle': '⟨', 'rangle': '⟩', ';': '\u2004', ',': '\u2009', '{': '{', '}': '}', '|': '‖',
}
NAMES = {'log', 'exp', 'sin', 'cos', 'tan', 'cot', 'min', 'max', 'det'}
ACCENTS = {'dot': '˙', 'ddot': '¨', 'bar': '¯', 'hat': '^'}
IGNORED = {'Big', 'big', 'left', 'right', 'displaystyle'}


class Reader:
    def __init__(self, text):
        self.text = text
        self.words = re.findall(r'\\[a-zA-Z]+|\\.|[0-9]+(?:\.[0-9]+)?|[a-zA-Z]|\S', text)
        self.at = 0

    def next(self):
        if self.at == len(self.words):
            raise ValueError(f'formula ends too soon: {self.text}')
        self.at += 1
        return self.words[self.at - 1]

    def row(self, end=None):
        parts = []
        while self.at < len(self.words) and self.words[self.at] != end:
            parts.append(self.scripted())
        if end:
            self.next()
        return '<mrow>' + ''.join(parts) + '</mrow>'

    def scripted(self):
        base, below, above = self.atom(), None, ''
        while self.at < len(self.words) and self.words[self.at] in ("_", "^", "'"):
            word = self.next()
            if word == '_':
                below = self.atom()
            else:
                above += '<mo>′</mo>' if word == "'" else self.atom()
        if above:
            above = f'<mrow>{above}</mrow>'
        if below and above:
            return f'<msubsup>{base}{below}{above}</msubsup>'
        if below:
            return f'<msub>{base}{below}</msub>'
        return f'<msup>{base}{above}</msup>' if above else base

    def atom(self):
        word = self.next()
        if word == '{':
            return self.row('}')
        if word[0] != '\\':
            if word[0].isdigit():
                return f'<mn>{word}</mn>'
            if word in '()[]|':
                return f'<mo stretchy="false">{word}</mo>'
            tag = 'mi' if word.isalpha() else 'mo'
            return f'<{tag}>{html.escape("−" if word == "-" else word)}</{tag}>'
        name = word[1:]
        if name in SYMBOLS:
            return f'<mi>{SYMBOLS[name]}</mi>'
        if name in OPERATORS:
            return f'<mo>{OPERATORS[name]}</mo>'
        if name in NAMES:
            return f'<mi>{name}</mi>'
        if name in ACCENTS:
            return f'<mover accent="true">{self.atom()}<mo>{ACCENTS[name]}</mo></mover>'
        if name in IGNORED:
            return self.atom()
        if name == 'sqrt':
            return f'<msqrt>{self.atom()}</msqrt>'
        if name == 'frac':
            return f'<mfrac>{self.atom()}{self.atom()}</mfrac>'
        if name in ('mathrm', 'mathbf', 'text'):
            inner = re.sub('<[^>]*>', '', self.atom())
            return f'<mi mathvariant="normal">{inner}</mi>'
        raise ValueError(f'\\{name} is not known: {self.text}')


def mathml(text, block=False):
    display = ' display="block"' if block else ''
    return f'<math{display}>{Reader(text).row()}</math>'
