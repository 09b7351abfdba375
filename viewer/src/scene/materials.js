// Surfaces. Two shader fragments are put into three's own materials: a pattern in body
// coordinates that makes rotation visible, and grid lines in object coordinates that make
// curvature visible.
import {
    Color, DoubleSide, FrontSide, BackSide, MeshLambertMaterial, MeshPhongMaterial, Vector2,
    Vector3,
} from 'three';

const patterns = { plain: 0, octants: 1, sectors: 2, halves: 3 };

/** `centre` and `half`: the box of the shape in body coordinates. */
export function bodyMaterial({ pattern = 'octants', centre, half, doubleSided = false,
    flat = false }) {
    const uniforms = {
        uTone: { value: new Color() }, uSecond: { value: new Color() },
        uAccent: { value: new Color() },
        uCentre: { value: centre.clone() },
        uHalf: { value: half.clone().max(new Vector3(1e-9, 1e-9, 1e-9)) },
    };
    const kind = patterns[pattern] ?? patterns.octants;
    const material = new MeshPhongMaterial({
        shininess: 45, specular: 0x2a2a2a, side: doubleSided ? DoubleSide : FrontSide,
        flatShading: flat,
    });
    material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, uniforms);
        shader.vertexShader = shader.vertexShader
            .replace('#include <common>',
                '#include <common>\nvarying vec3 vBody;\nuniform vec3 uCentre, uHalf;')
            .replace('#include <begin_vertex>',
                '#include <begin_vertex>\nvBody = (position - uCentre) / uHalf;');
        shader.fragmentShader = shader.fragmentShader
            .replace('#include <common>', `#include <common>
varying vec3 vBody;
uniform vec3 uTone, uSecond, uAccent;
vec3 patternColor() {
    vec3 w = max(fwidth(vBody), vec3(1e-6));
    vec3 s = clamp(vBody / w, -1.0, 1.0);
#if NS_PATTERN == 1
    float c = 0.5 + 0.5 * s.x * s.y * s.z;
    float corner = min(min(s.x, s.y), s.z) * 0.5 + 0.5;
    return mix(mix(uSecond, uTone, c), uAccent, clamp(corner, 0.0, 1.0));
#elif NS_PATTERN == 2
    float angle = atan(vBody.y, vBody.x);
    float f = sin(6.0 * angle);
    float c = clamp(f / max(fwidth(f), 1e-6), -1.0, 1.0) * 0.5 + 0.5;
    vec3 tone = mix(uSecond, uTone, c);
    float first = step(0.0, angle) * step(angle, 0.5235988);
    tone = mix(tone, uAccent, first * c);
    // on the faces a rim, so that light sectors end somewhere
    float r = length(vBody.xy);
    float rim = smoothstep(0.925 - fwidth(r), 0.925 + fwidth(r), r) * step(0.995, abs(vBody.z));
    return mix(tone, uTone * 0.8, rim);
#elif NS_PATTERN == 3
    return mix(uSecond, uTone, 0.5 + 0.5 * s.z);
#else
    return uTone;
#endif
}`)
            .replace('#include <color_fragment>',
                '#include <color_fragment>\ndiffuseColor.rgb = patternColor();');
        shader.fragmentShader = `#define NS_PATTERN ${kind}\n` + shader.fragmentShader;
    };
    material.customProgramCacheKey = () => `body${kind}`;
    material.userData.uniforms = uniforms;
    material.userData.plain = kind === 0;
    return material;
}

/** Tones of a body around its colour. */
export function paintBody(material, tone, dark, colors) {
    const { uTone, uSecond, uAccent } = material.userData.uniforms;
    uTone.value.copy(tone);
    const hsl = {};
    tone.getHSL(hsl);
    // next to light tones a dark one
    if (hsl.l > 0.78) uSecond.value.set('#4a545f');
    else uSecond.value.set(colors.pattern).lerp(tone, dark ? 0.06 : 0.1);
    // the accent is the tone, lighter: it breaks the last symmetry of the pattern
    uAccent.value.setHSL(hsl.h, Math.min(1, hsl.s * 0.95),
        dark ? Math.min(0.82, hsl.l + 0.2) : Math.min(0.72, hsl.l + 0.26));
}

/**
 * Ground: lines at multiples of `step` in two surface coordinates (attribute uv) if there are
 * any, otherwise in the object coordinates in which the surface is not flat. `radius` > 0 fades
 * a plane out. The side of the body is opaque, the other one like glass, so that one sees into
 * bowls and cylinders and under planes.
 */
