#!/usr/bin/env python3
"""Runs that are stopped and killed at random moments go on to the same bytes.

    kills.py NOSLIP [--count N] [--seed S] [--seconds T]

A run with a checkpoint and a table gets SIGTERM or SIGKILL at a random moment, again and again;
the same command continues it.  At the end the table is that of a run nobody disturbed, byte for
byte.  Every method that has checkpoints, and `auto`; motions with events, pulses, tables and
controllers.  Prints what was tried and what went wrong; status 1 if anything did.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MODELS = {
    "events": """param e = 0.9
state z' = w, w' = -9.81 - 0.01*w, x' = cos(z)
event bounce: z = 0 falling { w = -e*w + 3 }
start { z = 1; w = 0; x = 0 }
""",
    "double pendulum": """coordinate a, b
lagrangian a'^2 + b'^2/2 + a'*b'*cos(a - b) + 9.81*(2*cos(a) + cos(b))
start { a = 1; b = 2; a' = 0; b' = 0 }
event up: a = 0 rising
""",
    "pulses": """coordinate x
lagrangian x'^2/2 - x^2/2
force x = exp(-100*(sin(t/3) - 0.5)^2)
start { x = 1; x' = 0 }
""",
    "controller": """input u every 0.07 = -2*x - x'
coordinate x, y
lagrangian x'^2/2 + y'^2/2 - cos(x - y)
force x = u
start { x = 1; x' = 0; y = 0.2; y' = 0 }
""",
}
METHODS = ["gauss", "taylor", "dop853", "auto"]
LENGTH = 1.0  # seconds that an undisturbed run takes, about


class Trial:
    def __init__(self, noslip, folder, r):
        self.noslip, self.folder, self.r = noslip, folder, r
        self.runs = self.ended = self.killed = 0
        self.known, self.wrong = {}, []

    def command(self, model, method, until, name):
        file = os.path.join(self.folder, "model.mech")
        with open(file, "w") as out:
            out.write(MODELS[model])
        return [self.noslip, "run", file, "--method", method, "--until", repr(until),
                "--every", repr(until / 400), "--out", os.path.join(self.folder, name),
                "--checkpoint", os.path.join(self.folder, name + ".checkpoint")]

    def whole(self, model, method):
        """How far it gets in LENGTH, and the table of that run."""
        if (model, method) not in self.known:
            until = 20.0
            while True:
                for name in os.listdir(self.folder):
                    os.unlink(os.path.join(self.folder, name))
                begin = time.monotonic()
                done = subprocess.run(self.command(model, method, until, "whole.csv"),
                                      stdin=subprocess.DEVNULL, capture_output=True)
                took = time.monotonic() - begin
                if done.returncode != 0:
                    return None, done.stderr.decode(errors="replace")[-300:]
                if took > LENGTH / 2 or until > 1e6:
                    break
                until *= min(10, max(1.5, LENGTH / took))
            with open(os.path.join(self.folder, "whole.csv"), "rb") as table:
                self.known[model, method] = until, table.read(), took
        return self.known[model, method], None

    def disturbed(self, command, took):
        """Runs, is ended at a random moment, and goes on, until it is done; its last status."""
        checkpoint = command[-1]
        for k in range(30):
            more = ["--resume", checkpoint] if os.path.exists(checkpoint) else []
            process = subprocess.Popen(command + more, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                patience = took * self.r.uniform(0, 1) if k < 6 else 120
                said = process.communicate(timeout=patience)[1]
                return process.returncode, said
            except subprocess.TimeoutExpired:
                last = self.r.random() < 0.3
                process.send_signal(signal.SIGKILL if last else signal.SIGTERM)
                process.communicate()
                self.killed += last
                self.ended += not last
        return None, b"no end"

    def once(self):
        model, method = self.r.choice(list(MODELS)), self.r.choice(METHODS)
        known, why = self.whole(model, method)
        self.runs += 1
        if not known:
            self.wrong.append(f"{model}, {method}: {why}")
            return
        until, table, took = known
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        status, said = self.disturbed(self.command(model, method, until, "part.csv"), took)
        with open(os.path.join(self.folder, "part.csv"), "rb") as file:
            same = file.read() == table
        if status != 0 or not same:
            self.wrong.append(f"{model}, {method}: status {status}, the table is "
                              f"{'the same' if same else 'another'}: "
                              f"{said.decode(errors='replace')[-200:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("noslip")
    parser.add_argument("--count", type=int, default=20, help="of signals")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400))
    parser.add_argument("--seconds", type=float, default=1e9)
    a = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="noslip-kills-")
    trial = Trial(os.path.abspath(a.noslip), folder, random.Random(a.seed))
    end = time.monotonic() + a.seconds
    while trial.ended + trial.killed < a.count and time.monotonic() < end:
        trial.once()
    shutil.rmtree(folder)
    for line in trial.wrong[:10]:
        print("  " + line)
    print(f"seed {a.seed}")
    print(f"kills: {trial.runs} runs, {trial.ended} times ended by SIGTERM and {trial.killed} "
          f"times killed, {len(trial.wrong)} wrong")
    return 1 if trial.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
