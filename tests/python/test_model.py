"""Models, evaluation and errors."""

import ctypes
import os
import re
import subprocess
import threading

import numpy as np
import pytest

import noslip
from noslip import _library

OSCILLATOR = """
param w = 2
state x' = v, v' = -w^2*x
start { x = 1; v = 0 }
event zero: x
"""


def test_prototypes_cover_the_header():
    """Every exported function has a prototype here, with as many arguments as in the header."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "include", "noslip", "noslip.h")) as file:
        header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    declared = {}
    for name, arguments in re.findall(r"NS_API[^;]*?\b(ns_\w+)\(([^;]*)\);", header):
        arguments = arguments.strip()
        depth, count = 0, 0 if arguments == "void" else 1
        for letter in arguments:
            depth += (letter == "(") - (letter == ")")
            count += letter == "," and depth == 0
        declared[name] = count
    assert set(declared) == set(_library.PROTOTYPES)
    for name, count in declared.items():
        assert len(_library.PROTOTYPES[name]) - 1 == count, name


def test_exports_are_the_prototypes():
    out = subprocess.run(
        ["nm", "-D", "--defined-only", _library.lib._name], capture_output=True, text=True
    ).stdout
    exported = set(re.findall(r"\bT (ns_\w+)", out))
    assert exported == set(_library.PROTOTYPES)


def test_text_and_names():
    m = noslip.Model(text=OSCILLATOR)
    assert m.formulation == "first-order"
    assert m.states == ["x", "v"]
    assert m.parameters == {"w": 2.0}
    assert m.start.tolist() == [1.0, 0.0]
    assert m.events == ["zero"]


def test_file_and_gallery(tmp_path):
    path = tmp_path / "own.mech"
    path.write_text(OSCILLATOR)
    assert noslip.Model(path).states == ["x", "v"]
    assert "rattleback" in noslip.gallery()
    assert noslip.Model("rattleback").formulation == "rolling"
    assert "gauss" in noslip.methods() and "rolling" in noslip.formulations()


def test_error_has_a_place():
    with pytest.raises(noslip.ModelError) as caught:
        noslip.Model(text="state x' = -y\nstart { x = 1 }\n")
    message = caught.value.messages[0]
    assert (message.severity, message.line, message.column) == ("error", 1, 13)
    assert "^" in str(caught.value) and "y" in message.text


def test_missing_model_is_said():
    with pytest.raises(noslip.ModelError, match="no-such-model"):
        noslip.Model("no-such-model")


@pytest.mark.parametrize("wrong", [{"nobody": 1}, {"w": "2 + "}, {"w": "1 parsec"}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(noslip.Error):
        noslip.Model(text=OSCILLATOR).variant(wrong)


def test_variant_equals_reading_again():
    m = noslip.Model("rattleback")
    a = m.run(until=2, set={"a": 0.22})
    b = noslip.Model("rattleback", set={"a": 0.22}).run(until=2)
    assert a.final == b.final
    assert m.parameters["a"] == 0.2  # the model itself did not change


def test_start_values():
    m = noslip.Model(text=OSCILLATOR)
    r = m.run(until=0.3, start={"x": 0, "v": 2})
    assert abs(r["x"][-1] - np.sin(0.6)) < 1e-15


def test_rates_and_jacobian():
    m = noslip.Model(text=OSCILLATOR)
    assert m.rates(0, [3, 5]).tolist() == [5, -12]
    assert m.jacobian(0, [3, 5]).tolist() == [[0, 1], [-4, 0]]
    assert m.parameter_jacobian(0, [3, 5]).tolist() == [[0], [-12]]
    x = np.random.default_rng(1).normal(size=(1000, 2))
    assert np.array_equal(m.rates(0, x), np.stack([x[:, 1], -4 * x[:, 0]], axis=1))
    assert np.array_equal(m.rates(0, x, [[3.0]])[:, 1], -9 * x[:, 0])
    with pytest.raises(noslip.RequestError, match="2 numbers"):
        m.rates(0, [1, 2, 3])


def test_many_points_are_single_points_to_the_bit():
    m = noslip.Model("rattleback")
    r = m.run(until=1, every=0.05)
    sim, points = m.simulation(), []
    for t in r.t:
        sim.advance(t)
        points.append(sim.state)
    together = m.rates(0, np.array(points))
    assert all(np.array_equal(m.rates(0, x), f) for x, f in zip(points, together))


def test_jacobian_against_differences():
    m = noslip.Model("rattleback")
    x, h = m.start, 1e-6
    exact = m.jacobian(0, x)
    for j in range(len(x)):
        step = np.zeros_like(x)
        step[j] = h
        slope = (m.rates(0, x + step) - m.rates(0, x - step)) / (2 * h)
        # central differences: h^2 f'''/6 + eps |f|/h, with |f| up to 1e2 and |f'''| up to 1e5
        assert np.allclose(
            exact[:, j], slope, rtol=1e-6, atol=1e-5 * (1 + np.abs(exact).max())
        )


def test_equations():
    m = noslip.Model("chaplygin-sleigh")
    assert "theta" in m.equations()
    assert m.equations("latex").startswith("\\documentclass")
    assert "<math" in m.equations("mathml")
    assert "int main" in m.equations("c")
    with pytest.raises(noslip.RequestError):
        m.equations("braille")


def test_units_and_roles():
    m = noslip.Model("rattleback")
    assert m.unit("omega.z") == "rad/s"
    assert m.role("quat.w") == "quaternion"
    assert len(m.columns("omega")) == 3
    with pytest.raises(KeyError):
        m.unit("nothing")


def test_threads_share_a_model():
    m = noslip.Model("rattleback")
    alone = m.run(until=3).final
    found = []

    def work():
        found.append(m.run(until=3, progress=False).final == alone)
        x = m.start
        found.append(np.array_equal(m.rates(0, x), m.rates(0, x[None, :])[0]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 16


def test_null_is_harmless():
    """Functions that take objects accept NULL."""
    assert _library.lib.ns_model_verdict(None) == _library.FAILED
    assert _library.lib.ns_result_rows(None) == 0
    assert ctypes.c_double(_library.lib.ns_model_number(None, 0, 0)).value != 0


def test_out_is_filled():
    model = noslip.Model("rattleback")
    x = np.array(model.start) + 1e-3 * np.arange(11)[:, None]
    out = np.empty_like(x)
    assert model.rates(0, x, out=out) is out
    assert (out == model.rates(0, x)).all()
    one = np.empty(x.shape[1])
    assert (model.rates(0, x[10], out=one) == out[10]).all()
    with pytest.raises(noslip.RequestError):
        model.rates(0, x, out=np.empty((3, 3)))


def test_large_results_are_their_own():
    """Memory of a result is used again only when no array needs it."""
    model = noslip.Model("rattleback")
    x = np.array(model.start) + 1e-3 * np.sin(np.arange(100_000))[:, None]
    model.threads = 1
    first = model.rates(0, x)
    kept = first.copy()
    part = first[::2, 3]  # a view keeps it alive
    del first
    model.threads = 3
    second = model.rates(0, 2 * x)
    assert (part == kept[::2, 3]).all() and not (second == kept).all()
    del second, part
    third = model.rates(0, x)
    assert (third == kept).all() and third.flags.writeable
