/* Robots in URDF: they move as mechanics says, mistakes are told with their places, and damaged
 * files do no harm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "command/models/urdf.h"
#include "command/models/xml.h"
#include "support/motion.h"

static char *rover(size_t *length)
{
    char *text = NULL;
    assert_int_equal(ns_file_read(NS_TESTS_DIR "/cli/rover.urdf", 1 << 20, &text, length), 0);
    return text;
}

static const char *convert(ns_arena *arena, const char *text, const char **message,
                           ns_urdf_notes *notes)
{
    return ns_urdf_convert(arena, "robot.urdf", text, strlen(text), notes, message);
}

static bool noted(const ns_urdf_notes *notes, const char *words)
{
    for (uint32_t i = 0; i < notes->at.n; i++)
        if (strstr(notes->at.at[i], words))
            return true;
    return false;
}

/* With torques u on both wheels it drives straight: (M + 2 I/r^2) x'' = 2 u/r, and the motors
 * push the nose up, not the wheels down.  With opposite ones it turns on the spot about the
 * middle of the axle, where the caster slides. */
static void test_rover(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    size_t length;
    char *text = rover(&length);
    ns_urdf_notes notes = {0};
    const char *message, *model = convert(arena, text, &message, &notes);
    assert_non_null(model);
    assert_true(noted(&notes, "joint left: dry friction"));
    assert_true(noted(&notes, "moves freely"));
    motion m = motion_begin_until(motion_model_text(model, "u_left=0.01; u_right=0.01"), NULL,
                                  1);
    assert_int_equal(motion_to(&m, 1e-4), NS_OK);
    /* damping of one joint alone: at the beginning it does nothing yet */
    const double r = 0.05, mass = 5.5, I = 2.5e-4, a = 2 * 0.01 / r / (mass + 2 * I / r / r);
    const double v = motion_get(&m, "base_footprint.x'");
    assert_true(fabs(v - a * 1e-4) < 1e-4 * a * 1e-4);
    assert_true(fabs(motion_get(&m, "roll_left_wheel.force.z") +
                     motion_get(&m, "roll_right_wheel.force.z") +
                     motion_get(&m, "caster5.force.z") - mass * 9.81) < 1e-9);
    motion_close(&m);
    m = motion_begin_until(motion_model_text(model, "u_left=-0.01; u_right=0.01"), NULL, 1);
    assert_int_equal(motion_to(&m, 0.5), NS_OK);
    const double turn = 2 * atan2(motion_get(&m, "base_footprint.quat.z"),
                                  motion_get(&m, "base_footprint.quat.w"));
    assert_true(turn > 0.01);
    /* rolling: the angles of the wheels tell the turn, by the half track 0.16 */
    const double wheels = motion_get(&m, "at_right") - motion_get(&m, "at_left");
    assert_true(fabs(wheels * r / 0.32 - turn) < 1e-12);
    motion_close(&m);
    free(text);
    ns_arena_free(arena);
}

