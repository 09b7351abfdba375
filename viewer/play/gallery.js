// The bundled models as pictures.
import { el } from '../src/dom.js';

const titleOf = (text, name) => /^\s*title\s+"([^"\n]*)"/m.exec(text)?.[1] ?? name;

export class Gallery {
    /** models: [{name, text}]; pictures: {name: data URL}; choose(model). */
    constructor(dialog, models, pictures, choose) {
        this.dialog = dialog;
        const list = el('div', { class: 'cards' });
        const cards = models.map((m) => {
            const title = titleOf(m.text, m.name);
            const picture = pictures[m.name];
            const card = el('button', { type: 'button', class: 'card-button',
                on: { click: () => { dialog.close(); choose(m); } } },
                picture ? el('img', { src: picture, alt: '', loading: 'lazy', width: 168,
                    height: 117 }) : el('span', { class: 'blank' }),
                el('span', { class: 'title' }, title), el('span', { class: 'name' }, m.name));
            list.append(card);
            return { card, words: `${title} ${m.name}`.toLowerCase() };
        });
        const find = el('input', { type: 'search', placeholder: 'Find',
            'aria-label': 'Find a model' });
        find.addEventListener('input', () => {
            const wanted = find.value.toLowerCase();
            for (const { card, words } of cards) card.hidden = !words.includes(wanted);
        });
        dialog.replaceChildren(el('div', { class: 'gallery-head' },
            el('h2', {}, `Gallery: ${models.length} models`), find,
            el('button', { type: 'button', on: { click: () => dialog.close() } }, 'Close')),
            list);
    }

    open() {
        this.dialog.showModal();
    }
}
