#!/usr/bin/env python3
"""Silent wrong answers: random models that must move alike.

    models.py NOSLIP [--count N] [--seed S] [--seconds T]

Each model is run by gauss with --digits and then again in another way that cannot change the
motion: by another method, in quadruple precision, in other units, with coordinates in another
order, with turned axes, as particles on rods instead of angles, in another formulation, in a
frame that moves, backwards in time; or the answer is known in closed form.  Two values must
agree to the digits that both runs said are right.  Runs with a warning claim nothing; a model
that is refused is a fault.
Prints what was tried and what went wrong; status 1 if anything did.
"""

import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

SILENT = 120
SLACK = 3.0  # digits are a sample of two motions; half a digit of luck (docs/cli.md, --digits)


class Model:
    """A text; values: names of what is compared, with the map from this model's values."""

    def __init__(self, text, values):
        self.text, self.values = text, values


def number(x):
    return repr(float(x))


def same(names):
    return {name: (lambda v, n=name: v[n]) for name in names}


# ---- families: parameters, and texts of variants ---------------------------------------------

class Chain:
    """n pendulums in a plane, each on the one before."""

    def __init__(self, r):
        self.n = r.choice([1, 1, 2, 2, 3])
        size = 10 ** r.uniform(-8, 8)
        self.m = [10 ** r.uniform(-2, 2) for _ in range(self.n)]
        self.l = [size * 10 ** r.uniform(-0.5, 0.5) for _ in range(self.n)]
        self.g = 10 ** r.uniform(-3, 3)
        beat = math.sqrt(size / self.g)
        self.q = [r.uniform(-1.5, 1.5) for _ in range(self.n)]
        self.w = [r.uniform(-1, 1) / beat for _ in range(self.n)]
        self.until = beat * r.uniform(0.5, 5)

    def text(self, length=1.0, mass=1.0, second=1.0, order=None, q=None, w=None):
        n = self.n
        order = order or list(range(n))
        lines = [f"param g = {number(self.g * length / second**2)}"]
        for i in range(n):
            lines.append(f"param m{i} = {number(self.m[i] * mass)}, "
                         f"l{i} = {number(self.l[i] * length)}")
        lines.append("coordinate " + ", ".join(f"q{i}" for i in order))
        vx, vy, y = [], [], []
        for i in range(n):
            vx.append(" + ".join(f"l{k}*cos(q{k})*q{k}'" for k in range(i + 1)))
            vy.append(" + ".join(f"l{k}*sin(q{k})*q{k}'" for k in range(i + 1)))
            y.append(" + ".join(f"l{k}*cos(q{k})" for k in range(i + 1)))
        lines.append("lagrangian " + " + ".join(
            f"m{i}/2*(({vx[i]})^2 + ({vy[i]})^2) + m{i}*g*({y[i]})" for i in range(n)))
        q, w = q or self.q, w or self.w
        starts = [f"q{i} = {number(q[i])}; q{i}' = {number(w[i] / second)}" for i in order]
        lines.append("start { " + "; ".join(starts) + " }")
        lines.append(f"run {{ until {number(self.until * second)} }}")
        return "\n".join(lines) + "\n"

    def values(self, second=1.0):
        out = {}
        for i in range(self.n):
            out[f"q{i}"] = lambda v, i=i: v[f"q{i}"]
            out[f"q{i}'"] = lambda v, i=i: v[f"q{i}'"] * second
        return out

    def particles(self):
        """The same as particles on rods; angles by atan2, within half a turn."""
        n, lines, at, speed = self.n, [f"param g = {number(self.g)}"], [], []
        x, y, vx, vy = 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            lines.append(f"coordinate x{i}, y{i}")
        kinetic = [f"{number(self.m[i])}*((x{i}'^2 + y{i}'^2)/2 - g*y{i})" for i in range(n)]
        lines.append("lagrangian " + " + ".join(kinetic))
        for i in range(n):
            dx, dy = (f"(x{i} - x{i - 1})", f"(y{i} - y{i - 1})") if i else ("x0", "y0")
            lines.append(f"constraint r{i}: {dx}^2 + {dy}^2 = {number(self.l[i])}^2")
            lines.append(f"observe angle{i} = atan2({dx}, -{dy})")
            s, c, l, w = f"sin({number(self.q[i])})", f"cos({number(self.q[i])})", \
                number(self.l[i]), number(self.w[i])
            x, y = f"{x} + {l}*{s}", f"{y} - {l}*{c}"
            vx, vy = f"{vx} + {l}*{w}*{c}", f"{vy} + {l}*{w}*{s}"
            at.append(f"x{i} = {x}; y{i} = {y}")
            speed.append(f"x{i}' = {vx}; y{i}' = {vy}")
        lines.append("start { " + "; ".join(at + speed) + " }")
        lines.append(f"run {{ until {number(self.until)} }}")
        return "\n".join(lines) + "\n"

    def base(self):
        return Model(self.text(), self.values())

    def routes(self, r):
        order = list(range(self.n))
        r.shuffle(order)
        yield "order", Model(self.text(order=order), self.values()), ()
        L, M, T = 1000.0, 10.0 ** r.randrange(-6, 7), 10.0 ** r.randrange(-6, 7)
        yield "units", Model(self.text(L, M, T), self.values(T)), ()
        turned = {f"q{i}": (lambda v, i=i: v[f"angle{i}"]) for i in range(self.n)}
        yield "particles", Model(self.particles(), turned), ()


