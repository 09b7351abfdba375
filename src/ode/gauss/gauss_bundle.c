/* `gauss` in an ensemble: a motion goes into a lane, and comes back (ensemble_kernel.h). */
#include "base/math/vecmath.h"
#include "ode/ensemble/ensemble_kernel.h"
#include "ode/gauss/gauss_internal.h"
#include "ode/gauss/gauss_table.h"

/* The step before the start, by the Taylor series: the first step is predicted from it.  Where
 * nothing bounds the first step, as in uniform motion, it is as long as that one will be. */
void ns_gauss_give(const ns_stepper *s, ns_bundle *b, uint32_t lane)
{
    const ns_gauss *g = s->view;
    const double h = s->sense * (isfinite(s->now.h) ? s->now.h : 1); /* a polynomial: any */
    const uint32_t w = NS_GAUSS_START + 1;
    for (uint32_t i = 0; i < s->n; i++)
        for (int j = 0; j < 8; j++)
            b->K[8 * (8 * (size_t)i + (size_t)j) + lane] =
                h * gauss_b[j] * ns_gauss_series_rate(g, g->jet + i * w, h * (gauss_c[j] - 1));
    b->unsound[lane] = b->pass[lane] = 0;
    b->base[lane] = h;
    b->shift[lane] = 1;
    b->tried_error[lane] = b->best[lane] = b->slow[lane] = 0;
    b->rho[lane] = g->k->rho;
    b->goal = ns_math_log2(g->goal);
    b->rounding = ns_gauss_rounding(s->problem) / g->goal;
    b->settled = g->settled;
    b->price = g->price;
}

void ns_gauss_take(ns_stepper *s, const ns_bundle *b, uint32_t lane)
{
    const ns_gauss *g = s->view;
    const double h = b->base[lane];
    for (uint32_t i = 0; i < s->n; i++) {
        const size_t at = 8 * (size_t)i + lane;
        const double *K = b->K + 64 * (size_t)i + lane;
        for (size_t j = 0; j < 8; j++) {
            double z = b->x0_lo[at];
            for (size_t k = 0; k < 8; k++)
                z += gauss_mu[k][j] * K[8 * k];
            g->Z[8 * (size_t)i + j] = z;
            g->F[8 * (size_t)i + j] = K[8 * j] / (h * gauss_b[j]);
        }
    }
    *g->k = (ns_gauss_kept){.h = h,
                            .h_inverse = 1 / h,
                            .from = b->from[lane],
                            .rho = b->rho[lane],
                            .best_inverse = b->best[lane] > 0 ? 1 / b->best[lane] : 0,
                            .slow = b->slow[lane]};
}

const ns_bundle_kernel *const ns_gauss_bundles[] = {
#if NS_X86
    &ns_bundle_avx512_gauss,
    &ns_bundle_avx2_gauss,
#endif
    &ns_bundle_plain_gauss,
};
