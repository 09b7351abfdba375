"""Runs, simulations, ensembles, studies and output."""

import csv
import json
import os
import re
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree
import zipfile

import numpy as np
import pytest

import noslip

PROGRAM = os.environ["NOSLIP"]
SLOW = "state x' = v, v' = -x\nstart { x = 1; v = 0 }\nrun { until 1e9 }\n"


def command(*arguments):
    out = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    return json.loads(out.stdout)


@pytest.mark.parametrize(
    "model", ["rattleback", "chaplygin-sleigh", "falling-disk", "bicycle"]
)
def test_same_bits_as_the_program(model):
    r = noslip.Model(model).run(until=1, every=0.25)
    said = command("run", model, "--until", "1", "--every", "0.25", "--json")
    assert r.t.tolist() == said["t"]
    for name, values in said["values"].items():
        assert r[name].tolist() == values, name


def test_vectors_are_views():
    r = noslip.Model("rattleback").run(until=1, every=0.1)
    assert r["omega"].shape == (11, 3)
    assert np.array_equal(r["omega"][:, 2], r["omega.z"])
    z = r["omega.z"]
    assert not z.flags.writeable and not z.flags.owndata
    copy = z.copy()
    del r
    assert np.array_equal(z, copy)  # the view keeps the run alive


def test_events_and_quality():
    r = noslip.Model("rattleback").run(until=20)
    event = r.events[0]
    assert event.name == "reversal" and 0 < event.t < 20
    assert abs(event["omega.z"]) < 1e-12
    assert r.quality.energy_drift < 1e-13
    assert all(value < 1e-12 for value in r.quality.constraints.values())


def test_digits():
    r = noslip.Model("chaplygin-sleigh").run(until=2, every=1, digits=True)
    assert r.digits("theta").min() >= 12
    assert r.quality.trust
    with pytest.raises(noslip.RequestError):
        noslip.Model("chaplygin-sleigh").run(until=1).digits("theta")


def test_quad():
    m = noslip.Model(text="state x' = -x\nstart { x = 1 }")
    r = m.run(until=1, precision="quad")
    # exp(-1) = 0.36787944117144232159552377016146086744581113...
    high = 0.36787944117144232159552377016146086744581113
    assert r["x"][-1] == high
    assert abs(r.low("x")[-1] - -1.2428753672788363e-17) < 1e-31


def test_stopped_is_no_error():
    r = noslip.Model(text="state x' = x^2\nstart { x = 1 }\nrun { until 2 }").run()
    assert r.status == "stopped" and r.reason
    assert abs(lib_end(r) - 1) < 1e-6


def test_an_end_that_the_model_asks_for():
    r = noslip.Model(text="""state x' = 1
start { x = 0 }
event wall: x = 1 stop
run { until 2 }""").run()
    assert r.status == "done" and "by the event wall" in r.reason
    assert abs(lib_end(r) - 1) < 1e-12


def lib_end(r):
    from noslip._library import lib

    return lib.ns_result_diagnostic(r._pointer, b"t_end")


def test_wrong_requests():
    m = noslip.Model("chaplygin-sleigh")
    for wrong in (
        {"method": "magic"},
        {"tol": -1.0},
        {"out": "a.docx"},
        {"nothing": 1},
        {"precision": "half"},
    ):
        with pytest.raises(noslip.RequestError):
            m.run(until=1, **wrong)
    with pytest.raises(KeyError):
        m.run(until=1)["nothing"]


def test_output(tmp_path):
    r = noslip.Model("chaplygin-sleigh").run(until=1, every=0.5)
    for ending in ("csv", "json", "h5", "svg", "glb", "html"):
        path = tmp_path / f"motion.{ending}"
        r.save(path)
        assert path.stat().st_size > 100
        if ending not in ("h5", "glb"):
            assert r.to_bytes(ending)
    lines = [line for line in r.to_bytes("csv").decode().splitlines() if line[0] != "#"]
    assert [float(row["x"]) for row in csv.DictReader(lines)] == r["x"].tolist()
    assert json.loads(r.to_bytes("report"))
    with pytest.raises(noslip.RequestError):
        r.report(tmp_path / "page.txt")


