/* Linear models and regulators against closed forms and the benchmark bicycle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "study/control/linearise.h"
#include "support/motion.h"

typedef struct bench {
    ns_arena *arena;
    ns_model *model;
    ns_flow *flow;
} bench;

static bench open_text(const char *text, const char *set)
{
    bench b = {.arena = ns_arena_new(), .model = motion_model_text(text, set)};
    const ns_problem *problem = ns_problem_new(b.model->system, true);
    b.flow = ns_flow_new(b.arena, problem, ns_model_run_options(b.model).t0, b.model->p,
                         b.model->x0);
    return b;
}

static void close_bench(bench *b)
{
    ns_arena_free(b->arena);
    ns_model_free(b->model);
}

static ns_linear_value value(const bench *b, const char *name)
{
    const int64_t i = ns_model_observable(b->model, name);
    assert_true(i >= 0);
    return (ns_linear_value){name, "", b->model->system->observables.at[i].value};
}

static uint32_t param(const bench *b, const char *name)
{
    uint32_t i = 0;
    while (strcmp(b->model->description->params.at[i].name, name) != 0)
        assert_true(++i < b->model->description->params.n);
    return i;
}

static ns_linear_model *linear(const bench *b, const char *input, const char *const *names,
                               uint32_t n, const char **message)
{
    ns_linear_value *states = NS_NEW_ARRAY(b->arena, ns_linear_value, n + 1);
    uint32_t *u = NS_NEW_ARRAY(b->arena, uint32_t, 1);
    for (uint32_t i = 0; i < n; i++)
        states[i] = value(b, names[i]);
    *u = input ? param(b, input) : 0;
    const ns_linearise_spec spec = {.states = states, .n = n, .inputs = u, .m = input ? 1 : 0};
    ns_linearise *q = ns_linearise_new(b->arena, b->flow, &spec, b->model->x0, message);
    return q ? ns_linearise_at(q, b->arena, b->model->x0, message) : NULL;
}

static void near_all(uint32_t n, const double *a, const double *b, double tolerance)
{
    for (uint32_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * (1 + fabs(b[i]))))
            fail_msg("entry %u: %.17g, expected %.17g", i, a[i], b[i]);
}

static const char cart[] =
    "param M = 1, m = 0.1, l = 0.5, g = 9.81\ninput F = 0\ncoordinate x, q\n"
    "lagrangian (M+m)/2*x'^2 + m*l*cos(q)*x'*q' + m*l^2/2*q'^2 - m*g*l*cos(q)\n"
    "force x = F\nstart { x = 0; q = 0; x' = 0; q' = 0 }\n";

/* Pole on a cart, upright: q'' = ((M+m) g q - F)/(M l), x'' = (F - m g q)/M. */
static void pole(void **state)
{
    (void)state;
    bench b = open_text(cart, NULL);
    const char *message = "";
    const ns_linear_model *l = linear(&b, "F", NULL, 0, &message);
    assert_non_null(l);
    const double A[] = {0, 0, 1, 0, 0, 0, 0, 1, 0, -0.981, 0, 0, 0, 1.1 * 9.81 / 0.5, 0, 0};
    const double B[] = {0, 0, 1, -2};
    assert_int_equal(l->n, 4);
    near_all(16, l->A, A, 1e-14);
    near_all(4, l->B, B, 1e-14);
    assert_int_equal(l->controllable, 4);
    const double Q[] = {1, 1, 1, 1}, R[] = {0.1};
    const ns_lqr *r = ns_lqr_solve(b.arena, l, Q, R, &message);
    assert_non_null(r);
    assert_true(r->residual < 1e-14 && r->mode[0].re < 0);
    /* along the kernel of A, x alone: the weight of x at rest gives K_x = sqrt(Q/R) */
    assert_true(fabs(fabs(r->K[0]) - sqrt(10)) < 1e-12);
    /* two values do not determine their rates */
    const char *const some[] = {"q", "x"};
    assert_null(linear(&b, "F", some, 2, &message));
    assert_non_null(strstr(message, "depends on more"));
    const char *const twice[] = {"q", "q", "q'", "x"};
    assert_null(linear(&b, "F", twice, 4, &message));
    assert_non_null(strstr(message, "depend on each other"));
    /* the pole alone does: the position falls out */
    const char *const alone[] = {"q", "q'"};
    l = linear(&b, "F", alone, 2, &message);
    assert_non_null(l);
    assert_true(fabs(l->A[2] - 21.582) < 1e-13 && fabs(l->B[1] + 2) < 1e-14);
    close_bench(&b);
}

/* Closed forms: K = (1, sqrt 3) of the double integrator, and
 * p = r (a + sqrt(a^2 + b^2 q/r))/b^2 of x' = a x + b u, also where a > 0. */
