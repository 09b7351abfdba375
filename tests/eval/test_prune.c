/* The folder of compiled code is kept small. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "eval/prune.h"

static char cache[] = "/tmp/noslip-prune-XXXXXX";

/* A file of this many bytes that was used this many days ago. */
static void put_file(const char *name, size_t bytes, double days)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", cache, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)bytes), 0);
    const struct timespec then = {.tv_sec = time(NULL) - (time_t)(days * 86400)};
    const struct timespec times[2] = {then, then};
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static bool has_file(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", cache, name);
    return access(path, F_OK) == 0;
}

#define DIGITS_31 "0123456789abcdef0123456789abcde"

/* What was used longest ago goes first, what is young or not ours stays, dead compilations
 * go. */
static void code_is_pruned(void **state)
{
    (void)state;
    const ns_prune_limits limits = {
        .bytes = 1000, .unused = 60 * 86400, .young = 3600, .left_behind = 3600};
    put_file(DIGITS_31 "0.so", 10, 61);
    put_file(DIGITS_31 "1.so", 400, 30);
    put_file(DIGITS_31 "2.so", 400, 20);
    put_file(DIGITS_31 "3.so", 400, 10);
    put_file(DIGITS_31 "4.so", 400, 0);
    put_file(DIGITS_31 "5-17-3.a.c", 10, 1);
    put_file(DIGITS_31 "6-17-3.a.c", 10, 0);
    put_file("notes.so", 5000, 100);
    put_file(DIGITS_31 "x.so", 5000, 100);
    assert_int_equal(ns_prune(cache, &limits), 4); /* 0, 5, then 1 and 2 until 1000 bytes */
    assert_false(has_file(DIGITS_31 "0.so") || has_file(DIGITS_31 "1.so"));
    assert_false(has_file(DIGITS_31 "2.so") || has_file(DIGITS_31 "5-17-3.a.c"));
    assert_true(has_file(DIGITS_31 "3.so") && has_file(DIGITS_31 "4.so"));
    assert_true(has_file(DIGITS_31 "6-17-3.a.c") && has_file("notes.so"));
    assert_true(has_file(DIGITS_31 "x.so"));
    assert_int_equal(ns_prune(cache, &limits), 0);

    /* a library that was just used stays, though there is no room for it */
    char path[300];
    snprintf(path, sizeof path, "%s/%s", cache, DIGITS_31 "3.so");
    ns_prune_used(path);
    const ns_prune_limits narrow = {
        .bytes = 1, .unused = 86400, .young = 3600, .left_behind = -1};
    assert_int_equal(ns_prune(cache, &narrow), 1); /* 6 */
    assert_true(has_file(DIGITS_31 "3.so") && has_file(DIGITS_31 "4.so"));
    assert_int_equal(ns_prune("/nonexistent/folder", &limits), 0);
    static const char *const rest[] = {DIGITS_31 "3.so", DIGITS_31 "4.so", DIGITS_31 "x.so",
                                       "notes.so"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        snprintf(path, sizeof path, "%s/%s", cache, rest[i]);
        unlink(path);
    }
}

static int new_cache(void **state)
{
    (void)state;
    return mkdtemp(cache) ? 0 : -1;
}

static int end_cache(void **state)
{
    (void)state;
    return rmdir(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(code_is_pruned, new_cache, end_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
