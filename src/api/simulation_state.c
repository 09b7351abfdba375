/* Simulations: looking at the present, changing it, saving it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/simulation.h"
#include "base/hash.h"
#include "base/near.h"
#include "base/process/plain.h"
#include "session/inputs/inputs.h"

static bool ready(const ns_simulation *s)
{
    return s && s->run;
}

static ns_verdict not_ready(const ns_simulation *s)
{
    return s ? s->verdict : NS_FAILED;
}

/* ---- looking ----------------------------------------------------------------------------- */

static void state_at(ns_simulation *s, double t, double *x)
{
    if (t == ns_run_time(s->run))
        memcpy(x, ns_run_state(s->run), s->system->states.n * sizeof *x);
    else
        ns_run_state_at(s->run, t, x);
}

ns_verdict ns_simulation_state(ns_simulation *s, double *x)
{
    if (!ready(s))
        return not_ready(s);
    state_at(s, s->time, x);
    return NS_DONE;
}

ns_verdict ns_simulation_state_at(ns_simulation *s, double t, double *x)
{
    if (!ready(s))
        return not_ready(s);
    const double a = ns_run_last_time(s->run), b = ns_run_time(s->run);
    if (!(t >= (a < b ? a : b) && t <= (a < b ? b : a)))
        return ns_simulation_wrong(s, "the time lies outside of the last step");
    state_at(s, t, x);
    return NS_DONE;
}

ns_verdict ns_simulation_values(ns_simulation *s, double *values)
{
    NS_PLAIN_NUMBERS;
    if (!ready(s))
        return not_ready(s);
    state_at(s, s->time, s->x);
    ns_run_observe(s->run, s->time, s->x, values);
    return NS_DONE;
}

double ns_simulation_value(ns_simulation *s, const char *name)
{
    NS_PLAIN_NUMBERS;
    const long i = ready(s) ? ns_model_index(s->model, NS_VALUES, name) : -1;
    if (i < 0)
        return (double)NAN;
    ns_simulation_values(s, s->values);
    return s->values[i];
}

double ns_simulation_diagnostic(ns_simulation *s, const char *name)
{
    NS_PLAIN_NUMBERS;
    if (!ready(s))
        return (double)NAN;
    if (strcmp(name, "seconds") == 0)
        return s->seconds;
    return ns_api_diagnostic(s->model, ns_run_outcome(s->run), name);
}

double ns_simulation_parameter(const ns_simulation *s, const char *name)
{
    const long i = ready(s) ? ns_model_index(s->model, NS_PARAMETERS, name) : -1;
    return i < 0 ? (double)NAN : s->p[i];
}

/* ---- changing ---------------------------------------------------------------------------- */

static bool project(ns_simulation *s, double t, double *x)
{
    if (NS_ARENA_GUARD(s->arena)) {
        ns_arena_unguard(s->arena);
        return false;
    }
    const bool good = ns_system_project(ns_system_mode(s->system, ns_run_mode(s->run)), t, s->p,
                                        x);
    ns_arena_unguard(s->arena);
    return good;
}

ns_verdict ns_simulation_set_state(ns_simulation *s, double t, const double *x, int projected)
{
    NS_PLAIN_NUMBERS;
    if (!ready(s))
        return not_ready(s);
    memcpy(s->x, x, s->system->states.n * sizeof *x);
    if (!isfinite(t))
        return ns_simulation_wrong(s, "the time is not finite");
    for (uint32_t i = 0; i < s->system->states.n; i++)
        if (!isfinite(x[i]))
            return ns_simulation_wrong(s, "the state is not finite");
    if (projected && !project(s, t, s->x))
        return ns_simulation_wrong(s, "there is no state near this one that meets all "
                                      "constraints");
    /* in the present mode, unless states tell the mode */
    const uint32_t mode = s->system->start.ways.n ? 0 : ns_run_mode(s->run) + 1;
    return ns_simulation_begin(s, t, s->x, mode) ? NS_DONE : NS_WRONG;
}

