/* See install.h.  The memory is written first and made executable afterwards: it is never
 * both. */
#define _GNU_SOURCE
#include "eval/machine/install.h"

#include <string.h>

#include "base/check.h"
#include "eval/machine/machine.h"

#if NS_X86

#include <sys/mman.h>
#include <unistd.h>

/* The functions that a request may ask for. */
enum { ONE, EIGHT, EIGHT_FUSED, FUNCTIONS };

static bool is_asked_for(const ns_native_request *r, int which)
{
    return which == ONE ? r->one : which == EIGHT ? r->eight : r->eight_fused;
}

/* A function of a program on this machine; false: not possible. */
static bool target_for(const ns_program *program, int which, ns_machine_target *target)
{
    const char *lanes = ns_program_lanes_name(program);
    const bool longest = strcmp(lanes, "avx512") == 0;
    if (!longest && strcmp(lanes, "avx2") != 0)
        return false;
    *target = (ns_machine_target){.shape = which == ONE ? NS_X86_ONE
                                           : longest    ? NS_X86_512
                                                        : NS_X86_256,
                                  .long_form = longest,
                                  .fused = which == EIGHT_FUSED};
    return true;
}

bool ns_install_can(const ns_program *program)
{
    ns_machine_target target;
    return target_for(program, EIGHT, &target);
}

enum { NOT_THERE = -1 };

/* Where the function begins, NOT_THERE: not asked for.  false: not possible. */
static bool write_one(ns_x86 *x, ns_arena *scratch, const ns_native_request *r, int which,
                      int64_t *begins)
{
    ns_machine_target target;
    *begins = NOT_THERE;
    if (!is_asked_for(r, which))
        return true;
    if (!target_for(r->program, which, &target))
        return false;
    *begins = ns_machine_program(x, scratch, ns_program_stream(r->program), target);
    return true;
}

static bool map(ns_installed *made, const uint8_t *code, size_t length)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = (length + page - 1) / page * page;
    void *memory = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);
    if (memory == MAP_FAILED)
        return false;
    memcpy(memory, code, length);
    if (mprotect(memory, pages, PROT_READ | PROT_EXEC) != 0) {
        munmap(memory, pages);
        return false;
    }
    *made = (ns_installed){.memory = memory, .length = pages, .code = length};
    return true;
}

/* ISO C has no cast from object to function. */
static ns_program_code function_at(const ns_installed *made, int64_t begins)
{
    ns_program_code function = NULL;
    void *at = (char *)made->memory + begins;
    if (begins != NOT_THERE)
        memcpy(&function, &at, sizeof function);
    return function;
}

bool ns_install(ns_installed *made, ns_arena *scratch, const ns_native_request *requests,
                uint32_t n)
{
    NS_CHECK(requests && n);
    ns_x86 x = {.arena = scratch};
    int64_t *begins = NS_NEW_ARRAY(scratch, int64_t, FUNCTIONS * ((size_t)n + 1));
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < FUNCTIONS; k++)
            if (!write_one(&x, scratch, &requests[i], k, &begins[FUNCTIONS * i + (uint32_t)k]))
                return false;
    ns_x86_finish(&x);
    if (!map(made, x.code.at, x.code.n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t *at = &begins[FUNCTIONS * i];
        ns_program_use(requests[i].program, function_at(made, at[ONE]),
                       function_at(made, at[EIGHT]), function_at(made, at[EIGHT_FUSED]));
    }
    return true;
}

void ns_install_remove(ns_installed *made)
{
    if (made->memory)
        munmap(made->memory, made->length);
    made->memory = NULL;
}

#else

bool ns_install_can(const ns_program *program)
{
    (void)program;
    return false;
}

bool ns_install(ns_installed *made, ns_arena *scratch, const ns_native_request *requests,
                uint32_t n)
{
    (void)made, (void)scratch, (void)requests, (void)n;
    return false;
}

void ns_install_remove(ns_installed *made)
{
    (void)made;
}

#endif
