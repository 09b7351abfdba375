// Light, dark, or as the system wishes.
import { icon } from './dom.js';

const query = matchMedia('(prefers-color-scheme: dark)');
const key = 'noslip-theme';
const choices = ['auto', 'light', 'dark'];
let choice = 'auto';

/** Pages opened from disk may have no storage. */
function stored() {
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
}

export const isDark = () => choice === 'dark' || (choice === 'auto' && query.matches);

function apply(button) {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    const words = { auto: 'as the system', light: 'light', dark: 'dark' }[choice];
    button.replaceChildren(icon({ auto: 'auto', light: 'sun', dark: 'moon' }[choice]));
    button.setAttribute('aria-label', `Colours: ${words}. Change`);
    button.title = `Colours: ${words}`;
    document.dispatchEvent(new Event('noslip-theme'));
}

export function themeButton(button, wanted) {
    const first = wanted ?? stored();
    if (choices.includes(first)) choice = first;
    apply(button);
    button.addEventListener('click', () => {
        choice = choices[(choices.indexOf(choice) + 1) % choices.length];
        try {
            localStorage.setItem(key, choice);
        } catch {
            // then it lasts as long as the page
        }
        apply(button);
    });
    query.addEventListener('change', () => apply(button));
    // paper is white
    let before = null;
    addEventListener('beforeprint', () => {
        before = choice;
        choice = 'light';
        apply(button);
    });
    addEventListener('afterprint', () => {
        choice = before ?? choice;
        apply(button);
    });
}
