/* Formulation `rolling`: one motion by two routes.  The same body or ground in other words, an
 * edge as the limit of thin tori, the reduced system, another formulation. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* What both routes must agree on. */
#define ALL "quat, omega, com, contact, force, energy, force.normal, force.friction"

/* Largest difference over [0, until]. */
static double apart(motion *a, motion *b, double until, const char *names)
{
    double worst = motion_difference(a, b, names);
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(motion_to(a, until * i / 20), NS_OK);
        assert_int_equal(motion_to(b, until * i / 20), NS_OK);
        worst = fmax(worst, motion_difference(a, b, names));
    }
    return worst;
}

static double two(const char *first, const char *second, double until, const char *names)
{
    motion a = motion_text(first, NULL), b = motion_text(second, NULL);
    double worst = apart(&a, &b, until, names);
    motion_close(&a);
    motion_close(&b);
    return worst;
}

static void agree(const char *what, double worst, double tolerance)
{
    print_message("%s: %.1e\n", what, worst);
    if (!(worst < tolerance))
        fail_msg("%s: the two differ by %.1e", what, worst);
}

/* MODEL(ground, body, start) */
static void write(char *text, size_t size, const char *ground, const char *body,
                  const char *mass, const char *start)
{
    snprintf(text, size, "ground %s\nbody %s { %s }\nstart { %s }\n", ground, body, mass,
             start);
}

/* ---- bodies ------------------------------------------------------------------------------ */

#define LOADED                                                                                 \
    "mass 1; com [0.01, -0.02, 0.015]; "                                                       \
    "inertia 1e-3*[[4, 0.1, -0.2], [0.1, 5, 0.3], [-0.2, 0.3, 6]]"

/* Charts are singular at their poles, y = 0 and x = 0 at v = +-pi/2; the starts stay away. */
static void sphere_in_other_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        "ellipsoid(0.1, 0.1, 0.1)",
        "superellipsoid(0.1, 0.1, 0.1, 2)",
        "implicit(x^2 + y^2 + z^2 - 0.01)",
        "implicit(exp(100*(x^2 + y^2 + z^2)) - exp(1))",
        "revolution(sqrt(0.01 - z^2))",
        "parametric(0.1*[cos(v)*cos(u), cos(v)*sin(u), sin(v)])",
        "parametric(0.1*[sin(v), cos(v)*cos(u), cos(v)*sin(u)])",
    };
    static const char start[] = "quat [0.9, 0.3, -0.2, 0.25]; omega [1, 2, 3]";
    char sphere[500], other[500];
    write(sphere, sizeof sphere, "plane", "sphere(0.1)", LOADED, start);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        write(other, sizeof other, "plane", words[i], LOADED, start);
        agree(words[i], two(sphere, other, 10, ALL), 1e-11);
    }
}

static void ellipsoid_in_other_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        "implicit((x/0.25)^2 + (y/0.18)^2 + (z/0.12)^2 - 1)",
        "implicit(log((x/0.25)^2 + (y/0.18)^2 + (z/0.12)^2))",
        "superellipsoid(0.25, 0.18, 0.12, 2)",
        "parametric([0.25*cos(v)*cos(u), 0.18*cos(v)*sin(u), 0.12*sin(v)])",
        "parametric([0.25*sin(v), 0.18*cos(v)*cos(u), 0.12*cos(v)*sin(u)])",
    };
    static const char start[] = "quat [0.9, 0.3, -0.2, 0.25]; omega [1.2, -0.8, 2.5]";
    static const char mass[] =
        "mass 1.5; com [0.02, -0.015, 0.01]; "
        "inertia [[0.016, 0.0011, -0.0007], [0.0011, 0.024, 0.0009], [-0.0007, 0.0009, 0.029]]";
    char text[500], other[500];
    write(text, sizeof text, "plane", "ellipsoid(0.25, 0.18, 0.12)", mass, start);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        write(other, sizeof other, "plane", words[i], mass, start);
        agree(words[i], two(text, other, 10, ALL), 1e-11);
    }
    /* (14) against (12): the reduced system has no place and no orientation */
    write(other, sizeof other, "plane", "ellipsoid(0.25, 0.18, 0.12)",
          "reduced; mass 1.5; com [0.02, -0.015, 0.01]; inertia [[0.016, 0.0011, -0.0007], "
          "[0.0011, 0.024, 0.0009], [-0.0007, 0.0009, 0.029]]",
          start);
    agree("reduced system", two(text, other, 10, "omega, s, vertical, energy, force.normal"),
          1e-11);
}

