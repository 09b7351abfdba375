#include "ode/drive/schedule.h"

#include <math.h>

#include "ode/run_internal.h"

/* Plain numbers, part of checkpoints: how many changes are done; then of each sampling the
 * number of the next sample and the present value. */
typedef struct kept {
    double done;
    struct {
        double next, value;
    } of[];
} kept;

size_t ns_schedule_kept(const ns_schedule *schedule)
{
    return schedule ? 1 + 2 * (size_t)schedule->n_samplings : 0;
}

size_t ns_schedule_work(const ns_schedule *schedule)
{
    return schedule && schedule->sample ? ns_program_work1(schedule->sample) : 0;
}

static double sample_time(const ns_schedule *q, uint32_t i, double k)
{
    return q->origin + k * q->samplings[i].period;
}

static void set(ns_run *run, uint32_t param, double value)
{
    double *p = (double *)run->s.p, *p8 = (double *)run->s.p8; /* changed here alone */
    p[param] = value;
    for (size_t lane = 0; lane < 8; lane++)
        p8[8 * (size_t)param + lane] = value;
}

/* Where the next step must end. */
static void aim(ns_run *run)
{
    const ns_schedule *q = run->options.schedule;
    const kept *k = (const kept *)run->schedule_kept;
    double end = run->options.until;
    if (q->of && q->end < end)
        end = q->end;
    if ((size_t)k->done < q->n && q->changes[(size_t)k->done].t < end)
        end = q->changes[(size_t)k->done].t;
    for (uint32_t i = 0; i < q->n_samplings; i++)
        if (sample_time(q, i, k->of[i].next) < end)
            end = sample_time(q, i, k->of[i].next);
    run->s.until = end;
}

/* Everything that is due at the present time. */
static bool take(ns_run *run)
{
    const ns_schedule *q = run->options.schedule;
    kept *k = (kept *)run->schedule_kept;
    const double now = run->s.now.t;
    bool any = false, due = false;
    for (; (size_t)k->done < q->n && q->changes[(size_t)k->done].t <= now; k->done++) {
        const ns_schedule_change *c = &q->changes[(size_t)k->done];
        set(run, c->param, c->value);
        any = true;
    }
    for (uint32_t i = 0; i < q->n_samplings; i++)
        due = due || sample_time(q, i, k->of[i].next) <= now;
    if (due) { /* all see the same moment */
        double *out = run->schedule_work + ns_schedule_work(q);
        ns_program_bind1(q->sample, run->schedule_work, run->s.p);
        ns_program_eval1(q->sample, run->schedule_work, now, run->s.x, out);
        for (uint32_t i = 0; i < q->n_samplings; i++) {
            if (sample_time(q, i, k->of[i].next) > now)
                continue;
            while (sample_time(q, i, k->of[i].next) <= now)
                k->of[i].next++;
            k->of[i].value = out[i];
            set(run, q->samplings[i].param, out[i]);
        }
    }
    if (any || due)
        ns_run_bind(run);
    aim(run);
    return any || due;
}

const char *ns_schedule_begin(ns_run *run)
{
    const ns_schedule *q = run->options.schedule;
    kept *k = (kept *)run->schedule_kept;
    if (!q)
        return NULL;
    if (run->s.sense < 0)
        return "inputs from tables and controllers run forwards in time only";
    if (run->whole->jumps || run->whole->n_modes > 1)
        return "inputs from tables and controllers do not go with motions that jump or change "
               "their mode";
    if (run->s.method->precise)
        return "inputs from tables and controllers are in double precision: choose another "
               "method";
    /* literals: the text outlives a run that does not begin */
    if (q->of && !(run->options.t0 >= q->begin && run->options.t0 < q->end))
        return "the run begins outside of the times of a table of its inputs";
    for (uint32_t i = 0; i < q->n_samplings; i++) {
        /* in the middle of a period: the first sample is taken now, the next at its time */
        const double part = (run->options.t0 - q->origin) / q->samplings[i].period;
        k->of[i].next = part > 0 ? floor(part) : 0;
        if (!run->options.held)
            continue;
        while (sample_time(q, i, k->of[i].next) < run->options.t0)
            k->of[i].next++;
        k->of[i].value = run->options.held[i];
        set(run, q->samplings[i].param, k->of[i].value);
    }
    take(run);
    ns_run_bind(run);
    return NULL;
}

void ns_schedule_held(const ns_run *run, double *held)
{
    const ns_schedule *q = run->options.schedule;
    const kept *k = (const kept *)run->schedule_kept;
    for (uint32_t i = 0; q && i < q->n_samplings; i++)
        held[i] = k->of[i].value;
}

bool ns_schedule_pass(ns_run *run)
{
    if (!run->options.schedule || run->s.now.t < run->s.until)
        return false;
    ns_tally_flush(run); /* with the parameters of the steps that wait */
    return take(run);
}

bool ns_schedule_over(const ns_run *run)
{
    const ns_schedule *q = run->options.schedule;
    return q && q->of && run->s.now.t >= q->end && q->end < run->options.until;
}

/* Counts that a run can have come to: whole, and neither behind nor far ahead of its time. */
static bool sound(const ns_run *run)
{
    const ns_schedule *q = run->options.schedule;
    const kept *k = (const kept *)run->schedule_kept;
    const double now = run->s.now.t;
    if (!(k->done >= 0 && k->done <= (double)q->n && k->done == floor(k->done)))
        return false;
    for (uint32_t i = 0; i < q->n_samplings; i++) {
        const double next = k->of[i].next;
        if (!(next >= 0 && next == floor(next) && sample_time(q, i, next + 1) > now &&
              (next <= 1 || sample_time(q, i, next - 2) <= now)))
            return false;
    }
    return true;
}

bool ns_schedule_restore(ns_run *run)
{
    const ns_schedule *q = run->options.schedule;
    const kept *k = (const kept *)run->schedule_kept;
    if (!q)
        return true;
    if (!sound(run))
        return false;
    for (size_t i = 0; i < (size_t)k->done && i < q->n; i++)
        set(run, q->changes[i].param, q->changes[i].value);
    for (uint32_t i = 0; i < q->n_samplings; i++)
        set(run, q->samplings[i].param, k->of[i].value);
    ns_run_bind(run);
    aim(run);
    return true;
}
