#include "mech/contact/law.h"

#include <string.h>

#include "mech/common/block.h"

const char *const ns_law_properties[] = {"friction",
                                         "resistance.rolling",
                                         "resistance.boring",
                                         "restitution",
                                         "restitution.tangential",
                                         "unilateral",
                                         "restitution.poisson",
                                         NULL};

static bool is_given(const ns_block *ground)
{
    for (uint32_t i = 0; ns_law_properties[i]; i++)
        if (ns_block_has(ground, ns_law_properties[i]))
            return true;
    return false;
}

static bool read_friction(ns_description *d, const ns_property *p, ns_law *law)
{
    static const struct {
        const char *name;
        ns_friction kind;
        uint32_t least, most;
        const char *form;
    } kinds[] = {
        {"none", NS_FRICTION_NONE, 0, 0, "none"},
        {"coulomb", NS_FRICTION_COULOMB, 1, 2, "coulomb(MU) or coulomb(STATIC, KINETIC)"},
        {"viscous", NS_FRICTION_VISCOUS, 1, 1, "viscous(C)"},
        {"contensou", NS_FRICTION_CONTENSOU, 2, 2, "contensou(MU, RADIUS)"},
    };
    for (size_t k = 0; p->word && k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(p->word, kinds[k].name) != 0)
            continue;
        if (p->values < kinds[k].least || p->values > kinds[k].most) {
            ns_diag_error(d->diag, p->value_span, "friction: expected %s", kinds[k].form);
            return false;
        }
        law->friction = kinds[k].kind;
        ns_ex value[2] = {0, 0};
        for (uint32_t i = 0; i < p->values; i++)
            if (!ns_block_scalar(d, p, i, &value[i]))
                return false;
        if (law->friction == NS_FRICTION_COULOMB) {
            law->fixed = value[0];
            law->moving = value[p->values - 1];
        } else if (law->friction == NS_FRICTION_VISCOUS) {
            law->viscous = value[0];
        } else if (law->friction == NS_FRICTION_CONTENSOU) {
            law->fixed = law->moving = value[0];
            law->radius = value[1];
        }
        return true;
    }
    ns_diag_error(d->diag, p->value_span,
                  "friction is `coulomb(MU)`, `coulomb(STATIC, KINETIC)`, `viscous(C)`, "
                  "`contensou(MU, RADIUS)` or `none`");
    return false;
}

bool ns_law_read(ns_description *d, const ns_block *ground, ns_law *law)
{
    *law = (ns_law){.any = is_given(ground)};
    if (!law->any)
        return true;
    for (uint32_t i = 0; ns_law_properties[i]; i++)
        law->given[i] = ns_block_find(ground, ns_law_properties[i]);
    law->poisson = law->given[6] != NULL;
    if (law->poisson && (law->given[3] || law->given[4])) {
        ns_diag_error(d->diag, law->given[6]->span,
                      "`restitution.poisson` goes without `restitution` (Newton's) and "
                      "`restitution.tangential`");
        return false;
    }
    ns_ex *const scalar[] = {NULL, &law->rolling, &law->boring, &law->normal, &law->tangential,
                             NULL, &law->normal};
    for (uint32_t i = 1; i < 7; i++)
        if (scalar[i] && law->given[i] && !ns_block_scalar(d, law->given[i], 0, scalar[i]))
            return false;
    if (law->given[5] && (law->given[5]->values || law->given[5]->word)) {
        ns_diag_error(d->diag, law->given[5]->value_span, "`unilateral` takes no value");
        return false;
    }
    const ns_property *ideal = ns_block_find(ground, "mu");
    if (ideal) {
        ns_diag_error(d->diag, ideal->span,
                      "`mu` watches an ideal contact; this one has a law of its own: write "
                      "`friction coulomb(MU)` instead");
        return false;
    }
    if (law->given[0] && !read_friction(d, law->given[0], law))
        return false;
    if (law->tangential &&
        (law->friction == NS_FRICTION_NONE || law->friction == NS_FRICTION_VISCOUS)) {
        ns_diag_error(d->diag, law->given[4]->span,
                      "tangential restitution needs friction that can hold at an impact: "
                      "`friction coulomb(MU)`, or none given");
        return false;
    }
    ns_graph *g = d->graph;
    if (!law->normal)
        law->normal = ns_zero(g);
    if (!law->tangential)
        law->tangential = ns_zero(g);
    if (!law->moving) /* where friction is not Coulomb's, none acts at an impact */
        law->fixed = law->moving = ns_zero(g);
    return true;
}

static double number(const ns_system *s, ns_ex e, const double *p)
{
    double value;
    ns_system_eval(s, &e, 1, 0, p, NULL, &value);
    return value;
}

bool ns_law_sizes(const ns_law *law, ns_diag *diag, const ns_system *s, const double *p)
{
    const struct {
        ns_ex e;
        uint32_t property;
        double most;
        const char *name;
    } all[] = {{law->fixed, 0, 1e300, "the coefficient of friction"},
               {law->moving, 0, 1e300, "the coefficient of friction"},
               {law->viscous, 0, 1e300, "the coefficient of viscous friction"},
               {law->radius, 0, 1e300, "the radius of the contact"},
               {law->rolling, 1, 1e300, "a length of resistance"},
               {law->boring, 2, 1e300, "a length of resistance"},
               {law->normal, law->poisson ? 6 : 3, 1, "a coefficient of restitution"},
               {law->tangential, 4, 1, "a coefficient of restitution"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const ns_property *given = law->given[all[i].property];
        if (!all[i].e || !given)
            continue;
        const double v = number(s, all[i].e, p);
        const double least = all[i].property == 4 ? -1 : 0;
        if (v >= least && v <= all[i].most)
            continue;
        ns_diag_error(diag, given->value_span, "%s must %s; it is %.6g", all[i].name,
                      all[i].most > 1 ? "not be negative"
                      : least < 0     ? "lie between -1 and 1"
                                      : "lie between 0 and 1",
                      v);
        return false;
    }
    if (law->friction != NS_FRICTION_COULOMB)
        return true;
    const double fixed = number(s, law->fixed, p), moving = number(s, law->moving, p);
    if (fixed >= moving)
        return true;
    ns_diag_error(diag, law->given[0]->value_span,
                  "friction: the static coefficient comes first and is not below the kinetic "
                  "one; they are %.6g and %.6g",
                  fixed, moving);
    return false;
}
