// Colours that readers with colour-blindness can tell apart (Okabe and Ito), in two settings:
// the same hue reads well on a light and on a dark ground with a little more or less light.
import { Color } from 'three';

const light = {
    blue: '#0072b2', orange: '#d98c00', green: '#008f68', vermilion: '#d55e00',
    purple: '#b8588f',
    sky: '#3d9fdb', yellow: '#c9b400', grey: '#6b7480', black: '#1d232b', white: '#f6f4ef',
    brown: '#8c5a2b',
};
const dark = {
    blue: '#3d9be0', orange: '#f0a82a', green: '#1fbf92', vermilion: '#ff7d33',
    purple: '#e08fbb',
    sky: '#7cc8f5', yellow: '#f0e442', grey: '#9aa4b0', black: '#dfe5ec', white: '#e9e6df',
    brown: '#c08a55',
};

/** Order in which bodies and curves without a colour of their own take theirs. */
export const order = ['blue', 'orange', 'green', 'purple', 'vermilion', 'sky', 'brown', 'grey'];

export const names = Object.keys(light);

let current = light;

export function useTheme(isDark) {
    current = isDark ? dark : light;
}

/** The key or '#rrggbb' if it is one. */
export const known = (key) =>
    typeof key === 'string' && (Object.hasOwn(light, key) || /^#[0-9a-fA-F]{6}$/.test(key))
    ? key
    : undefined;

/** CSS colour of a key or of '#rrggbb'; anything else becomes `fallback`. */
export function cssColor(key, fallback = 'blue') {
    if (typeof key === 'string') {
        if (Object.hasOwn(current, key)) return current[key];
        if (known(key)) return key;
    }
    return current[fallback] ?? current.blue;
}

export const color = (key, fallback) => new Color(cssColor(key, fallback));

/** Colours of the stage. */
export const stage = (isDark) => isDark ? {
    background: '#161b22', ground: '#37404b', line: '#586473', major: '#7a889a', sky: '#c9d6e6',
    below: '#5a6470',
    ambient: 1.5, sun: 1.7, fill: 1.1, pattern: '#e4e7ec',
} : {
    background: '#eef1f5', ground: '#fbfaf6', line: '#c9ced5', major: '#9fa8b3', sky: '#ffffff',
    below: '#d9d5cc',
    ambient: 1.4, sun: 1.35, fill: 0.62, pattern: '#f7f6f2',
};
