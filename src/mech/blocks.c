#include "mech/blocks.h"

#include <stddef.h>

/* ---- units of properties and sizes ------------------------------------------------------- */

static const ns_unit_of of_bodies[] = {
    {"mass", "kg"}, {"inertia", "kg*m^2"}, {"com", "m"}, {"centre", "m"}, {NULL, NULL}};
static const ns_unit_of sizes_of_bodies[] = {
    {"sphere", "m"}, {"ellipsoid", "m"},  {"torus", "m"}, {"disk", "m"},
    {"hoop", "m"},   {"cylinder", "m"},   {"cone", "m"},  {"rim", "m"},
    {"box", "m"},    {"hemisphere", "m"}, {NULL, NULL}};
static const ns_unit_of of_solids[] = {
    {"mass", "kg"}, {"density", "kg/m^3"}, {"at", "m"}, {NULL, NULL}};
static const ns_unit_of of_particles[] = {{"mass", "kg"}, {NULL, NULL}};
static const ns_unit_of of_springs[] = {
    {"stiffness", "N/m"}, {"length", "m"}, {"damping", "N*s/m"}, {NULL, NULL}};
static const ns_unit_of of_grounds[] = {
    {"tilt", "1"}, {"heading", "1"}, {"mu", "1"}, {"restitution", "1"}, {NULL, NULL}};
static const ns_unit_of sizes_of_grounds[] = {
    {"sphere", "m"}, {"cylinder", "m"},     {"torus", "m"}, {"cone", "1"},
    {"height", "m"}, {"paraboloid", "1/m"}, {NULL, NULL}};
static const ns_unit_of of_gravity[] = {{"gravity", "m/s^2"}, {NULL, NULL}};
static const ns_unit_of of_contacts[] = {{"arm", "m"}, {NULL, NULL}};

/* ---- blocks ------------------------------------------------------------------------------ */

const ns_block_form ns_block_ground = {
    .keyword = "ground",
    .name = NS_PART_MAYBE,
    .kind = NS_PART_MUST,
    .body = NS_PART_MAYBE,
    .form = "ground [NAME] KIND[(ARGUMENTS)] [{ PROPERTY VALUE; ... }]",
    .help = "what bodies roll on",
    .calls = "friction",
    .units = of_grounds,
    .sizes = sizes_of_grounds,
};

const ns_block_form ns_block_body = {
    .keyword = "body",
    .name = NS_PART_MAYBE,
    .kind = NS_PART_MAYBE,
    .body = NS_PART_MAYBE,
    .form = "body [NAME] [KIND(ARGUMENTS)] [{ PROPERTY VALUE; ... }]",
    .help = "a rigid body",
    .units = of_bodies,
    .sizes = sizes_of_bodies,
    .points = "m",
};

const ns_block_form ns_block_solid = {
    .keyword = "solid",
    .kind = NS_PART_MUST,
    .body = NS_PART_MUST,
    .form = "solid KIND(SIZES) { PROPERTY VALUE; ... }",
    .help = "a part of the body: together they give mass, centre of mass and inertia",
    .units = of_solids,
    .sizes = sizes_of_bodies,
};

static const char *const of_rolling[] = {"omega", "Y", "Gamma", NULL};

const ns_block_form ns_block_rolling = {
    .keyword = "rolling",
    .body = NS_PART_MUST,
    .form = "rolling { arm VECTOR; variations WORD }",
    .help = "how a body given by its reduced Lagrangian touches the plane",
    .gives = of_rolling,
    .units = of_contacts,
};

const ns_block_form ns_block_contact = {
    .keyword = "contact",
    .name = NS_PART_MUST,
    .body = NS_PART_MUST,
    .form = "contact NAME { slip EXPR; normal EXPR; friction coulomb(STATIC, KINETIC) }",
    .help = "friction that holds or slides in one direction",
    .calls = "friction",
};

const ns_block_form ns_block_load = {
    .keyword = "load",
    .body = NS_PART_MUST,
    .form = "load { PROPERTY VALUE; ... }",
    .help = "a further force or torque on the body",
};

const ns_block_form ns_block_particle = {
    .keyword = "particle",
    .name = NS_PART_MUST,
    .body = NS_PART_MUST,
    .form = "particle NAME { PROPERTY VALUE; ... }",
    .help = "a point with a mass, which may be zero",
    .units = of_particles,
};

const ns_block_form ns_block_label = {
    .keyword = "label",
    .name = NS_PART_MUST,
    .body = NS_PART_MUST,
    .form = "label NAME { PROPERTY VALUE; ... }",
    .help = "a point of a body",
};

const ns_block_form ns_block_spring = {
    .keyword = "spring",
    .name = NS_PART_MAYBE,
    .body = NS_PART_MUST,
    .form = "spring [NAME] { PROPERTY VALUE; ... }",
    .help = "a spring between two points",
    .units = of_springs,
};

const ns_block_form ns_block_damper = {
    .keyword = "damper",
    .name = NS_PART_MAYBE,
    .body = NS_PART_MUST,
    .form = "damper [NAME] { PROPERTY VALUE; ... }",
    .help = "a damper between two points",
    .units = of_springs,
};

const ns_block_form ns_block_gravity = {
    .keyword = "gravity",
    .values = true,
    .form = "gravity EXPR",
    .help = "acceleration of free fall",
    .units = of_gravity,
};

const ns_block_form ns_block_frame = {
    .keyword = "frame",
    .body = NS_PART_MUST,
    .form = "frame { NAME = VECTOR; ... }",
    .help = "directions of quasivelocities",
};

const ns_block_form ns_block_symmetry = {
    .keyword = "symmetry",
    .kind = NS_PART_MAYBE,
    .body = NS_PART_MUST,
    .form = "symmetry [KIND] { PROPERTY VALUE; ... }",
    .help = "the group under which the system is invariant",
    .late = "map",
    .calls = "group",
};

const ns_block_form ns_block_algebra = {
    .keyword = "algebra",
    .kind = NS_PART_MUST,
    .body = NS_PART_MAYBE,
    .form = "algebra KIND[(ARGUMENTS)] [{ PROPERTY VALUE; ... }]",
    .help = "a Lie algebra",
    .velocities = true,
    .calls = "term",
};

const ns_block_form ns_block_solve = {
    .keyword = "solve",
    .kind = NS_PART_MUST,
    .body = NS_PART_MAYBE,
    .form = "solve KIND[(NAME = VALUE, ...)]",
    .help = "how accelerations are computed",
};

const ns_block_form *const ns_blocks[] = {
    &ns_block_ground,  &ns_block_body,     &ns_block_solid,   &ns_block_rolling,
    &ns_block_load,    &ns_block_particle, &ns_block_label,   &ns_block_spring,
    &ns_block_damper,  &ns_block_gravity,  &ns_block_frame,   &ns_block_symmetry,
    &ns_block_algebra, &ns_block_solve,    &ns_block_contact, NULL,
};
