/*
 * Contender CVODE Adams: SUNDIALS' variable-order, variable-step Adams method with functional
 * iteration and the right-hand side written by hand, called through a pointer. Memory is
 * allocated on opening; a run re-initialises it.
 */
#include "rivals/contenders.h"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_context.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

typedef struct handle {
    const hand_problem *problem;
    SUNContext context;
    N_Vector y;
    SUNNonlinearSolver solver;
    void *cvode;
} handle;

static int rhs(realtype t, N_Vector y, N_Vector f, void *user)
{
    (void)t;
    const hand_form *form = user;
    form->rhs(N_VGetArrayPointer(y), N_VGetArrayPointer(f));
    return 0;
}

/* Failures are printed on stderr by default, and the ladder runs into them on purpose. */
static void be_quiet(int code, const char *module, const char *function, char *message,
                     void *user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

static void close_cvode(void *opaque)
{
    handle *h = opaque;
    CVodeFree(&h->cvode);
    if (h->solver)
        SUNNonlinSolFree(h->solver);
    if (h->y)
        N_VDestroy(h->y);
    SUNContext_Free(&h->context);
    free(h);
}

static void *open_adams(const bench_problem *problem)
{
    const hand_form *form = &problem->hand->forms[0];
    handle *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->problem = problem->hand;
    if (SUNContext_Create(NULL, &h->context) != 0) {
        free(h);
        return NULL;
    }
    h->y = N_VNew_Serial(form->n, h->context);
    if (!h->y) {
        close_cvode(h);
        return NULL;
    }
    memcpy(N_VGetArrayPointer(h->y), form->y0, (size_t)form->n * sizeof(double));
    h->cvode = CVodeCreate(CV_ADAMS, h->context);
    h->solver = SUNNonlinSol_FixedPoint(h->y, 0, h->context);
    if (!h->cvode || !h->solver || CVodeInit(h->cvode, rhs, 0, h->y) != CV_SUCCESS ||
        CVodeSetErrHandlerFn(h->cvode, be_quiet, NULL) != CV_SUCCESS ||
        CVodeSetUserData(h->cvode, (void *)(size_t)form) != CV_SUCCESS ||
        CVodeSStolerances(h->cvode, 1e-6, 1e-6) != CV_SUCCESS ||
        CVodeSetNonlinearSolver(h->cvode, h->solver) != CV_SUCCESS ||
        CVodeSetMaxNumSteps(h->cvode, 1000000) != CV_SUCCESS) {
        close_cvode(h);
        return NULL;
    }
    return h;
}

static int run(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    handle *h = opaque;
    const hand_form *form = &h->problem->forms[0];
    double *y = N_VGetArrayPointer(h->y);
    memcpy(y, form->y0, (size_t)form->n * sizeof *y);
    realtype t = 0;
    if (CVodeReInit(h->cvode, 0, h->y) != CV_SUCCESS ||
        CVodeSStolerances(h->cvode, tolerance, tolerance) != CV_SUCCESS ||
        CVodeSetStopTime(h->cvode, h->problem->t_end) != CV_SUCCESS)
        return -1;
    const int flag = CVode(h->cvode, h->problem->t_end, h->y, &t, CV_NORMAL);
    if (flag < 0)
        return -1;
    if (form->finish)
        form->finish(y, end);
    else
        memcpy(end, y, (size_t)h->problem->n * sizeof *y);
    CVodeGetNumSteps(h->cvode, &cost->steps);
    CVodeGetNumRhsEvals(h->cvode, &cost->evaluations);
    CVodeGetNumErrTestFails(h->cvode, &cost->rejected);
    return 0;
}

const bench_contender contender_cvode_adams = {
    .name = "CVODE",
    .what = "SUNDIALS, Adams with functional iteration, right-hand side by hand",
    .loosest = 1e-4,
    .tightest = 1e-14,
    .per_decade = 2,
    .open = open_adams,
    .run = run,
    .close = close_cvode};