static void closed_forms(void **state)
{
    (void)state;
    const char *message = "";
    bench b = open_text("input u = 0\nstate x' = v, v' = u\nstart { x = 0; v = 0 }\n", NULL);
    const double Q[] = {1, 1}, R[] = {1};
    const ns_lqr *r = ns_lqr_solve(b.arena, linear(&b, "u", NULL, 0, &message), Q, R, &message);
    assert_non_null(r);
    const double K[] = {1, sqrt(3)}, P[] = {sqrt(3), 1, 1, sqrt(3)};
    near_all(2, r->K, K, 1e-14);
    near_all(4, r->P, P, 1e-14);
    close_bench(&b);
    static const char *const sets[] = {"a=2; b=3", "a=-2; b=0.5", "a=0; b=1"};
    static const double values[][2] = {{2, 3}, {-2, 0.5}, {0, 1}};
    for (int k = 0; k < 3; k++) {
        b = open_text(
            "param a = 1, b = 1\ninput u = 0\nstate x' = a*x + b*u\nstart { x = 0 }\n",
            sets[k]);
        const double q[] = {5}, w[] = {0.7}, A = values[k][0], B = values[k][1];
        r = ns_lqr_solve(b.arena, linear(&b, "u", NULL, 0, &message), q, w, &message);
        assert_non_null(r);
        const double p = w[0] * (A + sqrt(A * A + B * B * q[0] / w[0])) / (B * B);
        assert_true(fabs(r->P[0] / p - 1) < 1e-14);
        assert_true(fabs(r->mode[0].re / (A - B * B * p / w[0]) - 1) < 1e-13);
        close_bench(&b);
    }
}

/* A mode that grows and that no input moves; one on the axis that the cost does not see. */
static void hopeless(void **state)
{
    (void)state;
    const char *message = "";
    bench b = open_text("input u = 0\nstate x' = x, y' = -y + u\nstart { x = 0; y = 0 }\n",
                        NULL);
    const double one[] = {1, 1}, none[] = {0, 1};
    const ns_linear_model *l = linear(&b, "u", NULL, 0, &message);
    assert_int_equal(l->controllable, 1);
    assert_null(ns_lqr_solve(b.arena, l, one, one, &message));
    assert_non_null(strstr(message, "no input moves it"));
    close_bench(&b);
    b = open_text("input u = 0\nstate x' = u, y' = -y\nstart { x = 0; y = 0 }\n", NULL);
    assert_null(ns_lqr_solve(b.arena, linear(&b, "u", NULL, 0, &message), none, one, &message));
    assert_non_null(strstr(message, "no weight"));
    close_bench(&b);
}

/* The canonical matrices of the benchmark bicycle (Meijaard et al. 2007) at 4 m/s:
 * M q'' + v C1 q' + (g K0 + v^2 K2) q = (0, T), q = (lean, steer), from bodies and joints.  The
 * published entries have 12 to 14 digits. */
static void bicycle(void **state)
{
    (void)state;
    char *text;
    size_t length;
    assert_int_equal(ns_file_read(NS_MODELS_DIR "/bicycle.mech", 1 << 20, &text, &length), 0);
    static const char more[] =
        "\ninput T = 0\n"
        "force H.torque = -T*axis(H.e1, H.e3), B.torque = T*axis(H.e1, H.e3)\n"
        "let lean_ = asin(B.e2[3]), steer_ = -asin(dot(cross(B.e2, H.e2), axis(B.e1, B.e3)))\n"
        "observe phi = lean_, delta = steer_, dphi = lean_', ddelta = steer_'\n";
    char *all = malloc(length + sizeof more);
    assert_non_null(all);
    memcpy(all, text, length);
    memcpy(all + length, more, sizeof more);
    bench b = open_text(all, "kick=0; v=4");
    const char *message = "";
    const char *const names[] = {"phi", "delta", "dphi", "ddelta"};
    const ns_linear_model *l = linear(&b, "T", names, 4, &message);
    assert_non_null(l);
    const double M[3] = {80.81722, 2.31941332208709, 0.29784188199686}, v = 4, g = 9.81;
    const double C[4] = {0, 33.86641391492494, -0.85035641456978, 1.68540397397560};
    const double K0[4] = {-80.95, -2.59951685249872, -2.59951685249872, -0.80329488458618};
    const double K2[4] = {0, 76.59734589573222, 0, 2.65431523794604};
    const double det = M[0] * M[2] - M[1] * M[1];
    const double I[4] = {M[2] / det, -M[1] / det, -M[1] / det, M[0] / det};
    double A[16] = {0}, B[4] = {0, 0, I[1], I[3]};
    A[2] = A[7] = 1;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++) {
                A[(2 + i) * 4 + j] -= I[2 * i + k] *
                                      (g * K0[2 * k + j] + v * v * K2[2 * k + j]);
                A[(2 + i) * 4 + 2 + j] -= I[2 * i + k] * v * C[2 * k + j];
            }
    near_all(16, l->A, A, 1e-11);
    near_all(4, l->B, B, 1e-11);
    assert_int_equal(l->controllable, 4);
    close_bench(&b);
    free(all);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pole),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(hopeless),
        cmocka_unit_test(bicycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
