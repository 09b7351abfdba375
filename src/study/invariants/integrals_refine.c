/* A candidate becomes an integral: its coefficients to the last digit, as formulas in
 * parameters where they are such, and its verification (see study/invariants/integrals.h).
 *
 * Coefficients c_k of the few terms that occur are improved by least squares on  sum_k c_k
 * phi_k' = 0 at new states, the leading one fixed, with the residual in quadruple precision:
 * each round gains the digits of a double.  The same solved (in double) for other values of the
 * parameters shows whether the integral persists; then log c_k is fitted by a linear function
 * of the logarithms of the parameters, and a coefficient  (a/b) p1^e1 p2^e2 ...  is recognised
 * by whole exponents and a short fraction. */
#define _GNU_SOURCE /* quadruple precision */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/normal/normal.h"
#include "mech/common/dense.h"
#include "study/invariants/integrals_internal.h"

#if NS_HAVE_QUAD
typedef ns_quad real;
#define MAGNITUDE(x) ((x) < 0 ? -(x) : (x))
#else
typedef double real;
#define MAGNITUDE(x) fabs(x)
#endif

enum { MOST_PARAMETERS = 14 };

typedef struct candidate {
    ns_integrals_work *w;
    uint32_t n;      /* terms that occur */
    uint32_t *term;  /* [n] the leading one last */
    real *c;         /* [n] */
    uint32_t states; /* at which the rates are taken */
    real *rate;      /* [states][n] */
    real *work;      /* of the program */
} candidate;

/* ---- rates in high precision ------------------------------------------------------------- */

static real rate_of(const ns_integrals_work *w, uint32_t term, const real *atom)
{
    const uint8_t *power = w->power + (size_t)term * w->atoms;
    real v = 1, d = 0;
    for (uint32_t i = 0; i < w->atoms; i++)
        for (uint32_t k = 0; k < power[i]; k++) {
            d = d * atom[i] + v * atom[w->atoms + i];
            v *= atom[i];
        }
    return w->weight ? d + (real)w->factor * atom[2 * w->atoms] * v : d;
}

static void bind(candidate *q)
{
#if NS_HAVE_QUAD
    ns_flow *flow = q->w->flow;
    const ns_program *program = q->w->rates->program;
    real *p = NS_NEW_ARRAY(flow->arena, real, flow->np + 1);
    for (uint32_t i = 0; i < flow->np; i++)
        p[i] = flow->p[i];
    if (!q->work)
        q->work = NS_NEW_ARRAY(flow->arena, real, ns_program_work_quad(program) + 1);
    ns_program_bind_quad(program, q->work, p);
#else
    (void)q;
#endif
}

/* Tells how far it is: candidates are sampled some ten times, each time less is left. */
static bool go_on(ns_integrals_work *w, double part)
{
    const ns_integrals_options *o = w->options;
    if (part == 0) {
        w->progress += 0.1 * w->share;
        w->share *= 0.9;
    }
    if (o && o->progress && !o->progress(o->context, w->progress + 0.1 * part * w->share))
        w->stopped = true;
    return !w->stopped;
}

/* Rates of the terms at new states; false if there are none. */
static bool sample(candidate *q, uint32_t states)
{
    ns_integrals_work *w = q->w;
    ns_flow *flow = w->flow;
    double *x = NS_NEW_ARRAY(w->arena, double, flow->n + 1);
    real *y = NS_NEW_ARRAY(w->arena, real, flow->n + 1);
    real *atom = NS_NEW_ARRAY(w->arena, real, 2 * (size_t)w->atoms + 1);
    q->states = states;
    q->rate = NS_NEW_ARRAY(w->arena, real, (size_t)states * q->n + 1);
    for (uint32_t s = 0; s < states; s++) {
        if (!go_on(w, (double)s / states) || !ns_sampler_next(w->sampler, x))
            return false;
#if NS_HAVE_QUAD
        ns_flow_fine_point(flow, x, y);
        ns_program_eval_quad(w->rates->program, q->work, flow->t, y, atom);
#else
        (void)y;
        ns_flow_eval(flow, w->rates, x, atom);
#endif
        for (uint32_t k = 0; k < q->n; k++) {
            const real rate = rate_of(w, q->term[k], atom);
            q->rate[(size_t)s * q->n + k] = rate;
            if (!isfinite((double)rate)) {
                s--; /* another state instead */
                break;
            }
        }
    }
    return true;
}

