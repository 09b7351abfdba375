// The motion as a video: the picture is played from its start at the chosen speed and recorded.
import { button, byId, download, el, fileName } from './dom.js';

const kinds = ['video/mp4;codecs=avc1', 'video/webm;codecs=vp9', 'video/webm'];

/** Opens the dialog; report: what is shown. */
export function askVideo(report) {
    const { stage, clock } = report;
    const kind = window.MediaRecorder && kinds.find((k) => MediaRecorder.isTypeSupported(k));
    const say = el('p', { role: 'status' }, kind ? '' : 'This browser cannot record.');
    const size = el('select', { 'aria-label': 'Size' }, [['0', 'as shown'], ['1280', '1280 px'],
        ['1920', '1920 px']].map(([v, t]) => el('option', { value: v }, t)));
    const speed = el('select', { 'aria-label': 'Speed' }, [1, 0.5, 0.2, 0.1].map((s) =>
        el('option', { value: s }, s === 1 ? 'as it plays' : `${s} of it`)));
    const turn = el('input', { type: 'checkbox', 'aria-label': 'Turntable' });
    const go = button('Record', { text: 'Record' });
    go.disabled = !kind;
    const dialog = el('dialog', { 'aria-label': 'Video' }, el('h2', {}, 'Video'),
        el('p', {}, el('label', {}, 'Size ', size), ' ', el('label', {}, 'Speed ', speed), ' ',
            el('label', {}, turn, ' turntable')), say, go,
        button('Close', { text: 'Close', on: () => dialog.close() }));
    document.body.append(dialog);
    let recorder = null;
    const finish = () => {
        if (recorder?.state === 'recording') recorder.stop();
    };
    dialog.addEventListener('close', () => {
        finish();
        dialog.remove();
    });
    go.addEventListener('click', () => {
        go.disabled = true;
        say.textContent = 'Recording… Close ends it.';
        recorder = record(report, { kind, width: Number(size.value),
            speed: Number(speed.value), turn: turn.checked }, (blob) => {
            const ending = kind.startsWith('video/mp4') ? '.mp4' : '.webm';
            download(fileName(stage.data.title, ending), blob);
            say.textContent = `${(blob.size / 1e6).toFixed(1)} MB were saved.`;
            go.disabled = false;
        });
    });
    dialog.show();
    dialog.classList.add('aside');
    byId('stage').scrollIntoView({ block: 'nearest' });
    clock.pause();
}

function record({ stage, clock, schedule }, { kind, width, speed, turn }, done) {
    const { view } = stage;
    const before = { loop: clock.loop, speed: clock.speed };
    if (width) {
        view.renderer.setPixelRatio(width / view.width);
        view.renderer.setSize(view.width, view.height, false);
    }
    const recorder = new MediaRecorder(stage.canvas.captureStream(30),
        { mimeType: kind, videoBitsPerSecond: 12e6 });
    const parts = [];
    recorder.ondataavailable = (e) => parts.push(e.data);
    const control = view.control;
    if (turn) {
        control.autoRotate = true;
        // once round in the whole video
        control.autoRotateSpeed = 60 / Math.max(1, clock.duration / (before.speed * speed));
    }
    const step = () => {
        if (recorder.state !== 'recording') return;
        if (turn) control.update();
        view.invalidate();
        if (clock.t >= clock.t1 || !clock.playing) recorder.stop();
        else requestAnimationFrame(step);
    };
    recorder.onstop = () => {
        control.autoRotate = false;
        clock.pause();
        clock.loop = before.loop;
        clock.setSpeed(before.speed);
        view.resize();
        done(new Blob(parts, { type: kind }));
    };
    clock.loop = false;
    clock.setTime(clock.t0);
    clock.setSpeed(before.speed * speed);
    recorder.start(500);
    clock.play();
    schedule();
    requestAnimationFrame(step);
    return recorder;
}
