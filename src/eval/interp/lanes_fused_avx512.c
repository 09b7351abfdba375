/* Eight lanes with fused operations, avx512. */
#define _GNU_SOURCE
#define NS_WIDTH 8
#include "eval/interp/lanes_fused.inc"

const ns_engine ns_engine_fused_avx512 = {
    .name = "avx512", .bind = lanes_bind, .eval = lanes_eval};
