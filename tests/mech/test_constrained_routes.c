/* The routes to the accelerations of formulation `constrained`, the forms of Udwadia and
 * Mogharabin's (2021) sphere and formulation `rolling` give one motion; so do chains and other
 * formulations. */
#include "mech/test_constrained_motion.h"

#define TWO_PARTICLES                                                                          \
    METALS "body S { mass m; inertia diag(J, J - m*rho^2, J - m*rho^2)\n"                      \
           "         middle = [-rho, 0, 0] }\n"                                                \
           "particle C { mass 0 }\n"                                                           \
           "constraint centre: C - S.middle = 0\n"                                             \
           "constraint touch: P + r*n - C = 0\n"                                               \
           "constraint noslip: C' + r*cross(n, S.omega.space) = 0\n"

/* The same sphere as a rolling body. */
#define ROLLING                                                                                \
    "param r = 0.06\nground height(0.65*x - 3*x^2/2 - 6.7*x^3/3 + 20.5*x^4/4)\n"               \
    "solid hemisphere(r) { density 4500; axis [-1, 0, 0] }\n"                                  \
    "solid hemisphere(r) { density 5494; axis [1, 0, 0] }\n"                                   \
    "body sphere(r) { }\nstart { contact [-0.65, 0.1]; centre' [0.2, -0.3]; spin 0 }\n"        \
    "run { until 10 }\n"

static void values(motion *m, double t, const char *name, double at[3])
{
    double *all = calloc(m->model->system->observables.n, sizeof *all);
    assert_non_null(all);
    go(m, t);
    ns_run_observe(m->run, t, m->x, all);
    for (int i = 0; i < 3; i++) {
        char full[64];
        snprintf(full, sizeof full, "%s.%c", name, "xyz"[i]);
        at[i] = all[ns_model_observable(m->model, full)];
    }
    free(all);
}

static double apart(const double a[3], const double b[3])
{
    double worst = 0;
    for (int i = 0; i < 3; i++)
        worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* One particle and two, by every route, and formulation `rolling`, over 10 s. */
static void test_ten_seconds(void **state)
{
    (void)state;
    static const char *const routes[] = {"", "solve saddle\n",
                                         "solve augmented(kappa2 = 0.02)\n", "solve pinv\n"};
    double rolling[3];
    motion reference = begin(ROLLING);
    values(&reference, 10, "contact", rolling);
    end(&reference);
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++)
        for (int two = 0; two < 2; two++) {
            char text[4096], what[128];
            double contact[3];
            bool pinv = k == 3;
            snprintf(text, sizeof text, "%s%s%s",
                     two ? GROUND TWO_PARTICLES ENERGY START
                         : GROUND TWO_METALS ROLLS ENERGY START,
                     routes[k], pinv ? "run { tolerance 1e-13 }\n" : "");
            motion m = begin(text);
            values(&m, 10, "P", contact);
            snprintf(what, sizeof what, "%d particles, %s", two + 1, routes[k]);
            below(apart(contact, rolling), 1e-10, what);
            /* the levels of the paper's Figures 7, 9, 10, and the rank at every step */
            keeps(&m, 1e-14, 1e-11);
            const ns_outcome *o = ns_run_outcome(m.run);
            assert_int_equal(o->rank_A[0], two ? 11 : 8);
            assert_int_equal(o->rank_A[1], two ? 11 : 8);
            assert_int_equal(o->rank_all[0], two ? 13 : 10);
            end(&m);
        }
}

/* kappa^2 over six decades.  At the end of them M + kappa^2 A^T A is 1e5 times as large as M,
 * and its rounding errors too. */
static void test_kappa(void **state)
{
    (void)state;
    motion saddle = begin(GROUND TWO_METALS ROLLS START);
    go(&saddle, 3);
    for (int k = -3; k <= 3; k++) {
        char text[2048];
        snprintf(text, sizeof text, "%ssolve augmented(kappa2 = 1e%d)\n",
                 GROUND TWO_METALS ROLLS START, k);
        motion m = begin(text);
        go(&m, 3);
        below(difference(&m, &saddle), k < 2 ? 1e-11 : 1e-9, text + strlen(text) - 12);
        end(&m);
    }
    end(&saddle);
}

/* Rows that follow from others, one after the other and all at once: (58), (59), (62) and
 * more. */
