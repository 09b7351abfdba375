/* bdf, adams: the variable-order multistep methods of SUNDIALS CVODE.
 *
 * BDF with Newton's iteration, a dense matrix and the exact Jacobian from the graph, for stiff
 * problems; Adams with fixed-point iteration as a second opinion.  Errors are weighted with the
 * sizes all methods use,  w_i = 1 / (tol max(|x_i|, size_i)),  but not below rounding errors.
 *
 * CVODE keeps its history in memory of its own, so a checkpoint does not hold it: a restored
 * run restarts at order one from the saved state and agrees to the tolerance, not to the bit.
 * Records therefore refuse checkpoints of these methods (exact_restart).
 * For the same reason projection changes what is reported, not what CVODE goes on with. */
#include <stdio.h>
#include <stdlib.h>

#include "base/math/vecmath.h"
#include "ode/drive/drive.h"
#include "ode/stepper.h"

#if NS_CVODE
#include <setjmp.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

typedef struct cvode {
    SUNContext context;
    void *memory;
    N_Vector x, y; /* the state CVODE steps; the one it interpolates */
    SUNMatrix matrix;
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
    double *work, *one, *zero, *work_jacobian, *jacobian; /* in the stepper's scratch */
    double usual;                                         /* length of the steps lately */
    double end; /* of the step: CVODE looks at rates a few units in the last place beyond */
    N_Vector (*clone)(N_Vector);
    SUNMatrix (*clone_matrix)(SUNMatrix);
    jmp_buf no_memory; /* where to go when it fails */
} cvode;

/* CVODE uses a copy of a vector without asking whether there was memory for it: so this one
 * does not come back then.  What CVODE had made until then is lost. */
typedef struct content { /* of our vectors, after what all serial ones have */
    struct _N_VectorContent_Serial serial;
    cvode *of;
} content;

static N_Vector clone(N_Vector x)
{
    cvode *c = ((content *)x->content)->of;
    N_Vector copy = c->clone(x);
    content *own = copy ? realloc(copy->content, sizeof *own) : NULL;
    if (!own) {
        if (copy)
            N_VDestroy(copy);
        longjmp(c->no_memory, 1);
    }
    own->of = c;
    copy->content = own;
    return copy;
}

/* A vector whose copies are made so. */
static N_Vector new_vector(cvode *c, uint32_t n)
{
    N_Vector x = N_VNew_Serial(n, c->context);
    content *own = x ? realloc(x->content, sizeof *own) : NULL;
    if (!own) {
        if (x)
            N_VDestroy(x);
        return NULL;
    }
    own->of = c;
    x->content = own;
    c->clone = x->ops->nvclone;
    x->ops->nvclone = clone;
    return x;
}

/* The same for the matrix. */
typedef struct dense {
    struct _SUNMatrixContent_Dense dense;
    cvode *of;
} dense;

static SUNMatrix clone_matrix(SUNMatrix a)
{
    cvode *c = ((dense *)a->content)->of;
    SUNMatrix copy = c->clone_matrix(a);
    if (!copy)
        longjmp(c->no_memory, 1);
    return copy;
}

static SUNMatrix new_matrix(cvode *c, uint32_t n)
{
    SUNMatrix a = SUNDenseMatrix(n, n, c->context);
    dense *own = a ? realloc(a->content, sizeof *own) : NULL;
    if (!own) {
        if (a)
            SUNMatDestroy(a);
        return NULL;
    }
    own->of = c;
    a->content = own;
    c->clone_matrix = a->ops->clone;
    a->ops->clone = clone_matrix;
    return a;
}

/* A context says who logs and who measures times.  SUNContext_Create makes both, of blocks that
 * SUNDIALS 6 writes to without asking whether it got them; here nobody does either, and a
 * context of zeros says just that: all that version 6 keeps in it are two pointers, which it
 * takes for absent where they are null, and whether they are its own to release. */
#if SUNDIALS_VERSION_MAJOR == 6 && SUNDIALS_LOGGING_LEVEL == 0 &&                              \
    !defined(SUNDIALS_BUILD_WITH_PROFILING)
static bool new_context(SUNContext *context)
{
    enum { MORE_THAN_IT_IS = 256 };
    return (*context = calloc(1, MORE_THAN_IT_IS)) != NULL;
}

static void free_context(SUNContext *context)
{
    free(*context);
    *context = NULL;
}
#else
static bool new_context(SUNContext *context)
{
    void *room = malloc(1 << 16); /* it does not ask whether it got its own blocks */
    free(room);
    return room && SUNContext_Create(NULL, context) == 0;
}

