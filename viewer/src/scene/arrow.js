// Arrows of constant thickness on the screen. Parts hidden by bodies shine through faintly.
import { ConeGeometry, CylinderGeometry, GreaterDepth, Group, Mesh, MeshLambertMaterial,
    Quaternion, Vector3 } from 'three';

const Z = new Vector3(0, 0, 1);
const shaftGeometry = new CylinderGeometry(1, 1, 1, 14).rotateX(Math.PI / 2)
    .translate(0, 0, 0.5);
const headGeometry = new ConeGeometry(1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5);

export class Arrow {
    constructor({ width = 2.2, head = true } = {}) {
        this.width = width;
        // in the queue of transparent things, after glassy surfaces
        this.material = new MeshLambertMaterial({ transparent: true });
        this.ghost = new MeshLambertMaterial({
            transparent: true, opacity: 0.3, depthFunc: GreaterDepth, depthWrite: false,
        });
        this.object = new Group();
        this.parts = [];
        for (const material of [this.ghost, this.material]) {
            const shaft = new Mesh(shaftGeometry, material);
            const tip = head ? new Mesh(headGeometry, material) : null;
            for (const part of tip ? [shaft, tip] : [shaft]) {
                part.renderOrder = material === this.ghost ? 4 : 3;
                this.object.add(part);
            }
            this.parts.push({ shaft, tip });
        }
        this.q = new Quaternion();
        this.d = new Vector3();
    }

    setColor(color) {
        for (const material of [this.material, this.ghost]) {
            material.color.copy(color);
            material.emissive.copy(color).multiplyScalar(0.45);
        }
    }

    /**
     * From `origin` along `vector` (both Vector3, world units); `pixel`: world size of a pixel
     * there.
     */
    set(origin, vector, pixel) {
        const length = vector.length();
        this.object.position.copy(origin);
        this.object.visible = length > 0 && Number.isFinite(length);
        if (!this.object.visible) return;
        this.d.copy(vector).divideScalar(length);
        this.object.quaternion.copy(this.q.setFromUnitVectors(Z, this.d));
        const r = this.width * pixel;
        for (const { shaft, tip } of this.parts) {
            if (tip) {
                const headLength = Math.min(9 * r * 0.75, length * 0.6);
                const headRadius = Math.min(2.6 * r, headLength * 0.5);
                tip.scale.set(headRadius, headRadius, headLength);
                tip.position.set(0, 0, length - headLength);
                const rs = Math.min(r, headRadius * 0.5);
                shaft.scale.set(rs, rs, length - headLength * 0.95);
            } else {
                shaft.scale.set(r, r, length);
            }
        }
    }
}
