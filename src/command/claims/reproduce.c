/* noslip reproduce: the claims of the literature, run again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/near.h"
#include "base/status.h"
#include "command/claims/claim.h"
#include "out/tables/sheet.h"

/* Papers by number, as their claims are called. */
static const struct {
    const char *paper, *prefix;
} papers[] = {{"000", "u-"}, {"001", "b-"}, {"002", "j-"}, {"003", "p-"}};

/* Is a word of the command a claim of the user's own: a file, or - for standard input? */
static bool is_file(const char *word)
{
    const size_t length = strlen(word);
    return strcmp(word, "-") == 0 || (length > 6 && strcmp(word + length - 6, ".claim") == 0);
}

/* Does a word of the command mean this bundled claim? */
static bool meant(const char *word, const char *name)
{
    for (size_t k = 0; k < sizeof papers / sizeof *papers; k++)
        if (strcmp(word, papers[k].paper) == 0)
            word = papers[k].prefix;
    const size_t length = strlen(word);
    return strcmp(word, name) == 0 ||
           (length && word[length - 1] == '-' && strncmp(word, name, length) == 0);
}

typedef enum choice { UNWANTED, WANTED, NAMED } choice;

static choice chosen(const ns_arguments *a, const char *name)
{
    choice best = a->words.n ? UNWANTED : WANTED;
    for (uint32_t i = 0; i < a->words.n; i++) {
        const char *word = a->words.at[i];
        if (word && strcmp(word, name) == 0)
            best = NAMED;
        else if (word && best == UNWANTED && meant(word, name))
            best = WANTED;
    }
    return best;
}

/* The first word that means no claim; NULL if each means one. */
static const char *stranger(const ns_arguments *a)
{
    for (uint32_t i = 0; i < a->words.n; i++) {
        unsigned k = 0;
        while (k < ns_claim_count && !meant(a->words.at[i], ns_claim_entries[k].name))
            k++;
        if (k == ns_claim_count && !is_file(a->words.at[i]))
            return a->words.at[i];
    }
    return NULL;
}

static ns_claim *bundled(ns_arena *arena, unsigned i)
{
    const struct ns_claim_entry *e = &ns_claim_entries[i];
    return ns_claim_read(arena, e->name, NULL, e->text, strlen(e->text));
}

static int list(ns_host *host)
{
    for (unsigned i = 0; i < ns_claim_count; i++) {
        const ns_claim *c = bundled(host->arena, i);
        fprintf(host->out, "%-22s %s%s\n", c->name, c->title, c->slow ? " (slow)" : "");
    }
    return 0;
}

/* ---- running ----------------------------------------------------------------------------- */

/* What one expectation came to; texts in the arena of the host. */
typedef struct finding {
    const char *claim, *label, *expected;
    double obtained;
    bool holds;
} finding;

typedef struct tally {
    unsigned claims, expectations, failed, wrong, skipped; /* wrong: files, not results */
    NS_LIST(finding) findings;
} tally;

static const char *copy(ns_host *host, const char *text)
{
    return ns_arena_string(host->arena, text, strlen(text));
}

static ns_sheet *make_sheet(ns_host *host, const tally *sum)
{
    ns_sheet *sheet = ns_sheet_new(host->arena, "reproduce", "claims of the literature");
    ns_sheet_text(sheet, "status", *host->stop ? "stopped" : "done");
    ns_sheet_number(sheet, "claims", sum->claims);
    ns_sheet_number(sheet, "expectations", sum->expectations);
    ns_sheet_number(sheet, "failed", sum->failed);
    ns_sheet_number(sheet, "left_out", sum->skipped);
    ns_sheet_table *t = ns_sheet_add(sheet, "results", sum->findings.n);
    const char **claim = ns_sheet_words(sheet, t, "claim");
    const char **label = ns_sheet_words(sheet, t, "label");
    double *obtained = ns_sheet_numbers(sheet, t, "obtained", "");
    const char **expected = ns_sheet_words(sheet, t, "expected");
    double *holds = ns_sheet_numbers(sheet, t, "holds", "");
    for (uint32_t i = 0; i < sum->findings.n; i++) {
        const finding *f = &sum->findings.at[i];
        claim[i] = f->claim;
        label[i] = f->label;
        obtained[i] = f->obtained;
        expected[i] = f->expected;
        holds[i] = f->holds;
    }
    return sheet;
}

/* Prints one claim; how many of its expectations failed. */
static unsigned print(ns_host *host, const ns_claim *c, double took)
{
    unsigned failed = 0;
    fprintf(host->out, "%s%s%s  %s  (%.2f s)\n", host->style_out.bold, c->name,
            host->style_out.plain, c->title, took);
    if (*c->against)
        fprintf(host->out, "  against %s\n", c->against);
    for (uint32_t i = 0; i < c->results.n; i++) {
        const ns_claim_result *r = &c->results.at[i];
        failed += !r->holds;
        fprintf(host->out, "  %-6s %-34s %-20.12g expected %s\n", r->holds ? "ok" : "FAILED",
                r->label, r->obtained, r->text);
    }
    if (c->diag->errors)
        fprintf(host->out, "  FAILED the claim cannot be run to its end\n");
    fflush(host->out);
    if (c->diag->errors) {
        ns_text messages = ns_text_new(c->arena);
        ns_diag_render(c->diag, &messages);
        fputs(ns_text_string(&messages), host->err);
    }
    return failed + (c->diag->errors > 0);
}

