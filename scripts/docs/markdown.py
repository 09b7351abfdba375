"""Markdown as the pages of docs/ have it, to HTML: headings, paragraphs, lists, tables, quotes,
blocks of code, links, pictures, emphasis, formulas."""
import html
import re

from tex import mathml

LIST = re.compile(r'(\s*)([-*]|\d+\.)\s+(.*)')


def slug(text):
    """The name of a heading's place, as GitHub makes it."""
    text = re.sub(r'[`*]|\]\([^)]*\)|\[', '', text).strip().lower()
    return re.sub(r' ', '-', re.sub(r'[^\w\- ]', '', text))


class Page:
    """text -> .body; .title, .headings [(level, place, text)], .links [address]"""

    def __init__(self, text, target=lambda link: link):
        self.target = target
        self.headings, self.links, self.title = [], [], ''
        self.taken = {}
        text = re.sub(r'<!-- file (\S+) -->\n+', r'`\1`\n\n', text)  # a name above its block
        text = re.sub(r'<!--.*?-->\n?', '', text, flags=re.S)
        self.body = self.blocks(text.split('\n'))

    # ---- inside a line ----------------------------------------------------------------------

    def inline(self, text):
        kept = []

        def keep(piece):
            kept.append(piece)
            return f'\0{len(kept) - 1}\0'

        def link(m):
            address = m[3] or m[4]
            self.links.append(address)
            address = html.escape(self.target(address), quote=True)
            if m[1]:
                return keep(f'<img src="{address}" alt="{html.escape(m[2], quote=True)}">')
            return keep(f'<a href="{address}">') + m[2] + keep('</a>')

        text = re.sub(r'\\([\\`*_{}\[\]()#+.!|<>$-])', lambda m: keep(html.escape(m[1])), text)
        text = re.sub(r'(`+)(.+?)\1', lambda m: keep(f'<code>{html.escape(m[2])}</code>'), text)
        text = re.sub(r'\$\$(.+?)\$\$', lambda m: keep(mathml(m[1], True)), text)
        text = re.sub(r'\$([^$\s][^$]*)\$', lambda m: keep(mathml(m[1])), text)
        # a picture may stand in the words of a link
        for _ in range(2):
            text = re.sub(r'(!?)\[([^\[\]]*)\]\((?:([^()\s]*)|<([^>]*)>)\)', link, text)
        text = re.sub(r'<(https?://[^>]*)>',
                      lambda m: keep(f'<a href="{m[1]}">{m[1]}</a>'), text)
        text = html.escape(text, quote=False)
        text = re.sub(r'\*\*(.+?)\*\*', r'<strong>\1</strong>', text)
        text = re.sub(r'(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])', r'<em>\1</em>', text)
        while '\0' in text:
            text = re.sub('\0(\\d+)\0', lambda m: kept[int(m[1])], text)
        return text

    def heading(self, level, text):
        place = slug(text)
        number = self.taken.get(place, 0)
        self.taken[place] = number + 1
        place += f'-{number}' if number else ''
        words = self.inline(text)
        plain = re.sub('<[^>]*>', '', words)
        self.headings.append((level, place, html.unescape(plain)))
        if level == 1 and not self.title:
            self.title = html.unescape(plain)
        return f'<h{level} id="{place}">{words}</h{level}>'

    # ---- blocks -----------------------------------------------------------------------------

    def table(self, rows):
        cells = []
        for row in rows:
            row = re.sub(r'`[^`]*`', lambda m: m[0].replace('|', '\1'), row.strip().strip('|'))
            cells.append([self.inline(c.strip().replace('\1', '|'))
                          for c in re.split(r'(?<!\\)\|', row)])
        head = ''.join(f'<th>{c}</th>' for c in cells[0])
        if not any(c for c in cells[0]):
            head = ''
        body = ''.join('<tr>' + ''.join(f'<td>{c}</td>' for c in row) + '</tr>\n'
                       for row in cells[2:])
        head = f'<thead><tr>{head}</tr></thead>' if head else ''
        return f'<div class="wide"><table>{head}\n<tbody>{body}</tbody></table></div>'

    def items(self, lines):
        """The lines of a list, with what belongs to its items indented."""
        first = LIST.match(lines[0])
        depth, ordered = len(first[1]), first[2][0].isdigit()
        groups = []
        for line in lines:
            m = LIST.match(line)
            if m and len(m[1]) <= depth:
                groups.append([m[3]])
            else:
                most = depth + 3 if ordered else depth + 2
                groups[-1].append(re.sub(f'^ {{0,{most}}}', '', line))
        inner = ''
        for group in groups:
            simple = not any(not g.strip() or LIST.match(g) for g in group[1:])
            inner += '<li>' + (self.inline(' '.join(group)) if simple
                               else self.blocks(group)) + '</li>\n'
        tag = 'ol' if ordered else 'ul'
        return f'<{tag}>\n{inner}</{tag}>'

    def blocks(self, lines):
        out, i = [], 0
        while i < len(lines):
            line = lines[i]
            begin = i
            if not line.strip():
                i += 1
            elif line.startswith('```'):
                i += 1
                while i < len(lines) and not lines[i].startswith('```'):
                    i += 1
                out.append(code('\n'.join(lines[begin + 1:i])))
                i += 1
            elif line.startswith('    '):
                while i < len(lines) and (lines[i].startswith('    ') or not lines[i].strip()):
                    i += 1
                out.append(code('\n'.join(l[4:] for l in lines[begin:i]).rstrip()))
            elif re.match(r'#{1,6} ', line):
                marks, text = line.split(' ', 1)
                out.append(self.heading(len(marks), text.strip()))
                i += 1
            elif line.lstrip().startswith('|'):
                while i < len(lines) and lines[i].lstrip().startswith('|'):
                    i += 1
                out.append(self.table(lines[begin:i]))
            elif line.startswith('>'):
                while i < len(lines) and lines[i].startswith('>'):
                    i += 1
                inner = self.blocks([re.sub('^> ?', '', l) for l in lines[begin:i]])
                out.append(f'<blockquote>{inner}</blockquote>')
            elif LIST.match(line):
                i += 1
                while i < len(lines) and (
                        LIST.match(lines[i]) or lines[i].startswith('  ') or
                        (not lines[i].strip() and i + 1 < len(lines) and
                         (lines[i + 1].startswith('  ') or LIST.match(lines[i + 1])))):
                    i += 1
                out.append(self.items(lines[begin:i]))
            else:
                i += 1
                while i < len(lines) and lines[i].strip() and not re.match(
                        r'#{1,6} |```|\||>|\s*([-*]|\d+\.)\s', lines[i]):
                    i += 1
                out.append('<p>' + self.inline('\n'.join(lines[begin:i])) + '</p>')
        return '\n'.join(out)


def code(text):
    return f'<pre><code>{html.escape(text, quote=False)}</code></pre>'
