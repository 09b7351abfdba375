"""Ensembles: many runs of one model, in the lanes of the processor and on all cores."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union

import numpy as np

from ._library import DONE, ROW, STOPPED, lib, text
from ._support import STATUS, Progress, RequestError, address, fail, numbers, view

_numbers = ("until", "tolerance", "least_size", "max_steps", "threads", "lanes", "alone")
_numbers += ("count", "seed", "sobol")
_texts = ("method", "engine")


class Ensemble:
    """Runs that differ in parameters or starts, the same to the bit as those of `noslip sweep`.

    >>> import noslip, numpy as np
    >>> m = noslip.Model("chaplygin-sleigh")
    >>> e = m.ensemble(set={"a": np.linspace(0.5, 1, 5)}, until=1, get=["theta", "max(energy)"])
    >>> e["theta"].shape
    (5,)

    `set` maps names of parameters or starts to arrays of one length. Instead of it `over` and
    `random` are ranges and distributions as of the command line, limits may be expressions:

    >>> m.ensemble(over=["a=a/2:a:3", "m=1:2:2"], until=1, get="theta").table.shape
    (6, 3)
    >>> len(m.ensemble(random="a=normal(1, 0.1)", count=4, seed=2, until=1, get="theta"))
    4

    `get` are quantities as of
    `noslip sweep --get`: values at the end, "max(...)", "min(...)", times of events
    ("reversal"), values at a time ("energy@2"). A row that ended early has nan where it did not
    come that far.
    """

    def __init__(
        self,
        model,
        set: Optional[Mapping[str, Any]] = None,  # pylint: disable=redefined-builtin
        *,
        over: Union[str, Iterable[str], None] = None,
        random: Union[str, Iterable[str], None] = None,
        until: Optional[float] = None,
        get: Union[str, Iterable[str], None] = None,
        tol: Optional[float] = None,
        on_row: Optional[Callable[[int, np.ndarray], Any]] = None,
        progress: Any = True,
        **options: Any,
    ):
        self.model = model
        self._pointer = lib.ns_batch_new(model._pointer)
        if not self._pointer:
            raise MemoryError("out of memory")
        for name, values in (set or {}).items():
            array = np.broadcast_to(numbers(values), np.shape(values)).ravel()
            array = numbers(array)
            self._check(
                lib.ns_batch_vary(self._pointer, name.encode(), address(array), array.size)
            )
        for function, words in (
            (lib.ns_batch_over, over),
            (lib.ns_batch_random, random),
            (lib.ns_batch_get, get),
        ):
            for word in [words] if isinstance(words, str) else words or []:
                self._check(function(self._pointer, word.encode()))
        self._options({"until": until, "tolerance": tol, **options})
        self._run(on_row, progress)

    def _options(self, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            if value is None:
                continue
            if name in _texts:
                verdict = lib.ns_batch_set_text(
                    self._pointer, name.encode(), str(value).encode()
                )
            elif name in _numbers:
                verdict = lib.ns_batch_set_number(self._pointer, name.encode(), float(value))
            else:
                raise RequestError(
                    f"there is no option `{name}`; there are: " + ", ".join(_numbers + _texts)
                )
            self._check(verdict)

    def _run(self, on_row, show) -> None:
        progress = Progress(show, "rows")
        lib.ns_batch_on_progress(self._pointer, progress.callback, None)
        kept = None
        if on_row:

            def called(_context, row, columns, _verdict, _reason):
                try:
                    count = lib.ns_batch_columns(self._pointer)
                    values = np.ctypeslib.as_array(columns, (count,)).copy()
                    return 1 if on_row(row, values) else 0
                except BaseException as error:  # pylint: disable=broad-except
                    progress.error = error
                    return 1

            kept = ROW(called)
            lib.ns_batch_on_row(self._pointer, kept, None, 1)
        with progress:
            verdict = lib.ns_batch_run(self._pointer)
        self.status = STATUS[verdict]
        if verdict not in (DONE, STOPPED):
            fail(verdict, text(lib.ns_batch_reason(self._pointer)))

    def _check(self, verdict: int) -> None:
        if verdict != DONE:
            fail(verdict, text(lib.ns_batch_reason(self._pointer)))

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.ns_batch_close(self._pointer)

    def __len__(self) -> int:
        return lib.ns_batch_rows(self._pointer)

    def keys(self) -> List[str]:
        """Names of the columns: what varies, then what is recorded."""
        count = lib.ns_batch_columns(self._pointer)
        return [text(lib.ns_batch_column_name(self._pointer, i)) for i in range(count)]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.keys():
            raise KeyError(name)
        return self.table[:, self.keys().index(name)]

    @property
    def table(self) -> np.ndarray:
        """All columns: [rows, columns]."""
        shape = (len(self), lib.ns_batch_columns(self._pointer))
        return view(lib.ns_batch_values(self._pointer), shape, self)

    @property
    def units(self) -> Dict[str, str]:
        names = self.keys()
        return {
            name: text(lib.ns_batch_column_unit(self._pointer, i))
            for i, name in enumerate(names)
        }

    def row_status(self, row: int) -> str:
        """How a row ended: "done", "stopped", "failed" (then `why` says more)."""
        return STATUS[lib.ns_batch_verdict(self._pointer, row)]

    def why(self, row: int) -> str:
        return text(lib.ns_batch_why(self._pointer, row))

    def to_dataframe(self):
        import pandas  # pylint: disable=import-outside-toplevel

        return pandas.DataFrame(np.array(self.table), columns=self.keys())

    def __repr__(self) -> str:
        return f"<noslip.Ensemble {self.model.title!r}: {len(self)} rows, {self.status}>"
