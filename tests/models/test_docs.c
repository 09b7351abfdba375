/* The guides say that every example in them is a whole model: each is loaded and run for a
 * while.  (docs/language.md has fragments too; tests/lang/test_lang_read.c reads those.  The
 * commands of the guides: tests/cli/test_doc_commands.sh.) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ode/run.h"
#include "support/motion.h"

/* Runs all blocks of a page that begin with this line; how many there were. */
static int run_blocks(const char *name, const char *open)
{
    static const char close[] = "\n```";
    int count = 0;
    char path[512];
    snprintf(path, sizeof path, NS_DOCS_DIR "/%s", name);
    char *text;
    size_t length;
    assert_int_equal(ns_file_read(path, 1 << 20, &text, &length), 0);
    for (const char *at = strstr(text, open); at; at = strstr(at, open)) {
        at += strlen(open);
        char *end = strstr(at, close);
        assert_non_null(end);
        *++end = '\0';
        print_message("%s: %s\n", name, at);
        motion m = motion_text(at, NULL);
        const ns_status status = motion_to(&m, 0.2);
        assert_true(status == NS_OK || status == NS_STOP_EVENT || status == NS_STOP_ASKED);
        motion_close(&m);
        count++;
        at = end + 1;
    }
    free(text);
    return count;
}

static int run_page(const char *name)
{
    return run_blocks(name, "```mech\n");
}

/* Of the reference, the examples that are whole models. */
static void language(void **state)
{
    (void)state;
    assert_true(run_blocks("language.md", "```mech run\n") >= 6);
}

static void studies(void **state)
{
    (void)state;
    assert_true(run_blocks("studies.md", "```mech run\n") >= 5);
}

static void frames(void **state)
{
    (void)state;
    assert_true(run_page("frames.md") >= 6);
}

static void rolling(void **state)
{
    (void)state;
    assert_true(run_page("rolling.md") >= 6);
}

static void bodies(void **state)
{
    (void)state;
    assert_true(run_page("bodies.md") >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rolling), cmocka_unit_test(bodies),
                                       cmocka_unit_test(language), cmocka_unit_test(frames),
                                       cmocka_unit_test(studies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