class Sleigh:
    """A blade on a plane with a potential, seen in turned axes."""

    def __init__(self, r):
        size = 10 ** r.uniform(-8, 8)
        self.size, self.turn = size, r.uniform(-3, 3)
        self.m, self.J = 10 ** r.uniform(-2, 2), 10 ** r.uniform(-2, 2) * size**2
        self.a = size * r.uniform(-1, 1)
        self.w, self.u = r.uniform(-2, 2), size * r.uniform(-2, 2)
        self.k, self.slope = r.uniform(0, 1), size * r.uniform(-1, 1)
        self.phi, self.until = r.uniform(-3, 3), r.uniform(0.5, 5)

    def text(self, turn=0.0, length=1.0, mass=1.0, second=1.0, order="x, y, phi"):
        L2 = mass * length**2
        return (f"param m = {number(self.m * mass)}, J = {number(self.J * L2)}, "
                f"a = {number(self.a * length)}, k = {number(self.k * mass / second**2)}, "
                f"s = {number(self.slope * length / second**2)}, c = {number(turn)}\n"
                f"coordinate {order}\n"
                "lagrangian m/2*((x' - a*sin(phi)*phi')^2 + (y' + a*cos(phi)*phi')^2) + "
                "J/2*phi'^2 - k/2*(x^2 + y^2) - m*s*(x*cos(c) + y*sin(c))\n"
                "constraint blade: x'*sin(phi) - y'*cos(phi) = 0\n"
                f"param u = {number(self.u * length / second)}, p = {number(self.phi)} + c\n"
                f"start {{ x = 0; y = 0; phi = p; x' = u*cos(p); y' = u*sin(p); "
                f"phi' = {number(self.w / second)} }}\n"
                f"run {{ until {number(self.until * second)} }}\n")

    def base(self):
        return Model(self.text(), same(["x", "y", "phi", "phi'"]))

    def routes(self, r):
        c, s, b = math.cos(self.turn), math.sin(self.turn), self.turn
        yield "axes", Model(self.text(b), {
            "x": lambda v: (c * v["x"], s * v["y"]), "y": lambda v: (-s * v["x"], c * v["y"]),
            "phi": lambda v: (v["phi"], -b), "phi'": lambda v: v["phi'"]}), ()
        L, M, T = 1000.0, 10.0 ** r.randrange(-6, 7), 10.0 ** r.randrange(-6, 7)
        yield "units", Model(self.text(0, L, M, T), {
            "x": lambda v: v["x"] / L, "y": lambda v: v["y"] / L, "phi": lambda v: v["phi"],
            "phi'": lambda v: v["phi'"] * T}), ()
        yield "order", Model(self.text(order="phi, y, x"), same(["x", "y", "phi", "phi'"])), ()


