// A person at the playground: what one does there, and what the program says to the same
// numbers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

export class Person {
    constructor(page) {
        this.page = page;
    }

    state() {
        return this.page.evaluate(() => window.noslip.state());
    }

    /** Waits until a motion after number `shown` is on the screen and nothing is under way. */
    async settled(shown) {
        await this.page.waitForFunction((n) => {
            const s = window.noslip.state?.();
            return s && s.shown > n && !s.busy;
        }, shown, { timeout: 20000 });
        return this.page.evaluate(() => window.noslip.final());
    }

    /** Does something that makes a motion, and waits for it. */
    async after(act) {
        const { shown } = await this.state();
        await act();
        return this.settled(shown);
    }

    choose(name) {
        return this.after(() => this.page.evaluate((n) => window.noslip.choose(n), name));
    }

    show(name, text) {
        return this.page.evaluate((m) => window.noslip.playground.show(m), { name, text });
    }

    /** The text as it was. */
    restore(text) {
        return this.after(() => this.page.evaluate((t) => {
            window.noslip.playground.editor.text = t;
            window.noslip.playground.run();
        }, text));
    }

    slider(name) {
        return name
            ? this.page.locator(`.slider input[type=range][data-name="${name}"]`)
            : this.page.locator('.slider input[type=range]').first();
    }

    /** Moves a slider by keys; gives the final values. */
    move(name, steps) {
        return this.after(async () => {
            await this.slider(name).focus();
            for (let i = 0; i < steps; i++) await this.page.keyboard.press('ArrowRight');
        });
    }

    async type(line, text) {
        await this.page.evaluate((n) =>
            window.noslip.playground.editor.go({ line: n, column: 1 }), line);
        await this.page.keyboard.type(text);
    }

    button(name) {
        return this.page.getByRole('button', { name, exact: true });
    }
}

/** What the program prints when it is told what the page says: `noslip run NAME.mech ...`. */
export async function programRun(me) {
    const [, , model, ...rest] = (await me.page.evaluate(() =>
        window.noslip.playground.command())).split(' ');
    const out = execFileSync(process.env.NOSLIP,
        ['run', model.replace(/\.mech$/, ''), ...rest, '--json'],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
    return JSON.parse(out);
}

/** Final values of the page, to the digits that it prints, against the program's. */
export function same(final, json, least = 3) {
    let compared = 0;
    for (const [name, values] of Object.entries(json.values)) {
        const value = values.at(-1);
        if (!(name in final) || typeof value !== 'number') continue;
        const shown = Number(String(final[name]).replace('−', '-').split(' ')[0]);
        const digits = Math.abs(shown - value) <= 1e-12 * Math.max(1, Math.abs(value));
        assert.ok(digits, `${name}: ${final[name]} on the page, ${value} by the program`);
        compared++;
    }
    assert.ok(compared >= least, `only ${compared} values compared`);
}