static void test_redundant(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "constraint r1: dot(S.position - P, S.position - P) = r^2\n",
        "constraint r2: dot(n, S.position') = 0\n",
        "constraint r3: dot(n, P') = 0\n",
        "constraint r4: -7*G(P) = 0\n",
        "constraint r5: P' + r*n' - S.position' = 0\n",
    };
    enum { N = sizeof rows / sizeof *rows };
    motion plain = begin(GROUND TWO_METALS ROLLS START);
    go(&plain, 3);
    for (int k = 0; k <= N; k++) {
        char text[4096] = GROUND TWO_METALS ROLLS START;
        for (int i = 0; i < N; i++)
            if (i == k || k == N)
                strcat(text, rows[i]);
        motion m = begin(text);
        go(&m, 3);
        below(difference(&m, &plain), 1e-11, k < N ? rows[k] : "all of them");
        end(&m);
    }
    end(&plain);
}

static void test_no_series(void **state)
{
    (void)state;
    const char *text = GROUND UNIFORM ROLLS START "solve pinv\n";
    ns_model *model = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_int_equal(model->status, NS_OK);
    ns_run_options options = ns_model_run_options(model);
    options.method = "taylor";
    ns_status status;
    const char *message = "";
    assert_null(ns_run_new(ns_model_problem(model, false), &options, model->p, model->x0,
                           &status, &message));
    assert_non_null(strstr(message, "`solve pinv` has no Taylor series"));
    ns_model_free(model);
    refused(GROUND UNIFORM ROLLS START "solve pinv(kappa2 = 1)\n", "`saddle` and `pinv` do not",
            "?");
    refused(GROUND UNIFORM ROLLS START "solve fast\n", "expected `solve saddle`", "?");
}

/* Tension of a pendulum's rod: m (g cos q + l q'^2). */
static void test_tension(void **state)
{
    (void)state;
    motion m = begin("particle P { mass 2 }\nconstraint r: rod(P, [0, 0, 0], 1)\n"
                     "start { P = [0.6, 0, -0.8]; P' = [0, 0, 0] }\nrun { until 5 }\n");
    for (int i = 0; i <= 5; i++) {
        double force[3], all[3];
        values(&m, i, "r.force", force);
        values(&m, i, "P.reaction", all);
        double x = get(&m, "P.x"), z = get(&m, "P.z");
        double speed2 = pow(get(&m, "P.x'"), 2) + pow(get(&m, "P.z'"), 2);
        double tension = 2 * (9.81 * -z + speed2);
        const double expected[3] = {-tension * x, 0, -tension * z};
        below(apart(force, expected), 1e-11, "tension");
        below(apart(force, all), 1e-12, "total");
    }
    end(&m);
}

/* Baumgarte instead of projection: the same motion within its errors, constraints not at
 * round-off. */
static void test_baumgarte(void **state)
{
    (void)state;
    motion a = begin(GROUND TWO_METALS ROLLS START);
    motion b = begin(GROUND TWO_METALS ROLLS START "solve saddle(baumgarte = 10)\n"
                                                   "run { tolerance 1e-9 }\n");
    go(&a, 3);
    go(&b, 3);
    below(difference(&b, &a), 1e-8, "motion");
    keeps(&b, 1e-8, 1e-8);
    assert_null(b.model->system->correction);
    assert_int_equal(ns_model_problem(b.model, false)->n_manifold, 0);
    end(&a);
    end(&b);
}

/* ---- chains ------------------------------------------------------------------------------ */