static void torus_and_egg(void **state)
{
    (void)state;
    static const char start[] = "tilt 70 deg; omega [0.1, 0.3, 4]";
    char text[600], other[600];
    write(text, sizeof text, "plane", "torus(0.3, 0.1)", "mass 1; uniform", start);
    static const char mass[] =
        "mass 1; inertia [[0.05125, 0, 0], [0, 0.05125, 0], [0, 0, 0.0975]]";
    write(other, sizeof other, "plane",
          "parametric([(0.3 + 0.1*cos(v))*cos(u), (0.3 + 0.1*cos(v))*sin(u), 0.1*sin(v)])",
          mass, start);
    agree("torus as a chart", two(text, other, 10, ALL), 1e-11);
    write(other, sizeof other, "plane",
          "implicit((x^2 + y^2 + z^2 + 0.3^2 - 0.1^2)^2 - 4*0.3^2*(x^2 + y^2))", mass, start);
    agree("torus as a polynomial", two(text, other, 10, ALL), 1e-11);

    static const char small[] = "mass 0.06; com [0, 0, -0.001]; "
                                "inertia 1e-5*[[1.5, 0, 0], [0, 1.5, 0], [0, 0, 1.1]]";
    static const char spun[] = "tilt 80 deg; omega [1, 5, 3]";
    write(text, sizeof text, "plane", "egg(0.03, 0.02, 0.2)", small, spun);
    write(other, sizeof other, "plane",
          "revolution(0.02*sqrt((1 - (z/0.03)^2)/(1 + 0.2*z/0.03)))", small, spun);
    agree("egg as a profile", two(text, other, 10, ALL), 1e-11);
}

/* ---- edges ------------------------------------------------------------------------------- */

static void disk_in_other_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        "edge([0.1*cos(u), 0.1*sin(u), 0])",
        "edge([0.1*cos(2*u + 1), 0.1*sin(2*u + 1), 0])",
        "rim(0.1, 0)",
        "cylinder(0.1, 0)",
        "cone(0.1, 0)",
    };
    static const char mass[] = "mass 0.5; com [0.03, 0, 0]; "
                               "inertia [[0.0012, 0, 0], [0, 0.0009, 0], [0, 0, 0.0021]]";
    static const char start[] = "tilt 1.2; turn 0.3; omega [0.2, 0.5, 12]";
    char disk[500], other[500];
    write(disk, sizeof disk, "plane", "disk(0.1)", mass, start);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        write(other, sizeof other, "plane", words[i], mass, start);
        agree(words[i], two(disk, other, 10, ALL), 1e-11);
    }
    /* a can that stands on its other end; the glass is a rim out of the plane of the centre */
    static const char spinning[] = "tilt 25 deg; omega [0, 0.3, -0.3]";
    char a[500], b[500];
    write(a, sizeof a, "plane", "cylinder(2, 2)", "mass 1; uniform", spinning);
    write(b, sizeof b, "plane", "rim(2, -1)",
          "mass 1; inertia [[4/3, 0, 0], [0, 4/3, 0], [0, 0, 2]]", spinning);
    agree("can as a rim", two(a, b, 10, ALL), 1e-11);
    write(b, sizeof b, "plane", "cylinder(2, 2)", "mass 1; uniform; contact top",
          "roll 205 deg; omega [0, -0.3, 0.3]");
    agree("can upside down", two(a, b, 10, "com, contact, energy, force.normal"), 1e-11);
}

/* The falling disk of Bloch, Marsden and Zenkov, Quasivelocities and symmetries in nonholonomic
 * systems, 6.5, with multipliers.  Their theta is the lean from the vertical, phi the heading,
 * psi the rolling angle; at phi = psi = 0 the disk runs along -x and its axis is y, lifted by
 * the lean. */
static void falling_disk(void **state)
{
    (void)state;
    static const char multipliers[] =
        "param m = 0.5, R = 0.1, g = 9.81, A = m*R^2/4, B = m*R^2/2\n"
        "coordinate theta, psi, phi, x, y\n"
        "let zeta1 = x'*cos(phi) + y'*sin(phi) + R*psi'\n"
        "let zeta2 = -x'*sin(phi) + y'*cos(phi)\n"
        "let spin = phi'*sin(theta) + psi'\n"
        "lagrangian m/2*((zeta1 - R*spin)^2 + zeta2^2*sin(theta)^2 +\n"
        "    (zeta2*cos(theta) + R*theta')^2) +\n"
        "    (A*(theta'^2 + phi'^2*cos(theta)^2) + B*spin^2)/2 - m*g*R*cos(theta)\n"
        "constraint x' = -psi'*R*cos(phi)\n"
        "constraint y' = -psi'*R*sin(phi)\n"
        "start { theta = 0.3; psi = 0; phi = 0; x = 0; y = 0\n"
        "        theta' = 0; psi' = 8; phi' = 1; x' = -0.8 }\n";
    static const char edge[] = "param turning = 1, rolling = 8, lean = 0.3\n"
                               "ground plane\n"
                               "body disk(0.1) { mass 0.5; uniform }\n"
                               "start {\n"
                               "    tilt 90 deg - lean\n"
                               "    omega [0, turning*cos(lean), rolling + turning*sin(lean)]\n"
                               "}\n";
    motion a = motion_text(multipliers, NULL), b = motion_text(edge, NULL);
    double worst = 0;
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(motion_to(&a, 0.5 * i), NS_OK);
        assert_int_equal(motion_to(&b, 0.5 * i), NS_OK);
        double x = motion_get(&a, "x"), y = motion_get(&a, "y");
        double height = 0.1 * cos(motion_get(&a, "theta"));
        worst = fmax(worst, fabs(motion_get(&b, "contact.x") - x));
        worst = fmax(worst, fabs(motion_get(&b, "contact.y") - y));
        worst = fmax(worst, fabs(motion_get(&b, "com.z") - height));
        worst = fmax(worst, fabs(motion_get(&b, "energy") - motion_get(&a, "energy")));
    }
    agree("falling disk with multipliers", worst, 1e-11);
    motion_close(&a);
    motion_close(&b);
}