export function groundMaterials({ step, hasUv = false, uvStep, radius = 0, plain = false,
    glass = false, relief = 0 }) {
    const uniforms = {
        uStep: { value: step }, uUvStep: { value: new Vector2(...(uvStep ?? [step, step])) },
        uRadius: { value: radius }, uLine: { value: new Color() },
        uMajor: { value: new Color() },
        uLines: { value: 1 }, uPlain: { value: plain ? 1 : 0 }, uRelief: { value: relief },
    };
    const make = (side, opacity) => {
        const material = new MeshLambertMaterial({
            side, transparent: glass || side === BackSide || radius > 0, opacity,
            depthWrite: side === FrontSide && !glass,
            polygonOffset: true, polygonOffsetFactor: 1.5, polygonOffsetUnits: 2,
        });
        material.onBeforeCompile = (shader) => {
            Object.assign(shader.uniforms, uniforms);
            shader.uniforms.uGlass = { value: side === BackSide ? 1 : 0 };
            shader.vertexShader = shader.vertexShader
                .replace('#include <common>', `#include <common>
varying vec3 vObject;
varying vec3 vObjectNormal;
#ifdef NS_UV
attribute vec2 grid;
varying vec2 vGridUv;
#endif`)
                .replace('#include <begin_vertex>', `#include <begin_vertex>
vObject = position;
vObjectNormal = normal;
#ifdef NS_UV
vGridUv = grid;
#endif`);
            shader.fragmentShader = shader.fragmentShader
                .replace('#include <common>', `#include <common>
varying vec3 vObject;
varying vec3 vObjectNormal;
#ifdef NS_UV
varying vec2 vGridUv;
#endif
uniform float uStep, uRadius, uLines, uGlass, uPlain, uRelief;
uniform vec2 uUvStep;
uniform vec3 uLine, uMajor;
// cover of a line of this width in pixels at multiples of one; fades where lines come too close
float lineAt(float x, float width) {
    float w = fwidth(x);
    float d = abs(fract(x - 0.5) - 0.5) / max(w, 1e-9);
    float cover = clamp(width * 0.5 + 0.5 - d, 0.0, 1.0);
    return cover * (1.0 - smoothstep(0.12, 0.4, w));
}`)
                .replace('#include <color_fragment>', `#include <color_fragment>
{
    float minor = 0.0, major = 0.0;
#ifdef NS_UV
    vec2 g = vGridUv / uUvStep;
    minor = max(lineAt(g.x, 1.0), lineAt(g.y, 1.0));
    major = max(lineAt(g.x / 5.0, 1.4), lineAt(g.y / 5.0, 1.4));
#else
    vec3 g = vObject / uStep;
    vec3 n = abs(normalize(vObjectNormal));
    vec3 on = smoothstep(0.999, 0.97, n);   // no lines in the coordinate in which it is flat
    minor = max(max(lineAt(g.x, 1.0) * on.x, lineAt(g.y, 1.0) * on.y), lineAt(g.z, 1.0) * on.z);
    major = max(max(lineAt(g.x / 5.0, 1.4) * on.x, lineAt(g.y / 5.0, 1.4) * on.y),
        lineAt(g.z / 5.0, 1.4) * on.z);
#endif
    if (uRelief > 0.0) { // light from the upper left, as on a map
        vec3 up = normalize(vObjectNormal) * sign(vObjectNormal.z);
        float light = dot(normalize(vec3(up.xy * uRelief, up.z)), vec3(-0.48, 0.36, 0.8));
        diffuseColor.rgb *= clamp(1.0 + 0.6 * (light - 0.8), 0.62, 1.0);
    }
    minor *= uLines;
    major *= uLines;
    diffuseColor.rgb = mix(mix(diffuseColor.rgb, uLine, minor), uMajor, major);
    if (uGlass > 0.5) diffuseColor.a = max(diffuseColor.a, 0.55 * max(minor * 0.6, major));
    if (uRadius > 0.0)
        diffuseColor.a *= 1.0 - smoothstep(0.72, 1.0, length(vObject.xy) / uRadius);
}`);
            shader.fragmentShader = shader.fragmentShader.replace('#include <opaque_fragment>',
                'if (uPlain > 0.5) outgoingLight = diffuseColor.rgb;\n' +
                    '#include <opaque_fragment>');
            if (hasUv) {
                shader.vertexShader = '#define NS_UV\n' + shader.vertexShader;
                shader.fragmentShader = '#define NS_UV\n' + shader.fragmentShader;
            }
        };
        material.customProgramCacheKey = () => `ground${hasUv}${side}`;
        return material;
    };
    return { front: make(FrontSide, glass ? 0.35 : 1), back: make(BackSide, 0.1), uniforms };
}
