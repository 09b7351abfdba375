/* Models, runs, series and commands of a claim: see claim_runs.h. */
#include "command/claims/claim_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/open.h"
#include "ode/method.h"
#include "session/gallery.h"

enum { SAMPLES = 2001, MOST_SAMPLES = 100000 }; /* the first unless the claim says how many */

/* ---- models ------------------------------------------------------------------------------ */

static bool is_file(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".mech") == 0;
}

/* The path of a model that is a file: it is looked for beside the claim. */
static const char *beside(const ns_claims_world *w, const char *name)
{
    const char *path = w->claim->path, *slash = path ? strrchr(path, '/') : NULL;
    if (!slash || name[0] == '/')
        return name;
    return ns_arena_format(w->arena, "%.*s%s", (int)(slash + 1 - path), path, name);
}

/* One of the claim's own, a file, or a bundled one; NULL after a message. */
static ns_model *load(ns_claims_world *w, const ns_claim_word *name,
                      const ns_override *overrides, size_t n)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < w->models.n && !text; i++)
        if (strcmp(w->models.at[i].name, name->text) == 0)
            text = w->models.at[i].text;
    const bool file = !text && is_file(name->text);
    const struct ns_gallery_entry *entry = text || file ? NULL : ns_gallery_find(name->text);
    if (entry)
        text = entry->text;
    if (!text && !file) {
        const char *near = ns_gallery_nearest(name->text);
        ns_diag_error(w->claim->diag, name->place,
                      "there is no model `%s`, neither here nor a bundled one%s%s%s",
                      name->text, near ? "; did you mean `" : "", near ? near : "",
                      near ? "`?" : "");
        return NULL;
    }
    ns_model *model = file ? ns_model_load(beside(w, name->text), overrides, n, NS_MODEL_READY)
                           : ns_model_load_text(name->text, text, strlen(text), overrides, n,
                                                NS_MODEL_READY);
    if (!model)
        ns_diag_error(w->claim->diag, name->place, "out of memory");
    return model;
}

const char *ns_claims_messages(ns_claims_world *w, const ns_claim_word *name)
{
    ns_model *model = load(w, name, NULL, 0);
    const char *messages = NULL;
    if (model && model->status != NS_OK)
        messages = ns_arena_string(w->arena, model->messages, strlen(model->messages));
    ns_model_free(model);
    return messages;
}

/* ---- runs -------------------------------------------------------------------------------- */

static void take_samples(ns_claims_run *r, double from, double until, uint32_t samples)
{
    const uint32_t values = r->model->system->observables.n;
    const uint32_t constraints = r->model->system->constraints.n;
    const ns_program *residuals = r->model->problem->residuals;
    double *x = calloc(r->model->system->states.n + ns_program_work1(residuals) + 1, sizeof *x);
    double *work = x ? x + r->model->system->states.n : NULL;
    if (x)
        ns_program_bind1(residuals, work, r->model->p);
    for (uint32_t i = 0; x && i < samples && r->status == NS_OK; i++) {
        double t = from + (until - from) * i / (samples - 1);
        r->status = ns_run_to(r->run, t);
        if (r->status != NS_OK)
            t = ns_run_time(r->run);
        if (t == ns_run_time(r->run))
            memcpy(x, ns_run_state(r->run), r->model->system->states.n * sizeof *x);
        else
            ns_run_state_at(r->run, t, x);
        r->t[r->n] = t;
        ns_program_eval1(residuals, work, t, x, r->residuals + (size_t)r->n * constraints);
        ns_run_observe(r->run, t, x, r->values + (size_t)r->n++ * values);
    }
    free(x);
}

/* Starts where another run of the same states has ended, with velocities and momenta
 * reversed. */
static bool turn_back(ns_claims_world *w, ns_claims_run *r, const ns_claim_setting *back)
{
    const ns_claim_word name = {back->value, back->place};
    const ns_claims_run *other = ns_claims_find(w, &name);
    const ns_system *s = r->model->system;
    if (!other)
        return false;
    if (!other->run || other->model->system->states.n != s->states.n) {
        ns_diag_error(w->claim->diag, back->place, "`%s` is not a run of the same states",
                      back->value);
        return false;
    }
    for (uint32_t i = 0; i < s->states.n; i++) {
        const double x = ns_run_state(other->run)[i];
        r->model->x0[i] = s->states.at[i].odd ? -x : x;
    }
    return true;
}

