/* Native code by the compiler: the same bits as the interpreter, on every model of the gallery;
 * the cache; and what happens without a compiler or with a spoilt cache.  Machine code of our
 * own: test_machine.c. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "eval/native/native.h"
#include "expr/eval.h"
#include "session/model.h"
#include "support/bits.h"
#include "support/gallery.h"

static ns_model *load(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, name);
    ns_model *model = ns_model_load(path, NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    if (model->status != NS_OK)
        fail_msg("%s: %s", name, model->messages);
    return model;
}

/* ---- a cache of our own ------------------------------------------------------------------ */

static char cache[64];

static int new_cache(void **state)
{
    (void)state;
    snprintf(cache, sizeof cache, "/tmp/noslip-test-XXXXXX");
    if (!mkdtemp(cache))
        return -1;
    return setenv("NOSLIP_NATIVE", "c", 1) != 0 ? -1 : setenv("XDG_CACHE_HOME", cache, 1);
}

/* The files of the cache; `path`: one of them, `remove`: away with them all. */
static int count_files(char path[512], bool remove)
{
    char folder[128];
    snprintf(folder, sizeof folder, "%s/noslip", cache);
    DIR *at = opendir(folder);
    int n = 0;
    for (const struct dirent *entry; at && (entry = readdir(at)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char file[512];
        snprintf(file, sizeof file, "%s/%s", folder, entry->d_name);
        if (path)
            strcpy(path, file);
        if (remove)
            unlink(file);
        n++;
    }
    if (at)
        closedir(at);
    if (remove)
        rmdir(folder);
    return n;
}

static int end_cache(void **state)
{
    (void)state;
    count_files(NULL, true);
    unsetenv("NOSLIP_CC");
    unsetenv("NOSLIP_NATIVE");
    return rmdir(cache);
}

/* ---- bits -------------------------------------------------------------------------------- */

enum { MOST = 200, STATES = 4 };

/* The program at random states near the model's start, on one lane and on eight: all
 * outputs. */
static double *outputs(const ns_model *model, const ns_program *program, size_t *n)
{
    const uint32_t nx = ns_program_nx(program), np = model->problem->np;
    const uint32_t nout = ns_program_nout(program);
    double *work1 = block_new(ns_program_work1(program));
    double *work8 = block_new(ns_program_work8(program));
    double *p8 = block_new(8 * (size_t)np), *x8 = block_new(8 * (size_t)nx), *t8 = block_new(8);
    double *x = block_new(nx), *p = block_new(np), *out = block_new(nout);
    *n = (size_t)STATES * 2 * 8 * nout;
    double *all = block_new(*n), *at = all;
    uint64_t seed = 7;
    for (uint32_t i = 0; i < np; i++)
        for (uint32_t lane = 0; lane < 8; lane++) /* parameters that differ from lane to lane */
            p8[8 * i + lane] = model->p[i] * (1 + 0.01 * lane);
    ns_program_bind8(program, work8, p8);
    for (int state = 0; state < STATES; state++) {
        for (uint32_t lane = 0; lane < 8; lane++)
            t8[lane] = ns_eval_random(&seed);
        for (uint32_t i = 0; i < 8 * nx; i++)
            x8[i] = model->x0[i / 8] + 0.3 * (state + 1) * (ns_eval_random(&seed) - 0.5);
        ns_program_eval8(program, work8, t8, x8, at);
        const double *eight = at;
        at += 8 * (size_t)nout;
        for (uint32_t lane = 0; lane < 8; lane++) {
            for (uint32_t i = 0; i < nx; i++)
                x[i] = x8[8 * i + lane];
            for (uint32_t i = 0; i < np; i++)
                p[i] = p8[8 * i + lane];
            ns_program_bind1(program, work1, p);
            ns_program_eval1(program, work1, t8[lane], x, out);
            for (uint32_t i = 0; i < nout; i++) {
                if (!same_bits(out[i], eight[8 * i + lane]))
                    fail_msg("%s: output %u, lane %u: %a in lanes, %a alone", model->name, i,
                             lane, eight[8 * i + lane], out[i]);
                *at++ = out[i];
            }
        }
    }
    double *const blocks[] = {work1, work8, p8, x8, t8, x, p, out};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    return all;
}

/* Some models, compiled together. */
typedef struct batch {
    ns_model *models[MOST];
    ns_native_request requests[MOST];
    double *expected[MOST];
    uint32_t n, finite, all;
    size_t cells;
    double seconds;
} batch;

static void check_batch(batch *b)
{
    char message[400];
    ns_native_facts facts;
    ns_native *native = ns_native_new(b->requests, b->n, message, sizeof message, &facts);
    if (!native)
        fail_msg("%s", message);
    b->seconds += facts.seconds;
    for (uint32_t i = 0; i < b->n; i++) {
        size_t count;
        double *found = outputs(b->models[i], b->requests[i].program, &count);
        bool all_finite = true;
        for (size_t k = 0; k < count; k++) {
            all_finite = all_finite && isfinite(found[k]);
            if (!same_bits(found[k], b->expected[i][k]))
                fail_msg("%s: %a native, %a interpreted", b->models[i]->name, found[k],
                         b->expected[i][k]);
        }
        b->finite += all_finite;
        free(found);
        free(b->expected[i]);
    }
    ns_native_free(native);
    for (uint32_t i = 0; i < b->n; i++)
        ns_model_free(b->models[i]);
    b->all += b->n;
    b->n = 0;
    b->cells = 0;
}

/* Every model that is quickly compiled, and one of each other kind.  Small batches: long
 * texts are compiled with other flags. */
static void gallery_has_the_same_bits(void **state)
{
    (void)state;
    enum { LARGE = 120, BATCH = 1200 };
    static const char *const large[] = {"chain-30", "sphere-two-particles"};
    batch *b = calloc(1, sizeof *b);
    assert_non_null(b);
    char *names[GALLERY_MOST];
    const size_t n = gallery_list(names);
    for (size_t k = 0; k < n; k++) {
        ns_model *model = load(names[k]);
        const size_t cells = ns_program_work1(model->problem->rhs);
        bool wanted = cells < LARGE;
        for (size_t i = 0; i < sizeof large / sizeof *large; i++)
            wanted = wanted || strcmp(names[k], large[i]) == 0;
        if (!wanted) {
            ns_model_free(model);
            continue;
        }
        if (b->n && b->cells + cells > BATCH)
            check_batch(b);
        assert_true(b->n < MOST);
        b->models[b->n] = model;
        b->requests[b->n] = (ns_native_request){
            .program = model->problem->rhs, .one = true, .eight = true};
        size_t count;
        b->expected[b->n] = outputs(model, model->problem->rhs, &count);
        b->cells += cells;
        b->n++;
    }
    gallery_free(names, n);
    check_batch(b);
    print_message("%u models: %.2f s\n", b->all, b->seconds);
    assert_true(b->all > 50);
    assert_true(b->finite > b->all / 2); /* the comparison is not one of nans */
    free(b);
}

/* ---- runs -------------------------------------------------------------------------------- */

/* The state at the end of a run, all its bits. */
static void run_model(const ns_model *model, const char *method, double until, double *x,
                      uint64_t *steps)
{
    ns_run_options options = ns_model_run_options(model);
    options.method = method;
    options.until = until;
    options.tolerance = 0;
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(model->problem, &options, model->p, model->x0, &status, &message);
    assert_non_null(run);
    assert_int_equal(ns_run_to(run, until), NS_OK);
    memcpy(x, ns_run_state(run), model->problem->n * sizeof *x);
    *steps = ns_run_outcome(run)->steps;
    ns_run_free(run);
}

static void runs_have_the_same_bits(void **state)
{
    (void)state;
    static const char *const names[] = {"rattleback", "snakeboard", "chain-30",
                                        "sphere-one-particle", "falling-disk"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ns_model *model = load(names[i]);
        const uint32_t n = model->problem->n;
        double *interpreted = block_new(n), *compiled = block_new(n);
        static const char *const methods[] = {"gauss", "dop853"};
        for (int k = 0; k < 2; k++) {
            uint64_t steps, steps_compiled;
            char message[400];
            run_model(model, methods[k], 0.3, interpreted, &steps);
            if (!ns_problem_native(model->problem, ns_method_find(methods[k])->lanes, message,
                                   sizeof message, NULL))
                fail_msg("%s", message);
            run_model(model, methods[k], 0.3, compiled, &steps_compiled);
            ns_problem_interpret(model->problem);
            assert_int_equal(steps, steps_compiled);
            assert_memory_equal(interpreted, compiled, n * sizeof *compiled);
        }
        free(interpreted);
        free(compiled);
        ns_model_free(model);
    }
}

/* ---- the cache --------------------------------------------------------------------------- */

static bool native_of(const ns_model *model, bool *cached, char message[400])
{
    ns_native_facts facts;
    const bool native = ns_problem_native(model->problem, 8, message, 400, &facts);
    *cached = facts.cached;
    return native;
}

/* Makes native code, says whether it was kept, and checks that it is used and right. */
static bool obtain(const ns_model *model)
{
    bool cached;
    char message[400];
    size_t n;
    double *expected = outputs(model, model->problem->rhs, &n);
    if (!native_of(model, &cached, message))
        fail_msg("%s", message);
    double *found = outputs(model, model->problem->rhs, &n);
    assert_memory_equal(expected, found, n * sizeof *found);
    free(expected);
    free(found);
    ns_problem_interpret(model->problem);
    return cached;
}

static void code_is_kept(void **state)
{
    (void)state;
    ns_model *model = load("chaplygin-sleigh");
    char path[512];
    assert_false(obtain(model));
    assert_true(obtain(model));
    assert_int_equal(count_files(path, false), 1); /* nothing but the library is left */
    struct stat s;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/noslip", cache);
    assert_int_equal(stat(folder, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);

    /* a byte changed: not believed, and made anew */
    int file = open(path, O_RDWR);
    char byte;
    assert_int_equal(pread(file, &byte, 1, 4000), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, 4000), 1);
    close(file);
    assert_false(obtain(model));
    assert_true(obtain(model));

    /* cut off in the middle, empty, no library at all */
    assert_int_equal(truncate(path, 5000), 0);
    assert_false(obtain(model));
    assert_int_equal(truncate(path, 0), 0);
    assert_false(obtain(model));

    /* a file that others may write, a symbolic link */
    assert_int_equal(chmod(path, 0722), 0);
    assert_false(obtain(model));
    char aside[600];
    snprintf(aside, sizeof aside, "%s-aside", path);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink(aside, path), 0);
    assert_false(obtain(model));
    assert_true(obtain(model));

    /* a folder that others may read or write is not used; the code is made for this time
     * only */
    assert_int_equal(chmod(folder, 0755), 0);
    assert_false(obtain(model));
    assert_false(obtain(model));
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(obtain(model));

    /* other parameters are the same code, another model is not */
    ns_model *other = load("knife-edge");
    assert_false(obtain(other));
    ns_model_free(other);
    ns_model_free(model);
}