/* Two links on a wall: the same motion as from its Lagrangian. */
static void test_arm(void **state)
{
    (void)state;
    static const char urdf[] =
        "<robot name='arm'><link name='world'/>"
        "<link name='upper'><inertial><origin xyz='0 0 -0.3'/><mass value='2'/>"
        "<inertia ixx='0.02' ixy='0' ixz='0' iyy='0.03' iyz='0' izz='0.01'/></inertial></link>"
        "<link name='lower'><inertial><origin xyz='0 0 -0.2' rpy='0 0.3 0'/><mass value='1'/>"
        "<inertia ixx='0.02' ixy='0' ixz='0' iyy='0.01' iyz='0' izz='0.005'/></inertial></link>"
        "<joint name='shoulder' type='revolute'><origin xyz='0 0 1' rpy='0 1.1 0'/><parent "
        "link='world'/><child link='upper'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' "
        "effort='1' velocity='1'/></joint>"
        "<joint name='elbow' type='continuous'><origin xyz='0 0 -0.6' rpy='0 -0.4 0'/><parent "
        "link='upper'/><child link='lower'/><axis xyz='0 2 0'/><dynamics "
        "damping='0.1'/></joint>"
        "</robot>";
    static const char lagrange[] =
        "param g = 9.81\ncoordinate q, s\nlet a = q + 1.1, b = q + s + 0.7\n"
        "let x1 = -0.3*sin(a), z1 = -0.3*cos(a), x2 = -0.6*sin(a) - 0.2*sin(b), z2 = "
        "-0.6*cos(a) "
        "- 0.2*cos(b)\n"
        "lagrangian 2/2*(x1'^2 + z1'^2) + 0.03/2*a'^2 + 1/2*(x2'^2 + z2'^2) + 0.01/2*b'^2 - "
        "g*(2*z1 + z2)\n"
        "force s = -0.1*s'\nstart { q = 0; s = 0 }\n";
    ns_arena *arena = ns_arena_new();
    ns_urdf_notes notes = {0};
    const char *message, *model = convert(arena, urdf, &message, &notes);
    if (!model)
        fail_msg("%s", message);
    assert_true(noted(&notes, "joint shoulder: its limits"));
    motion m = motion_begin_until(motion_model_text(model, NULL), NULL, 1);
    motion l = motion_begin_until(motion_model_text(lagrange, NULL), NULL, 1);
    assert_int_equal(motion_to(&m, 0.7), NS_OK);
    assert_int_equal(motion_to(&l, 0.7), NS_OK);
    assert_true(fabs(motion_get(&m, "at_shoulder") - motion_get(&l, "q")) < 1e-11);
    assert_true(fabs(motion_get(&m, "at_elbow") - motion_get(&l, "s")) < 1e-11);
    motion_close(&m);
    motion_close(&l);
    ns_arena_free(arena);
}

/* A slider with a force on it. */
static void test_slider(void **state)
{
    (void)state;
    static const char urdf[] =
        "<robot><link name='world'/><link name='cart'><inertial><mass value='2'/><inertia "
        "ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link><joint name='rail' "
        "type='prismatic'><origin rpy='0.3 0 0.5'/><parent link='world'/><child link='cart'/>"
        "<axis xyz='1 0 0'/></joint></robot>";
    ns_arena *arena = ns_arena_new();
    ns_urdf_notes notes = {0};
    const char *message, *model = convert(arena, urdf, &message, &notes);
    if (!model)
        fail_msg("%s", message);
    motion m = motion_begin_until(motion_model_text(model, "u_rail=3"), NULL, 1);
    assert_int_equal(motion_to(&m, 1), NS_OK);
    assert_true(fabs(motion_get(&m, "at_rail") - 0.75) < 1e-13); /* u t^2/(2 m) */
    motion_close(&m);
    ns_arena_free(arena);
}

/* Angles in files are rounded, 1.57 for a right angle: the wheels tilt by 8e-4, and with a
 * caster the robot leans until all stand.  It rests, and what bears it is its weight. */
static void test_rounded(void **state)
{
    (void)state;
    static const char urdf[] =
        "<robot name='cart'><link name='base'><inertial><origin xyz='-0.02 0 0.03'/><mass "
        "value='0.8'/><inertia ixx='2e-3' ixy='0' ixz='0' iyy='2e-3' iyz='0' izz='2e-3'/>"
        "</inertial></link>"
        "<link name='left'><collision><geometry><cylinder length='0.02' radius='0.033'/>"
        "</geometry></collision><inertial><mass value='0.03'/><inertia ixx='1e-5' ixy='0' "
        "ixz='0' iyy='1e-5' iyz='0' izz='2e-5'/></inertial></link>"
        "<link name='right'><collision><geometry><cylinder length='0.02' radius='0.033'/>"
        "</geometry></collision><inertial><mass value='0.03'/><inertia ixx='1e-5' ixy='0' "
        "ixz='0' iyy='1e-5' iyz='0' izz='2e-5'/></inertial></link>"
        "<link name='ball'><collision><geometry><sphere radius='0.006'/></geometry></collision>"
        "</link>"
        "<joint name='l' type='continuous'><origin xyz='0 0.08 0.033' rpy='-1.57 0 0'/><parent "
        "link='base'/><child link='left'/><axis xyz='0 0 1'/></joint>"
        "<joint name='r' type='continuous'><origin xyz='0 -0.08 0.033' rpy='-1.57 0 "
        "0'/><parent "
        "link='base'/><child link='right'/><axis xyz='0 0 1'/></joint>"
        "<joint name='b' type='fixed'><origin xyz='-0.08 0 0.006' rpy='-1.57 0 0'/><parent "
        "link='base'/><child link='ball'/></joint></robot>";
    ns_arena *arena = ns_arena_new();
    ns_urdf_notes notes = {0};
    const char *message, *model = convert(arena, urdf, &message, &notes);
    if (!model)
        fail_msg("%s", message);
    motion m = motion_begin_until(motion_model_text(model, NULL), NULL, 1);
    assert_int_equal(motion_to(&m, 0.5), NS_OK);
    assert_true(fabs(motion_get(&m, "base.x'")) <
                1e-6); /* what the tilt drives: 8e-4 of 8e-4 */
    assert_true(fabs(motion_get(&m, "roll_left.force.z") +
                     motion_get(&m, "roll_right.force.z") + motion_get(&m, "caster4.force.z") -
                     0.86 * 9.81) < 1e-6);
    motion_close(&m);
    ns_arena_free(arena);
}

