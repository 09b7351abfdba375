#include "base/series/series.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/near.h"
#include "base/series/h5_lists.h"

enum { MOST_BYTES = 1 << 30 };

/* ---- CSV --------------------------------------------------------------------------------- */

typedef struct reader {
    ns_arena *arena;
    ns_series *s;
    size_t line;
    const char **message;
} reader;

static char *trimmed(char *begin, char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
        begin++;
        end--;
    }
    *end = 0;
    return begin;
}

/* Cells of a line, which is taken apart. */
static size_t cells(char *line, char **cell, size_t most)
{
    size_t n = 0;
    for (char *c = line;; c++) {
        if (*c == '"' && (c = strchr(c + 1, '"')) == NULL)
            c = line + strlen(line);
        if (*c && *c != ',' && *c != ';')
            continue;
        const bool last = !*c;
        if (n < most)
            cell[n] = trimmed(line, c);
        n++;
        if (last)
            return n;
        line = c + 1;
    }
}

static bool take_names(reader *r, char **cell, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *end;
        strtod(cell[i], &end);
        if (*cell[i] && end != cell[i] && !*end) {
            *r->message = ns_arena_format(r->arena,
                                          "%s:%zu: the first line must name the columns, such "
                                          "as  t,torque ; found the number %s",
                                          r->s->path, r->line, cell[i]);
            return false;
        }
        NS_PUSH(
            r->arena, r->s->columns,
            (ns_series_column){.name = ns_arena_string(r->arena, cell[i], strlen(cell[i]))});
    }
    return true;
}

static bool take_row(reader *r, char **cell, size_t n, double *row)
{
    const size_t columns = r->s->columns.n;
    if (n != columns) {
        *r->message = ns_arena_format(r->arena, "%s:%zu: %zu values; the first line names %zu",
                                      r->s->path, r->line, n, columns);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        char *end = cell[i];
        row[i] = *cell[i] ? strtod(cell[i], &end) : (double)NAN;
        if (*end || (*cell[i] && !isfinite(row[i]) && !isnan(row[i]))) {
            *r->message = ns_arena_format(
                r->arena, "%s:%zu: column %zu (`%s`): `%s` is not a number", r->s->path,
                r->line, i + 1, r->s->columns.at[i].name, cell[i]);
            return false;
        }
    }
    return true;
}

static bool read_csv(reader *r, char *text)
{
    enum { MOST_COLUMNS = 4096 };
    char **cell = NS_NEW_ARRAY(r->arena, char *, MOST_COLUMNS + 1);
    NS_LIST(double) numbers = {0};
    NS_LIST(size_t) lines = {0};
    double *row = NS_NEW_ARRAY(r->arena, double, MOST_COLUMNS + 1);
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        r->line++;
        if (!line[strspn(line, " \t\r\v\f")] || *line == '#')
            continue;
        const size_t n = cells(line, cell, MOST_COLUMNS);
        if (n > MOST_COLUMNS) {
            *r->message = ns_arena_format(r->arena, "%s:%zu: more than %d columns", r->s->path,
                                          r->line, MOST_COLUMNS);
            return false;
        }
        if (!r->s->columns.n) {
            if (!take_names(r, cell, n))
                return false;
            continue;
        }
        if (!take_row(r, cell, n, row))
            return false;
        for (size_t i = 0; i < n; i++)
            NS_PUSH(r->arena, numbers, row[i]);
        NS_PUSH(r->arena, lines, r->line);
        r->s->rows++;
    }
    const size_t columns = r->s->columns.n;
    for (size_t i = 0; i < columns && numbers.at; i++) {
        r->s->columns.at[i].value = NS_NEW_ARRAY(r->arena, double, r->s->rows + 1);
        for (size_t k = 0; k < r->s->rows; k++)
            r->s->columns.at[i].value[k] = numbers.at[k * columns + i];
    }
    r->s->line = lines.at;
    return true;
}

static bool open_csv(reader *r)
{
    char *text = NULL;
    size_t length = 0;
    const int error = ns_file_read(r->s->path, MOST_BYTES, &text, &length);
    if (error) {
        *r->message = ns_arena_format(r->arena, "cannot read %s: %s", r->s->path,
                                      error == EFBIG ? "it is larger than 1 GB"
                                                     : strerror(error));
        return false;
    }
    char *copy = ns_arena_string(r->arena, text, length);
    const bool binary = memchr(text, 0, length) != NULL;
    free(text);
    if (binary) {
        *r->message = ns_arena_format(r->arena, "%s is not a CSV file", r->s->path);
        return false;
    }
    const bool marked = length >= 3 && memcmp(copy, "\xef\xbb\xbf", 3) == 0; /* by Windows */
    return read_csv(r, copy + (marked ? 3 : 0));
}

/* ---- HDF5 -------------------------------------------------------------------------------- */

static bool open_hdf5(reader *r)
{
    const ns_h5_lists_request request = {.group = "values", .both = true};
    ns_h5_lists lists;
    if (!ns_h5_lists_read(r->arena, r->s->path, &request, &lists, r->message))
        return false;
    for (uint32_t i = 0; i < lists.n; i++) {
        const ns_h5_list *one = &lists.at[i];
        if (one->rank != 1 || (r->s->columns.n && one->rows != r->s->rows))
            continue;
        r->s->rows = one->rows;
        NS_PUSH(r->arena, r->s->columns,
                (ns_series_column){.name = one->name, .value = one->value});
    }
    return true;
}

/* ---- both -------------------------------------------------------------------------------- */

