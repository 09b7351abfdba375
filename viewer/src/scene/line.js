// Curves of constant width in pixels, drawn up to the current time and faintly after it. The
// width is laid out in view space, so that curves passing behind the camera are clipped
// rightly; every point is drawn a little nearer to the eye than it is, so that curves on
// surfaces stay visible without moving on the screen.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, Mesh, ShaderMaterial, Sphere,
    Vector3 } from 'three';

const vertexShader = `
attribute vec3 before, after;
attribute float side, stamp;
// width in px; view height in px over 2 tan(fov/2) or half height
uniform float uWidth, uPixel, uBias;
varying float vSide, vStamp;
void main() {
    vec4 p = modelViewMatrix * vec4(position, 1.0);
    vec3 along = (modelViewMatrix * vec4(after - before, 0.0)).xyz;
    bool perspective = projectionMatrix[2][3] != 0.0;
    vec3 eye = perspective ? p.xyz : vec3(0.0, 0.0, -1.0);
    vec3 across = cross(along, eye);
    float size = length(across);
    across = size > 0.0 ? across / size : vec3(0.0);
    float pixel = perspective ? max(-p.z, 0.0) * uPixel : uPixel;
    p.xyz += across * side * (uWidth * 0.5 + 0.5) * pixel;
    if (perspective) p.xyz *= 1.0 - uBias; else p.z += uBias * 1000.0 * pixel;
    vSide = side * (uWidth * 0.5 + 0.5);
    vStamp = stamp;
    gl_Position = projectionMatrix * p;
}`;

const fragmentShader = `
uniform vec3 uColor;
uniform float uNow, uPast, uFuture, uWidth, uTail;
varying float vSide, vStamp;
void main() {
    float alpha = vStamp <= uNow ? uPast : uFuture;
    if (uTail > 0.0 && vStamp <= uNow)
        alpha *= mix(1.0, 0.22, smoothstep(0.3, 1.0, (uNow - vStamp) / uTail));
    alpha *= clamp(uWidth * 0.5 + 0.5 - abs(vSide), 0.0, 1.0);
    if (alpha < 0.004) discard;
    gl_FragColor = vec4(uColor, alpha);
    #include <colorspace_fragment>
}`;

export class FatLine {
    /**
     * points: 3 numbers each, non-finite ones are gaps. stamps: a time each, or null. What is
     * older than `tail` (if not 0) pales.
     */
    constructor(points, stamps, { width = 2.5, past = 1, future = 0.28, bias = 0.0015,
        tail = 0 } = {}) {
        const n = points.length / 3;
        const position = new Float32Array(n * 6);
        const before = new Float32Array(n * 6);
        const after = new Float32Array(n * 6);
        const side = new Float32Array(n * 2);
        const stamp = new Float32Array(n * 2);
        const index = [];
        const good = (i) => i >= 0 && i < n &&
            Number.isFinite(points[3 * i] + points[3 * i + 1] + points[3 * i + 2]);
        const center = new Vector3();
        let count = 0;
        for (let i = 0; i < n; i++) {
            if (!good(i)) continue;
            center.x += points[3 * i];
            center.y += points[3 * i + 1];
            center.z += points[3 * i + 2];
            count++;
            // neighbours that are really elsewhere give the direction
            let a = i;
            let b = i;
            if (good(i - 1)) a = i - 1;
            if (good(i + 1)) b = i + 1;
            if (distinct(points, a, b) === false) {
                if (good(i - 1)) b = i;
                else a = i;
            }
            for (let k = 0; k < 2; k++) {
                for (let c = 0; c < 3; c++) {
                    position[(2 * i + k) * 3 + c] = points[3 * i + c];
                    before[(2 * i + k) * 3 + c] = points[3 * a + c];
                    after[(2 * i + k) * 3 + c] = points[3 * b + c];
                }
                side[2 * i + k] = k ? 1 : -1;
                stamp[2 * i + k] = stamps ? stamps[i] - stamps[0] : 0;
            }
            if (good(i + 1)) {
                const o = 2 * i;
                index.push(o, o + 1, o + 2, o + 1, o + 3, o + 2);
            }
        }
        if (count) center.divideScalar(count);
        let radius = 0;
        for (let i = 0; i < n; i++) {
            if (!good(i)) continue;
            radius = Math.max(radius, Math.hypot(points[3 * i] - center.x,
                points[3 * i + 1] - center.y,
                points[3 * i + 2] - center.z));
        }
        const geometry = new BufferGeometry();
        geometry.setAttribute('position', new BufferAttribute(position, 3));
        geometry.setAttribute('before', new BufferAttribute(before, 3));
        geometry.setAttribute('after', new BufferAttribute(after, 3));
        geometry.setAttribute('side', new BufferAttribute(side, 1));
        geometry.setAttribute('stamp', new BufferAttribute(stamp, 1));
        geometry.setIndex(index);
        geometry.boundingSphere = new Sphere(center, radius);
        this.uniforms = {
            uWidth: { value: width }, uPixel: { value: 1 }, uBias: { value: bias },
            uColor: { value: new Color() },
            uNow: { value: 0 }, uTail: { value: tail }, uPast: { value: past },
            uFuture: { value: stamps ? future : past },
        };
        this.start = stamps && stamps.length ? stamps[0] : 0;
        this.material = new ShaderMaterial({
            vertexShader, fragmentShader, uniforms: this.uniforms, transparent: true,
            depthWrite: false,
            side: DoubleSide,
        });
        this.object = new Mesh(geometry, this.material);
        this.object.renderOrder = 2;
        this.empty = index.length === 0;
    }

    setTime(t) {
        this.uniforms.uNow.value = t - this.start;
    }

    setColor(color) {
        this.uniforms.uColor.value.copy(color);
    }

    /** World size of one pixel: at unit distance (perspective) or anywhere (orthographic). */
    setPixel(size) {
        this.uniforms.uPixel.value = size;
    }
}

function distinct(points, a, b) {
    for (let c = 0; c < 3; c++) if (points[3 * a + c] !== points[3 * b + c]) return true;
    return false;
}
