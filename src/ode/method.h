/* Integration methods: one const descriptor each. */
#ifndef NS_ODE_METHOD_H
#define NS_ODE_METHOD_H

#include "base/layout.h"
#include "ode/run.h"

typedef struct ns_stepper ns_stepper; /* what a method sees of a run: ode/stepper.h */

typedef struct ns_bundle_kernel ns_bundle_kernel; /* ode/ensemble/ensemble_kernel.h */

/* What a method is and what it can.  Nobody asks which method it is: what others must know of
 * it is said here. */
typedef struct ns_method {
    const char *name;
    const char *summary; /* one line */
    const char *doc;     /* for `noslip help NAME`: what it is, source, when to use, options */
    int order;           /* of fixed-order methods; 0 if variable */
    int lanes;           /* on which its steps evaluate the right-hand side: 1 or 8; 0: jets */
    bool needs_jacobian;
    bool needs_series;  /* Taylor series of the right-hand side */
    bool needs_balance; /* the equations of discrete mechanics, and steps of constant length */
    bool exact_restart; /* a checkpoint continues bit for bit */
    bool own_state;     /* steps from its own copy of the state: projection changes only what is
                           reported */
    bool precise;       /* works beyond double precision, and so are its projection and
                           diagnostics: ode/quad/quad.h */
    bool collocation;   /* its steps are polynomials that see the rates at ns_method_nodes */
    bool interpolates;  /* states inside a step cost little; otherwise each about a step */
    bool loses_at_corners; /* its steps run over kinks of the rates without seeing them */
    double default_tolerance, least_tolerance;

    /* What time does to a step (ode/drive/drive.c): judged by (h drive_part)^drive_order;
     * order 0: that of its series, `series_order`. */
    uint32_t drive_order;
    double drive_part;
    uint32_t (*series_order)(const ns_problem *problem, double tolerance);

    /* For --method auto (ode/auto.c). */
    struct {
        double step, state, entry; /* ns of an attempt, of a state, of an entry of a matrix */
        double digits; /* factor of cost to come to the error of `gauss` at equal tolerance */
        double least;  /* tolerances below are not worth a trial */
    } price;
    /* Has the last step, or will the next one, use Newton's iteration?  NULL: not known. */
    bool (*is_stiff)(const ns_stepper *s);

    /* Ensembles in lanes, NULL if it has none: kernels, the best instruction set first, the
     * one for all processors last. */
    const ns_bundle_kernel *const *bundle;

    size_t view; /* bytes of ns_stepper.view: where its arrays are, and what it likes to keep
                  * there from `begin` on */
    /* Takes its arrays and writes them into s->view: those kept from step to step (and in
     * checkpoints), and scratch.  Asks s for problem, n and tolerance only. */
    void (*layout)(ns_stepper *s, ns_layout *kept, ns_layout *scratch);
    ns_status (*begin)(ns_stepper *s);
    ns_status (*step)(ns_stepper *s); /* one accepted step */
    /* State inside the last step, as accurate as the steps. */
    void (*state_at)(ns_stepper *s, double t, double *x);
    void (*state_low)(ns_stepper *s, double t, double *x,
                      double *x_lo); /* of precise methods */
    /* States at eight fractions tau[8] of the last step into x[n][8]; may be less accurate than
     * state_at (events are found with these and refined with state_at). */
    void (*sample)(ns_stepper *s, const double *tau, double *x);
    void (*resume)(ns_stepper *s); /* after a restore; may be NULL */
    void (*end)(ns_stepper *s);    /* releases s->outside; may be NULL */
} ns_method;

/* Fractions of a step at which `sample` costs least: the Gauss nodes. */
extern const double ns_method_nodes[8];

extern const ns_method ns_method_gauss, ns_method_taylor, ns_method_dop853, ns_method_bdf,
    ns_method_adams, ns_method_quad, ns_method_discrete;
uint32_t ns_taylor_order(const ns_problem *problem, double tolerance);
extern const ns_method *const ns_methods[]; /* ends with NULL; the first is the default */
const ns_method *ns_method_find(const char *name); /* NULL: the default */

#endif
