/* Slips of the pen.  Tokens of the gallery's models are misspelt, dropped, doubled, exchanged
 * or given other sizes, and what comes out is derived, started and looked at as `check` does.
 * It must end in a model with finite numbers or in messages that each have a place in the text;
 * under the sanitizers it must not touch what is not there.
 *
 * A few mutants of each model by default; NS_TYPOS=1000 makes a thousand of each,
 * NS_TYPOS_FROM=k begins with the k-th. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "expr/eval.h"
#include "lang/syntax/lexer.h"
#include "support/gallery.h"
#include "support/motion.h"

enum { TOKENS_MOST = 4000, BYTES_MOST = 12000 };

typedef struct source_text {
    char *bytes;
    size_t length;
    ns_token token[TOKENS_MOST];
    uint32_t n;
} source_text;

static void cut(source_text *it)
{
    ns_arena *arena = ns_arena_new();
    ns_diag *diag = ns_diag_new(arena);
    const uint32_t source = ns_diag_source(diag, "text", it->bytes, it->length);
    ns_lexer lexer = ns_lexer_new(diag, source, it->bytes, it->length);
    it->n = 0;
    while (it->n < TOKENS_MOST) {
        const ns_token token = ns_lexer_next(&lexer);
        if (token.kind == NS_TOKEN_END)
            break;
        if (token.kind != NS_TOKEN_LINE)
            it->token[it->n++] = token;
    }
    ns_arena_free(arena);
}

static uint32_t pick(uint64_t *seed, uint32_t n)
{
    return (uint32_t)(ns_eval_random(seed) * n);
}

/* The text between two places replaced. */
static char *replace(const source_text *it, uint32_t begin, uint32_t end, const char *by,
                     size_t length)
{
    char *out = malloc(it->length + length + 1);
    memcpy(out, it->bytes, begin);
    memcpy(out + begin, by, length);
    memcpy(out + begin + length, it->bytes + end, it->length - end);
    out[it->length - (end - begin) + length] = 0;
    return out;
}

static char *exchange(const source_text *it, ns_token a, ns_token b)
{
    if (a.begin > b.begin) {
        const ns_token c = a;
        a = b;
        b = c;
    }
    char *out = malloc(it->length + 1), *at = out;
    const uint32_t part[5][2] = {
        {0, a.begin}, {b.begin, b.end}, {a.end, b.begin}, {a.begin, a.end}, {b.end, 0}};
    for (int i = 0; i < 5; i++) {
        const size_t end = i < 4 ? part[i][1] : it->length;
        memcpy(at, it->bytes + part[i][0], end - part[i][0]);
        at += end - part[i][0];
    }
    *at = 0;
    return out;
}

/* One slip: what it is depends on the seed alone. */
static char *slip(const source_text *it, uint64_t *seed)
{
    static const char *const names[] = {"foo", "t",    "x",        "omega", "R",  "ball",
                                        "pi",  "body", "[1, 2]",   "[]",    "u'", "sphere(foo)",
                                        "v",   "-4",   "position", "'",     "a.b"};
    static const char *const numbers[] = {"0",   "-4",    "1e300", "1e-300", "(1/0)",
                                          "foo", "2.5e4", "-1",    "",       "[1, 0, 0]"};
    const uint32_t i = pick(seed, it->n), j = pick(seed, it->n);
    const ns_token a = it->token[i], b = it->token[j];
    const char *word;
    switch (pick(seed, 7)) {
    case 0: /* left out, with the comma behind it if there is one */
        return replace(it, a.begin,
                       i + 1 < it->n && it->token[i + 1].kind == ',' ? it->token[i + 1].end
                                                                     : a.end,
                       "", 0);
    case 1: /* twice */
        return replace(it, a.begin, a.begin, it->bytes + a.begin, a.end - a.begin);
    case 2:
        return exchange(it, a, it->token[i + 1 < it->n ? i + 1 : 0]);
    case 3:
        return i != j ? exchange(it, a, b) : replace(it, a.begin, a.end, "foo", 3);
    case 4: /* another token of the same text */
        return replace(it, a.begin, a.end, it->bytes + b.begin, b.end - b.begin);
    case 5:
        for (uint32_t k = 0; k < it->n; k++) { /* the next name behind i */
            const ns_token c = it->token[(i + k) % it->n];
            if (c.kind != NS_TOKEN_NAME)
                continue;
            word = names[pick(seed, sizeof names / sizeof *names)];
            return replace(it, c.begin, c.end, word, strlen(word));
        }
        break;
    default:
        for (uint32_t k = 0; k < it->n; k++) {
            const ns_token c = it->token[(i + k) % it->n];
            if (c.kind != NS_TOKEN_NUMBER)
                continue;
            word = numbers[pick(seed, sizeof numbers / sizeof *numbers)];
            return replace(it, c.begin, c.end, word, strlen(word));
        }
    }
    return replace(it, a.begin, a.end, "foo", 3);
}

