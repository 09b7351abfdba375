/* Eight lanes with fused operations, avx2. */
#define _GNU_SOURCE
#define NS_WIDTH 4
#include "eval/interp/lanes_fused.inc"

const ns_engine ns_engine_fused_avx2 = {.name = "avx2", .bind = lanes_bind, .eval = lanes_eval};