static void free_context(SUNContext *context)
{
    SUNContext_Free(context);
}
#endif

static void layout(ns_stepper *s, ns_layout *kept, ns_layout *scratch)
{
    (void)kept;
    const size_t n = s->n;
    const ns_problem *problem = s->problem;
    cvode *c = s->view;
    c->work = ns_layout_doubles(scratch, ns_program_work1(problem->rhs));
    c->one = ns_layout_doubles(scratch, n);
    c->zero = ns_layout_doubles(scratch, n);
    if (problem->jacobian) {
        c->work_jacobian = ns_layout_doubles(scratch, ns_program_work1(problem->jacobian));
        c->jacobian = ns_layout_doubles(scratch, n * n);
    }
}

static int rhs(double t, N_Vector x, N_Vector f, void *data)
{
    ns_stepper *s = data;
    const cvode *c = s->view;
    if (s->drive && s->sense * (t - c->end) > 0)
        t = c->end;
    ns_stepper_rhs(s, c->work, t, N_VGetArrayPointer(x), N_VGetArrayPointer(f));
    return ns_stepper_finite(N_VGetArrayPointer(f), s->n) ? 0 : 1; /* 1: try a smaller step */
}

static int jacobian(double t, N_Vector x, N_Vector f, SUNMatrix J, void *data, N_Vector a,
                    N_Vector b, N_Vector d)
{
    (void)f, (void)a, (void)b, (void)d;
    ns_stepper *s = data;
    const cvode *c = s->view;
    const uint32_t n = s->n;
    ns_program_eval1(s->problem->jacobian, c->work_jacobian, t, N_VGetArrayPointer(x),
                     c->jacobian);
    if (!ns_stepper_finite(c->jacobian, (size_t)n * n))
        return 1;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++)
            SM_ELEMENT_D(J, i, j) = c->jacobian[(size_t)i * n + j];
    return 0;
}

static int weights(N_Vector x, N_Vector w, void *data)
{
    const ns_stepper *s = data;
    const double *value = N_VGetArrayPointer(x);
    double *weight = N_VGetArrayPointer(w);
    const double h = fabs(s->now.t - s->now.from);
    for (uint32_t i = 0; i < s->n; i++) {
        const double error = s->tolerance * ns_max(fabs(value[i]), s->size[i]);
        weight[i] = 1 / ns_max(error, 4 * h * s->noise[i]);
    }
    return 0;
}

/* The library must not print: the driver says what happened. */
static void silent(int code, const char *module, const char *function, char *message,
                   void *data)
{
    (void)code, (void)module, (void)function, (void)message, (void)data;
}

static void end(ns_stepper *s)
{
    cvode *c = s->view;
    if (c->memory)
        CVodeFree(&c->memory);
    if (c->linear)
        SUNLinSolFree(c->linear);
    if (c->nonlinear)
        SUNNonlinSolFree(c->nonlinear);
    if (c->matrix)
        SUNMatDestroy(c->matrix);
    if (c->x)
        N_VDestroy(c->x);
    if (c->y)
        N_VDestroy(c->y);
    if (c->context)
        free_context(&c->context);
    c->memory = NULL;
    c->linear = NULL;
    c->nonlinear = NULL;
    c->matrix = NULL;
    c->x = c->y = NULL;
    c->context = NULL;
}

/* What is in pieces cannot be released. */
static void forget(cvode *c)
{
    c->memory = NULL;
    c->linear = NULL;
    c->nonlinear = NULL;
}

