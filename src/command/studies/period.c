/* noslip period: periodic motion of the system reduced by its symmetry, and its shift. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/math/vecmath.h"
#include "command/relative.h"
#include "command/studies/period_plot.h"
#include "study/orbits/period.h"

static void print_shift(ns_host *host, const ns_model *m, const ns_shift *h)
{
    const ns_group_factor *f = h->factor;
    const ns_symmetry *y = m->system->symmetry;
    fprintf(host->out, "  %s", f->name);
    if (!h->known) {
        fprintf(host->out, ": not given by its generators\n");
        return;
    }
    switch (f->kind) {
    case NS_GROUP_R:
    case NS_GROUP_FIELDS:
        for (uint32_t i = 0; i < f->dim; i++)
            fprintf(host->out, "%s %s + %.15g", i ? "," : "",
                    m->description->coordinates.at[y->group[f->first + i]].name, h->move[i]);
        break;
    case NS_GROUP_SE2:
        fprintf(host->out, " turn %.15g rad, then move (%.15g, %.15g)", h->turn[0], h->move[0],
                h->move[1]);
        if (isfinite(h->centre[0]))
            fprintf(host->out, "\n    about the point (%.15g, %.15g)", h->centre[0],
                    h->centre[1]);
        break;
    case NS_GROUP_SO3:
    case NS_GROUP_SE3: {
        const double trace = h->turn[0] + h->turn[4] + h->turn[8];
        const double angle = ns_math_acos(ns_max(-1, ns_min(1, (trace - 1) / 2))),
                     s = 2 * ns_math_sin(angle);
        fprintf(host->out, " turn %.15g rad", angle);
        if (fabs(s) > 1e-12)
            fprintf(host->out, " about (%.12g, %.12g, %.12g)", (h->turn[7] - h->turn[5]) / s,
                    (h->turn[2] - h->turn[6]) / s, (h->turn[3] - h->turn[1]) / s);
        if (f->kind == NS_GROUP_SE3)
            fprintf(host->out, ", then move (%.15g, %.15g, %.15g)", h->move[0], h->move[1],
                    h->move[2]);
        break;
    }
    }
    fputc('\n', host->out);
}

static void print(ns_host *host, const ns_model *m, const ns_period *r)
{
    const ns_symmetry *y = m->system->symmetry;
    fprintf(host->out, "%sReduced motion: %s%s\n", host->style_out.bold, m->description->title,
            host->style_out.plain);
    if (r->found)
        fprintf(host->out, "  period     %.15g s\n  returns to %.1e of the size of the orbit\n",
                r->period, r->mismatch);
    else if (isfinite(r->mismatch))
        fprintf(host->out,
                "  no period: the nearest return, at t = %.10g s, misses by %.2g of the "
                "size of the orbit\n",
                r->best, r->mismatch);
    else
        fprintf(host->out, "  no period: the motion does not come back in this time\n");
    fprintf(host->out, "\n  %-10s %22s %22s %22s\n", "", "start", "smallest", "largest");
    for (uint32_t i = 0; i < r->n; i++)
        fprintf(host->out, "  %-10s %22.15g %22.15g %22.15g\n", r->name[i], r->start[i],
                r->low[i], r->high[i]);
    if (r->found) {
        ns_style_heading(host->out, &host->style_out, "Shift h: g(t + T) = h g(t)");
        for (uint32_t f = 0; f < r->factors; f++)
            print_shift(host, m, &r->shift[f]);
        fprintf(host->out, "  over a second period it is the same to %.1e\n", r->shift_error);
    }
    ns_style_heading(host->out, &host->style_out,
                     "Relative equilibrium (r' = 0) nearest to the start");
    if (!r->equilibrium) {
        fprintf(host->out, "  none found\n");
        return;
    }
    for (uint32_t i = 0; i < y->sigma + y->m; i++)
        fprintf(host->out, "  %-10s %22.15g%s\n", r->name[i < y->sigma ? i : i + y->sigma],
                r->at[i], r->free[i] ? "   free" : "");
    fprintf(host->out, "  family of dimension %u\n", r->family);
}

static void put_shift(ns_json *j, const ns_shift *h)
{
    const ns_group_kind kind = h->factor->kind;
    const uint32_t turns = kind == NS_GROUP_SE2                           ? 1
                           : kind == NS_GROUP_SO3 || kind == NS_GROUP_SE3 ? 9
                                                                          : 0;
    const uint32_t moves = kind == NS_GROUP_SE2   ? 2
                           : kind == NS_GROUP_SO3 ? 0
                           : kind == NS_GROUP_SE3 ? 3
                                                  : h->factor->dim;
    ns_json_object(j, NULL);
    ns_json_text(j, "group", h->factor->name);
    ns_json_numbers(j, "turn", h->turn, turns);
    ns_json_numbers(j, "move", h->move, h->known && moves <= 8 ? moves : 0);
    ns_json_end(j);
}

static void put_json(ns_host *host, const ns_model *m, const ns_period *r)
{
    ns_json json = ns_json_to(host->out), *const j = &json;
    ns_json_object(j, NULL);
    ns_json_bool(j, "found", r->found);
    ns_json_numbers(j, "period", &r->period, 1);
    ns_json_numbers(j, "mismatch", &r->mismatch, 1);
    ns_json_texts(j, "names", r->name, r->n);
    ns_json_numbers(j, "start", r->start, r->n);
    ns_json_numbers(j, "low", r->low, r->n);
    ns_json_numbers(j, "high", r->high, r->n);
    ns_json_array(j, "shift");
    for (uint32_t f = 0; f < r->factors && r->found; f++)
        put_shift(j, &r->shift[f]);
    ns_json_end(j);
    ns_json_numbers(j, "shift_error", &r->shift_error, r->found);
    if (r->equilibrium) {
        const ns_symmetry *y = m->system->symmetry;
        ns_json_numbers(j, "equilibrium", r->at, y->sigma + y->m);
        ns_json_number(j, "family", r->family);
    }
    ns_json_end(j);
}

/* The model with the parameters of one --also as well. */
static ns_model *open_also(ns_host *host, const ns_arguments *a, const char *also, int *status)
{
    ns_arguments with = *a;
    with.options.at = NULL;
    with.options.n = with.options.room = 0;
    for (uint32_t i = 0; i < a->options.n; i++)
        NS_PUSH(host->arena, with.options, a->options.at[i]);
    char *text = ns_arena_string(host->arena, also, strlen(also));
    for (char *rest = NULL, *one = strtok_r(text, ",", &rest); one;
         one = strtok_r(NULL, ",", &rest))
        NS_PUSH(host->arena, with.options,
                (ns_given){.option = &a->command->options[0], .value = one}); /* --set */
    return ns_open_model(host, &with, a->words.at[0], NS_MODEL_READY, status);
}

