"""The wheel, and the notebook of the documentation."""

import os
import re
import subprocess
import sys

import pytest

HOME = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def run(*arguments, **more):
    out = subprocess.run(arguments, capture_output=True, text=True, **more)
    assert out.returncode == 0, out.stdout + out.stderr
    return out.stdout


def test_wheel_in_a_clean_environment(tmp_path):
    """A wheel made offline, with the library inside, imports where there is no source tree."""
    pytest.importorskip("pip")
    pytest.importorskip("venv")
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_PRELOAD")}
    if "LD_PRELOAD" in os.environ:
        pytest.skip("a library with sanitizers needs its runtime first")
    run(
        *(sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps"),
        *("--no-build-isolation", "--disable-pip-version-check", "-w", str(tmp_path), HOME),
        env=env,
        cwd=tmp_path,
    )
    wheel = next(tmp_path.glob("noslip-*.whl"))
    del env["NOSLIP_LIBRARY"]
    place = tmp_path / "env"
    run(sys.executable, "-m", "venv", "--system-site-packages", str(place), env=env)
    python = str(place / "bin" / "python")
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(wheel), env=env)
    words = (
        "import noslip; print(noslip.__file__, noslip.Model('rattleback').run(until=1).status)"
    )
    said = run(python, "-c", words, env=env, cwd=tmp_path)
    assert str(place) in said and said.split()[-1] == "done"


def test_notebook_runs():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    if "LD_PRELOAD" in os.environ:
        pytest.skip("too slow under sanitizers")
    book = nbformat.read(os.path.join(HOME, "docs", "tour.ipynb"), as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    assert not any(
        cell.get("outputs")
        for cell in nbformat.read(os.path.join(HOME, "docs", "tour.ipynb"), as_version=4).cells
    )  # kept without output


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/python.md"])
def test_blocks_of_the_guides(page, tmp_path, monkeypatch):
    """Every block fenced as python runs, one after the other, beside the page's models."""
    monkeypatch.syspath_prepend(os.path.join(HOME, "tests", "cli"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    import doc_commands

    with open(os.path.join(HOME, page)) as file:
        text = file.read()
    names, count = {}, 0
    for note, lines in doc_commands.blocks(text):
        model = re.match(r"<!-- file (\S+) -->", note)
        source = "\n".join(lines) + "\n"
        if model:
            (tmp_path / model[1]).write_text(source)
        elif note == "<!-- python -->":
            if "matplotlib" in source:
                pytest.importorskip("matplotlib")
            if "scipy" in source:
                pytest.importorskip("scipy")
            exec(compile(source, page, "exec"), names)
            count += 1
    assert count
