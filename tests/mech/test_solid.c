/* Mass properties: the closed forms of mech/contact/solid.c against quadrature, compounds of
 * them, and the numbers that gallery models carry. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/eval.h"
#include "mech/contact/solid.h"
#include "mech/rolling/rolling.h"
#include "session/settings.h"

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* ---- quadrature -------------------------------------------------------------------------- */

enum { NODES = 24, ANGLES = 16 };

/* Gauss-Legendre nodes and weights on [0, 1]: zeros of the Legendre polynomial by Newton. */
static void nodes(double *x, double *w)
{
    for (int i = 0; i < NODES; i++) {
        double z = cos(M_PI * (i + 0.75) / (NODES + 0.5)), slope = 1;
        for (int k = 0; k < 100; k++) {
            double p = 1, before = 0;
            for (int n = 0; n < NODES; n++) {
                double next = ((2 * n + 1) * z * p - n * before) / (n + 1);
                before = p;
                p = next;
            }
            slope = NODES * (z * p - before) / (z * z - 1);
            z -= p / slope;
        }
        x[i] = (1 + z) / 2;
        w[i] = 1 / ((1 - z * z) * slope * slope);
    }
}

/* A solid as the image of the unit cube: x(u), and the density of content there.  u[1] is a
 * turn unless said otherwise: angles are integrated by the trapezoidal rule, exact for so few
 * harmonics, the rest by Gauss. */
typedef double image(const double *size, const double u[3], double x[3]);

static void polar(double rho, double turn, double x[3])
{
    x[0] = rho * cos(2 * M_PI * turn);
    x[1] = rho * sin(2 * M_PI * turn);
}

static double sphere(const double *s, const double u[3], double x[3])
{
    double r = s[0] * u[0], z = 2 * u[2] - 1; /* z = cos(theta) */
    polar(r * sqrt(1 - z * z), u[1], x);
    x[2] = r * z;
    return s[0] * r * r * 2 * 2 * M_PI;
}

static double shell(const double *s, const double u[3], double x[3])
{
    double z = 2 * u[2] - 1;
    polar(s[0] * sqrt(1 - z * z), u[1], x);
    x[2] = s[0] * z;
    return s[0] * s[0] * 2 * 2 * M_PI;
}

static double hemisphere(const double *s, const double u[3], double x[3])
{
    double r = s[0] * u[0];
    polar(r * sqrt(1 - u[2] * u[2]), u[1], x);
    x[2] = r * u[2];
    return s[0] * r * r * 2 * M_PI;
}

static double ellipsoid(const double *s, const double u[3], double x[3])
{
    static const double unit = 1;
    double content = sphere(&unit, u, x);
    for (int i = 0; i < 3; i++) {
        x[i] *= s[i];
        content *= s[i];
    }
    return content;
}

static double cylinder(const double *s, const double u[3], double x[3])
{
    polar(s[0] * u[0], u[1], x);
    x[2] = s[1] * (u[2] - 0.5);
    return s[0] * s[0] * u[0] * 2 * M_PI * s[1];
}

static double tube(const double *s, const double u[3], double x[3])
{
    polar(s[0], u[1], x);
    x[2] = s[1] * (u[2] - 0.5);
    return s[0] * 2 * M_PI * s[1];
}

static double cone(const double *s, const double u[3], double x[3])
{
    double most = s[0] * (1 - u[2]);
    polar(most * u[0], u[1], x);
    x[2] = s[1] * u[2];
    return most * most * u[0] * 2 * M_PI * s[1];
}

static double disk(const double *s, const double u[3], double x[3])
{
    polar(s[0] * u[0], u[1], x);
    x[2] = 0;
    return s[0] * s[0] * u[0] * 2 * M_PI;
}

static double hoop(const double *s, const double u[3], double x[3])
{
    polar(s[0], u[1], x);
    x[2] = 0;
    return s[0] * 2 * M_PI;
}

