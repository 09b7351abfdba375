/* What a run leaves behind, as files and as bytes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/result.h"
#include "base/file.h"
#include "base/process/plain.h"
#include "command/page.h"
#include "out/formats.h"

static const char page[] = "html", data[] = "report", brief[] = "motion", live[] = "live";

const char *ns_api_format_name(size_t i, const char **summary)
{
    size_t n = 0;
    for (; ns_output_formats[n]; n++)
        if (n == i) {
            *summary = ns_output_formats[n]->summary;
            return ns_output_formats[n]->extension;
        }
    static const char *const more[][2] = {{page, "the report: one page for a browser"},
                                          {data, "the data of the report, as JSON"},
                                          {brief, "the same without the formulas"},
                                          {live, "a report whose sliders recompute"}};
    if (i - n >= sizeof more / sizeof *more)
        return NULL;
    *summary = more[i - n][1];
    return more[i - n][0];
}

static ns_verdict fail(ns_result *result, ns_verdict verdict, const char *what, const char *why)
{
    snprintf(result->error, sizeof result->error, "%s%s", what, why);
    return verdict;
}

/* ---- the report -------------------------------------------------------------------------- */

static ns_verdict needs_motion(ns_result *result)
{
    return result->record->motion.rows
               ? NS_DONE
               : fail(result, NS_WRONG,
                      "pictures and reports need a run with the option motion", "");
}

static ns_verdict write_live(ns_result *result, const char *path)
{
    char why[300], *playground = NULL;
    ns_report_options o = {0};
    if (needs_motion(result) != NS_DONE)
        return NS_WRONG;
    const int error = ns_page_playground(&playground, &o.length);
    if (error)
        return fail(result, NS_WRONG,
                    "a live page needs the playground; NOSLIP_PLAYGROUND "
                    "names it: ",
                    strerror(error));
    o.template = playground;
    const bool good = ns_report_write(result->record, &o, path, why);
    free(playground);
    return good ? NS_DONE : fail(result, NS_FAILED, "cannot write ", why);
}

static ns_verdict write_page(ns_result *result, const char *path)
{
    char why[300];
    if (needs_motion(result) != NS_DONE)
        return NS_WRONG;
    if (!ns_page_bytes)
        return fail(result, NS_WRONG, "this library was built without the page of reports", "");
    const ns_report_options o = {.template = ns_page_bytes, .length = ns_page_length};
    return ns_report_write(result->record, &o, path, why)
               ? NS_DONE
               : fail(result, NS_FAILED, "cannot write ", why);
}

/* Programs are built on the model's graph: two arenas may run out, and NULL it is then. */
static void *report_data(ns_result *result, bool formulas, size_t *length)
{
    ns_model *model = result->record->model;
    ns_arena *arena = ns_arena_new();
    char *volatile copy = NULL;
    if (!arena)
        return NULL;
    pthread_mutex_lock(&model->lock);
    if (!NS_ARENA_GUARD(model->arena) && !NS_ARENA_GUARD(arena)) {
        const char *text = ns_report_data(result->record, NULL, formulas, arena, length);
        copy = malloc(*length + 1);
        if (copy)
            memcpy(copy, text, *length + 1);
    }
    ns_arena_unguard(arena);
    ns_arena_unguard(model->arena);
    pthread_mutex_unlock(&model->lock);
    ns_arena_free(arena);
    return copy;
}

/* ---- files ------------------------------------------------------------------------------- */

static ns_verdict write_format(ns_result *result, const ns_output_format *format,
                               const char *path)
{
    const ns_record *r = result->record;
    if (format->needs_motion && needs_motion(result) != NS_DONE)
        return NS_WRONG;
    if (format->needs_scene && !ns_scene_is_drawn(&r->model->system->scene))
        return fail(result, NS_WRONG, "the model has no picture; a `draw` block gives it one",
                    "");
    ns_output output;
    ns_verdict verdict = NS_DONE;
    if (!ns_output_open(&output, format, path))
        verdict = NS_WRONG;
    else if (!ns_output_write(&output, r))
        verdict = NS_FAILED;
    if (verdict != NS_DONE)
        fail(result, verdict, "cannot write ", output.error);
    ns_output_close(&output);
    return verdict;
}

static bool is_page(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot + 1, page) == 0;
}

ns_verdict ns_result_write(ns_result *result, const char *path)
{
    NS_PLAIN_NUMBERS;
    if (!result || (!result->record && !*result->wrong))
        return NS_FAILED;
    *result->error = 0;
    if (!result->record || !result->record->outcome)
        return fail(result, NS_WRONG, "there is nothing to write", "");
    if (is_page(path))
        return write_page(result, path);
    const ns_output_format *format = ns_output_find(ns_output_formats, path);
    if (format)
        return write_format(result, format, path);
    snprintf(result->error, sizeof result->error,
             "the format of `%s` is unknown: its name must end in .h5, .csv, .json, .svg, .glb "
             "or .html",
             path);
    return NS_WRONG;
}

/* ---- bytes ------------------------------------------------------------------------------- */

static bool is_format(const char *name)
{
    const char *known, *summary;
    for (size_t i = 0; (known = ns_api_format_name(i, &summary)) != NULL; i++)
        if (strcmp(known, name) == 0)
            return true;
    return false;
}

/* Formats write files, some of them cannot do otherwise: a folder that nobody else sees. */
static void *by_file(ns_result *result, const char *format, size_t *length)
{
    char folder[4096], path[4200], *bytes = NULL;
    int error = ns_file_pattern(folder, sizeof folder, "noslip");
    if (!error && !mkdtemp(folder))
        error = errno;
    if (error) {
        fail(result, NS_FAILED, "no temporary folder: ", strerror(error));
        return NULL;
    }
    snprintf(path, sizeof path, "%s/result.%s", folder, format);
    const bool is_live = strcmp(format, live) == 0;
    if ((is_live ? write_live(result, path) : ns_result_write(result, path)) == NS_DONE) {
        error = ns_file_read(path, SIZE_MAX - 1, &bytes, length);
        if (error)
            fail(result, NS_FAILED, "the temporary file cannot be read: ", strerror(error));
    }
    unlink(path);
    rmdir(folder);
    return bytes;
}

/* The object of `noslip run --json`. */
static void *json(ns_result *result, size_t *length)
{
    char *bytes = NULL;
    FILE *file = open_memstream(&bytes, length);
    const bool good = file && ns_output_json_to(file, result->record);
    if (file && fclose(file) == 0 && good)
        return bytes;
    free(bytes);
    fail(result, NS_FAILED, "out of memory", "");
    return NULL;
}

void *ns_result_bytes(ns_result *result, const char *format, size_t *length)
{
    NS_PLAIN_NUMBERS;
    size_t own = 0;
    length = length ? length : &own;
    *length = 0;
    if (!result)
        return NULL;
    *result->error = 0;
    void *bytes = NULL;
    if (!result->record || !result->record->outcome)
        fail(result, NS_WRONG, "there is nothing to write", "");
    else if (!is_format(format))
        fail(result, NS_WRONG, "unknown format: ", format);
    else if (strcmp(format, ns_output_json.extension) == 0)
        bytes = json(result, length);
    else if (strcmp(format, data) != 0 && strcmp(format, brief) != 0)
        bytes = by_file(result, format, length);
    else if (needs_motion(result) == NS_DONE) {
        bytes = report_data(result, strcmp(format, data) == 0, length);
        if (!bytes)
            fail(result, NS_FAILED, "out of memory", "");
    }
    return bytes;
}

void ns_free(void *memory)
{
    free(memory);
}
