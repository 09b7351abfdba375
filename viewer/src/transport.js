// Play, pause, scrub, speed, loop; the keyboard.
import { button, byId, el, icon, unchanged } from './dom.js';
import { number, timeDigits } from './numbers.js';

export class Transport {
    constructor(data, clock) {
        this.clock = clock;
        const host = byId('transport');
        this.playButton = button('Play',
            { iconName: 'play', cls: 'play', title: 'Play (space)', on: () => clock.toggle() });
        this.range = el('input', {
            type: 'range', min: 0, max: 100000, step: 1, value: 0, 'aria-label': 'Time',
            class: 'scrub',
        });
        this.range.addEventListener('input', () => {
            clock.setTime(clock.t0 + clock.duration * Number(this.range.value) / 100000);
        });
        this.readout = el('output', { class: 'time', 'aria-label': 'Time' });
        this.speed = el('select', { 'aria-label': 'Speed of playback',
            title: 'Speed (+ and −)' },
            clock.constructor.speeds.map((s) =>
                el('option', { value: s }, `× ${number(s, 3)}`)));
        this.speed.addEventListener('change', () => clock.setSpeed(Number(this.speed.value)));
        this.loop = button('Repeat', {
            iconName: 'loop', title: 'Repeat (L)', pressed: clock.loop, on: () => {
                clock.loop = !clock.loop;
                clock.changed();
            },
        });
        this.help = button('Help', { iconName: 'help', title: 'Keys (?)',
            on: () => this.showHelp() });
        this.marks = el('div', { class: 'marks', 'aria-hidden': 'true' });
        host.append(this.playButton, el('div', { class: 'track' }, this.marks, this.range),
            this.readout, this.speed,
            this.loop, this.help);
        clock.onState(() => this.updateState());
        clock.onTime(() => this.updateTime());
        this.load(data);
    }

    load(data) {
        const { clock } = this;
        const still = !(clock.duration > 0);
        this.digits = timeDigits(clock.duration);
        this.unit = data.timeUnit;
        this.playButton.disabled = still;
        this.range.disabled = still;
        byId('transport').hidden = still;
        this.updateState();
        this.updateTime();
        if (unchanged(this.marks, data.spans, data.events.map((e) => e.t), clock.t0, clock.t1))
            return;
        this.marks.replaceChildren();
        for (const s of data.spans) {
            const a = this.fraction(s.from);
            const b = this.fraction(s.to);
            if (!(b > a)) continue;
            const mark = el('i', { class: 'span' });
            mark.style.left = `${100 * a}%`;
            mark.style.width = `${100 * (b - a)}%`;
            if (s.color) mark.style.background = `var(${s.color})`;
            mark.title = s.name;
            this.marks.append(mark);
        }
        let last = -1;
        let marks = 0;
        for (const at of data.events.map((e) => this.fraction(e.t)).sort((a, b) => a - b)) {
            if (!Number.isFinite(at) || at - last < 0.004) continue; // one mark for several
            last = at;
            marks++;
            const mark = el('i', { class: 'event' });
            mark.style.left = `${100 * at}%`;
            this.marks.append(mark);
        }
        this.marks.classList.toggle('dense', marks > 60);
    }

    fraction(t) {
        const { clock } = this;
        return clock.duration > 0
            ? Math.min(1, Math.max(0, (t - clock.t0) / clock.duration))
            : 0;
    }

    updateState() {
        const { clock } = this;
        const playing = clock.playing;
        if (this.shownPlaying !== playing) {
            this.shownPlaying = playing;
            this.playButton.replaceChildren(icon(playing ? 'pause' : 'play'));
            this.playButton.setAttribute('aria-label', playing ? 'Pause' : 'Play');
        }
        this.loop.setAttribute('aria-pressed', String(clock.loop));
        this.speed.value = String(clock.speed);
    }

    updateTime() {
        const { clock } = this;
        this.range.value = String(Math.round(100000 * this.fraction(clock.t)));
        const text = `${this.format(clock.t)} ${this.unit}`;
        this.range.setAttribute('aria-valuetext', text);
        this.readout.textContent = `${this.format(clock.t)} / ${this.format(clock.t1)} ` +
            `${this.unit}`;
    }

    format(t) {
        return t.toFixed(this.digits).replace('-', '−');
    }

    showHelp() {
        const dialog = byId('help');
        if (dialog.open) dialog.close();
        else dialog.showModal();
    }

    /** Keys for the whole page, unless something that uses keys itself has the focus. */
    listen(stage) {
        const { clock } = this;
        document.addEventListener('keydown', (e) => {
            if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return;
            const target = e.target;
            const typing = target.closest?.(
                'input:not([type=range]):not([type=checkbox]), textarea, select, ' +
                'dialog[open], [contenteditable], [role=tab]');
            if (typing) return;
            const onButton = target.closest?.('button, summary, a, input[type=checkbox]');
            const onRange = target === this.range;
            if (!onRange && target.type === 'range') return; // a slider of its own
            const step = clock.duration * (e.shiftKey ? 0.05 : 0.005);
            const actions = {
                ' ': () => clock.toggle(),
                ArrowLeft: () => { clock.pause(); clock.setTime(clock.t - step); },
                ArrowRight: () => { clock.pause(); clock.setTime(clock.t + step); },
                Home: () => clock.setTime(clock.t0),
                End: () => { clock.pause(); clock.setTime(clock.t1); },
                '+': () => clock.faster(1),
                '=': () => clock.faster(1),
                '-': () => clock.faster(-1),
                l: () => { clock.loop = !clock.loop; clock.changed(); },
                f: () => stage.view && stage.setFollow(!stage.view.follow),
                r: () => stage.view && stage.reset(),
                '?': () => this.showHelp(),
            };
            const views = stage.viewButtons ? [...stage.viewButtons.keys()] : [];
            views.forEach((name, i) => { actions[String(i + 1)] = () => stage.go(name); });
            const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
            const action = actions[key];
            if (!action) return;
            if (onButton && key === ' ') return;
            // the canvas is no scroll area, and OrbitControls listens to no keys
            e.preventDefault();
            action();
            if (onRange) this.range.focus();
        });
    }
}
