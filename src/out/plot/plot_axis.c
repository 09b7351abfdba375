#include "out/plot/plot_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math/vecmath.h"

double ns_scale_map(const ns_scale *s, double value)
{
    if (s->log && !(value > 0))
        return NAN;
    double a = s->log ? ns_math_log10(s->from) : s->from,
           b = s->log ? ns_math_log10(s->to) : s->to;
    double v = s->log ? ns_math_log10(value) : value;
    return s->lo + (s->hi - s->lo) * ((v - a) / (b - a));
}

void ns_scale_fit(ns_scale *s, double lo, double hi, double pad)
{
    if (!(lo <= hi)) { /* no data */
        s->from = s->log ? 0.1 : 0;
        s->to = 1;
        return;
    }
    if (s->log) {
        double a = ns_math_log10(lo), b = ns_math_log10(hi),
               more = ns_max(pad * (b - a), b - a < 0.3 ? 0.3 : 0);
        s->from = ns_math_pow(10, a - more);
        s->to = ns_math_pow(10, b + more);
        return;
    }
    /* Differences that are all rounding are not blown up to the height of the panel. */
    double size = ns_max(fabs(lo), fabs(hi)), least = 1e-9 * size, span = hi - lo;
    double more = span > least ? pad * span : size > 0 ? 0.1 * size : 1;
    s->from = lo - more;
    s->to = hi + more;
}

static void superscript(char *out, int number)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", number);
    for (const char *c = plain; *c; c++) {
        const char *sign = *c == '-' ? "⁻" : digit[*c - '0'];
        memcpy(out, sign, strlen(sign));
        out += strlen(sign);
    }
    *out = 0;
}

/* Fixed number of digits, a true minus sign, and a point in every locale. */
static void fixed(char *out, double value, int digits)
{
    char plain[NS_TICK_TEXT - 4];
    if (value == 0)
        value = 0; /* no -0 */
    snprintf(plain, sizeof plain, "%.*f", digits, value);
    bool zero = true;
    for (const char *c = plain; *c; c++)
        zero = zero && !(*c >= '1' && *c <= '9');
    const char *from = plain;
    *out = 0;
    if (*from == '-') {
        from++;
        if (!zero)
            memcpy(out, "−", sizeof "−");
    }
    size_t length = strlen(out);
    for (; *from; from++)
        out[length++] = (char)(*from == ',' ? '.' : *from);
    out[length] = 0;
}

static void linear_ticks(const ns_scale *s, int most, ns_ticks *ticks)
{
    double lo = ns_min(s->from, s->to), hi = ns_max(s->from, s->to);
    double rough = (hi - lo) / most, decade = ns_math_pow(10, floor(ns_math_log10(rough)));
    double step = decade * (rough <= decade       ? 1
                            : rough <= 2 * decade ? 2
                            : rough <= 5 * decade ? 5
                                                  : 10);
    /* What all labels share is written once: a large common part, or a power of ten. */
    double size = ns_max(fabs(lo), fabs(hi)), offset = 0;
    if (step < 1e-5 * size && lo * hi > 0) {
        double unit = ns_math_pow(10, ceil(ns_math_log10(hi - lo)));
        offset = floor(lo / unit) * unit;
        size = ns_max(fabs(lo - offset), fabs(hi - offset));
    }
    int power = (int)floor(ns_math_log10(size) + 1e-9);
    if (power > -4 && power < 5)
        power = 0;
    double unit = ns_math_pow(10, power);
    int digits = (int)ns_max(0, -floor(ns_math_log10(step / unit) + 1e-9));
    ticks->n = 0;
    ticks->factor[0] = 0;
    double slack = 1e-9 +
                   4e-16 * ns_max(fabs(lo), fabs(hi)) / step; /* rounding of the quotient */
    for (double k = ceil(lo / step - slack); k * step <= hi + slack * step; k++) {
        if (ticks->n == NS_TICKS_MOST)
            break;
        ticks->at[ticks->n] = k * step;
        fixed(ticks->text[ticks->n++], (k * step - offset) / unit, digits < 9 ? digits : 9);
    }
    size_t length = 0;
    if (power) {
        char up[NS_TICK_TEXT];
        superscript(up, power);
        length = (size_t)snprintf(ticks->factor, sizeof ticks->factor, "×10%s", up);
    }
    if (offset != 0 && length < sizeof ticks->factor)
        snprintf(ticks->factor + length, sizeof ticks->factor - length, " %s %.9g",
                 offset < 0 ? "−" : "+", fabs(offset));
}

static void log_ticks(const ns_scale *s, int most, ns_ticks *ticks)
{
    double lo = ns_min(s->from, s->to), hi = ns_max(s->from, s->to);
    int first = (int)ceil(ns_math_log10(lo) - 1e-9),
        last = (int)floor(ns_math_log10(hi) + 1e-9);
    ticks->n = 0;
    ticks->factor[0] = 0;
    if (last - first < 1) { /* hardly a decade: 1, 2, 5 between */
        for (int e = first - 1; e <= last; e++)
            for (int m = 1; m < 6 && ticks->n < NS_TICKS_MOST; m += m == 1 ? 1 : 3) {
                double v = m * ns_math_pow(10, e);
                if (v < lo * (1 - 1e-9) || v > hi * (1 + 1e-9))
                    continue;
                ticks->at[ticks->n] = v;
                if (e > -4 && e < 5) {
                    fixed(ticks->text[ticks->n], v, e < 0 ? -e : 0);
                } else {
                    char up[NS_TICK_TEXT];
                    superscript(up, e);
                    snprintf(ticks->text[ticks->n], NS_TICK_TEXT, "%d·10%.18s", m, up);
                }
                ticks->n++;
            }
        if (ticks->n >= 2)
            return;
        ticks->n = 0;
    }
    int step = 1;
    while ((last - first) / step + 1 > most && step < 400)
        step += 1;
    for (int e = first - (((first % step) + step) % step); e <= last; e += step) {
        if (e < first || ticks->n == NS_TICKS_MOST)
            continue;
        ticks->at[ticks->n] = ns_math_pow(10, e);
        if (e == 0) {
            memcpy(ticks->text[ticks->n], "1", 2);
        } else {
            char up[NS_TICK_TEXT];
            superscript(up, e);
            snprintf(ticks->text[ticks->n], NS_TICK_TEXT, "10%.20s", up);
        }
        ticks->n++;
    }
}

void ns_scale_ticks(const ns_scale *s, int most, ns_ticks *ticks)
{
    if (most < 2)
        most = 2;
    if (s->log)
        log_ticks(s, most, ticks);
    else
        linear_ticks(s, most, ticks);
}
