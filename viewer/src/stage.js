// The scene on the page: which picture, from where, with what switched on.
import { Box3, Quaternion, Vector3 } from 'three';
import { button, byId, download, el, fileName, unchanged, worded } from './dom.js';
import { Samples } from './motion.js';
import { number, steady } from './numbers.js';
import { abstractScene } from './scene/abstract.js';
import { cssColor } from './scene/palette.js';
import { View } from './scene/view.js';
import { World } from './scene/world.js';

export class Stage {
    constructor(data, samples, clock, options) {
        this.clock = clock;
        this.samples = samples;
        this.options = options;
        this.host = byId('stage');
        this.pictures = [];
        this.old = []; // worlds that are no longer shown
        this.view = null;
        this.viewName = 'home';
        this.load(data);
    }

    /** Shows another motion; `keep`: of the same system, from where one looks now. */
    load(data, keep = false) {
        const before = this.pictures;
        const number = before.indexOf(this.picture);
        const shown = new Map(before.flatMap((p) =>
            [...p.world.layers.values()].map((l) => [l.label, l.shown])));
        this.data = data;
        this.pictures = [];
        const kind = data.scene.kind;
        if (kind === '3d' || kind === 'plane') this.add('Motion', data.scene);
        if (data.sphere)
            this.add(String(data.sphere.title ?? 'Momentum space'),
                abstractScene(data.sphere, data));
        if (keep)
            for (const p of this.pictures)
                for (const layer of p.world.layers.values())
                    if (shown.has(layer.label) && shown.get(layer.label) !== layer.shown)
                        p.world.show(layer.label, shown.get(layer.label));
        const none = !this.pictures.length;
        document.getElementById('no-picture')?.remove();
        if (none && data.n && !data.study)
            byId('plots').before(el('p', { id: 'no-picture', class: 'hint-picture' },
                worded(data.scene.hint ?? 'This model has no picture. A `draw` block says ' +
                    'what it looks like: `draw { rod [0, 0], [x, y]; ball [x, y], radius = ' +
                    '0.1 }`')));
        byId('scene').hidden = none;
        document.body.classList.toggle('no-scene', none);
        this.view?.setGhost(null);
        if (!none && !this.tried) this.makeView();
        if (!none && this.view) {
            this.canvas.setAttribute('aria-label', this.describe());
            this.buildTabs();
            const same = keep && number >= 0 && number < this.pictures.length;
            this.open(same ? number : 0, same);
        }
        // only when the new ones are drawn: until then they share compiled shaders
        this.old.push(...before.map((p) => p.world));
        if (!this.view || none) this.clean();
    }

    clean() {
        for (const world of this.old) world.dispose();
        this.old = [];
    }

    makeView() {
        this.labels = el('div', { class: 'labels', 'aria-hidden': 'true' });
        this.tried = true;
        try {
            this.view = new View(this.host, this.labels, { quality: this.options.quality });
            this.canvas = this.view.canvas;
        } catch (e) {
            this.unavailable('This browser offers no WebGL, which the moving picture needs. ' +
                'Plots, facts and ' +
                'downloads work without it.');
            return;
        }
        this.canvas.className = 'gl';
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute('role', 'img');
        this.view.onLost = () => this.unavailable(
            'The graphics system was reset; reload the page to see the picture again.');
        this.view.onTouched = () => this.setPressed(null);
        this.view.onRendered = () => {
            this.clean();
            this.rendered();
        };
        this.buildControls();
        new ResizeObserver(() => {
            this.view?.resize();
            if (this.view && !this.touched) this.home();
        }).observe(this.host);
        this.canvas.addEventListener('pointerdown', () => { this.touched = true; });
        this.canvas.addEventListener('wheel', () => { this.touched = true; },
            { passive: true });
    }

    add(title, spec) {
        const world = new World(spec, this.data, this.samples);
        this.pictures.push({ title, spec, world });
    }

    describe() {
        const names = this.pictures.flatMap((p) => p.world.bodies.map((b) => b.name));
        return `Moving picture of ${this.data.title}` +
            (names.length ? `: ${names.slice(0, 8).join(', ')}` : '') +
            '. Drag to turn, scroll to zoom; the keys are listed under Help.';
    }

    unavailable(message) {
        this.view = null;
        this.host.replaceChildren(el('p', { class: 'no-webgl', role: 'alert' }, message));
    }

    get world() {
        return this.picture.world;
    }

    // ---- controls ---------------------------------------------------------------------------

