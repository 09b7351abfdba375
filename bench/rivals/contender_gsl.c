/*
 * Contender GSL: rk8pd (Prince and Dormand's 8(9) pair) of the GNU Scientific Library with the
 * right-hand side written by hand, called through a pointer. Memory is allocated on opening.
 */
#include "rivals/contenders.h"

#ifdef BENCH_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <stdlib.h>
#include <string.h>

typedef struct handle {
    const hand_problem *problem;
    gsl_odeiv2_system system;
    gsl_odeiv2_driver *driver;
} handle;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    const hand_form *form = user;
    form->rhs(y, f);
    return GSL_SUCCESS;
}

static void close_gsl(void *opaque)
{
    handle *h = opaque;
    gsl_odeiv2_driver_free(h->driver);
    free(h);
}

static void *open_gsl(const bench_problem *problem)
{
    const hand_form *form = &problem->hand->forms[0];
    handle *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    gsl_set_error_handler_off();
    h->problem = problem->hand;
    h->system = (gsl_odeiv2_system){rhs, NULL, (size_t)form->n, (void *)(size_t)form};
    h->driver = gsl_odeiv2_driver_alloc_standard_new(&h->system, gsl_odeiv2_step_rk8pd, 1e-3,
                                                     1e-6, 1e-6, 1, 0);
    if (!h->driver) {
        free(h);
        return NULL;
    }
    gsl_odeiv2_driver_set_nmax(h->driver, 200000);
    return h;
}

static int run(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    handle *h = opaque;
    const hand_form *form = &h->problem->forms[0];
    double y[HAND_MAX_STATES], t = 0;
    memcpy(y, form->y0, (size_t)form->n * sizeof *y);
    gsl_odeiv2_driver_reset_hstart(h->driver, 1e-3);
    /* the tolerance belongs to the control object: a new one, as the driver has no setter */
    gsl_odeiv2_control_init(h->driver->c, tolerance, tolerance, 1, 0);
    if (gsl_odeiv2_driver_apply(h->driver, &t, h->problem->t_end, y) != GSL_SUCCESS)
        return -1;
    if (form->finish)
        form->finish(y, end);
    else
        memcpy(end, y, (size_t)h->problem->n * sizeof *y);
    cost->steps = (long)h->driver->n;
    cost->rejected = (long)h->driver->e->failed_steps;
    cost->evaluations = 13 * (cost->steps + cost->rejected);
    return 0;
}

const bench_contender contender_gsl = {.name = "GSL",
                                       .what = "GSL's rk8pd, right-hand side by hand",
                                       .loosest = 1e-4,
                                       .tightest = 1e-16,
                                       .per_decade = 2,
                                       .open = open_gsl,
                                       .run = run,
                                       .close = close_gsl};
#else
static void *open_gsl(const bench_problem *problem)
{
    (void)problem;
    return NULL;
}

const bench_contender contender_gsl = {
    .name = "GSL", .what = "not built in: no GSL when noslip was built", .open = open_gsl};
#endif
