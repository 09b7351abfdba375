"""Models: read and derived once, then run, evaluated and studied any number of times."""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

import numpy as np

from ._library import (
    CONSTRAINTS,
    DONE,
    EVENTS,
    INPUTS,
    INVARIANTS,
    PARAMETERS,
    STATES,
    VALUES,
    WRONG,
    lib,
    text,
    texts,
)
from ._support import ModelError, Options, Progress, RequestError, address, fail, numbers, room

Number = Union[float, int, str]


@dataclass(frozen=True)
class Message:
    """What the program says about a model: an error, a warning or a note, with its place."""

    severity: str
    text: str
    file: str
    line: int
    column: int
    length: int
    hint: str


def _pairs(values: Optional[Mapping[str, Number]]):
    """Names and expressions; numbers are written so that they read back to the bit."""
    items = dict(values or {})
    return list(items), [
        value if isinstance(value, str) else repr(float(value)) for value in items.values()
    ]


class Model:
    """A mechanical system, derived from its description.

    The name is that of a file or of a bundled model (`noslip.gallery()` lists them):

    >>> m = Model("chaplygin-sleigh")
    >>> m.formulation
    'lagrange'
    >>> m.states[:3]
    ['theta', 'x', 'y']

    or the text is given:

    >>> m = Model(text='''
    ...     state x' = v, v' = -x
    ...     start { x = 1; v = 0 }
    ... ''')
    >>> r = m.run(until=1)
    >>> abs(r["x"][-1] - np.cos(1)) < 1e-15
    True

    `set` gives parameters and starts other values: numbers, or expressions with units such as
    "2 cm". A model that is wrong raises ModelError with the message of the compiler.
    """

    #: Threads that share `rates`, `jacobian`, ... of large arrays; 0: as many as processors.
    threads: int = 0

    def __init__(
        self,
        name: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        text: Optional[str] = None,  # pylint: disable=redefined-outer-name
        set: Optional[Mapping[str, Number]] = None,  # pylint: disable=redefined-builtin
    ):
        if (name is None) == (text is None):
            raise RequestError("a model has a name or a text=")
        keys, values = _pairs(set)
        arguments = (texts(keys), texts(values), len(keys))
        if text is not None:
            pointer = lib.ns_model_open_text(b"text", text.encode(), *arguments)
        else:
            pointer = lib.ns_model_find(os.fsencode(name), *arguments)
        self._take(pointer)

    def _take(self, pointer: Optional[int]) -> None:
        self._pointer = pointer
        self._local = threading.local()
        if not pointer:
            raise MemoryError("out of memory")
        verdict = lib.ns_model_verdict(pointer)
        if verdict != DONE:
            words = text(lib.ns_model_messages(pointer)).rstrip("\n")
            if verdict == WRONG:
                raise ModelError(words, self.messages)
            fail(verdict, words)

    @classmethod
    def _from(cls, pointer: Optional[int]) -> "Model":
        model = cls.__new__(cls)
        model._take(pointer)
        return model

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.ns_model_close(self._pointer)

    # ---- what it is --------------------------------------------------

    @property
    def title(self) -> str:
        return text(lib.ns_model_title(self._pointer))

    @property
    def name(self) -> str:
        """The file or bundled model it was read from."""
        return text(lib.ns_model_source(self._pointer))

    @property
    def source(self) -> str:
        """Its text."""
        return text(lib.ns_model_text(self._pointer))

    @property
    def formulation(self) -> str:
        return text(lib.ns_model_formulation(self._pointer))

    @property
    def messages(self) -> List[Message]:
        """Errors, warnings and notes as data."""
        found = []
        severity, file, hint = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_char_p()
        line, column, length = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        places = [ctypes.byref(x) for x in (severity, file, line, column, length, hint)]
        for i in range(lib.ns_model_message_count(self._pointer)):
            words = text(lib.ns_model_message(self._pointer, i, *places))
            found.append(
                Message(
                    text(severity.value),
                    words,
                    text(file.value),
                    line.value,
                    column.value,
                    length.value,
                    text(hint.value),
                )
            )
        return found

    def _names(self, kind: int) -> List[str]:
        count = lib.ns_model_count(self._pointer, kind)
        return [text(lib.ns_model_name(self._pointer, kind, i)) for i in range(count)]

    @property
    def states(self) -> List[str]:
        return self._names(STATES)

    @property
    def values(self) -> List[str]:
        """Names of all that a run records."""
        return self._names(VALUES)

    @property
    def constraints(self) -> List[str]:
        return self._names(CONSTRAINTS)

    @property
    def invariants(self) -> List[str]:
        return self._names(INVARIANTS)

    @property
    def events(self) -> List[str]:
        return self._names(EVENTS)

    @property
    def inputs(self) -> Dict[str, str]:
        """Inputs, and whether a simulation may change them ("given") or what they follow.

        >>> Model(text="input u = 1\\nstate x' = u\\nstart { x = 0 }").inputs
        {'u': 'given'}
        """
        names = self._names(INPUTS)
        return {
            name: text(lib.ns_model_role(self._pointer, INPUTS, i))
            for i, name in enumerate(names)
        }

    @property
    def parameters(self) -> Dict[str, float]:
        """Parameters with their values."""
        return dict(zip(self._names(PARAMETERS), self._numbers(PARAMETERS)))

    @property
    def start(self) -> np.ndarray:
        """The state at the start."""
        return self._numbers(STATES)

    def _numbers(self, kind: int) -> np.ndarray:
        found = np.empty(lib.ns_model_count(self._pointer, kind))
        lib.ns_model_numbers(self._pointer, kind, address(found), found.size)
        return found

    def unit(self, name: str) -> str:
        """The unit of a parameter, state or value; "" if it has none.

        >>> Model("rattleback").unit("omega.z")
        'rad/s'
        """
        for kind in (VALUES, STATES, PARAMETERS):
            i = lib.ns_model_index(self._pointer, kind, name.encode())
            if i >= 0:
                return text(lib.ns_model_unit(self._pointer, kind, i))
        raise KeyError(name)

    def role(self, name: str) -> str:
        """What role a state plays: "coordinate", "velocity", "quaternion", ..."""
        i = lib.ns_model_index(self._pointer, STATES, name.encode())
        if i < 0:
            raise KeyError(name)
        return text(lib.ns_model_role(self._pointer, STATES, i))

    def columns(self, name: str) -> List[int]:
        """Numbers of the values that a name stands for: three of a vector, one of a number."""
        room = (ctypes.c_size_t * 16)()
        count = lib.ns_model_vector(self._pointer, VALUES, name.encode(), room, len(room))
        return list(room[:count])

    def setting(self, name: str) -> float:
        """What the run block says: until, tolerance, every, ...; nan if it says nothing."""
        return lib.ns_model_setting(self._pointer, name.encode())

    def equations(self, form: str = "text") -> str:
        """The derived equations as "text", "latex", "mathml" or "c"."""
        memory = lib.ns_model_equations(self._pointer, form.encode())
        if not memory:
            raise RequestError(
                f"there is no form '{form}' of equations: text, latex, mathml, c"
            )
        try:
            return text(ctypes.string_at(memory))
        finally:
            lib.ns_free(memory)

    def __repr__(self) -> str:
        count = len(self.states)
        return (
            f"<noslip.Model {self.title or self.name!r}: {self.formulation}, {count} states>"
        )

    # ---- the same with other numbers --------------------------------------------------

    def variant(
        self,
        set: Optional[Mapping[str, Number]] = None,  # pylint: disable=redefined-builtin
        **more: Number,
    ) -> "Model":
        """The same model with other parameters or starts; nothing is derived again.

        >>> m = Model("chaplygin-sleigh")
        >>> m.variant(a=0.5).parameters["a"]
        0.5
        """
        keys, values = _pairs({**(set or {}), **more})
        return Model._from(
            lib.ns_model_variant(self._pointer, texts(keys), texts(values), len(keys))
        )

    def sensitivities(self, *names: str) -> "Model":
        """The same model with derivatives of its motion among its values: by parameters, states
        (their value at the start), or "start" for all states.

        >>> r = Model("chaplygin-sleigh").sensitivities("a", "start.theta").run(until=2)
        >>> r["theta by a"].shape == r["theta"].shape
        True
        """
        return Model._from(
            lib.ns_model_sensitivities(self._pointer, ",".join(names).encode())
        )

    def _with(self, *changes: Optional[Mapping[str, Number]]) -> "Model":
        together: Dict[str, Number] = {}
        for change in changes:
            together.update(change or {})
        return self.variant(together) if together else self

    # ---- runs --------------------------------------------------

    def run(
        self,
        until: Optional[float] = None,
        *,
        every: Optional[float] = None,
        at: Optional[Iterable[float]] = None,
        tol: Optional[float] = None,
        method: Optional[str] = None,
        set: Optional[Mapping[str, Number]] = None,  # pylint: disable=redefined-builtin
        start: Optional[Mapping[str, Number]] = None,
        digits: Union[bool, str] = False,
        precision: str = "double",
        out: Union[str, Iterable[str], None] = None,
        progress: Any = True,
        **options: Any,
    ) -> "Run":
        """Integrates the motion; options are those of `noslip run`.

        >>> r = Model("chaplygin-sleigh").run(until=2, every=0.5)
        >>> r.t.tolist()
        [0.0, 0.5, 1.0, 1.5, 2.0]
        >>> r.status
        'done'

        `every` or `at` say when values are recorded (otherwise at the end), `set` and `start`
        give other numbers for this run, `digits` asks how many digits are right (True, or
        "quad" for an answer by quadruple precision), `out` names files. Other options by their
        names in
        the library: engine, step, max_step, max_steps, project, checkpoint, resume, ...
        A motion that ends early is no error: `status` is "stopped" and `reason` says why.
        """
        from .run import Run  # pylint: disable=import-outside-toplevel

        if precision not in ("double", "quad"):
            raise RequestError(f"precision is 'double' or 'quad', not {precision!r}")
        if digits not in (False, True, "quad"):
            raise RequestError("digits is True, False or 'quad'")
        given = {
            "until": until,
            "every": every,
            "at": None
            if at is None
            else numbers(list(at) if not hasattr(at, "__len__") else at),
            "tolerance": tol,
            "method": "quad" if precision == "quad" else method,
            "digits": {False: None, True: 1, "quad": 2}[digits],
            "trust": 1 if digits else None,
            "outputs": out,
            **options,
        }
        return Run._start(self._with(set, start), given, progress)

    def simulation(
        self,
        *,
        set: Optional[Mapping[str, Number]] = None,  # pylint: disable=redefined-builtin
        start: Optional[Mapping[str, Number]] = None,
        tol: Optional[float] = None,
        **options: Any,
    ) -> "Simulation":
        """A run in your hands: step, look, change, go on.

        >>> sim = Model("chaplygin-sleigh").simulation()
        >>> sim.advance(1.0)
        >>> sim.t
        1.0
        """
        from .simulation import Simulation  # pylint: disable=import-outside-toplevel

        return Simulation(self._with(set, start), {"tolerance": tol, **options})

    def ensemble(self, *args: Any, **options: Any) -> "Ensemble":
        """Many runs at once; see noslip.Ensemble."""
        from .ensemble import Ensemble  # pylint: disable=import-outside-toplevel

        return Ensemble(self, *args, **options)

    # ---- evaluation --------------------------------------------------

    def _calculator(self, what: str) -> "_Calculator":
        kept, key = self._local.__dict__, (what, self.threads)  # of this thread
        if key not in kept:
            kept[key] = _Calculator(self, what)
        return kept[key]

    def rates(self, t, x, p=None, out=None) -> np.ndarray:
        """x' at the time t and the state x; at many points if x has two dimensions.

        >>> m = Model(text="state x' = v, v' = -x; start { x = 1; v = 0 }")
        >>> m.rates(0, [1, 2]).tolist()
        [2.0, -1.0]
        >>> m.rates(0, [[1, 2], [3, 4]]).tolist()
        [[2.0, -1.0], [4.0, -3.0]]

        `p` are the parameters (all of them, in their order), one set or one for each point.
        Large arrays are shared by threads (`threads`), to the same bits. `out` is an array for
        the result.
        """
        return self._calculator("rates")(t, x, p, out)

    def jacobian(self, t, x, p=None, out=None) -> np.ndarray:
        """The exact derivative of the rates by the states: [i, j] = d x_i'/d x_j."""
        return self._calculator("jacobian")(t, x, p, out)

    def parameter_jacobian(self, t, x, p=None) -> np.ndarray:
        """The exact derivative of the rates by the parameters."""
        return self._calculator("parameter jacobian")(t, x, p)

    def vjp(self, t, x, w, p=None):
        """Vector-Jacobian products of the rates: (w @ jacobian, w @ parameter_jacobian).

        >>> m = Model(text="param k = 4; state x' = v, v' = -k*x; start { x = 1; v = 0 }")
        >>> [g.tolist() for g in m.vjp(0, [3, 5], [1, 2])]
        [[-8.0, 1.0], [-6.0]]

        At many points x and w have two dimensions. This is what reverse modes of other programs
        (JAX's custom_vjp, a torch.autograd.Function) ask of a function; `jvp` is the other way.
        """
        w = np.asarray(w, dtype=float)
        by_state, by_parameter = self.jacobian(t, x, p), self.parameter_jacobian(t, x, p)
        return tuple(np.einsum("...i,...ij->...j", w, J) for J in (by_state, by_parameter))

    def jvp(self, t, x, v, p=None, dp=None) -> np.ndarray:
        """The change of the rates along a change v of the state and dp of the parameters."""
        J, v = self.jacobian(t, x, p), np.asarray(v, dtype=float)
        change = np.einsum("...ij,...j->...i", J, v)
        if dp is not None:
            J = self.parameter_jacobian(t, x, p)
            change = change + np.einsum("...ij,...j->...i", J, np.asarray(dp, dtype=float))
        return change

    def residuals(self, t, x, p=None) -> np.ndarray:
        """Residuals of the constraints, in the order of `constraints`."""
        return self._calculator("residuals")(t, x, p)

    def residual_jacobian(self, t, x, p=None) -> np.ndarray:
        return self._calculator("residual jacobian")(t, x, p)

    def evaluate(self, t, x, p=None) -> np.ndarray:
        """All values that a run would record, in the order of `values`."""
        return self._calculator("values")(t, x, p)

    def energy(self, t, x, p=None):
        """The energy; nan if the system has none."""
        return self._calculator("energy")(t, x, p)[..., 0]

    def event_functions(self, t, x, p=None) -> np.ndarray:
        """The functions whose zeros are the events, in the order of `events`."""
        return self._calculator("events")(t, x, p)

    def invariant_values(self, t, x, p=None) -> np.ndarray:
        return self._calculator("invariants")(t, x, p)


