/* Projection onto the manifold in lanes, part of ensemble_step.h: what project.c and correct.c do
 * for one motion, with one difference.  Rows are taken in their order instead of the longest first,
 * so that all lanes do the same; rows that depend on those before are left out lane by lane. */
#ifdef NS_BUNDLE

enum { PROJECT_ROUNDS = 8 };

/* Adds to residual i what the low part of the state makes of it; its ratio to its rounding error,
 * the larger one of that and `worst`.  G: entries `count`, of the states `column` (NULL: all). */
static inline v8 judge(const ns_bundle *b, double *g, const double *G, uint32_t count,
                       const uint32_t *column, v8 terms, const double *x, const double *low,
                       v8 worst)
{
    v8 size = {0}, residual = load(g);
    for (uint32_t e = 0; e < count; e++) {
        const size_t at = 8 * (size_t)(column ? column[e] : e);
        const v8 entry = load(G + 8 * (size_t)e);
        size += size_of(entry) * larger(size_of(load(x + at)), load(b->size + at));
        residual += entry * load(low + at);
    }
    store(g, residual);
    size = smaller(larger(1e-3 * size, terms), size);
    const v8 ratio = size_of(residual) / (DBL_EPSILON * size);
    return choose((residual != 0) & ~(ratio <= worst), ratio, worst);
}

/* Residuals of x + low into g; the largest in units of its rounding error. */
static v8 look(ns_bundle *b, const double *x, const double *low)
{
    const ns_problem *problem = b->problem;
    v8 worst = {0};
    if (problem->correction) {
        const uint32_t m = problem->n_shift, *start = problem->shift_start;
        ns_program_eval8(problem->shift, b->work_manifold, b->t_new, x, b->g);
        const double *G = b->g + 8 * (size_t)m, *terms = G + 8 * (size_t)start[m];
        for (uint32_t i = 0; i < m; i++)
            worst = judge(b, b->g + 8 * (size_t)i, G + 8 * (size_t)start[i],
                          start[i + 1] - start[i], problem->shift_column + start[i],
                          load(terms + 8 * (size_t)i), x, low, worst);
        return worst;
    }
    const size_t n = b->n, m = problem->n_manifold;
    ns_program_eval8(problem->manifold, b->work_manifold, b->t_new, x, b->g);
    for (size_t i = 0; i < m; i++)
        worst = judge(b, b->g + 8 * i, b->g + 8 * (m + i * n), b->n, NULL,
                      load(b->g + 8 * (m * (n + 1) + i)), x, low, worst);
    return worst;
}

static inline v8 dot(uint32_t n, const double *a, const double *c)
{
    v8 sum = {0};
    for (uint32_t j = 0; j < n; j++)
        sum += load(a + 8 * (size_t)j) * load(c + 8 * (size_t)j);
    return sum;
}

/* The smallest change of the state in units of the metric, into b->change. */
static void smallest_change(ns_bundle *b)
{
    const uint32_t n = b->n, m = b->problem->n_manifold;
    const double *G = b->g + 8 * (size_t)m;
    for (uint32_t j = 0; j < n; j++)
        store(b->change + 8 * (size_t)j, (v8){0});
    for (uint32_t k = 0; k < m; k++) {
        double *q = b->rows + 8 * (size_t)k * n;
        v8 sum = {0};
        for (uint32_t j = 0; j < n; j++) {
            const v8 entry = load(G + 8 * ((size_t)k * n + j)) * b->metric[j];
            store(q + 8 * (size_t)j, entry);
            sum += entry * entry;
        }
        const v8 scale = choose(sum > 0, 1 / root(sum), (v8){0});
        for (uint32_t j = 0; j < n; j++)
            store(q + 8 * (size_t)j, scale * load(q + 8 * (size_t)j));
        v8 z = scale * load(b->g + 8 * (size_t)k);
        for (int pass = 0; pass < 2; pass++) /* twice: orthogonal to rounding error */
            for (uint32_t l = 0; l < k; l++) {
                const double *other = b->rows + 8 * (size_t)l * n;
                const v8 part = dot(n, q, other);
                for (uint32_t j = 0; j < n; j++)
                    store(q + 8 * (size_t)j,
                          load(q + 8 * (size_t)j) - part * load(other + 8 * (size_t)j));
                z -= part * load(b->along + 8 * (size_t)l);
            }
        const v8 length = root(dot(n, q, q));
        const v8 inverse = choose(length > 1e-9, 1 / length, (v8){0});
        z *= inverse; /* from now on the coefficient along q */
        store(b->along + 8 * (size_t)k, z);
        for (uint32_t j = 0; j < n; j++) {
            const v8 unit = inverse * load(q + 8 * (size_t)j);
            store(q + 8 * (size_t)j, unit);
            store(b->change + 8 * (size_t)j, load(b->change + 8 * (size_t)j) - z * unit);
        }
    }
}

/* The change that the formulation asks for. */
static void given_change(ns_bundle *b)
{
    const ns_problem *problem = b->problem;
    memcpy(b->inputs, b->x_new, 8 * (size_t)b->n * sizeof(double));
    memcpy(b->inputs + 8 * (size_t)b->n, b->g, 8 * (size_t)problem->n_shift * sizeof(double));
    ns_program_eval8(problem->correction, b->work_change, b->t_new, b->inputs, b->change);
}

/* Moves x_new + x_low in the lanes whose step is good. */
static void project(ns_bundle *b)
{
    const double enough = 4;
    v8 worst = look(b, b->x_new, b->x_low);
    i8 going = load_mask(b->good) & (worst > enough);
    for (int round = 0; round < PROJECT_ROUNDS && bits(going); round++) {
        if (b->problem->correction)
            given_change(b);
        else
            smallest_change(b);
        going &= not_finite(b->n, b->change) == 0;
        for (uint32_t j = 0; j < b->n; j++) {
            const size_t at = 8 * (size_t)j;
            v8 low;
            store(b->x_try + at, add_compensated(load(b->x_new + at), load(b->x_low + at),
                                                 load(b->change + at) * b->metric[j], &low));
            store(b->x_try_low + at, low);
        }
        const v8 before = worst;
        worst = look(b, b->x_try, b->x_try_low);
        going &= worst < before;
        for (uint32_t j = 0; j < b->n; j++) {
            const size_t at = 8 * (size_t)j;
            store(b->x_new + at, choose(going, load(b->x_try + at), load(b->x_new + at)));
            store(b->x_low + at, choose(going, load(b->x_try_low + at), load(b->x_low + at)));
        }
        going &= (worst > enough) & ~(worst > 0.5 * before);
    }
}

#endif
