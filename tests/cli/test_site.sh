#!/usr/bin/env bash
# The documentation as pages (make docs): every link leads somewhere, formulas are MathML, every
# command has a page that says what `noslip help` says, and the search finds sections.
set -u
. "$(dirname "$0")/cli_lib.sh"
root=$(dirname "$DOCS")
cd "$W" || exit 1

"$PYTHON" "$root/scripts/build-docs" "$NOSLIP" "$W/site" >log 2>&1 && pass "pages and links" ||
    fail "pages and links: $(cat log)"

for name in $("$NOSLIP" man); do
    "$NOSLIP" help "$name" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' | sed '$d' >help
    "$PYTHON" - "site/commands/$name.html" help <<'P' || fail "the page of $name"
import sys
page, text = (open(path).read() for path in sys.argv[1:])
sys.exit(text.strip() not in page)
P
done
pass "a page for every command"

"$PYTHON" - site <<'P' && pass "formulas and search" || fail "formulas and search"
import json, pathlib, re, sys
import xml.etree.ElementTree as tree
site = pathlib.Path(sys.argv[1])
formulas = 0
for page in site.rglob('*.html'):
    if page.name == 'playground.html':
        continue
    text = page.read_text()
    for formula in re.findall(r'<math.*?</math>', text, re.S):
        for part in tree.fromstring(formula).iter():
            want = {'msub': 2, 'msup': 2, 'msubsup': 3, 'mfrac': 2, 'mover': 2}.get(part.tag)
            assert want in (None, len(part)), formula
        formulas += 1
    shown = re.sub(r'<pre>.*?</pre>|<code>.*?</code>', '', text, flags=re.S)
    assert not re.search(r'\$\\|\]\(', shown), page
assert formulas > 50, formulas
index = json.loads((site / 'index.js').read_text().split(' = ', 1)[1].rstrip(';\n'))
for words in ('dimension', 'Rolling bodies', 'noslip brackets', 'Rattleback'):
    assert any(words in e['title'] + e['text'] for e in index), words
P

# A link that leads nowhere is noticed.
mkdir copy && cp -r "$root"/{README.md,CONTRIBUTING.md,CHANGELOG.md,docs,scripts,bench} copy/ &&
    ln -s "$root"/{models,examples,src,tests,viewer,python,include,LICENSE} copy/
echo '[x](no-such-page.md) [y](scope.md#no-such-place)' >>copy/docs/scope.md
"$PYTHON" copy/scripts/build-docs "$NOSLIP" "$W/broken" >log 2>&1 && fail "broken links pass"
grep -q 'no-such-page.md: there is no such file' log &&
    grep -q 'scope.html#no-such-place: no such place' log && pass "broken links are noticed" ||
    fail "broken links: $(head -3 log)"
finish
