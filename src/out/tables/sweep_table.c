#define _GNU_SOURCE /* fallocate, locks of an open file */
#include "out/tables/sweep_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "session/output.h"

#if NS_HDF5
#include <hdf5.h>
#endif

enum {
    WINDOW = 1024, /* rows looked at together */
    OBJECT = 8192  /* more bytes than HDF5 needs for one object */
};

typedef struct place {
    off_t at;     /* in the file */
    size_t bytes; /* of one row */
} place;

struct ns_sweep_table {
    const ns_sweep *sweep;
    int fd;
    uint64_t rows;
    size_t record;
    uint32_t columns;            /* axes and quantities */
    place *column;               /* [columns] */
    place status, reason, check; /* status: one byte */
    bool fresh;                  /* nothing was there when it was opened */
    bool *window;                /* [WINDOW] which rows from `seen` on are complete */
    uint64_t seen;
    uint32_t known;
    void *records; /* [WINDOW] */
};

/* ---- checksums --------------------------------------------------------------------------- */

/* Of a row's number and its record, eight bytes at a time; never 0. */
static uint64_t checksum(uint64_t row, const void *record, size_t bytes)
{
    const unsigned char *at = record;
    uint64_t h = 14695981039346656037u ^ (row * 0x9E3779B97F4A7C15u);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, at + i, bytes - i < 8 ? bytes - i : 8);
        h = (h ^ word) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

/* ---- making ------------------------------------------------------------------------------ */

/* Takes the space from the system, where it can do that: a disk that is too small is found now.
 * Reasons, which few rows have, are left out. */
static int reserve(int fd, off_t at, off_t bytes)
{
    if (bytes <= 0 || fallocate(fd, 0, at, bytes) == 0)
        return 0;
    return errno == ENOSPC || errno == EFBIG ? errno : 0;
}

#if NS_HDF5

static bool put_text(hid_t at, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, type, &text) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

/* Names of links have no slash. */
static void link_name(char out[256], const char *name)
{
    snprintf(out, 256, "%s", name);
    for (char *c = out; *c; c++)
        if (*c == '/')
            *c = '|';
    if (strcmp(out, ".") == 0)
        out[0] = '|';
}

static bool make_array(hid_t at, const char *name, hid_t type, uint64_t rows, const char *exact,
                       const char *unit)
{
    const hsize_t size = rows;
    char link[256];
    link_name(link, name);
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(properties, H5D_CONTIGUOUS);
    H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    H5Pset_obj_track_times(properties, false);
    hid_t dataset = H5Dcreate2(at, link, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    bool good = dataset >= 0;
    if (good && exact)
        good = put_text(dataset, "name", exact);
    if (good && unit)
        good = put_text(dataset, "unit", unit);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
    return good;
}

static hid_t reason_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, NS_SWEEP_REASON);
    H5Tset_strpad(type, H5T_STR_NULLTERM);
    return type;
}

