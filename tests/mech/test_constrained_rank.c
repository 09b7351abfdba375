/* Ranks: at the start, at every step, at a moment inside a step; dependent rows by name;
 * contradictions refused. */
#include "mech/test_constrained_motion.h"

static const ns_outcome *outcome(motion *m, double t)
{
    go(m, t);
    return ns_run_outcome(m->run);
}

/* Udwadia and Mogharabin 2021: 9 rows of rank 8 and 10 coordinates, 12 of rank 11 and 13. */
static void test_spheres(void **state)
{
    (void)state;
    motion one = begin(GROUND UNIFORM ROLLS ENERGY START);
    const ns_outcome *o = outcome(&one, 3);
    assert_int_equal(o->rank_rows, 9);
    assert_int_equal(o->rank_A[0], 8);
    assert_int_equal(o->rank_A[1], 8);
    assert_int_equal(o->rank_all[0], 10);
    assert_int_equal(o->rank_coordinates, 10);
    assert_int_equal(o->n_events, 0);
    end(&one);
}

static void test_check(void **state)
{
    (void)state;
    motion m = begin(GROUND UNIFORM ROLLS "constraint twice: 3*G(P) = 0\n" START);
    const ns_system *s = m.model->system;
    ns_rank_facts ranks = {.lines = ns_text_new(s->arena)};
    s->formulation->ranks(s, 0, m.model->p, m.model->x0, &ranks);
    const char *lines = ns_text_string(&ranks.lines);
    assert_int_equal(ranks.at.n, 2);
    assert_int_equal(ranks.at.at[0].rank, 7);
    assert_int_equal(ranks.at.at[0].full, 9);
    assert_int_equal(ranks.at.at[1].rank, 10);
    assert_int_equal(ranks.at.at[1].full, 10);
    assert_non_null(strstr(lines, "rank A           7 of 9 rows"));
    assert_non_null(strstr(lines, "10 of 10 coordinates"));
    assert_non_null(strstr(lines, "twice follows from on\n"));
    assert_non_null(strstr(lines, "noslip.3 follows from on, touch.1, touch.3, noslip.1\n"));
    end(&m);
}

/* A parallelogram with rods 1, 2, 1 turns at 1 rad/s through its dead points: there the three
 * rods lie in a line and one of the rows follows from the others. */
static void test_dead_point(void **state)
{
    (void)state;
    motion m = begin("param g = 0\nparticle A { mass 1 }\nparticle B { mass 1 }\n"
                     "constraint a: rod(A, [0, 0, 0], 1)\nconstraint b: rod(B, [2, 0, 0], 1)\n"
                     "constraint c: rod(A, B, 2)\nconstraint flat: [A.y, B.y] = [0, 0]\n"
                     "start { A = [0.6, 0, 0.8]; B = [2.6, 0, 0.8]; A' = [0.8, 0, -0.6]\n"
                     "B' = [0.8, 0, -0.6] }\nrun { until 5 }\n");
    const ns_outcome *o = outcome(&m, 5);
    const double pi = 3.14159265358979312, angle = atan2(0.8, 0.6);
    assert_int_equal(o->rank_A[0], 4);
    assert_int_equal(o->rank_A[1], 5);
    assert_int_equal(o->rank_all[0], 6);
    assert_int_equal(o->n_events, 2);
    for (int k = 0; k < 2; k++) {
        assert_string_equal(m.model->system->events.at[o->events[k].event].name, "rank");
        below(fabs(o->events[k].t - angle - k * pi), 1e-7, "time of the dead point");
    }
    below(fabs(get(&m, "A.x") - cos(angle - 5)), 1e-11, "uniform rotation");
    end(&m);
}

/* Q = 1/P has no mass; as P goes to zero at 1 s its acceleration is no longer determined. */
static void test_lost(void **state)
{
    (void)state;
    motion m = begin("particle P { mass 1 }\nparticle Q { mass 0 }\nconstraint h: P.z = 0\n"
                     "constraint q: [Q.y, Q.z] = [0, 0]\nconstraint x: P.x*Q.x = 1\n"
                     "start { P = [1, 0, 0]; P' = [-1, 0, 0] }\nrun { until 5 }\n");
    assert_int_equal(ns_run_to(m.run, 5), NS_STOP_SINGULAR);
    const ns_outcome *o = ns_run_outcome(m.run);
    assert_true(o->t > 0.9 && o->t <= 1);
    if (!strstr(o->reason, "Q.x") || !strstr(o->reason, "rank [M | A^T]"))
        fail_msg("%s", o->reason);
    end(&m);
}

static void test_refused(void **state)
{
    (void)state;
    /* demands that differ: 0 and 1 m/s^2 */
    refused("particle P { mass 1 }\nconstraint a: P.x = 0\nconstraint b: P.x' = t\n"
            "run { until 1 }\n",
            "`b` contradicts `a`: at the start the accelerations they demand differ by 1", "?");
    refused("particle P { mass 0 }\nconstraint a: P.x + P.y = 0\nrun { until 1 }\n",
            "rank [M | A^T] is 1, not 3", "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spheres),    cmocka_unit_test(test_check),
        cmocka_unit_test(test_dead_point), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
