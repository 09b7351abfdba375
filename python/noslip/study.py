"""Studies: everything the program does with a model beside running it."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union

import numpy as np

from ._library import FAILED, WRONG, lib, text, texts
from ._support import STATUS, Progress, fail, numbers, view
from .model import Model


class Table:
    """Named columns of one length: arrays of numbers, or lists of texts."""

    def __init__(self, name: str, columns: Dict[str, Any], units: Dict[str, str], rows: int):
        self.name, self.columns, self.units, self._rows = name, columns, units, rows

    def __getitem__(self, column: str):
        return self.columns[column]

    def __len__(self) -> int:
        return self._rows

    def keys(self) -> List[str]:
        return list(self.columns)

    def to_dataframe(self):
        import pandas  # pylint: disable=import-outside-toplevel

        return pandas.DataFrame(
            {name: np.array(column) for name, column in self.columns.items()}
        )

    def __repr__(self) -> str:
        return f"<noslip.Table {self.name!r}: {len(self)} rows of {', '.join(self.columns)}>"


def _words(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        name, *limits = value
        return f"{name}=" + ":".join(_words(limit) for limit in limits)
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


class Study:
    """The result of a study: `facts`, `tables`, and the summary that the program prints."""

    def __init__(
        self, model, name: str, other=None, progress: Any = True, words=(), **options: Any
    ):
        keys: List[str] = [""] * len(words)
        values: List[str] = [str(word) for word in words]
        for option, value in options.items():
            key = option.rstrip("_").replace("_", "-")
            if value is None or value is False:
                continue
            several = value if isinstance(value, list) else [value]
            if isinstance(value, dict):
                several = [f"{k}={_words(v)}" for k, v in value.items()]
            for one in several:
                keys.append(key)
                values.append("" if one is True else _words(one))
        shown = Progress(progress)
        self.model = model
        self._other = other
        with shown:
            self._pointer = lib.ns_study_run(
                model._pointer if model is not None else None,
                other._pointer if other is not None else None,
                name.encode(),
                texts(keys),
                texts(values),
                len(keys),
                shown.callback,
                None,
            )
        if not self._pointer:
            raise MemoryError("out of memory")
        verdict = lib.ns_study_verdict(self._pointer)
        if verdict in (WRONG, FAILED):
            fail(verdict, self.messages)

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.ns_study_close(self._pointer)

    @property
    def status(self) -> str:
        return STATUS[lib.ns_study_verdict(self._pointer)]

    @property
    def messages(self) -> str:
        return text(lib.ns_study_messages(self._pointer))

    @property
    def summary(self) -> str:
        """What the program prints."""
        return text(lib.ns_study_summary(self._pointer))

    @property
    def json(self) -> str:
        return text(lib.ns_study_json(self._pointer))

    @property
    def facts(self) -> Dict[str, Union[float, str]]:
        found: Dict[str, Union[float, str]] = {}
        number, words = ctypes.c_double(), ctypes.c_char_p()
        for i in range(lib.ns_study_fact_count(self._pointer)):
            words.value = None
            name = lib.ns_study_fact(
                self._pointer, i, ctypes.byref(number), ctypes.byref(words)
            )
            found[text(name)] = number.value if words.value is None else text(words.value)
        return found

    @property
    def tables(self) -> Dict[str, Table]:
        found = {}
        rows, count = ctypes.c_size_t(), ctypes.c_size_t()
        for k in range(lib.ns_study_table_count(self._pointer)):
            name = text(
                lib.ns_study_table(self._pointer, k, ctypes.byref(rows), ctypes.byref(count))
            )
            columns, units = {}, {}
            for i in range(count.value):
                column, unit, values = self._column(k, i, rows.value)
                columns[column], units[column] = values, unit
            found[name] = Table(name, columns, units, rows.value)
        return found

    def _column(self, table: int, i: int, rows: int):
        unit = ctypes.c_char_p()
        numbers, words = ctypes.c_void_p(), ctypes.c_void_p()
        name = text(
            lib.ns_study_column(
                self._pointer,
                table,
                i,
                ctypes.byref(unit),
                ctypes.byref(numbers),
                ctypes.byref(words),
            )
        )
        if words.value:
            array = ctypes.cast(words.value, ctypes.POINTER(ctypes.c_char_p))
            return name, text(unit.value), [text(array[j]) for j in range(rows)]
        return name, text(unit.value), view(numbers.value, rows, self)

    def __getitem__(self, name: str):
        """A fact or a table by name."""
        facts = self.facts
        return facts[name] if name in facts else self.tables[name]

    def save(self, path) -> None:
        """Writes it; the ending decides: .csv, .json, .h5, .svg, .html."""
        verdict = lib.ns_study_save(self._pointer, str(path).encode())
        if verdict != 0:
            fail(verdict, text(lib.ns_study_error(self._pointer)))

    def __repr__(self) -> str:
        return self.summary or f"<noslip.Study: {self.status}>"


def _options(name: str) -> str:
    """The options of a study as lines of a docstring."""
    lines, i = [], 0
    argument, words = ctypes.c_char_p(), ctypes.c_char_p()
    while option := lib.ns_study_option(
        name.encode(), i, ctypes.byref(argument), ctypes.byref(words)
    ):
        key, value = text(option).replace("-", "_"), text(argument.value)
        lines.append(f"    {key + '=' + (value or 'True'):26} {text(words.value)}")
        i += 1
    return "\n".join(lines)


def _study(name: str, doc: str) -> Callable[..., Study]:
    def study(model: Model, *, progress: Any = True, **options: Any) -> Study:
        return Study(model, name, progress=progress, **options)

    study.__name__ = study.__qualname__ = name
    study.__doc__ = (
        f"{doc}\n\nOptions are those of `noslip {name}`; tuples are ranges "
        f"(over=('v', 4, 6.5)), lists repeat an option:\n\n{_options(name)}"
    )
    return study


equilibria = _study(
    "equilibria", "Steady motions, their stability, and branches over a parameter."
)
section = _study("section", "Poincare sections and periodic motions.")
period = _study("period", "Periodic motions of a reduced system, and their group shift.")
lyapunov = _study("lyapunov", "Lyapunov exponents.")
frequencies = _study(
    "frequencies", "Frequencies of a quasi-periodic motion, drift, the path that moves along."
)
emit = _study("emit", 'A functional mock-up unit: emit(model, out="model.fmu", fmi=3).')
brackets = _study("brackets", "Holonomic or not: the growth vector by Lie brackets.")
invariants = _study("invariants", "Integrals of motion, found.")
measure = _study("measure", "Invariant measures, decided and found.")
portrait = _study("portrait", "Phase portraits.")
check = _study("check", "Ranks, degrees of freedom, conserved quantities, consistency.")


class LinearModel(Study):
    """z' = A z + B u, y = C z + D u for deviations from a motion; K, P of a regulator.

    With several times (`at`) the arrays have a first dimension more, for `times`.
    """

    def _matrix(self, name: str):
        table = self.tables[name]
        columns = [table[key] for key in table.keys() if key not in ("t", "row")]
        flat = np.array(columns).T.reshape(len(table), len(columns))
        times = len(set(table["t"])) if "t" in table.keys() else 1
        return flat.reshape(times, -1, len(columns)) if times > 1 else flat

    A = property(lambda self: self._matrix("A"))
    B = property(lambda self: self._matrix("B"))
    C = property(lambda self: self._matrix("C"))
    D = property(lambda self: self._matrix("D"))
    K = property(lambda self: self._matrix("K"))
    P = property(lambda self: self._matrix("P"))


def linearise(
    model: Model,
    states: Union[str, Iterable[str], None] = None,
    inputs: Union[str, Iterable[str], None] = None,
    outputs: Union[str, Iterable[str], None] = None,
    **options: Any,
) -> LinearModel:
    """Linear models with inputs and outputs; options are those of `noslip linearise`.

    >>> import noslip
    >>> m = noslip.Model("harmonic-oscillator")
    >>> noslip.linearise(m, inputs="k").A.shape
    (2, 2)
    """
    named = {"states": states, "inputs": inputs, "outputs": outputs}
    options.update({key: _commas(names) for key, names in named.items() if names})
    for key in ("at", "weights"):
        value = options.get(key)
        if isinstance(value, Mapping):
            options[key] = _commas([_words(pair) for pair in value.items()])
        elif isinstance(value, (list, tuple, np.ndarray)):
            options[key] = _commas([_words(float(one)) for one in value])
    return LinearModel(model, "linearise", **options)


def plan(
    model: Model,
    to: Union[str, Mapping[str, float]],
    *,
    inputs: Union[str, Iterable[str], Mapping[str, Any], None] = None,
    **options: Any,
) -> Study:
    """Inputs that reach a goal with least effort; options are those of `noslip plan`.

    `inputs` are names, or a mapping of names to bounds (low, high), None for none. The table
    "plan" has the inputs and the states at the knots.

    >>> import noslip
    >>> text = "input u = 0\\nstate x' = v, v' = u\\nstart { x = 0; v = 0 }"
    >>> p = noslip.plan(noslip.Model(text=text), {"x": 1, "v": 0}, until=1, progress=False)
    >>> round(p["cost"], 9)
    12.0
    """
    goals = to if isinstance(to, str) else _commas([_words(pair) for pair in to.items()])
    if isinstance(inputs, Mapping):
        inputs = [name if b is None else _words((name, *b)) for name, b in inputs.items()]
    named = _commas(inputs) if inputs else None
    return Study(model, "plan", to=goals, inputs=named, **options)


def gradient(
    model: Model,
    by: Union[str, Iterable[str], None] = None,
    **options: Any,
) -> Study:
    """Derivatives of an end value or an integral; options are those of `noslip gradient`.

    >>> import noslip
    >>> m = noslip.Model(text="param k = 2; state x' = -k*x; start { x = 1 }")
    >>> g = noslip.gradient(m, end="x", until=1, progress=False)
    >>> round(g["gradient"]["derivative"][0], 12)
    -0.135335283237
    """
    return Study(model, "gradient", by=_commas(by) if by else None, **options)


def fit(
    model: Model,
    data: Any,
    parameters: Union[str, Iterable[str], Mapping[str, Any]],
    *,
    sigma: Optional[Mapping[str, float]] = None,
    columns: Union[str, Iterable[str], None] = None,
    **options: Any,
) -> Study:
    """Parameters and starts from measured series, with their errors; see `noslip help fit`.

    `data` is a file (.csv, .h5), a mapping of arrays with the times as "t", or a list of such:
    one for each experiment. `parameters` are names ("start.NAME" for a start), or a mapping of
    names to bounds (low, high), None for none. Other options: offset=True, tol.

    >>> import noslip
    >>> m = noslip.Model("chaplygin-sleigh")
    >>> r = m.run(until=2, every=0.1, set={"a": 0.7})
    >>> measured = {"t": r.t, "theta": r["theta"]}
    >>> f = noslip.fit(m, measured, {"a": (0.1, 5)}, sigma={"theta": 1e-6})
    >>> abs(f["parameters"]["value"][0] - 0.7) < 1e-9
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, one in enumerate(data if isinstance(data, (list, tuple)) else [data]):
            if not isinstance(one, Mapping):
                files.append(str(one))
                continue
            files.append(os.path.join(folder, f"{number}.csv"))
            table = np.column_stack([numbers(column) for column in one.values()])
            names = ",".join(one)
            np.savetxt(files[-1], table, "%.17g", ",", header=names, comments="")
        if isinstance(parameters, Mapping):
            parameters = [
                name if bounds is None else _words((name, *bounds))
                for name, bounds in parameters.items()
            ]
        return Study(
            model,
            "fit",
            data=files,
            parameters=_commas(parameters),
            sigma=_commas([_words(pair) for pair in sigma.items()]) if sigma else None,
            columns=_commas(columns) if columns else None,
            **options,
        )


