/* Memory that runs out in the library: every allocation of every call below fails once.  The
 * call comes to the right answer or says that there was no memory, and what it was given is as
 * good as before: the same call, asked again, gives the right answer. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noslip/noslip.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)

int main(void)
{
    printf("skipped: a build with an allocator of its own\n");
    return 0;
}

#else

/* ---- an allocator that fails ------------------------------------------------------------- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static _Atomic long left; /* allocations until one fails; 0: none does */
static _Atomic long made;

static bool fails(void)
{
    made++;
    if (!left || --left)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t a, size_t b)
{
    return fails() ? NULL : __libc_calloc(a, b);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t a, size_t n)
{
    return fails() ? NULL : __libc_memalign(a, n);
}

/* ---- calls ------------------------------------------------------------------------------- */

static const char pendulum[] =
    "title \"Pendulum\"\nparam k = 2, l = 0.5\ncoordinate q in rad\n"
    "lagrangian l^2*q'^2/2 + k*l*cos(q)\nobserve height in m = -l*cos(q)\n"
    "event low: q = 0\nstart { q = 1; q' = 0 }\nrun { until 2 }\n";

/* What a call came to, with a hash of its numbers: false, and a word, if memory ran out. */
typedef bool call(ns_model *model, double *sum, char *why, size_t room);

static bool failed(char *why, size_t room, const char *words)
{
    snprintf(why, room, "%s", words ? words : "");
    return false;
}

static bool open_it(ns_model *model, double *sum, char *why, size_t room)
{
    (void)model;
    ns_model *m = ns_model_open_text("pendulum", pendulum, NULL, NULL, 0);
    const bool good = m && ns_model_verdict(m) == NS_DONE;
    *sum = good ? (double)ns_model_count(m, NS_VALUES) + ns_model_number(m, NS_STATES, 0) : 0;
    if (!good)
        failed(why, room, m ? ns_model_messages(m) : "memory");
    ns_model_close(m);
    return good;
}

static bool vary_it(ns_model *model, double *sum, char *why, size_t room)
{
    static const char *const names[] = {"k"}, *const values[] = {"3"};
    ns_model *m = ns_model_variant(model, names, values, 1);
    const bool good = m && ns_model_verdict(m) == NS_DONE;
    *sum = good ? ns_model_number(m, NS_PARAMETERS, 0) : 0;
    if (!good)
        failed(why, room, m ? ns_model_messages(m) : "memory");
    ns_model_close(m);
    return good;
}

static bool simulate_by(ns_model *model, const char *method, double *sum, char *why,
                        size_t room)
{
    ns_simulate_options options;
    ns_simulate_defaults(&options, sizeof options);
    options.method = method;
    options.every = 0.25;
    ns_result *r = ns_simulate(model, &options);
    const bool good = r && ns_result_verdict(r) == NS_DONE;
    const double *height = good ? ns_result_values(r, "height") : NULL;
    *sum = 0;
    for (size_t i = 0; height && i < ns_result_rows(r); i++)
        *sum += (double)(i + 1) * height[i];
    if (!good)
        failed(why, room, r ? ns_result_reason(r) : "memory");
    if (good && !height)
        failed(why, room, "memory"); /* it is given when asked for */
    ns_result_close(r);
    return good && height;
}

static bool simulate(ns_model *model, double *sum, char *why, size_t room)
{
    return simulate_by(model, NULL, sum, why, room);
}

static bool simulate_bdf(ns_model *model, double *sum, char *why, size_t room)
{
    return simulate_by(model, "bdf", sum, why, room);
}

static bool write_it(ns_model *model, double *sum, char *why, size_t room)
{
    ns_simulate_options options;
    ns_simulate_defaults(&options, sizeof options);
    options.motion = 1;
    ns_result *r = ns_simulate(model, &options);
    size_t n = 0, all = 0;
    bool good = r && ns_result_verdict(r) == NS_DONE;
    if (!good)
        failed(why, room, r ? ns_result_reason(r) : "memory");
    static const char *const formats[] = {"csv", "svg", "report"};
    for (int i = 0; good && i < 3; i++) {
        char *bytes = ns_result_bytes(r, formats[i], &n);
        all += i < 2 ? n : 0; /* a report has the times of the computation in it */
        good = bytes != NULL;
        if (!good)
            failed(why, room, ns_result_error(r));
        ns_free(bytes);
    }
    *sum = (double)all;
    ns_result_close(r);
    return good;
}

