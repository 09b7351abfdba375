// Model time: playing, pausing, scrubbing. Everything on the page follows `onTime`.

const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export class Clock {
    constructor(t0, t1) {
        this.t0 = t0;
        this.t1 = t1;
        this.t = t0;
        this.playing = false;
        this.loop = true;
        this.speed = Clock.fitting(t1 - t0);
        this.timeListeners = [];
        this.stateListeners = [];
        this.last = null;
    }

    /** Another motion: the time stays where it was, if it is still there. */
    reset(t0, t1, keep) {
        this.t0 = t0;
        this.t1 = t1;
        if (!keep) {
            this.t = t0;
            this.speed = Clock.fitting(t1 - t0);
        }
        this.t = Math.min(t1, Math.max(t0, this.t));
        if (!(this.duration > 0)) this.playing = false;
    }

    static get speeds() {
        return speeds;
    }

    /** Real time, unless the whole motion would pass in a blink or take minutes. */
    static fitting(duration) {
        if (!(duration > 0)) return 1;
        let best = 1;
        if (duration > 120) best = speeds.find((s) => duration / s <= 60) ?? 100;
        if (duration < 2) best = [...speeds].reverse().find((s) => duration / s >= 3) ?? 0.01;
        return best;
    }

    get duration() {
        return this.t1 - this.t0;
    }

    onTime(f) {
        this.timeListeners.push(f);
    }

    onState(f) {
        this.stateListeners.push(f);
    }

    setTime(t) {
        if (!Number.isFinite(t)) return;
        this.t = Math.min(this.t1, Math.max(this.t0, t));
        for (const f of this.timeListeners) f(this.t);
    }

    changed() {
        for (const f of this.stateListeners) f(this);
    }

    play() {
        if (this.playing || !(this.duration > 0)) return;
        if (this.t >= this.t1) this.setTime(this.t0);
        this.playing = true;
        this.last = null;
        this.changed();
    }

    pause() {
        if (!this.playing) return;
        this.playing = false;
        this.changed();
    }

    toggle() {
        if (this.playing) this.pause();
        else this.play();
    }

    setSpeed(s) {
        this.speed = s;
        this.changed();
    }

    faster(steps) {
        let i = speeds.findIndex((s) => s >= this.speed * 0.999);
        if (i < 0) i = speeds.length - 1;
        this.setSpeed(speeds[Math.min(speeds.length - 1, Math.max(0, i + steps))]);
    }

    /** One frame at wall time `now` in ms. A long pause (hidden page) counts as one frame. */
    tick(now) {
        if (!this.playing) return;
        const passed = this.last === null ? 0 : Math.min(0.25, (now - this.last) / 1000);
        this.last = now;
        let t = this.t + passed * this.speed;
        if (t >= this.t1) {
            if (this.loop) {
                t = this.t0 + (t - this.t1) % this.duration;
            } else {
                this.setTime(this.t1);
                this.pause();
                return;
            }
        }
        this.setTime(t);
    }
}