def _commas(names: Union[str, Iterable[str]]) -> str:
    return names if isinstance(names, str) else ",".join(names)


def compare(a: Model, b: Model, **options: Any) -> Study:
    """Two models of one system: the largest difference of their common values."""
    return Study(a, "compare", other=b, **options)


def sweep(model: Model, **options: Any) -> Study:
    """Many motions as a table on disk: `out="table.h5"` is continued by the same call.

    Options are those of `noslip sweep`: `over=[("omega.z", -5, 5, 100)]`, `random`, `get`,
    `shard="1/4"`, `join="part-*.h5"`, `figure`, `report`. Arrays in memory: `Model.ensemble`.

    >>> import noslip
    >>> s = noslip.sweep(noslip.Model("rattleback"), over=("omega.z", -5, 5, 3),
    ...                  get="energy", until=0.5, progress=False)
    >>> len(s["motions"]), s["early"]
    (3, 0.0)
    """
    return Study(model, "sweep", **options)


def reproduce(*claims: str, **options: Any) -> Study:
    """Claims of the literature, run again: names, `"j-"` for all of one paper, or files.

    >>> import noslip
    >>> s = noslip.reproduce("b-measure", progress=False)
    >>> s["failed"], set(s["results"]["holds"])
    (0.0, {1.0})
    """
    return Study(None, "reproduce", words=claims, **options)


