/* Eight lanes, plain. */
#define _GNU_SOURCE
#define NS_FOR_NATIVE
#define NS_WIDTH 2
#define NS_ENGINE(name) lanes_##name
#include "eval/interp/lanes.inc"

const ns_engine ns_engine_plain = {.name = "plain",
                                   .math = &lanes_math,
                                   .level = NS_SIMD_PLAIN,
                                   .bind = lanes_bind,
                                   .eval = lanes_eval,
                                   .pack = lanes_pack,
                                   .unpack = lanes_unpack,
                                   .fused = &ns_engine_fused_plain};