/* What the settings of a run say. */
typedef struct wishes {
    ns_override *overrides; /* of parameters; borrowed by the model */
    size_t n;
    const ns_claim_setting *until, *tolerance, *method, *back, *samples;
} wishes;

static wishes sort_settings(ns_arena *arena, const ns_claim_setting *settings, uint32_t n)
{
    wishes all = {.overrides = NS_NEW_ARRAY(arena, ns_override, n + 1)};
    const struct {
        const char *name;
        const ns_claim_setting **to;
    } known[] = {{"until", &all.until},
                 {"tol", &all.tolerance},
                 {"method", &all.method},
                 {"back", &all.back},
                 {"samples", &all.samples}};
    enum { KNOWN = sizeof known / sizeof *known };
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < KNOWN && strcmp(known[k].name, settings[i].name) != 0)
            k++;
        if (k < KNOWN)
            *known[k].to = &settings[i];
        else
            all.overrides[all.n++] = (ns_override){settings[i].name, settings[i].value};
    }
    return all;
}

/* The number a part of the text stands for; false after a message. */
static bool number_at(const ns_claims_world *w, ns_span place, double *out)
{
    ns_formula f;
    uint32_t at = place.begin;
    if (!ns_formula_read(w->claim->diag, place.source, "", NULL, &at, place.end, &f))
        return false;
    *out = ns_formula_value(&w->words, &f);
    if (isfinite(*out) && at == place.end)
        return true;
    if (!isnan(*out) || at != place.end)
        ns_diag_error(w->claim->diag, place, "expected a number");
    return false;
}

static bool read_number(const ns_claims_world *w, const ns_claim_setting *s, double *out)
{
    return !s || number_at(w, s->place, out);
}

static bool make_room(ns_claims_world *w, ns_claims_run *r, ns_span place, size_t samples)
{
    r->t = calloc(samples, sizeof *r->t);
    r->values = calloc(samples * r->model->system->observables.n + 1, sizeof(double));
    r->residuals = calloc(samples * r->model->system->constraints.n + 1, sizeof(double));
    if (r->t && r->values && r->residuals)
        return true;
    ns_diag_error(w->claim->diag, place, "out of memory");
    return false;
}

static bool start_one(ns_claims_world *w, ns_claims_run *r, const ns_claim_statement *s,
                      const ns_claim_setting *settings)
{
    ns_diag *diag = w->claim->diag;
    const wishes all = sort_settings(w->arena, settings, s->settings.n);
    r->model = load(w, &s->model, all.overrides, all.n);
    if (!r->model)
        return false;
    if (r->model->status != NS_OK) {
        ns_diag_error(diag, s->model.place, "the model `%s` cannot be run:\n%s", s->model.text,
                      r->model->messages);
        return false;
    }
    if (all.back && !turn_back(w, r, all.back))
        return false;
    ns_run_options options = ns_model_run_options(r->model);
    double samples = SAMPLES;
    if (!read_number(w, all.until, &options.until) ||
        !read_number(w, all.tolerance, &options.tolerance) ||
        !read_number(w, all.samples, &samples))
        return false;
    if (all.method)
        options.method = all.method->value;
    const ns_method *m = ns_method_find(options.method);
    const char *message = "";
    if (!m)
        ns_diag_error(diag, all.method ? all.method->place : s->model.place, "no method `%s`",
                      options.method);
    else if (isnan(options.until))
        ns_diag_error(diag, s->model.place,
                      "the model does not say how long to run: add until=T");
    else if (!(samples >= 2 && samples <= MOST_SAMPLES))
        ns_diag_error(diag, all.samples ? all.samples->place : s->model.place,
                      "samples: 2 to %d", MOST_SAMPLES);
    else
        r->run = ns_run_new(m->precise ? ns_model_problem(r->model, false)
                                       : ns_model_problem_for(r->model, m),
                            &options, r->model->p, r->model->x0, &r->status, &message);
    if (*message && !r->run)
        ns_diag_error(diag, s->model.place, "%s", message);
    if (!r->run || !make_room(w, r, s->model.place, (size_t)samples))
        return false;
    r->status = NS_OK;
    take_samples(r, options.t0, options.until, (uint32_t)samples);
    return true;
}

