#include "out/tables/sweep_from.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/series/h5_lists.h"

enum { MOST_AXES = 1000 };
static const size_t most_bytes = (size_t)1 << 36;

/* ---- CSV --------------------------------------------------------------------------------- */

typedef struct reader {
    ns_arena *arena;
    const char *path;
    char *at;      /* the rest of the text */
    unsigned line; /* of the text */
    ns_plan *plan;
} reader;

/* The next line that counts, ended by a zero byte; NULL at the end. */
static char *next_line(reader *r)
{
    while (*r->at) {
        char *line = r->at, *end = line + strcspn(line, "\n");
        r->at = *end ? end + 1 : end;
        r->line++;
        if (end > line && end[-1] == '\r')
            end[-1] = 0;
        *end = 0;
        if (line[0] != '#' && line[strspn(line, " \t")])
            return line;
    }
    return NULL;
}

/* The next field of a line, without quotes and blanks; *rest is NULL after the last. */
static char *next_field(char **rest)
{
    char *from = *rest + strspn(*rest, " \t"), *to;
    if (*from == '"') {
        char *read = from + 1;
        to = from;
        while (*read && !(*read == '"' && read[1] != '"')) {
            read += *read == '"';
            *to++ = *read++;
        }
        read += *read == '"';
        read += strcspn(read, ",");
        *rest = *read ? read + 1 : NULL;
    } else {
        to = from + strcspn(from, ",");
        *rest = *to ? to + 1 : NULL;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
            to--;
    }
    *to = 0;
    return from;
}

static const char *read_head(reader *r)
{
    char *rest = next_line(r);
    if (!rest)
        return ns_arena_format(r->arena, "%s is empty", r->path);
    while (rest) {
        const char *name = next_field(&rest);
        if (!*name)
            return ns_arena_format(r->arena, "%s:%u: column %u has no name", r->path, r->line,
                                   r->plan->axes.n + 1);
        if (r->plan->axes.n == MOST_AXES)
            return ns_arena_format(r->arena, "%s has more than %d columns", r->path, MOST_AXES);
        NS_PUSH(r->arena, r->plan->axes,
                (ns_plan_axis){.name = ns_arena_string(r->arena, name, strlen(name)),
                               .kind = NS_PLAN_LIST});
    }
    return NULL;
}

static uint64_t count_lines(const char *text)
{
    uint64_t n = 1;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n;
}

static const char *read_lines(reader *r, double **column)
{
    const uint32_t n = r->plan->axes.n;
    for (char *line; (line = next_line(r)) != NULL; r->plan->count++) {
        char *rest = line;
        uint32_t k = 0;
        for (; rest; k++) {
            const char *field = next_field(&rest);
            char *end;
            const double value = strtod(field, &end);
            if (k >= n)
                continue;
            if (!*field || *end || !isfinite(value))
                return ns_arena_format(r->arena, "%s:%u: `%s` in column %s is not a number",
                                       r->path, r->line, field, r->plan->axes.at[k].name);
            column[k][r->plan->count] = value;
        }
        if (k != n)
            return ns_arena_format(r->arena, "%s:%u: expected %u numbers, as many as names",
                                   r->path, r->line, n);
    }
    return r->plan->count ? NULL : ns_arena_format(r->arena, "%s has no rows", r->path);
}

static const char *from_csv(ns_arena *arena, const char *path, ns_plan *plan)
{
    char *text = NULL;
    size_t length = 0;
    const int error = ns_file_read(path, most_bytes, &text, &length);
    if (error)
        return ns_arena_format(arena, "cannot read %s: %s", path, strerror(error));
    const bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; /* by Windows */
    reader r = {.arena = arena, .path = path, .at = text + (marked ? 3 : 0), .plan = plan};
    const char *wrong = memchr(text, 0, length)
                            ? ns_arena_format(arena, "%s is not a CSV file", path)
                            : read_head(&r);
    if (!wrong) {
        const uint64_t room = count_lines(r.at);
        double **column = NS_NEW_ARRAY(arena, double *, plan->axes.n + 1);
        for (uint32_t k = 0; k < plan->axes.n; k++) {
            column[k] = NS_NEW_ARRAY(arena, double, room);
            plan->axes.at[k].values = column[k];
        }
        wrong = read_lines(&r, column);
    }
    free(text);
    return wrong;
}

/* ---- HDF5 -------------------------------------------------------------------------------- */

static const char *take_list(ns_arena *arena, const char *path, const ns_h5_list *one,
                             ns_plan *plan)
{
    if (one->rank != 1 || one->rows < 1)
        return ns_arena_format(arena, "%s: `%s` is not a list of numbers", path, one->name);
    if (plan->axes.n && one->rows != plan->count)
        return ns_arena_format(arena, "%s: `%s` and `%s` do not have the same length", path,
                               plan->axes.at[0].name, one->name);
    if (plan->axes.n == MOST_AXES)
        return ns_arena_format(arena, "%s has more than %d lists", path, MOST_AXES);
    for (size_t i = 0; i < one->rows; i++)
        if (!isfinite(one->value[i]))
            return ns_arena_format(arena, "%s: `%s` has an entry that is not a number", path,
                                   one->name);
    plan->count = one->rows;
    NS_PUSH(arena, plan->axes,
            (ns_plan_axis){.name = one->name, .kind = NS_PLAN_LIST, .values = one->value});
    return NULL;
}

static const char *from_hdf5(ns_arena *arena, const char *path, ns_plan *plan)
{
    const ns_h5_lists_request request = {.group = "parameters", .as_made = true};
    ns_h5_lists lists;
    const char *wrong = NULL;
    if (!ns_h5_lists_read(arena, path, &request, &lists, &wrong))
        return wrong;
    for (uint32_t i = 0; i < lists.n && !wrong; i++)
        wrong = take_list(arena, path, &lists.at[i], plan);
    if (!wrong && !plan->axes.n)
        wrong = ns_arena_format(arena, "%s has no lists of numbers", path);
    return wrong;
}

const char *ns_sweep_from(ns_arena *arena, const char *path, ns_plan *plan)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcasecmp(dot, ".csv") == 0)
        return from_csv(arena, path, plan);
    if (dot && (strcasecmp(dot, ".h5") == 0 || strcasecmp(dot, ".hdf5") == 0))
        return from_hdf5(arena, path, plan);
    return ns_arena_format(arena, "%s: the name must end in .csv or .h5", path);
}
