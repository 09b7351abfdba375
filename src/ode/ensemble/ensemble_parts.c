/* The parts of a cascade as the lanes of `gauss` walk through them: see ensemble_kernel.h. */
#include <stdlib.h>

#include "ode/ensemble/ensemble_kernel.h"

/* Where the rate of a state of a block is found. */
static int32_t place_of_rate(const ns_bundle *b, const ns_rate_block *block, uint32_t m)
{
    const double *at = block->row[m] == NS_NO_ROW
                           ? b->w + 8 * (size_t)block->source[m]
                           : b->out + 8 * (size_t)(block->rows + block->row[m]);
    return (int32_t)((at - b->out) * (ptrdiff_t)sizeof *at);
}

static uint32_t list(const ns_bundle *b, const ns_rate_part *part, uint32_t block, bool live,
                     uint32_t at, ns_bundle_state *out)
{
    const ns_rate_block *of = &part->block[block];
    const uint32_t from = live ? 0 : of->live, to = live ? of->live : of->n;
    for (uint32_t m = from; m < to; m++)
        out[at++] = (ns_bundle_state){.place = 8 * (uint32_t)sizeof(double) * of->state[m],
                                      .rate = place_of_rate(b, of, m)};
    return at;
}

static void add_call(ns_bundle_parts *parts, const ns_bundle *b, const ns_rate_block *block,
                     uint32_t *call)
{
    if (block->rhs || block->all)
        parts->call[(*call)++] = (ns_bundle_call){
            .program = block->all ? b->problem->rhs : block->rhs,
            .work = block->all ? b->work : b->work_parts + block->place,
            .out = b->out + 8 * (size_t)block->rows};
}

/* Blocks of a part with feedback are evaluated together.  Without, each is a part of its own,
 * for it may need the states of those before it. */
ns_bundle_parts *ns_bundle_parts_new(const ns_bundle *b)
{
    const ns_cascade *cascade = b->problem->cascade;
    uint32_t blocks = 0;
    for (uint32_t p = 0; p < cascade->n; p++)
        blocks += cascade->part[p].n_blocks;
    ns_bundle_parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return NULL;
    parts->state = calloc((size_t)b->n + 1, sizeof *parts->state);
    parts->part = calloc((size_t)blocks + 1, sizeof *parts->part);
    parts->call = calloc((size_t)blocks + 1, sizeof *parts->call);
    if (!parts->state || !parts->part || !parts->call) {
        ns_bundle_parts_free(parts);
        return NULL;
    }
    uint32_t at = 0, call = 0;
    for (int live = 1; live >= 0; live--) {
        parts->n = 0;
        for (uint32_t p = 0; p < cascade->n; p++) {
            const ns_rate_part *part = &cascade->part[p];
            for (uint32_t k = 0; k < part->n_blocks; k++) {
                const bool fresh = k == 0 || !part->feedback;
                parts->n += fresh;
                ns_bundle_part *q = &parts->part[parts->n - 1];
                if (live) {
                    if (fresh)
                        *q = (ns_bundle_part){
                            .live = at, .call = call, .feedback = part->feedback};
                    q->major |= part->block[k].major;
                    q->live_end = at = list(b, part, k, true, at, parts->state);
                    add_call(parts, b, &part->block[k], &call);
                    q->call_end = call;
                } else {
                    if (fresh)
                        q->idle = at;
                    q->idle_end = at = list(b, part, k, false, at, parts->state);
                }
            }
        }
    }
    return parts;
}

void ns_bundle_parts_free(ns_bundle_parts *parts)
{
    if (!parts)
        return;
    free(parts->state);
    free(parts->part);
    free(parts->call);
    free(parts);
}
