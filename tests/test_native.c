/* Native code: the same bits as the interpreter, on every model of the gallery; the cache; and what
 * happens without a compiler or with a spoilt cache. */
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

#include "code/native.h"
#include "expr/eval.h"
#include "io/model.h"

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static double *block_new(size_t n)
{
    double *block = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64 + 64);
    assert_non_null(block);
    for (size_t i = 0; i < n; i++)
        block[i] = NAN; /* nothing may be read before it is written */
    return block;
}

static ns_model *load(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", NS_MODELS_DIR, name);
    ns_model *model = ns_model_load(path, NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    if (model->status != NS_OK)
        fail_msg("%s: %s", name, model->messages);
    return model;
}

/* ---- a cache of our own --------------------------------------------------------------------- */

static char cache[64];

static int new_cache(void **state)
{
    (void)state;
    snprintf(cache, sizeof cache, "/tmp/noslip-test-XXXXXX");
    if (!mkdtemp(cache))
        return -1;
    return setenv("XDG_CACHE_HOME", cache, 1);
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
    return rmdir(cache);
}

/* ---- bits ----------------------------------------------------------------------------------- */

enum { MOST = 200, STATES = 4 };

/* The program at random states near the model's start, on one lane and on eight: all outputs. */
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

static void gallery_has_the_same_bits(void **state)
{
    (void)state;
    ns_model *models[MOST];
    ns_native_request requests[MOST];
    double *expected[MOST];
    uint32_t n = 0;
    DIR *folder = opendir(NS_MODELS_DIR);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".mech") != 0)
            continue;
        assert_true(n < MOST);
        models[n] = load(entry->d_name);
        requests[n] = (ns_native_request){models[n]->problem->rhs, true, true};
        size_t count;
        expected[n] = outputs(models[n], requests[n].program, &count);
        n++;
    }
    closedir(folder);
    assert_true(n > 40);
    char message[400];
    ns_native_facts facts;
    ns_native *native = ns_native_new(requests, n, message, sizeof message, &facts);
    if (!native)
        fail_msg("%s", message);
    print_message("%u models: %.2f s, %zu bytes of C\n", n, facts.seconds, facts.text_length);
    uint32_t finite = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t count;
        double *found = outputs(models[i], requests[i].program, &count);
        bool all_finite = true;
        for (size_t k = 0; k < count; k++) {
            all_finite = all_finite && isfinite(found[k]);
            if (!same_bits(found[k], expected[i][k]))
                fail_msg("%s: %a native, %a interpreted", models[i]->name, found[k],
                         expected[i][k]);
        }
        finite += all_finite;
        free(found);
        free(expected[i]);
    }
    assert_true(finite > n / 2); /* the comparison is not one of nans */
    ns_native_free(native);
    for (uint32_t i = 0; i < n; i++)
        ns_model_free(models[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gallery_has_the_same_bits, new_cache, end_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