/* One run for each of the values V1,V2,... that a setting has. */
static bool start_series(ns_claims_world *w, const ns_claim_statement *s)
{
    ns_claims_series *series = NS_NEW(w->arena, ns_claims_series);
    series->name = s->name.text;
    NS_PUSH(w->arena, w->series, series);
    uint32_t which = 0, n = 1;
    while (which < s->settings.n && !strchr(s->settings.at[which].value, ','))
        which++;
    if (which == s->settings.n) {
        ns_diag_error(w->claim->diag, s->name.place,
                      "a series needs a parameter with several values: NAME=V1,V2");
        return false;
    }
    const ns_claim_setting *many = &s->settings.at[which];
    for (const char *c = many->value; *c; c++)
        n += *c == ',';
    series->parameter = many->name;
    series->runs = NS_NEW_ARRAY(w->arena, ns_claims_run, n);
    series->value = NS_NEW_ARRAY(w->arena, double, n);
    ns_claim_setting *own = ns_arena_copy(w->arena, s->settings.at,
                                          s->settings.n * sizeof *s->settings.at);
    uint32_t at = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t length = (uint32_t)strcspn(many->value + at, ",");
        own[which].value = ns_arena_string(w->arena, many->value + at, length);
        own[which].place.begin = many->place.begin + at;
        own[which].place.end = own[which].place.begin + length;
        at += length + 1;
        series->runs[k].name = s->name.text;
        series->n++;
        if (!number_at(w, own[which].place, &series->value[k]) ||
            !start_one(w, &series->runs[k], s, own))
            return false;
    }
    return true;
}

bool ns_claims_start(ns_claims_world *w, const ns_claim_statement *s)
{
    if (s->kind == NS_CLAIM_SERIES)
        return start_series(w, s);
    ns_claims_run *r = NS_NEW(w->arena, ns_claims_run);
    r->name = s->name.text;
    NS_PUSH(w->arena, w->runs, r);
    return start_one(w, r, s, s->settings.at);
}

static void free_run(ns_claims_run *r)
{
    ns_run_free(r->run);
    ns_model_free(r->model);
    free(r->t);
    free(r->values);
    free(r->residuals);
}

void ns_claims_free(ns_claims_world *w)
{
    for (uint32_t i = 0; i < w->runs.n; i++)
        free_run(w->runs.at[i]);
    for (uint32_t i = 0; i < w->series.n; i++)
        for (uint32_t k = 0; k < w->series.at[i]->n; k++)
            free_run(&w->series.at[i]->runs[k]);
}

/* ---- commands ---------------------------------------------------------------------------- */

/* The words of a command as noslip gets them: figures/FILE goes to the folder of figures, and
 * is left out with its option if there is none; models that are files are beside the claim. */
static char **words_of(ns_claims_world *w, const ns_claim_statement *s, int *n)
{
    char **words = NS_NEW_ARRAY(w->arena, char *, s->words.n);
    *n = 0;
    for (uint32_t i = 0; i < s->words.n; i++) {
        const char *text = s->words.at[i].text;
        const bool figure = strncmp(text, "figures/", 8) == 0;
        if (figure && !w->folder)
            *n -= *n > 0;
        else if (figure)
            words[(*n)++] = ns_arena_format(w->arena, "%s%s", w->folder, text + 7);
        else
            words[(*n)++] = ns_arena_format(w->arena, "%s",
                                            is_file(text) ? beside(w, text) : text);
    }
    return words;
}

bool ns_claims_inside(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
            return false;
    return *path != '/';
}