# ---- texts of models -------------------------------------------------------------------------


def import_urdf(path: Any) -> str:
    """The text of a model made of a robot in URDF; what was left out stands at its head."""
    return Study(None, "import", words=[str(path)], progress=False).summary


def new(kind: str) -> str:
    """A commented model to start from: rolling, bodies, lagrange, frame, lie or planar.

    >>> import noslip
    >>> noslip.Model(text=noslip.new("rolling")).formulation
    'rolling'
    """
    return Study(None, "new", words=[kind], progress=False).summary


def explain(code: str = "") -> str:
    """What a message means, by its code (the word in [ ] at its end), with an example and its
    cure; without a code all of them, one line each.

    >>> import noslip
    >>> noslip.explain("body-shape").split()[0]
    'body-shape'
    """
    return Study(None, "explain", words=[code] if code else [], progress=False).summary


def format(source: str, claim: bool = False) -> str:  # pylint: disable=redefined-builtin
    """The text of a model, or of a claim, laid out; its meaning stays.

    >>> import noslip
    >>> noslip.format("param a=1 ,b=2")
    'param a = 1, b = 2\\n'
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "text.claim" if claim else "text.mech")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(source)
        return Study(None, "format", words=[path], progress=False).summary


def words() -> Dict[str, List[str]]:
    """The words of the model language by their kinds, for editors.

    >>> import noslip
    >>> "lagrangian" in noslip.words()["statements"]
    True
    """
    return json.loads(Study(None, "words", progress=False).summary)
