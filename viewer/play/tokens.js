// What depends on where it stands: ends of lines, which mean nothing inside brackets and after
// an operator, and units, which follow numbers and `in`.
import { ExternalTokenizer } from '@lezer/lr';
import { blankLine, lineEnd, Unit } from './mech.terms.js';

const newline = 10;
const isLetter = (c) => (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95;
const isDigit = (c) => c >= 48 && c <= 57;
const reserved = /^(in|rising|falling|stop|record|warn)$/;

export const lines = new ExternalTokenizer((input, stack) => {
    if (input.next !== newline) return;
    input.advance();
    input.acceptToken(stack.canShift(lineEnd) ? lineEnd : blankLine);
}, { contextual: true });

export const units = new ExternalTokenizer((input, stack) => {
    if (!stack.canShift(Unit)) return;
    let n = 0;
    if (input.next === 49 && input.peek(1) === 47 && isLetter(input.peek(2))) n = 2;
    const from = n;
    if (!isLetter(input.peek(n))) return;
    for (;;) {
        while (isLetter(input.peek(n)) || isDigit(input.peek(n))) n++;
        if (input.peek(n) === 94 && (isDigit(input.peek(n + 1)) || input.peek(n + 1) === 45)) {
            n += 2;
            while (isDigit(input.peek(n))) n++;
        }
        const c = input.peek(n);
        if ((c !== 42 && c !== 47) || !isLetter(input.peek(n + 1))) break;
        n++;
    }
    let word = '';
    for (let i = from; i < n; i++) word += String.fromCharCode(input.peek(i));
    if (reserved.test(word)) return;
    input.advance(n);
    input.acceptToken(Unit);
}, { contextual: true });
