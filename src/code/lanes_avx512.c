/* Eight lanes, avx512. */
#define _GNU_SOURCE
#define NS_FOR_NATIVE
#define NS_WIDTH 8
#define NS_ENGINE(name) lanes_##name
#include "code/lanes.inc"

static bool available(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

const ns_lanes ns_lanes_avx512 = {.name = "avx512",
                                  .math = &lanes_math,
                                  .available = available,
                                  .bind = lanes_bind,
                                  .eval = lanes_eval,
                                  .fused = &ns_lanes_fused_avx512};
