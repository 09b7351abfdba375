"""Runs: what an integration leaves behind."""

from __future__ import annotations

import ctypes
import html
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from ._library import CONSTRAINTS, DONE, FAILED, INVARIANTS, VALUES, WRONG, lib, text
from ._support import STATUS, Error, Options, Progress, RequestError, fail, view


@dataclass(frozen=True)
class Event:
    """One occurrence of an event. `values` gives any value of the model at that moment."""

    name: str
    t: float
    direction: int
    _run: "Run"
    _number: int

    def __getitem__(self, name: str) -> float:
        if not self._run.model.columns(name):
            raise KeyError(name)
        return lib.ns_result_event_value(self._run._pointer, self._number, name.encode())

    @property
    def values(self) -> Dict[str, float]:
        return {name: self[name] for name in self._run.model.values}


class Quality:
    """How good a run is: drift of the energy, residuals, invariants, work."""

    def __init__(self, run: "Run"):
        self._run = run

    def _number(self, name: str) -> float:
        return lib.ns_result_diagnostic(self._run._pointer, name.encode())

    @property
    def energy_drift(self) -> float:
        """Largest relative change of the energy; nan where it is not conserved."""
        return self._number("energy_drift")

    @property
    def energy_change(self) -> float:
        return self._number("energy_change")

    @property
    def constraints(self) -> Dict[str, float]:
        """Largest residual of each constraint."""
        names = self._run.model._names(CONSTRAINTS)
        return {name: self._number("constraint." + name) for name in names}

    @property
    def invariants(self) -> Dict[str, float]:
        """Largest relative drift of each invariant."""
        names = self._run.model._names(INVARIANTS)
        return {name: self._number("invariant." + name) for name in names}

    @property
    def steps(self) -> int:
        return int(self._number("steps"))

    @property
    def evaluations(self) -> int:
        return int(self._number("evaluations"))

    @property
    def seconds(self) -> float:
        return self._number("seconds")

    @property
    def trust(self) -> str:
        """How far the trajectory can be trusted, in words; "" unless digits were asked for."""
        return text(lib.ns_result_trust(self._run._pointer))

    def __repr__(self) -> str:
        worst = max(self.constraints.values(), default=0.0)
        return (
            f"energy drift {self.energy_drift:.2g}, worst residual {worst:.2g}, "
            f"{self.steps} steps, {self.seconds:.3g} s"
        )


