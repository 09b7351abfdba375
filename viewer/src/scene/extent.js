// Boxes around points.
import { Vector3 } from 'three';

/** Grow a box by points of three finite numbers. */
export function expand(box, data) {
    const v = new Vector3();
    for (let i = 0; i + 2 < data.length; i += 3) {
        v.set(data[i], data[i + 1], data[i + 2]);
        if (Number.isFinite(v.x + v.y + v.z)) box.expandByPoint(v);
    }
}
