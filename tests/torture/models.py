#!/usr/bin/env python3
"""Silent wrong answers: random models that must move alike.

    models.py NOSLIP [--count N] [--seed S] [--seconds T]

Each model is run by gauss with --digits and then again in another way that cannot change the
motion: by another method, in quadruple precision, in other units, with coordinates in another
order, with turned axes, as particles on rods instead of angles, backwards in time.  Two values
must agree to the digits that both runs said are right.  Runs with a warning claim nothing.
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
        return (f"gravity [0, 0, -{number(self.g * length)}]\nground plane\n"
                f"body ellipsoid({', '.join(a)}) {{\n"
                f"    mass {number(self.m * mass)}\n    com [{', '.join(com)}]\n"
                f"    inertia [[{I[0]}, 0, 0], [0, {I[1]}, 0], [0, 0, {I[2]}]]\n}}\n"
                f"start {{ quat [{', '.join(number(x) for x in q)}]; "
                f"omega [{', '.join(w)}] }}\nrun {{ until {number(self.until)} }}\n")

    names = ["energy", "omega.1", "omega.2", "omega.3"]

    def base(self):
        return Model(self.text(), same(self.names))

    def routes(self, r):
        M, L = 10.0 ** r.randrange(-6, 7), 1000.0
        units = same(self.names[1:])
        units["energy"] = lambda v: v["energy"] / (M * L * L)
        yield "units", Model(self.text(0, L, M), units), ()
        yield "axes", Model(self.text(1), {
            "energy": lambda v: v["energy"], "omega.1": lambda v: v["omega.3"],
            "omega.2": lambda v: v["omega.1"], "omega.3": lambda v: v["omega.2"]}), ()


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
        if done.returncode not in (0, 1, 2):
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

    def once(self, seed):
        r = random.Random(seed)
        family = r.choice([Chain, Chain, Sleigh, Sleigh, Ellipsoid])(r)
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
