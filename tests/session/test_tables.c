/* Functions through measured values: splines that must be exact, as a curve and as a ground
 * that bodies roll on, with all derivatives, and what bad tables say. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/motion.h"

static FILE *begin_file(const char *path, const char *names)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "# measured\n%s\n", names);
    return f;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* not evenly spaced */
static const double knot[] = {-1, -0.6, -0.25, 0, 0.5, 0.7, 1.2};
enum { KNOTS = sizeof knot / sizeof *knot };

/* f, f', f'' and f'''/6 */
static void cubic(double u, double out[4])
{
    out[0] = 0.3 + u * (1.5 + u * (-2 + 0.7 * u));
    out[1] = 1.5 + u * (-4 + 2.1 * u);
    out[2] = -4 + 4.2 * u;
    out[3] = 0.7;
}

/* The spline of a cubic is the cubic: between knots, on them and beyond the ends. */
static void one_argument(void **state)
{
    (void)state;
    FILE *f = begin_file("profile.csv", "\"t\",\"h\",\"u\"");
    for (int k = 0; k < KNOTS; k++) {
        double c[4];
        cubic(knot[k], c);
        fprintf(f, "%d,%.17g,%.17g\n", k, c[0], knot[k]);
    }
    fclose(f);
    motion m = motion_text(
        "let h(u) from \"profile.csv\", lines(u) from \"profile.csv\" column "
        "\"h\" order 1\nlet dh(u) = grad(h)(u), ddh(u) = grad(dh)(u)\n"
        "state x' = 1\nstart { x = -1.5 }\nrun { until 3 }\n"
        "observe value = h(x), slope = dh(x), bend = ddh(x), rate = h(x)', "
        "third = grad(ddh)(x)/6, line = lines(x), secant = grad(lines)(x)\n",
        NULL);
    static const double at[] = {0, 0.3, 0.5, 0.9, 1.25, 1.5, 1.6, 2, 2.2, 2.6, 2.7, 2.9};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double c[4];
        assert_int_equal(motion_to(&m, at[i]), NS_OK);
        const double x = motion_get(&m, "x");
        cubic(x, c);
        /* third differences of the knots, some 0.3 apart, magnify rounding errors 200 times */
        assert_true(fabs(motion_get(&m, "value") - c[0]) < 1e-14);
        assert_true(fabs(motion_get(&m, "slope") - c[1]) < 1e-13);
        assert_true(fabs(motion_get(&m, "rate") - c[1]) < 1e-13);
        assert_true(fabs(motion_get(&m, "bend") - c[2]) < 1e-12);
        assert_true(fabs(motion_get(&m, "third") - c[3]) < 1e-12);
        int k = 0;
        while (k < KNOTS - 2 && x >= knot[k + 1])
            k++;
        double low[4], high[4];
        cubic(knot[k], low);
        cubic(knot[k + 1], high);
        const double secant = (high[0] - low[0]) / (knot[k + 1] - knot[k]);
        assert_true(fabs(motion_get(&m, "secant") - secant) < 1e-14);
        assert_true(fabs(motion_get(&m, "line") - low[0] - secant * (x - knot[k])) < 1e-14);
    }
    motion_close(&m);
}

/* The tensor product is exact for x^i y^j up to cubes, rows in any order. */
static void two_arguments(void **state)
{
    (void)state;
    FILE *f = begin_file("ground.csv", "y,x,h");
    for (int k = KNOTS * 5; k-- > 0;) {
        const double x = knot[(3 * k) % KNOTS], y = 0.5 * (k / KNOTS) * (k / KNOTS) - 1;
        fprintf(f, "%.17g,%.17g,%.17g\n", y, x,
                (1 + x - 2 * x * x * x) * (2 - y + y * y * y / 3));
    }
    fclose(f);
    motion m = motion_text("let h(x, y) from \"ground.csv\"\nstate a' = 1, b' = 0.8*cos(t)\n"
                           "start { a = -0.9; b = -0.7 }\nrun { until 2 }\n"
                           "let f(x, y) = (1 + x - 2*x^3)*(2 - y + y^3/3), g = grad(h)(a, b), "
                           "G = grad(f)(a, b)\n"
                           "observe wrong = h(a, b) - f(a, b), wrong1 = norm(g - G)\n"
                           "observe wrong2 = diff(g[1], b) - diff(G[1], b), wrong3 = "
                           "diff(g[2], b) - diff(G[2], b)\n",
                           NULL);
    for (int k = 0; k < 32; k++) {
        assert_int_equal(motion_to(&m, 0.0625 * k), NS_OK);
        assert_true(fabs(motion_get(&m, "wrong")) < 1e-13);
        assert_true(fabs(motion_get(&m, "wrong1")) < 1e-12);
        assert_true(fabs(motion_get(&m, "wrong2")) < 1e-11);
        assert_true(fabs(motion_get(&m, "wrong3")) < 1e-11);
    }
    motion_close(&m);
}