def test_functional_mock_up_unit(tmp_path):
    path = tmp_path / "sleigh.fmu"
    noslip.emit(noslip.Model("chaplygin-sleigh"), out=str(path), fmi=3)
    with zipfile.ZipFile(path) as unit:
        assert unit.testzip() is None
        assert "sources/model.c" in unit.namelist()
        root = xml.etree.ElementTree.fromstring(unit.read("modelDescription.xml"))
    assert root.get("fmiVersion") == "3.0"
    names = [v.get("name") for v in root.find("ModelVariables")]
    assert {"time", "a", "theta", "der(theta')", "energy"} <= set(names)


def test_notebook_page_is_sandboxed():
    page = noslip.Model("chaplygin-sleigh").run(until=1, every=0.1)._repr_html_()
    assert page.startswith('<iframe sandbox="allow-scripts"')
    assert "<script" not in page  # everything inside the frame is escaped


def test_simulation_gives_the_bits_of_a_run():
    m = noslip.Model("rattleback")
    r = m.run(until=3, every=0.5)
    sim = m.simulation(until=3)
    for i, t in enumerate(r.t):
        sim.advance(t)
        assert sim.t == t
        assert np.array_equal(sim["omega"], r["omega"][i])


def test_simulation_state_and_restore():
    m = noslip.Model("rattleback")
    sim = m.simulation()
    sim.advance(1)
    saved = sim.save()
    sim.advance(2)
    x = sim.state
    other = m.simulation()
    other.restore(saved)
    other.advance(2)
    assert np.array_equal(other.state, x)
    sim.state = x
    assert np.array_equal(sim.state, x)
    begin, end = sim.span
    assert begin <= end
    with pytest.raises(noslip.RequestError):
        sim.state = [1, 2]


def test_simulation_parameters():
    m = noslip.Model(text="param w = 1\nstate x' = v, v' = -w^2*x\nstart { x = 1; v = 0 }")
    sim = m.simulation()
    sim.advance(np.pi / 2)  # x = 0, v = -1
    sim.set(w=2)
    assert sim.parameter("w") == 2
    sim.advance(np.pi)  # x = -sin(2 pi/2)/2 = 0, v = -cos(pi) = 1
    assert abs(sim["x"]) < 1e-14 and abs(sim["v"] - 1) < 1e-14


def test_simulation_events():
    text = "state x' = v, v' = -x\nstart { x = 1; v = 0 }\nevent zero: x"
    sim = noslip.Model(text=text).simulation()
    sim.advance(5)
    found = sim.events()
    assert [name for name, *_ in found] == ["zero", "zero"]
    assert np.allclose(
        [t for _, t, *_ in found], [np.pi / 2, 3 * np.pi / 2], rtol=0, atol=1e-14
    )
    seen = []
    sim = noslip.Model(text=text).simulation()
    sim.on_event(lambda name, t, direction, x: seen.append((name, t, direction)) or True)
    sim.advance(5)
    assert len(seen) == 1 and sim.t == seen[0][1] and seen[0][2] == -1

    def broken(*_):
        raise ZeroDivisionError

    sim.on_event(broken)
    with pytest.raises(ZeroDivisionError):
        sim.advance(10)


def test_ensemble_is_a_sweep(tmp_path):
    path = tmp_path / "table.csv"
    subprocess.run(
        [PROGRAM, "sweep", "chaplygin-sleigh", "--over", "a=0.5:1.5:40", "--until", "2"]
        + ["--get", "theta", "--get", "max(energy)", "--out", str(path), "--quiet"],
        check=True,
    )
    with open(path) as file:
        rows = list(csv.DictReader(file))
    values = [float(row["a"]) for row in rows]
    m = noslip.Model("chaplygin-sleigh")
    e = m.ensemble(set={"a": values}, until=2, get=["theta", "max(energy)"])
    assert len(e) == 40 and e["a"].tolist() == values
    assert [float(row["theta"]) for row in rows] == e["theta"].tolist()


