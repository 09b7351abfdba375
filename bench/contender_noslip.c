/*
 * Contenders noslip: the same problems as model text, integrated by the library's methods, with the
 * interpreter and with native code. Two ways to write them: the equations given as a first-order system, as an expert
 * with a compiler would, and (rattleback, sphere) the mechanics alone, from which formulation
 * `rolling` derives the equations. Reading, deriving and compiling happen on opening and are not
 * timed, as compiling is not timed for C853.
 */
#include "contenders.h"

#include "io/model.h"

#include <stdlib.h>
#include <string.h>

static const char rattleback_text[] =
    "param a = 0.2, b = 0.03, c = 0.02, m = 1, g = 9.81, turn = 0.02, spin = -3\n"
    "param J1 = m/5*(b^2 + c^2), J2 = m/5*(a^2 + c^2), J3 = m/5*(a^2 + b^2)\n"
    "param I11 = J1*cos(turn)^2 + J2*sin(turn)^2, I22 = J1*sin(turn)^2 + J2*cos(turn)^2\n"
    "param I12 = (J1 - J2)*sin(turn)*cos(turn)\n"
    "let I = [[I11, I12, 0], [I12, I22, 0], [0, 0, J3]]\n"
    "let O = [O1, O2, O3], G = [g1, g2, g3], d = [a^2*g1, b^2*g2, c^2*g3]\n"
    "let root = sqrt(dot(G, d)), s = -d/root, dG = cross(G, O)\n"
    "let u = [a^2*dG[1], b^2*dG[2], c^2*dG[3]], ds = (d*(dot(d, dG)/dot(G, d)) - u)/root\n"
    "let K = I + m*(dot(s, s)*identity(3) - s*transpose(s))\n"
    "let r = m*(dot(s, O)*(ds - cross(s, O)) - dot(s, ds)*O + g*cross(s, G)) - cross(O, I*O)\n"
    "let dO = solve(K, r)\n"
    "let e = [q1, q2, q3], h = O/2, w = cross(e, ds) + q0*ds, path = ds + 2*cross(e, w)\n"
    "let dq = q0*h + cross(e, h)\n"
    "state q0' = -dot(e, h)\n"
    "state q1' = dq[1]\nstate q2' = dq[2]\nstate q3' = dq[3]\n"
    "state O1' = dO[1]\nstate O2' = dO[2]\nstate O3' = dO[3]\n"
    "state g1' = dG[1]\nstate g2' = dG[2]\nstate g3' = dG[3]\n"
    "state x' = path[1]\nstate y' = path[2]\n"
    "start { q0 = 1; O1 = 0.01; O2 = 0.02; O3 = spin; g3 = 1 }\n";

static const char sleigh_text[] =
    "param M = 1, m = 1, J = 1, k = 1\n"
    "let xi = p1/(J + m*r^2), u = (p2 - m*v)/(M + m)\n"
    "state r' = v\nstate v' = r*(xi^2 - k*(M + m)/(M*m))\n"
    "state p1' = -m*r*xi*u\nstate p2' = m*r*xi^2\n"
    "state theta' = xi\nstate x' = u*cos(theta)\nstate y' = u*sin(theta)\n"
    "start { v = 1; p1 = 1; p2 = 0.3 }\n";

static const char rolling_text[] =
    "param a = 0.2, b = 0.03, c = 0.02, spin = -3\n"
    "ground plane\n"
    "body ellipsoid(a, b, c) { mass 1; uniform; turn [0, 0, 1], 0.02 }\n"
    "start { omega [0.01, 0.02, spin] }\n";

static const char sphere_text[] =
    "param r = 0.06, m = 4/3*pi*r^3*4500\n"
    "ground height(0.65*x - 3/2*x^2 - 6.7/3*x^3 + 20.5/4*x^4)\n"
    "body sphere(r) { mass m; uniform }\n"
    "start { contact [-0.65, 0.1]; centre' [0.2, -0.3]; spin 0 }\n";

/* A problem as text, and where its components are among the values. */
typedef struct version {
    const char *problem, *text, *spin;
    const char *values[HAND_MAX_STATES];
} version;

#define RATTLEBACK "q0", "q1", "q2", "q3", "O1", "O2", "O3", "g1", "g2", "g3", "x", "y"
#define BODY                                                                                   \
    "quat.w", "quat.x", "quat.y", "quat.z", "omega.x", "omega.y", "omega.z", "vertical.x",     \
        "vertical.y", "vertical.z", "contact.x", "contact.y"