class Ellipsoid:
    """An ellipsoid that rolls on a plane, thin or flat now and then."""

    def __init__(self, r):
        self.size = size = 10 ** r.uniform(-8, 8)
        self.axes = [size * 10 ** r.uniform(-r.choice([0.3, 1]), 0) for _ in range(3)]
        self.m, self.g = 10 ** r.uniform(-3, 3), 10 ** r.uniform(-2, 2) * size
        self.com = [0.1 * a * r.uniform(-1, 1) for a in self.axes]
        A, B, C = (self.m * size**2 * r.uniform(0.05, 0.2) for _ in range(3))
        self.I = [B + C, A + C, A + B]
        self.quat = [r.gauss(0, 1) for _ in range(4)]
        self.omega = [r.gauss(0, 1) for _ in range(3)]
        self.until = r.uniform(0.3, 2)

    def text(self, shift=0, length=1.0, mass=1.0):
        def turned(v):
            return [v[(i + shift) % 3] for i in range(3)]
        q = self.quat
        # a frame whose axes are those of the body in another order: a turn about (1, 1, 1)
        for _ in range(shift):
            p = (0.5, -0.5, -0.5, -0.5)
            p = (p[0], -p[1], -p[2], -p[3])
            q = [q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
                 q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
                 q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
                 q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0]]
        a = [number(x * length) for x in turned(self.axes)]
        com = [number(x * length) for x in turned(self.com)]
        I = [number(x * mass * length**2) for x in turned(self.I)]
        w = [number(x) for x in turned(self.omega)]
        return (f"param g = {number(self.g * length)}\nground plane\n"
                f"body ellipsoid({', '.join(a)}) {{\n"
                f"    mass {number(self.m * mass)}\n    com [{', '.join(com)}]\n"
                f"    inertia [[{I[0]}, 0, 0], [0, {I[1]}, 0], [0, 0, {I[2]}]]\n}}\n"
                f"start {{ quat [{', '.join(number(x) for x in q)}]; "
                f"omega [{', '.join(w)}] }}\nrun {{ until {number(self.until)} }}\n")

    names = ["energy", "omega.x", "omega.y", "omega.z"]

    def base(self):
        return Model(self.text(), same(self.names))

    def routes(self, r):
        M, L = 10.0 ** r.randrange(-6, 7), 1000.0
        units = same(self.names[1:])
        units["energy"] = lambda v: v["energy"] / (M * L * L)
        yield "units", Model(self.text(0, L, M), units), ()
        yield "axes", Model(self.text(1), {
            "energy": lambda v: v["energy"], "omega.x": lambda v: v["omega.z"],
            "omega.y": lambda v: v["omega.x"], "omega.z": lambda v: v["omega.y"]}), ()


class Ball:
    """A loaded ball that rolls: by rolling, by two kinds of constraints, by its reduced
    Lagrangian."""

    names = ["omega.x", "omega.y", "omega.z"]

    def __init__(self, r):
        self.R = R = 10 ** r.uniform(-7, 7)
        self.m, self.g = 10 ** r.uniform(-3, 3), R * 10 ** r.uniform(-1, 2)
        self.com = [R * r.uniform(-0.3, 0.3) for _ in range(3)]
        A, B, C = (self.m * R**2 * r.uniform(0.05, 0.2) for _ in range(3))
        self.I = [B + C, A + C, A + B]
        q = [r.gauss(0, 1) for _ in range(4)]
        size = math.sqrt(sum(x * x for x in q))
        self.quat, self.omega = [x / size for x in q], [r.gauss(0, 2) for _ in range(3)]
        self.until = r.uniform(0.3, 1)

    def body(self, words):
        I = ", ".join(number(x) for x in self.I)
        return (f"param g = {number(self.g)}, R = {number(self.R)}, m = {number(self.m)}\n"
                + words.replace("BODY", f"{{ mass m; com {self.com!r}; inertia diag({I}) }}")
                .replace("INERTIA", f"diag({I})").replace("COM", repr(self.com))
                + f"run {{ until {number(self.until)} }}\n")

    def base(self):
        return Model(self.body("ground plane\nbody sphere(R) BODY\n"
                               f"start {{ quat {self.quat!r}; omega {self.omega!r} }}\n"),
                     same(self.names))

    def routes(self, r):
        start = f"S.quat = {self.quat!r}; S.omega = {self.omega!r} }}\n"
        turned = {n: (lambda v, n=n: v["S." + n]) for n in self.names}
        yield "equations", Model(self.body(
            "body S BODY\nconstraint roll: S.position' = cross(S.omega.space, [0, 0, R])\n"
            "start { S.position = [0, 0, R]; " + start), turned), ()
        yield "contact", Model(self.body(
            "ground plane\nbody S sphere(R) BODY\nconstraint roll: rolling(S, ground)\n"
            "start { S.position ~ [0, 0, R]; " + start), turned), ()
        yield "reduced", Model(self.body(
            "let s = R*Gamma + COM, I = INERTIA\n"
            "lagrangian dot(omega, I*omega)/2 + m/2*dot(Y, Y) - m*g*dot(s, Gamma)\n"
            f"rolling {{ arm s }}\nstart {{ quat {self.quat!r}; omega {self.omega!r} }}\n"),
            same(self.names)), ()