/* Both models from the same start, to the same values. */
static void same_motion(const char *table, const char *formula, double until,
                        const char *const *names, int n)
{
    motion a = motion_text(table, NULL), b = motion_text(formula, NULL);
    assert_int_equal(motion_to(&a, until), NS_OK);
    assert_int_equal(motion_to(&b, until), NS_OK);
    for (int i = 0; i < n; i++) {
        const double x = motion_get(&a, names[i]), y = motion_get(&b, names[i]);
        if (!(fabs(x - y) < 1e-10 * fmax(1, fabs(y))))
            fail_msg("%s: %.15g by the table, %.15g by the formula", names[i], x, y);
    }
    motion_close(&a);
    motion_close(&b);
}

#define BALL                                                                                   \
    "body sphere(r) { mass m; uniform }\nstart { contact [0.2, 0.1]; omega [2, 1, 0.5] }\n"    \
    "run { until 3 }\n"
#define BALL_SIZES "param r = 5 cm, m = 0.2\n"
#define DISK                                                                                   \
    "body disk(r) { mass m; uniform }\nstart { place = 0.8; turn = 0; place' = 0 }\n"          \
    "run { until 3 }\n"
#define DISK_SIZES                                                                             \
    "param k = 0.5, r = 0.3 m, m = 1 kg, g = 9.81\nlet root = sqrt(1 + k^2*u^2)\n"

/* A ball on a measured ground, a disk on a measured curve; splines of parabolas are exact. */
static void rolling(void **state)
{
    (void)state;
    static const char *const ball[] = {"com.x",   "com.y",   "com.z",
                                       "omega.x", "omega.z", "energy"};
    static const char *const disk[] = {"place", "turn", "energy"};
    FILE *f = begin_file("bowl.csv", "x,y,z");
    for (int i = -8; i <= 8; i++)
        for (int k = -7; k <= 7; k++)
            fprintf(f, "%.17g,%.17g,%.17g\n", 0.05 * i, 0.06 * k,
                    0.8 * (0.0025 * i * i + 0.0036 * k * k));
    fclose(f);
    same_motion(BALL_SIZES "let relief(x, y) from \"bowl.csv\" column \"z\"\n"
                           "ground height(relief(x, y))\n" BALL,
                BALL_SIZES "ground height(0.8*(x^2 + y^2))\n" BALL, 2, ball, 6);
    f = begin_file("track.csv", "u,z");
    for (int i = -10; i <= 10; i++)
        fprintf(f, "%.17g,%.17g\n", 0.2 * i, 0.01 * i * i);
    fclose(f);
    same_motion(
        DISK_SIZES "let track(u) from \"track.csv\" column \"z\"\n"
                   "ground curve([u + r*k*u/root, track(u) - r/root]) { from -2; to 2 }\n" DISK,
        DISK_SIZES "ground curve([u + r*k*u/root, k*u^2/2 - r/root]) { from -2; to 2 }\n" DISK,
        2, disk, 3);
}

/* A bead on a wire of measured points: the energy stays, though third derivatives jump. */
static void bead(void **state)
{
    (void)state;
    FILE *f = begin_file("wire.csv", "u,h");
    for (int k = -20; k <= 20; k++)
        fprintf(f, "%.17g,%.17g\n", 0.2 * k, 0.3 * sin(0.26 * k) + 0.002 * k * k);
    fclose(f);
    motion m = motion_text("let h(u) from \"wire.csv\"\ncoordinate x, z\n"
                           "lagrangian (x'^2 + z'^2)/2 - 9.81*z\nconstraint wire: z = h(x)\n"
                           "start { x = 1.7; x' = 0 }\ninvariant total = energy\n"
                           "run { until 10 }\n",
                           NULL);
    assert_int_equal(motion_to(&m, 10), NS_OK);
    assert_true(motion_residual(&m) < 1e-11);
    assert_true(motion_drift(&m, "total") < 1e-7);
    motion_close(&m);
}

