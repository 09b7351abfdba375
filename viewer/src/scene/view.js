// The stage: renderer, cameras and what is laid over the picture. Nothing is drawn unless
// something changed.
import {
    Color, DirectionalLight, HemisphereLight, OrthographicCamera, PCFShadowMap,
    PerspectiveCamera, Scene, Vector3,
    WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { css } from '../dom.js';
import { stage } from './palette.js';

const fov = 32;

let found = null;

/** What draws, and a surface for it; throws if nothing does. */
function probe() {
    if (found) return found;
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('webgl2', { antialias: false,
        powerPreference: 'high-performance' });
    if (!context) throw new Error('no WebGL');
    const info = context.getExtension('WEBGL_debug_renderer_info');
    const name = String(context.getParameter(info
        ? info.UNMASKED_RENDERER_WEBGL : context.RENDERER));
    found = { name, canvas, context,
        software: /swiftshader|llvmpipe|software|basic render/i.test(name) };
    return found;
}

/**
 * A canvas to draw on. Without a graphics processor smooth edges cost more than anything else,
 * and so does a second context: the one that was looked at is taken.
 */
function surface(quality) {
    const { name, software, canvas, context } = probe();
    const cheap = quality === 'low' || (quality === 'auto' && software);
    found.context = null;
    if (cheap && context) return { name, software, cheap, canvas, context };
    context?.getExtension('WEBGL_lose_context')?.loseContext();
    return { name, software, cheap, canvas: document.createElement('canvas') };
}

export class View {
    /** Throws if there is no WebGL. */
    constructor(host, overlay, { quality = 'auto' } = {}) {
        const { name, software, cheap, canvas, context } = surface(quality);
        this.canvas = canvas;
        this.overlay = overlay;
        this.head = 46; // pixels at the top: what is framed keeps clear of the buttons there
        this.rendererName = name;
        this.software = software;
        host.append(canvas, overlay);
        this.renderer = new WebGLRenderer({ canvas, antialias: !cheap, ...(context
            ? { context } : { powerPreference: 'high-performance' }) });
        this.renderer.debug.checkShaderErrors = false; // asking waits for the compiler
        this.renderer.shadowMap.type = PCFShadowMap;
        this.scene = new Scene();
        this.world = null;
        this.hemisphere = new HemisphereLight();
        this.sun = new DirectionalLight();
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(1024, 1024);
        this.sun.shadow.radius = 5;
        this.sun.shadow.normalBias = 0.02;
        this.fill = new DirectionalLight();
        this.scene.add(this.hemisphere, this.sun, this.sun.target);

        this.perspective = new PerspectiveCamera(fov, 1, 0.01, 100);
        this.orthographic = new OrthographicCamera(-1, 1, 1, -1, 0.01, 100);
        for (const camera of [this.perspective, this.orthographic]) camera.up.set(0, 0, 1);
        this.controls = [this.perspective, this.orthographic].map((camera) => {
            const controls = new OrbitControls(camera, canvas);
            controls.enableDamping = false;
            controls.enabled = false;
            controls.zoomToCursor = true;
            controls.addEventListener('change', () => this.invalidate());
            controls.addEventListener('start', () => this.onTouched?.());
            return controls;
        });
        this.perspective.add(this.fill, this.fill.target);
        this.orthographic.userData.isPlane = true;
        this.scene.add(this.perspective, this.orthographic);
        this.fill.position.set(0.3, 0.5, 1);
        this.fill.target.position.set(0, 0, -1);
        this.use(0);

        this.follow = false;
        this.lastFocus = new Vector3();
        this.dirty = true;
        this.frames = 0;
        this.slow = 0;
        this.frameMs = 0;
        this.lastFrame = null;
        this.level = 0;             // 0 full, then step by step cheaper
        this.fixedQuality = quality !== 'auto';
        if (cheap) this.level = 3;
        this.applyQuality();
        this.labels = [];
        canvas.addEventListener('webglcontextlost', (e) => {
            e.preventDefault();
            this.onLost?.();
        });
        this.resize();
    }

    /** Perspective (0) or orthographic (1). */
    use(i) {
        this.active = i;
        this.camera = i ? this.orthographic : this.perspective;
        this.controls.forEach((c, k) => { c.enabled = k === i; });
        this.camera.add(this.fill, this.fill.target);
        this.invalidate();
    }

    get control() {
        return this.controls[this.active];
    }

    invalidate() {
        this.dirty = true;
        this.onInvalid?.();
    }

    /** A second world behind the first, or none. */
    setGhost(world) {
        if (!world && !this.ghost) return;
        this.ghost?.dispose();
        this.ghost = world;
        if (world) this.scene.add(world.root);
        this.invalidate();
    }

    setWorld(world) {
        if (this.world) this.scene.remove(this.world.root);
        this.world = world;
        this.scene.add(world.root);
        this.overlay.replaceChildren();
        this.labels = world.points.filter((p) => p.label).map((p) => {
            const node = document.createElement('span');
            node.className = 'label';
            node.textContent = p.name;
            this.overlay.append(node);
            return { node, p };
        });
        this.lastFocusValid = false;
        this.invalidate();
    }

    paint(dark) {
        this.dark = dark;
        const c = stage(dark);
        this.scene.background = new Color(c.background);
        this.hemisphere.color.set(c.sky);
        this.hemisphere.groundColor.set(c.below);
        this.hemisphere.intensity = c.ambient;
        this.sun.intensity = c.sun;
        this.fill.intensity = c.fill;
        this.invalidate();
    }

    // ---- cameras ----------------------------------------------------------------------------

    /**
     * Put the camera in `direction` from `target` at a distance at which a ball of `radius`
     * fits, or for a box the smaller distance at which its corners do.
     */
    frame(direction, target, radius, { flat = false, up = null, box = null } = {}) {
        this.use(flat ? 1 : 0);
        const d = direction.clone().normalize();
        const camera = this.camera;
        camera.up.copy(up ?? new Vector3(0, 0, 1));
        camera.zoom = 1;
        const { open } = this;
        const aspect = this.width / Math.max(1, this.height * open);
        const right = new Vector3().crossVectors(camera.up, d);
        if (right.lengthSq() < 1e-9) right.set(1, 0, 0);
        right.normalize();
        const upward = new Vector3().crossVectors(d, right);
        let distance;
        const half = Math.tan(fov * Math.PI / 360) * open;
        const margin = 1.14;
        if (box) {
            // the smallest distance (or half height) at which all corners are inside
            distance = 0;
            let height = 0;
            const v = new Vector3();
            for (let i = 0; i < 8; i++) {
                v.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y,
                    i & 4 ? box.max.z : box.min.z).sub(target);
                const x = Math.abs(v.dot(right));
                const y = Math.abs(v.dot(upward));
                height = Math.max(height, y * margin, x * margin / aspect);
                distance = Math.max(distance,
                    v.dot(d) + Math.max(y, x / aspect) * margin / half);
            }
            this.planeHeight = height / open;
        } else {
            distance = radius * margin / Math.sin(fov * Math.PI / 360) /
                Math.min(1, aspect) / open;
            this.planeHeight = radius * margin / Math.min(1, aspect) / open;
        }
        distance = Math.max(distance, 1e-6);
        camera.position.copy(target).addScaledVector(d,
            flat ? Math.max(distance, 4 * this.planeHeight) : distance);
        this.control.target.copy(target);
        this.control.enableRotate = !flat;
        this.control.mouseButtons.LEFT = flat ? 2 : 0;
        this.control.touches.ONE = flat ? 1 : 0;
        this.shape();
        this.control.update();
        this.lastFocusValid = false;
        this.invalidate();
    }

    /** Part of the height that neither buttons at the top nor the legend lie over. */
    get open() {
        return 1 - this.top - this.bottom;
    }

    get top() {
        return Math.min(this.head, this.height / 3) / this.height;
    }

    get bottom() {
        return Math.min(this.foot ?? 0, this.height / 4) / this.height;
    }

    shape() {
        const aspect = this.width / Math.max(1, this.height);
        for (const camera of [this.perspective, this.orthographic])
            camera.setViewOffset(this.width, this.height, 0,
                -this.height * (this.top - this.bottom) / 2, this.width, this.height);
        this.perspective.aspect = aspect;
        const h = this.planeHeight ?? 1;
        Object.assign(this.orthographic,
            { left: -h * aspect, right: h * aspect, top: h, bottom: -h });
    }

    /** World size of a pixel at a point. */
    pixelAt = (point) => {
        if (this.active) return 2 * this.planeHeight / this.orthographic.zoom / this.height;
        const v = this.scratch ?? (this.scratch = new Vector3());
        v.subVectors(point, this.camera.position);
        const depth = v.dot(this.camera.getWorldDirection(this.scratch2 ??
            (this.scratch2 = new Vector3())));
        return Math.max(depth, 1e-9) * this.unitPixel();
    };

    unitPixel() {
        if (this.active) return 2 * this.planeHeight / this.orthographic.zoom / this.height;
        return 2 * Math.tan(fov * Math.PI / 360) / this.perspective.zoom / this.height;
    }

    // ---- size and quality -------------------------------------------------------------------

    resize() {
        const rect = this.canvas.parentElement.getBoundingClientRect();
        this.width = Math.max(1, Math.round(rect.width));
        this.height = Math.max(1, Math.round(rect.height));
        this.renderer.setPixelRatio(this.pixelRatio);
        this.renderer.setSize(this.width, this.height, false);
        this.shape();
        this.invalidate();
    }

    get pixelRatio() {
        const wanted = Math.min(window.devicePixelRatio || 1, 2);
        return [wanted, Math.min(wanted, 1.25), Math.min(wanted, 1), Math.min(wanted, 0.75),
            0.55][this.level];
    }

    applyQuality() {
        this.renderer.shadowMap.enabled = this.level < 3;
        this.sun.castShadow = this.level < 3;
        const size = this.level < 2 ? 1024 : 512;
        if (this.sun.shadow.mapSize.x !== size) {
            this.sun.shadow.mapSize.set(size, size);
            this.sun.shadow.map?.dispose();
            this.sun.shadow.map = null;
        }
        this.scene.traverse((o) => { if (o.material) o.material.needsUpdate = true; });
    }

    /** While playing: if frames keep taking too long, draw less. */
    judge(now, playing) {
        if (!playing) {
            this.lastFrame = null;
            return;
        }
        if (this.lastFrame !== null) {
            const ms = now - this.lastFrame;
            if (ms < 3000) this.frameMs = this.frameMs ? 0.9 * this.frameMs + 0.1 * ms : ms;
            this.slow = ms > 30 && ms < 3000
                ? this.slow + (ms > 100 ? 3 : 1)
                : Math.max(0, this.slow - 1);
            if (this.slow > 18 && this.level < 4 && !this.fixedQuality) {
                this.level++;
                this.slow = 0;
                this.applyQuality();
                this.resize();
            }
        }
        this.lastFrame = now;
    }

    // ---- drawing ----------------------------------------------------------------------------

    render() {
        this.dirty = false;
        const { world, camera } = this;
        if (!world) return;
        const focus = this.focusNow ?? (this.focusNow = new Vector3());
        const reach = world.focus(focus);
        if (this.follow) {
            if (this.lastFocusValid) {
                const d = focus.clone().sub(this.lastFocus);
                camera.position.add(d);
                this.control.target.add(d);
            }
            this.lastFocus.copy(focus);
            this.lastFocusValid = true;
        } else {
            this.lastFocusValid = false;
        }
        const distance = camera.position.distanceTo(this.control.target);
        const far = distance + 8 * world.radius + 20 * world.bodyRadius;
        camera.near = this.active ? distance - far : Math.max(distance * 0.01, 1e-7);
        camera.far = far;
        camera.updateProjectionMatrix();
        camera.updateMatrixWorld();

        // light from above left; its shadow covers the bodies only, so that it is sharp
        this.sun.target.position.copy(focus);
        const lightDistance = 3 * reach;
        const from = world.upright ? new Vector3(-0.35, -1, 0.7) : new Vector3(-0.42, -0.3, 1);
        this.sun.position.copy(focus).add(from.normalize().multiplyScalar(lightDistance));
        this.hemisphere.position.set(0, world.upright ? -1 : 0, 1);
        const s = this.sun.shadow.camera;
        const half = 1.35 * reach;
        Object.assign(s, { left: -half, right: half, top: half, bottom: -half,
            near: 0.05 * lightDistance, far: 3 * lightDistance });
        s.updateProjectionMatrix();
        this.sun.shadow.normalBias = 0.006 * reach;
        this.sun.shadow.bias = -0.0008;

        world.decorate(this.pixelAt, this.unitPixel());
        this.ghost?.decorate(this.pixelAt, this.unitPixel());
        this.renderer.render(this.scene, camera);
        this.frames++;
        this.placeLabels();
        this.onRendered?.(this);
    }

    placeLabels() {
        const v = this.labelScratch ?? (this.labelScratch = new Vector3());
        for (const { node, p } of this.labels) {
            v.copy(p.position).project(this.camera);
            const inside = p.object.visible && p.object.parent.visible && v.z < 1 &&
                Math.abs(v.x) < 1.05 && Math.abs(v.y) < 1.05;
            node.hidden = !inside;
            if (inside) {
                const x = (v.x * 0.5 + 0.5) * this.width;
                const y = (0.5 - v.y * 0.5) * this.height;
                node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
            }
        }
    }

    /** The picture as a PNG blob, this many pixels wide (0: as on the screen). */
    async picture(width = 0) {
        const most = this.renderer.capabilities.maxTextureSize;
        if (width) {
            this.renderer.setPixelRatio(Math.min(width, most, most * this.width / this.height) /
                this.width);
            this.renderer.setSize(this.width, this.height, false);
        }
        this.render();
        const blob = await new Promise((done) => this.canvas.toBlob(done, 'image/png'));
        if (width) {
            this.resize();
            this.render();
        }
        return blob;
    }

    stats() {
        const { info } = this.renderer;
        return {
            webgl: true, frames: this.frames, frameMs: this.frameMs, level: this.level,
            pixelRatio: this.pixelRatio,
            shadows: this.renderer.shadowMap.enabled, triangles: info.render.triangles,
            calls: info.render.calls,
            software: this.software, renderer: this.rendererName, width: this.width,
            height: this.height,
            background: css('--page'),
        };
    }
}