static bool set_up(ns_stepper *s, cvode *c, bool stiff)
{
    if (!new_context(&c->context)) {
        c->context = NULL;
        return false;
    }
    c->x = new_vector(c, s->n);
    c->y = c->x ? new_vector(c, s->n) : NULL;
    c->memory = c->y ? CVodeCreate(stiff ? CV_BDF : CV_ADAMS, c->context) : NULL;
    if (!c->memory)
        return false;
    if (setjmp(c->no_memory)) {
        forget(c);
        return false;
    }
    memcpy(N_VGetArrayPointer(c->x), s->x, s->n * sizeof(double));
    if (CVodeSetErrHandlerFn(c->memory, silent, NULL) != CV_SUCCESS ||
        CVodeInit(c->memory, rhs, s->now.t, c->x) != CV_SUCCESS ||
        CVodeSetUserData(c->memory, s) != CV_SUCCESS ||
        CVodeWFtolerances(c->memory, weights) != CV_SUCCESS ||
        CVodeSetMaxErrTestFails(c->memory, 40) != CV_SUCCESS || /* a switch may lie after */
        CVodeSetMaxHnilWarns(c->memory, -1) != CV_SUCCESS)
        return false;
    if (stiff) {
        c->matrix = new_matrix(c, s->n);
        c->linear = c->matrix ? SUNLinSol_Dense(c->x, c->matrix, c->context) : NULL;
        if (!c->linear || CVodeSetLinearSolver(c->memory, c->linear, c->matrix) != CV_SUCCESS ||
            CVodeSetJacFn(c->memory, jacobian) != CV_SUCCESS)
            return false;
    } else {
        c->nonlinear = SUNNonlinSol_FixedPoint(c->x, 0, c->context);
        if (!c->nonlinear || CVodeSetNonlinearSolver(c->memory, c->nonlinear) != CV_SUCCESS)
            return false;
    }
    if (isfinite(s->until))
        CVodeSetStopTime(c->memory, s->until);
    if (s->max_step > 0)
        CVodeSetMaxStep(c->memory, s->max_step);
    if (s->first_step > 0)
        CVodeSetInitStep(c->memory, s->sense * s->first_step);
    if (s->fixed_step > 0) {
        CVodeSetInitStep(c->memory, s->sense * s->fixed_step);
        CVodeSetMinStep(c->memory, s->fixed_step);
        CVodeSetMaxStep(c->memory, s->fixed_step);
    }
    return true;
}

static void bind(const ns_stepper *s)
{
    const cvode *c = s->view;
    ns_program_bind1(s->problem->rhs, c->work, s->p);
    if (s->problem->jacobian)
        ns_program_bind1(s->problem->jacobian, c->work_jacobian, s->p);
}

static ns_status begin(ns_stepper *s)
{
    cvode *c = s->view;
    end(s);              /* of the stretch before, if there was one */
    s->now.h = INFINITY; /* CVODE chooses its steps */
    bind(s);
    if (set_up(s, c, s->method->needs_jacobian))
        return NS_OK;
    forget(c);
    s->why_begin = "CVODE could not be set up: out of memory";
    return NS_ERR_MEMORY;
}

static void resume(ns_stepper *s)
{
    cvode *c = s->view;
    bind(s); /* inputs may have changed */
    memcpy(N_VGetArrayPointer(c->x), s->x, s->n * sizeof(double));
    CVodeReInit(c->memory, s->now.t, c->x);
    /* of its own it may begin with steps that rounding errors rule; longer ones it rejects */
    if (c->usual > 0)
        CVodeSetInitStep(c->memory, s->sense * 1e-3 * c->usual);
    if (isfinite(s->until))
        CVodeSetStopTime(c->memory, s->until);
}

static ns_status step(ns_stepper *s)
{
    cvode *c = s->view;
    double t = s->now.t;
    const double aim = isfinite(s->until) ? s->until : s->now.t + s->sense * 1e30;
    long before = 0, after = 0, failed = 0, stalled = 0;
    if (s->drive || s->problem->bumps) {
        double end = aim;
        double longest = s->drive ? ns_drive_limit(s, &end) : INFINITY;
        longest = s->sense * (s->cap > 0 ? ns_smaller(longest, s->cap) : longest);
        const bool first = s->sense * (end - t - longest) > 0; /* CVODE steps just to there */
        c->end = first ? t + longest : end;
        CVodeSetStopTime(c->memory, c->end);
    }
    CVodeGetNumErrTestFails(c->memory, &before);
    CVodeGetNumNonlinSolvConvFails(c->memory, &stalled);
    before += stalled;
    /* its first steps may be shorter than times can tell, and grow */
    enum { FIRST = 20 };
    volatile int flag = 0;
    if (setjmp(c->no_memory)) {
        forget(c);
        s->why = NS_WHY_OTHER;
        snprintf(s->why_text, sizeof s->why_text, "out of memory");
        return NS_ERR_MEMORY;
    }
    for (int i = 0; i < FIRST && flag >= 0 && t == s->now.t; i++)
        flag = CVode(c->memory, aim, c->x, &t, CV_ONE_STEP);
    CVodeGetNumErrTestFails(c->memory, &failed);
    CVodeGetNumNonlinSolvConvFails(c->memory, &after);
    s->now.rejected += (uint64_t)(failed + after - before);
    if (flag >= 0 && t != s->now.t) {
        ns_stepper_accept(s, t - s->now.t, N_VGetArrayPointer(c->x), c->zero);
        s->now.t = t;
        c->usual = ns_max(fabs(t - s->now.from), 0.5 * c->usual);
        s->why = NS_WHY_NONE;
        return NS_OK;
    }
    switch (flag) {
    case CV_RHSFUNC_FAIL:
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR:
        s->why = NS_WHY_NOT_FINITE;
        return NS_STOP_SINGULAR;
    case CV_TOO_MUCH_ACC:
        s->why = NS_WHY_OTHER;
        snprintf(s->why_text, sizeof s->why_text,
                 "the tolerance %g asks for more digits than CVODE can give", s->tolerance);
        return NS_STOP_STEP;
    case CV_CONV_FAILURE:
    case CV_LSETUP_FAIL:
    case CV_LSOLVE_FAIL:
        s->why = NS_WHY_ITERATION;
        return NS_STOP_STEP;
    default:
        s->why = NS_WHY_STEP;
        return NS_STOP_STEP;
    }
}

