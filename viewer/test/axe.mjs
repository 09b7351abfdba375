// What axe-core finds on a page: rules of WCAG 2.2 A and AA, and its best practices.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
    'utf8');

/** A line for every element that breaks a rule (of `rules`, if given); nothing: []. */
export async function violations(page, within = 'html', rules = null) {
    // evaluated by the driver: the page's own policy lets no foreign script in
    await page.evaluate(source);
    return page.evaluate(async ([selector, only]) => {
        const found = await window.axe.run(document.querySelector(selector),
            { resultTypes: ['violations'], ...(only ? { runOnly: only } : {}) });
        return found.violations.flatMap((v) => v.nodes.map((n) =>
            `${v.id} (${v.impact}): ${n.target.join(' ')}: ${n.failureSummary
                .split('\n').slice(1).map((l) => l.trim()).join('; ')}`));
    }, [within, rules]);
}
