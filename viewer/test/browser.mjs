// Debian's chromium, driven by playwright. CHROMIUM names another browser.
import { chromium, firefox } from 'playwright-core';
import { pathToFileURL } from 'node:url';

/** As on a machine without a graphics processor: WebGL by SwiftShader, the page by Skia. */
export async function launch(extra = []) {
    return chromium.launch({
        executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
        args: [
            '--no-sandbox', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update',
            '--disable-sync', '--enable-unsafe-swiftshader', ...extra,
        ],
    });
}

/** Debian's Firefox by WebDriver BiDi; it needs a screen (xvfb-run) to draw pictures. */
export async function launchFirefox() {
    return firefox.launch({ channel: 'moz-firefox', executablePath: '/usr/bin/firefox-esr',
        headless: false, firefoxUserPrefs: { 'webgl.force-enabled': true } });
}

/** A page that notes everything it should not do. */
export async function openPage(browser, file, { hash = '', wait = true, ...options } = {}) {
    const context = await browser.newContext(
        { viewport: { width: 1400, height: 900 }, ...options });
    const page = await context.newPage();
    const notes = { console: [], errors: [], requests: [] };
    // the driver's word on how the browser gets the picture to the page is none of the page's
    page.on('console', (m) => {
        if (['error', 'warning'].includes(m.type()) && !/GL Driver Message/.test(m.text()))
            notes.console.push(m.text());
    });
    page.on('pageerror', (e) => notes.errors.push(String(e)));
    const url = pathToFileURL(file).href;
    page.on('request', (r) => { if (r.url() !== url &&
        r.url() !== url + hash) notes.requests.push(r.url()); });
    await page.goto(url + hash);
    if (wait) await page.waitForFunction(() => window.noslip?.ready, null, { timeout: 20000 });
    return { page, context, notes };
}
