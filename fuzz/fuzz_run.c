/* Fuzz target: models through deriving and a few steps of every method.  Inputs change by
 * tokens, as slips of people do: a word or a number of the text for another one.  Over the
 * gallery, its seeds, it is the run of clang's undefined-behaviour sanitizer. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

enum { MOST_TEXT = 3000, MOST_STATES = 24, STEPS = 3 };

static void run(ns_model *m, const char *method)
{
    ns_record_options o = ns_record_defaults(m);
    o.engine = NS_ENGINE_INTERPRETER;
    o.run.method = method;
    o.run.max_steps = STEPS;
    o.keep = true;
    if (!isfinite(o.run.until))
        o.run.until = o.run.t0 + 1;
    ns_record *r = ns_record_new(m, &o);
    if (r && r->status == NS_OK)
        ns_record_run(r);
    if (r && r->status < 0 && !r->message[0])
        abort(); /* failed without a word */
    ns_record_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const methods[] = {"gauss", "dop853", "taylor"};
    if (size > MOST_TEXT)
        return 0;
    ns_model *m = ns_model_load_text("model", (const char *)data, size, NULL, 0,
                                     NS_MODEL_READY);
    if (m && m->status != NS_OK && !m->messages[0])
        abort(); /* refused without a word */
    for (size_t i = 0; m && m->status == NS_OK && i < sizeof methods / sizeof *methods; i++)
        if (m->system->states.n <= MOST_STATES)
            run(m, methods[i]);
    ns_model_free(m);
    return 0;
}

/* ---- slips ------------------------------------------------------------------------------- */

typedef struct token {
    size_t at, length;
} token;

static size_t token_end(const uint8_t *text, size_t size, size_t at)
{
    const bool word = isalnum(text[at]) || text[at] == '_';
    size_t end = at + 1;
    while (word && end < size && (isalnum(text[end]) || text[end] == '_' || text[end] == '.'))
        end++;
    return end;
}

/* Some token behind a random place; false if there is none. */
static bool pick(const uint8_t *text, size_t size, unsigned *seed, token *out)
{
    size_t at = size ? (size_t)rand_r(seed) % size : 0;
    while (at > 0 && isalnum(text[at]) && isalnum(text[at - 1]))
        at--;
    while (at < size && isspace(text[at]))
        at++;
    if (at >= size)
        return false;
    *out = (token){at, token_end(text, size, at) - at};
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const char *const words[] = {"0",       "-1",  "1e300", "1e-300", "(",    ")",
                                        "sqrt",    "x",   "x'",    "inf",    "-",    "^",
                                        "uniform", "[",   "]",     "{",      "}",    "pi",
                                        "cm",      "abs", "=",     "sphere", "disk", "free"};
    enum { WORDS = sizeof words / sizeof *words };
    token old, with;
    const int kind = rand_r(&seed) % 8;
    if (kind == 0 || !pick(data, size, &seed, &old))
        return LLVMFuzzerMutate(data, size, room);
    char text[64] = "";
    if (kind < 4 && pick(data, size, &seed, &with) && with.length < sizeof text)
        memcpy(text, data + with.at, with.length);
    else if (kind < 7)
        strcpy(text, words[rand_r(&seed) % WORDS]);
    const size_t n = strlen(text);
    if (size - old.length + n > room)
        return size;
    memmove(data + old.at + n, data + old.at + old.length, size - old.at - old.length);
    memcpy(data + old.at, text, n);
    return size - old.length + n;
}
