#include "lang/dimension/form.h"

#include <math.h>
#include <string.h>

/* Exponents are sums and products of a few small numbers: below this they are 0. */
static const double TINY = 1e-9;
/* No formula of a model has more terms; one that had would be an unknown of its own. */
enum { MOST_TERMS = 64 };

void ns_form_begin(ns_forms *f, ns_arena *arena)
{
    static const char *const bases[] = {"m", "kg", "s"};
    *f = (ns_forms){.arena = arena};
    for (uint32_t i = 0; i < NS_FORM_BASES; i++)
        NS_PUSH(arena, f->unknowns, (ns_form_unknown){.name = bases[i]});
}

static ns_form single(ns_forms *f, uint32_t of)
{
    ns_form_term *term = NS_NEW(f->arena, ns_form_term);
    *term = (ns_form_term){.of = of, .power = 1};
    return (ns_form){.at = term, .n = 1};
}

ns_form ns_form_new(ns_forms *f, const char *name, ns_span span)
{
    NS_PUSH(f->arena, f->unknowns, (ns_form_unknown){.name = name, .span = span});
    return single(f, f->unknowns.n - 1);
}

ns_form ns_form_add(ns_forms *f, ns_form a, double factor, ns_form b)
{
    if (b.n == 0 || factor == 0)
        return a;
    if (a.n + b.n > MOST_TERMS)
        return ns_form_new(f, NULL, (ns_span){0});
    ns_form_term *at = NS_NEW_ARRAY(f->arena, ns_form_term, a.n + b.n);
    uint32_t n = 0, i = 0, k = 0;
    while (i < a.n || k < b.n) {
        const bool left = i < a.n && (k == b.n || a.at[i].of <= b.at[k].of);
        const bool right = k < b.n && (i == a.n || b.at[k].of <= a.at[i].of);
        const uint32_t of = left ? a.at[i].of : b.at[k].of;
        const double power = (left ? a.at[i++].power : 0) +
                             (right ? factor * b.at[k++].power : 0);
        if (fabs(power) > TINY)
            at[n++] = (ns_form_term){.of = of, .power = power};
    }
    return (ns_form){.at = at, .n = n};
}

ns_form ns_form_scale(ns_forms *f, double factor, ns_form a)
{
    return ns_form_add(f, (ns_form){0}, factor, a);
}

/* With what is known put in the place of unknowns. */
static ns_form resolve(ns_forms *f, ns_form a)
{
    for (uint32_t i = a.n; i-- > 0;) {
        const ns_form_term term = a.at[i];
        const ns_form_unknown *u = &f->unknowns.at[term.of];
        if (!u->known)
            continue;
        a = ns_form_add(f, ns_form_add(f, a, -term.power, single(f, term.of)), term.power,
                        u->value);
        i = a.n; /* once more: values have unknowns of their own, never in a circle */
    }
    return a;
}

bool ns_form_equal(ns_forms *f, ns_form a, ns_form b, ns_span where)
{
    const ns_form zero = resolve(f, ns_form_add(f, a, -1, b));
    if (zero.n == 0)
        return true;
    /* numbers without a name first: what a message can name stays unknown longest */
    uint32_t chosen = UINT32_MAX;
    for (uint32_t i = 0; i < zero.n; i++)
        if (zero.at[i].of >= NS_FORM_BASES &&
            (chosen == UINT32_MAX || !f->unknowns.at[zero.at[i].of].name))
            chosen = i;
    if (chosen == UINT32_MAX)
        return false;
    const ns_form_term term = zero.at[chosen];
    const ns_form rest = ns_form_add(f, zero, -term.power, single(f, term.of));
    ns_form_unknown *u = &f->unknowns.at[term.of];
    u->known = true;
    u->value = ns_form_scale(f, -1 / term.power, rest);
    u->where = where;
    return true;
}

bool ns_form_is_number(ns_forms *f, ns_form a)
{
    return resolve(f, a).n == 0;
}

bool ns_form_is_open(ns_forms *f, ns_form a)
{
    const ns_form known = resolve(f, a);
    return known.n && known.at[known.n - 1].of >= NS_FORM_BASES;
}

/* ---- units ------------------------------------------------------------------------------- */

/* One unit of the table of units.c, in bases: those of its SI unit. */
static ns_form of_si(ns_forms *f, const char *si)
{
    static const struct {
        const char *si;
        double power[NS_FORM_BASES];
    } table[] = {
        {"m", {1, 0, 0}},    {"kg", {0, 1, 0}},     {"s", {0, 0, 1}},  {"rad", {0, 0, 0}},
        {"N", {1, 1, -2}},   {"J", {2, 1, -2}},     {"W", {2, 1, -3}}, {"Pa", {-1, 1, -2}},
        {"1/s", {0, 0, -1}}, {"rad/s", {0, 0, -1}},
    };
    ns_form out = {0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (uint32_t k = 0; k < NS_FORM_BASES && strcmp(table[i].si, si) == 0; k++)
            out = ns_form_add(f, out, table[i].power[k], single(f, k));
    return out;
}

bool ns_form_of_unit(ns_forms *f, const char *unit, size_t length, ns_form *out)
{
    char *text = ns_arena_string(f->arena, unit, length);
    for (char *c = text; *c; c++)
        if (*c == ' ')
            *c = '*';
    *out = (ns_form){0};
    if (strcmp(text, "1") == 0)
        return true;
    ns_unit_product product;
    if (!ns_units_split(text, length, &product))
        return false;
    for (uint32_t i = 0; i < product.n; i++)
        *out = ns_form_add(f, *out, product.part[i].power, of_si(f, product.part[i].unit->si));
    return true;
}

/* ---- for messages ------------------------------------------------------------------------ */

static void add_power(ns_text *text, const ns_form_unknown *u, bool base, double power)
{
    ns_text_addf(text, base ? "%s" : "[%s]", u->name ? u->name : "?");
    if (power != 1)
        ns_text_addf(text, floor(power) == power ? "^%g" : "^(%g)", power);
}

const char *ns_form_text(ns_forms *f, ns_form a)
{
    static const uint32_t order[] = {NS_FORM_KILOGRAM, NS_FORM_METRE, NS_FORM_SECOND};
    const ns_form known = resolve(f, a);
    ns_text text = ns_text_new(f->arena);
    bool some = false;
    if (known.n == 0)
        return "a number without unit";
    for (int sign = 1; sign >= -1; sign -= 2)
        for (uint32_t k = 0; k < NS_FORM_BASES + known.n; k++)
            for (uint32_t i = 0; i < known.n; i++) {
                const ns_form_term *term = &known.at[i];
                const bool base = term->of < NS_FORM_BASES;
                /* unknowns after the bases, each in its turn */
                if (term->power * sign <= 0 ||
                    (k < NS_FORM_BASES ? term->of != order[k] : base || k - NS_FORM_BASES != i))
                    continue;
                ns_text_add(&text, some ? (sign > 0 ? "*" : "/") : (sign > 0 ? "" : "1/"));
                add_power(&text, &f->unknowns.at[term->of], base, term->power * sign);
                some = true;
            }
    return ns_text_string(&text);
}