/* two angles: u[1] round the axis, u[2] round the tube */
static double torus(const double *s, const double u[3], double x[3])
{
    double rho = s[1] * u[0], out = s[0] + rho * cos(2 * M_PI * u[2]);
    polar(out, u[1], x);
    x[2] = rho * sin(2 * M_PI * u[2]);
    return s[1] * rho * 2 * M_PI * out * 2 * M_PI;
}

/* no angle */
static double box(const double *s, const double u[3], double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = s[i] * (u[i] - 0.5);
    return s[0] * s[1] * s[2];
}

static double rod(const double *s, const double u[3], double x[3])
{
    x[0] = x[1] = 0;
    x[2] = s[0] * (u[2] - 0.5);
    return s[0];
}

/* of mech/contact/shapes.c */
static double egg(const double *s, const double u[3], double x[3])
{
    double h = 2 * u[2] - 1, most = s[1] * sqrt((1 - h * h) / (1 + s[2] * h));
    polar(most * u[0], u[1], x);
    x[2] = s[0] * h;
    return most * most * u[0] * 2 * M_PI * 2 * s[0];
}

typedef struct sums {
    double m, first[3], second[3][3];
} sums;

typedef struct place {
    double R[3][3], at[3], density;
} place;

/* Adds content, first and second moments of a solid, turned and shifted. */
static void integrate(sums *sum, image *f, const double *size, const place *p)
{
    double g[NODES], w[NODES];
    nodes(g, w);
    bool angle = f != box;
    int middle = angle ? ANGLES : NODES;
    bool second = f == torus; /* another angle */
    int last = second ? ANGLES : NODES;
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < middle; j++)
            for (int k = 0; k < last; k++) {
                double u[3] = {g[i], angle ? (j + 0.3) / ANGLES : g[j],
                               second ? (k + 0.6) / ANGLES : g[k]};
                double v[3], x[3],
                    weight = w[i] * (angle ? 1.0 / ANGLES : w[j]) *
                             (second ? 1.0 / ANGLES : w[k]);
                double dm = p->density * weight * f(size, u, v);
                for (int a = 0; a < 3; a++)
                    x[a] = p->at[a] + p->R[a][0] * v[0] + p->R[a][1] * v[1] + p->R[a][2] * v[2];
                sum->m += dm;
                for (int a = 0; a < 3; a++) {
                    sum->first[a] += dm * x[a];
                    for (int b = 0; b < 3; b++)
                        sum->second[a][b] += dm * x[a] * x[b];
                }
            }
}

typedef struct numbers {
    double mass, centre[3], inertia[3][3];
} numbers;

static numbers from_sums(const sums *s)
{
    numbers n = {.mass = s->m};
    double trace = 0, S[3][3];
    for (int i = 0; i < 3; i++)
        n.centre[i] = s->first[i] / s->m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[i][j] = s->second[i][j] - s->m * n.centre[i] * n.centre[j];
    for (int i = 0; i < 3; i++)
        trace += S[i][i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            n.inertia[i][j] = (i == j ? trace : 0) - S[i][j];
    return n;
}

static numbers from_graph(const ns_graph *g, const ns_mass *m)
{
    numbers n = {.mass = ns_eval_constant(g, m->mass)};
    for (int i = 0; i < 3; i++) {
        n.centre[i] = ns_eval_constant(g, m->centre.at[i]);
        for (int j = 0; j < 3; j++)
            n.inertia[i][j] = ns_eval_constant(g, m->inertia.at[i][j]);
    }
    return n;
}

static void same(const char *what, const numbers *a, const numbers *b, double tolerance)
{
    double length = 0, size = 0, worst = fabs(a->mass - b->mass) / fabs(b->mass);
    for (int i = 0; i < 3; i++)
        size = fmax(size, b->inertia[i][i]);
    length = sqrt(size / fabs(b->mass));
    for (int i = 0; i < 3; i++) {
        worst = fmax(worst, fabs(a->centre[i] - b->centre[i]) / length);
        for (int j = 0; j < 3; j++)
            worst = fmax(worst, fabs(a->inertia[i][j] - b->inertia[i][j]) / size);
    }
    if (!(worst < tolerance))
        fail_msg("%s: off by %.2e", what, worst);
}

static const place nowhere = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .density = 1};

