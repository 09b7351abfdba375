// The motion as a video. Where the browser has encoders (WebCodecs) every frame is drawn for
// its moment, 30 a second of the video, however long drawing takes; elsewhere the picture is
// played and what is seen is recorded (MediaRecorder).
import { button, byId, download, el, fileName } from './dom.js';
import { webm } from './webm.js';

const kinds = ['video/mp4;codecs=avc1', 'video/webm;codecs=vp9', 'video/webm'];
const codecs = [['vp09.00.51.08', 'V_VP9'], ['vp8', 'V_VP8']];
const rate = 30; // frames a second
const ahead = 4; // frames that may wait for the encoder
const apart = 2 * rate; // frames from one key frame to the next

/** Opens the dialog; report: what is shown. */
export function askVideo(report) {
    const { stage, clock } = report;
    const kind = window.MediaRecorder && kinds.find((k) => MediaRecorder.isTypeSupported(k));
    const able = Boolean(window.VideoEncoder || kind);
    const say = el('p', { role: 'status' }, able ? '' : 'This browser cannot record.');
    const done = el('progress', { max: 1, 'aria-label': 'Recorded' });
    done.hidden = true;
    const size = el('select', { 'aria-label': 'Size' }, [['0', 'as shown'], ['1280', '1280 px'],
        ['1920', '1920 px']].map(([v, t]) => el('option', { value: v }, t)));
    const speed = el('select', { 'aria-label': 'Speed' }, [1, 0.5, 0.2, 0.1].map((s) =>
        el('option', { value: s }, s === 1 ? 'as it plays' : `${s} of it`)));
    const turn = el('input', { type: 'checkbox', 'aria-label': 'Turntable' });
    turn.disabled = Boolean(stage.view.active); // a plane is seen from one side
    const go = button('Record', { text: 'Record' });
    go.disabled = !able;
    const dialog = el('dialog', { 'aria-label': 'Video' }, el('h2', {}, 'Video'),
        el('p', {}, el('label', {}, 'Size ', size), ' ', el('label', {}, 'Speed ', speed), ' ',
            el('label', {}, turn, ' turntable')), done, say, go,
        button('Close', { text: 'Close', on: () => dialog.close() }));
    document.body.append(dialog);
    const recording = { ended: false };
    dialog.addEventListener('close', () => {
        recording.ended = true;
        dialog.remove();
    });
    go.addEventListener('click', async () => {
        go.disabled = true;
        done.hidden = false;
        done.value = 0;
        say.textContent = 'Recording… Close ends it.';
        recording.progress = (part) => { done.value = part; };
        try {
            const { blob, ending } = await record(report, recording, { kind,
                width: Number(size.value), speed: clock.speed * Number(speed.value),
                turn: turn.checked });
            download(fileName(stage.data.title, ending), blob);
            say.textContent = `${(blob.size / 1e6).toFixed(1)} MB were saved.`;
        } catch (e) {
            say.textContent = `There is no video: ${e.message}`;
        }
        done.hidden = true;
        go.disabled = false;
    });
    dialog.show();
    dialog.classList.add('aside');
    byId('stage').scrollIntoView({ block: 'nearest' });
    clock.pause();
}

/** Sets the picture up for a video and puts it back afterwards. */
async function record(report, recording, options) {
    const { stage: { view }, clock } = report;
    const before = { loop: clock.loop, speed: clock.speed, t: clock.t,
        fixed: view.fixedQuality, from: view.camera.position.clone() };
    view.fixedQuality = true; // frames of one size
    if (options.width) {
        view.renderer.setPixelRatio(options.width / view.width);
        view.renderer.setSize(view.width, view.height, false);
    }
    view.control.autoRotate = options.turn;
    // once round in the whole video; OrbitControls counts turns a minute
    view.control.autoRotateSpeed = 60 * options.speed / clock.duration;
    clock.loop = false;
    try {
        const codec = await encoderFor(view.canvas);
        if (codec) return await encode(report, recording, options, codec);
        if (!options.kind) throw new Error('the browser has no encoder');
        return await watch(report, recording, options);
    } finally {
        view.control.autoRotate = false;
        view.fixedQuality = before.fixed;
        clock.pause();
        clock.loop = before.loop;
        clock.setSpeed(before.speed);
        view.resize();
        clock.setTime(before.t);
        if (options.turn && !view.follow) {
            view.camera.position.copy(before.from);
            view.control.update();
        }
    }
}

/** How the pictures of this canvas can be encoded here, or null. */
async function encoderFor({ width, height }) {
    if (!window.VideoEncoder) return null;
    const size = { width: width & ~1, height: height & ~1 };
    for (const [codec, name] of codecs) {
        const config = { codec, ...size, framerate: rate,
            bitrate: Math.max(2e6, 0.2 * rate * size.width * size.height) };
        const { supported } = await VideoEncoder.isConfigSupported(config).catch(() => ({}));
        if (supported) return { config, name };
    }
    return null;
}

/** Frame by frame. */
async function encode({ stage: { view }, clock }, recording, { speed, turn },
    { config, name }) {
    const frames = [];
    let failed = null;
    const encoder = new VideoEncoder({
        output: (chunk) => {
            const data = new Uint8Array(chunk.byteLength);
            chunk.copyTo(data);
            frames.push({ time: Math.round(chunk.timestamp / 1000), key: chunk.type === 'key',
                data });
        },
        error: (e) => { failed = e; },
    });
    encoder.configure(config);
    const count = Math.max(1, Math.ceil(rate * clock.duration / speed)) + 1;
    const { width, height } = config;
    let k = 0;
    for (; k < count && !recording.ended && !failed; k++) {
        clock.setTime(clock.t0 + k * speed / rate); // the end at most
        if (turn && k > 0) view.control.update(1 / rate);
        view.render();
        const frame = new VideoFrame(view.canvas, { timestamp: Math.round(1e6 * k / rate),
            alpha: 'discard', visibleRect: { x: 0, y: 0, width, height } });
        encoder.encode(frame, { keyFrame: k % apart === 0 });
        frame.close();
        recording.progress(k / count);
        do await new Promise((next) => { setTimeout(next); });
        while (encoder.encodeQueueSize > ahead && !failed);
    }
    if (!failed) await encoder.flush();
    if (failed) throw failed;
    encoder.close();
    return { ending: '.webm',
        blob: webm(frames, { codec: name, width, height, duration: 1000 * k / rate }) };
}

/** As it plays. */
function watch({ stage: { view }, clock, schedule }, recording, { kind, speed, turn }) {
    const recorder = new MediaRecorder(view.canvas.captureStream(rate),
        { mimeType: kind, videoBitsPerSecond: 12e6 });
    const parts = [];
    recorder.ondataavailable = (e) => parts.push(e.data);
    let last = null;
    const step = (now) => {
        if (recorder.state !== 'recording') return;
        if (turn && last !== null) view.control.update((now - last) / 1000);
        last = now;
        view.invalidate();
        recording.progress((clock.t - clock.t0) / clock.duration);
        if (clock.t >= clock.t1 || !clock.playing || recording.ended) recorder.stop();
        else requestAnimationFrame(step);
    };
    clock.setTime(clock.t0);
    clock.setSpeed(speed);
    recorder.start(500);
    clock.play();
    schedule();
    requestAnimationFrame(step);
    return new Promise((done) => {
        recorder.onstop = () => done({ blob: new Blob(parts, { type: kind }),
            ending: kind.startsWith('video/mp4') ? '.mp4' : '.webm' });
    });
}
