"""The C library by ctypes: where it is, and the types of its functions.

The prototypes are one line each, in the order of include/noslip/noslip.h; a test compares them
with the symbols that the library exports. No struct of C is mirrored here: options are set by
name.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_char_p,
    c_double,
    c_int,
    c_long,
    c_size_t,
    c_uint,
    c_void_p,
)

DONE, STOPPED, WRONG, FAILED = range(4)
PARAMETERS, STATES, VALUES, CONSTRAINTS, INVARIANTS, EVENTS, INPUTS = range(7)

PROGRESS = CFUNCTYPE(c_int, c_void_p, c_double, c_double)
EVENT = CFUNCTYPE(c_int, c_void_p, c_size_t, c_double, c_int, POINTER(c_double))
ROW = CFUNCTYPE(c_int, c_void_p, c_size_t, POINTER(c_double), c_int, c_char_p)

_letters = {
    "v": None,  # nothing
    "p": c_void_p,  # an object, or an array by its address
    "s": c_char_p,
    "S": POINTER(c_char_p),
    "i": c_int,
    "I": POINTER(c_int),
    "u": POINTER(c_uint),
    "l": c_long,
    "n": c_size_t,
    "N": POINTER(c_size_t),
    "d": c_double,
    "D": POINTER(c_double),
    "F": PROGRESS,
    "E": EVENT,
    "R": ROW,
}

# name: result, then arguments
PROTOTYPES = {
    "ns_version": "s",
    "ns_list": "ssnS",
    "ns_gallery_text": "ss",
    "ns_model_open": "psSSn",
    "ns_model_open_text": "pssSSn",
    "ns_model_open_gallery": "psSSn",
    "ns_model_find": "psSSn",
    "ns_model_variant": "ppSSn",
    "ns_model_variant_numbers": "ppSpn",
    "ns_model_sensitivities": "pps",
    "ns_model_close": "vp",
    "ns_model_verdict": "ip",
    "ns_model_messages": "sp",
    "ns_model_message_count": "np",
    "ns_model_message": "spnSSuuuS",
    "ns_model_title": "sp",
    "ns_model_source": "sp",
    "ns_model_text": "sp",
    "ns_model_formulation": "sp",
    "ns_model_count": "npi",
    "ns_model_name": "spin",
    "ns_model_index": "lpis",
    "ns_model_unit": "spin",
    "ns_model_number": "dpin",
    "ns_model_numbers": "npipn",
    "ns_model_quantity": "spin",
    "ns_model_role": "spin",
    "ns_model_vector": "npisNn",
    "ns_model_vector_of": "npinpn",
    "ns_model_setting": "dps",
    "ns_model_equations": "pps",
    "ns_free": "vp",
    "ns_calculator_new": "pps",
    "ns_calculator_close": "vp",
    "ns_calculator_verdict": "ip",
    "ns_calculator_rows": "np",
    "ns_calculator_columns": "np",
    "ns_calculator_eval": "ipnpnppnp",
    "ns_calculator_threads": "ipn",
    "ns_simulate_defaults": "vpn",
    "ns_options_new": "p",
    "ns_options_free": "vp",
    "ns_options_set_number": "ipsd",
    "ns_options_set_numbers": "ipspn",
    "ns_options_set_text": "ipss",
    "ns_options_set_texts": "ipsSn",
    "ns_options_set_progress": "ipFp",
    "ns_options_name": "snSS",
    "ns_simulate": "ppp",
    "ns_result_close": "vp",
    "ns_result_verdict": "ip",
    "ns_result_reason": "sp",
    "ns_result_method": "spS",
    "ns_result_native": "ipS",
    "ns_result_rows": "np",
    "ns_result_times": "pp",
    "ns_result_values": "pps",
    "ns_result_column": "ppn",
    "ns_result_low": "ppn",
    "ns_result_final": "dps",
    "ns_result_state": "ipp",
    "ns_result_events": "np",
    "ns_result_event_name": "spn",
    "ns_result_event_time": "dpn",
    "ns_result_event_direction": "ipn",
    "ns_result_event_value": "dpns",
    "ns_result_modes": "np",
    "ns_result_mode_time": "dpn",
    "ns_result_mode_name": "spn",
    "ns_result_diagnostic": "dps",
    "ns_result_digits": "ppn",
    "ns_result_trust": "sp",
    "ns_result_write": "ips",
    "ns_result_bytes": "ppsN",
    "ns_result_error": "sp",
    "ns_simulation_new": "ppp",
    "ns_simulation_close": "vp",
    "ns_simulation_verdict": "ip",
    "ns_simulation_reason": "sp",
    "ns_simulation_step": "ip",
    "ns_simulation_advance": "ipd",
    "ns_simulation_time": "dp",
    "ns_simulation_from": "dp",
    "ns_simulation_reached": "dp",
    "ns_simulation_state": "ipp",
    "ns_simulation_state_at": "ipdp",
    "ns_simulation_values": "ipp",
    "ns_simulation_value": "dps",
    "ns_simulation_set_state": "ipdpi",
    "ns_simulation_set_parameters": "ipp",
    "ns_simulation_set_parameter": "ipsd",
    "ns_simulation_parameter": "dps",
    "ns_simulation_set_input": "ipsd",
    "ns_simulation_event": "lpDIp",
    "ns_simulation_on_event": "ipEp",
    "ns_simulation_save": "nppn",
    "ns_simulation_restore": "ippn",
    "ns_simulation_diagnostic": "dps",
    "ns_batch_new": "pp",
    "ns_batch_close": "vp",
    "ns_batch_reason": "sp",
    "ns_batch_vary": "ipspn",
    "ns_batch_over": "ips",
    "ns_batch_random": "ips",
    "ns_batch_get": "ips",
    "ns_batch_set_number": "ipsd",
    "ns_batch_set_text": "ipss",
    "ns_batch_on_row": "ipRpi",
    "ns_batch_on_progress": "ipFp",
    "ns_batch_prepare": "ip",
    "ns_batch_run": "ip",
    "ns_batch_rows": "np",
    "ns_batch_columns": "np",
    "ns_batch_column_name": "spn",
    "ns_batch_column_unit": "spn",
    "ns_batch_column": "pps",
    "ns_batch_values": "pp",
    "ns_batch_verdict": "ipn",
    "ns_batch_why": "spn",
    "ns_study_run": "pppsSSnFp",
    "ns_study_close": "vp",
    "ns_study_verdict": "ip",
    "ns_study_messages": "sp",
    "ns_study_summary": "sp",
    "ns_study_json": "sp",
    "ns_study_fact_count": "np",
    "ns_study_fact": "spnDS",
    "ns_study_fact_number": "dps",
    "ns_study_table_count": "np",
    "ns_study_table": "spnNN",
    "ns_study_column": "spnnSpp",
    "ns_study_numbers": "ppssN",
    "ns_study_save": "ips",
    "ns_study_report": "sp",
    "ns_study_error": "sp",
    "ns_study_option": "ssnSS",
}


def _places():
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.environ.get("NOSLIP_LIBRARY")
    yield os.path.join(here, "libnoslip.so")
    root = os.path.dirname(os.path.dirname(here))  # in a source tree: what was built there
    if os.path.exists(os.path.join(root, "include", "noslip", "noslip.h")):
        for preset in ("release", "ci", "dev"):
            yield os.path.join(root, "build", preset, "libnoslip.so")
    yield ctypes.util.find_library("noslip")


def _load():
    tried = []
    for place in _places():
        if not place:
            continue
        if os.sep in place and not os.path.exists(place):
            tried.append(place)
            continue
        return ctypes.CDLL(place)
    raise ImportError(
        "the library libnoslip.so was not found; build it with `make build`, install it with "
        "`make install`, or name it in NOSLIP_LIBRARY (looked at: " + ", ".join(tried) + ")"
    )


lib = _load()
for _name, _types in PROTOTYPES.items():
    _function = getattr(lib, _name)
    _function.restype = _letters[_types[0]]
    _function.argtypes = [_letters[letter] for letter in _types[1:]]


def texts(items):
    """An array of C strings."""
    return (c_char_p * (len(items) + 1))(*[str(item).encode() for item in items], None)


def text(value):
    return value.decode("utf-8", "replace") if value else ""


def names(list_name):
    """The names of a list of the library, with their summaries."""
    found, i = {}, 0
    summary = c_char_p()
    while True:
        name = lib.ns_list(list_name.encode(), i, ctypes.byref(summary))
        if not name:
            return found
        found[text(name)] = text(summary.value)
        i += 1
