/* noslip help, noslip version. */
#include <string.h>

#include "base/near.h"
#include "base/simd.h"
#include "cli/program.h"
#include "cli/topics.h"
#include "noslip/noslip.h"
#include "ode/auto.h"
#include "session/model.h"

static void overview(ns_host *host)
{
    const ns_style *s = &host->style_out;
    fprintf(host->out,
            "%snoslip%s derives, integrates and studies the motion of nonholonomic systems.\n\n"
            "%sCommands%s\n",
            s->bold, s->plain, s->bold, s->plain);
    for (size_t i = 0; ns_program_command(i); i++)
        ns_topic_line(host, 14, ns_program_command(i)->name, ns_program_command(i)->summary);
    fprintf(host->out, "\n%sTopics%s, for `noslip help TOPIC`\n", s->bold, s->plain);
    ns_topic_line(host, 14, "COMMAND", "one of the above, with its options");
    ns_topic_line(host, 14, "METHOD", "an integration method");
    ns_topic_line(host, 14, "FORMULATION", "a way to derive equations");
    for (const ns_topic *t = ns_topics; t->name; t++)
        ns_topic_line(host, 14, t->name, t->summary);
    fprintf(host->out, "\nTo begin with:  noslip gallery\n");
}

static void print_doc(ns_host *host, const char *name, const char *summary, const char *doc)
{
    const size_t length = doc ? strlen(doc) : 0;
    fprintf(host->out, "%s%s%s: %s\n", host->style_out.bold, name, host->style_out.plain,
            summary);
    if (length)
        fprintf(host->out, "\n%s%s", doc, doc[length - 1] == '\n' ? "" : "\n");
}

static void print_method(ns_host *host, const ns_method *m)
{
    print_doc(host, m->name, m->summary, m->doc);
    fputc('\n', host->out);
    if (m->order)
        fprintf(host->out, "Order %d.  ", m->order);
    fprintf(host->out, "Default tolerance %g, least %g.%s\n", m->default_tolerance,
            m->least_tolerance,
            m->needs_jacobian ? "  Uses the exact Jacobian of the equations." : "");
}

static int unknown(ns_host *host, const char *name)
{
    ns_near near = {.word = name};
    for (size_t i = 0; ns_program_command(i); i++)
        ns_near_try(&near, ns_program_command(i)->name);
    for (const ns_method *const *m = ns_methods; *m; m++)
        ns_near_try(&near, (*m)->name);
    ns_near_try(&near, NS_METHOD_AUTO);
    for (const ns_formulation *const *f = ns_formulations; *f; f++)
        ns_near_try(&near, (*f)->name);
    for (const ns_topic *t = ns_topics; t->name; t++)
        ns_near_try(&near, t->name);
    if (near.found)
        return ns_command_wrong(host, "no help about `%s`; did you mean `%s`?", name,
                                near.found);
    return ns_command_wrong(host, "no help about `%s`; `noslip help` lists the topics", name);
}

static int help(ns_host *host, const ns_arguments *a)
{
    if (!a->words.n) {
        overview(host);
        return 0;
    }
    const char *name = a->words.at[0];
    const ns_command *command = ns_program_find(name);
    if (command) {
        ns_program_help(host, command);
        return 0;
    }
    for (const ns_topic *t = ns_topics; t->name; t++)
        if (strcmp(t->name, name) == 0) {
            t->print(host);
            return 0;
        }
    if (strcmp(name, NS_METHOD_AUTO) == 0) {
        print_doc(host, name, "the method that costs least, by short trials", ns_auto_doc);
        return 0;
    }
    const ns_method *method = ns_method_find(name);
    if (method) {
        print_method(host, method);
        return 0;
    }
    for (const ns_formulation *const *f = ns_formulations; *f; f++)
        if (strcmp((*f)->name, name) == 0) {
            print_doc(host, (*f)->name, (*f)->summary, (*f)->doc);
            return 0;
        }
    return unknown(host, name);
}

const ns_command ns_command_help = {
    .name = "help",
    .summary = "Explain a command, method, formulation or topic",
    .usage = "[TOPIC]",
    .least = 0,
    .most = 1,
    .run = help,
};

static int version(ns_host *host, const ns_arguments *a)
{
    (void)a;
    fprintf(host->out, "noslip %s\ninstructions: %s\n", ns_version(),
            ns_simd_name(ns_simd_level()));
    return 0;
}

const ns_command ns_command_version = {
    .name = "version",
    .summary = "Print the version",
    .usage = "",
    .least = 0,
    .most = 0,
    .run = version,
};
