/* See moving.h.  Fields Z = B q + c with Z[L] = 0 are the null space of linear equations posed
 * at random states; in row echelon form their coefficients are whole numbers for all usual
 * symmetries (shifts, turns), whatever the parameters.  A combination w_k Z_k meets the
 * constraints if a^s.Z_k w_k = -b^s at all q: as many of these equations as there are unknowns
 * are solved on the graph, so that w is a function of the parameters, and the result is
 * verified as an identity. */
#include "mech/moving.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/normal/normal.h"
#include "expr/print/print.h"
#include "expr/subst.h"
#include "mech/common/dense.h"

enum { MOST = 12 }; /* coordinates: the work grows with the sixth power */

typedef struct search {
    ns_system *s;
    const ns_description *d;
    ns_graph *g;
    ns_arena *a;
    uint32_t n, p, fields;
    const ns_ex *A, *b;
    ns_ex *q, *v;
    double *Z; /* [fields][n][n + 1] coefficients: B, then c */
} search;

/* Parameters and a random position and velocity. */
static void random_state(const search *w, uint64_t *seed, ns_ex *symbol, double *value)
{
    const uint32_t np = w->d->params.n;
    ns_system_params(w->s, NULL, NULL, value);
    for (uint32_t i = 0; i < np; i++)
        symbol[i] = w->d->params.at[i].symbol;
    for (uint32_t i = 0; i < w->n; i++) {
        symbol[np + i] = w->q[i];
        symbol[np + w->n + i] = w->v[i];
        value[np + i] = 3 * ns_eval_random(seed) - 1;
        value[np + w->n + i] = 2 * ns_eval_random(seed) - 1;
    }
}

/* Row echelon form with the largest pivots; entries next to whole numbers become these. */
static void echelon(uint32_t rows, uint32_t columns, double *R)
{
    uint32_t done = 0;
    for (uint32_t c = 0; c < columns && done < rows; c++) {
        uint32_t pivot = done;
        for (uint32_t i = done; i < rows; i++)
            if (fabs(R[(size_t)i * columns + c]) > fabs(R[(size_t)pivot * columns + c]))
                pivot = i;
        const double top = R[(size_t)pivot * columns + c];
        if (fabs(top) < 1e-6)
            continue;
        for (uint32_t j = 0; j < columns; j++) {
            const double swap = R[(size_t)pivot * columns + j];
            R[(size_t)pivot * columns + j] = R[(size_t)done * columns + j];
            R[(size_t)done * columns + j] = swap / top;
        }
        for (uint32_t i = 0; i < rows; i++) {
            const double factor = R[(size_t)i * columns + c];
            for (uint32_t j = 0; j < columns && i != done; j++)
                R[(size_t)i * columns + j] -= factor * R[(size_t)done * columns + j];
        }
        done++;
    }
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        if (fabs(R[i] - round(R[i])) < 1e-7)
            R[i] = round(R[i]);
}

/* Fields that leave L invariant, with whole numbers for coefficients. */
static void find_fields(search *w)
{
    const uint32_t n = w->n, unknown = n * (n + 1), rows = 2 * unknown, np = w->d->params.n;
    ns_ex *slope = NS_NEW_ARRAY(w->a, ns_ex, 2 * (size_t)n);
    ns_ex *symbol = NS_NEW_ARRAY(w->a, ns_ex, np + 2 * (size_t)n + 1);
    double *value = NS_NEW_ARRAY(w->a, double, np + 2 * (size_t)n + 1);
    double *at = NS_NEW_ARRAY(w->a, double, 2 * (size_t)n);
    double *E = NS_NEW_ARRAY(w->a, double, (size_t)rows * unknown);
    double *sigma = NS_NEW_ARRAY(w->a, double, unknown + 1);
    double *V = NS_NEW_ARRAY(w->a, double, (size_t)unknown * unknown);
    uint64_t seed = 2016;
    ns_diff_gradient(w->g, w->d->lagrangian, w->q, n, slope);
    ns_diff_gradient(w->g, w->d->lagrangian, w->v, n, slope + n);
    for (uint32_t r = 0; r < rows; r++) {
        double *row = E + (size_t)r * unknown;
        random_state(w, &seed, symbol, value);
        ns_eval(w->g, slope, 2 * (size_t)n, symbol, value, np + 2 * n, at);
        bool defined = true;
        for (uint32_t i = 0; i < 2 * n; i++)
            defined = defined && isfinite(at[i]);
        for (uint32_t i = 0; i < n && defined; i++) {
            for (uint32_t j = 0; j < n; j++)
                row[i * (n + 1) + j] = value[np + j] * at[i] + value[np + n + j] * at[n + i];
            row[i * (n + 1) + n] = at[i];
        }
        ns_dense_unit(unknown, row);
    }
    if (!ns_dense_svd(w->a, rows, unknown, E, sigma, V))
        return;
    uint32_t null = 0;
    while (null < unknown && sigma[unknown - 1 - null] < 1e-10 * sigma[0])
        null++;
    double *R = V + (size_t)(unknown - null) * unknown;
    echelon(null, unknown, R);
    w->Z = NS_NEW_ARRAY(w->a, double, (size_t)null * unknown + 1);
    for (uint32_t k = 0; k < null; k++) {
        bool whole = true;
        for (uint32_t i = 0; i < unknown; i++)
            whole = whole && !(R[(size_t)k * unknown + i] != round(R[(size_t)k * unknown + i]));
        if (whole)
            memcpy(w->Z + (size_t)w->fields++ * unknown, R + (size_t)k * unknown,
                   unknown * sizeof *R);
    }
}