/* n particles on rods, or n bodies on ball joints, 3 m long and bent; ends at x, z. */
static char *chain(int n, bool bodies)
{
    char *text = malloc((size_t)n * 500 + 200), *at = text;
    assert_non_null(text);
    double l = 3.0 / n, x = 0, z = 0;
    at += sprintf(at, "param m = %.17g\n", 3.0 / n);
    for (int i = 0; i < n; i++) {
        char before[24];
        if (i)
            sprintf(before, bodies ? "B%d.b" : "P%d", i - 1);
        else
            strcpy(before, "[0, 0, 0]");
        at += bodies
                  ? sprintf(at,
                            "body B%d { mass m; inertia diag(m*%.17g, m*%.17g, m*%.17g)\n"
                            "a = [0, 0, %.17g]; b = [0, 0, %.17g] }\n"
                            "constraint j%d: ball(B%d.a, %s)\n",
                            i, l * l / 12, l * l / 12, l * l / 120, l / 2, -l / 2, i, i, before)
                  : sprintf(at,
                            "particle P%d { mass m }\nconstraint r%d: rod(P%d, %s, %.17g)\n", i,
                            i, i, before, l);
    }
    at += sprintf(at, "start {\n");
    for (int i = 0; i < n; i++) {
        double a = 0.6 * (i + 1) / n, half = bodies ? 0.5 : 1;
        double cx = x + half * l * sin(a), cz = z - half * l * cos(a);
        x += l * sin(a);
        z -= l * cos(a);
        at += bodies ? sprintf(at,
                               "B%d.position ~ [%.17g, 0, %.17g]; B%d.omega = [0, 0, 0]\n"
                               "B%d.quat = [%.17g, 0, %.17g, 0]\n",
                               i, cx, cz, i, i, cos(a / 2), -sin(a / 2))
                     : sprintf(at, "P%d ~ [%.17g, 0, %.17g]; P%d' = [0, 0, 0]\n", i, cx, cz, i);
    }
    sprintf(at, "}\nrun { until 1 }\n");
    return text;
}

/* Operations of the right-hand side. */
static double operations(const motion *m)
{
    return ns_program_operations(ns_model_problem(m->model, false)->rhs, NULL);
}

/* Linear cost: what a link adds does not depend on how many there are. */
static void test_linear(void **state)
{
    (void)state;
    for (int bodies = 0; bodies < 2; bodies++) {
        double cost[3];
        for (int k = 0; k < 3; k++) {
            char *text = chain(bodies ? 20 + 8 * k : 70 + 8 * k, bodies);
            motion m = begin(text);
            cost[k] = operations(&m);
            end(&m);
            free(text);
        }
        double first = cost[1] - cost[0], second = cost[2] - cost[1];
        below(fabs(second - first), 0.02 * first, "operations of eight links more");
    }
}

static void test_long_chain(void **state)
{
    (void)state;
    char *text = chain(200, false);
    motion m = begin(text);
    go(&m, 0.05);
    const ns_outcome *o = ns_run_outcome(m.run);
    assert_int_equal(o->rank_A[0], 200);
    assert_int_equal(o->rank_all[0], 600);
    keeps(&m, 1e-13, 1e-12);
    end(&m);
    free(text);
}

/* Four links against formulation `lagrange` in angles.  Their motion is chaotic: an error grows
 * by some 1e3 in 2 s, which is why not more of it is compared to 1e-11. */
static void test_chain_lagrange(void **state)
{
    (void)state;
    char *text = chain(4, false);
    motion a = begin(text);
    motion b = begin("param m = 0.75, l = 0.75\ncoordinate q1, q2, q3, q4\n"
                     "let p1 = l*[sin(q1), -cos(q1)], p2 = p1 + l*[sin(q2), -cos(q2)],\n"
                     "p3 = p2 + l*[sin(q3), -cos(q3)], p4 = p3 + l*[sin(q4), -cos(q4)]\n"
                     "let share(p) = m/2*dot(p', p') - m*9.81*p.y\n"
                     "lagrangian share(p1) + share(p2) + share(p3) + share(p4)\n"
                     "start { q1 = 0.15; q2 = 0.3; q3 = 0.45; q4 = 0.6 }\n"
                     "observe end.x = p4.x, end.y = p4.y\nrun { until 2 }\n");
    double all[32];
    go(&a, 1);
    go(&b, 1);
    ns_run_observe(b.run, 1, b.x, all);
    below(fabs(get(&a, "P3.x") - all[ns_model_observable(b.model, "end.x")]), 1e-11, "end, x");
    below(fabs(get(&a, "P3.z") - all[ns_model_observable(b.model, "end.y")]), 1e-11, "end, z");
    end(&a);
    end(&b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_seconds),    cmocka_unit_test(test_kappa),
        cmocka_unit_test(test_redundant),      cmocka_unit_test(test_no_series),
        cmocka_unit_test(test_tension),        cmocka_unit_test(test_baumgarte),
        cmocka_unit_test(test_linear),         cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_chain_lagrange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