static const char *place(const reader *r, size_t row)
{
    return r->s->line ? ns_arena_format(r->arena, "%s:%zu", r->s->path, r->s->line[row])
                      : ns_arena_format(r->arena, "%s, row %zu", r->s->path, row + 1);
}

static bool find_time(reader *r)
{
    ns_series *s = r->s;
    if (s->columns.n < 2 || !s->rows) {
        *r->message = ns_arena_format(r->arena,
                                      "%s has no table: expected a column of times "
                                      "and one of values",
                                      s->path);
        return false;
    }
    s->t = s->columns.at[0].value;
    for (uint32_t i = s->columns.n; i-- > 0;)
        if (strcmp(s->columns.at[i].name, "t") == 0 ||
            strcmp(s->columns.at[i].name, "time") == 0)
            s->t = s->columns.at[i].value;
    for (size_t k = 0; k < s->rows; k++) {
        if (!isfinite(s->t[k])) {
            *r->message = ns_arena_format(r->arena, "%s: there is no time", place(r, k));
            return false;
        }
        if (k && !(s->t[k] > s->t[k - 1])) {
            *r->message = ns_arena_format(r->arena,
                                          "%s: times must ascend; %.10g follows %.10g",
                                          place(r, k), s->t[k], s->t[k - 1]);
            return false;
        }
    }
    return true;
}

bool ns_series_columns(ns_arena *arena, const char *path, ns_series *series,
                       const char **message)
{
    *series = (ns_series){.path = path};
    reader r = {.arena = arena, .s = series, .message = message};
    const char *dot = strrchr(path, '.');
    const bool hdf5 = dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
    return hdf5 ? open_hdf5(&r) : open_csv(&r);
}

bool ns_series_read(ns_arena *arena, const char *path, ns_series *series, const char **message)
{
    reader r = {.arena = arena, .s = series, .message = message};
    return ns_series_columns(arena, path, series, message) && find_time(&r);
}

const double *ns_series_find(ns_arena *arena, const ns_series *s, const char *name,
                             const char **message)
{
    ns_near near = {.word = name};
    for (uint32_t i = 0; i < s->columns.n; i++) {
        if (strcmp(s->columns.at[i].name, name) == 0)
            return s->columns.at[i].value;
        ns_near_try(&near, s->columns.at[i].name);
    }
    *message = ns_arena_format(arena, "%s has no column `%s`%s%s%s", s->path, name,
                               near.found ? "; did you mean `" : "",
                               near.found ? near.found : "", near.found ? "`?" : "");
    return NULL;
}

/* ---- splines ----------------------------------------------------------------------------- */

/* Slopes of the cubic spline, not-a-knot at both ends: a tridiagonal system (de Boor 1978). */
static void slopes(ns_arena *arena, size_t n, const double *t, const double *y, double *m)
{
    if (n == 2) {
        m[0] = m[1] = (y[1] - y[0]) / (t[1] - t[0]);
        return;
    }
    double *a = NS_NEW_ARRAY(arena, double, n), *b = NS_NEW_ARRAY(arena, double, n);
    double *c = NS_NEW_ARRAY(arena, double, n);
    const double h0 = t[1] - t[0], h1 = t[2] - t[1];
    const double d0 = (y[1] - y[0]) / h0, d1 = (y[2] - y[1]) / h1;
    if (n == 3) { /* one parabola */
        const double bend = (d1 - d0) / (h0 + h1);
        m[0] = d0 - h0 * bend;
        m[1] = d0 + h0 * bend;
        m[2] = d1 + h1 * bend;
        return;
    }
    b[0] = h1;
    c[0] = h0 + h1;
    m[0] = ((h0 + 2 * c[0]) * h1 * d0 + h0 * h0 * d1) / c[0];
    for (size_t k = 1; k + 1 < n; k++) {
        const double p = t[k] - t[k - 1], q = t[k + 1] - t[k];
        a[k] = q;
        b[k] = 2 * (p + q);
        c[k] = p;
        m[k] = 3 * (q * (y[k] - y[k - 1]) / p + p * (y[k + 1] - y[k]) / q);
    }
    const double p = t[n - 2] - t[n - 3], q = t[n - 1] - t[n - 2];
    const double e0 = (y[n - 2] - y[n - 3]) / p, e1 = (y[n - 1] - y[n - 2]) / q;
    a[n - 1] = p + q;
    b[n - 1] = p;
    m[n - 1] = (q * q * e0 + (2 * (p + q) + q) * p * e1) / (p + q);
    for (size_t k = 1; k < n; k++) {
        const double w = a[k] / b[k - 1];
        b[k] -= w * c[k - 1];
        m[k] -= w * m[k - 1];
    }
    m[n - 1] /= b[n - 1];
    for (size_t k = n - 1; k-- > 0;)
        m[k] = (m[k] - c[k] * m[k + 1]) / b[k];
}

void ns_series_spline(ns_arena *arena, size_t n, const double *t, const double *y,
                      unsigned order, double *c)
{
    double *m = NS_NEW_ARRAY(arena, double, n + 1);
    if (order == 3 && n > 1)
        slopes(arena, n, t, y, m);
    for (size_t k = 0; k < n; k++) {
        double *out = c + k * (order + 1);
        out[0] = y[k];
        if (!order || k + 1 == n)
            continue;
        const double h = t[k + 1] - t[k], d = (y[k + 1] - y[k]) / h;
        out[1] = order == 1 ? d : m[k];
        if (order == 3) {
            out[2] = (3 * d - 2 * m[k] - m[k + 1]) / h;
            out[3] = (m[k] + m[k + 1] - 2 * d) / (h * h);
        }
    }
}