    buildControls() {
        this.bigPlay = button('Play',
            { iconName: 'play', cls: 'big-play', on: () => this.clock.play() });
        this.bigPlay.hidden = !(this.clock.duration > 0);
        this.clock.onState(() => { if (this.clock.playing) this.bigPlay.hidden = true; });
        this.clock.onTime((t) => { if (t !== this.clock.t0) this.bigPlay.hidden = true; });
        this.tabs = el('div', { class: 'tabs', role: 'group', 'aria-label': 'Picture' });
        this.views = el('div', { class: 'views', role: 'group', 'aria-label': 'Camera' });
        this.switches = el('details', { class: 'switches' });
        this.legend = el('ul', { class: 'legend', 'aria-label': 'Arrows and curves' });
        this.scale = el('div', { class: 'scale' });
        this.triad = byId('triad');
        this.host.append(this.switches, this.views, this.legend, this.scale, this.triad,
            this.bigPlay);
        this.triad.removeAttribute('hidden');
        this.host.before(this.tabs);
        this.switches.addEventListener('keydown', (e) => {
            if (e.key !== 'Escape' || !this.switches.open) return;
            e.preventDefault();
            this.switches.open = false;
            this.switches.querySelector('summary').focus();
        });
        document.addEventListener('pointerdown', (e) => {
            if (this.switches.open && !this.switches.contains(e.target) &&
                !matchMedia('(min-width: 900px)').matches) {
                this.switches.open = false;
            }
        });
    }

    buildTabs() {
        const several = this.pictures.length > 1;
        if (unchanged(this.tabs, this.pictures.map((p) => p.title))) return;
        this.tabButtons = several ? this.pictures.map((p, i) =>
            button(p.title, { text: p.title, pressed: false, on: () => this.open(i) })) : [];
        this.tabs.hidden = !several;
        this.tabs.replaceChildren(...this.tabButtons);
        this.host.classList.toggle('below-tabs', several);
    }

    /** Nothing is framed anew where the camera still shows it. */
    open(i, keep = false) {
        const last = keep ? this.picture?.world : null;
        this.picture = this.pictures[i];
        const seen = last && last.planar === this.picture.world.planar &&
            (this.touched || (this.picture.world.radius < 1.4 * last.radius &&
                this.picture.world.radius > 0.6 * last.radius &&
                this.picture.world.center.distanceTo(last.center) < 0.4 * last.radius));
        if (!seen) this.touched = false;
        this.tabButtons?.forEach((b, k) => b.setAttribute('aria-pressed', String(k === i)));
        const { world, spec } = this.picture;
        this.view.setWorld(world);
        if (this.dark !== undefined) world.paint(this.dark);
        world.update(this.clock.t);
        const shaped = world.grounds.some((g) => g.shaped);
        this.followHome = spec.camera?.follow ?? (this.far() && !shaped);
        if (!seen) this.view.follow = this.followHome;
        this.buildViews();
        this.buildSwitches();
        this.buildLegend();
        const step = world.grounds.find((g) => g.step)?.step;
        this.scale.textContent = step ? `grid ${number(step, 2)} ${world.unit}` : '';
        this.scale.hidden = !step;
        if (seen) this.setPressed(this.viewName);
        else this.home();
        this.view.invalidate();
    }

    /** So large a motion that one has to go along to see the body: it would be a few pixels. */
    far() {
        const { world } = this;
        const pixels = 0.42 * Math.min(this.view.width, this.view.height) / world.stretch;
        return world.far || (world.bodies.length > 0 && pixels < (world.scenery ? 6 : 8));
    }

    /** An earlier motion, see-through behind this one; null: none. */
    pin(data) {
        if (!this.view) return;
        const kind = data?.scene.kind;
        if (kind !== '3d' && kind !== 'plane') {
            this.view.setGhost(null);
            return;
        }
        this.ghostSamples = new Samples(data.time);
        const world = new World(data.scene, data, this.ghostSamples);
        world.ghost();
        world.paint(Boolean(this.dark));
        this.view.setGhost(world);
        this.setTime(this.clock.t);
    }