static void processes_share_the_cache(void **state)
{
    (void)state;
    enum { PROCESSES = 4 };
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) {
            ns_model *model = load("knife-edge");
            bool cached;
            char message[400];
            for (int k = 0; k < 2; k++) {
                if (!native_of(model, &cached, message))
                    _exit(1);
                ns_problem_interpret(model->problem);
            }
            ns_model_free(model);
            _exit(cached ? 0 : 2); /* the second time it is there */
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(count_files(NULL, false), 1);
}

static void compilers_that_fail(void **state)
{
    (void)state;
    ns_model *model = load("knife-edge");
    static const struct {
        const char *compiler, *message;
    } cases[] = {
        {"", "switched off"},
        {"no-such-compiler", "no compiler `no-such-compiler`"},
        {"/no/such/compiler", "no compiler"},
        {"/", "no compiler"},
        {"false", "failed"},
        {"true", "cannot be read"}, /* it succeeds and makes nothing */
        {"cc; true", "no compiler"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("NOSLIP_CC", cases[i].compiler, 1);
        bool cached;
        char message[400];
        assert_false(native_of(model, &cached, message));
        if (!strstr(message, cases[i].message))
            fail_msg("'%s': %s", cases[i].compiler, message);
    }
    char path[512] = "";
    assert_int_equal(count_files(path, false), 0);
    uint64_t steps;
    double *x = block_new(model->problem->n);
    run_model(model, "gauss", 0.1, x, &steps); /* the interpreter is still there */
    free(x);
    ns_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gallery_has_the_same_bits, new_cache, end_cache),
        cmocka_unit_test_setup_teardown(runs_have_the_same_bits, new_cache, end_cache),
        cmocka_unit_test_setup_teardown(code_is_kept, new_cache, end_cache),
        cmocka_unit_test_setup_teardown(processes_share_the_cache, new_cache, end_cache),
        cmocka_unit_test_setup_teardown(compilers_that_fail, new_cache, end_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