/* Goes on from the present with p; as it was `before` if that fails. */
static ns_verdict begin_with(ns_simulation *s)
{
    uint32_t mode = ns_run_mode(s->run);
    if (s->time == ns_run_time(s->run))
        mode = ns_run_next(s->run, s->x);
    else
        state_at(s, s->time, s->x);
    ns_schedule_held(s->run, s->held); /* controllers do not notice */
    s->options.held = s->held;
    if (ns_simulation_begin(s, s->time, s->x, mode + 1))
        return NS_DONE;
    s->options.held = NULL;
    memcpy(s->p, s->before, s->model->description->params.n * sizeof *s->p);
    return NS_WRONG;
}

ns_verdict ns_simulation_set_parameters(ns_simulation *s, const double *p)
{
    NS_PLAIN_NUMBERS;
    if (!ready(s))
        return not_ready(s);
    const uint32_t np = s->model->description->params.n;
    for (uint32_t i = 0; i < np; i++)
        if (!isfinite(p[i]))
            return ns_simulation_wrong(s, "a parameter is not finite");
    memcpy(s->before, s->p, np * sizeof *p);
    memcpy(s->p, p, np * sizeof *p);
    memcpy(s->given, p, np * sizeof *p);
    for (uint32_t i = 0; i < np; i++)
        s->is_set[i] = true;
    return begin_with(s);
}

static ns_verdict no_such(ns_simulation *s, ns_kind kind, const char *name)
{
    ns_near near = {.word = name};
    for (size_t i = 0; i < ns_model_count(s->model, kind); i++)
        ns_near_try(&near, ns_model_name(s->model, kind, i));
    snprintf(s->reason, sizeof s->reason, "the model has no %s `%.200s`%s%.200s%s",
             kind == NS_INPUTS ? "input" : "parameter", name,
             near.found ? "; did you mean `" : "", near.found ? near.found : "",
             near.found ? "`?" : "");
    return NS_WRONG;
}

ns_verdict ns_simulation_set_parameter(ns_simulation *s, const char *name, double value)
{
    NS_PLAIN_NUMBERS;
    if (!ready(s))
        return not_ready(s);
    const long i = ns_model_index(s->model, NS_PARAMETERS, name);
    if (i < 0)
        return no_such(s, NS_PARAMETERS, name);
    if (!isfinite(value))
        return ns_simulation_wrong(s, "the parameter is not finite");
    const uint32_t np = s->model->description->params.n;
    if (NS_ARENA_GUARD(s->arena)) {
        ns_arena_unguard(s->arena);
        return NS_FAILED;
    }
    memcpy(s->before, s->p, np * sizeof *s->p);
    s->given[i] = value;
    s->is_set[i] = true;
    ns_system_params(s->system, s->is_set, s->given, s->p);
    ns_arena_unguard(s->arena);
    return begin_with(s);
}

ns_verdict ns_simulation_set_input(ns_simulation *s, const char *name, double value)
{
    NS_PLAIN_NUMBERS;
    if (!ready(s))
        return not_ready(s);
    const ns_description *d = s->model->description;
    const int64_t i = ns_inputs_find(d, name);
    if (i < 0)
        return no_such(s, NS_INPUTS, name);
    const ns_input *input = &d->inputs.at[i];
    if (input->file || input->sampled || input->param == NS_INPUT_NO_PARAM) {
        snprintf(s->reason, sizeof s->reason,
                 "the input `%.200s` follows a table, a controller or a function of time",
                 name);
        return NS_WRONG;
    }
    const double before = s->p[input->param];
    const ns_verdict verdict = ns_simulation_set_parameter(s, name, value);
    if (verdict != NS_DONE || !ns_run_strays(s->run))
        return verdict;
    ns_simulation_set_parameter(s, name, before);
    snprintf(s->reason, sizeof s->reason,
             "constraints contain the input `%.200s`: with another value places or velocities "
             "would have to jump",
             name);
    return NS_WRONG;
}

