"""noslip: nonholonomic mechanics, from a description to the motion.

    >>> import noslip
    >>> m = noslip.Model("rattleback")         # a bundled model, a path, or text=
    >>> r = m.run(until=20, every=0.01)        # options as of the command line
    >>> r["omega.z"].shape, r["omega"].shape   # arrays; [rows, 3] for vectors
    ((2001,), (2001, 3))
    >>> r.status, r.events[0].name
    ('done', 'reversal')
    >>> r.quality.energy_drift < 1e-13
    True

What there is:

    Model         read and derived once; run, evaluated and studied any number of times
    Model.run     a whole motion -> Run: t, values, events, quality, report, plot
    Model.rates, Model.jacobian, ...   exact functions of (t, x), at one or many points
    Model.simulation   a run in your hands -> Simulation: step, look, change, go on
    Model.ensemble     many runs at once -> Ensemble
    Model.sensitivities    derivatives of a motion by parameters and starts
    equilibria, section, lyapunov, invariants, measure, brackets, portrait, compare, check,
    period, frequencies; linearise, plan (control), gradient, fit (from measurements),
    sweep (tables on disk), reproduce (claims of the literature)
    gallery()     the bundled models
    new, explain, format, words    texts of models: to begin with, messages, layout, language

Errors are exceptions with the message of the program: where it is, and what was expected.
"""

from __future__ import annotations

import re as _re

from ._library import lib as _lib
from ._library import names as _names
from ._library import text as _text
from ._support import Error, ModelError, RequestError
from .ensemble import Ensemble
from .model import Message, Model
from .run import Event, Run
from .simulation import Simulation
from .study import (
    Study,
    Table,
    check,
    compare,
    emit,
    equilibria,
    explain,
    fit,
    gradient,
    import_urdf,
    linearise,
    plan,
    format,
    frequencies,
    invariants,
    brackets,
    lyapunov,
    measure,
    new,
    period,
    portrait,
    reproduce,
    section,
    sweep,
    words,
)

__version__ = _text(_lib.ns_version())


def gallery() -> dict:
    """The bundled models: names and titles.

    >>> gallery()["chaplygin-sleigh"]
    'Chaplygin sleigh'
    """
    titles = {}
    for name in _names("gallery"):
        source = _text(_lib.ns_gallery_text(name.encode()))
        found = _re.search(r'^title "([^"]*)"', source, _re.M)
        titles[name] = found.group(1) if found else ""
    return titles


def methods() -> dict:
    """The integration methods with one line about each."""
    return _names("methods")


def formulations() -> dict:
    """The formulations with one line about each."""
    return _names("formulations")


__all__ = [
    "Ensemble",
    "Error",
    "Event",
    "Message",
    "Model",
    "ModelError",
    "RequestError",
    "Run",
    "Simulation",
    "Study",
    "Table",
    "check",
    "compare",
    "emit",
    "equilibria",
    "explain",
    "fit",
    "gradient",
    "import_urdf",
    "linearise",
    "plan",
    "formulations",
    "frequencies",
    "gallery",
    "invariants",
    "brackets",
    "lyapunov",
    "measure",
    "methods",
    "new",
    "period",
    "portrait",
    "reproduce",
    "section",
    "sweep",
    "words",
]