class Run:
    """A motion that was integrated, with its values at the output times.

    >>> import noslip
    >>> r = noslip.Model("rattleback").run(until=2, every=0.5)
    >>> r["omega.z"].shape, r["omega"].shape
    ((5,), (5, 3))

    Arrays are views of the library's memory; they stay valid as long as they are used.
    """

    model: Any
    _pointer: Optional[int] = None
    _with_motion: Optional["Run"] = None

    @classmethod
    def _start(cls, model, given: Mapping[str, Any], show) -> "Run":
        options = Options()
        for name, value in given.items():
            if value is not None:
                options.set(name, value)
        progress = Progress(show, "s")
        options.progress(progress)
        run = cls.__new__(cls)
        run.model = model
        run._given = dict(given)
        with progress:
            run._pointer = lib.ns_simulate(model._pointer, options.pointer)
        if not run._pointer:
            raise MemoryError("out of memory")
        verdict = lib.ns_result_verdict(run._pointer)
        if verdict in (WRONG, FAILED):
            fail(verdict, run.reason)
        return run

    def __del__(self):
        if self._pointer:
            lib.ns_result_close(self._pointer)

    # ---- how it ended --------------------------------------------------

    @property
    def status(self) -> str:
        """ "done", also by a `stop` event of the model; "stopped" early (`reason` says why)."""
        return STATUS[lib.ns_result_verdict(self._pointer)]

    @property
    def reason(self) -> str:
        return text(lib.ns_result_reason(self._pointer))

    @property
    def method(self) -> str:
        return text(lib.ns_result_method(self._pointer, None))

    @property
    def quality(self) -> Quality:
        return Quality(self)

    # ---- what it recorded --------------------------------------------------

    def __len__(self) -> int:
        return lib.ns_result_rows(self._pointer)

    @property
    def t(self) -> np.ndarray:
        """The output times."""
        return view(lib.ns_result_times(self._pointer), len(self), self)

    def _column(self, i: int) -> np.ndarray:
        return view(lib.ns_result_column(self._pointer, i), len(self), self)

    def __getitem__(self, name: str) -> np.ndarray:
        """A value at all output times; [rows, components] for a vector such as "omega"."""
        numbers = self.model.columns(name)
        if not numbers:
            raise KeyError(name)
        if len(numbers) == 1:
            return self._column(numbers[0])
        return np.stack([self._column(i) for i in numbers], axis=1)

    def __contains__(self, name: str) -> bool:
        return bool(self.model.columns(name))

    def keys(self) -> List[str]:
        return self.model.values

    def low(self, name: str) -> np.ndarray:
        """Of runs in quadruple precision: what the doubles lack; value + low has 106 bits."""
        numbers = self.model.columns(name)
        if len(numbers) != 1:
            raise KeyError(name)
        return view(lib.ns_result_low(self._pointer, numbers[0]), len(self), self)

    def digits(self, name: str) -> np.ndarray:
        """How many digits are right at each output time; needs run(..., digits=True)."""
        numbers = self.model.columns(name)
        if not numbers:
            raise KeyError(name)
        found = lib.ns_result_digits(self._pointer, numbers[0])
        if not found:
            raise RequestError(
                text(lib.ns_result_error(self._pointer))
                or "the run was made without digits=True"
            )
        return view(found, len(self), self, ctypes.c_byte)

    @property
    def final(self) -> Dict[str, float]:
        """All values at the end of the run, whatever the output times."""
        return {
            name: lib.ns_result_final(self._pointer, name.encode())
            for name in self.model.values
        }

    @property
    def state(self) -> np.ndarray:
        """The state at the end, for Model.rates, Simulation.state, ..."""
        x = np.empty(len(self.model.states))
        if lib.ns_result_state(self._pointer, x.__array_interface__["data"][0]) != DONE:
            raise Error("the run has no state")
        return x

    @property
    def events(self) -> List[Event]:
        """Occurrences of events in the order of time.

        >>> import noslip
        >>> r = noslip.Model("rattleback").run(until=20)
        >>> r.events[0].name
        'reversal'
        """
        pointer = self._pointer
        return [
            Event(
                text(lib.ns_result_event_name(pointer, i)),
                lib.ns_result_event_time(pointer, i),
                lib.ns_result_event_direction(pointer, i),
                self,
                i,
            )
            for i in range(lib.ns_result_events(pointer))
        ]

    @property
    def modes(self) -> List[Tuple[float, str]]:
        """Of models with modes: when each stretch of the motion begins, and its mode.

        >>> import noslip
        >>> r = noslip.Model("stick-slip").run(until=3)
        >>> [(round(t, 12), name) for t, name in r.modes]
        [(0.0, 'stick'), (2.0, 'slip')]
        """
        pointer = self._pointer
        return [
            (lib.ns_result_mode_time(pointer, i), text(lib.ns_result_mode_name(pointer, i)))
            for i in range(lib.ns_result_modes(pointer))
        ]

    # ---- output --------------------------------------------------

    def _pictured(self, form: str) -> "Run":
        """The run with its motion kept, which pictures need: made again, to the same bits."""
        pictured = ("svg", "glb", "html", "report", "motion", "live")
        if form not in pictured or self._given.get("motion"):
            return self
        if self._with_motion is None:
            files = {"outputs": None, "checkpoint": None, "resume": None}
            self._with_motion = Run._start(
                self.model, {**self._given, **files, "motion": 1, "trust": 1}, False
            )
        return self._with_motion

    def save(self, path) -> None:
        """Writes the run; the ending decides: .h5 .csv .json .svg .glb .html (the report)."""
        run = self._pictured(str(path).rpartition(".")[2])
        verdict = lib.ns_result_write(run._pointer, str(path).encode())
        if verdict != DONE:
            fail(verdict, text(lib.ns_result_error(run._pointer)))

    def report(self, path, live: bool = False) -> None:
        """Writes the report: one page with the motion in 3D, plots, facts and equations.

        `live`: its sliders recompute the motion; needs the playground (docs/playground.md).
        """
        if not str(path).endswith(".html"):
            raise RequestError(f"a report is a page: the name {str(path)!r} must end in .html")
        if not live:
            self.save(path)
            return
        page = self.to_bytes("live")
        with open(path, "wb") as file:
            file.write(page)

    def to_bytes(self, form: str) -> bytes:
        """The run as "csv", "json", "h5", "svg", "glb", "html", "report" (the page's data),
        "motion" (the same without the formulas) or "live" (a page that recomputes)."""
        length, run = ctypes.c_size_t(), self._pictured(form)
        memory = lib.ns_result_bytes(run._pointer, form.encode(), ctypes.byref(length))
        if not memory:
            raise RequestError(
                text(lib.ns_result_error(run._pointer)) or f"no format {form!r}"
            )
        try:
            return ctypes.string_at(memory, length.value)
        finally:
            lib.ns_free(memory)

    def to_dataframe(self, names=None):
        """A pandas.DataFrame with the time as index."""
        import pandas  # pylint: disable=import-outside-toplevel

        names = list(names or self.keys())
        return pandas.DataFrame(
            {name: self[name] for name in names}, index=pandas.Index(self.t, name="t")
        )

    def plot(self, *names: str, ax=None):
        """Values over time with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel

        axes = ax or plt.subplots()[1]
        for name in names:
            for i in self.model.columns(name):
                axes.plot(self.t, self._column(i), label=self.model.values[i])
        axes.set_xlabel("t [s]")
        units = {
            self.model.unit(self.model.values[i]) for n in names for i in self.model.columns(n)
        }
        if len(units) == 1 and "" not in units:
            axes.set_ylabel(f"[{units.pop()}]")
        axes.legend()
        return axes

    def _repr_html_(self) -> str:
        """In a notebook: the report, in a frame that may run its scripts and nothing else."""
        page = self.to_bytes("html").decode("utf-8", "replace")
        return (
            '<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" '
            f'srcdoc="{html.escape(page, quote=True)}"></iframe>'
        )

    def __repr__(self) -> str:
        end = lib.ns_result_diagnostic(self._pointer, b"t_end")
        words = (
            f"<noslip.Run {self.model.title!r}: {self.status} at t = {end:g}, {len(self)} rows"
        )
        return words + (f", {self.reason}>" if self.reason else ">")
