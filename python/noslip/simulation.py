"""Simulations: runs that are stepped, watched and changed from outside."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, List, Mapping, Optional, Tuple

import numpy as np

from ._library import DONE, EVENT, PARAMETERS, STATES, STOPPED, lib, text
from ._support import STATUS, Options, RequestError, address, fail, numbers


class Simulation:
    """A run in your hands, for control loops and games with a system.

    >>> import noslip
    >>> sim = noslip.Model("rattleback").simulation()
    >>> while sim.t < 1:
    ...     sim.advance(sim.t + 0.25)
    >>> sim["omega"].shape
    (3,)

    The integrator may be one step ahead; changing state or parameters goes on from the present.
    """

    def __init__(self, model, given: Mapping[str, Any]):
        options = Options()
        for name, value in given.items():
            if value is not None:
                options.set(name, value)
        self.model = model
        self._states = lib.ns_model_count(model._pointer, STATES)
        self._on_event: Optional[Any] = None
        self._error: Optional[BaseException] = None
        self._pointer = lib.ns_simulation_new(model._pointer, options.pointer)
        if not self._pointer:
            raise MemoryError("out of memory")
        verdict = lib.ns_simulation_verdict(self._pointer)
        if verdict not in (DONE, STOPPED):
            fail(verdict, self.reason)

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.ns_simulation_close(self._pointer)

    def _check(self, verdict: int) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if verdict not in (DONE, STOPPED):
            fail(verdict, self.reason)

    # ---- going on --------------------------------------------------

    @property
    def t(self) -> float:
        """The present time."""
        return lib.ns_simulation_time(self._pointer)

    @property
    def status(self) -> str:
        """ "done" while it can go on, "stopped" when the motion has ended."""
        return STATUS[lib.ns_simulation_verdict(self._pointer)]

    @property
    def reason(self) -> str:
        return text(lib.ns_simulation_reason(self._pointer))

    def step(self) -> None:
        """One step of the method."""
        self._check(lib.ns_simulation_step(self._pointer))

    def advance(self, t: float) -> None:
        """Goes to the time t exactly; `status` tells whether it came that far."""
        self._check(lib.ns_simulation_advance(self._pointer, t))

    # ---- looking --------------------------------------------------

    def __getitem__(self, name: str):
        columns = self.model.columns(name)
        if not columns:
            raise KeyError(name)
        names = self.model.values if len(columns) > 1 else [name]
        if len(columns) == 1:
            return lib.ns_simulation_value(self._pointer, names[0].encode())
        return np.array(
            [lib.ns_simulation_value(self._pointer, names[i].encode()) for i in columns]
        )

    @property
    def values(self) -> np.ndarray:
        """All values at the present time, in the order of model.values."""
        out = np.empty(len(self.model.values))
        self._check(lib.ns_simulation_values(self._pointer, address(out)))
        return out

    @property
    def state(self) -> np.ndarray:
        """The present state. Setting it goes on from there; see set_state to project it."""
        x = np.empty(self._states)
        self._check(lib.ns_simulation_state(self._pointer, address(x)))
        return x

    @state.setter
    def state(self, x) -> None:
        self.set_state(x)

    def state_at(self, t: float) -> np.ndarray:
        """The state at a time inside the last step."""
        x = np.empty(self._states)
        self._check(lib.ns_simulation_state_at(self._pointer, t, address(x)))
        return x

    @property
    def span(self) -> Tuple[float, float]:
        """Beginning and end of the last step of the integrator."""
        return lib.ns_simulation_from(self._pointer), lib.ns_simulation_reached(self._pointer)

    # ---- changing --------------------------------------------------

    def set_state(self, x, t: Optional[float] = None, project: bool = False) -> None:
        """Goes on from the state x; `project`: from the nearest one on the constraints."""
        x = numbers(x).ravel()
        if x.size != self._states:
            raise RequestError(f"a state has {self._states} numbers, not {x.size}")
        when = self.t if t is None else t
        self._check(lib.ns_simulation_set_state(self._pointer, when, address(x), int(project)))

    def set(self, **parameters: float) -> None:
        """Goes on with other parameters; what depends on them follows."""
        for name, value in parameters.items():
            self._check(lib.ns_simulation_set_parameter(self._pointer, name.encode(), value))

    def set_input(self, **inputs: float) -> None:
        """Values of inputs from now on, until they are set again.

        >>> import noslip
        >>> m = noslip.Model(text="input u = 1\\nstate x' = u\\nstart { x = 0 }")
        >>> s = m.simulation()
        >>> s.advance(1); s.set_input(u=-2); s.advance(2)
        >>> round(s["x"], 12)
        -1.0
        """
        for name, value in inputs.items():
            self._check(lib.ns_simulation_set_input(self._pointer, name.encode(), value))

    def set_parameters(self, p) -> None:
        """All parameters at once, in the order of model.parameters."""
        p = numbers(p).ravel()
        if p.size != lib.ns_model_count(self.model._pointer, PARAMETERS):
            raise RequestError("one number for each parameter is expected")
        self._check(lib.ns_simulation_set_parameters(self._pointer, address(p)))

    def parameter(self, name: str) -> float:
        return lib.ns_simulation_parameter(self._pointer, name.encode())

    # ---- events --------------------------------------------------

    def events(self) -> List[Tuple[str, float, int, np.ndarray]]:
        """Events since the last call: (name, time, direction, state)."""
        found, names = [], self.model.events
        t, direction = ctypes.c_double(), ctypes.c_int()
        while True:
            x = np.empty(self._states)
            number = lib.ns_simulation_event(
                self._pointer, ctypes.byref(t), ctypes.byref(direction), address(x)
            )
            if number < 0:
                return found
            found.append((names[number], t.value, direction.value, x))

    def on_event(
        self, function: Optional[Callable[[str, float, int, np.ndarray], Any]]
    ) -> None:
        """Calls function(name, t, direction, state) for each event during step and advance.

        If it returns something true, step or advance returns at the event.
        """
        names = self.model.events

        def called(_context, number, t, direction, x):
            try:
                state = np.ctypeslib.as_array(x, (self._states,)).copy()
                return 1 if function(names[number], t, direction, state) else 0
            except BaseException as error:  # pylint: disable=broad-except
                self._error = error
                return 1

        self._on_event = EVENT(called) if function else ctypes.cast(None, EVENT)
        self._check(lib.ns_simulation_on_event(self._pointer, self._on_event, None))

    # ---- saving --------------------------------------------------

    def save(self) -> bytes:
        """Bytes from which a simulation of the same model continues bit for bit."""
        length = lib.ns_simulation_save(self._pointer, None, 0)
        memory = ctypes.create_string_buffer(length)
        lib.ns_simulation_save(self._pointer, memory, length)
        return memory.raw

    def restore(self, saved: bytes) -> None:
        self._check(lib.ns_simulation_restore(self._pointer, saved, len(saved)))

    def diagnostic(self, name: str) -> float:
        """Quality since the last change: energy_drift, constraint.NAME, invariant.NAME, ..."""
        return lib.ns_simulation_diagnostic(self._pointer, name.encode())

    def __repr__(self) -> str:
        return f"<noslip.Simulation {self.model.title!r} at t = {self.t:g}, {self.status}>"
