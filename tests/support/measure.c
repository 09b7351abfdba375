#include "support/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void measure_close(double a, double b, double tolerance, const char *what)
{
    if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b))))
        fail_msg("%s: %.17g, expected %.17g (off by %.2e)", what, a, b, a - b);
}

void measure_near(double a, double b, double tolerance, const char *what)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s: %.17g, expected %.17g (off by %.2e)", what, a, b, a - b);
}

void measure_below(double value, double limit, const char *what, const char *of)
{
    if (!(value < limit))
        fail_msg("%s: %s is %.3g, not below %g", of, what, value, limit);
}

double measure_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double measure_energy_drift(const motion *m)
{
    return ns_run_outcome(m->run)->energy_drift;
}

double measure_extreme(const motion *m, const char *name)
{
    const ns_outcome *outcome = ns_run_outcome(m->run);
    int64_t i = ns_model_observable(m->model, name);
    if (i < 0)
        fail_msg("there is no value %s", name);
    return fmax(fabs(outcome->observable_min[i]), fabs(outcome->observable_max[i]));
}

motion measure_by_method(const char *name, const char *set, const char *method)
{
    ns_model *model = motion_model_file(name, set);
    model->settings.method = method;
    return motion_begin(model, NULL);
}

void measure_drop(motion *m)
{
    ns_run_free(m->run);
    free(m->x);
    free(m->value);
}

bool measure_at_event(motion *m, const char *name, uint32_t k)
{
    const ns_outcome *outcome = ns_run_outcome(m->run);
    const ns_system *s = m->model->system;
    for (uint32_t i = 0; i < outcome->n_events; i++) {
        if (strcmp(s->events.at[outcome->events[i].event].name, name) != 0 || k-- != 0)
            continue;
        m->t = outcome->events[i].t;
        ns_run_observe(m->run, m->t, outcome->event_states + (size_t)i * s->states.n, m->value);
        return true;
    }
    return false;
}