/* A torus with a thinner and thinner tube, of the same outer radius and mass properties: the
 * difference from the disk falls with the first power of the tube's radius. */
static void thin_torus(void **state)
{
    (void)state;
    static const char mass[] = "mass 0.5; inertia [[0.00125, 0, 0], [0, 0.00125, 0], "
                               "[0, 0, 0.0025]]";
    static const char start[] = "tilt 1.2; turn 0.3; omega [0.5, 2, -5]";
    char disk[500], torus[500], shape[64];
    double off[12], com[12], order = 0;
    write(disk, sizeof disk, "plane", "disk(0.1)", mass, start);
    for (int i = 0; i < 12; i++) {
        double tube = 1e-3 * pow(0.5, i);
        snprintf(shape, sizeof shape, "torus(0.1 - %.17g, %.17g)", tube, tube);
        write(torus, sizeof torus, "plane", shape, mass, start);
        motion a = motion_text(disk, NULL), b = motion_text(torus, NULL);
        off[i] = apart(&a, &b, 2, "quat, com");
        com[i] = motion_get(&b, "com.x") - motion_get(&a, "com.x");
        motion_close(&a);
        motion_close(&b);
        order = i ? log2(off[i - 1] / off[i]) : 0;
        print_message("tube %.2e m: off by %.3e, order %.4f\n", tube, off[i], order);
    }
    assert_true(fabs(order - 1) < 1e-3);
    /* Extrapolated to no tube, from three radii.  A tube of 5e-7 m has a curvature of 2e6/m,
     * which costs that many rounding errors of 1e-16. */
    double limit = (8 * com[11] - 6 * com[10] + com[9]) / 3;
    print_message("com at 2 s: off by %.1e, extrapolated %.1e\n", com[11], limit);
    assert_true(fabs(com[11]) > 1e-6 && fabs(limit) < 1e-9);
}

/* ---- grounds ----------------------------------------------------------------------------- */

static void plane_in_other_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        "height(0)",
        "height(0*x)",
        "implicit(z)",
        "implicit(exp(z) - 1)",
        "parametric([u, v, 0])",
        "parametric([u + v^3/3, v, 0])",
        "extruded(u, 0)",
        "paraboloid(0)",
        "plane { turn [0, 0, 1], 0*t }",
    };
    static const char start[] =
        "quat [0.9, 0.3, -0.2, 0.25]; omega [1, 2, 3]; contact [0.1, 0.2%s]";
    char text[500], other[500], at[200];
    snprintf(at, sizeof at, start, "");
    write(text, sizeof text, "plane", "ellipsoid(0.12, 0.1, 0.09)", LOADED, at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(at, sizeof at, start, words[i][0] == 'i' ? ", 0" : "");
        write(other, sizeof other, words[i], "ellipsoid(0.12, 0.1, 0.09)", LOADED, at);
        agree(words[i], two(text, other, 10, ALL), 1e-11);
    }
    /* tilted: three descriptions */
    static const char *const tilted[] = {
        "plane { tilt 0.2; heading 0.5 }",
        "height(-tan(0.2)*(x*cos(0.5) + y*sin(0.5)))",
        "implicit(z*cos(0.2) + sin(0.2)*(x*cos(0.5) + y*sin(0.5)))",
    };
    static const char spin[] =
        "quat [0.9, 0.3, -0.2, 0.25]; omega [1, 2, 3]; contact [0, 0, 0]";
    write(text, sizeof text, tilted[0], "ellipsoid(0.12, 0.1, 0.09)", LOADED, spin);
    for (int i = 1; i < 3; i++) {
        write(other, sizeof other, tilted[i], "ellipsoid(0.12, 0.1, 0.09)", LOADED, spin);
        agree(tilted[i], two(text, other, 5, ALL), 1e-11); /* by then it turns at 53 rad/s */
    }
}