static void state_at(ns_stepper *s, double t, double *x)
{
    cvode *c = s->view;
    if (CVodeGetDky(c->memory, t, 0, c->y) == CV_SUCCESS)
        memcpy(x, N_VGetArrayPointer(c->y), s->n * sizeof(double));
    else /* outside the last step by rounding: the nearer end */
        memcpy(x, fabs(t - s->now.t) < fabs(t - s->now.from) ? s->x : s->x0,
               s->n * sizeof(double));
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    const cvode *c = s->view;
    for (uint32_t j = 0; j < 8; j++) {
        state_at(s, s->now.from + tau[j] * (s->now.t - s->now.from), c->one);
        for (uint32_t i = 0; i < s->n; i++)
            x[8 * i + j] = c->one[i];
    }
}

#else /* left out: CMake, NOSLIP_CVODE */

typedef char cvode;

static void layout(ns_stepper *s, ns_layout *kept, ns_layout *scratch)
{
    (void)s, (void)kept, (void)scratch;
}

static ns_status begin(ns_stepper *s)
{
    s->why_begin = "this program was built without SUNDIALS, which has this method";
    return NS_ERR_USAGE;
}

#endif

/* Without SUNDIALS a run does not begin, and nothing else is called. */
#if NS_CVODE
#define CALLS .step = step, .state_at = state_at, .sample = sample, .resume = resume, .end = end
#else
#define CALLS .step = NULL
#endif

const ns_method ns_method_bdf = {
    .name = "bdf",
    .summary = "backward differentiation formulas (SUNDIALS CVODE) for stiff problems",
    .doc =
        "Variable-order (1 to 5), variable-step BDF of SUNDIALS CVODE with Newton's iteration\n"
        "and the exact Jacobian.  Output and events between steps use CVODE's interpolant.\n"
        "\n"
        "Use it for stiff models (penalties, strong damping).  On smooth mechanics it is "
        "slower\n"
        "and much less accurate than gauss.  There are no checkpoints: its history cannot be\n"
        "saved, and a run that is continued must give the same bits.\n"
        "\n"
        "Source: A. C. Hindmarsh et al., SUNDIALS, ACM TOMS 31 (2005) 363-396.\n",
    .order = 0,
    .needs_jacobian = true,
    .own_state = true,
    .interpolates = true,
    .lanes = 1,
    .drive_order = 16,
    .drive_part = 1,
    .price = {.step = 1500, .state = 30, .entry = 1, .digits = 1},
    .default_tolerance = 1e-10,
    .least_tolerance = 1e-14,
    .view = sizeof(cvode),
    .layout = layout,
    .begin = begin,
    CALLS,
};

const ns_method ns_method_adams = {
    .name = "adams",
    .summary = "Adams-Moulton formulas (SUNDIALS CVODE), a second opinion",
    .doc =
        "Variable-order (1 to 12), variable-step Adams-Moulton method of SUNDIALS CVODE with\n"
        "fixed-point iteration.  Output and events between steps use CVODE's interpolant.\n"
        "\n"
        "Use it to check another method by an unrelated one.  There are no checkpoints: its\n"
        "history cannot be saved, and a run that is continued must give the same bits.\n"
        "\n"
        "Source: A. C. Hindmarsh et al., SUNDIALS, ACM TOMS 31 (2005) 363-396.\n",
    .order = 0,
    .own_state = true,
    .interpolates = true,
    .lanes = 1,
    .drive_order = 16,
    .drive_part = 1,
    .price = {.step = 1500, .state = 30, .digits = 1},
    .default_tolerance = 1e-12,
    .least_tolerance = 1e-14,
    .view = sizeof(cvode),
    .layout = layout,
    .begin = begin,
    CALLS,
};
