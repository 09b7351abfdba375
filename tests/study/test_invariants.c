/* Integrals found without being told: those of Jellett and Routh, of Chaplygin's ball, of
 * Kovalevskaya's top, the two of rolling bodies of revolution; nothing where there is
 * nothing. */
#include "support/measure.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/invariants/integrals.h"

typedef struct search {
    ns_model *model;
    ns_arena *arena;
    ns_flow *flow;
    ns_family *family;
    ns_integrals_options o;
} search;

static search begin(ns_model *model)
{
    search q = {.model = model, .arena = ns_arena_new()};
    bool reduced;
    const ns_problem *problem = ns_model_problem(model, true);
    q.flow = ns_flow_new(q.arena, problem, ns_model_run_options(model).t0, model->p, model->x0);
    q.family = ns_family_default(q.flow, &reduced);
    q.o.run = ns_model_run_options(model);
    return q;
}

static void end(search *q)
{
    ns_arena_free(q->arena);
    ns_model_free(q->model);
}

static const ns_integrals *look(search *q)
{
    const char *message = "";
    const ns_integrals *r = ns_integrals_search(q->flow, q->family, &q->o, q->model->x0,
                                                &message);
    if (!r)
        fail_msg("%s", message);
    print_message("%s: %u zero, %u found, margin %.1e\n", q->model->description->title, r->zero,
                  r->found.n, r->margin);
    for (uint32_t i = 0; i < r->found.n; i++)
        print_message("  %s\n", r->found.at[i]->text);
    return r;
}

/* The values of the model at a state, by the name of a value or an expression put in as
 * `observe`. */
static double drift_of_lines(const char *name, const char *set, const char *lines)
{
    char text[20000], path[300];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(n + strlen(lines) + 2 < sizeof text);
    text[n] = '\n';
    strcpy(text + n + 1, lines);
    motion m = motion_text(text, set);
    motion_to(&m, ns_model_run_options(m.model).until);
    double worst = 0;
    const ns_outcome *out = ns_run_outcome(m.run);
    for (uint32_t i = 0; i < m.model->system->invariants.n; i++)
        worst = fmax(worst, out->drift[i]);
    motion_close(&m);
    return worst;
}

/* What was found, pasted into the model as `invariant` lines, does not drift; with other values
 * of the parameters only if it was said to hold for them. */
static void paste(const ns_integrals *r, const char *name, const char *other)
{
    char lines[12000] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < r->found.n; i++)
        n += (size_t)snprintf(lines + n, sizeof lines - n, "invariant integral%u = %s\n", i + 1,
                              r->found.at[i]->text);
    measure_below(drift_of_lines(name, NULL, lines), 2e-14, "drift of pasted integrals", name);
    bool all = true;
    for (uint32_t i = 0; i < r->found.n; i++)
        all = all && r->found.at[i]->in_parameters;
    if (all && other)
        measure_below(drift_of_lines(name, other, lines), 2e-14,
                      "the same with other parameters", name);
}

static void sound(const ns_integrals *r)
{
    assert_true(r->margin > 1e8);
    for (uint32_t i = 0; i < r->found.n; i++) {
        const ns_integral *I = r->found.at[i];
        measure_below(I->rate, I->fine ? 1e-28 : 1e-12, "rate at new states", I->text);
        measure_below(I->drift, 1e-13, "drift along the run", I->text);
    }
}

static void routh_sphere(void **state)
{
    (void)state;
    search q = begin(motion_model_file("routh-sphere", NULL));
    const ns_integrals *r = look(&q);
    sound(r);
    assert_int_equal(r->zero, 4); /* energy, Jellett, its square, Routh's square */
    assert_int_equal(r->found.n, 2);
    assert_string_equal(r->found.at[0]->text,
                        "A/C*omega.x*s.x + A/C*omega.y*s.y + omega.z*s.z");
    assert_true(r->found.at[0]->in_parameters);
    assert_true(strstr(r->found.at[0]->note, "jellett") != NULL);
    assert_true(strstr(r->found.at[1]->note, "square of routh") != NULL);
    measure_close(r->found.at[0]->c[0], 0.0040 / 0.0035, 1e-15, "A/C");
    paste(r, "routh-sphere", "A=0.003; C=0.0045; l=0.03; r=0.2");
    end(&q);
}

