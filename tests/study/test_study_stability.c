/* Nonlinear verdicts about steady motions, against systems whose stability is known. */
#include "support/measure.h"
#include "support/study.h"

#include <stdio.h>

#include "study/steady/stability.h"

static const ns_stability *verdict(study *s)
{
    const ns_steady_spec spec = {.over = UINT32_MAX};
    ns_steady *q = ns_steady_new(s->arena, s->flow, &spec, s->model->x0);
    const ns_steady_set set = ns_steady_find_all(q, 1, s->model->x0);
    assert_int_equal(set.found.n, 1);
    return set.found.at[0].stability;
}

static void expect(const char *text, ns_stability_kind kind, const char *method)
{
    study s = study_open(motion_model_text(text, NULL));
    const ns_stability *v = verdict(&s);
    if (v->kind != kind)
        fail_msg("%s\nis %s: %s", text, ns_stability_word(v->kind), v->text);
    assert_string_equal(v->method, method);
    study_close(&s);
}

static void oscillators(void **state)
{
    (void)state;
    const char *const form =
        "coordinate x, y\nlagrangian (x'^2 + y'^2)/2 + b/2*(x*y' - y*x') + "
        "k1/2*x^2 + k2/2*y^2\nstart { x = 0; y = 0; x' = 0; y' = 0 }\n";
    char text[400];
    snprintf(text, sizeof text, "param b = 0, k1 = -1, k2 = -2\n%s", form);
    expect(text, NS_STABILITY_STABLE, "energy-momentum");
    snprintf(text, sizeof text, "param b = 3, k1 = 1, k2 = 2\n%s", form);
    expect(text, NS_STABILITY_UNDECIDED, "none");
    snprintf(text, sizeof text, "param b = 1, k1 = 1, k2 = 2\n%s", form);
    expect(text, NS_STABILITY_UNSTABLE, "first method");
    /* on a round hill the angular momentum helps: E - w J is definite */
    snprintf(text, sizeof text,
             "param b = 3, k1 = 1, k2 = 1\n%sinvariant J = x*y' - y*x' + b/2*(x^2 + y^2)\n",
             form);
    expect(text, NS_STABILITY_STABLE, "energy-momentum");
}

static void damped(void **state)
{
    (void)state;
    expect("state x' = y, y' = -x - y\nstart { x = 0; y = 0 }\n", NS_STABILITY_ATTRACTS,
           "first method");
    /* a line of equilibria that attracts, and one that does not stay a line */
    expect("state x' = -x + x*y, y' = x^2\nstart { x = 0; y = 0 }\n", NS_STABILITY_ATTRACTS,
           "Lyapunov-Malkin");
    expect("state x' = -x, y' = y^3\nstart { x = 0; y = 0 }\n", NS_STABILITY_UNDECIDED, "none");
    /* y'' = 0 in disguise: zero twice, one eigenvector */
    expect("state x' = -x, y' = z + x^2, z' = x*y\nstart { x = 0; y = 0; z = 0 }\n",
           NS_STABILITY_UNDECIDED, "none");
}

/* A centre and a decaying mode: what is conserved decides on the centre manifold. */
static void centre(void **state)
{
    (void)state;
    expect("state x' = y, y' = -x, z' = -z + x^2\ninvariant H = x^2 + y^2\n"
           "start { x = 0; y = 0; z = 0 }\n",
           NS_STABILITY_STABLE, "energy-momentum on the centre manifold");
    expect("state x' = y, y' = -x + x^2*z, z' = -z + x^2\nstart { x = 0; y = 0; z = 0 }\n",
           NS_STABILITY_UNDECIDED, "none");
}

/* The disk: integrals <p, eta> carry the verdict; without them the energy does not. */
static void disk(void **state)
{
    (void)state;
    study s = study_open(
        motion_model_file("falling-disk", "tilt0=0; turning0=0; rolling0=3.31"));
    const ns_stability *v = verdict(&s);
    assert_int_equal(v->kind, NS_STABILITY_STABLE);
    assert_int_equal(v->conserved->n, 3);
    assert_int_equal(v->conserved->momentum->found, 2);
    assert_int_equal(v->told, 2);
    assert_true(v->is_manifold);
    study_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oscillators),
        cmocka_unit_test(damped),
        cmocka_unit_test(centre),
        cmocka_unit_test(disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