/* Largest |sum c_k rate_k| / sum |c_k rate_k|. */
static double residual(const candidate *q)
{
    real worst = 0, most = 0;
    for (uint32_t s = 0; s < q->states; s++) {
        real sum = 0, size = 0;
        for (uint32_t k = 0; k < q->n; k++) {
            const real part = q->c[k] * q->rate[(size_t)s * q->n + k];
            sum += part;
            size += MAGNITUDE(part);
        }
        worst = MAGNITUDE(sum) > worst ? MAGNITUDE(sum) : worst;
        most = size > most ? size : most;
    }
    return most > 0 ? (double)(worst / most) : 0;
}

/* Least squares for c[0 .. n-2], the last being kept; `rounds` corrections. */
static void solve(candidate *q, int rounds)
{
    const uint32_t m = q->states, n = q->n - 1;
    ns_arena *a = q->w->flow->scratch;
    if (!n)
        return;
    const ns_arena_place mark = ns_arena_mark(a);
    double *A = NS_NEW_ARRAY(a, double, (size_t)m * n), *b = NS_NEW_ARRAY(a, double, m);
    double *size = NS_NEW_ARRAY(a, double, n), *dc = NS_NEW_ARRAY(a, double, n);
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t s = 0; s < m; s++)
            size[k] = ns_max(size[k], fabs((double)q->rate[(size_t)s * q->n + k]));
        for (uint32_t s = 0; s < m && size[k] > 0; s++)
            A[(size_t)s * n + k] = (double)q->rate[(size_t)s * q->n + k] / size[k];
    }
    for (int round = 0; round < rounds; round++) {
        double most = 0;
        for (uint32_t s = 0; s < m; s++) {
            real sum = 0;
            for (uint32_t k = 0; k < q->n; k++)
                sum += q->c[k] * q->rate[(size_t)s * q->n + k];
            b[s] = -(double)sum;
            most = ns_max(most, fabs(b[s]));
        }
        if (!(most > 0))
            break;
        for (uint32_t s = 0; s < m; s++)
            b[s] /= most; /* corrections of the last rounds are tiny numbers */
        const ns_arena_place inner = ns_arena_mark(a);
        ns_dense_least(a, m, n, A, b, 1e-14, dc);
        ns_arena_release(a, inner);
        for (uint32_t k = 0; k < n; k++)
            if (size[k] > 0)
                q->c[k] += (real)dc[k] * most / size[k];
    }
    ns_arena_release(a, mark);
}

/* ---- coefficients as formulas ------------------------------------------------------------ */

typedef struct formula {
    int32_t exponent[MOST_PARAMETERS];
    int32_t above, below; /* the fraction in front; below = 0: not recognised */
} formula;

typedef struct trial {
    uint32_t n;                      /* parameters that were changed */
    uint32_t index[MOST_PARAMETERS]; /* in the description */
    uint32_t sets;                   /* of values */
    double *log_p;                   /* [sets][n] */
    double *c;                       /* [sets][terms] */
} trial;

/* The short fraction a/b near x, by continued fractions. */
static bool fraction(double x, double tolerance, int32_t *above, int32_t *below)
{
    const int32_t most = 60;
    double rest = x;
    int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    for (int k = 0; k < 12; k++) {
        if (!(fabs(rest) < 1e6))
            return false;
        const int64_t whole = (int64_t)floor(rest);
        const int64_t p = whole * p1 + p0, q = whole * q1 + q0;
        if (q > most || llabs(p) > 4000)
            return false;
        if (fabs(x - (double)p / (double)q) <= tolerance * fabs(x)) {
            *above = (int32_t)p;
            *below = (int32_t)q;
            return true;
        }
        p0 = p1;
        q0 = q1;
        p1 = p;
        q1 = q;
        rest = 1 / (rest - (double)whole);
    }
    return false;
}

/* Solves for the coefficients with other values of the parameters; false if the integral is
 * lost. */