static void run(ns_host *host, ns_claim *c, const char *folder, tally *sum)
{
    const double before = ns_clock_seconds();
    ns_claim_run(host, c, folder);
    sum->failed += print(host, c, ns_clock_seconds() - before);
    sum->wrong += c->diag->errors > 0;
    sum->expectations += c->results.n;
    sum->claims++;
    for (uint32_t i = 0; host->found && i < c->results.n; i++) {
        const ns_claim_result *r = &c->results.at[i];
        NS_PUSH(host->arena, sum->findings,
                ((finding){.claim = copy(host, c->name),
                           .label = copy(host, r->label),
                           .expected = copy(host, r->text),
                           .obtained = r->obtained,
                           .holds = r->holds}));
    }
}

static void run_bundled(ns_host *host, const ns_arguments *a, const char *folder, tally *sum)
{
    for (unsigned i = 0; i < ns_claim_count && !*host->stop; i++) {
        const choice how = chosen(a, ns_claim_entries[i].name);
        const ns_host_progress now = {.what = "claim",
                                      .fraction = (double)i / ns_claim_count,
                                      .at = i,
                                      .end = ns_claim_count};
        if (how == UNWANTED)
            continue;
        if (!ns_command_progress(host, &now))
            break;
        ns_arena *arena = ns_arena_new();
        ns_claim *c = bundled(arena, i);
        if (c->slow && how != NAMED && !ns_command_flag(a, "all"))
            sum->skipped++;
        else
            run(host, c, folder, sum);
        ns_arena_free(arena);
    }
}

/* The user's own; false after saying which cannot be read. */
static bool run_files(ns_host *host, const ns_arguments *a, const char *folder, tally *sum)
{
    enum { MOST_BYTES = 1 << 26 };
    for (uint32_t i = 0; i < a->words.n && !*host->stop; i++) {
        const char *path = a->words.at[i];
        if (!is_file(path))
            continue;
        char *text = NULL;
        size_t length = 0;
        const int error = ns_file_read(path, MOST_BYTES, &text, &length);
        if (error) {
            ns_command_wrong(host, "cannot read %s: %s", path, strerror(error));
            return false;
        }
        const bool standard = strcmp(path, "-") == 0;
        ns_arena *arena = ns_arena_new();
        run(host, ns_claim_read(arena, path, standard ? "standard input" : path, text, length),
            folder, sum);
        ns_arena_free(arena);
        free(text);
    }
    return true;
}

static int no_claim(ns_host *host, const char *name)
{
    ns_near near = {.word = name};
    for (unsigned i = 0; i < ns_claim_count; i++)
        ns_near_try(&near, ns_claim_entries[i].name);
    if (near.found)
        return ns_command_wrong(host, "no claim `%s`; did you mean `%s`?", name, near.found);
    return ns_command_wrong(host,
                            "no claim `%s`; `noslip reproduce --list` lists the bundled "
                            "ones, and files end in .claim",
                            name);
}

static int reproduce(ns_host *host, const ns_arguments *a)
{
    if (ns_command_flag(a, "list"))
        return list(host);
    if (stranger(a))
        return no_claim(host, stranger(a));
    const char *folder = ns_command_text(a, "out");
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(host->err, "noslip: %s: %s\n", folder, strerror(errno));
        return ns_status_exit(NS_ERR_IO);
    }
    tally sum = {0};
    const double start = ns_clock_seconds();
    run_bundled(host, a, folder, &sum);
    if (!run_files(host, a, folder, &sum))
        return ns_status_exit(NS_ERR_IO);
    fprintf(host->out, "%u claims, %u expectations, %u failed", sum.claims, sum.expectations,
            sum.failed);
    if (sum.skipped)
        fprintf(host->out, "; %u slow ones left out, see --all", sum.skipped);
    fprintf(host->out, "; %.1f s\n", ns_clock_seconds() - start);
    if (host->found)
        host->found(host->context, NULL, make_sheet(host, &sum), NULL);
    if (*host->stop)
        return ns_status_exit(NS_STOP_INTERRUPT);
    return ns_status_exit(sum.wrong ? NS_ERR_USAGE : sum.failed ? NS_STOP_EVENT : NS_OK);
}

static const ns_option options[] = {
    {.name = "all", .help = "the slow ones too, named or not"},
    {.name = "list", .help = "only list the claims"},
    {.name = "out", .argument = "FOLDER", .help = "write the figures there, as SVG"},
    {0},
};

const ns_command ns_command_reproduce = {
    .name = "reproduce",
    .summary = "Recompute claims and figures of the literature, or your own",
    .usage = "[NAME | PAPER | FILE.claim]... [--all] [--out FOLDER]",
    .doc =
        "A claim is a small file: models to run and what must come out.  FILE.claim is one of "
        "your own\n(- reads it from standard input; docs/claims.md says how to write it); the "
        "others are bundled.\nNames that end with - stand for all that begin so (j-); 000, "
        "001, "
        "002, 003 are Udwadia and\nMogharabin 2021, Bloch, Marsden and Zenkov 2009, Jachnik "
        "2011, Patrick 2022.  Exit status 1 if\nan expectation failed, 2 if a claim is wrong.",
    .options = options,
    .least = 0,
    .most = 32,
    .run = reproduce,
};