/* Field k on the graph. */
static void field(const search *w, uint32_t k, ns_ex *Z)
{
    const uint32_t n = w->n;
    for (uint32_t i = 0; i < n; i++) {
        const double *row = w->Z + ((size_t)k * n + i) * (n + 1);
        Z[i] = ns_number(w->g, row[n]);
        for (uint32_t j = 0; j < n; j++)
            Z[i] = ns_add(w->g, Z[i], ns_mul(w->g, ns_number(w->g, row[j]), w->q[j]));
    }
}

/* The equations a^s.Z_k w_k = -b^s at one position after another; those that are independent
 * of the ones before are kept, with the unknown that each gives.  rows[fields][fields + 1] on
 * the graph; returns how many. */
static uint32_t equations(const search *w, const ns_ex *on, ns_ex *rows, uint32_t *column)
{
    const uint32_t f = w->fields, n = w->n, p = w->p, np = w->d->params.n;
    ns_ex *symbol = NS_NEW_ARRAY(w->a, ns_ex, np + 2 * (size_t)n + 1);
    double *value = NS_NEW_ARRAY(w->a, double, np + 2 * (size_t)n + 1);
    double *all = NS_NEW_ARRAY(w->a, double, (size_t)p * f + 1);
    double *kept = NS_NEW_ARRAY(w->a, double, (size_t)f * f + 1);
    ns_ex *number = NS_NEW_ARRAY(w->a, ns_ex, n + 1);
    uint32_t found = 0;
    uint64_t seed = 1855;
    for (uint32_t try = 0; try < 3 * f + 3 && found < f; try++) {
        random_state(w, &seed, symbol, value);
        ns_eval(w->g, on, (size_t)p * f, symbol, value, np + 2 * n, all);
        for (uint32_t i = 0; i < n; i++)
            number[i] = ns_number(w->g, value[np + i]);
        for (uint32_t r = 0; r < p && found < f; r++) {
            double *row = all + (size_t)r * f, size = 0;
            for (uint32_t k = 0; k < f; k++)
                size = ns_max(size, fabs(row[k]));
            for (uint32_t e = 0; e < found; e++) {
                const double factor = row[column[e]] / kept[(size_t)e * f + column[e]];
                for (uint32_t k = 0; k < f; k++)
                    row[k] -= factor * kept[(size_t)e * f + k];
            }
            uint32_t best = 0;
            for (uint32_t k = 0; k < f; k++)
                if (fabs(row[k]) > fabs(row[best]))
                    best = k;
            if (!(fabs(row[best]) > 1e-9 * size) || !isfinite(row[best]))
                continue;
            memcpy(kept + (size_t)found * f, row, f * sizeof *row);
            column[found] = best;
            for (uint32_t k = 0; k < f; k++)
                rows[(size_t)found * (f + 1) + k] = ns_subst_one(w->g, on[r * f + k], w->q,
                                                                 number, n);
            rows[(size_t)found * (f + 1) + f] = ns_neg(
                w->g, ns_subst_one(w->g, w->b[r], w->q, number, n));
            found++;
        }
    }
    return found;
}

