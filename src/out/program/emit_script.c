#include "out/program/emit_script.h"

#include <math.h>

/* ---- fixed parts ------------------------------------------------------------------------- */

static const char python_helpers[] = "def power(a, n):\n"
                                     "    return a**n\n\n\n"
                                     "def sign(a):\n"
                                     "    return 1.0 if a > 0 else -1.0 if a < 0 else a\n\n\n"
                                     "def least(a, b):\n"
                                     "    return a if a < b else b\n\n\n"
                                     "def most(a, b):\n"
                                     "    return a if a > b else b\n\n\n";

static const char python_systems[] =
    "def factor(n, M):\n"
    "    \"\"\"M, by rows in a list, becomes L U; row[k] was exchanged with row k.\"\"\"\n"
    "    row = list(range(n))\n"
    "    for k in range(n):\n"
    "        best = max(range(k, n), key=lambda i: fabs(M[i*n + k]))\n"
    "        row[k] = best\n"
    "        for j in range(n):\n"
    "            M[k*n + j], M[best*n + j] = M[best*n + j], M[k*n + j]\n"
    "        for i in range(k + 1, n):\n"
    "            M[i*n + k] /= M[k*n + k]\n"
    "            for j in range(k + 1, n):\n"
    "                M[i*n + j] -= M[i*n + k]*M[k*n + j]\n"
    "    return row\n\n\n"
    "def solve(n, M, row, b):\n"
    "    \"\"\"The solution of M x = b.\"\"\"\n"
    "    for k in range(n):\n"
    "        b[k], b[row[k]] = b[row[k]], b[k]\n"
    "    for i in range(n):\n"
    "        for j in range(i):\n"
    "            b[i] -= M[i*n + j]*b[j]\n"
    "    for i in reversed(range(n)):\n"
    "        for j in range(i + 1, n):\n"
    "            b[i] -= M[i*n + j]*b[j]\n"
    "        b[i] /= M[i*n + i]\n"
    "    return b\n\n\n";

static const char python_end[] =
    "# The method of Dormand and Prince, order 5, with an estimate of order 4.\n"
    "NODES = (0, 1/5, 3/10, 4/5, 8/9, 1, 1)\n"
    "WEIGHTS = (\n"
    "    (),\n"
    "    (1/5,),\n"
    "    (3/40, 9/40),\n"
    "    (44/45, -56/15, 32/9),\n"
    "    (19372/6561, -25360/2187, 64448/6561, -212/729),\n"
    "    (9017/3168, -355/33, 46732/5247, 49/176, -5103/18656),\n"
    "    (35/384, 0, 500/1113, 125/192, -2187/6784, 11/84),\n"
    ")\n"
    "ERROR = (71/57600, 0, -71/16695, 71/1920, -17253/339200, 22/525, -1/40)\n\n\n"
    "def advance(t, x, end, p, h, tolerance):\n"
    "    \"\"\"The state at the time end, and the length of the next step.\"\"\"\n"
    "    while t != end:\n"
    "        last = abs(h) >= abs(end - t)\n"
    "        step = end - t if last else h\n"
    "        slopes = []\n"
    "        for node, weights in zip(NODES, WEIGHTS):\n"
    "            y = [x_i + step*sum(w*s[i] for w, s in zip(weights, slopes))\n"
    "                 for i, x_i in enumerate(x)]\n"
    "            slopes.append(model_rhs(t + node*step, y, p))\n"
    "        error = max((abs(step*sum(w*s[i] for w, s in zip(ERROR, slopes)))\n"
    "                     /(tolerance*(1 + max(abs(x[i]), abs(y[i])))) for i in "
    "range(len(x))),\n"
    "                    default=0.0)\n"
    "        if not error < inf:\n"
    "            raise ArithmeticError(f\"the motion is singular near t = {t}\")\n"
    "        if error <= 1:\n"
    "            t, x = end if last else t + step, y\n"
    "        longer = min(5.0, max(0.2, 0.9*error**-0.2)) if error > 0 else 5.0\n"
    "        if not (last and error <= 1 and longer*abs(step) < abs(h)):\n"
    "            h = step*longer\n"
    "        if abs(h) <= 1e-15*abs(t):\n"
    "            raise ArithmeticError(f\"steps become too short at t = {t}\")\n"
    "    return x, h\n\n\n"
    "def motion(end=LAST_TIME, interval=INTERVAL, tolerance=1e-10, p=PARAMETERS, "
    "start=START):\n"
    "    \"\"\"Yields t and the values, from the start to the end.\"\"\"\n"
    "    t, x, count = FIRST_TIME, list(start), 0\n"
    "    rows = max(1, round(abs(end - FIRST_TIME)/abs(interval))) if interval else 1\n"
    "    h = (end - FIRST_TIME)/1000/rows\n"
    "    yield t, model_values(t, x, p)\n"
    "    while count < rows and end != FIRST_TIME:\n"
    "        count += 1\n"
    "        new = end if count == rows else FIRST_TIME + count*(end - FIRST_TIME)/rows\n"
    "        x, h = advance(t, x, new, p, h, tolerance)\n"
    "        t = new\n"
    "        yield t, model_values(t, x, p)\n\n\n"
    "if __name__ == \"__main__\":\n"
    "    print(\"t\", *NAMES, sep=\",\")\n"
    "    for t, row in motion(*(float(word) for word in sys.argv[1:])):\n"
    "        print(repr(t), *(repr(value) for value in row), sep=\",\")\n";