/* ---- closed forms ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint32_t n;
    image *f;
} kinds[] = {
    {"sphere", 1, sphere},       {"shell", 1, shell},       {"hemisphere", 1, hemisphere},
    {"ellipsoid", 3, ellipsoid}, {"cylinder", 2, cylinder}, {"tube", 2, tube},
    {"cone", 2, cone},           {"disk", 1, disk},         {"hoop", 1, hoop},
    {"torus", 2, torus},         {"box", 3, box},           {"rod", 1, rod},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void closed_forms(void **state)
{
    (void)state;
    static const double sizes[2][3] = {{0.7, 0.3, 0.45}, {1.2, 0.5, 2.5}};
    ns_arena *arena = ns_arena_new();
    assert_non_null(arena);
    ns_graph *g = ns_graph_new(arena);
    for (int k = 0; k < KINDS; k++)
        for (int c = 0; c < 2; c++) {
            ns_ex size[3];
            for (uint32_t i = 0; i < 3; i++)
                size[i] = ns_number(g, sizes[c][i]);
            ns_mass mass;
            assert_true(ns_solid_uniform(g, kinds[k].name, size, kinds[k].n, 0, &mass));
            numbers ours = from_graph(g, &mass);
            sums sum = {0};
            integrate(&sum, kinds[k].f, sizes[c], &nowhere);
            numbers theirs = from_sums(&sum);
            same(kinds[k].name, &ours, &theirs, 1e-13);
        }
    /* the list is complete: every kind but the point, which has nothing to integrate */
    const char *all = ns_solid_kinds(arena);
    uint32_t count = 0;
    for (const char *at = all; (at = strchr(at, '(')) != NULL; at++)
        count++;
    assert_int_equal(count, KINDS + 1);
    ns_mass mass;
    assert_false(ns_solid_uniform(g, "sphere", NULL, 2, 0, &mass));
    assert_false(ns_solid_uniform(g, "cube", NULL, 1, 0, &mass));
    ns_arena_free(arena);
}

/* ---- compounds --------------------------------------------------------------------------- */

typedef struct compound {
    ns_arena *arena;
    ns_diag *diag;
    bool good, found;
    numbers n;
} compound;

/* Solids as a model writes them, "sphere(1) { mass 2 }" one per line.  They are read as bodies,
 * which have the same form, and renamed. */
static compound solids(const char *lines)
{
    compound c = {.arena = ns_arena_new()};
    assert_non_null(c.arena);
    char text[2000] = "";
    int count = 0;
    for (const char *at = lines; *at;) {
        size_t length = strcspn(at, "\n"), used = strlen(text);
        snprintf(text + used, sizeof text - used, "body part%d %.*s\n", ++count, (int)length,
                 at);
        at += length + (at[length] == '\n');
    }
    c.diag = ns_diag_new(c.arena);
    char *copy = ns_arena_copy(c.arena, text, strlen(text) + 1);
    ns_description *d = ns_description_read(c.arena, c.diag, &ns_settings_grammar, "solids",
                                            copy, strlen(copy), NULL, 0);
    assert_non_null(d);
    for (uint32_t i = 0; i < d->blocks.n; i++)
        d->blocks.at[i].form = &ns_block_solid;
    ns_mass mass;
    c.good = ns_solid_read(d, &mass, &c.found);
    if (c.good && c.found)
        c.n = from_graph(d->graph, &mass);
    return c;
}

static numbers of(const char *lines)
{
    compound c = solids(lines);
    if (!c.good) {
        ns_text text = ns_text_new(c.arena);
        ns_diag_render(c.diag, &text);
        fail_msg("%s\n%s", lines, ns_text_string(&text));
    }
    assert_true(c.found);
    ns_arena_free(c.arena);
    return c.n;
}