static bool try_parameters(const candidate *q, trial *r)
{
    ns_integrals_work *w = q->w;
    ns_flow *flow = w->flow;
    const ns_system *s = flow->system;
    const ns_description *d = s->description;
    double *own = ns_arena_copy(w->arena, flow->p, (flow->np + 1) * sizeof *own);
    double *given = NS_NEW_ARRAY(w->arena, double, flow->np + 1);
    double *p = NS_NEW_ARRAY(w->arena, double, flow->np + 1);
    bool *is_set = NS_NEW_ARRAY(w->arena, bool, flow->np + 1);
    uint64_t seed = 1630;
    bool good = true;
    for (uint32_t i = 0; i < flow->np; i++) {
        if (ns_graph_depends_kind(s->graph, d->params.at[i].value, NS_SYM_PARAM, NULL) &&
            !d->params.at[i].set)
            continue;
        if (r->n == MOST_PARAMETERS)
            return false;
        is_set[i] = true;
        r->index[r->n++] = i;
    }
    r->sets = r->n + 4;
    r->log_p = NS_NEW_ARRAY(w->arena, double, (size_t)r->sets * (r->n + 1));
    r->c = NS_NEW_ARRAY(w->arena, double, (size_t)r->sets * q->n);
    for (uint32_t k = 0; k < r->sets && good; k++) {
        candidate other = *q;
        for (uint32_t i = 0; i < r->n; i++) { /* the first set is the model's own */
            const double value = own[r->index[i]], u = 2 * ns_eval_random(&seed) - 1;
            given[r->index[i]] = !k ? value : value != 0 ? value * (1 + 0.2 * u) : 0.05 * u;
            r->log_p[(size_t)k * r->n + i] = value != 0 ? ns_math_log(fabs(given[r->index[i]]))
                                                        : 0;
        }
        ns_system_params(s, is_set, given, p);
        ns_flow_bind(flow, p);
        bind(&other);
        other.c = ns_arena_copy(w->arena, q->c, q->n * sizeof *q->c);
        good = sample(&other, 2 * q->n + 20);
        if (good)
            solve(&other, 2);
        good = good && residual(&other) < 1e-9;
        for (uint32_t j = 0; j < q->n; j++)
            r->c[(size_t)k * q->n + j] = (double)other.c[j];
    }
    ns_flow_bind(flow, own);
    candidate back = *q;
    bind(&back);
    return good;
}

static void recognise(const candidate *q, const trial *r, uint32_t term, formula *out)
{
    ns_arena *a = q->w->arena;
    const uint32_t n = r->n + 1;
    double *A = NS_NEW_ARRAY(a, double, (size_t)r->sets * n),
                             *b = NS_NEW_ARRAY(a, double, r->sets);
    double *fit = NS_NEW_ARRAY(a, double, n);
    const double first = r->c[term];
    for (uint32_t k = 0; k < r->sets; k++) {
        const double c = r->c[(size_t)k * q->n + term];
        if (!(c * first > 0))
            return;
        A[(size_t)k * n] = 1;
        memcpy(A + (size_t)k * n + 1, r->log_p + (size_t)k * r->n, r->n * sizeof *A);
        b[k] = ns_math_log(fabs(c));
    }
    ns_dense_least(a, r->sets, n, A, b, 1e-10, fit);
    for (uint32_t k = 0; k < r->sets; k++) {
        double sum = -b[k];
        for (uint32_t i = 0; i < n; i++)
            sum += A[(size_t)k * n + i] * fit[i];
        if (!(fabs(sum) < 1e-7))
            return;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        out->exponent[i] = (int32_t)lround(fit[1 + i]);
        if (fabs(fit[1 + i] - out->exponent[i]) > 1e-5 || abs(out->exponent[i]) > 6)
            return;
    }
    double constant = first;
    for (uint32_t i = 0; i < r->n; i++)
        constant /= ns_math_pow(fabs(q->w->flow->p[r->index[i]]), out->exponent[i]) *
                    (q->w->flow->p[r->index[i]] < 0 && out->exponent[i] % 2 ? -1 : 1);
    if (!fraction(constant, 1e-9, &out->above, &out->below))
        out->below = 0;
}

static real value_of(const candidate *q, const trial *r, const formula *f)
{
    real value = (real)f->above / (real)f->below;
    for (uint32_t i = 0; i < r->n; i++)
        for (int32_t k = 0; k < abs(f->exponent[i]); k++)
            value = f->exponent[i] > 0 ? value * (real)q->w->flow->p[r->index[i]]
                                       : value / (real)q->w->flow->p[r->index[i]];
    return value;
}