/* A claim is somebody's text: it writes figures where it is told to, and nothing else. */
static bool writes_figures_only(ns_claims_world *w, const ns_claim_statement *s,
                                const ns_arguments *a)
{
    const size_t n = w->folder ? strlen(w->folder) : 0;
    const char *const name = a->command->name;
    if ((strcmp(name, "new") == 0 && a->words.n > 1) ||
        (strcmp(name, "format") == 0 && ns_command_flag(a, "write")) ||
        (strcmp(name, "reproduce") == 0 && ns_command_text(a, "out"))) {
        ns_diag_error(w->claim->diag, s->words.at[0].place, "a claim writes figures only");
        return false;
    }
    for (uint32_t i = 0; i < a->options.n; i++) {
        const ns_given *given = &a->options.at[i];
        const char *file = given->value;
        if (!file || !ns_command_writes(given->option) ||
            (n && strncmp(file, w->folder, n) == 0 && file[n] == '/' &&
             ns_claims_inside(file + n + 1)))
            continue;
        ns_diag_error(w->claim->diag, s->words.at[0].place,
                      "a claim writes figures only: --%s figures/FILE, not `%s`",
                      given->option->name, file);
        return false;
    }
    return true;
}

bool ns_claims_command(ns_claims_world *w, const ns_claim_statement *s)
{
    char *text = NULL;
    size_t size = 0;
    int n;
    char **words = words_of(w, s, &n);
    const ns_command *command = ns_command_find(words[0]);
    FILE *out = command ? open_memstream(&text, &size) : NULL;
    if (!out) {
        ns_diag_error(w->claim->diag, s->words.at[0].place,
                      command ? "out of memory" : "noslip has no command `%s`", words[0]);
        return false;
    }
    const uint32_t count = w->models.n;
    struct ns_gallery_entry *own = NS_NEW_ARRAY(w->arena, struct ns_gallery_entry, count + 1);
    for (uint32_t i = 0; i < count; i++)
        own[i] = (struct ns_gallery_entry){w->models.at[i].name, w->models.at[i].text};
    ns_host host = {.arena = w->arena,
                    .out = out,
                    .err = out,
                    .style_out = ns_style_none,
                    .style_err = ns_style_none,
                    .own = own,
                    .n_own = count,
                    .stop = w->host->stop,
                    .context = w->host->context,
                    .phase = w->host->phase};
    ns_arguments arguments = {0};
    const bool read = ns_command_parse(&host, command, n - 1, words + 1, &arguments);
    const bool tame = !read || writes_figures_only(w, s, &arguments);
    if (read && tame)
        command->run(&host, &arguments);
    fclose(out);
    NS_PUSH(w->arena, w->outputs,
            (ns_claims_text){s->name.text, ns_arena_string(w->arena, text, size)});
    free(text);
    return tame;
}

/* ---- by name ----------------------------------------------------------------------------- */

static ns_claims_series *series_called(const ns_claims_world *w, const char *name)
{
    for (uint32_t i = 0; i < w->series.n; i++)
        if (strcmp(w->series.at[i]->name, name) == 0)
            return w->series.at[i];
    return NULL;
}

bool ns_claims_is_series(const ns_claims_world *w, const char *name)
{
    return series_called(w, name) != NULL;
}

ns_claims_series *ns_claims_find_series(const ns_claims_world *w, const ns_claim_word *name)
{
    ns_claims_series *s = series_called(w, name->text);
    if (!s)
        ns_diag_error(w->claim->diag, name->place, "there is no series `%s`", name->text);
    return s;
}

ns_claims_run *ns_claims_find(const ns_claims_world *w, const ns_claim_word *name)
{
    for (uint32_t i = 0; i < w->runs.n; i++)
        if (strcmp(w->runs.at[i]->name, name->text) == 0)
            return w->runs.at[i];
    ns_claims_series *s = series_called(w, name->text);
    if (!s)
        ns_diag_error(w->claim->diag, name->place, "there is no run `%s`", name->text);
    return s ? &s->runs[s->present] : NULL;
}

const char *ns_claims_output(const ns_claims_world *w, const ns_claim_word *name)
{
    for (uint32_t i = 0; i < w->outputs.n; i++)
        if (strcmp(w->outputs.at[i].name, name->text) == 0)
            return w->outputs.at[i].text;
    ns_diag_error(w->claim->diag, name->place, "there is no command `%s`", name->text);
    return NULL;
}
