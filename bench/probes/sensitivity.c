/*
 * What a column of sensitivities costs, as a part of the run without: CPU time of native runs
 * of `gauss` with 0, 1 and 8 columns in turn, the least of several.
 *
 *     bench_sensitivity [MODEL UNTIL ONE EIGHT]     names of columns, separated by commas
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/measure.h"
#include "session/gallery.h"
#include "session/sensitivity.h"

enum { SAMPLES = 9, CASES = 3 };

static double seconds_of(ns_model *model, double until)
{
    ns_run_options options = ns_model_run_options(model);
    options.until = until;
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(ns_model_problem(model, false), &options, model->p, model->x0,
                             &status, &message);
    const double start = bench_cpu_seconds();
    if (!run || ns_run_to(run, until) < 0) {
        fprintf(stderr, "no run\n");
        exit(1);
    }
    const double seconds = bench_cpu_seconds() - start;
    ns_run_free(run);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc != 1 && argc != 5) {
        fprintf(stderr, "usage: bench_sensitivity [MODEL UNTIL ONE EIGHT]\n");
        return 2;
    }
    const char *name = argc > 1 ? argv[1] : "rattleback";
    const double until = argc > 1 ? strtod(argv[2], NULL) : 100;
    const char *columns[CASES] = {
        NULL, argc > 1 ? argv[3] : "a",
        argc > 1 ? argv[4] : "a,b,c,m,start.omega.x,start.omega.y,start.omega.z,start.quat.x"};
    const struct ns_gallery_entry *entry = ns_gallery_find(name);
    if (!entry) {
        fprintf(stderr, "no model `%s` in the gallery\n", name);
        return 2;
    }
    ns_model *base = ns_model_load_text(name, entry->text, strlen(entry->text), NULL, 0,
                                        NS_MODEL_READY);
    ns_model *model[CASES] = {base};
    double best[CASES] = {INFINITY, INFINITY, INFINITY};
    for (int k = 0; k < CASES; k++) {
        char message[500];
        ns_native_facts facts;
        if (k)
            model[k] = ns_sensitivity_model(base, columns[k]);
        if (!model[k] || model[k]->status != NS_OK ||
            !ns_problem_native(ns_model_problem(model[k], false), 8, message, sizeof message,
                               &facts)) {
            fprintf(stderr, "%s\n", model[k] ? model[k]->messages : "out of memory");
            return 1;
        }
    }
    for (int i = 0; i < SAMPLES; i++)
        for (int k = 0; k < CASES; k++)
            best[k] = fmin(best[k], seconds_of(model[k], until));
    uint32_t n = model[2]->sensitivity->k;
    printf("%s until %g: %.4f s;  one column %.2f of it;  %u columns %.2f each\n", name, until,
           best[0], best[1] / best[0] - 1, n, (best[2] / best[0] - 1) / n);
    for (int k = CASES; k-- > 0;)
        ns_model_free(model[k]);
    return 0;
}