/* What `check` looks at, in a model that was accepted; what is wrong with it, or NULL. */
static const char *look_at(const ns_model *model)
{
    const ns_system *s = model->system;
    for (uint32_t i = 0; i < s->states.n; i++)
        if (!isfinite(model->x0[i]))
            return "a start that is not finite";
    if (s->energy)
        (void)ns_system_drift_rate(s, s->energy, model->p, model->x0);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        (void)ns_system_drift_rate(s, s->invariants.at[i].value, model->p, model->x0);
    return NULL;
}

static bool good(const char *name, uint32_t k, const char *text)
{
    ns_model *model = ns_model_load_text(name, text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    const char *wrong = NULL;
    if (model->status == NS_OK)
        wrong = look_at(model);
    else if (model->status != NS_ERR_MODEL || !model->diag->errors)
        wrong = "refused without an error of the model";
    for (uint32_t i = 0; i < model->diag->messages.n; i++)
        if (!model->diag->messages.at[i].span.source)
            wrong = "a message without a place";
    if (wrong)
        print_error("%s, slip %u: %s\n%s", name, k, wrong, model->messages);
    ns_model_free(model);
    return !wrong;
}

static uint32_t setting(const char *name, uint32_t otherwise)
{
    const char *value = getenv(name);
    return value ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

static void gallery_with_slips(void **state)
{
    (void)state;
    char *names[GALLERY_MOST];
    const size_t n = gallery_list(names);
    const uint32_t from = setting("NS_TYPOS_FROM", 0), count = setting("NS_TYPOS", 4);
    const char *only = getenv("NS_TYPOS_MODEL");
    source_text *it = calloc(1, sizeof *it);
    uint32_t failures = 0;
    for (size_t i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, names[i]);
        assert_int_equal(ns_file_read(path, 1 << 20, &it->bytes, &it->length), 0);
        cut(it);
        /* large models only take longer */
        const bool skip = it->length > BYTES_MOST || strncmp(names[i], "chain-", 6) == 0 ||
                          (only && strcmp(only, names[i]) != 0);
        for (uint32_t k = from; k < from + count && !skip && it->n; k++) {
            uint64_t seed = 1000003 * (uint64_t)k + i;
            char *mutant = slip(it, &seed);
            if (getenv("NS_TYPOS_SHOW"))
                fprintf(stderr, "==== %s %u\n%s\n", names[i], k, mutant);
            failures += !good(names[i], k, mutant);
            free(mutant);
        }
        free(it->bytes);
    }
    free(it);
    gallery_free(names, n);
    assert_int_equal(failures, 0);
}

/* Slips that were met. */
static void known_slips(void **state)
{
    (void)state;
    motion_refused("ground plane\nbody sphere(foo) { mass 1; uniform }",
                   "undefined name `foo`");
    motion_refused("ground plane\nbody sphere(0.1) { mass foo(2); uniform }",
                   "`foo` is not a function");
    motion_refused("param m = 2\nground plane\nbody sphere(0.1) { mass m(2); uniform }",
                   "`m` is not a function");
}

/* Groups and ready-made constraints have names of their own. */
static void names_of_kinds(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "param R = 2\ncoordinate x, y, r\nlagrangian (x'^2 + y'^2 + r'^2)/2 - r^2\n"
        "symmetry { shape r; group R(2) }\nstart { x = 0; y = 0; r = 1 }",
        "param so = 3\nalgebra so(3) { inertia diag(1, 2, 3) }\nstart { v = [1, 2, 3] }",
        "param so = 2\nalgebra sum { term so(3); term R(1); inertia diag(1, 2, 3, 4) }\n"
        "start { v = [1, 2, 3, 4] }",
        "body ball { mass 1; inertia diag(1, 1, 1); peg = [0, 0, 1] }\n"
        "body tower { mass 1; inertia diag(1, 1, 1) }\n"
        "constraint c: ball(ball, tower)\nconstraint d: ball(ball.peg, [0, 0, 1])",
        "param rod = 2\nparticle P { mass 1 }\nconstraint c: rod(P, [0, 0, 0], rod)\n"
        "start { P = [2, 0, 0] }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ns_model_free(motion_model_text(texts[i], NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_slips),
        cmocka_unit_test(names_of_kinds),
        cmocka_unit_test(gallery_with_slips),
    };
    return cmocka_run_group_tests_name("typos", tests, NULL, NULL);
}