/* Z = w_k Z_k with a^s.Z = -b^s; false if there is none. */
static bool combine(const search *w, ns_ex *Z)
{
    const uint32_t f = w->fields, n = w->n, p = w->p;
    ns_ex *one = NS_NEW_ARRAY(w->a, ns_ex, n + 1);
    ns_ex *on = NS_NEW_ARRAY(w->a, ns_ex, (size_t)p * f + 1);
    ns_ex *rows = NS_NEW_ARRAY(w->a, ns_ex, (size_t)f * (f + 1) + 1);
    uint32_t *column = NS_NEW_ARRAY(w->a, uint32_t, f + 1);
    for (uint32_t k = 0; k < f; k++) {
        field(w, k, one);
        for (uint32_t r = 0; r < p; r++) {
            on[r * f + k] = ns_zero(w->g);
            for (uint32_t i = 0; i < n; i++)
                on[r * f + k] = ns_add(w->g, on[r * f + k],
                                       ns_mul(w->g, w->A[r * n + i], one[i]));
        }
    }
    const uint32_t rank = equations(w, on, rows, column);
    ns_ex *T = NS_NEW_ARRAY(w->a, ns_ex, (size_t)rank * rank + 1);
    ns_ex *right = NS_NEW_ARRAY(w->a, ns_ex, rank + 1),
                                *c = NS_NEW_ARRAY(w->a, ns_ex, rank + 1);
    for (uint32_t i = 0; i < rank; i++) {
        right[i] = rows[(size_t)i * (f + 1) + f];
        for (uint32_t j = 0; j < rank; j++)
            T[i * rank + j] = rows[(size_t)i * (f + 1) + column[j]];
    }
    if (!rank)
        return false;
    ns_solve(w->g, rank, T, right, c);
    for (uint32_t i = 0; i < n; i++)
        Z[i] = ns_zero(w->g);
    for (uint32_t j = 0; j < rank; j++) {
        field(w, column[j], one);
        c[j] = ns_normal(w->g, c[j], NULL);
        for (uint32_t i = 0; i < n; i++)
            Z[i] = ns_add(w->g, Z[i], ns_mul(w->g, c[j], one[i]));
    }
    for (uint32_t r = 0; r < p; r++) {
        ns_ex sum = w->b[r], size = ns_abs(w->g, w->b[r]);
        for (uint32_t i = 0; i < n; i++) {
            const ns_ex term = ns_mul(w->g, w->A[r * n + i], Z[i]);
            sum = ns_add(w->g, sum, term);
            size = ns_add(w->g, size, ns_abs(w->g, term));
        }
        if (!ns_eval_vanishes(w->g, sum, size))
            return false;
    }
    return true;
}

/* Does the lift of Z leave L as it is, for all parameters? */
static bool invariant(const search *w, const ns_ex *Z)
{
    const uint32_t n = w->n;
    ns_ex *slope = NS_NEW_ARRAY(w->a, ns_ex, 2 * (size_t)n);
    ns_ex *lift = NS_NEW_ARRAY(w->a, ns_ex, n + 1), sum = ns_zero(w->g), size = ns_zero(w->g);
    ns_diff_gradient(w->g, w->d->lagrangian, w->q, n, slope);
    ns_diff_gradient(w->g, w->d->lagrangian, w->v, n, slope + n);
    ns_diff_along(w->g, Z, n, w->q, w->v, n, lift);
    for (uint32_t i = 0; i < 2 * n; i++) {
        const ns_ex term = ns_mul(w->g, slope[i], i < n ? Z[i] : lift[i - n]);
        sum = ns_add(w->g, sum, term);
        size = ns_add(w->g, size, ns_abs(w->g, term));
    }
    return ns_eval_vanishes(w->g, sum, size);
}

static void report(const search *w, const ns_ex *Z, ns_ex energy, const ns_ex *pi)
{
    ns_text text = ns_text_new(w->a);
    ns_ex value = energy;
    for (uint32_t i = 0; i < w->n; i++) {
        value = ns_sub(w->g, value, ns_mul(w->g, pi[i], Z[i]));
        if (ns_graph_is_zero(w->g, Z[i]))
            continue;
        ns_text_addf(&text, "%s%s: ", text.length ? ", " : "", w->d->coordinates.at[i].name);
        ns_print_text(w->g, Z[i], &text);
    }
    ns_system_fact(w->s, "moving energy",
                   "E - <p, Z> is conserved, the energy is not; Z along %s",
                   ns_text_string(&text));
    ns_system_observe(w->s, NS_QUANTITY_ENERGY, "energy.moving", value, "J", true);
    NS_PUSH(w->a, w->s->invariants, (ns_invariant){.name = "energy.moving", .value = value});
}

void ns_moving_energy(ns_system *s, const ns_description *d, uint32_t p, const ns_ex *A,
                      const ns_ex *b, ns_ex energy, const ns_ex *pi)
{
    const uint32_t n = d->coordinates.n;
    search w = {.s = s, .d = d, .g = s->graph, .a = s->arena, .n = n, .p = p, .A = A, .b = b};
    bool affine = false, timed = ns_graph_depends(w.g, d->lagrangian, &d->time, 1);
    for (uint32_t i = 0; i < p; i++) {
        affine = affine || !ns_graph_is_zero(w.g, b[i]);
        timed = timed || ns_graph_depends(w.g, b[i], &d->time, 1);
        for (uint32_t j = 0; j < n; j++)
            timed = timed || ns_graph_depends(w.g, A[i * n + j], &d->time, 1);
    }
    if (!affine || timed || d->forces.n || n > MOST)
        return;
    w.q = NS_NEW_ARRAY(w.a, ns_ex, n);
    w.v = NS_NEW_ARRAY(w.a, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) {
        w.q[i] = d->coordinates.at[i].q;
        w.v[i] = d->coordinates.at[i].v;
    }
    ns_ex *Z = NS_NEW_ARRAY(w.a, ns_ex, n);
    find_fields(&w);
    if (w.fields && combine(&w, Z) && invariant(&w, Z))
        report(&w, Z, energy, pi);
}
