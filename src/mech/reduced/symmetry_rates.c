/* The reduced equations of motion (Bloch, Marsden and Zenkov 2009, (4.2), (4.3), (2.15)), from
 * the geometry of symmetry_geometry.c. */
#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/lean.h"
#include "mech/reduced/symmetry_internal.h"

void ns_symmetry_velocity(const ns_symmetry *y, const ns_ex *p, ns_ex *Omega)
{
    ns_graph *g = y->d->graph;
    for (uint32_t a = 0; a < y->m; a++) {
        Omega[a] = ns_zero(g);
        for (uint32_t b = 0; b < y->m; b++)
            add2(g, &Omega[a], y->ISi[a * y->m + b], ns_sub(g, p[b], y->base[b]));
    }
}

/* E_i B^C for all B */
static ns_ex turning(const ns_symmetry *y, uint32_t i, uint32_t B, uint32_t C)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k;
    if (B < y->m)
        return y->Ecal[(i * y->m + B) * k + C];
    ns_ex E = y->gamma[(B * y->sigma + i) * k + C];
    for (uint32_t A = 0; A < k; A++)
        E = ns_sub(g, E, ns_mul(g, y->C[(A * k + B) * k + C], y->A[i * k + A]));
    return E;
}

void ns_symmetry_full_momentum(const ns_symmetry *y, const ns_ex *p, ns_ex *P)
{
    ns_graph *g = y->d->graph;
    const uint32_t m = y->m, sigma = y->sigma;
    for (uint32_t a = 0; a < m; a++)
        P[a] = p[a];
    for (uint32_t v = 0; v < y->k - m; v++) {
        P[m + v] = ns_zero(g);
        for (uint32_t a = 0; a < m; a++)
            add2(g, &P[m + v], y->J[v * m + a], p[a]);
        for (uint32_t i = 0; i < sigma; i++)
            add2(g, &P[m + v], y->Lambda[v * sigma + i], y->dr[i]);
        P[m + v] = ns_add(g, P[m + v], y->rise[v]);
    }
}

void ns_symmetry_momentum_rate(const ns_symmetry *y, const ns_ex *Omega, const ns_ex *P,
                               ns_ex *rate)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m;
    for (uint32_t a = 0; a < m; a++) {
        rate[a] = ns_zero(g);
        for (uint32_t C = 0; C < k; C++) {
            ns_ex along = ns_zero(g);
            for (uint32_t b = 0; b < m; b++)
                add2(g, &along, y->C[(b * k + a) * k + C], Omega[b]);
            for (uint32_t v = 0; v < k - m; v++)
                add2(g, &along, y->C[((m + v) * k + a) * k + C], y->w[v]);
            for (uint32_t i = 0; i < y->sigma; i++)
                add2(g, &along, y->Ecal[(i * m + a) * k + C], y->dr[i]);
            add2(g, &rate[a], along, P[C]);
        }
    }
}

void ns_symmetry_shape_rate(const ns_symmetry *y, const ns_ex *Omega, const ns_ex *P,
                            ns_ex *ddr)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma;
    const ns_ex half = ns_number(g, 0.5);
    /* l(r, r', Omega) with Omega held by symbols */
    ns_ex *O = array(y, k), l = ns_neg(g, y->V), *force = array(y, sigma);
    ns_ex *all = array(y, k);
    for (uint32_t A = 0; A < k; A++) {
        O[A] = ns_symbol_new(g, "Omega", NS_SYM_LOCAL, A);
        all[A] = A < m ? Omega[A] : y->w[A - m];
    }
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = 0; b < m; b++)
            add3(g, &l, ns_mul(g, half, y->IS[a * m + b]), O[a], O[b]);
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t j = 0; j < sigma; j++)
            add3(g, &l, ns_mul(g, half, y->Gc[i * sigma + j]), y->dr[i], y->dr[j]);
    for (uint32_t A = 0; y->linear && A < k; A++) {
        add2(g, &l, y->b[A], O[A]);
        for (uint32_t B = m; B < k; B++)
            add3(g, &l, A < m ? y->I[A * k + B] : ns_mul(g, half, y->I[A * k + B]), O[A], O[B]);
        for (uint32_t i = 0; A >= m && i < sigma; i++)
            add3(g, &l, y->Lambda[(A - m) * sigma + i], y->dr[i], O[A]);
    }
    for (uint32_t i = 0; i < sigma; i++)
        add2(g, &l, y->gr[i], y->dr[i]);
    ns_diff_gradient(g, l, y->r, sigma, force);
    ns_subst(g, force, sigma, O, all, k, force);
    for (uint32_t i = 0; i < sigma; i++) {
        ns_ex pi = y->gr[i], change;
        for (uint32_t v = 0; v < k - m; v++)
            add2(g, &pi, y->Lambda[v * sigma + i], y->w[v]);
        for (uint32_t j = 0; j < sigma; j++)
            add2(g, &pi, y->Gc[i * sigma + j], y->dr[j]);
        ns_diff_along(g, &pi, 1, y->r, y->dr, sigma, &change);
        force[i] = ns_sub(g, force[i], change);
        for (uint32_t C = 0; C < k; C++) {
            ns_ex along = ns_zero(g);
            for (uint32_t j = 0; j < sigma; j++)
                add2(g, &along, y->B[(i * sigma + j) * k + C], y->dr[j]);
            for (uint32_t B = 0; B < k; B++)
                if (!ns_graph_is_zero(g, all[B]))
                    add2(g, &along, turning(y, i, B, C), all[B]);
            force[i] = ns_sub(g, force[i], ns_mul(g, along, P[C]));
        }
    }
    ns_lean_solve(g, sigma, y->Gc, force, 1, ddr);
}

void ns_symmetry_group_rate(const ns_symmetry *y, const ns_ex *Omega, ns_ex *rate)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k;
    ns_ex *xi = array(y, k), *along = array(y, k);
    for (uint32_t A = 0; A < k; A++) {
        xi[A] = A < y->m ? Omega[A] : y->w[A - y->m];
        for (uint32_t i = 0; i < y->sigma; i++)
            xi[A] = ns_sub(g, xi[A], ns_mul(g, y->A[i * k + A], y->dr[i]));
    }
    for (uint32_t B = 0; B < k; B++)
        for (uint32_t A = 0; A < k; A++)
            add2(g, &along[B], xi[A], y->e[A * k + B]);
    for (uint32_t i = 0; i < k; i++) {
        rate[i] = ns_zero(g);
        for (uint32_t B = 0; B < k; B++)
            add2(g, &rate[i], along[B], y->E[B * y->n + y->group[i]]);
    }
}
