#include "out/tables/sweep_from.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "out/tables/h5.h"
#include "session/output.h"

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
                return ns_arena_format(r->arena, "%s:%u: '%s' in column %s is not a number",
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
    reader r = {.arena = arena, .path = path, .at = text, .plan = plan};
    const char *wrong = read_head(&r);
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

#if NS_HDF5

typedef struct hdf5_reader {
    ns_arena *arena;
    const char *path, *wrong;
    ns_plan *plan;
} hdf5_reader;

/* The exact name, if the dataset has it as an attribute. */
static const char *exact_name(ns_arena *arena, hid_t dataset, const char *link)
{
    char *text = ns_h5_get_text(dataset, "name");
    const char *from = text ? text : link, *name = ns_arena_string(arena, from, strlen(from));
    free(text);
    return name;
}

static const char *read_array(const hdf5_reader *r, hid_t dataset, const char *link)
{
    ns_plan *plan = r->plan;
    hid_t space = H5Dget_space(dataset);
    hsize_t size[H5S_MAX_RANK] = {0};
    const int rank = H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space);
    const char *name = exact_name(r->arena, dataset, link);
    if (rank != 1 || size[0] < 1)
        return ns_arena_format(r->arena, "%s: '%s' is not a list of numbers", r->path, name);
    if (plan->axes.n && size[0] != plan->count)
        return ns_arena_format(r->arena, "%s: '%s' and '%s' do not have the same length",
                               r->path, plan->axes.at[0].name, name);
    if (plan->axes.n == MOST_AXES)
        return ns_arena_format(r->arena, "%s has more than %d lists", r->path, MOST_AXES);
    double *values = NS_NEW_ARRAY(r->arena, double, size[0]);
    if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return ns_arena_format(r->arena, "%s: cannot read '%s'", r->path, name);
    for (hsize_t i = 0; i < size[0]; i++)
        if (!isfinite(values[i]))
            return ns_arena_format(r->arena, "%s: '%s' has an entry that is not a number",
                                   r->path, name);
    plan->count = size[0];
    NS_PUSH(r->arena, plan->axes,
            (ns_plan_axis){.name = name, .kind = NS_PLAN_LIST, .values = values});
    return NULL;
}

static herr_t visit(hid_t group, const char *link, const H5L_info_t *info, void *context)
{
    hdf5_reader *r = context;
    (void)info;
    hid_t object = H5Oopen(group, link, H5P_DEFAULT);
    if (object < 0)
        return 0;
    if (H5Iget_type(object) == H5I_DATASET) {
        hid_t type = H5Dget_type(object);
        const H5T_class_t kind = H5Tget_class(type);
        if (kind == H5T_FLOAT || kind == H5T_INTEGER)
            r->wrong = read_array(r, object, link);
        H5Tclose(type);
    }
    H5Oclose(object);
    return r->wrong ? 1 : 0;
}

static const char *from_hdf5(ns_arena *arena, const char *path, ns_plan *plan)
{
    hdf5_reader r = {.arena = arena, .path = path, .plan = plan};
    const ns_h5_errors before = ns_h5_be_quiet();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        r.wrong = ns_arena_format(arena, "cannot read %s as HDF5", path);
    } else {
        const bool group = ns_h5_has(file, "parameters");
        hid_t at = group ? H5Gopen2(file, "parameters", H5P_DEFAULT) : file;
        hsize_t place = 0;
        /* in the order they were made in, where the file knows it */
        if (at >= 0 && H5Literate(at, H5_INDEX_CRT_ORDER, H5_ITER_INC, &place, visit, &r) < 0 &&
            !r.wrong && !plan->axes.n) {
            place = 0;
            H5Literate(at, H5_INDEX_NAME, H5_ITER_INC, &place, visit, &r);
        }
        if (group && at >= 0)
            H5Gclose(at);
        H5Fclose(file);
        if (!r.wrong && !plan->axes.n)
            r.wrong = ns_arena_format(arena, "%s has no lists of numbers", path);
    }
    ns_h5_be_as_before(before);
    return r.wrong;
}

#else

static const char *from_hdf5(ns_arena *arena, const char *path, ns_plan *plan)
{
    (void)plan;
    return ns_arena_format(arena, "%s: " NS_WITHOUT_HDF5, path);
}

#endif

const char *ns_sweep_from(ns_arena *arena, const char *path, ns_plan *plan)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcasecmp(dot, ".csv") == 0)
        return from_csv(arena, path, plan);
    if (dot && (strcasecmp(dot, ".h5") == 0 || strcasecmp(dot, ".hdf5") == 0))
        return from_hdf5(arena, path, plan);
    return ns_arena_format(arena, "%s: the name must end in .csv or .h5", path);
}
