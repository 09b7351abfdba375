"""Runs the commands of README.md, docs/*.md and docs/noslip.1, each page in its own folder.

    doc_commands.py PROGRAM ROOT [--write] [PAGE...]

A command is a line of a block (indented, or fenced) that begins with `noslip`, after a prompt
`$` or not; it must end with status 0 within a minute. A line with MODEL, NAME, FILE ... or
[...] is a synopsis: the options it names must be in the help text of its command. Comments in
the pages steer this:

    <!-- file NAME -->          the next block is a model: written to NAME, for later commands
                                (blocks fenced as python are run by tests/python)
    <!-- not run: reason -->    the next block is left out
    <!-- status N: reason -->   the commands of the next block end with status N

A picture PAGE-NAME.svg of a page PAGE.md is NAME.svg as the page's commands write it, to the
byte.  With --write before the pages, pictures that are not are replaced.
"""
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile

SECONDS = 200  # against what never ends; plain code takes a minute for the longest
LEFT_OUT = {'gallery.md'}  # written by scripts/gallery; other tests run every model
# long, and run by another test or page
ELSEWHERE = {'noslip reproduce', 'noslip equilibria bicycle --set kick=0 --over v=4:6.5'}
SYNOPSIS = re.compile(r'\[|\bMODEL\b|\bNAME\b|\bTOPIC\b|\bA B\b|\bPROBLEM\b|\.\.\.')


def blocks(text):
    """(comment before it, lines) of every block of a page."""
    note, lines, fenced, gap = '', [], False, True
    for line in text.split('\n') + ['']:
        if fenced:
            if line.startswith('```'):
                yield note, lines
                note, lines, fenced, gap = '', [], False, False
            else:
                lines.append(line)
        elif line.startswith('```'):
            fenced = True
            note = '<!-- python -->' if line == '```python' else note
        elif line.startswith('    ') and (gap or lines):
            lines.append(line[4:])
        else:
            if lines:
                yield note, lines
                note, lines = '', []
            if line.strip():
                note = line if line.startswith('<!--') else ''
            gap = not line.strip() or line.startswith('<!--')


def manual_blocks(text):
    """The examples of the manual page."""
    for block in re.findall(r'^\.nf\n(.*?)^\.fi', text, re.M | re.S):
        yield '', block.replace('\\-', '-').split('\n')


def commands(lines):
    """The commands of a block: continued lines joined, prompt, comment and pipe taken off."""
    whole = re.sub(r'\\\n\s*', '', '\n'.join(lines))
    whole = re.sub(r'\n\s+\[', ' [', whole)  # a synopsis goes on
    for line in whole.split('\n'):
        found = re.match(r'(\$ )?noslip .*', line)
        if found:
            command = line[len(found[1] or ''):]
            yield re.split(r'\s{2,}#|\s+\|\s+jq\b|\s+# ', command)[0].rstrip()


class Page:
    def __init__(self, name, folder, program):
        self.name, self.folder, self.program = name, folder, program
        self.failed = self.count = 0
        self.environment = dict(os.environ, PATH=folder + os.pathsep + os.environ['PATH'])
        os.symlink(program, os.path.join(folder, 'noslip'))

    def fail(self, command, why):
        self.failed += 1
        print(f'FAILED {self.name}: {command}\n    {why}')

    def synopsis(self, line):
        words = line.split()
        done = subprocess.run([self.program, 'help', words[1]], capture_output=True, text=True)
        missing = [o for o in re.findall(r'--[a-z][a-z-]*', line)
                   if not re.search(re.escape(o) + r'(?![a-z-])', done.stdout)]
        if done.returncode or missing:
            self.fail(line, f'not in `noslip help {words[1]}`: {" ".join(missing)}')

    def run(self, command, status):
        self.count += 1
        try:
            done = subprocess.run(['bash', '-c', command], cwd=self.folder,
                                  env=self.environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.fail(command, f'longer than {SECONDS} s')
            return
        if done.returncode != status:
            self.fail(command, f'status {done.returncode}: {done.stderr.strip()[-300:]}')

    def block(self, note, lines):
        name = re.match(r'<!-- file (\S+) -->', note)
        if name:
            with open(os.path.join(self.folder, name[1]), 'w') as file:
                file.write('\n'.join(lines) + '\n')
            return
        status = re.match(r'<!-- status (\d)', note)
        for command in commands(lines):
            if note.startswith('<!-- not run:') or command in ELSEWHERE:
                continue
            if SYNOPSIS.search(command):
                self.synopsis(command)
            else:
                self.run(command, int(status[1]) if status else 0)


    def pictures(self, text, docs, write):
        """Pictures in the page are those that its commands have made."""
        page = self.name.removesuffix('.md')
        for name in re.findall(rf'\]\(images/{page}-([\w-]+\.svg)\)', text):
            made = os.path.join(self.folder, name)
            shown = os.path.join(docs, 'images', f'{page}-{name}')
            if not os.path.exists(made):
                self.fail(name, 'no command of the page makes this picture')
            elif write:
                shutil.copyfile(made, shown)
            elif not filecmp.cmp(made, shown, shallow=False):
                self.fail(name, f'{shown} is another picture; --write replaces it')


def missing_commands(program, docs):
    """Commands of `noslip help` that the list in cli.md or the manual page lacks."""
    text = subprocess.run([program, 'help'], capture_output=True, text=True).stdout
    names = re.findall(r'^  ([a-z]+) ', text.split('\nCommands\n')[1].split('\n\n')[0], re.M)
    for page, line in ('cli.md', '    noslip {}'), ('noslip.1', '.B noslip {}'):
        with open(os.path.join(docs, page)) as file:
            known = file.read()
        yield from (f'{page} lacks {n}' for n in names
                    if not re.search('^' + re.escape(line.format(n)) + r'\b', known, re.M))


def broken_links(root, pages):
    """Links to files that are not there."""
    for path in pages:
        with open(path) as file:
            text = file.read()
        for link in re.findall(r'\]\(([^)#\s]+)(?:#[^)]*)?\)', text):
            if '://' not in link and not os.path.exists(
                    os.path.join(os.path.dirname(path), link)):
                yield f'{os.path.relpath(path, root)}: no file {link}'


def main():
    program, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    docs = os.path.join(root, 'docs')
    write = '--write' in sys.argv[3:4]
    pages = sys.argv[3 + write:] or [os.path.join(root, 'README.md')] + sorted(
        os.path.join(docs, f) for f in os.listdir(docs)
        if f.endswith(('.md', '.1')) and f not in LEFT_OUT)
    missing = list(missing_commands(program, docs)) + list(broken_links(root, pages))
    failed, count = len(missing), 0
    for line in missing:
        print('FAILED', line)
    for path in pages:
        folder = tempfile.mkdtemp()
        page = Page(os.path.basename(path), folder, program)
        with open(path) as file:
            text = file.read()
        for block in (manual_blocks if path.endswith('.1') else blocks)(text):
            page.block(*block)
        page.pictures(text, docs, write)
        shutil.rmtree(folder)
        failed += page.failed
        count += page.count
    print(f'{count} commands, {failed} failed')
    return 1 if failed or not count else 0


if __name__ == '__main__':
    sys.exit(main())