/* The coefficient as text; *negative: without its sign. */
static const char *write_formula(const candidate *q, const trial *r, const formula *f)
{
    const ns_description *d = q->w->flow->system->description;
    ns_text above = ns_text_new(q->w->arena), below = ns_text_new(q->w->arena);
    uint32_t under = 0;
    if (abs(f->above) != 1)
        ns_text_addf(&above, "%d", abs(f->above));
    if (f->below != 1)
        ns_text_addf(&below, "%d", f->below), under++;
    for (uint32_t i = 0; i < r->n; i++) {
        const int32_t e = f->exponent[i];
        ns_text *to = e > 0 ? &above : &below;
        if (!e)
            continue;
        ns_text_addf(to, "%s%s", to->length ? "*" : "", d->params.at[r->index[i]].name);
        if (abs(e) != 1)
            ns_text_addf(to, "^%d", abs(e));
        under += e < 0;
    }
    if (!above.length)
        ns_text_addf(&above, "1");
    return ns_arena_format(q->w->arena,
                           under > 1 ? "%s%s/(%s)"
                           : under   ? "%s%s/%s"
                                     : "%s%s",
                           f->above < 0 ? "-" : "", ns_text_string(&above),
                           ns_text_string(&below));
}

/* ---- the integral ------------------------------------------------------------------------ */

const char *ns_integrals_term_text(const ns_integrals_work *w, uint32_t term)
{
    const uint8_t *power = w->power + (size_t)term * w->atoms;
    ns_text text = ns_text_new(w->arena);
    for (uint32_t i = 0; i < w->atoms; i++) {
        if (!power[i])
            continue;
        /* an expression of the user's is one factor */
        const char *name = w->atom[i].name;
        const bool simple = !name[strcspn(name, " +-*/^")] || strncmp(name, "cos(", 4) == 0 ||
                            strncmp(name, "sin(", 4) == 0;
        ns_text_addf(&text, simple ? "%s%s" : "%s(%s)", text.length ? "*" : "", name);
        if (power[i] > 1)
            ns_text_addf(&text, "^%d", power[i]);
    }
    return ns_text_string(&text);
}

static ns_ex expression(const candidate *q)
{
    ns_integrals_work *w = q->w;
    ns_graph *g = w->flow->system->graph;
    ns_ex sum = ns_zero(g);
    for (uint32_t k = 0; k < q->n; k++) {
        const double hi = (double)q->c[k];
        ns_ex term = ns_number2(g, hi, (double)(q->c[k] - (real)hi));
        for (uint32_t i = 0; i < w->atoms; i++)
            if (w->power[(size_t)q->term[k] * w->atoms + i])
                term = ns_mul(
                    g, term,
                    ns_powi(g, w->atom[i].value, w->power[(size_t)q->term[k] * w->atoms + i]));
        sum = ns_add(g, sum, term);
    }
    return sum;
}

/* Is the rate zero by the rules of algebra?  Tried where the formula is short. */
static bool is_identity(const candidate *q, ns_ex I)
{
    const ns_system *s = q->w->flow->system;
    const uint32_t n = s->states.n;
    const ns_ex *x = ns_system_state_symbols(s, q->w->arena);
    const ns_ex *dx = ns_system_state_rates(s, q->w->arena);
    ns_ex rate;
    if (s->time && ns_graph_depends(s->graph, I, &s->time, 1))
        return false;
    ns_diff_along(s->graph, &I, 1, x, dx, n, &rate);
    if (ns_graph_is_zero(s->graph, rate))
        return true;
    return ns_normal_length(s->graph, rate) < 400 &&
           ns_graph_is_zero(s->graph, ns_normal(s->graph, rate, NULL));
}

/* Largest change along the model's run, relative to the size of the terms. */
static double drift_of(const candidate *q)
{
    enum { STEPS = 2000 };
    ns_integrals_work *w = q->w;
    ns_status status = NS_OK;
    const char *message = "";
    ns_run *run = ns_run_new(w->flow->problem, w->run, w->flow->p, w->x0, &status, &message);
    if (!run && status == NS_ERR_MEMORY)
        ns_arena_exhausted(w->flow->arena);
    if (!run)
        return NAN;
    double *atom = NS_NEW_ARRAY(w->arena, double, 2 * (size_t)w->atoms + 1);
    double first = 0, worst = 0, most = 0;
    const double t = w->flow->t;
    for (int k = 0; k < STEPS; k++) {
        double sum = 0, size = 0, value, rate;
        w->flow->t = ns_run_time(run);
        ns_flow_eval(w->flow, w->rates, ns_run_state(run), atom);
        for (uint32_t j = 0; j < q->n; j++) {
            ns_integrals_term(w, q->term[j], atom, &value, &rate);
            sum += (double)q->c[j] * value;
            size += fabs((double)q->c[j] * value);
        }
        first = k ? first : sum;
        worst = ns_max(worst, fabs(sum - first));
        most = ns_max(most, size);
        if (ns_run_time(run) == w->run->until || ns_run_step(run) != NS_OK)
            break;
    }
    w->flow->t = t;
    ns_run_free(run);
    return most > 0 ? worst / most : 0;
}

