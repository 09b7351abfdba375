/* Eight lanes, avx512. */
#define _GNU_SOURCE
#define NS_FOR_NATIVE
#define NS_WIDTH 8
#define NS_ENGINE(name) lanes_##name
#include "eval/interp/lanes.inc"

const ns_engine ns_engine_avx512 = {.name = "avx512",
                                    .math = &lanes_math,
                                    .level = NS_SIMD_AVX512,
                                    .bind = lanes_bind,
                                    .eval = lanes_eval,
                                    .pack = lanes_pack,
                                    .unpack = lanes_unpack,
                                    .fused = &ns_engine_fused_avx512};
