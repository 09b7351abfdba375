#!/usr/bin/env python3
"""Files that lie: damaged sweep tables, damaged and forged checkpoints.

    files.py NOSLIP [--count N] [--seed S] [--seconds T]

A damaged table is refused, or its damaged rows are computed again: then every byte is as
before.  A damaged checkpoint is refused.  A forged one, with its checksums repaired, may be
believed, but nothing crashes or hangs.  Prints what was tried and what went wrong; status 1 if
anything did.
"""

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

SWEPT = """title "Sleigh whose rows differ"
param m = 1, J = 1, a = 0.5, w = 1, u = 1
coordinate theta, x, y
let vx = x' - a*sin(theta)*theta', vy = y' + a*cos(theta)*theta'
lagrangian m/2*(vx^2 + vy^2) + J/2*theta'^2
constraint blade: y'*cos(theta) - x'*sin(theta) = 0
start { theta = 0; x = 0; y = 0; theta' = w; x' = u }
event far: x - 8 = 0 stop
run { until 5 }
"""
PULSE = """param k = 1
coordinate x
lagrangian x'^2/2 - k*x^2/2
force x = exp(-100*(t - 3)^2)
event middle: x = 0
start { x = 1; x' = 0 }
run { until 9 }
"""
CONTROL = """coordinate x
input u every 0.5 = -x'
lagrangian x'^2/2 - x^2/2
force x = u
start { x = 1; x' = 0 }
run { until 9 }
"""
BALL = """ground plane { friction coulomb(0.1); restitution 0.4 }
body sphere(0.05) { mass 0.2; uniform }
start { com [0, 0, 1.05]; omega [0, 60, 0] }
run { until 2 }
"""
SILENT = 60  # seconds after which a command counts as hanging
HEAD = struct.Struct("=16s8Q64s")