static const char octave_end[] =
    "% The method of Dormand and Prince, order 5, with an estimate of order 4: the state at "
    "the\n"
    "% time last, and the length of the next step.\n"
    "function [x, h] = advance(t, x, last, p, h, tolerance)\n"
    "    nodes = [0, 1/5, 3/10, 4/5, 8/9, 1, 1];\n"
    "    weights = [0, 0, 0, 0, 0, 0, 0;\n"
    "               1/5, 0, 0, 0, 0, 0, 0;\n"
    "               3/40, 9/40, 0, 0, 0, 0, 0;\n"
    "               44/45, -56/15, 32/9, 0, 0, 0, 0;\n"
    "               19372/6561, -25360/2187, 64448/6561, -212/729, 0, 0, 0;\n"
    "               9017/3168, -355/33, 46732/5247, 49/176, -5103/18656, 0, 0;\n"
    "               35/384, 0, 500/1113, 125/192, -2187/6784, 11/84, 0];\n"
    "    estimate = [71/57600; 0; -71/16695; 71/1920; -17253/339200; 22/525; -1/40];\n"
    "    while t != last\n"
    "        ends = abs(h) >= abs(last - t);\n"
    "        step = h;\n"
    "        if ends\n"
    "            step = last - t;\n"
    "        end\n"
    "        slopes = zeros(numel(x), 7);\n"
    "        for k = 1:7\n"
    "            y = x + step*(slopes*weights(k, :).');\n"
    "            slopes(:, k) = model_rhs(t + nodes(k)*step, y, p);\n"
    "        end\n"
    "        size_of = tolerance*(1 + max(abs(x), abs(y)));\n"
    "        wrong = max([0; abs(step*(slopes*estimate))./size_of]);\n"
    "        if ! (wrong < Inf)\n"
    "            error(\"the motion is singular near t = %g\", t);\n"
    "        end\n"
    "        if wrong <= 1\n"
    "            t = t + step;\n"
    "            if ends\n"
    "                t = last;\n"
    "            end\n"
    "            x = y;\n"
    "        end\n"
    "        longer = min(5, max(0.2, 0.9*wrong^-0.2));\n"
    "        if ! (ends && wrong <= 1 && longer*abs(step) < abs(h))\n"
    "            h = step*longer;\n"
    "        end\n"
    "        if abs(h) <= 1e-15*abs(t)\n"
    "            error(\"steps become too short at t = %g\", t);\n"
    "        end\n"
    "    end\n"
    "end\n\n"
    "function show(t, v)\n"
    "    printf(\"%.17g\", t);\n"
    "    printf(\",%.17g\", v);\n"
    "    printf(\"\\n\");\n"
    "end\n\n"
    "% octave THIS_FILE [END_TIME [OUTPUT_INTERVAL [TOLERANCE]]]\n"
    "words = argv();\n"
    "settings = [last_time, interval, 1e-10];\n"
    "for k = 1:numel(words)\n"
    "    settings(k) = str2double(words{k});\n"
    "end\n"
    "printf(\"t\");\n"
    "printf(\",%s\", names{:});\n"
    "printf(\"\\n\");\n"
    "t = first_time;\n"
    "x = start;\n"
    "rows = max(1, round(abs(settings(1) - first_time)/abs(settings(2))));\n"
    "h = (settings(1) - first_time)/1000/rows;\n"
    "show(t, model_values(t, x, parameters));\n"
    "for k = 1:rows\n"
    "    new = first_time + k*(settings(1) - first_time)/rows;\n"
    "    if k == rows\n"
    "        new = settings(1);\n"
    "    end\n"
    "    [x, h] = advance(t, x, new, parameters, h, settings(3));\n"
    "    t = new;\n"
    "    show(t, model_values(t, x, parameters));\n"
    "end\n";

