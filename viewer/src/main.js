// The page: reads its data, builds the parts, and ties them to one clock.
import { byId, el } from './dom.js';
import { Clock } from './clock.js';
import { normalise, readPage } from './data.js';
import { buildFacts, buildHeader } from './facts.js';
import { Figures } from './figures.js';
import { Samples, valueAt } from './motion.js';
import { Plots } from './plots.js';
import { useTheme } from './scene/palette.js';
import { Stage } from './stage.js';
import { isDark, themeButton } from './theme.js';
import { Transport } from './transport.js';

/** Options after the # of the address: t, view, theme, quality, follow, play. */
function readOptions() {
    const p = new URLSearchParams(location.hash.slice(1));
    const t = p.has('t') ? Number(p.get('t')) : NaN;
    return {
        t, view: p.get('view'), theme: p.get('theme'), quality: p.get('quality') ?? 'auto',
        play: p.has('play'),
        follow: p.has('follow') ? p.get('follow') !== '0' : null,
    };
}

function fail(message) {
    byId('title').textContent = 'noslip';
    byId('alerts').replaceChildren(el('p', { class: 'alert bad', role: 'alert' }, message));
    for (const id of ['scene', 'plots', 'figures', 'facts', 'transport'])
        byId(id).hidden = true;
    window.noslip = { ready: true, error: message };
}

function start() {
    const options = readOptions();
    themeButton(byId('theme'), options.theme);
    let raw;
    try {
        raw = readPage();
    } catch (e) {
        fail(`The data of this page cannot be read: ${e.message}`);
        return;
    }
    if (raw.missing) {
        fail('This is the empty template of a report. "noslip run MODEL --report FILE.html" ' +
            'fills it.');
        return;
    }
    if (raw.format !== 1) {
        fail(`This page reads format 1, the data has format ${String(raw.format)}.`);
        return;
    }
    const data = normalise(raw);
    const samples = new Samples(data.time);
    const clock = new Clock(samples.t0, samples.t1);
    samples.locate(clock.t);
    useTheme(isDark());
    // the first listener finds the place among the samples for all that follow
    clock.onTime((t) => samples.locate(t));
    const stage = new Stage(data, samples, clock, options);
    const plots = new Plots(data, samples, clock);
    const figures = new Figures(data);
    buildHeader(data);
    buildFacts(data, clock);
    // the scene takes what the heading and the warnings leave of the window
    const measure = () => {
        const above = byId('scene').getBoundingClientRect().top + scrollY;
        document.documentElement.style.setProperty('--above',
            `${Math.min(Math.round(above), 330)}px`);
    };
    if (!stage.view) byId('stage').classList.add('empty');
    measure();
    addEventListener('resize', measure);
    const transport = new Transport(data, clock);
    transport.listen(stage);
    byId('transport').hidden = !(clock.duration > 0);

    // ---- frames: only while something moves or has changed

    let scheduled = false;
    const frame = (now) => {
        scheduled = false;
        if (clock.playing) {
            clock.tick(now);
            stage.view?.judge(now, true);
        }
        if (stage.view?.dirty) stage.view.render();
        if (clock.playing) schedule();
    };
    const schedule = () => {
        if (scheduled) return;
        scheduled = true;
        requestAnimationFrame(frame);
    };
    clock.onTime((t) => {
        stage.setTime(t);
        plots.setTime(false);
        schedule();
    });
    clock.onState(() => {
        if (!clock.playing) {
            stage.view?.judge(0, false);
            plots.setTime(true);
            stage.updateText();
        }
        clock.last = null;
        schedule();
    });
    if (stage.view) stage.view.onInvalid = schedule;
    document.addEventListener('visibilitychange', () => {
        clock.last = null;
        stage.view?.judge(0, false);
        if (!document.hidden) stage.view?.invalidate();
    });

    // ---- light and dark

    const paint = () => {
        const dark = isDark();
        useTheme(dark);
        stage.paint(dark);
        plots.redraw();
        figures.redraw();
    };
    document.addEventListener('noslip-theme', paint);
    paint();

    // ---- paper: the picture as an image, tables open

    addEventListener('beforeprint', () => {
        document.querySelectorAll('#facts details').forEach((d) => { d.open = true; });
        for (const p of [...plots.panels, ...plots.xy, ...figures.panels]) {
            p.visible = true;
            p.appear();
        }
        if (!stage.view) return;
        stage.view.render();
        const image = el('img', { class: 'print-picture', alt: '',
            src: stage.canvas.toDataURL('image/png') });
        stage.host.append(image);
        addEventListener('afterprint', () => image.remove(), { once: true });
    });

    if (stage.view) {
        if (options.follow !== null) stage.setFollow(options.follow);
        if (options.view) stage.go(options.view);
    }
    clock.setTime(Number.isFinite(options.t) ? options.t : clock.t0);
    if (options.play) clock.play();

    const pose = (i) => {
        const body = stage.pictures[0]?.world.bodies[i];
        if (!body || !body.valid) return null;
        const { position: p, quaternion: q } = body.group;
        return { position: [p.x, p.y, p.z], quaternion: [q.w, q.x, q.y, q.z] };
    };
    window.noslip = {
        ready: false,
        time: () => clock.t,
        duration: () => clock.duration,
        playing: () => clock.playing,
        setTime: (t) => clock.setTime(t),
        play: () => clock.play(),
        pause: () => clock.pause(),
        setSpeed: (s) => clock.setSpeed(s),
        bodyPose: pose,
        contactPoint: () => stage.pictures[0]?.world.contact() ?? null,
        seriesValue: (name) => {
            const s = data.series.find((x) => x.name === name);
            return s ? valueAt(samples, s.data) : undefined;
        },
        setView: (name) => stage.view && stage.go(name),
        setFollow: (on) => stage.view && stage.setFollow(on),
        show: (label, on) => {
            stage.pictures.forEach((p) => p.world.show(label, on));
            stage.view?.invalidate();
            if (stage.view) {
                stage.buildSwitches();
                stage.buildLegend();
            }
        },
        layers: () => stage.view ? [...stage.world.layers.values()].map((l) =>
            ({ label: l.label, shown: l.shown })) : [],
        pictures: () => stage.pictures.map((p) => p.title),
        openPicture: (i) => stage.view && stage.open(i),
        /** Where the time line of each drawn panel stands, as a time. */
        cursorTimes: () => plots.panels.filter((p) => p.plot && p.visible).map((p) => {
            const x = new DOMMatrix(getComputedStyle(p.now).transform).m41;
            return p.plot.posToVal(x, 'x');
        }),
        sceneStats: () => {
            if (!stage.view) return { webgl: false };
            stage.view.render();
            const w = stage.world;
            return {
                ...stage.view.stats(), bodies: w.bodies.length, paths: w.paths.length,
                arrows: w.arrows.length, links: w.links.length,
                points: w.points.length, radius: w.radius, bodyRadius: w.bodyRadius,
                follow: stage.view.follow, planar: w.planar,
            };
        },
        /**
         * Panel i of the figures: its title, frame and range, what is shown under the pointer;
         * pixels of a point.
         */
        figures: () => figures.panels.length,
        figure: (i) => figures.state(i),
        figurePixel: (i, series, k) => figures.pixel(i, series, k),
        problems: () => [...data.problems],
    };
    requestAnimationFrame(() => {
        window.noslip.ready = true;
        window.noslip.readyAt = performance.now();
    });
}

start();