def test_ensemble_gets_events_by_name():
    m = noslip.Model("rattleback")
    asked = ["reversal", "t2=event(reversal)"]
    e = m.ensemble(set={"omega.z": [-5.0, 0.5]}, until=3, get=asked)
    assert abs(e["reversal"][0] - m.run(until=3).events[0].t) < 1e-11  # other methods
    assert np.array_equal(e["reversal"], e["t2"], equal_nan=True)


def test_facts_outlive_their_options():
    m = noslip.Model("double-pendulum")
    s = noslip.section(m, on="".join(["theta", "1"]), until=5)
    assert s.facts["on"] == "theta1"


def test_texts_of_models():
    for kind in ("rolling", "bodies", "lagrange", "frame", "lie", "planar"):
        text = noslip.new(kind)
        assert noslip.format(text) == text
        noslip.Model(text=text)
    with pytest.raises(noslip.RequestError, match="did you mean"):
        noslip.explain("body-shap")
    claim = noslip.format('expect "a": 1=1 within 0', claim=True)
    assert claim == 'expect "a": 1 = 1 within 0\n'
    assert all(noslip.gallery().values())


def test_ensemble_rows_and_stop():
    m = noslip.Model("chaplygin-sleigh")
    seen = []
    e = m.ensemble(
        set={"a": np.linspace(0.5, 1, 64)},
        until=1,
        get="theta",
        on_row=lambda row, values: seen.append(row),
    )
    assert sorted(seen) == list(range(64))
    with pytest.raises(noslip.Error):
        m.ensemble(set={"nobody": [1.0]}, until=1)
    with pytest.raises(noslip.Error):
        m.ensemble(set={"a": [1.0, 2.0], "m": [1.0]}, until=1)


def interrupt_soon():
    def send():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()


def test_ctrl_c():
    m = noslip.Model(text=SLOW)
    interrupt_soon()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        m.run()
    assert time.monotonic() - began < 30


def test_progress_may_stop():
    r = noslip.Model(text=SLOW).run(progress=lambda fraction, t: True)
    assert r.status == "stopped"


def test_studies():
    bicycle = noslip.Model("bicycle", set={"kick": 0})
    found = noslip.equilibria(bicycle, over=("v", 4, 6.5))
    weave, capsize = (float(v) for v in re.findall(r"v = (\S+)\n", found.summary)[-2:])
    # Meijaard et al. 2007 give eleven decimals
    assert abs(weave - 4.29238253634) < 6e-12 and abs(capsize - 6.02426201539) < 6e-12
    assert found.tables
    sleigh = noslip.Model("chaplygin-sleigh")
    same = noslip.compare(sleigh, sleigh)
    assert same.status == "done"
    with pytest.raises(noslip.Error):
        noslip.lyapunov(sleigh, nonsense=1)


def test_studies_have_numbers():
    """What the papers' studies say is there as facts and tables, not as text alone."""
    disk = noslip.invariants(
        noslip.Model("falling-disk"), region="theta=0:0.5", base="theta=0", points=2, until=1
    )
    eta = disk.tables["eta"]
    # F(a, b; 1/2; x^2), a + b = -1/2, a b = 1/3, x = sin(0.5), by mpmath; W = cos(theta)
    assert abs(eta["eta2.2"][1] - 1.164166372739056) < 1e-13
    assert abs(eta["W"][1] - np.cos(0.5)) < 1e-14
    assert disk.facts["found"] == 2 and max(disk.tables["integrals"]["drift"]) < 1e-12
    assert abs(disk.facts["high"] - disk.facts["run_high"]) < 1e-10
    rattleback = noslip.check(noslip.Model("rattleback"), form=True)
    assert rattleback.facts["form"] < 1e-12
    ranks = rattleback.tables["ranks"]
    assert list(ranks["matrix"]) == ["two-form"] and ranks["rank"][0] == ranks["full"][0] == 6
    conserved = rattleback.tables["conserved"]
    said = dict(zip(conserved["quantity"], conserved["verdict"]))
    assert said["energy"] == "constant" and said["J.turn"] == "not constant"
    sleigh = noslip.Model(
        text="""
        param W = 0.7
        coordinate theta, x, y
        lagrangian ((x' - sin(theta)*theta')^2 + (y' + cos(theta)*theta')^2 + theta'^2)/2
        constraint blade: (y' - W*x)*cos(theta) - (x' + W*y)*sin(theta) = 0
        start { theta = 0.3; x = 0.2; y = 0.1; theta' = 1; x' = 0.5 }
        """
    )
    moving = noslip.check(sleigh)
    assert "x: -W*y" in moving.facts["moving_energy"]
    assert "energy.moving" in moving.tables["conserved"]["quantity"]
    suslov = noslip.measure(noslip.Model("suslov"))
    assert suslov.facts["unimodular"] == 1 and suslov.facts["preserved"] == 0
    assert abs(suslov.tables["algebra"]["residual"][0] + 1 / 11) < 1e-9
    growth = noslip.brackets(noslip.Model("vertical-disk")).tables["growth"]
    assert list(growth["dimension"]) == [2, 3, 4]