/* The motion and those of --also; *status if a model cannot be read. */
static ns_plot *draw(ns_host *host, const ns_arguments *a, ns_model *model, double until,
                     int *status)
{
    NS_LIST(ns_model *) models = {0};
    NS_LIST(double) ends = {0};
    NS_PUSH(host->arena, models, model);
    NS_PUSH(host->arena, ends, until);
    const char *also;
    for (uint32_t k = 0; !*status && ns_command_each(a, "also", &k, &also);) {
        ns_model *other = open_also(host, a, also, status);
        if (!other)
            break;
        NS_PUSH(host->arena, models, other);
        NS_PUSH(host->arena, ends, until);
    }
    ns_plot *plot = *status ? NULL : ns_period_plot(host, models.at, ends.at, models.n);
    for (uint32_t i = 1; i < models.n; i++)
        ns_model_free(models.at[i]);
    return plot;
}

/* Everything that goes into files. */
static ns_sheet *make_sheet(ns_host *host, const ns_model *m, const ns_period *r)
{
    ns_sheet *sheet = ns_sheet_new(host->arena, "period", m->description->title);
    ns_sheet_number(sheet, "found", r->found);
    ns_sheet_number(sheet, "period", r->period);
    ns_sheet_number(sheet, "mismatch", r->mismatch);
    if (r->found)
        ns_sheet_number(sheet, "shift_error", r->shift_error);
    for (uint32_t f = 0; f < r->factors && r->found; f++) {
        const ns_shift *h = &r->shift[f];
        if (!h->known || h->factor->kind != NS_GROUP_SE2)
            continue;
        ns_sheet_number(sheet, "turn", h->turn[0]);
        ns_sheet_number(sheet, "move_x", h->move[0]);
        ns_sheet_number(sheet, "move_y", h->move[1]);
        ns_sheet_number(sheet, "centre_x", h->centre[0]);
        ns_sheet_number(sheet, "centre_y", h->centre[1]);
    }
    ns_sheet_table *t = ns_sheet_add(sheet, "reduced", r->n);
    ns_sheet_words_add(sheet, t, "name", r->name);
    ns_sheet_column_add(sheet, t, "start", "", r->start);
    ns_sheet_column_add(sheet, t, "smallest", "", r->low);
    ns_sheet_column_add(sheet, t, "largest", "", r->high);
    return sheet;
}

