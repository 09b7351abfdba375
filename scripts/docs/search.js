// Search without a server: index.js has every section of every page.
const find = document.getElementById('find');
const found = document.getElementById('found');
const root = document.documentElement.dataset.root;

function score(entry, words) {
    const title = `${entry.page} ${entry.title}`.toLowerCase();
    const text = entry.text.toLowerCase();
    let sum = 0;
    for (const word of words) {
        const inTitle = title.includes(word);
        if (!inTitle && !text.includes(word)) return 0;
        sum += (inTitle ? 10 : 0) + (entry.title.toLowerCase() === word ? 20 : 0);
        sum += Math.min(text.split(word).length - 1, 5);
    }
    return sum;
}

function excerpt(entry, word) {
    const at = Math.max(0, entry.text.toLowerCase().indexOf(word) - 30);
    return entry.text.slice(at, at + 90);
}

find.addEventListener('input', () => {
    const words = find.value.toLowerCase().split(/\s+/).filter((w) => w.length > 1);
    const rows = words.length === 0 ? [] : window.noslipIndex
        .map((entry) => ({ entry, value: score(entry, words) }))
        .filter((row) => row.value > 0)
        .sort((a, b) => b.value - a.value)
        .slice(0, 12);
    found.replaceChildren(...rows.map(({ entry }) => {
        const item = document.createElement('li');
        const link = document.createElement('a');
        const small = document.createElement('small');
        link.href = root + entry.url;
        const same = entry.title === entry.page;
        link.textContent = same ? entry.page : `${entry.page}: ${entry.title}`;
        small.textContent = excerpt(entry, words[0]);
        link.append(small);
        item.append(link);
        return item;
    }));
});
document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== find) {
        event.preventDefault();
        find.focus();
    }
});
