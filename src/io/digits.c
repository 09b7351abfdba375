#include "io/digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/shaken.h"

/* How to run again. */
typedef struct again {
    const char *method;
    double tolerance;
    uint64_t seed;
} again;

static ns_record *run_again(const ns_record *r, const again *how)
{
    const uint32_t n = r->model->system->states.n;
    const uint32_t np = r->model->system->description->params.n;
    double *inputs = malloc((n + np + (size_t)1) * sizeof *inputs);
    if (!inputs)
        return NULL;
    ns_model model = *r->model; /* borrows all but these two */
    uint64_t seed = how->seed;
    model.p = inputs;
    model.x0 = inputs + np;
    for (uint32_t i = 0; i < np; i++)
        model.p[i] = ns_shaken(r->model->p[i], &seed);
    for (uint32_t i = 0; i < n; i++)
        model.x0[i] = ns_shaken(r->model->x0[i], &seed);
    ns_record_options o = r->options;
    o.outputs = NULL;
    o.n_outputs = 0;
    o.checkpoint = o.resume = NULL;
    o.keep = true;
    o.motion = false;
    o.until_fixed = true;
    o.run.method = how->method;
    o.run.tolerance = how->tolerance;
    o.run.fixed_step = 0;
    o.progress = NULL;
    ns_record *other = ns_record_new(&model, &o);
    if (other && other->status == NS_OK)
        ns_record_run(other);
    if (other)
        other->model = r->model; /* the copy ends here */
    free(inputs);
    return other;
}

/* The largest differences of a column so far, row by row. */
static void compare(const ns_record *r, const ns_record *other, double *error)
{
    const size_t rows = r->table.rows;
    for (uint32_t c = 0; c < r->columns; c++) {
        const double *a = ns_table_column(&r->table, c);
        const double *b = ns_table_column(&other->table, c);
        double most = 0;
        for (size_t k = 0; k < rows; k++) {
            const double off = k < other->table.rows ? fabs(a[k] - b[k]) : (double)NAN;
            if (!(off <= most))
                most = off; /* nan stays */
            double *e = &error[c * rows + k];
            *e = isnan(most) || isnan(*e) ? (double)NAN : fmax(*e, most);
        }
    }
}

static int digits_of(double value, double error)
{
    static const double luck = 5;
    if (isnan(error) || !isfinite(value))
        return -1;
    const double relative = fmax(luck * error / fabs(value), 0x1p-53);
    return relative < 1 ? (int)fmin(floor(-log10(relative)), NS_DIGITS_MOST) : 0;
}

static void settle(ns_record *r, const double *error)
{
    const size_t rows = r->table.rows;
    for (uint32_t c = 0; c < r->columns; c++) {
        const double *value = ns_table_column(&r->table, c);
        for (size_t k = 0; k < rows; k++) {
            /* an exact zero is right as far as nothing else came out */
            const double e = error[c * rows + k];
            const bool zero = value[k] == 0 && e == 0;
            r->digits[c * rows + k] = (signed char)(zero ? NS_DIGITS_MOST
                                                         : digits_of(value[k], e));
        }
    }
}

bool ns_digits_judge(ns_record *r, char *message, size_t room)
{
    /* series of very long expressions, and of stiff problems, take too long */
    enum { LONG = 2000 };
    const bool series = ns_program_operations(r->model->problem->rhs, NULL) < LONG &&
                        !r->method->needs_jacobian;
    const again ways[] = {{"gauss", 1e-17, 1}, {series ? "taylor" : "gauss", 1e-16, 2}};
    const size_t rows = r->table.rows, cells = rows * r->columns;
    double *error = calloc(cells + 1, sizeof *error);
    r->digits = malloc(cells + 1);
    bool good = error && r->digits;
    snprintf(message, room, "out of memory");
    for (size_t i = 0; i < sizeof ways / sizeof *ways && good; i++) {
        ns_record *other = run_again(r, &ways[i]);
        good = other && other->status >= 0 && other->outcome;
        if (other && !good)
            snprintf(message, room, "%s", other->message);
        if (good)
            compare(r, other, error);
        ns_record_free(other);
    }
    if (good)
        settle(r, error);
    else {
        free(r->digits);
        r->digits = NULL;
    }
    free(error);
    return good;
}

int ns_digits_at(const ns_record *r, uint32_t column, size_t row)
{
    return r->digits[column * r->table.rows + row];
}