static bool refine(candidate *q)
{
    const double limit = NS_HAVE_QUAD ? 1e-22 : 1e-10;
    if (!sample(q, 2 * q->n + 40))
        return false;
    solve(q, 4);
    return residual(q) < limit;
}

static void choose_terms(candidate *q, const double *row, double least)
{
    const ns_integrals_work *w = q->w;
    const uint32_t first = w->weight ? 0 : 1; /* the constant */
    double most = 0;
    q->n = 0;
    for (uint32_t k = first; k < w->kept; k++)
        most = ns_max(most, fabs(row[k]));
    for (uint32_t k = first; k < w->kept; k++)
        if (fabs(row[k]) > least * most) {
            q->term[q->n] = w->column[k];
            q->c[q->n++] = row[k] / w->size[k];
        }
    const real lead = w->negative ? -1 : 1;
    for (uint32_t k = 0; k < q->n; k++)
        q->c[k] *= lead / q->c[q->n - 1];
    q->c[q->n - 1] = lead;
}

ns_integral *ns_integrals_refine(ns_integrals_work *w, const double *row)
{
    candidate q = {.w = w,
                   .term = NS_NEW_ARRAY(w->arena, uint32_t, w->kept + 1),
                                        .c = NS_NEW_ARRAY(w->arena, real, w->kept + 1)};
    ns_integral *out = NS_NEW(w->arena, ns_integral);
    bind(&q);
    choose_terms(&q, row, 1e-6);
    if (!refine(&q)) { /* small coefficients may be there after all */
        choose_terms(&q, row, 1e-10);
        if (!refine(&q))
            return NULL;
    }
    trial r = {0};
    formula *f = NS_NEW_ARRAY(w->arena, formula, q.n);
    out->persists = try_parameters(&q, &r);
    out->in_parameters = out->persists;
    for (uint32_t k = 0; k < q.n && out->persists; k++) {
        recognise(&q, &r, k, &f[k]);
        out->in_parameters = out->in_parameters && f[k].below;
    }
    real *exact = NS_NEW_ARRAY(w->arena, real, q.n);
    for (uint32_t k = 0; k < q.n; k++)
        exact[k] = f[k].below ? value_of(&q, &r, &f[k]) : q.c[k];
    if (out->in_parameters)
        memcpy(q.c, exact, q.n * sizeof *exact);
    out->n = q.n;
    out->term = q.term;
    out->c = NS_NEW_ARRAY(w->arena, double, q.n);
    out->formula = NS_NEW_ARRAY(w->arena, const char *, q.n);
    ns_text text = ns_text_new(w->arena);
    for (uint32_t k = 0; k < q.n; k++) {
        out->c[k] = (double)q.c[k];
        const char *c = f[k].below ? write_formula(&q, &r, &f[k])
                                   : ns_arena_format(w->arena, "%.17g", out->c[k]);
        const bool minus = c[0] == '-', one = strcmp(c + minus, "1") == 0;
        out->formula[k] = c;
        const char *term = ns_integrals_term_text(w, q.term[k]);
        ns_text_addf(&text, "%s%s%s%s",
                     !k      ? minus ? "-" : ""
                     : minus ? " - "
                             : " + ",
                     one && term[0] ? "" : c + minus, one || !term[0] ? "" : "*", term);
    }
    out->text = ns_text_string(&text);
    out->fine = NS_HAVE_QUAD;
    out->rate = sample(&q, 24) ? residual(&q) : NAN;
    out->identically = !w->weight && is_identity(&q, expression(&q));
    out->drift = w->weight ? (double)NAN : drift_of(&q);
    return out;
}