static void equal(const char *a, const char *b)
{
    numbers x = of(a), y = of(b);
    same(a, &x, &y, 1e-14);
}

static void compounds(void **state)
{
    (void)state;
    /* two halves are a whole, however they lie */
    equal("hemisphere(0.3) { density 7; axis [0, 0, 1] }\n"
          "hemisphere(0.3) { density 7; axis [0, 0, -1] }",
          "sphere(0.3) { density 7 }");
    equal("hemisphere(0.3) { density 7; axis [1, 2, 3]; at [0.1, 0.2, 0.3] }\n"
          "hemisphere(0.3) { density 7; axis [-1, -2, -3]; at [0.1, 0.2, 0.3] }",
          "sphere(0.3) { density 7; at [0.1, 0.2, 0.3] }");
    equal("box(1, 2, 3) { mass 1; at [0.5, 0, 0] }\nbox(1, 2, 3) { mass 1; at [-0.5, 0, 0] }",
          "box(2, 2, 3) { mass 2 }");
    /* where it is does not matter for the inertia about the centre of mass */
    numbers a = of("torus(0.5, 0.1) { mass 3; at [4, 5, 6] }"),
            b = of("torus(0.5, 0.1) { mass 3 }");
    b.centre[0] = 4;
    b.centre[1] = 5;
    b.centre[2] = 6;
    same("torus elsewhere", &a, &b, 1e-14);
    /* two points: reduced mass */
    a = of("point { mass 2; at [0, 0, 1] }\npoint { mass 3; at [0, 4, 1] }");
    b = (numbers){
        .mass = 5, .centre = {0, 2.4, 1}, .inertia = {{19.2, 0, 0}, {0}, {0, 0, 19.2}}};
    same("two points", &a, &b, 1e-14);
    /* holes: thick shell, thick pipe, box out of a box */
    equal("sphere(2) { density 3 }\nsphere(1) { density 3; hole }\nsphere(1) { density 3 }",
          "sphere(2) { density 3 }");
    a = of("sphere(2) { density 3 }\nsphere(1) { density 3; hole }");
    double m = 4 * M_PI * 7, k = 0.4 * 31.0 / 7; /* 2/5 (R^5 - r^5)/(R^3 - r^3) */
    b = (numbers){.mass = m, .inertia = {{m * k, 0, 0}, {0, m * k, 0}, {0, 0, m * k}}};
    same("thick shell", &a, &b, 1e-14);
    a = of("cylinder(2, 5) { density 1 }\ncylinder(1, 5) { density 1; hole }");
    m = 15 * M_PI;
    k = m * (5.0 / 4 + 25.0 / 12);
    b = (numbers){.mass = m, .inertia = {{k, 0, 0}, {0, k, 0}, {0, 0, m * 2.5}}};
    same("thick pipe", &a, &b, 1e-14);
    /* a thin one is a tube: linear in the thickness */
    a = of("cylinder(1.0001, 5) { density 1 }\ncylinder(0.9999, 5) { density 1; hole }");
    b = of("tube(1, 5) { mass 2*pi*5*2e-4 }");
    same("thin pipe", &a, &b, 1e-7);
}