class Tree:
    """Rods that hang on each other, branched: absolute and relative angles, quasivelocities."""

    def __init__(self, r):
        self.n = n = r.randrange(2, 7)
        size = 10 ** r.uniform(-6, 6)
        self.m = [10 ** r.uniform(-1, 1) for _ in range(n)]
        self.l = [size * r.uniform(0.3, 1.5) for _ in range(n)]
        self.on = [-1] + [r.randrange(i) for i in range(1, n)]
        self.g = size * r.uniform(1, 20)
        self.q = [r.uniform(-1, 1) for _ in range(n)]
        self.w = [r.uniform(-1, 1) for _ in range(n)]
        self.c, self.until = 0.1 * size**2, r.uniform(0.2, 1)

    def text(self, relative, frame=False):
        lines = [f"param g = {number(self.g)}", "coordinate " +
                 ", ".join(f"q{i}" for i in range(self.n))]
        start = []
        for i, on in enumerate(self.on):
            minus = relative and on >= 0
            lines.append(f"let a{i} = q{i}" + (f" + a{on}" if minus else ""))
            lines.append(f"let p{i} = " + (f"p{on} + " if on >= 0 else "") +
                         f"{number(self.l[i])}*[sin(a{i}), -cos(a{i})]")
            q, w = (f"{number(v[i])}" + (f" - ({number(v[on])})" if minus else "")
                    for v in (self.q, self.w))
            start.append(f"q{i} = {q}; " + (f"v{i + 1}" if frame else f"q{i}'") + f" = {w}")
            lines.append(f"observe angle{i} = a{i}")
        lines.append("lagrangian " + " + ".join(
            f"{number(self.m[i])}*(dot(p{i}', p{i}')/2 - g*p{i}.y)" for i in range(self.n)))
        lines.append(f"force q0 = -{number(self.c)}*a0'")
        if frame:
            lines.insert(0, "formulation hamel")
            lines.append("frame { " + "; ".join(
                f"e{i + 1} = [" + ", ".join("01"[k == i] for k in range(self.n)) + "]"
                for i in range(self.n)) + " }")
        return "\n".join(lines) + ("\nstart { " + "; ".join(start) + " }\n"
                                   f"run {{ until {number(self.until)} }}\n")

    def base(self):
        return Model(self.text(False), same([f"angle{i}" for i in range(self.n)]))

    def routes(self, r):
        names = same([f"angle{i}" for i in range(self.n)])
        yield "relative", Model(self.text(True), names), ()
        yield "frame", Model(self.text(False, True), names), ()