/* ---- parts of the model ------------------------------------------------------------------ */

/* Words of the model as a string of both languages. */
static const char *quoted(const ns_emit_c_writer *w, const char *words)
{
    ns_text text = ns_text_new(w->arena);
    ns_text_add(&text, "\"");
    for (const char *at = ns_emit_c_comment(w->arena, words); *at; at++)
        ns_text_add_bytes(&text, *at == '"' ? "'" : at, 1);
    ns_text_add(&text, "\"");
    return ns_text_string(&text);
}

/* One a line, with its name. */
static void put_numbers(ns_emit_c_writer *w, const char *name, const double *value,
                        const char *const *names, uint32_t n)
{
    const bool python = w->language == NS_EMIT_PYTHON;
    ns_text_addf(w->out, "%s = [\n", name);
    for (uint32_t i = 0; i < n; i++)
        ns_text_addf(w->out, "    %s%s  %s %s\n", ns_emit_c_number(w, value[i]),
                     python ? "," : ";", python ? "#" : "%",
                     ns_emit_c_comment(w->arena, names[i]));
    ns_text_add(w->out, python ? "]\n" : "];\n");
}

static void put_function(ns_emit_c_writer *w, const char *name, const char *array,
                         const char *what, const ns_ex *roots, const char *const *names,
                         uint32_t n)
{
    const bool python = w->language == NS_EMIT_PYTHON;
    if (python)
        ns_text_addf(w->out,
                     "def %s(t, x, p=PARAMETERS):\n    \"\"\"%s\"\"\"\n    %s = [0.0]*%u\n",
                     name, what, array, n);
    else
        ns_text_addf(w->out, "%% %s\nfunction %s = %s(t, x, p)\n    %s = zeros(%u, 1);\n", what,
                     array, name, array, n);
    ns_emit_c_body(w, roots, n, array, NULL, names);
    if (python)
        ns_text_addf(w->out, "    return %s\n\n\n", array);
    else
        ns_text_add(w->out, "end\n\n");
}

static void put_functions(ns_emit_c_writer *w)
{
    const ns_system *s = w->system;
    const uint32_t n = s->states.n, nv = s->observables.n;
    ns_ex *roots = NS_NEW_ARRAY(w->arena, ns_ex, n + nv + (size_t)1);
    const char **names = NS_NEW_ARRAY(w->arena, const char *, n + nv + (size_t)1);
    for (uint32_t i = 0; i < n; i++) {
        roots[i] = s->states.at[i].rate;
        names[i] = ns_arena_format(w->arena, "d/dt %s", s->states.at[i].name);
    }
    for (uint32_t i = 0; i < nv; i++) {
        roots[n + i] = s->observables.at[i].value;
        names[n + i] = s->observables.at[i].name;
    }
    put_function(w, "model_rhs", "dx", "Derivatives of the states.", roots, names, n);
    put_function(w, "model_values", "v", "Everything that can be observed.", roots + n,
                 names + n, nv);
}

