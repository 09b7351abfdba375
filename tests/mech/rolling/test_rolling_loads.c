/* Formulation `rolling`: further forces and torques, and friction that is not enough. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>

#define BALL "ground plane\nbody sphere(0.1) { mass 2; uniform }\n"
#define STONE "ground plane\nbody ellipsoid(0.12, 0.1, 0.09) { mass 1; uniform }\n"

/* The value `error` of the model vanishes throughout. */
static void vanishes(const char *what, const char *text, double until)
{
    motion m = motion_text(text, NULL);
    double worst = 0;
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(motion_to(&m, until * i / 20), NS_OK);
        worst = fmax(worst, fabs(motion_get(&m, "error")));
    }
    print_message("%s: %.1e\n", what, worst);
    assert_true(worst < 1e-13);
    assert_false(m.model->system->conservative);
    motion_close(&m);
}

static void closed_forms(void **state)
{
    (void)state;
    vanishes("constant force",
             BALL "load { force [3, 0, 0] }\nstart { omega [0, 0, 1] }\n"
                  "observe error = com.x - 5*3/(7*2)*t^2/2\n",
             4);
    vanishes("spring",
             "param k = 8\n" BALL "load { force -k*[com.x, com.y, 0] }\n"
             "start { contact [0.5, 0]; omega [1, 0, 1] }\n"
             "observe error = com.x - 0.5*cos(sqrt(5*k/(7*2))*t)\n",
             10);
    /* rolling and spinning resistance */
    vanishes("resistance",
             "param c = 0.02\n" BALL "load { torque -c*omega }\n"
             "start { omega.space [0, 10, 5] }\n"
             "observe error = velocity.x - exp(-c/(7/5*2*0.1^2)*t)\n",
             2);
    vanishes("spinning",
             "param c = 0.02\n" BALL "load { torque.space [0, 0, -c*dot(omega, vertical)] }\n"
             "load { torque -c*omega }\n"
             "start { omega.space [0, 10, 5] }\n"
             "observe error = omega.space.z - 5*exp(-2*c/(2/5*2*0.1^2)*t)\n",
             2);
}

/* The same force and torque given in the body frame and in space: `vertical` is in the
 * body's. */
static void frames(void **state)
{
    (void)state;
    static const char start[] = "start { omega [1, 2, 3] }\n";
    char a[300], b[300];
    snprintf(a, sizeof a, "%sload { force.body 3*vertical; torque 0.1*vertical }\n%s", STONE,
             start);
    snprintf(b, sizeof b, "%sload { force [0, 0, 3]; torque.space [0, 0, 0.1] }\n%s", STONE,
             start);
    motion m = motion_text(a, NULL), n = motion_text(b, NULL);
    motion_to(&m, 5);
    motion_to(&n, 5);
    double off = motion_difference(&m, &n, "quat, omega, com, force");
    print_message("body and space: %.1e\n", off);
    assert_true(off < 1e-12);
    motion_close(&m);
    motion_close(&n);
}

/* A growing push needs the friction 2/7 F, which mu N = mu m g ends. */
static void slip(void **state)
{
    (void)state;
    motion m = motion_text("ground plane { mu 0.1; slip stop }\n"
                           "body sphere(0.1) { mass 2; uniform }\nload { force [2*t, 0, 0] }\n"
                           "start { omega [0, 0, 1] }\n",
                           NULL);
    assert_int_equal(motion_to(&m, 10), NS_STOP_EVENT);
    assert_true(fabs(m.t - 0.1 * 2 * 9.81 * 7 / 2 / 2) < 1e-12);
    motion_close(&m);
}

/* Rates of states and values on grounds that move: Newton's law, and the contact's velocity by
 * the ground's coordinates. */
static void rates_on_moving_grounds(void **state)
{
    (void)state;
    static const char *const grounds[] = {
        "ground plane { turn [0, 0, 1], 2*t }\n",
        "ground plane { tilt 5 deg; origin [0.1*sin(3*t), 0, 0]; turn [0, 1, 1], sin(t) }\n",
        "ground height(0.3*x^2 + 0.1*y^2) { turn [0, 0, 1], 2*t }\n",
        "ground sphere(1) { side inside; turn [0, 0, 1], 2*t; origin [0, 0, 1] }\n",
    };
    static const char *const errors[] = {
        "norm(com'' - force/2 + [0, 0, 9.81])",
        "norm(com' - velocity)",
        "norm(velocity' - com'')",
    };
    char text[600];
    for (size_t i = 0; i < sizeof grounds / sizeof *grounds; i++)
        for (size_t k = 0; k < 3; k++) {
            snprintf(text, sizeof text,
                     "%sbody sphere(0.1) { mass 2; uniform }\n"
                     "start { omega [1, 2, 3] }\nobserve error = %s\n",
                     grounds[i], errors[k]);
            vanishes("moving ground", text, 1);
        }
    vanishes(
        "coordinates of the ground",
        "let a = 2*t\nground plane { turn [0, 0, 1], a }\nbody sphere(0.1) { mass 2; uniform "
        "}\n"
        "start { omega [1, 2, 3]; contact [0.3, 0.1] }\n"
        "observe error = contact.x' - cos(a)*(ground.u' - 2*ground.v) + sin(a)*(ground.v' + "
        "2*ground.u)\n",
        1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(frames),
        cmocka_unit_test(slip),
        cmocka_unit_test(rates_on_moving_grounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