static const version equations[] = {
    {"P1c", rattleback_text, "-3", {RATTLEBACK}},
    {"P1", rattleback_text, "-5", {RATTLEBACK}},
    {"P2", sleigh_text, NULL, {"r", "v", "p1", "p2", "theta", "x", "y"}},
};
static const version mechanics[] = {
    {"P1c", rolling_text, "-3", {BODY}},
    {"P1", rolling_text, "-5", {BODY}},
    {"P3min",
     sphere_text,
     NULL,
     {"contact.x", "contact.y", "omega.space.x", "omega.space.y", "omega.space.z", "quat.w",
      "quat.x", "quat.y", "quat.z"}},
};

typedef struct handle {
    ns_model *model;
    const ns_problem *problem;
    ns_native *native;
    const char *method;
    double t_end;
    int n;
    int64_t place[HAND_MAX_STATES];
    double *values;
} handle;

static void close_noslip(void *opaque)
{
    handle *h = opaque;
    ns_native_free(h->native);
    ns_model_free(h->model);
    free(h->values);
    free(h);
}

static void *open_version(const bench_problem *problem, const version *list, size_t n,
                          const char *method, bool native)
{
    const version *v = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].problem, problem->hand->name) == 0)
            v = &list[i];
    handle *h = v ? calloc(1, sizeof *h) : NULL;
    if (!h)
        return NULL;
    const ns_override spin = {"spin", v->spin};
    h->model = ns_model_load_text(v->problem, v->text, strlen(v->text), &spin, v->spin ? 1 : 0,
                                  NS_MODEL_READY);
    h->method = method;
    h->t_end = problem->hand->t_end;
    h->n = problem->hand->n;
    if (!h->model || h->model->status != NS_OK) {
        if (h->model)
            fputs(h->model->messages, stderr);
        close_noslip(h);
        return NULL;
    }
    h->problem = ns_model_problem(h->model, ns_method_find(method)->needs_jacobian);
    if (native) {
        char message[300];
        h->native = ns_problem_native(h->problem, ns_method_find(method)->lanes, message,
                                      sizeof message, NULL);
        if (!h->native) {
            fprintf(stderr, "no native code: %s\n", message);
            close_noslip(h);
            return NULL;
        }
    }
    h->values = calloc(h->model->system->observables.n, sizeof *h->values);
    for (int i = 0; i < h->n; i++)
        h->place[i] = ns_model_observable(h->model, v->values[i]);
    return h;
}

static int run(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    handle *h = opaque;
    ns_run_options options = ns_run_defaults();
    options.method = h->method;
    options.until = h->t_end;
    options.tolerance = tolerance;
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(h->problem, &options, h->model->p, h->model->x0, &status,
                             &message);
    if (!run)
        return -1;
    status = ns_run_to(run, h->t_end);
    ns_run_observe(run, ns_run_time(run), ns_run_state(run), h->values);
    for (int i = 0; i < h->n; i++)
        end[i] = h->values[h->place[i]];
    const ns_outcome *outcome = ns_run_outcome(run);
    cost->steps = (long)outcome->steps;
    cost->rejected = (long)outcome->rejected;
    cost->evaluations = (long)outcome->evaluations;
    cost->operations = (long)ns_program_operations(h->problem->rhs, NULL);
    ns_run_free(run);
    return status == NS_OK ? 0 : -1;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define CONTENDER(id, method, native, list, label, words, loose, tight)                        \
    static void *open_##id(const bench_problem *problem)                                       \
    {                                                                                          \
        return open_version(problem, list, COUNT(list), method, native);                       \
    }                                                                                          \
    const bench_contender contender_noslip_##id = {label, words,     loose, tight,             \
                                                   2,     open_##id, run,   close_noslip}

CONTENDER(gauss, "gauss", false, equations, "gauss", "noslip, interpreted, first-order system",
          1e-4, 1e-17);
CONTENDER(taylor, "taylor", false, equations, "taylor",
          "noslip, interpreted, first-order system", 1e-4, 1e-17);
CONTENDER(dop853, "dop853", false, equations, "dop853",
          "noslip, interpreted, first-order system", 1e-4, 1e-16);
CONTENDER(adams, "adams", false, equations, "adams", "noslip, interpreted, CVODE", 1e-4, 1e-14);
CONTENDER(rolling, "gauss", false, mechanics, "rolling",
          "noslip, interpreted, gauss, derived equations", 1e-4, 1e-17);
CONTENDER(gauss_native, "gauss", true, equations, "gauss native",
          "noslip, native, first-order system", 1e-4, 1e-17);
CONTENDER(dop853_native, "dop853", true, equations, "dop853 native",
          "noslip, native, first-order system", 1e-4, 1e-16);
CONTENDER(rolling_native, "gauss", true, mechanics, "rolling native",
          "noslip, native, gauss, derived equations", 1e-4, 1e-17);
