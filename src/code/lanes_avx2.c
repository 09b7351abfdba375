/* Eight lanes, avx2. */
#define _GNU_SOURCE
#define NS_FOR_NATIVE
#define NS_WIDTH 4
#define NS_ENGINE(name) lanes_##name
#include "code/lanes.inc"

static bool available(void)
{
    return __builtin_cpu_supports("avx2");
}

const ns_lanes ns_lanes_avx2 = {.name = "avx2",
                                .math = &lanes_math,
                                .available = available,
                                .bind = lanes_bind,
                                .eval = lanes_eval,
                                .fused = &ns_lanes_fused_avx2};