class Slide:
    """A ball thrown on a plane with Coulomb friction: level, tilted, moving.  Closed form: the
    slip falls by 7/2 mu g cos(tilt), then it rolls."""

    names = ["velocity.x", "velocity.y", "work.friction"]

    def __init__(self, r):
        self.R = 10 ** r.uniform(-6, 6)
        self.m, self.mu = 10 ** r.uniform(-3, 3), r.uniform(0.05, 0.5)
        self.g = self.R * r.uniform(1, 30)
        self.v = [self.R * r.uniform(-5, 5) for _ in range(2)]
        self.w = [r.uniform(-9, 9) for _ in range(3)]
        self.drift = [self.R * r.uniform(-3, 3) for _ in range(2)]
        self.until = r.uniform(0.2, 3)

    def text(self, body="sphere(R)", moving=False, law="coulomb(mu)"):
        d = self.drift if moving else [0.0, 0.0]
        v = [a + b for a, b in zip(self.v, d)]
        I = number(0.4 * self.m * self.R**2)
        at = f"origin [{number(d[0])}*t, {number(d[1])}*t, 0]; " if moving else ""
        return (f"param R = {number(self.R)}, mu = {number(self.mu)}, g = {number(self.g)}\n"
                f"ground plane {{ {at}friction {law} }}\n"
                f"body {body} {{ mass {number(self.m)}; inertia diag({I}, {I}, {I}) }}\n"
                f"start {{ com' {v!r}; omega.space {self.w!r} }}\n"
                f"run {{ until {number(self.until)} }}\n")

    def base(self):
        return Model(self.text(), same(self.names))

    def exact(self):
        u = [self.v[0] - self.R * self.w[1], self.v[1] + self.R * self.w[0]]
        slip = math.hypot(*u)
        t = min(self.until, 2 * slip / (7 * self.mu * self.g))
        return {f"velocity.{'xy'[i]}": self.v[i] - self.mu * self.g * t * u[i] / slip
                for i in range(2)}

    def routes(self, r):
        yield "ellipsoid", Model(self.text("ellipsoid(R, R, R)"), same(self.names)), ()
        dx, dy = self.drift
        yield "moving", Model(self.text(moving=True), {
            "velocity.x": lambda v: (v["velocity.x"], -dx),
            "velocity.y": lambda v: (v["velocity.y"], -dy)}), ()


class Sampled:
    """A cart under a controller that is sampled: the recursion is exact."""

    def __init__(self, r):
        self.T, self.k, self.d = r.uniform(0.02, 0.3), r.uniform(0, 9), r.uniform(0, 2)
        self.size = 10 ** r.uniform(-8, 8)
        self.x, self.v = self.size * r.uniform(-1, 1), self.size * r.uniform(-1, 1)
        self.until = r.uniform(0.1, 3)

    def base(self):
        return Model(f"param k = {number(self.k)}, d = {number(self.d)}\n"
                     f"input u every {number(self.T)} = -k*x - d*x'\n"
                     "coordinate x\nlagrangian x'^2/2\nforce x = u\n"
                     f"start {{ x = {number(self.x)}; x' = {number(self.v)} }}\n"
                     f"run {{ until {number(self.until)} }}\n", same(["x", "x'"]))

    def exact(self):
        x, v, n = self.x, self.v, 0
        while n * self.T < self.until:
            h, u = min(self.T, self.until - n * self.T), -self.k * x - self.d * v
            x, v, n = x + h * (v + h * u / 2), v + h * u, n + 1
        return {"x": x, "x'": v}

    def routes(self, r):
        yield "adams", self.base(), ("--method", "adams")
        yield "bdf", self.base(), ("--method", "bdf")


# ---- running ---------------------------------------------------------------------------------