/* A polynomial in the angular velocity and the arm, by its terms. */
static void chaplygin_ball(void **state)
{
    (void)state;
    search q = begin(motion_model_file("chaplygin-ball", NULL));
    const ns_integrals *r = look(&q);
    sound(r);
    assert_int_equal(r->zero, 4); /* energy, K.Gamma, its square, K.K */
    assert_int_equal(r->found.n, 2);
    assert_true(strstr(r->found.at[0]->note, "momentum.z") != NULL);
    paste(r, "chaplygin-ball", NULL);
    /* |K|^2 is a combination of what was found: no dimension is added when it joins the
     * family */
    const uint32_t relations = r->relations;
    end(&q);

    q = begin(motion_model_file("chaplygin-ball", NULL));
    const ns_system *s = q.flow->system; /* on whose graph the family is */
    ns_ex square = ns_zero(s->graph);
    for (uint32_t i = 0; i < s->claims.n; i++)
        if (strncmp(s->claims.at[i].name, "momentum.", 9) == 0)
            square = ns_add(s->graph, square, ns_powi(s->graph, s->claims.at[i].value, 2));
    NS_PUSH(q.arena, q.family->single, (ns_atom){"K.K", square});
    const ns_integrals *with = look(&q);
    assert_int_equal(with->zero, 4);
    assert_int_equal(with->found.n, 2);
    assert_int_equal(with->relations, relations + 1);
    end(&q);
}

static void generic_bodies(void **state)
{
    (void)state;
    static const char *const models[] = {"ellipsoid", "double-pendulum", "chaplygin-sleigh"};
    for (int i = 0; i < 3; i++) {
        search q = begin(motion_model_file(models[i], NULL));
        const ns_integrals *r = look(&q);
        assert_true(r->margin > 1e8);
        assert_int_equal(r->zero, 1); /* the energy */
        assert_int_equal(r->found.n, 0);
        assert_true(r->sigma[1] > 1e-5 * r->sigma[r->n - 1]);
        end(&q);
    }
}

static ns_atom atom(const search *q, const char *name)
{
    const ns_system *s = q->model->system;
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, name) == 0)
            return (ns_atom){s->observables.at[i].name, s->observables.at[i].value};
    fail_msg("no value %s", name);
    return (ns_atom){0};
}

/* Kovalevskaya's integral (v1^2 - v2^2 + a g31)^2 + (2 v1 v2 + a g32)^2, a = m g l/C up to
 * sign. */
static void kovalevskaya(void **state)
{
    (void)state;
    search q = begin(motion_model_file("heavy-top", NULL));
    q.family->shape.n = 0;
    static const char *const shape[] = {"g.31", "g.32", "g.33"};
    for (int i = 0; i < 3; i++)
        NS_PUSH(q.arena, q.family->shape, atom(&q, shape[i]));
    q.family->degree_velocity = 4;
    const ns_integrals *r = look(&q);
    sound(r);
    assert_int_equal(r->found.n, 2);
    assert_true(r->found.at[0]->in_parameters && r->found.at[1]->in_parameters);
    paste(r, "heavy-top", "C=2; l=0.3; m=1.5");
    end(&q);
    /* a top that is no Kovalevskaya's has energy and vertical momentum alone */
    q = begin(motion_model_file("heavy-top", "A=2.3*C"));
    q.family->shape.n = 0;
    for (int i = 0; i < 3; i++)
        NS_PUSH(q.arena, q.family->shape, atom(&q, shape[i]));
    q.family->degree_velocity = 4;
    r = look(&q);
    assert_true(r->margin > 1e8);
    assert_int_equal(r->found.n, 1);
    end(&q);
}

/* A rate that is zero by the rules of algebra is recognised as such. */
static void by_algebra(void **state)
{
    (void)state;
    search q = begin(motion_model_file("kepler", NULL));
    const ns_integrals *r = look(&q);
    sound(r);
    assert_int_equal(r->found.n, 1);
    assert_true(r->found.at[0]->identically);
    assert_string_equal(r->found.at[0]->text, "-y'*x + x'*y");
    end(&q);
}

/* ---- functions of one variable ----------------------------------------------------------- */

static const ns_linear_integrals *along(search *q, const char *name, double low, double high)
{
    const char *message = "";
    const ns_atom u = atom(q, name);
    q->family->degree_shape = 1;
    const ns_linear_integrals *r = ns_linear_search(q->flow, q->family, &q->o, q->model->x0, &u,
                                                    low, high, &message);
    if (!r)
        fail_msg("%s", message);
    print_message("%s along %s: %u found", q->model->description->title, name, r->found);
    if (r->found)
        print_message(", %u points, margin %.1e, rate %.1e, drift %.1e\n", r->points, r->margin,
                      r->rate, r->drift[0]);
    else
        print_message(": %s\n", r->why);
    return r;
}

static void sound_linear(const ns_linear_integrals *r, uint32_t found)
{
    assert_int_equal(r->found, found);
    assert_int_equal(r->rank, found);
    assert_true(r->margin > 1e8);
    measure_below(r->rate, 1e-10, "rate at new states", r->along.name);
    for (uint32_t f = 0; f < r->found; f++)
        measure_below(r->drift[f], 1e-10, "drift along runs", r->along.name);
}

/* Coefficient of part i of integral f at point j. */
static double at(const ns_linear_integrals *r, uint32_t f, uint32_t i, uint32_t j)
{
    return r->c[((size_t)f * r->parts + i) * r->points + j];
}