static hid_t make_group(hid_t at, const char *name)
{
    hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_obj_track_times(properties, false);
    hid_t group = H5Gcreate2(at, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    return group;
}

static bool make_content(hid_t file, const ns_sweep *w, const ns_sweep_fact *facts, uint32_t n)
{
    hid_t axes = make_group(file, "parameters"), results = make_group(file, "results");
    hid_t reason = reason_type();
    bool good = axes >= 0 && results >= 0;
    for (uint32_t i = 0; i < n && good; i++)
        good = put_text(file, facts[i].name, facts[i].text);
    for (uint32_t i = 0; i < w->n_axes && good; i++)
        good = make_array(axes, w->label[i], H5T_NATIVE_DOUBLE, w->plan.rows, w->label[i],
                          NULL);
    for (uint32_t i = 0; i < w->n_gets && good; i++)
        good = make_array(results, w->get[i].name, H5T_NATIVE_DOUBLE, w->plan.rows,
                          w->get[i].name, w->get[i].unit);
    good = good && make_array(file, "status", H5T_NATIVE_INT8, w->plan.rows, NULL, NULL) &&
           make_array(file, "reason", reason, w->plan.rows, NULL, NULL) &&
           make_array(file, "check", H5T_NATIVE_UINT64, w->plan.rows, NULL, NULL);
    if (good) {
        hid_t status = H5Dopen2(file, "status", H5P_DEFAULT);
        good = status >= 0 &&
               put_text(
                   status, "meaning",
                   "0 done; 1 stopped by an event; 2 singular; 3 steps too small; 4 too many "
                   "steps; -1 no start; a row counts only where check is not 0");
        if (status >= 0)
            H5Dclose(status);
    }
    H5Tclose(reason);
    if (axes >= 0)
        H5Gclose(axes);
    if (results >= 0)
        H5Gclose(results);
    return good;
}

static int make_file(const ns_sweep *w, const ns_sweep_fact *facts, uint32_t n,
                     const char *path, int fd)
{
    off_t need = (off_t)OBJECT * (w->n_axes + w->n_gets + 16);
    for (uint32_t i = 0; i < n; i++)
        need += (off_t)strlen(facts[i].text) + OBJECT;
    need += (off_t)w->plan.rows * (off_t)(8 * (w->n_axes + w->n_gets) + 9);
    /* HDF5 does not recover from a write that fails: is there room? */
    int error = reserve(fd, 0, need);
    if (!error && ftruncate(fd, need + (off_t)w->plan.rows * NS_SWEEP_REASON))
        error = errno; /* a limit on the size of files */
    if (ftruncate(fd, 0) && !error)
        error = errno;
    if (error)
        return error;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Pset_obj_track_times(create, false);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, create, access);
    H5Pclose(create);
    H5Pclose(access);
    bool good = file >= 0 && make_content(file, w, facts, n);
    if (file >= 0 && H5Fclose(file) < 0)
        good = false;
    return good ? 0 : EIO;
}

/* ---- opening ----------------------------------------------------------------------------- */

/* The text of an attribute, of malloc; NULL if there is none. */
static char *get_text(hid_t at, const char *name)
{
    char *copy = NULL, *text = NULL;
    if (H5Aexists(at, name) <= 0)
        return NULL;
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    if (type >= 0 && H5Tis_variable_str(type) > 0 && H5Aread(attribute, type, &text) >= 0 &&
        text) {
        copy = strdup(text);
        hid_t space = H5Aget_space(attribute);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, &text);
        H5Sclose(space);
    }
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return copy;
}

/* Where the rows of a dataset are; false if it is not of this kind. */
static bool locate(hid_t at, const char *name, hid_t type, uint64_t rows, place *out)
{
    char link[256];
    link_name(link, name);
    if (H5Lexists(at, link, H5P_DEFAULT) <= 0)
        return false;
    hid_t dataset = H5Dopen2(at, link, H5P_DEFAULT);
    if (dataset < 0)
        return false;
    hid_t has = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const haddr_t where = H5Dget_offset(dataset);
    const bool good = H5Tequal(has, type) > 0 &&
                      H5Sget_simple_extent_npoints(space) == (hssize_t)rows &&
                      where != HADDR_UNDEF;
    *out = (place){.at = (off_t)where, .bytes = H5Tget_size(has)};
    H5Sclose(space);
    H5Tclose(has);
    H5Dclose(dataset);
    return good;
}

static bool locate_all(hid_t file, ns_sweep_table *t)
{
    const ns_sweep *w = t->sweep;
    if (H5Lexists(file, "parameters", H5P_DEFAULT) <= 0 ||
        H5Lexists(file, "results", H5P_DEFAULT) <= 0)
        return false;
    hid_t axes = H5Gopen2(file, "parameters", H5P_DEFAULT);
    hid_t results = H5Gopen2(file, "results", H5P_DEFAULT), reason = reason_type();
    bool good = axes >= 0 && results >= 0;
    for (uint32_t i = 0; i < w->n_axes && good; i++)
        good = locate(axes, w->label[i], H5T_NATIVE_DOUBLE, t->rows, &t->column[i]);
    for (uint32_t i = 0; i < w->n_gets && good; i++)
        good = locate(results, w->get[i].name, H5T_NATIVE_DOUBLE, t->rows,
                      &t->column[w->n_axes + i]);
    good = good && locate(file, "status", H5T_NATIVE_INT8, t->rows, &t->status) &&
           locate(file, "reason", reason, t->rows, &t->reason) &&
           locate(file, "check", H5T_NATIVE_UINT64, t->rows, &t->check);
    H5Tclose(reason);
    if (axes >= 0)
        H5Gclose(axes);
    if (results >= 0)
        H5Gclose(results);
    return good;
}