def fnv(data, start=14695981039346656037):
    h = start
    for byte in data:
        h = ((h ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return h


def arrays(data):
    """Places of the arrays of a table, from its seal: [(begin, bytes)], and the seal's room."""
    _, _, room, _, _, _, rows, columns, _, _ = HEAD.unpack_from(data)
    out = []
    for i in range(columns + 3):
        at, size = struct.unpack_from("=2Q", data, HEAD.size + 16 * i)
        out.append((at, size * rows))
    return out, room


def damage(data, random, places):
    """Another file, and in words what was done to it."""
    out = bytearray(data)
    n = len(out)
    at = random.choice(places)(random) if random.random() < 0.7 else random.randrange(n)
    kind = random.randrange(8)
    size = min(n - at, 1 << random.randrange(10))
    if kind < 3:
        out[at] ^= 1 << random.randrange(8)
        words = f"bit at {at}"
    elif kind == 3:
        out[at] = random.choice([0, 1, 255, 127, 128, random.randrange(256)])
        words = f"byte at {at} to {out[at]}"
    elif kind == 4:
        out[at : at + size] = bytes(size)
        words = f"{size} zeros at {at}"
    elif kind == 5:
        out[at : at + size] = random.randbytes(size)
        words = f"{size} random bytes at {at}"
    elif kind == 6:
        other = random.randrange(n - size + 1)
        out[at : at + size] = data[other : other + size]
        words = f"{size} bytes from {other} to {at}"
    else:
        del out[at:]
        words = f"cut at {at}"
    return bytes(out), words


class Trial:
    def __init__(self, noslip, folder, random):
        self.noslip, self.folder, self.random = noslip, folder, random
        self.tried, self.refused, self.repaired, self.believed = 0, 0, 0, 0
        self.wrong = []

    def run(self, *words):
        """Status (negative: signal, None: no end) and what it said."""
        try:
            done = subprocess.run([self.noslip, *words], cwd=self.folder, timeout=SILENT,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return None, "no end"
        return done.returncode, done.stdout.decode(errors="replace")

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def get(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def fail(self, what, status, said):
        self.wrong.append(f"{what}: status {status}: {said.strip()[-300:]}")

    def prepare(self, *words):
        status, said = self.run(*words)
        if status not in (0, 1):
            sys.exit(f"files.py: {' '.join(words)}: status {status}: {said}")


class Tables(Trial):
    name = "tables"
    request = ("sweep", "swept.mech", "--over", "w=-8:8:12", "--over", "a=0.01:3:8:log",
               "--get", "x", "--get", "theta'", "--quiet", "--out", "t.h5")

    def begin(self):
        self.put("swept.mech", SWEPT.encode())
        self.prepare(*self.request)
        self.whole = self.get("t.h5")
        places, room = arrays(self.whole)
        check = bytearray(self.whole)
        begin, size = places[-1]
        check[begin + size // 2 : begin + size] = bytes(size - size // 2)
        self.half = bytes(check)  # as a kill would leave it
        inside = [lambda r, p=p: p[0] + r.randrange(max(p[1], 1)) for p in places]
        self.places = inside + [lambda r: r.randrange(room)] * 3
        self.places += [lambda r: room + r.randrange(len(self.whole) - room)] * 3

    def once(self):
        base = self.random.choice([self.whole, self.half])
        data, words = damage(base, self.random, self.places)
        self.put("t.h5", data)
        status, said = self.run(*self.request)
        self.tried += 1
        if status == 2 and "t.h5" in said:
            self.refused += 1
        elif status == 0 and self.get("t.h5")[: len(self.whole)] == self.whole:
            self.repaired += 1
        else:
            self.fail("table, " + words, status, said)


class Checkpoints(Trial):
    name = "checkpoints"
    runs = [("pulse.mech", "9", PULSE), ("control.mech", "9", CONTROL),
            ("ball.mech", "2", BALL)]

    def command(self, which, *more):
        model, until, _ = self.runs[which // 3]
        method = ("gauss", "dop853", "taylor")[which % 3]
        return ("run", model, "--until", until, "--every", "0.1", "--method", method, "--json",
                "--engine", "interpreter", *more)

    def begin(self):
        self.bases = []
        for model, _, text in self.runs:
            self.put(model, text.encode())
        for which in range(9):
            self.prepare(*self.command(which, "--max-steps", "25", "--checkpoint", "c"))
            self.bases.append(self.get("c"))

    def damaged(self, which):
        base = self.bases[which]
        return damage(base, self.random, [lambda r: r.randrange(len(base))])

    def once(self):
        which = self.random.randrange(9)
        data, words = self.damaged(which)
        if data == self.bases[which]:
            return
        self.put("c", data)
        status, said = self.run(*self.command(which, "--resume", "c"))
        self.tried += 1
        if status == 2 and said.startswith("noslip: error: c "):
            self.refused += 1
        else:
            self.fail(f"checkpoint {which}, {words}", status, said)


class Forged(Checkpoints):
    name = "forged checkpoints"
    odd = [0.0, -1.0, 0.5, 1e300, -1e300, 1e-320, float("inf"), float("-inf"), float("nan"),
           7.0]

    # found once, tried first: which run, place in it, number; the run had passed what its
    # drive keeps ahead of it, and steps had no end
    known = [(1, 3688, 7.0)]

    def word(self):
        kind = self.random.randrange(4)
        if kind == 0:
            return struct.pack("=d", self.random.choice(self.odd))
        if kind == 1:
            return struct.pack("=Q", self.random.randrange(64))
        if kind == 2:
            return self.random.randbytes(8)
        return struct.pack("=d", self.random.gauss(0, 1) * 10.0 ** self.random.randrange(-9, 9))

    def damaged(self, which):
        data = bytearray(self.bases[which])
        run = data.index(b"nsrun\r\n\0")
        words = []
        if self.tried < len(self.known):
            _, place, value = self.known[self.tried]
            struct.pack_into("=d", data, run + place, value)
            words.append(f"{value} at {run + place}")
        for _ in [] if words else range(self.random.choice([1, 1, 1, 2, 4, 16])):
            at = run - 48 + 8 * self.random.randrange((len(data) - run) // 8 + 5)
            value = self.word()
            data[at : at + 8] = value
            words.append(f"{value.hex()} at {at}")
        length = struct.unpack_from("=Q", self.bases[which], run + 24)[0]
        struct.pack_into("=Q", data, run + 32, fnv(data[run + 168 : run + length]))
        struct.pack_into("=Q", data, len(data) - 8, fnv(data[:-8]))
        return bytes(data), ", ".join(words)

    def once(self):
        first = self.tried < len(self.known)
        which = self.known[self.tried][0] if first else self.random.randrange(9)
        data, words = self.damaged(which)
        self.put("c", data)
        status, said = self.run(*self.command(which, "--resume", "c", "--max-steps", "20000"))
        self.tried += 1
        if status == 2:
            self.refused += 1
        elif status in (0, 1):
            self.believed += 1
        else:
            self.fail(f"forged checkpoint {which}, {words}", status, said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("noslip")
    parser.add_argument("--count", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400))
    parser.add_argument("--seconds", type=float, default=1e9, help="of each kind")
    parser.add_argument("--only", help="one kind")
    a = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="noslip-files-")
    wrong = 0
    print(f"seed {a.seed}")
    for kind in (Tables, Checkpoints, Forged):
        if a.only and a.only != kind.name:
            continue
        trial = kind(os.path.abspath(a.noslip), folder, random.Random(a.seed))
        trial.begin()
        end = time.monotonic() + a.seconds
        while trial.tried < a.count and time.monotonic() < end:
            trial.once()
        for line in trial.wrong[:20]:
            print("  " + line)
        wrong += len(trial.wrong)
        print(f"{kind.name}: {trial.tried} tried, {trial.refused} refused, "
              f"{trial.repaired} computed again, {trial.believed} believed, "
              f"{len(trial.wrong)} wrong")
    shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
