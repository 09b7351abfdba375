/* noslip reproduce: the claims of the literature, run again. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/status.h"
#include "cli/claims/claim.h"

/* Papers by number, as their claims are called. */
static const struct {
    const char *paper, *prefix;
} papers[] = {{"000", "u-"}, {"001", "b-"}, {"002", "j-"}, {"003", "p-"}};

/* Does a word of the command mean this claim? */
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
        if (k == ns_claim_count)
            return a->words.at[i];
    }
    return NULL;
}

static int list(ns_cli *cli)
{
    for (unsigned i = 0; i < ns_claim_count; i++) {
        ns_claim_report c;
        ns_claim_head(cli->arena, &ns_claim_entries[i], &c);
        fprintf(cli->out, "%-22s %s%s\n", c.name, c.title, c.slow ? " (slow)" : "");
    }
    return 0;
}

/* Prints one claim; how many of its expectations failed. */
static unsigned print(ns_cli *cli, const ns_claim_report *c, double took)
{
    unsigned failed = 0;
    fprintf(cli->out, "%s%s%s  %s  (%.2f s)\n", cli->style_out.bold, c->name,
            cli->style_out.plain, c->title, took);
    for (uint32_t i = 0; i < c->results.n; i++) {
        const ns_claim_result *r = &c->results.at[i];
        failed += !r->holds;
        fprintf(cli->out, "  %-6s %-34s %-20.12g expected %s\n", r->holds ? "ok" : "FAILED",
                r->label, r->obtained, r->text);
    }
    if (c->error) {
        fprintf(cli->out, "  FAILED %s\n", c->error);
        failed++;
    }
    fflush(cli->out);
    return failed;
}

static int reproduce(ns_cli *cli, const ns_arguments *a)
{
    if (ns_command_flag(a, "list"))
        return list(cli);
    if (stranger(a))
        return ns_command_wrong(cli, "no claim '%s'; `noslip reproduce --list` lists them",
                                stranger(a));
    const char *folder = ns_command_text(a, "out");
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(cli->err, "noslip: %s: %s\n", folder, strerror(errno));
        return ns_status_exit(NS_ERR_IO);
    }
    unsigned claims = 0, expectations = 0, failed = 0, skipped = 0;
    const double start = ns_clock_seconds();
    for (unsigned i = 0; i < ns_claim_count; i++) {
        ns_claim_report c;
        const struct ns_claim_entry *entry = &ns_claim_entries[i];
        const choice how = chosen(a, entry->name);
        if (how == UNWANTED)
            continue;
        ns_arena *arena = ns_arena_new();
        ns_claim_head(arena, entry, &c);
        if (c.slow && how != NAMED && !ns_command_flag(a, "all")) {
            skipped++;
        } else {
            const double before = ns_clock_seconds();
            ns_claim_run(cli, arena, entry, folder, &c);
            failed += print(cli, &c, ns_clock_seconds() - before);
            expectations += c.results.n;
            claims++;
        }
        ns_arena_free(arena);
    }
    fprintf(cli->out, "%u claims, %u expectations, %u failed", claims, expectations, failed);
    if (skipped)
        fprintf(cli->out, "; %u slow ones left out, see --all", skipped);
    fprintf(cli->out, "; %.1f s\n", ns_clock_seconds() - start);
    return failed ? ns_status_exit(NS_STOP_EVENT) : 0;
}

static const ns_option options[] = {
    {.name = "all", .help = "the slow ones too, named or not"},
    {.name = "list", .help = "only list the claims"},
    {.name = "out", .argument = "FOLDER", .help = "write the figures there, as SVG"},
    {0},
};

const ns_command ns_command_reproduce = {
    .name = "reproduce",
    .summary = "Run the claims and figures of the literature again",
    .usage = "[NAME | PAPER]... [--all] [--out FOLDER]",
    .doc =
        "A claim is a small file in models/claims: models to run and what must come out.  "
        "Names "
        "that\nend with - stand for all that begin so (j-); 000, 001, 002, 003 are Udwadia and "
        "Mogharabin 2021,\nBloch, Marsden and Zenkov 2009, Jachnik 2011, Patrick 2022.  Exit "
        "status 1 if anything failed.",
    .options = options,
    .least = 0,
    .most = 32,
    .run = reproduce,
};