/* Names that mean something to the language, or to what is made of other names. */
static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"u_arm1", "at_arm1", "rate_arm1", "drive_arm1", "norm",
                                        "sqrt",   "cross",   "roll_x",    "caster3",    "input",
                                        "u-arm1", "_a",      "9x",        "integral",   "body"};
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "<robot><link name='world'/><link name='%s'><inertial><mass value='1'/><inertia "
            "ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link><joint "
            "name='%s' type='continuous'><parent link='world'/><child link='%s'/><axis "
            "xyz='0 1 0'/></joint></robot>",
            names[i / 2], i % 2 ? names[i / 2] : "arm1", names[i / 2]);
        ns_arena *arena = ns_arena_new();
        ns_urdf_notes notes = {0};
        const char *message, *model = convert(arena, text, &message, &notes);
        if (!model)
            fail_msg("%s", message);
        ns_model_free(motion_model_text(model, NULL));
        ns_arena_free(arena);
    }
}

static void test_messages(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "robot.urdf:1:1: error: expected an element"},
        {"hello", "robot.urdf:1:1: error: expected an element"},
        {"<robot>\n  <link name='a'>\n</robot>",
         "robot.urdf:3:8: error: expected `</link>`, of "
         "line 2"},
        {"<robot>\n <link name=a/></robot>", "robot.urdf:2:13: error: expected a value between "
                                             "quotes"},
        {"<robot><link name='a' name='b'/></robot>", "`name` is given twice"},
        {"<robot><link name='a&b;'/></robot>", "expected one of &lt;"},
        {"<!DOCTYPE r [<!ENTITY a 'b'>]><robot/>", "definitions are not read"},
        {"<robot/><robot/>", "there must be one element"},
        {"<sdf/>", "SDF is another format"},
        {"<robot/>", "robot.urdf:1:1: error: the robot has no links"},
        {"<robot><link/></robot>", "a link needs a name"},
        {"<robot><link name='a'/>\n<link name='a'/></robot>",
         "robot.urdf:2:1: error: there are "
         "two links `a`"},
        {"<robot><link name='a'/><link name='b'/></robot>", "hang together by no joint"},
        {"<robot><link name='a'/><joint name='j' type='bent'/></robot>", "not `bent`"},
        {"<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/><child "
         "link='q'/></joint></robot>",
         "that exist"},
        {"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent "
         "link='a'/><child link='b'/></joint><joint name='k' type='fixed'><parent "
         "link='b'/><child link='a'/></joint></robot>",
         "form a ring"},
        {"<robot><link name='a'><inertial><mass value='-1'/></inertial></link></robot>",
         "is negative"},
        {"<robot><link name='a'><inertial>\n<mass value='1 kg'/></inertial></link></robot>",
         "robot.urdf:2:1: error: `value` of <mass> expects 1 number, not `1 kg`"},
        {"<robot><link name='a'><inertial><mass value='nan'/></inertial></link></robot>",
         "expects 1 number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ns_arena *arena = ns_arena_new();
        ns_urdf_notes notes = {0};
        const char *message = "";
        assert_null(convert(arena, wrong[i].text, &message, &notes));
        if (!strstr(message, wrong[i].message))
            fail_msg("%s\nsays %s\nnot %s", wrong[i].text, message, wrong[i].message);
        ns_arena_free(arena);
    }
}