/* Does the file belong to this sweep?  False with words. */
static bool same_facts(hid_t file, const ns_sweep_fact *facts, uint32_t n, const char *path,
                       char message[400])
{
    for (uint32_t i = 0; i < n; i++) {
        if (!facts[i].what)
            continue;
        char *text = get_text(file, facts[i].name);
        const bool same = text && strcmp(text, facts[i].text) == 0;
        if (!same)
            snprintf(message, 400, "%s holds %s%s; give another name, or remove it", path,
                     text ? "a sweep of " : "something else", text ? facts[i].what : "");
        free(text);
        if (!same)
            return false;
    }
    return true;
}

static bool read_layout(ns_sweep_table *t, const ns_sweep_fact *facts, uint32_t n,
                        const char *path, const char *shown, char message[400])
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        snprintf(message, 400, "%s is not the table of a sweep (HDF5 cannot open it)", shown);
        return false;
    }
    bool good = same_facts(file, facts, n, shown, message);
    if (good && !locate_all(file, t)) {
        snprintf(message, 400, "%s is not the table of this sweep", shown);
        good = false;
    }
    H5Fclose(file);
    return good;
}

char *ns_sweep_table_text(const char *path, const char *name)
{
    char *text = NULL;
    hid_t file = -1;
    H5E_BEGIN_TRY
    {
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    }
    H5E_END_TRY
    if (file >= 0) {
        text = get_text(file, name);
        H5Fclose(file);
    }
    return text;
}

#else

static int make_file(const ns_sweep *w, const ns_sweep_fact *facts, uint32_t n,
                     const char *path, int fd)
{
    (void)w, (void)facts, (void)n, (void)path, (void)fd;
    return ENOTSUP;
}

static bool read_layout(ns_sweep_table *t, const ns_sweep_fact *facts, uint32_t n,
                        const char *path, const char *shown, char message[400])
{
    (void)t, (void)facts, (void)n, (void)path;
    snprintf(message, 400, "%s: " NS_WITHOUT_HDF5, shown);
    return false;
}

char *ns_sweep_table_text(const char *path, const char *name)
{
    (void)path, (void)name;
    return NULL;
}

#endif

static bool lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

static int reserve_all(ns_sweep_table *t)
{
    int error = reserve(t->fd, t->check.at, (off_t)(t->rows * 8));
    if (!error)
        error = reserve(t->fd, t->status.at, (off_t)t->rows);
    for (uint32_t i = 0; i < t->columns && !error; i++)
        error = reserve(t->fd, t->column[i].at, (off_t)(t->rows * 8));
    return error;
}

/* A new file under its name; the descriptor in t->fd. */
static int create_named(ns_sweep_table *t, const ns_sweep_fact *facts, uint32_t n,
                        const char *path, char message[400])
{
    ns_file_target target;
    int fd = -1, error = ns_file_target_init(&target, path);
    if (!error)
        error = ns_file_target_create(&target, &fd);
    if (!error && target.in_place)
        error = ESPIPE;
    if (!error)
        error = make_file(t->sweep, facts, n, target.temporary, fd);
    if (!error && !read_layout(t, facts, n, target.temporary, path, message))
        error = EIO;
    t->fd = fd;
    if (!error)
        error = reserve_all(t);
    if (!error)
        error = lock(fd) ? ns_file_target_publish(&target) : EAGAIN;
    ns_file_target_free(&target);
    return error;
}

