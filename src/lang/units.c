#include "lang/units.h"

#include <ctype.h>
#include <string.h>

/* Deliberately without `t` for the tonne: t is the time of every model, and 6 cm/t would be
 * read in silence as something else than its writer meant. */
const ns_unit ns_units[] = {
    {"m", 1, 1, 0, "m", "metre"},
    {"km", 1000, 1, 0, "m", "kilometre"},
    {"cm", 1, 100, 0, "m", "centimetre"},
    {"mm", 1, 1000, 0, "m", "millimetre"},
    {"um", 1, 1e6, 0, "m", "micrometre"},
    {"nm", 1, 1e9, 0, "m", "nanometre"},
    {"inch", 254, 10000, 0, "m", "inch"},
    {"ft", 3048, 10000, 0, "m", "foot"},
    {"s", 1, 1, 0, "s", "second"},
    {"ms", 1, 1000, 0, "s", "millisecond"},
    {"us", 1, 1e6, 0, "s", "microsecond"},
    {"min", 60, 1, 0, "s", "minute"},
    {"h", 3600, 1, 0, "s", "hour"},
    {"day", 86400, 1, 0, "s", "day"},
    {"kg", 1, 1, 0, "kg", "kilogram"},
    {"g", 1, 1000, 0, "kg", "gram"},
    {"mg", 1, 1e6, 0, "kg", "milligram"},
    {"tonne", 1000, 1, 0, "kg", "tonne"},
    {"lb", 45359237, 1e8, 0, "kg", "pound"},
    {"rad", 1, 1, 0, "rad", "radian"},
    {"mrad", 1, 1000, 0, "rad", "milliradian"},
    {"deg", 1, 180, 1, "rad", "degree"},
    {"arcmin", 1, 10800, 1, "rad", "minute of arc"},
    {"arcsec", 1, 648000, 1, "rad", "second of arc"},
    {"turn", 2, 1, 1, "rad", "full turn"},
    {"rpm", 1, 30, 1, "rad/s", "turns per minute"},
    {"Hz", 1, 1, 0, "1/s", "hertz, one per second"},
    {"N", 1, 1, 0, "N", "newton"},
    {"mN", 1, 1000, 0, "N", "millinewton"},
    {"kN", 1000, 1, 0, "N", "kilonewton"},
    {"MN", 1e6, 1, 0, "N", "meganewton"},
    {"J", 1, 1, 0, "J", "joule"},
    {"mJ", 1, 1000, 0, "J", "millijoule"},
    {"kJ", 1000, 1, 0, "J", "kilojoule"},
    {"W", 1, 1, 0, "W", "watt"},
    {"mW", 1, 1000, 0, "W", "milliwatt"},
    {"kW", 1000, 1, 0, "W", "kilowatt"},
    {"Pa", 1, 1, 0, "Pa", "pascal"},
    {"kPa", 1000, 1, 0, "Pa", "kilopascal"},
    {"MPa", 1e6, 1, 0, "Pa", "megapascal"},
    {"GPa", 1e9, 1, 0, "Pa", "gigapascal"},
    {"bar", 1e5, 1, 0, "Pa", "bar"},
    {NULL, 0, 0, 0, NULL, NULL},
};

/* The unit of this name (not zero-terminated), or NULL. */
static const ns_unit *find_unit(const char *name, size_t length)
{
    for (const ns_unit *unit = ns_units; unit->name; unit++)
        if (strlen(unit->name) == length && memcmp(unit->name, name, length) == 0)
            return unit;
    return NULL;
}

bool ns_units_split(const char *text, size_t length, ns_unit_product *out)
{
    size_t at = 0;
    int sign = 1;
    *out = (ns_unit_product){0};
    if (length >= 2 && text[0] == '1' && text[1] == '/') {
        at = 2;
        sign = -1;
    }
    for (;;) {
        if (out->n == NS_UNITS_MOST)
            return false;
        ns_unit_part *part = &out->part[out->n];
        part->begin = (uint32_t)at;
        while (at < length && (isalnum((unsigned char)text[at]) || text[at] == '_'))
            at++;
        part->end = (uint32_t)at;
        part->unit = find_unit(text + part->begin, at - part->begin);
        part->power = sign;
        if (!part->unit)
            return false;
        if (at < length && text[at] == '^') {
            at++;
            bool minus = at < length && text[at] == '-';
            at += minus;
            /* One digit: nothing physical needs more, and no factor can overflow. */
            if (at >= length || !isdigit((unsigned char)text[at]))
                return false;
            part->power *= (minus ? -1 : 1) * (text[at] - '0');
            at++;
        }
        if (at < length && text[at] != '*' && text[at] != '/')
            return false;
        out->n++;
        if (at == length)
            return true;
        sign = text[at] == '/' ? -1 : 1;
        at++;
    }
}

size_t ns_units_joined(const char *name)
{
    const size_t length = strlen(name);
    for (size_t cut = 1; cut < length; cut++)
        if (find_unit(name, cut) && find_unit(name + cut, length - cut))
            return cut;
    return 0;
}

static ns_ex apply(ns_graph *g, const ns_unit_product *unit, ns_ex x, int sign)
{
    ns_ex above = ns_one(g), below = ns_one(g);
    int pi = 0;
    for (uint32_t i = 0; i < unit->n; i++) {
        const ns_unit_part *part = &unit->part[i];
        int power = sign * part->power, size = power < 0 ? -power : power;
        ns_ex up = ns_powi(g, ns_number(g, part->unit->numerator), size);
        ns_ex down = ns_powi(g, ns_number(g, part->unit->denominator), size);
        above = ns_mul(g, above, power > 0 ? up : down);
        below = ns_mul(g, below, power > 0 ? down : up);
        pi += power * part->unit->pi;
    }
    if (pi > 0)
        above = ns_mul(g, above, ns_powi(g, ns_pi(g), pi));
    if (pi < 0)
        below = ns_mul(g, below, ns_powi(g, ns_pi(g), -pi));
    return ns_div(g, ns_mul(g, x, above), below);
}

ns_ex ns_units_multiply(ns_graph *g, const ns_unit_product *unit, ns_ex x)
{
    return apply(g, unit, x, 1);
}

ns_ex ns_units_divide(ns_graph *g, const ns_unit_product *unit, ns_ex x)
{
    return apply(g, unit, x, -1);
}

bool ns_units_coherent(const ns_unit_product *unit)
{
    for (uint32_t i = 0; i < unit->n; i++) {
        const ns_unit *u = unit->part[i].unit;
        if (u->numerator != u->denominator || u->pi)
            return false;
    }
    return true;
}

void ns_units_add_si(ns_text *out, const ns_unit_product *unit)
{
    bool some = false;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (uint32_t i = 0; i < unit->n; i++) {
            const ns_unit_part *part = &unit->part[i];
            int power = part->power * sign;
            if (power <= 0)
                continue;
            /* compounds in the table (rad/s) keep their meaning under powers and slashes */
            bool plain = !strchr(part->unit->si, '/') || (power == 1 && sign == 1 && !some);
            ns_text_add(out, some ? (sign > 0 ? "*" : "/") : (sign > 0 ? "" : "1/"));
            ns_text_addf(out, plain ? "%s" : "(%s)", part->unit->si);
            if (power > 1)
                ns_text_addf(out, "^%d", power);
            some = true;
        }
}