/* Names and titles of a hostile file stay what they are: no statements of the model, no
 * commands to a terminal; what would take hours is refused. */
static void test_hostile(void **state)
{
    (void)state;
    static const char urdf[] =
        "<robot name='a&quot;\nparam x = 1'><link name='b\nparam y = 2\n'/>"
        "<link name='c'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
        "</inertial></link><joint name='d\r\nparam z = 3' type='continuous'>"
        "<parent link='b param y = 2 '/><child link='c'/><limit lower='0' upper='1'/>"
        "<dynamics friction='1'/></joint></robot>";
    ns_arena *arena = ns_arena_new();
    ns_urdf_notes notes = {0};
    const char *message, *model = ns_urdf_convert(arena, "x/e\nparam w = 4\033[31m.urdf", urdf,
                                                  strlen(urdf), &notes, &message);
    if (!model)
        fail_msg("%s", message);
    assert_null(strstr(model, "\nparam"));
    assert_null(strchr(model, '\r'));
    assert_null(strchr(model, '\033'));
    assert_non_null(strstr(model, "# From e?param w = 4?[31m.urdf."));
    assert_null(convert(arena, "<robot><link name='\033[31m'/></robot>", &message, &notes));
    assert_non_null(strstr(message, "robot.urdf:1:20: error: a control character"));
    assert_null(convert(arena, "<robot>\n<l\xc3'/></robot>", &message, &notes));
    assert_non_null(strstr(message, "robot.urdf:2:3: error: this is not UTF-8"));
    assert_null(
        convert(arena, "<robot><link name='a\xe2\x80\xae'/></robot>", &message, &notes));
    assert_null(convert(arena,
                        "<robot><link name='a'/><link name='b'><inertial><mass value='1'/>"
                        "</inertial></link><joint name='j' type='continuous'><parent link='a'/>"
                        "<child link='b'/><axis xyz='1e300 0 0'/></joint></robot>",
                        &message, &notes));
    assert_non_null(strstr(message, "is larger than 1e+60"));
    ns_arena_free(arena);
}

/* A million attributes, or a hundred thousand links. */
static void test_many(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    char *text = malloc(20 * MANY + 100), *at = text + sprintf(text, "<robot");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, " a%d=''", i);
    strcpy(at, "/>");
    ns_arena *arena = ns_arena_new();
    ns_urdf_notes notes = {0};
    const char *message;
    assert_null(convert(arena, text, &message, &notes));
    assert_non_null(strstr(message, "too many attributes"));
    at = text + sprintf(text, "<robot>");
    for (int i = 0; i < MANY / 10; i++)
        at += sprintf(at, "<link name='%d'/>", i);
    strcpy(at, "</robot>");
    assert_null(convert(arena, text, &message, &notes));
    assert_non_null(strstr(message, "more than 1000 links"));
    ns_arena_free(arena);
    free(text);
}

static void test_depth(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    char *text = malloc(3 * DEEP + 1);
    for (int i = 0; i < DEEP; i++)
        memcpy(text + 3 * (size_t)i, "<a>", 3);
    text[3 * DEEP] = 0;
    ns_arena *arena = ns_arena_new();
    ns_urdf_notes notes = {0};
    const char *message;
    assert_null(convert(arena, text, &message, &notes));
    assert_non_null(strstr(message, "too deeply"));
    ns_arena_free(arena);
    free(text);
}

/* Every prefix, and every byte replaced: a model or a message, nothing else. */
static void test_damage(void **state)
{
    (void)state;
    static const char others[] = "<>/\"=& 9-\n";
    size_t length;
    char *text = rover(&length);
    char *damaged = malloc(length + 1);
    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < sizeof others; k++) {
            ns_arena *arena = ns_arena_new();
            ns_urdf_notes notes = {0};
            const char *message = NULL;
            memcpy(damaged, text, length);
            damaged[i] = others[k]; /* the last one is zero */
            const size_t part = k + 1 == sizeof others ? i : length;
            const char *model = ns_urdf_convert(arena, "robot.urdf", damaged, part, &notes,
                                                &message);
            assert_true((model != NULL) != (message != NULL));
            ns_arena_free(arena);
        }
    free(damaged);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rover),   cmocka_unit_test(test_arm),
        cmocka_unit_test(test_slider),  cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_messages),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_damage),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
