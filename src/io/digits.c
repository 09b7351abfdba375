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
    uint64_t seed; /* of the changes in the last bits; 0: none */
} again;

static ns_record *run_model(const ns_record *r, ns_model *model, const again *how)
{
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
    ns_record *other = ns_record_new(model, &o);
    if (other && other->status == NS_OK)
        ns_record_run(other);
    return other;
}

static ns_record *run_again(const ns_record *r, const again *how)
{
    if (how->seed == 0)
        return run_model(r, r->model, how);
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
    ns_record *other = run_model(r, &model, how);
    if (other)
        other->model = r->model; /* the copy ends here */
    free(inputs);
    return other;
}

static double low_of(const ns_record *r, uint32_t column, size_t row)
{
    return r->low.rows > row ? ns_table_column(&r->low, column)[row] : 0;
}

/* The largest differences of a column so far, row by row, times `share`. */
static void compare(const ns_record *r, const ns_record *other, double share, double *error)
{
    const size_t rows = r->table.rows;
    for (uint32_t c = 0; c < r->columns; c++) {
        const double *a = ns_table_column(&r->table, c);
        const double *b = ns_table_column(&other->table, c);
        double most = 0;
        for (size_t k = 0; k < rows; k++) {
            const double off = k < other->table.rows
                                   ? share * fabs((a[k] - b[k]) +
                                                  (low_of(r, c, k) - low_of(other, c, k)))
                                   : (double)NAN;
            if (!(off <= most))
                most = off; /* nan stays */
            double *e = &error[c * rows + k];
            *e = isnan(most) || isnan(*e) ? (double)NAN : fmax(*e, most);
        }
    }
}

/* The last digits that can be right: a double, or the sum of two. */
static int digits_of(double value, double error, bool precise)
{
    if (isnan(error) || !isfinite(value))
        return -1;
    const double relative = fmax(error / fabs(value), precise ? 0x1p-105 : 0x1p-53);
    return relative < 1 ? (int)fmin(floor(-log10(relative)),
                                    precise ? NS_DIGITS_MOST_QUAD : NS_DIGITS_MOST)
                        : 0;
}

static void settle(ns_record *r, const double *error)
{
    const size_t rows = r->table.rows;
    const bool precise = r->method->precise;
    /* what changes the energy of a conservative system changes everything */
    const double energy = precise && r->model->system->conservative &&
                                  isfinite(r->outcome->energy_drift)
                              ? r->outcome->energy_drift
                              : 0;
    for (uint32_t c = 0; c < r->columns; c++) {
        const double *value = ns_table_column(&r->table, c);
        for (size_t k = 0; k < rows; k++) {
            /* an exact zero is right as far as nothing else came out */
            const double e = error[c * rows + k] + energy * fabs(value[k]);
            const bool zero = value[k] == 0 && e == 0;
            r->digits[c * rows + k] = (signed char)(zero ? precise ? NS_DIGITS_MOST_QUAD
                                                                   : NS_DIGITS_MOST
                                                         : digits_of(value[k], e, precise));
        }
    }
}

/* Compares with runs made in other ways; the difference from way i counts share[i] times. */
static bool judge(ns_record *r, const again *ways, const double *share, size_t n, char *message,
                  size_t room)
{
    const size_t cells = r->table.rows * r->columns;
    double *error = calloc(cells + 1, sizeof *error);
    r->digits = malloc(cells + 1);
    bool good = error && r->digits;
    snprintf(message, room, "out of memory");
    for (size_t i = 0; i < n && good; i++) {
        ns_record *other = run_again(r, &ways[i]);
        good = other && other->status >= 0 && other->outcome;
        if (other && !good)
            snprintf(message, room, "%s", other->message);
        if (good)
            compare(r, other, share[i], error);
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

bool ns_digits_judge(ns_record *r, char *message, size_t room)
{
    /* series of very long expressions, and of stiff problems, take too long */
    enum { LONG = 2000 };
    static const double luck[] = {5, 5};
    if (r->method->precise)
        return ns_digits_judge_quad(r, message, room);
    const bool series = ns_program_operations(r->model->problem->rhs, NULL) < LONG &&
                        !r->method->needs_jacobian;
    const again ways[] = {{"gauss", 1e-17, 1}, {series ? "taylor" : "gauss", 1e-16, 2}};
    return judge(r, ways, luck, 2, message, room);
}

bool ns_digits_judge_quad(ns_record *r, char *message, size_t room)
{
    /* A run in double precision is off by the difference from one that is right.  That this is
     * right another one shows, with larger errors: in a chaotic motion they may differ, and then
     * both are wrong by that much. */
    static const double once[] = {1, 1}, luck[] = {5, 5};
    const char *quad = ns_method_quad.name;
    if (!r->method->precise) {
        const again ways[] = {{quad, 1e-30, 0}, {quad, 1e-26, 0}};
        return judge(r, ways, once, 2, message, room);
    }
    const double tolerance = r->options.run.tolerance;
    const again ways[] = {{quad, fmax(tolerance * 1e-3, ns_method_quad.least_tolerance), 0},
                          {quad, tolerance * 1e2, 0}};
    return judge(r, ways, luck, 2, message, room);
}

int ns_digits_at(const ns_record *r, uint32_t column, size_t row)
{
    return r->digits[column * r->table.rows + row];
}