static uint64_t tables_of(const char *file)
{
    write_file("other.csv", file);
    ns_model *model = motion_model_text("let h(u) from \"other.csv\"\nstate x' = h(x)\n"
                                        "start { x = 0 }\n",
                                        NULL);
    const uint64_t tables = ns_description_tables(model->description);
    ns_model_free(model);
    return tables;
}

/* Checkpoints and sweeps must notice another file, though the text of the model is the same. */
static void another_table(void **state)
{
    (void)state;
    const uint64_t first = tables_of("u,h\n0,1\n1,2\n");
    assert_true(first && first == tables_of("# again\nu,h\n0.0,1\n1,2.0\n"));
    assert_true(first != tables_of("u,h\n0,1\n1,2.000000001\n"));
    assert_true(first != tables_of("u,h\n0,1\n1.000000001,2\n"));
}

static void bad_tables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } one[] = {
        {"u,h\n0,1\n2,2\n1,3\n", "bad.csv:4: the values of `u` must ascend; 1 follows 2"},
        {"u,h\n0,1\n1,\n2,3\n", "bad.csv:3: there is no value of `h`; tables have no gaps"},
        {"u,h\n0,1\n,2\n2,3\n", "bad.csv:3: there is no value of `u`"},
        {"u,h\n0,1\n1,x\n", "`x` is not a number"},
        {"0,1\n1,2\n", "must name the columns"},
        {"u,height\n0,1\n1,2\n", "bad.csv has no column `h`"},
        {"h,u\n0,1\n", "two rows or more"},
        {"u\n0\n1\n", "2 columns or more"},
        {"h,w\n0,1\n1,2\n", "`h` and the argument `u` would be the same column"},
    };
    static const struct {
        const char *text, *words;
    } two[] = {
        {"x,y,h\n0,0,1\n0,1,1\n1,0,1\n", "the point x = 1, y = 1 of the grid is missing"},
        {"x,y,h\n0,0,1\n0,1,1\n1,0,1\n1,0,2\n", "bad.csv:5: the point x = 1, y = 0 is given"},
        {"x,y,h\n0,0,1\n0,1,1\n0,2,1\n", "do not fill a grid of 1 values of `x` and 3 of `y`"},
    };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        write_file("bad.csv", one[i].text);
        motion_refused("let h(u) from \"bad.csv\"\nstate x' = h(x)\nstart { x = 0 }\n",
                       one[i].words);
    }
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        write_file("bad.csv", two[i].text);
        motion_refused("let h(x, y) from \"bad.csv\"\nstate a' = h(a, a)\nstart { a = 0 }\n",
                       two[i].words);
    }
    write_file("good.csv", "u,h\n0,1\n1,2\n");
    motion_refused("let h(u) from \"nosuch.csv\"\nstate x' = h(x)\nstart { x = 0 }\n",
                   "cannot read nosuch.csv");
    motion_refused("let h from \"good.csv\"\nstate x' = h\nstart { x = 0 }\n",
                   "a table makes a function: `let h(u) from \"FILE\"`");
    motion_refused("let h(u) from \"good.csv\" order 0\nstate x' = h(x)\nstart { x = 0 }\n",
                   "the order of a function is 1 (lines) or 3");
    motion_refused("let h(u, v, w) from \"good.csv\"\nstate x' = h(x, x, x)\nstart { x = 0 }\n",
                   "a table has one or two arguments");
    motion_refused("let h(u) from \"good.csv\"\nstate x' = h(x, x)\nstart { x = 0 }\n",
                   "h takes 1 argument, found 2");
    motion_refused("surface h(u) from \"good.csv\"\nstate x' = 1\nstart { x = 0 }\n", "=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_argument), cmocka_unit_test(two_arguments),
        cmocka_unit_test(rolling),      cmocka_unit_test(bead),
        cmocka_unit_test(bad_tables),   cmocka_unit_test(another_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