static void put_head(ns_emit_c_writer *w)
{
    const ns_system *s = w->system;
    const bool python = w->language == NS_EMIT_PYTHON;
    const char *mark = python ? "#" : "%";
    ns_text_addf(w->out, "%s %s\n%s\n", mark,
                 ns_emit_c_comment(w->arena, s->description->title), mark);
    ns_text_addf(w->out, "%s Equations of motion (formulation %s), written by noslip %s.\n",
                 mark, s->formulation->name, NS_VERSION);
    ns_text_addf(w->out,
                 "%s\n%s     %s THIS_FILE [END_TIME [OUTPUT_INTERVAL [TOLERANCE]]] > "
                 "motion.csv\n%s\n",
                 mark, mark, python ? "python3" : "octave", mark);
    ns_text_addf(w->out,
                 "%s SI units.  Inputs are parameters.  The start was computed for the "
                 "parameters\n%s given here.",
                 mark, mark);
    if (s->constraints.n)
        ns_text_addf(w->out,
                     "  Constraints are not imposed again: they drift with the errors\n"
                     "%s of the integrator.",
                     mark);
    ns_text_addf(w->out, "%s\n", s->events.n ? "  Events are left out." : "");
}

void ns_emit_script(const ns_model *model, ns_emit_language language, ns_text *out)
{
    ns_arena *arena = out->arena;
    const ns_system *s = model->system;
    const ns_description *d = s->description;
    const bool python = language == NS_EMIT_PYTHON;
    ns_text bodies = ns_text_new(arena);
    ns_emit_c_writer w = ns_emit_script_writer(arena, model, language, &bodies);
    const char **names = NS_NEW_ARRAY(arena, const char *, s->states.n + d->params.n + 1);
    put_functions(&w);
    w.out = out;
    put_head(&w);
    ns_text_add(out, python ? "import sys\n"
                              "from math import (acos, acosh, asin, asinh, atan, atan2, atanh, "
                              "cos, cosh, exp, fabs,\n                  inf, log, nan, pow, "
                              "sin, sinh, sqrt, tan, tanh)\n\n"
                            : "1;\n\n");
    for (uint32_t i = 0; i < d->params.n; i++)
        names[i] = d->params.at[i].name;
    put_numbers(&w, python ? "PARAMETERS" : "parameters", model->p, names, d->params.n);
    for (uint32_t i = 0; i < s->states.n; i++)
        names[i] = s->states.at[i].name;
    put_numbers(&w, python ? "START" : "start", model->x0, names, s->states.n);
    ns_text_add(out, python ? "NAMES = [" : "names = {");
    for (uint32_t i = 0; i < s->observables.n; i++)
        ns_text_addf(out, "%s%s",
                     i % 8 ? ", "
                     : i   ? (python ? ",\n    " : ", ...\n    ")
                           : "",
                     quoted(&w, s->observables.at[i].name));
    const double from = isnan(model->settings.from) ? 0 : model->settings.from;
    const double until = isnan(model->settings.until) ? from + 1 : model->settings.until;
    const double every = isnan(model->settings.every) ? fabs(until - from)
                                                      : model->settings.every;
    ns_text_addf(out,
                 python ? "]\nFIRST_TIME, LAST_TIME, INTERVAL = %s, %s, %s\n\n\n"
                        : "};\nfirst_time = %s; last_time = %s; interval = %s;\n\n",
                 ns_emit_c_number(&w, from), ns_emit_c_number(&w, until),
                 ns_emit_c_number(&w, every));
    if (python)
        ns_text_add(out, python_helpers);
    if (python && w.needs[NS_EMIT_SYSTEMS])
        ns_text_add(out, python_systems);
    ns_text_add_bytes(out, ns_text_string(&bodies), bodies.length);
    ns_text_add(out, python ? python_end : octave_end);
}
