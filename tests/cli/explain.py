"""Codes of messages: every message of the sources has one, docs/errors.md explains each,
and its examples give and cure it.

    explain.py PROGRAM ROOT
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

WITHOUT_MODEL = {'claim', 'file', 'not-text', 'too-large'}


def literals(text, at):
    """The string literals up to the bracket that closes the one before `at`, joined."""
    depth, parts = 1, ''
    for m in re.finditer(r'"((?:[^"\\]|\\.)*)"|\'(?:[^\'\\]|\\.)\'|[()]', text[at:]):
        if m[0] in '()':
            depth += 1 if m[0] == '(' else -1
            if not depth:
                break
        elif m[0][0] == '"':
            parts += m[1]
    return parts


def messages(root):
    for path in sorted(glob.glob(root + '/src/**/*.c', recursive=True)):
        with open(path) as file:
            text = file.read()
        for m in re.finditer(r'ns_diag_(error|warn)\s*\(', text):
            yield os.path.basename(path), literals(text, m.end())


def table(root):
    with open(root + '/src/base/messages/codes.c') as file:
        return re.findall(r'\{"([^"]*)", "([^"]*)",\s*"([^"]*)"\}', file.read())


def sections(root):
    with open(root + '/docs/errors.md') as file:
        parts = re.split(r'^## (.*)\n', file.read(), flags=re.M)
    for name, body in zip(parts[1::2], parts[2::2]):
        yield name, re.findall(r'```mech\n(.*?)```', body, re.S)


def main():
    program, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    failed = []
    rows = table(root)
    for file, format in messages(root):
        if re.search('[a-z]{3}', format.replace('%s', '')) and not any(
                file.startswith(f) and part in format for _, f, part in rows):
            failed.append(f'{file}: no code for the message: {format}')
    named = {name for name, _ in sections(root)}
    failed += [f'docs/errors.md lacks {c}' for c in sorted({r[0] for r in rows} - named)]
    failed += [f'no message has the code {c}' for c in sorted(named - {r[0] for r in rows})]

    def check(model):
        with tempfile.NamedTemporaryFile('w', suffix='.mech') as file:
            file.write(model)
            file.flush()
            done = subprocess.run([program, 'check', file.name], capture_output=True, text=True)
        return done.returncode, done.stderr

    for name, models in sections(root):
        done = subprocess.run([program, 'explain', name], capture_output=True, text=True)
        if done.returncode or name not in done.stdout:
            failed.append(f'noslip explain {name}: {done.stderr}')
        if name in WITHOUT_MODEL:
            continue
        if len(models) != 2:
            failed.append(f'{name}: {len(models)} models, not two')
            continue
        if f'[{name}]' not in check(models[0])[1]:
            failed.append(f'{name}: the first model says\n{check(models[0])[1]}')
        status, said = check(models[1])
        if status or '[' + name + ']' in said:
            failed.append(f'{name}: the second model says\n{said}')
    print('\n'.join(failed) or f'{len(named)} codes')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