static bool step(ns_model *model, double *sum, char *why, size_t room)
{
    ns_simulation *s = ns_simulation_new(model, NULL);
    double x[2] = {0};
    char bytes[1 << 16];
    bool good = s && ns_simulation_advance(s, 0.5) == NS_DONE;
    const size_t length = good ? ns_simulation_save(s, bytes, sizeof bytes) : 0;
    good = good && length && ns_simulation_set_parameter(s, "k", 5) == NS_DONE &&
           ns_simulation_advance(s, 1) == NS_DONE &&
           ns_simulation_restore(s, bytes, length) == NS_DONE &&
           ns_simulation_advance(s, 1.5) == NS_DONE && ns_simulation_state(s, x) == NS_DONE;
    *sum = x[0] + 10 * x[1];
    if (!good)
        failed(why, room, s ? ns_simulation_reason(s) : "memory");
    if (!good && s && ns_simulation_verdict(s) != NS_DONE && !*why)
        failed(why, room, "memory");
    ns_simulation_close(s);
    return good;
}

static bool batch(ns_model *model, double *sum, char *why, size_t room)
{
    ns_batch *b = ns_batch_new(model);
    const bool good = b && ns_batch_over(b, "k=1:3:5") == NS_DONE &&
                      ns_batch_get(b, "height") == NS_DONE &&
                      ns_batch_set_number(b, "threads", 1) == NS_DONE &&
                      ns_batch_run(b) == NS_DONE;
    *sum = 0;
    for (size_t i = 0; good && i < ns_batch_rows(b); i++)
        *sum += (double)(i + 1) * ns_batch_values(b)[i * ns_batch_columns(b) + 1];
    if (!good)
        failed(why, room, b ? ns_batch_reason(b) : "memory");
    ns_batch_close(b);
    return good;
}

static bool study(ns_model *model, double *sum, char *why, size_t room)
{
    static const char *const names[] = {"until"}, *const words[] = {"1"};
    ns_study *s = ns_study_run(model, NULL, "lyapunov", names, words, 1, NULL, NULL);
    const bool good = s && ns_study_verdict(s) == NS_DONE;
    *sum = good ? (double)ns_study_fact_count(s) + (double)ns_study_table_count(s) : 0;
    if (!good)
        failed(why, room, s ? ns_study_messages(s) : "memory");
    ns_study_close(s);
    return good;
}

static bool equations(ns_model *model, double *sum, char *why, size_t room)
{
    char *text = ns_model_equations(model, "latex");
    *sum = text ? (double)strlen(text) : 0;
    const bool good = text != NULL;
    ns_free(text);
    return good || failed(why, room, "memory");
}

/* ---- every allocation -------------------------------------------------------------------- */

static void every(call *what)
{
    ns_model *model = ns_model_open_text("pendulum", pendulum, NULL, NULL, 0);
    char why[400];
    double right, got;
    if (!what(model, &right, why, sizeof why)) /* what is made once is made then */
        fail_msg("%s", why);
    made = 0;
    assert_true(what(model, &right, why, sizeof why));
    const long all = made;
    for (long n = 1; n <= all; n++) {
        why[0] = 0;
        left = n;
        const bool good = what(model, &got, why, sizeof why);
        left = 0;
        if (good ? got != right : !strstr(why, "memory"))
            fail_msg("allocation %ld of %ld: %s, %.17g instead of %.17g", n, all,
                     good ? "an answer" : why, got, right);
        if (!what(model, &got, why, sizeof why) || got != right)
            fail_msg("after allocation %ld of %ld: %s, %.17g instead of %.17g", n, all, why,
                     got, right);
    }
    print_message("  %ld allocations\n", all);
    ns_model_close(model);
}

#define CALL(name)                                                                             \
    static void every_##name(void **state)                                                     \
    {                                                                                          \
        (void)state;                                                                           \
        every(name);                                                                           \
    }
CALL(open_it)
CALL(vary_it)
CALL(simulate)
CALL(simulate_bdf)
CALL(write_it)
CALL(step)
CALL(batch)
CALL(study)
CALL(equations)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_open_it),   cmocka_unit_test(every_vary_it),
        cmocka_unit_test(every_simulate),  cmocka_unit_test(every_simulate_bdf),
        cmocka_unit_test(every_write_it),  cmocka_unit_test(every_step),
        cmocka_unit_test(every_batch),     cmocka_unit_test(every_study),
        cmocka_unit_test(every_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