def test_study_is_the_command():
    r = noslip.lyapunov(noslip.Model("chaplygin-sleigh"), until=20)
    said = command("lyapunov", "chaplygin-sleigh", "--until", "20", "--json")
    assert json.loads(r.json) == said


def test_live_page(tmp_path, monkeypatch):
    """A page that recomputes is made of the playground, and says so where there is none."""
    r = noslip.Model("chaplygin-sleigh").run(until=1, every=0.5)
    monkeypatch.setenv("NOSLIP_PLAYGROUND", str(tmp_path / "nowhere.html"))
    with pytest.raises(noslip.RequestError, match="playground"):
        r.report(tmp_path / "live.html", live=True)
    playground = tmp_path / "playground.html"
    playground.write_bytes(b"before /*NOSLIP_DATA*/ after")
    monkeypatch.setenv("NOSLIP_PLAYGROUND", str(playground))
    r.report(tmp_path / "live.html", live=True)
    page = (tmp_path / "live.html").read_text()
    assert page.startswith("before ") and page.endswith(" after")
    assert json.loads(page[7:-6])["title"] == json.loads(r.to_bytes("report"))["title"]


def test_inputs_between_steps():
    """x' = u with u changed twice: pieces of lines, to round-off."""
    text = "input u = 1\ninput w = sin(t)\nstate x' = u\nstart { x = 0 }"
    m = noslip.Model(text=text)
    assert list(m.inputs) == ["u", "w"] and m.inputs["u"] == "given" != m.inputs["w"]
    s = m.simulation()
    s.advance(1)
    s.set_input(u=-2)
    s.step()
    s.advance(3)
    s.set_input(u=0.5)
    s.advance(4)
    assert abs(s["x"] - (1 - 4 + 0.5)) < 1e-14
    with pytest.raises(noslip.RequestError, match="`w`"):
        s.set_input(w=1)
    with pytest.raises(noslip.RequestError, match="nosuch"):
        s.set_input(nosuch=1)


def test_fit_of_two_experiments(tmp_path):
    """The true values within their errors; data as a file and as arrays."""
    m = noslip.Model(text="""
        param k = 2, c = 0.3
        state x' = v, v' = -k*x - c*v
        start { x = 1; v = 0 }
    """)
    true = {"k": 3.0, "c": 0.2}
    noise = np.random.default_rng(1).normal(0, 1e-3, (2, 101))
    one = m.run(until=10, every=0.1, set=true)
    two = m.run(until=10, every=0.1, set=true, start={"v": 1})
    with open(tmp_path / "one.csv", "w") as file:
        file.write("t,x\n")
        for t, x in zip(one.t, one["x"] + noise[0]):
            file.write(f"{t!r},{x!r}\n")
    f = noslip.fit(m, str(tmp_path / "one.csv"), "k,c", sigma={"x": 1e-3})
    g = noslip.fit(
        m.variant(v=1), [{"t": two.t, "x": two["x"] + noise[1]}], {"k": (0.1, 9), "c": None}
    )
    for study in (f, g):
        found = study["parameters"]
        for name, value, error in zip(found["name"], found["value"], found["error"]):
            assert 0 < error < 3e-3 and abs(value - true[name]) < 4 * error