    buildViews() {
        const planar = this.picture.world.planar;
        const follows = this.picture.world.bodies.length > 0;
        if (unchanged(this.views, planar, follows, this.clock.duration > 0)) {
            this.followButton?.setAttribute('aria-pressed', String(this.view.follow));
            return;
        }
        const list = planar
            ? [['home', 'Plane', 'The plane, seen from above (1)'],
                ['solid', '3D', 'From the side, in perspective (2)']]
            : [['home', 'Home', 'Everything in view (1)'], ['top', 'Top', 'From above (2)'],
                ['side', 'Side', 'From the side, along x (3)'],
                ['front', 'Front', 'From the front, along y (4)']];
        this.viewButtons = new Map(list.map(([name, label, title]) =>
            [name, button(label, { text: label, title, pressed: false,
                on: () => this.go(name) })]));
        const tools = [];
        if (follows) {
            this.followButton = button('Follow the body', {
                iconName: 'follow', title: 'Camera follows the body (F)',
                pressed: this.view.follow, on: () => this.setFollow(!this.view.follow),
            });
            tools.push(this.followButton);
        } else {
            this.followButton = null;
        }
        tools.push(
            button('Reset the camera', { iconName: 'reset', title: 'Reset the camera (R)',
                on: () => this.reset() }),
            button('Save the picture', { iconName: 'camera', title: 'Save this picture as PNG',
                on: () => this.save() }));
        if (this.clock.duration > 0)
            tools.push(button('Record a video', { iconName: 'record',
                on: () => this.onRecord?.() }));
        if (this.host.requestFullscreen) {
            tools.push(button('Full screen',
                { iconName: 'full', on: () => this.fullscreen() }));
        }
        this.views.replaceChildren(...this.viewButtons.values(), ...tools);
    }

    fullscreen() {
        if (document.fullscreenElement) document.exitFullscreen();
        else byId('scene').requestFullscreen().catch(() => {});
    }

    buildSwitches() {
        const { world } = this;
        if (unchanged(this.switches, this.dark,
            [...world.layers.values()].map((l) => [l.label, l.shown, l.key]))) return;
        const summary = el('summary', {}, 'Show');
        const rows = [...world.layers.values()].map((layer) => {
            const box = el('input', { type: 'checkbox', checked: layer.shown });
            box.addEventListener('change', () => {
                this.switches.madeOf = '';
                this.world.show(layer.label, box.checked);
                this.buildLegend();
                this.view.invalidate();
            });
            const swatch = layer.key ? el('i', { class: 'swatch' }) : null;
            if (swatch) swatch.style.background = cssColor(layer.key);
            return el('label', {}, box, swatch, el('span', {}, layer.label));
        });
        if (!world.planar || !this.switches.open) this.switches.open = false;
        this.switches.replaceChildren(summary, el('div', { class: 'switch-list' }, rows));
    }

    buildLegend() {
        const world = this.world;
        const arrows = world.arrows.filter((a) => world.layers.get(a.name)?.shown);
        if (unchanged(this.legend, this.dark, arrows.map((a) => [a.name, a.key]),
            world.paths.map((p) => [p.name, p.quiet, world.layers.get(p.name)?.key,
                world.layers.get(p.name)?.shown]))) {
            this.readouts.forEach((r, i) => { r.a = arrows[i]; });
            this.updateText();
            return;
        }
        this.readouts = [];
        const rows = [];
        for (const a of arrows) {
            const value = el('span', { class: 'value' });
            const swatch = el('i', { class: 'swatch arrow' });
            swatch.style.background = cssColor(a.key);
            rows.push(el('li', {}, swatch, el('span', {}, a.name), value));
            this.readouts.push({ a, value });
        }
        const seen = new Set(world.arrows.map((a) => a.name));
        for (const p of world.paths) {
            const layer = world.layers.get(p.name);
            if (!layer?.shown || p.quiet || seen.has(p.name)) continue;
            seen.add(p.name);
            const swatch = el('i', { class: 'swatch line' });
            swatch.style.background = cssColor(layer.key);
            rows.push(el('li', {}, swatch, el('span', {}, p.name)));
        }
        this.legend.replaceChildren(...rows.slice(0, 9));
        this.legend.hidden = rows.length === 0;
        this.updateText();
    }

    setPressed(name) {
        this.viewName = name;
        for (const [n, b] of this.viewButtons)
            b.setAttribute('aria-pressed', String(n === name));
    }

    // ---- cameras ----------------------------------------------------------------------------

    homeDirection() {
        const { world, spec } = this.picture;
        const d = spec.camera?.direction;
        if (Array.isArray(d) && d.length === 3 && d.every(Number.isFinite) &&
            Math.hypot(...d) > 0)
            return new Vector3(...d);
        if (spec.abstract) return new Vector3(1, 0.62, 0.5);
        const deep = world.grounds.some((g) => g.deep);
        return deep ? new Vector3(0.5, -0.9, 0.85) : new Vector3(0.5, -1, 0.55);
    }

    home() {
        const { world } = this;
        if (world.planar) {
            const direction = world.upright ? new Vector3(0, -1, 0) : new Vector3(0, 0, 1);
            this.look(direction, { flat: true,
                up: world.upright ? new Vector3(0, 0, 1) : new Vector3(0, 1, 0) });
        } else {
            this.look(this.homeDirection());
        }
        this.setPressed('home');
    }