/* --plot FILE.svg, --out, --report */
static int write_files(ns_host *host, const ns_arguments *a, ns_model *model,
                       const ns_period *r, double until)
{
    const char *svg = ns_command_text(a, "plot");
    int status = 0;
    if (!svg && !ns_command_flag(a, "out") && !ns_command_flag(a, "report"))
        return 0;
    ns_plot *plot = draw(host, a, model, until, &status);
    if (status)
        return status;
    if (svg && !plot)
        return ns_command_wrong(host, "--plot: there is nothing to draw");
    const int error = svg ? ns_plot_write(plot, svg) : 0;
    if (error)
        return ns_command_failed(host, NS_ERR_IO, "%s: %s", svg, strerror(error));
    return ns_study_write(host, a, model, make_sheet(host, model, r), plot);
}

/* Models with a symmetry block. */
static int reduced_period(ns_host *host, const ns_arguments *a, ns_model *model, double until)
{
    const char *message = "";
    const ns_run_options run = ns_model_run_options(model);
    const ns_period *r = ns_period_find(model->system, until, &run, model->p, model->x0,
                                        &message);
    if (!r)
        return ns_command_wrong(host, "%s", message);
    if (ns_command_flag(a, "json"))
        put_json(host, model, r);
    else if (!host->quiet)
        print(host, model, r);
    const int status = write_files(host, a, model, r, until);
    return status ? status : !r->found;
}

static int period(ns_host *host, const ns_arguments *a)
{
    int status;
    if (!ns_study_check_outputs(host, a))
        return ns_status_exit(NS_ERR_USAGE);
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, &status);
    if (!model)
        return status;
    const ns_run_options run = ns_model_run_options(model);
    double until = run.until;
    if (!ns_command_number(host, a, "until", &until))
        status = ns_status_exit(NS_ERR_USAGE);
    else if (!isfinite(until) || until <= run.t0)
        status = ns_command_wrong(host, "--until must come after the start");
    else if (model->system->symmetry)
        status = reduced_period(host, a, model, until);
    else if (ns_command_flag(a, "plot") || ns_command_flag(a, "also"))
        status = ns_command_wrong(
            host, "%s: --plot and --also need a `symmetry` block; use --out FILE.svg",
            model->name);
    else
        status = ns_relative_period(host, a, model, until);
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    NS_STUDY_OPTIONS, /* --set first: see open_also */
    {.name = "plot",
     .argument = "FILE.svg",
     .help = "draw the reduced motion and the path of the group"},
    {.name = "also",
     .argument = "NAME=EXPR,...",
     .help = "with --plot: one more motion, with these parameters",
     .repeat = true},
    {.name = "until", .argument = "T", .help = "how long to wait for the return"},
    {0},
};

const ns_command ns_command_period = {
    .name = "period",
    .summary =
        "Period of a motion up to symmetry, and the group element by which it is shifted",
    .usage = "MODEL [--until T] [--plot FILE.svg [--also NAME=EXPR,...]...] [--json]",
    .doc =
        "With a `symmetry` block in the model: finds the first time T at which shape, shape\n"
        "velocity and momenta are what they were at the start, the element h of the group "
        "with\n"
        "g(t + T) = h g(t) (Bloch, Marsden, Zenkov 2009, section 6.3), verifies it over a "
        "second\n"
        "period, and finds the relative equilibrium nearest to the start.  Without a block\n"
        "the program finds the symmetries that act on the states by affine maps (shifts of "
        "cyclic\n"
        "coordinates, turns of the ground, spins of round bodies), and h among them.  Exit "
        "status\n"
        "1: the motion did not come back.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = period,
};