/* ---- saving ------------------------------------------------------------------------------ */

typedef struct saved {
    char magic[16];
    double t0, time;
    unsigned long long n, np, next_event, length; /* length: of the run's own bytes */
    uint64_t checksum;                            /* of all bytes, taken as 0 itself */
} saved;

static const char magic[16] = "noslip-sim-2";

/* saved, p[np], is_set[np] as doubles, x[n] where the run is, bytes of the run */
static size_t before_run(size_t n, size_t np)
{
    return sizeof(saved) + (n + 2 * np) * sizeof(double);
}

size_t ns_simulation_save(ns_simulation *s, void *bytes, size_t room)
{
    if (!ready(s))
        return 0;
    if (!s->method->exact_restart) {
        ns_simulation_wrong(s, "runs of this method cannot be saved");
        return 0;
    }
    const size_t n = s->system->states.n, np = s->model->description->params.n;
    saved head = {.t0 = s->options.t0,
                  .time = s->time,
                  .n = n,
                  .np = np,
                  .next_event = s->next_event,
                  .length = ns_run_save_size(s->run)};
    memcpy(head.magic, magic, sizeof magic);
    const size_t length = before_run(n, np) + head.length;
    if (room < length || !bytes)
        return length;
    char *at = bytes;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    memcpy(at, s->p, np * sizeof(double));
    at += np * sizeof(double);
    for (size_t i = 0; i < np; i++, at += sizeof(double)) {
        const double is_set = s->is_set[i];
        memcpy(at, &is_set, sizeof(double));
    }
    memcpy(at, ns_run_state(s->run), n * sizeof(double));
    ns_run_save(s->run, at + n * sizeof(double));
    head.checksum = ns_hash_bytes(ns_hash_start, bytes, length);
    memcpy(bytes, &head, sizeof head);
    return length;
}

/* Is the checksum that of the bytes? */
static bool is_whole(const saved *head, const char *bytes, size_t length)
{
    saved zero = *head;
    zero.checksum = 0;
    const uint64_t sum = ns_hash_bytes(ns_hash_start, &zero, sizeof zero);
    return ns_hash_bytes(sum, bytes + sizeof zero, length - sizeof zero) == head->checksum;
}

ns_verdict ns_simulation_restore(ns_simulation *s, const void *bytes, size_t length)
{
    NS_PLAIN_NUMBERS;
    if (!ready(s))
        return not_ready(s);
    const size_t n = s->system->states.n, np = s->model->description->params.n;
    const char *at = bytes, *message = "";
    saved head;
    if (length < sizeof head || memcmp(at, magic, sizeof magic) != 0)
        return ns_simulation_wrong(s, "these are not the bytes of a simulation");
    memcpy(&head, at, sizeof head);
    if (head.n != n || head.np != np || head.length > length ||
        length != before_run(n, np) + head.length)
        return ns_simulation_wrong(s, "the bytes belong to a simulation of another model");
    if (!is_whole(&head, bytes, length))
        return ns_simulation_wrong(s, "the bytes are damaged");
    at += sizeof head;
    memcpy(s->p, at, np * sizeof(double));
    memcpy(s->given, at, np * sizeof(double));
    at += np * sizeof(double);
    for (size_t i = 0; i < np; i++, at += sizeof(double)) {
        double set;
        memcpy(&set, at, sizeof set);
        s->is_set[i] = set > 0;
    }
    memcpy(s->x, at, n * sizeof(double));
    if (!ns_simulation_begin(s, head.t0, s->x, 0))
        return NS_WRONG;
    const ns_status status = ns_run_restore(s->run, at + n * sizeof(double),
                                            (size_t)head.length, &message);
    if (status < 0)
        return ns_simulation_wrong(s, message && *message ? message : ns_status_text(status));
    s->time = head.time;
    s->next_event = (size_t)head.next_event;
    return NS_DONE;
}