/* Nobody else reads this file: its arrays follow one another, without HDF5. */
static int create_nameless(ns_sweep_table *t)
{
    off_t end = 0;
    place *const all[] = {&t->check, &t->status, &t->reason};
    static const size_t bytes[] = {sizeof(uint64_t), 1, NS_SWEEP_REASON};
    for (uint32_t i = 0; i < t->columns + 3; i++) {
        const uint32_t k = i - t->columns;
        place *p = i < t->columns ? &t->column[i] : all[k];
        *p = (place){.at = end, .bytes = i < t->columns ? sizeof(double) : bytes[k]};
        end += (off_t)(t->rows * p->bytes);
    }
    char path[4096];
    int error = ns_file_pattern(path, sizeof path, "noslip-sweep");
    if (error)
        return error;
    t->fd = mkstemp(path);
    if (t->fd < 0)
        return errno;
    unlink(path);
    return ftruncate(t->fd, end) ? errno : reserve_all(t);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static ns_status open_or_make(ns_sweep_table *t, const ns_sweep_fact *facts, uint32_t n,
                              const char *path, char message[400])
{
    message[0] = 0;
    if (path && is_there(path)) {
        t->fd = open(path, O_RDWR | O_CLOEXEC);
        if (t->fd < 0) {
            snprintf(message, 400, "cannot write %s: %s", path, strerror(errno));
            return NS_ERR_USAGE;
        }
        if (!lock(t->fd)) {
            snprintf(message, 400, "another process is writing %s", path);
            return NS_ERR_USAGE;
        }
        return read_layout(t, facts, n, path, path, message) ? NS_OK : NS_ERR_USAGE;
    }
    t->fresh = true;
    const int error = path ? create_named(t, facts, n, path, message) : create_nameless(t);
    if (!error)
        return NS_OK;
    if (!message[0])
        snprintf(message, 400, "cannot write %s: %s", path ? path : "a temporary table",
                 strerror(error));
    return error == ENOSPC || error == EIO || error == EFBIG ? NS_ERR_IO : NS_ERR_USAGE;
}

ns_sweep_table *ns_sweep_table_open(const ns_sweep *sweep, const ns_sweep_fact *facts,
                                    uint32_t n_facts, const char *path, bool *fresh,
                                    ns_status *status, char message[400])
{
    ns_sweep_table *t = calloc(1, sizeof *t);
    *status = NS_ERR_MEMORY;
    snprintf(message, 400, "out of memory");
    if (!t)
        return NULL;
    t->fd = -1;
    t->sweep = sweep;
    t->rows = sweep->plan.rows;
    t->record = sweep->record;
    t->columns = sweep->n_axes + sweep->n_gets;
    t->column = calloc(t->columns + 1, sizeof *t->column);
    t->window = calloc(WINDOW, sizeof *t->window);
    t->records = malloc(WINDOW * t->record);
    if (t->column && t->window && t->records) {
#if NS_HDF5
        H5E_auto2_t print = NULL; /* HDF5 prints its errors unless told otherwise */
        void *data = NULL;
        H5Eget_auto2(H5E_DEFAULT, &print, &data);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
#endif
        *status = open_or_make(t, facts, n_facts, path, message);
#if NS_HDF5
        H5Eset_auto2(H5E_DEFAULT, print, data);
#endif
    }
    if (*status == NS_OK) {
        *fresh = t->fresh;
        return t;
    }
    ns_sweep_table_close(t);
    return NULL;
}

void ns_sweep_table_close(ns_sweep_table *t)
{
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    free(t->column);
    free(t->window);
    free(t->records);
    free(t);
}

/* ---- rows -------------------------------------------------------------------------------- */

static int put_at(int fd, const void *bytes, size_t length, off_t at)
{
    const char *from = bytes;
    while (length) {
        const ssize_t n = pwrite(fd, from, length, at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            from += n;
            at += n;
            length -= (size_t)n;
        }
    }
    return 0;
}

/* A file that ends too early reads as zeros. */
static int get_at(int fd, void *bytes, size_t length, off_t at)
{
    char *to = bytes;
    while (length) {
        const ssize_t n = pread(fd, to, length, at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0) {
            memset(to, 0, length);
            return 0;
        }
        if (n > 0) {
            to += n;
            at += n;
            length -= (size_t)n;
        }
    }
    return 0;
}

static off_t offset(const place *p, uint64_t row)
{
    return p->at + (off_t)(row * p->bytes);
}

static const ns_sweep_end *end_of(const ns_sweep_table *t, const void *records, uint32_t k)
{
    const char *record = (const char *)records + k * t->record;
    return (const ns_sweep_end *)(record + t->columns * sizeof(double));
}

static int put_reasons(ns_sweep_table *t, uint64_t first, uint32_t count, const void *records,
                       char *buffer)
{
    int error = 0;
    for (uint32_t k = 0; k < count && !error;) {
        uint32_t n = 0; /* a run of rows with a reason */
        for (; k + n < count && end_of(t, records, k + n)->reason[0]; n++)
            memcpy(buffer + (size_t)n * NS_SWEEP_REASON, end_of(t, records, k + n)->reason,
                   NS_SWEEP_REASON);
        if (n)
            error = put_at(t->fd, buffer, (size_t)n * NS_SWEEP_REASON,
                           offset(&t->reason, first + k));
        k += n ? n : 1;
    }
    return error;
}

int ns_sweep_table_put(ns_sweep_table *t, uint64_t first, uint32_t count, const void *records)
{
    const char *at = records;
    void *buffer = malloc((size_t)count * NS_SWEEP_REASON + 8);
    if (!buffer)
        return ENOMEM;
    double *numbers = buffer;
    int8_t *status = buffer;
    uint64_t *check = buffer;
    int error = 0;
    for (uint32_t c = 0; c < t->columns && !error; c++) {
        for (uint32_t k = 0; k < count; k++)
            memcpy(&numbers[k], at + k * t->record + c * sizeof(double), sizeof(double));
        error = put_at(t->fd, numbers, count * sizeof(double), offset(&t->column[c], first));
    }
    if (!error) {
        for (uint32_t k = 0; k < count; k++)
            status[k] = (int8_t)end_of(t, records, k)->status;
        error = put_at(t->fd, status, count, offset(&t->status, first));
    }
    if (!error)
        error = put_reasons(t, first, count, records, buffer);
    if (!error) {
        for (uint32_t k = 0; k < count; k++)
            check[k] = checksum(first + k, at + k * t->record, t->record);
        error = put_at(t->fd, check, count * sizeof *check, offset(&t->check, first));
    }
    free(buffer);
    return error;
}

int ns_sweep_table_sync(ns_sweep_table *t)
{
    return fdatasync(t->fd) && errno != EINVAL && errno != ENOSYS ? errno : 0;
}

int ns_sweep_table_get(ns_sweep_table *t, uint64_t first, uint32_t count, void *records,
                       bool *there)
{
    char *at = records;
    const size_t end = t->columns * sizeof(double);
    void *buffer = malloc((size_t)count * NS_SWEEP_REASON + 8);
    if (!buffer)
        return ENOMEM;
    const double *numbers = buffer;
    const int8_t *status = buffer;
    const uint64_t *check = buffer;
    int error = 0;
    memset(records, 0, count * t->record);
    for (uint32_t c = 0; c < t->columns && !error; c++) {
        error = get_at(t->fd, buffer, count * sizeof(double), offset(&t->column[c], first));
        for (uint32_t k = 0; k < count; k++)
            memcpy(at + k * t->record + c * sizeof(double), &numbers[k], sizeof(double));
    }
    if (!error)
        error = get_at(t->fd, buffer, count, offset(&t->status, first));
    for (uint32_t k = 0; k < count && !error; k++)
        ((ns_sweep_end *)(at + k * t->record + end))->status = (int32_t)status[k];
    if (!error)
        error = get_at(t->fd, buffer, (size_t)count * NS_SWEEP_REASON,
                       offset(&t->reason, first));
    for (uint32_t k = 0; k < count && !error; k++)
        memcpy(((ns_sweep_end *)(at + k * t->record + end))->reason,
               (char *)buffer + (size_t)k * NS_SWEEP_REASON, NS_SWEEP_REASON);
    if (!error)
        error = get_at(t->fd, buffer, count * sizeof *check, offset(&t->check, first));
    for (uint32_t k = 0; k < count && !error; k++)
        there[k] = check[k] && check[k] == checksum(first + k, at + k * t->record, t->record);
    free(buffer);
    return error;
}

int ns_sweep_table_missing(ns_sweep_table *t, uint64_t *first, uint32_t most, uint32_t *count)
{
    *count = 0;
    if (t->fresh) {
        const uint64_t left = *first < t->rows ? t->rows - *first : 0;
        *count = left < most ? (uint32_t)left : most;
        return 0;
    }
    for (uint64_t row = *first; row < t->rows && *count < most; row++) {
        if (row < t->seen || row >= t->seen + t->known) {
            const uint64_t left = t->rows - row;
            t->seen = row;
            t->known = left < WINDOW ? (uint32_t)left : WINDOW;
            const int error = ns_sweep_table_get(t, row, t->known, t->records, t->window);
            if (error)
                return error;
        }
        const bool there = t->window[row - t->seen];
        if (!there && (*count)++ == 0)
            *first = row;
        if (there && *count)
            break;
    }
    return 0;
}
