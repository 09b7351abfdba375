/* The module noslip.wasm is the library: its exports are the functions of noslip.h, and what a
 * host written in JavaScript cannot do by itself. */
#include "base/math/fused.h"
#include "noslip/noslip.h"

extern const char *ns_wasm_version(void);
extern ns_progress_function ns_wasm_progress(void);

NS_API const char *ns_wasm_version(void)
{
    return ns_version();
}

/* What the host puts in the place of relaxed multiply-adds where they are not fused, or not
 * known: the same operands in the same order. */
extern ns_pair ns_wasm_fused(ns_pair a, ns_pair b, ns_pair c);

NS_API ns_pair ns_wasm_fused(ns_pair a, ns_pair b, ns_pair c)
{
    return ns_pair_fused_by_parts(a, b, c);
}

/* The host's function `noslip.progress`: 0 goes on. */
__attribute__((import_module("noslip"), import_name("progress"))) int
ns_wasm_host_progress(double fraction, double at);

static int progress(void *context, double fraction, double at)
{
    (void)context;
    return ns_wasm_host_progress(fraction, at);
}

/* A progress function that calls the host, for ns_options_set_progress and ns_study_run. */
NS_API ns_progress_function ns_wasm_progress(void)
{
    return progress;
}
