// A motion on the page: picture, plots, facts and transport on one clock. `load` shows another
// motion in the same places.
import { byId, el } from './dom.js';
import { Clock } from './clock.js';
import { buildFacts, buildHeader } from './facts.js';
import { Figures } from './figures.js';
import { askVideo } from './record.js';
import { Samples, valueAt } from './motion.js';
import { Plots } from './plots.js';
import { useTheme } from './scene/palette.js';
import { Stage } from './stage.js';
import { isDark } from './theme.js';
import { Transport } from './transport.js';

/** Options after the # of the address: t, view, theme, quality, follow, play. */
export function readOptions(text = location.hash.slice(1)) {
    const p = new URLSearchParams(text);
    const t = p.has('t') ? Number(p.get('t')) : NaN;
    return {
        t, view: p.get('view'), theme: p.get('theme'), quality: p.get('quality') ?? 'auto',
        play: p.has('play'),
        follow: p.has('follow') ? p.get('follow') !== '0' : null,
    };
}

export class Report {
    constructor(data, options) {
        this.data = data;
        this.samples = new Samples(data.time);
        this.clock = new Clock(this.samples.t0, this.samples.t1);
        this.samples.locate(this.clock.t);
        useTheme(isDark());
        // the first listener finds the place among the samples for all that follow
        this.clock.onTime((t) => this.samples.locate(t));
        this.stage = new Stage(data, this.samples, this.clock, options);
        this.plots = new Plots(data, this.samples, this.clock);
        this.figures = new Figures(data);
        this.stage.onRecord = () => askVideo(this);
        this.tell();
        this.measure();
        addEventListener('resize', () => this.measure());
        this.transport = new Transport(data, this.clock);
        this.transport.listen(this.stage);
        this.animate();
        document.addEventListener('noslip-theme', () => this.paint());
        this.paint();
        this.preparePaper();
        if (this.stage.view) {
            if (options.follow !== null) this.stage.setFollow(options.follow);
            if (options.view) this.stage.go(options.view);
        }
        this.clock.setTime(Number.isFinite(options.t) ? options.t : this.clock.t0);
        if (options.play) this.clock.play();
    }

    /** Another motion; `keep`: of the same system, so time, camera and switches stay. */
    load(data, keep) {
        const { samples, clock } = this;
        this.data = data;
        samples.reset(data.time);
        clock.reset(samples.t0, samples.t1, keep);
        samples.locate(clock.t);
        this.stage.load(data, keep);
        this.watchView();
        this.plots.load(data);
        this.tell(keep);
        this.transport.load(data);
        if (this.pinned) this.pin(this.pinned);
        if (!keep) this.measure();
        clock.setTime(clock.t);
        clock.changed();
    }

    /** What is shown now stays behind what comes; null: no longer. */
    pin(data = this.data) {
        this.pinned = data;
        this.stage.pin(data);
        this.plots.pin(data);
    }

    /** Facts and equations; `later`: when the numbers have come to rest. */
    tell(later = false) {
        buildHeader(this.data);
        clearTimeout(this.telling);
        const facts = () => buildFacts(this.data, this.clock);
        if (later) this.telling = setTimeout(facts, 400);
        else facts();
    }

    /** The scene takes what the heading and the warnings leave of the window. */
    measure() {
        const above = byId('scene').getBoundingClientRect().top + scrollY;
        document.documentElement.style.setProperty('--above',
            `${Math.min(Math.round(above), 330)}px`);
        byId('stage').classList.toggle('empty', !this.stage.view);
    }

    /** Frames: only while something moves or has changed. */
    animate() {
        const { clock, stage, plots } = this;
        let scheduled = false;
        const frame = (now) => {
            scheduled = false;
            if (clock.playing) {
                clock.tick(now);
                stage.view?.judge(now, true);
            }
            if (stage.view?.dirty) stage.view.render();
            this.onFrame?.(now);
            if (clock.playing) this.schedule();
        };
        this.schedule = () => {
            if (scheduled) return;
            scheduled = true;
            requestAnimationFrame(frame);
        };
        clock.onTime((t) => {
            stage.setTime(t);
            plots.setTime(false);
            this.schedule();
        });
        clock.onState(() => {
            if (!clock.playing) {
                stage.view?.judge(0, false);
                plots.setTime(true);
                stage.updateText();
            }
            clock.last = null;
            this.schedule();
        });
        this.watchView();
        document.addEventListener('visibilitychange', () => {
            clock.last = null;
            stage.view?.judge(0, false);
            if (!document.hidden) stage.view?.invalidate();
        });
    }

    watchView() {
        if (this.stage.view) this.stage.view.onInvalid = this.schedule;
    }

    paint() {
        const dark = isDark();
        useTheme(dark);
        this.stage.paint(dark);
        this.plots.redraw();
        this.figures.redraw();
    }

    /** Paper: the picture as an image, tables open. */
    preparePaper() {
        addEventListener('beforeprint', () => {
            const { stage, plots, figures } = this;
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
    }

    /** What tests ask and do: window.noslip, docs/report.md. */
    handles() {
        const { clock, stage, plots, figures, samples } = this;
        const pose = (i) => {
            const body = stage.pictures[0]?.world.bodies[i];
            if (!body || !body.valid) return null;
            const { position: p, quaternion: q } = body.group;
            return { position: [p.x, p.y, p.z], quaternion: [q.w, q.x, q.y, q.z] };
        };
        return {
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
                const s = this.data.series.find((x) => x.name === name);
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
             * Panel i of the figures: its title, frame and range, what is shown under the
             * pointer; pixels of a point.
             */
            figures: () => figures.panels.length,
            figure: (i) => figures.state(i),
            figurePixel: (i, series, k) => figures.pixel(i, series, k),
            problems: () => [...this.data.problems],
        };
    }
}