static void turned(void **state)
{
    (void)state;
    equal("box(1, 2, 3) { mass 1; turn [0, 0, 1], 90 deg }", "box(2, 1, 3) { mass 1 }");
    equal("box(1, 2, 3) { mass 1; turn [1, 1, 1], 120 deg }", "box(3, 1, 2) { mass 1 }");
    equal("cone(1, 2) { mass 1; turn [0, 5, 0], 90 deg }",
          "cone(1, 2) { mass 1; axis [3, 0, 0] }");
    equal("rod(2) { mass 1; axis [1, 1, 0] }",
          "point { mass 1/6; at [1, 1, 0]/sqrt(2) }\npoint { mass 2/3 }\n"
          "point { mass 1/6; at [-1, -1, 0]/sqrt(2) }"); /* Simpson's rule is exact here */
    /* I_xy of the solid rattleback: (I_x - I_y) sin cos */
    numbers n = of("ellipsoid(0.2, 0.03, 0.02) { mass 1; turn [0, 0, 1], 0.02 }");
    double Ix = (0.03 * 0.03 + 0.02 * 0.02) / 5, Iy = (0.2 * 0.2 + 0.02 * 0.02) / 5;
    assert_true(fabs(n.inertia[0][1] - (Ix - Iy) * sin(0.02) * cos(0.02)) < 1e-18);
    assert_true(n.inertia[0][1] == n.inertia[1][0]);
}

/* A mallet and its kind: all parts turned and shifted, by quadrature as a whole. */
static void by_quadrature(void **state)
{
    (void)state;
    numbers ours = of(
        "cylinder(0.1, 0.9) { density 700; axis [1, 2, 2]; at [0.1, 0, -0.2] }\n"
        "box(0.3, 0.2, 0.5) { density 7800; turn [1, 0, 1], 0.7; at [0, 0.3, 0.1] }\n"
        "sphere(0.05) { density 7800; at [0, 0.3, 0.1]; hole }\n"
        "cone(0.2, 0.4) { density 2000; turn [0, 1, 0], 2; at [-0.5, 0.2, 0] }\n"
        "hoop(0.6) { density 3; turn [1, 1, 0], 1 }");
    sums sum = {0};
    static const double cylinder_size[] = {0.1, 0.9}, box_size[] = {0.3, 0.2, 0.5};
    static const double sphere_size[] = {0.05}, cone_size[] = {0.2, 0.4}, hoop_size[] = {0.6};
    struct part {
        image *f;
        const double *size;
        double axis[3], angle, at[3], density;
    } parts[] = {
        /* e3 to (1, 2, 2)/3: about e3 x that by acos(2/3) */
        {cylinder, cylinder_size, {-2, 1, 0}, acos(2.0 / 3), {0.1, 0, -0.2}, 700},
        {box, box_size, {1, 0, 1}, 0.7, {0, 0.3, 0.1}, 7800},
        {sphere, sphere_size, {1, 0, 0}, 0, {0, 0.3, 0.1}, -7800},
        {cone, cone_size, {0, 1, 0}, 2, {-0.5, 0.2, 0}, 2000},
        {hoop, hoop_size, {1, 1, 0}, 1, {0, 0, 0}, 3},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct part *q = &parts[i];
        place p = {.density = q->density};
        double length = sqrt(q->axis[0] * q->axis[0] + q->axis[1] * q->axis[1] +
                             q->axis[2] * q->axis[2]);
        double w = cos(q->angle / 2), v[3]; /* by its quaternion: not the formula of solid.c */
        for (int a = 0; a < 3; a++) {
            v[a] = sin(q->angle / 2) * q->axis[a] / length;
            p.at[a] = q->at[a];
        }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                int c = 3 - a - b; /* the third, if they differ */
                double sign = (b - a + 3) % 3 == 1 ? -1 : 1;
                p.R[a][b] = a == b ? 1 - 2 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] -
                                              v[a] * v[a])
                                   : 2 * (v[a] * v[b] + sign * w * v[c]);
            }
        integrate(&sum, q->f, q->size, &p);
    }
    numbers theirs = from_sums(&sum);
    same("mallet", &ours, &theirs, 1e-13);
}

/* ---- numbers of the gallery -------------------------------------------------------------- */

static numbers of_model(const char *name)
{
    ns_model *model = motion_model_file(name, NULL);
    const ns_rolling *r = model->system->own;
    numbers n;
    ns_system_eval(model->system, &r->mass.mass, 1, 0, model->p, NULL, &n.mass);
    ns_system_eval(model->system, r->mass.centre.at, 3, 0, model->p, NULL, n.centre);
    ns_system_eval(model->system, &r->mass.inertia.at[0][0], 9, 0, model->p, NULL,
                   &n.inertia[0][0]);
    ns_model_free(model);
    return n;
}