    look(direction, options = {}) {
        const { world } = this;
        this.view.head = this.views.offsetHeight + 12;
        // where it leaves no room beside it, the picture ends above the legend
        const covered = this.legend.offsetWidth > 0.45 * this.view.width;
        this.view.foot = covered ? this.legend.offsetHeight + 14 : 0;
        if (this.view.follow && world.bodies.length) {
            const center = new Vector3();
            const reach = world.focus(center);
            const room = options.flat ? (world.bodies.length > 1 ? 2.4 : 5)
                : world.bodies.length > 1 ? 1.2 : 1.5;
            this.view.frame(direction, center, room * reach, options);
            this.view.lastFocus.copy(center);
                // what the camera stands to now, whatever was drawn last
            this.view.lastFocusValid = true;
            return;
        }
        if (this.picture.spec.abstract) {
            this.view.frame(direction, new Vector3(), 1.5 * this.picture.spec.reach, options);
            return;
        }
        const box = new Box3().copy(world.box).union(world.tips);
        this.view.frame(direction, box.getCenter(new Vector3()), world.radius,
            { ...options, box });
    }

    go(name) {
        this.touched = name !== 'home';
        if (!this.viewButtons.has(name)) return;
        if (name === 'home') this.home();
        if (name === 'solid')
            this.look(this.world.upright
                ? new Vector3(0.5, -1, 0.45)
                : new Vector3(0.45, -1, 0.8));
        if (name === 'top') this.look(new Vector3(0, -1e-3, 1));
        if (name === 'side') this.look(new Vector3(1, 0, 0.06));
        if (name === 'front') this.look(new Vector3(0, -1, 0.06));
        this.setPressed(name);
    }

    setFollow(on) {
        if (!this.followButton) return;
        this.view.follow = on;
        this.followButton.setAttribute('aria-pressed', String(on));
        if (this.viewName) {
            this.go(this.viewName);
            return;
        }
        // from where the user looks now
        const { camera, control } = this.view;
        const flat = camera.isOrthographicCamera;
        this.look(camera.position.clone().sub(control.target),
            flat ? { flat, up: camera.up.clone() } : {});
    }

    reset() {
        this.touched = false;
        this.view.follow = this.followHome;
        this.followButton?.setAttribute('aria-pressed', String(this.followHome));
        this.home();
    }

    async save() {
        const blob = await this.view.picture(3000); // 25 cm at 300 dots an inch
        if (blob) download(fileName(`${this.data.title}-scene`, '.png'), blob);
    }

    // ---- time, theme ------------------------------------------------------------------------

    setTime(t) {
        for (const p of this.pictures) p.world.update(t);
        if (!this.view) return;
        if (this.view.ghost) {
            this.ghostSamples.locate(Math.min(t, this.ghostSamples.t1));
            this.view.ghost.update(t);
        }
        this.view.invalidate();
        const now = performance.now();
        if (!this.lastText || now - this.lastText > 90 || !this.clock.playing) {
            this.lastText = now;
            this.updateText();
        }
    }

    updateText() {
        for (const { a, value } of this.readouts ?? []) {
            value.textContent = `${steady(a.magnitude)}${a.unit ? ' ' + a.unit : ''}`;
        }
    }

    rendered() {
        // the little axes: what x, y, z are on the screen
        const q = new Quaternion().copy(this.view.camera.quaternion).invert();
        const v = new Vector3();
        for (const [k, name] of ['x', 'y', 'z'].entries()) {
            v.set(k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0).applyQuaternion(q);
            const line = this.triad.querySelector(`[data-axis="${name}"]`);
            const text = this.triad.querySelector(`[data-name="${name}"]`);
            const [x, y] = [v.x * 20, -v.y * 20];
            line.setAttribute('x2', x.toFixed(1));
            line.setAttribute('y2', y.toFixed(1));
            text.setAttribute('x', (x * 1.42).toFixed(1));
            text.setAttribute('y', (y * 1.42 + 3.5).toFixed(1));
            const hidden = Math.hypot(x, y) < 3;
            text.style.opacity = hidden ? 0 : 1;
        }
    }

    paint(dark) {
        this.dark = dark;
        if (!this.view) return;
        this.view.paint(dark);
        for (const p of this.pictures) p.world.paint(dark);
        this.view.ghost?.paint(dark);
        if (this.readouts) {
            this.buildLegend();
            for (const [i, layer] of [...this.world.layers.values()].entries()) {
                const swatch = this.switches.querySelectorAll('label')[i]?.querySelector(
                    '.swatch');
                if (swatch && layer.key) swatch.style.background = cssColor(layer.key);
            }
        }
    }
}
