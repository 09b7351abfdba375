/* Fuzz target: forged checkpoints.  The bytes say which run, and which numbers of a good
 * checkpoint of it to replace; the checksums are repaired, so that what is behind them is
 * reached.  Reading must end with a run that can go on, or with a message. */
#define _GNU_SOURCE /* memmem */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "session/checkpoint.h"
#include "session/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Events and a pulse; modes, jumps and bounces that accumulate; a controller. */
static const char *const texts[] = {
    "param k = 1\ncoordinate x\nlagrangian x'^2/2 - k*x^2/2\nforce x = exp(-100*(t - 3)^2)\n"
    "event middle: x = 0\nstart { x = 1; x' = 0 }\nrun { until 9 }\n",
    "ground plane { friction coulomb(0.1); restitution 0.4 }\n"
    "body sphere(0.05) { mass 0.2; uniform }\n"
    "start { com [0, 0, 1.05]; omega [0, 60, 0] }\nrun { until 2 }\n",
    "coordinate x\ninput u every 0.5 = -x'\nlagrangian x'^2/2 - x^2/2\nforce x = u\n"
    "start { x = 1; x' = 0 }\nrun { until 9 }\n"};
static const char *const methods[] = {"gauss", "dop853", "taylor"};
enum { TEXTS = 3, METHODS = 3, CHECKSUM = 32, HEADER = 168, STEPS = 30 };

typedef struct base {
    ns_model *model;
    ns_record_options options;
    char *bytes;
    size_t length, inner, inner_length;
} base;

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "fuzz_checkpoint: %s\n", what);
        abort();
    }
}

/* Both checksums as they ought to be. */
static void repair(const base *b, char *bytes)
{
    char *run = bytes + b->inner;
    uint64_t sum = ns_hash_bytes(ns_hash_start, run + HEADER, b->inner_length - HEADER);
    memcpy(run + CHECKSUM, &sum, sizeof sum);
    sum = ns_hash_bytes(ns_hash_start, bytes, b->length - sizeof sum);
    memcpy(bytes + b->length - sizeof sum, &sum, sizeof sum);
}

static void prepare(base *b, unsigned which)
{
    char path[] = "/tmp/fuzz-checkpoint-XXXXXX";
    const int fd = mkstemp(path);
    must(fd >= 0, "no temporary file");
    close(fd);
    const char *text = texts[which / METHODS];
    b->model = ns_model_load_text("model", text, strlen(text), NULL, 0, NS_MODEL_READY);
    must(b->model && b->model->status == NS_OK, b->model ? b->model->messages : "no memory");
    b->options = ns_record_defaults(b->model);
    b->options.engine = NS_ENGINE_INTERPRETER;
    b->options.run.method = methods[which % METHODS];
    b->options.every = 0.1;
    b->options.keep = true;
    ns_record_options half = b->options;
    half.checkpoint = path;
    half.run.max_steps = 25;
    ns_record *r = ns_record_new(b->model, &half);
    must(r && r->status == NS_OK, r ? r->message : "no memory");
    ns_record_run(r);
    ns_record_free(r);
    must(ns_file_read(path, 1 << 24, &b->bytes, &b->length) == 0, "no checkpoint");
    unlink(path);
    const char *run = memmem(b->bytes, b->length, "nsrun\r\n", 8);
    must(run != NULL, "no run in it");
    b->inner = (size_t)(run - b->bytes);
    uint64_t length, sum;
    memcpy(&length, run + 24, sizeof length);
    memcpy(&sum, run + CHECKSUM, sizeof sum);
    b->inner_length = (size_t)length;
    must(sum == ns_hash_bytes(ns_hash_start, run + HEADER, b->inner_length - HEADER),
         "the layout of checkpoints has changed: change HEADER and CHECKSUM here");
}

/* Numbers that are likely to hurt. */
static void patch(char *at, uint8_t kind, const uint8_t value[8])
{
    static const double odd[] = {
        0,           -1,  1e300,        -1e300, 1e-320, (double)INFINITY, -(double)INFINITY,
        (double)NAN, 0.5, 4294967296.0, -0.0,   7};
    enum { ODD = sizeof odd / sizeof *odd };
    uint64_t word;
    memcpy(&word, at, sizeof word);
    if (kind < ODD)
        memcpy(&word, &odd[kind], sizeof word);
    else if (kind < ODD + 20)
        word = kind - ODD;
    else if (kind < 96)
        word = ~(uint64_t)0 >> (kind - 32);
    else if (kind < 160)
        word ^= (uint64_t)1 << (kind - 96);
    else
        memcpy(&word, value, sizeof word);
    memcpy(at, &word, sizeof word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static base all[TEXTS * METHODS];
    enum { PATCH = 11 }; /* two bytes of place, kind, value */
    if (size < 1 + PATCH)
        return 0;
    base *b = &all[data[0] % (TEXTS * METHODS)];
    if (!b->bytes)
        prepare(b, data[0] % (TEXTS * METHODS));
    char *bytes = malloc(b->length);
    must(bytes != NULL, "no memory");
    memcpy(bytes, b->bytes, b->length);
    const size_t words = (b->length - b->inner) / 8 - 1;
    const size_t before = b->inner - 48; /* numbers of the record, in front of the run */
    for (size_t i = 1; i + PATCH <= size && i < 1 + 16 * PATCH; i += PATCH) {
        const size_t place = (size_t)data[i] | (size_t)data[i + 1] << 8;
        patch(bytes + before + 8 * (place % (words + 6)), data[i + 2], data + i + 3);
    }
    repair(b, bytes);
    ns_record_options o = b->options;
    ns_record *r = ns_record_new(b->model, &o);
    if (r && r->status == NS_OK) {
        ns_checkpoint_parse(r, "x", bytes, b->length);
        if (r->status != NS_OK && !r->message[0])
            abort(); /* refused without a word */
        for (int i = 0; i < STEPS && r->status == NS_OK; i++)
            if (ns_run_step(r->run) != NS_OK)
                break;
        ns_run_outcome(r->run);
        ns_run_state_at(r->run, ns_run_time(r->run), r->x);
    }
    ns_record_free(r);
    free(bytes);
    return 0;
}