static void bowls_in_other_words(void **state)
{
    (void)state;
    static const char start[] =
        "contact [0.3, 0, -0.4]; omega [3, 5, 2]; quat [1, 0.2, 0.3, 0.4]";
    static const char *const sphere[] = {
        "sphere(0.5) { side inside }",
        "implicit(x^2 + y^2 + z^2 - 0.25) { side inside }",
        "implicit(0.25 - x^2 - y^2 - z^2)",
        "height(-sqrt(0.25 - x^2 - y^2))",
        "parametric(0.5*[sin(v)*cos(u), sin(v)*sin(u), -cos(v)]) { side inside }",
    };
    char text[500], other[500];
    write(text, sizeof text, sphere[0], "sphere(0.1)", LOADED, start);
    for (int i = 1; i < 5; i++) {
        write(other, sizeof other, sphere[i], "sphere(0.1)", LOADED, start);
        agree(sphere[i], two(text, other, 10, ALL), 1e-11);
    }
    /* paraboloid, and on it a disk (which lies flat at 8.76 s) */
    static const char flat[] = "contact [0.2, 0.1]; tilt 70 deg; omega [0.5, 1, 5]";
    static const char *const bodies[] = {"ellipsoid(0.12, 0.1, 0.09)", "disk(0.1)"};
    static const char *const masses[] = {LOADED, "mass 1; uniform"};
    static const double until[] = {10, 4};
    for (int k = 0; k < 2; k++) {
        write(text, sizeof text, "paraboloid(0.7)", bodies[k], masses[k], flat);
        write(other, sizeof other, "height(0.7*(x^2 + y^2))", bodies[k], masses[k], flat);
        agree("paraboloid as a height", two(text, other, until[k], ALL), 1e-11);
        write(other, sizeof other, "parametric([u*cos(v), u*sin(v), 0.7*u^2])", bodies[k],
              masses[k], flat);
        agree("paraboloid as a chart", two(text, other, until[k], ALL), 1e-11);
        write(other, sizeof other, "implicit(z - 0.7*(x^2 + y^2))", bodies[k], masses[k],
              "contact [0.2, 0.1, 0.7*0.05]; tilt 70 deg; omega [0.5, 1, 5]");
        agree("paraboloid as an implicit surface", two(text, other, until[k], ALL), 1e-11);
    }
}

static void troughs_in_other_words(void **state)
{
    (void)state;
    static const char start[] = "contact [0.2, 0.1]; omega [3, 5, 2]; quat [1, 0.2, 0.3, 0.4]";
    char text[500], other[500];
    write(text, sizeof text, "height(0.3*cosh(x))", "sphere(0.1)", LOADED, start);
    write(other, sizeof other, "extruded(u, 0.3*cosh(u))", "sphere(0.1)", LOADED, start);
    agree("extruded from a graph", two(text, other, 10, ALL), 1e-11);
    write(other, sizeof other, "extruded(log(u), 0.15*(u + 1/u))", "sphere(0.1)", LOADED,
          start);
    agree("extruded with another parameter", two(text, other, 10, ALL), 1e-11);
    /* a pipe along y, from inside */
    static const char low[] =
        "contact [0.3, 0, -0.4]; omega [3, 5, 2]; quat [1, 0.2, 0.3, 0.4]";
    write(text, sizeof text, "cylinder(0.5) { axis [0, 1, 0]; side inside }", "sphere(0.1)",
          LOADED, low);
    write(other, sizeof other, "extruded(0.5*sin(u), -0.5*cos(u))", "sphere(0.1)", LOADED, low);
    agree("pipe as an extruded circle", two(text, other, 10, ALL), 1e-11);
    /* a funnel: cone with its axis vertical */
    write(text, sizeof text, "cone(40 deg) { side inside }", "sphere(0.1)", LOADED,
          "contact [0.5*tan(40 deg), 0, 0.5]; omega [3, 5, 2]; quat [1, 0.2, 0.3, 0.4]");
    write(other, sizeof other, "height(sqrt(x^2 + y^2)/tan(40 deg))", "sphere(0.1)", LOADED,
          "contact [0.5*tan(40 deg), 0]; omega [3, 5, 2]; quat [1, 0.2, 0.3, 0.4]");
    agree("funnel as a height", two(text, other, 5, ALL), 1e-11); /* errors grow 1e5 in 10 s */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_in_other_words),  cmocka_unit_test(ellipsoid_in_other_words),
        cmocka_unit_test(torus_and_egg),          cmocka_unit_test(disk_in_other_words),
        cmocka_unit_test(falling_disk),           cmocka_unit_test(thin_torus),
        cmocka_unit_test(plane_in_other_words),   cmocka_unit_test(bowls_in_other_words),
        cmocka_unit_test(troughs_in_other_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
