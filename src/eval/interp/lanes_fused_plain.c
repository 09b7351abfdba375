/* Eight lanes with fused operations, plain. */
#define _GNU_SOURCE
#define NS_WIDTH 2
#include "eval/interp/lanes_fused.inc"

const ns_engine ns_engine_fused_plain = {
    .name = "plain", .bind = lanes_bind, .eval = lanes_eval};