class _Calculator:
    """A function of time, state and parameters. Belongs to one thread."""

    def __init__(self, model: Model, what: str):
        self.states = lib.ns_model_count(model._pointer, STATES)
        self.parameters = lib.ns_model_count(model._pointer, PARAMETERS)
        self.pointer = lib.ns_calculator_new(model._pointer, what.encode())
        lib.ns_calculator_threads(self.pointer, model.threads)
        verdict = lib.ns_calculator_verdict(self.pointer) if self.pointer else 3
        if verdict != DONE:
            fail(verdict, f"the model has no {what}")
        rows = lib.ns_calculator_rows(self.pointer)
        columns = lib.ns_calculator_columns(self.pointer)
        vector = what not in ("jacobian", "parameter jacobian", "residual jacobian")
        self.shape = (rows,) if vector else (rows, columns)
        # a single point goes through these: their addresses are looked up once
        self.t, self.x, self.out = np.zeros(1), np.zeros(self.states), np.zeros(self.shape)
        self.one = (self.pointer, 1, address(self.t), 1, address(self.x), None, 0)
        self.one += (address(self.out),)
        self.eval = lib.ns_calculator_eval
        self.point = (self.states,)

    def __del__(self):
        if getattr(self, "pointer", None):
            lib.ns_calculator_close(self.pointer)

    def __call__(self, t, x, p=None, out=None) -> np.ndarray:
        if p is None and out is None and getattr(x, "shape", None) == self.point:  # short
            self.t[0] = t
            self.x[...] = x
            if self.eval(*self.one) == DONE:
                return self.out.copy()
        return self.many(t, np.asarray(x, dtype=np.float64), p, out)

    def many(self, t, x, p, out) -> np.ndarray:
        if x.ndim not in (1, 2) or x.shape[-1] != self.states:
            raise RequestError(
                f"a state has {self.states} numbers; the array has the shape {x.shape}"
            )
        points = x.shape[0] if x.ndim == 2 else 1
        x = np.ascontiguousarray(x)
        t = numbers(t).ravel()
        if t.size not in (1, points):
            raise RequestError(f"{t.size} times for {points} points")
        n_p = 0
        if p is not None:
            p = numbers(p)
            n_p = p.shape[0] if p.ndim == 2 else 1
            if p.shape[-1] != self.parameters or n_p not in (1, points):
                raise RequestError(
                    f"there are {self.parameters} parameters and {points} points; "
                    f"the array has the shape {p.shape}"
                )
        shape = (points,) + self.shape if x.ndim == 2 else self.shape
        if out is None:
            out = room(shape)
        elif out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous:
            raise RequestError(f"out must be an array of doubles of the shape {shape}")
        verdict = self.eval(
            self.pointer,
            points,
            address(t),
            t.size,
            address(x),
            None if p is None else address(p),
            n_p,
            address(out),
        )
        if verdict != DONE:
            fail(verdict, "the evaluation failed")
        return out