class Trial:
    def __init__(self, noslip, folder):
        self.noslip, self.path = noslip, os.path.join(folder, "model.mech")
        self.models = self.routes = self.values = self.silent = self.unknown = 0
        self.by, self.wrong = {}, []

    def run(self, model, *more):
        """Values with digits at the end; None: nothing is claimed; text: what failed."""
        with open(self.path, "w") as file:
            file.write(model.text)
        try:
            done = subprocess.run([self.noslip, "run", self.path, "--json", "--digits", *more],
                                  timeout=SILENT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return "no end"
        said = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1) and "in double precision: choose" not in said:
            return f"status {done.returncode}: {said[-200:]}"
        if done.returncode != 0 or "warning" in said:
            return None
        d = json.loads(done.stdout)
        if "digits" not in d:
            return None
        return {name: (v[-1], d["digits"][name][-1]) for name, v in d["values"].items()}

    def compare(self, model, base, other, route, found, words):
        v = {name: pair[0] for name, pair in found.items()}
        for name, value in other.values.items():
            if base[name][1] is None:
                continue
            parts = value(v)
            parts = parts if isinstance(parts, tuple) else (parts,)
            a, digits = base[name]
            allowed = abs(a) * 10.0**-digits
            least = min((found[n][1] for n in self.inputs(value, v)
                         if found[n][1] is not None), default=None)
            if least is None or any(x is None for x in parts):
                continue
            allowed += sum(abs(x) for x in parts) * 10.0**-least
            self.values += 1
            off = abs(a - sum(parts))
            if digits >= 10 and least <= 2 and off > 0.1 * abs(a): # it is no matter of luck
                allowed = 0
            if off > SLACK * allowed + 4e-16 * abs(a):
                self.wrong.append(f"{words}, {route}, {name}: {a!r} ({digits} digits), "
                                  f"{sum(parts)!r} ({least} digits)\n{model.text}")

    @staticmethod
    def inputs(value, v):
        """Which values a map looks at."""
        class Seen(dict):
            def __init__(self, of):
                super().__init__(of)
                self.names = []

            def __getitem__(self, name):
                self.names.append(name)
                return super().__getitem__(name)
        seen = Seen(v)
        value(seen)
        return seen.names

    def backwards(self, family, base, words):
        """From the end with all speeds reversed: the start, as far as the end was right and
        what the way back makes of its error."""
        q = [base[f"q{i}"][0] for i in range(family.n)]
        w = [-base[f"q{i}'"][0] for i in range(family.n)]
        model = Model(family.text(q=q, w=w), {})
        found = self.run(model)
        self.routes += 1
        self.by["backwards"] = self.by.get("backwards", 0) + 1
        if isinstance(found, str):
            self.wrong.append(f"{words}, backwards: {found}\n{model.text}")
        if found is None:
            self.unknown += 1
        if not isinstance(found, dict):
            return
        right = [pair[1] for pair in base.values() if pair[1] is not None]
        there = min(right, default=0)
        for i in range(family.n):
            a, digits = found[f"q{i}"]
            if digits is None:
                continue
            allowed = (1 + abs(a)) * 10.0 ** (16 - there - digits)
            self.values += 1
            if abs(a - family.q[i]) > SLACK * allowed:
                self.wrong.append(f"{words}, backwards, q{i}: {a!r} ({digits} digits, "
                                  f"{there} before), not {family.q[i]!r}\n{model.text}")

    def closed_form(self, family, model, base, words):
        """Its own rounding errors are those of some hundred operations."""
        right = family.exact()
        scale = max(abs(v) for v in right.values())
        for name, value in right.items():
            a, digits = base[name]
            if digits is None:
                continue
            self.values += 1
            if abs(a - value) > SLACK * abs(a) * 10.0**-digits + 1e-13 * scale:
                self.wrong.append(f"{words}, closed form, {name}: {a!r} ({digits} digits), "
                                  f"not {value!r}\n{model.text}")

    def once(self, seed):
        r = random.Random(seed)
        family = r.choice([Chain, Sleigh, Ellipsoid, Ball, Tree, Slide, Sampled])(r)
        model = family.base()
        words = f"{type(family).__name__} of seed {seed}"
        base = self.run(model)
        self.models += 1
        if isinstance(base, str):
            self.wrong.append(f"{words}: {base}\n{model.text}")
            return
        if base is None:
            self.silent += 1
            return
        if hasattr(family, "exact"):
            self.closed_form(family, model, base, words)
        if isinstance(family, Chain) and r.random() < 0.5:
            self.backwards(family, base, words)
        routes = list(family.routes(r))
        routes = [r.choice(routes),
                  ("dop853", model, ("--method", "dop853", "--tol", "1e-12")),
                  r.choice([("taylor", model, ("--method", "taylor")),
                            ("quad", model, ("--precision", "quad"))])]
        for route, other, more in routes:
            found = self.run(other, *more)
            self.routes += 1
            self.by[route] = self.by.get(route, 0) + 1
            if isinstance(found, str):
                self.wrong.append(f"{words}, {route}: {found}\n{other.text}")
            elif found is None:
                self.unknown += 1
            else:
                self.compare(other, base, other, route, found, words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("noslip")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400))
    parser.add_argument("--seconds", type=float, default=1e9)
    a = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="noslip-models-")
    trial = Trial(os.path.abspath(a.noslip), folder)
    end = time.monotonic() + a.seconds
    while trial.models < a.count and time.monotonic() < end:
        trial.once(a.seed * 1000003 + trial.models)
    shutil.rmtree(folder)
    for line in trial.wrong[:10]:
        print("  " + line)
    ways = ", ".join(f"{n} {route}" for route, n in sorted(trial.by.items()))
    print(f"seed {a.seed}")
    print(f"models: {trial.models} tried ({trial.silent} without a claim), "
          f"{trial.routes} other routes ({ways}; {trial.unknown} without a claim), "
          f"{trial.values} values compared, "
          f"{len(trial.wrong)} wrong")
    return 1 if trial.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
