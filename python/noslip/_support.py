"""Errors, arrays and progress: what all parts of the package share."""

from __future__ import annotations

import ctypes
import math
import signal
import sys
import threading
import time
from typing import Any, Callable, Optional

import numpy as np

from ._library import DONE, FAILED, PROGRESS, STOPPED, WRONG, lib, text


class Error(Exception):
    """Something that noslip could not do; the text says what and why."""


class ModelError(Error):
    """A model is wrong. `messages` are the places: one Message for each."""

    def __init__(self, words: str, messages=()):
        super().__init__(words)
        self.messages = list(messages)


class RequestError(Error, ValueError):
    """A request is wrong: an option, a name, a number."""


STATUS = {DONE: "done", STOPPED: "stopped", WRONG: "wrong", FAILED: "failed"}


def fail(verdict: int, words: str) -> None:
    """Raises the error that belongs to a verdict."""
    words = words.rstrip("\n") or "failed"
    if verdict == WRONG:
        raise RequestError(words)
    raise MemoryError(words) if "out of memory" in words else Error(words)


def view(address: Optional[int], shape, owner: Any, kind=ctypes.c_double) -> np.ndarray:
    """Memory of the library as a read-only array, without a copy; keeps `owner` alive."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    count = int(np.prod(shape))
    if not address or not count:
        return np.empty(shape, dtype=np.dtype(kind))
    memory = (kind * count).from_address(address)
    memory.owner = owner
    array = np.frombuffer(memory, dtype=np.dtype(kind)).reshape(shape)
    array.flags.writeable = False
    return array


def numbers(values) -> np.ndarray:
    """Numbers in the order that C expects."""
    return np.ascontiguousarray(values, dtype=np.float64)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


class _Block:
    """Memory of a large array. When the last array on it is gone it is kept for the next one,
    since fresh pages cost nearly as much as a million rates. One is kept, up to 256 MB."""

    _spare: list = []
    large, most = 2**19, 2**25  # numbers

    def __init__(self, shape, count: int):
        try:
            memory = self._spare.pop()  # one step, whatever other threads do
        except IndexError:
            memory = None
        fits = memory is not None and count <= memory.size <= 2 * count
        self.memory = memory if fits else np.empty(count)
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": self.memory.dtype.str,
            "data": (address(self.memory), False),
        }

    def __del__(self):
        if self.memory.size <= self.most:
            self._spare[:] = [self.memory]


def room(shape) -> np.ndarray:
    """An array for results, not initialised."""
    count = math.prod(shape)
    return np.empty(shape) if count < _Block.large else np.asarray(_Block(shape, count))


class Progress:
    """The callback of a long job: shows a bar, heeds Ctrl-C, and calls the user's function.

    Used as a context around the call of the library. An exception inside the callback, or
    Ctrl-C, stops the job and is raised when the library has returned.
    """

    def __init__(self, show, unit: str = ""):
        self.function: Optional[Callable] = show if callable(show) else None
        self.bar = _bar(unit) if show and not callable(show) else None
        self.error: Optional[BaseException] = None
        self.callback = PROGRESS(self._called)
        self.handler: Any = None

    def _called(self, _context, fraction: float, at: float) -> int:
        try:
            if self.function and self.function(fraction, at):
                return 1
            if self.bar:
                self.bar.show(fraction, at)
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
        return 1 if self.error is not None else 0

    def _interrupted(self, _signal, _frame) -> None:
        # raised here it would be lost between the library and the callback
        self.error = KeyboardInterrupt()

    def __enter__(self) -> "Progress":
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                self.handler = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)
        if self.bar:
            self.bar.end()
        if self.error is not None:
            raise self.error


def _bar(unit: str):
    if "ipykernel" in sys.modules:
        try:
            return _NotebookBar()
        except ImportError:
            pass
    return _TerminalBar(unit) if sys.stderr.isatty() else None


class _TerminalBar:
    """A line on the terminal once a job takes over a second."""

    def __init__(self, unit: str):
        self.unit, self.began, self.shown = unit, time.monotonic(), False

    def show(self, fraction: float, at: float) -> None:
        if time.monotonic() - self.began < 1:
            return
        done = int(30 * min(max(fraction, 0), 1))
        sys.stderr.write(f"\r[{'#' * done}{'.' * (30 - done)}] {at:.4g} {self.unit} ")
        sys.stderr.flush()
        self.shown = True

    def end(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * 60 + "\r")
            sys.stderr.flush()


class _NotebookBar:
    """A widget of the notebook, if ipywidgets is installed."""

    def __init__(self):
        from IPython.display import display  # pylint: disable=import-outside-toplevel
        from ipywidgets import FloatProgress  # pylint: disable=import-outside-toplevel

        self.make, self.display = FloatProgress, display
        self.widget, self.began = None, time.monotonic()

    def show(self, fraction: float, at: float) -> None:
        if time.monotonic() - self.began < 1:
            return
        if self.widget is None:
            self.widget = self.make(min=0, max=1)
            self.display(self.widget)
        self.widget.value = fraction
        self.widget.description = f"{at:.4g}"

    def end(self) -> None:
        if self.widget is not None:
            self.widget.close()


class Options:
    """Options of a run, set by name in the library's own struct."""

    _types: dict = {}

    def __init__(self):
        self.pointer = lib.ns_options_new()
        if not self.pointer:
            raise MemoryError("out of memory")

    def __del__(self):
        if getattr(self, "pointer", None):
            lib.ns_options_free(self.pointer)

    @classmethod
    def types(cls) -> dict:
        """The options with their types ("number", "numbers", "text", "texts") and help."""
        if not cls._types:
            kind, help_text = ctypes.c_char_p(), ctypes.c_char_p()
            i = 0
            while name := lib.ns_options_name(i, ctypes.byref(kind), ctypes.byref(help_text)):
                cls._types[text(name)] = (text(kind.value), text(help_text.value))
                i += 1
        return cls._types

    def set(self, name: str, value) -> None:
        if name not in self.types():
            raise RequestError(
                f"there is no option `{name}`; there are: " + ", ".join(sorted(self.types()))
            )
        kind, key = self.types()[name][0], name.encode()
        if kind == "number":
            verdict = lib.ns_options_set_number(self.pointer, key, float(value))
        elif kind == "text":
            verdict = lib.ns_options_set_text(self.pointer, key, str(value).encode())
        elif kind == "numbers":
            array = numbers(value).ravel()
            verdict = lib.ns_options_set_numbers(self.pointer, key, address(array), array.size)
        else:
            from ._library import texts  # pylint: disable=import-outside-toplevel

            items = [value] if isinstance(value, (str, bytes)) else list(value)
            verdict = lib.ns_options_set_texts(self.pointer, key, texts(items), len(items))
        if verdict != DONE:
            raise RequestError(f"{value!r} is not a value of the option '{name}' ({kind})")

    def progress(self, progress: Progress) -> None:
        self.kept = progress  # the callback must live as long as the run
        lib.ns_options_set_progress(self.pointer, progress.callback, None)