static void gallery(void **state)
{
    (void)state;
    /* tests/reference/a2: its parameters */
    numbers metals = of_model("sphere-two-metals");
    double J1 = 0.006510497882567905, J2 = 0.00648785608909291;
    numbers known = {.mass = 4.521179085116601,
                     .centre = {0.002237842705623374, 0, 0},
                     .inertia = {{J1, 0, 0}, {0, J2, 0}, {0, 0, J2}}};
    same("two metals", &metals, &known, 1e-14);
    numbers halves = of("hemisphere(0.06) { density 4500; axis [-1, 0, 0] }\n"
                        "hemisphere(0.06) { density 5494; axis [1, 0, 0] }");
    same("two hemispheres", &halves, &known, 1e-14);
    /* the egg's were computed by quadrature with 30 digits */
    static const double size[] = {0.029, 0.0215, 0.2};
    sums sum = {0};
    integrate(&sum, egg, size, &nowhere);
    place dense = nowhere;
    dense.density = 0.058 / sum.m;
    sum = (sums){0};
    integrate(&sum, egg, size, &dense);
    numbers ours = of_model("egg"), theirs = from_sums(&sum);
    same("egg", &ours, &theirs, 1e-12); /* 24 nodes against the pole at h = -5 */
    /* the cushion: q = <x^2>/a^2 of |x|^4 + |y|^4 + |z|^4 < 1 */
    double q = tgamma(0.75) * tgamma(1.75) / (tgamma(0.25) * tgamma(2.25));
    ours = of_model("superellipsoid");
    assert_true(fabs(ours.inertia[2][2] - q * 0.02) < 1e-15);
    /* and by slices: that at the height z has an area like sqrt(1 - z^4) */
    double g[NODES], w[NODES], top = 0, all = 0;
    nodes(g, w);
    for (int i = 0; i < NODES; i++) { /* z = 1 - u^2 takes the root out of the end */
        double z = 1 - g[i] * g[i], area = sqrt(1 - z * z * z * z) * 2 * g[i] * w[i];
        top += z * z * area;
        all += area;
    }
    assert_true(fabs(top / all - q) < 1e-12);
}

/* ---- refused ----------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"cube(1) { mass 1 }", "there is no solid `cube`; there are: sphere(r), shell(r)"},
        {"sphere(1, 2) { mass 1 }", "takes other sizes"},
        {"sphere(1) { }", "needs either `mass` or `density`"},
        {"sphere(1) { mass 1; density 2 }", "needs either `mass` or `density`"},
        {"sphere(1) { mass [1, 2, 3] }", "mass: expected a number, found a vector of 3"},
        {"sphere(1) { mass 1; at [1, 2] }", "at: expected a vector of 3"},
        {"box(1, 2, 3) { mass 1; axis [0, 0, 1] }", "`box` is not round: use `turn"},
        {"cone(1, 2) { mass 1; axis [0, 0, 1]; turn [1, 0, 0], 1 }", "either `axis` or `turn`"},
        {"cone(1, 2) { mass 1; turn [1, 0, 0] }", "`turn` needs another value"},
        {"sphere(1) { mas 1 }", "did you mean `mass`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compound c = solids(cases[i].text);
        ns_text text = ns_text_new(c.arena);
        ns_diag_render(c.diag, &text);
        if (c.good || !strstr(ns_text_string(&text), cases[i].words))
            fail_msg("%s: expected \"%s\", messages:\n%s", cases[i].text, cases[i].words,
                     ns_text_string(&text));
        ns_arena_free(c.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms), cmocka_unit_test(compounds),
        cmocka_unit_test(turned),       cmocka_unit_test(by_quadrature),
        cmocka_unit_test(gallery),      cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