/* Routh's integral omega.z sqrt(A C + m (A (s.x^2 + s.y^2) + C s.z^2)) as a function. */
static void linear_sphere(void **state)
{
    (void)state;
    search q = begin(motion_model_file("routh-sphere", NULL));
    const ns_linear_integrals *r = along(&q, "vertical.z", -0.8, 0.9);
    sound_linear(r, 2);
    assert_true(r->constant);
    assert_string_equal(r->part[0], "omega.z");
    const double R = 0.1, m = 1, l = 0.02, A = 0.0040, C = 0.0035;
    double worst = 0, middle = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t j = 0; j < r->points; j++) {
            const double u = r->u[j], sz = l - R * u, across = R * R * (1 - u * u);
            const double routh = sqrt(A * C + m * (A * across + C * sz * sz));
            if (!pass && j == r->points / 2)
                middle = routh;
            if (pass) {
                worst = fmax(worst, fabs(at(r, 0, 0, j) - routh / middle));
                worst = fmax(worst, fabs(at(r, 0, 1, j)) * R);
            }
        }
    measure_below(worst, 1e-11, "difference to Routh's integral", "routh-sphere");
    end(&q);
}

/* A disk of radius a with moments A, A, C: on a level of the two integrals omega.z is a
 * function of u = cos(tilt) that solves (Appell 1900, Korteweg 1900; docs/theory/integrals.md)
 *
 *     d/du ((1 - u^2) d omega.z/du) = m a^2 C/(A (C + m a^2)) omega.z */
static void linear_disk(void **state)
{
    (void)state;
    search q = begin(motion_model_file("euler-disk", NULL));
    const ns_linear_integrals *r = along(&q, "vertical.z", -0.9, 0.9);
    sound_linear(r, 2);
    const double factor = 4 * 2.0 / (2 + 4); /* of a uniform disk, in units of A */
    const uint32_t P = r->points;
    double worst = 0, most = 0;
    for (int level = 0; level < 2; level++) { /* (I1, I2) = (1, 0), (0, 1) */
        double *w3 = NS_NEW_ARRAY(q.arena, double, P);
        for (uint32_t j = 0; j < P; j++) {
            const double a = at(r, 0, 0, j), b = at(r, 0, 1, j), c = at(r, 1, 0, j),
                         d = at(r, 1, 1, j), det = a * d - b * c;
            w3[j] = level ? -b / det : d / det;
        }
        /* derivatives at inner points by the derivative of the interpolating polynomial */
        double *first = NS_NEW_ARRAY(q.arena, double, P),
                                     *second = NS_NEW_ARRAY(q.arena, double, P);
        for (int round = 0; round < 2; round++) {
            const double *f = round ? first : w3;
            double *out = round ? second : first;
            for (uint32_t i = 0; i < P; i++) {
                double diagonal = 0;
                out[i] = 0;
                for (uint32_t j = 0; j < P; j++) {
                    if (i == j)
                        continue;
                    const double ci = i == 0 || i == P - 1 ? 2 : 1,
                                 cj = j == 0 || j == P - 1 ? 2 : 1;
                    const double D = ci / cj * ((i + j) % 2 ? -1 : 1) / (r->u[i] - r->u[j]);
                    diagonal -= D;
                    out[i] += D * f[j];
                }
                out[i] += diagonal * f[i];
            }
        }
        for (uint32_t j = 0; j < P; j++) {
            const double u = r->u[j];
            const double left = (1 - u * u) * second[j] - 2 * u * first[j] - factor * w3[j];
            worst = fmax(worst, fabs(left));
            most = fmax(most, fabs(second[j]));
        }
    }
    measure_below(worst / most, 1e-9, "Legendre's equation of the disk", "euler-disk");
    end(&q);
}

static void linear_others(void **state)
{
    (void)state;
    search q = begin(motion_model_file("torus", NULL));
    sound_linear(along(&q, "vertical.z", NAN, NAN), 2);
    end(&q);
    q = begin(motion_model_file("falling-disk", NULL)); /* its symmetry block is not used */
    const ns_linear_integrals *r = along(&q, "theta", NAN, NAN);
    sound_linear(r, 2);
    /* as a line of the model */
    char lines[18000];
    snprintf(lines, sizeof lines, "invariant linear1 = %s\ninvariant linear2 = %s\n",
             r->text[0], r->text[1]);
    measure_below(drift_of_lines("falling-disk", NULL, lines), 1e-11, "drift of pasted lines",
                  "falling-disk");
    end(&q);
    q = begin(motion_model_file("ellipsoid", NULL));
    assert_int_equal(along(&q, "vertical.z", NAN, NAN)->found, 0);
    assert_int_equal(along(&q, "s.x", NAN, NAN)->found, 0);
    end(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routh_sphere),   cmocka_unit_test(chaplygin_ball),
        cmocka_unit_test(generic_bodies), cmocka_unit_test(kovalevskaya),
        cmocka_unit_test(by_algebra),     cmocka_unit_test(linear_sphere),
        cmocka_unit_test(linear_disk),    cmocka_unit_test(linear_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
