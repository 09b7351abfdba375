#define _GNU_SOURCE /* fallocate */
#include "out/tables/sweep_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/apart.h"
#include "out/tables/h5.h"
#include "out/tables/sweep_seal.h"

enum { OBJECT = 8192 }; /* more bytes than HDF5 needs for one object */

int ns_sweep_layout_reserve(int fd, off_t at, off_t bytes)
{
    if (bytes <= 0 || fallocate(fd, 0, at, bytes) == 0)
        return 0;
    return errno == ENOSPC || errno == EFBIG ? errno : 0;
}

#if NS_HDF5

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
        good = ns_h5_put_text(dataset, "name", exact);
    if (good && unit)
        good = ns_h5_put_text(dataset, "unit", unit);
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
        good = ns_h5_put_text(file, facts[i].name, facts[i].text);
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
               ns_h5_put_text(
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

/* ---- finding ----------------------------------------------------------------------------- */

/* Where the rows of a dataset are; false if it is not of this kind. */
static bool locate(hid_t at, const char *name, hid_t type, uint64_t rows, ns_sweep_place *out)
{
    char link[256];
    link_name(link, name);
    if (!ns_h5_has(at, link))
        return false;
    hid_t dataset = H5Dopen2(at, link, H5P_DEFAULT);
    if (dataset < 0)
        return false;
    hid_t has = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const haddr_t where = H5Dget_offset(dataset);
    const bool good = H5Tequal(has, type) > 0 &&
                      H5Sget_simple_extent_npoints(space) == (hssize_t)rows &&
                      where != HADDR_UNDEF;
    *out = (ns_sweep_place){.at = (off_t)where, .bytes = H5Tget_size(has)};
    H5Sclose(space);
    H5Tclose(has);
    H5Dclose(dataset);
    return good;
}

static bool locate_all(hid_t file, ns_sweep_layout *t, const ns_sweep *w)
{
    if (!ns_h5_has(file, "parameters") || !ns_h5_has(file, "results"))
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

/* ---- both, in a process of their own ----------------------------------------------------- */

typedef struct making {
    const ns_sweep *sweep;
    const ns_sweep_fact *facts;
    uint32_t n;
    const char *path;
    ns_sweep_layout *layout;
} making;

static bool make_file(const making *m)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Pset_obj_track_times(create, false);
    H5Pset_userblock(create, ns_sweep_seal_room(m->sweep, m->n));
    hid_t file = H5Fcreate(m->path, H5F_ACC_TRUNC, create, access);
    H5Pclose(create);
    H5Pclose(access);
    const bool good = file >= 0 && make_content(file, m->sweep, m->facts, m->n);
    return file >= 0 && H5Fclose(file) >= 0 && good;
}

/* Says where the arrays are. */
static bool make(void *context, int to)
{
    const making *m = context;
    const ns_sweep_layout *t = m->layout;
    ns_h5_be_quiet();
    if (!make_file(m))
        return false;
    hid_t file = H5Fopen(m->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    return file >= 0 && locate_all(file, m->layout, m->sweep) && H5Fclose(file) >= 0 &&
           ns_apart_say(to, t->column, t->columns * sizeof *t->column) &&
           ns_apart_say(to, &t->status, sizeof t->status) &&
           ns_apart_say(to, &t->reason, sizeof t->reason) &&
           ns_apart_say(to, &t->check, sizeof t->check);
}

static bool take(const ns_apart *said, ns_sweep_layout *t)
{
    const size_t columns = t->columns * sizeof *t->column;
    const char *at = said->bytes;
    if (said->length != columns + 3 * sizeof t->status)
        return false;
    memcpy(t->column, at, columns);
    memcpy(&t->status, at + columns, sizeof t->status);
    memcpy(&t->reason, at + columns + sizeof t->status, sizeof t->reason);
    memcpy(&t->check, at + columns + 2 * sizeof t->status, sizeof t->check);
    return true;
}

int ns_sweep_layout_make(ns_sweep_layout *layout, const ns_sweep *w, const ns_sweep_fact *facts,
                         uint32_t n, const char *path, int fd)
{
    static const double silence = 600; /* s; the whole file may be on a slow disk */
    off_t need = (off_t)OBJECT * (w->n_axes + w->n_gets + 16) + (off_t)ns_sweep_seal_room(w, n);
    for (uint32_t i = 0; i < n; i++)
        need += (off_t)strlen(facts[i].text) + OBJECT;
    need += (off_t)w->plan.rows * (off_t)(8 * (w->n_axes + w->n_gets) + 9);
    /* HDF5 does not recover from a write that fails: is there room? */
    int error = ns_sweep_layout_reserve(fd, 0, need);
    if (!error && ftruncate(fd, need + (off_t)w->plan.rows * NS_SWEEP_REASON))
        error = errno; /* a limit on the size of files */
    if (ftruncate(fd, 0) && !error)
        error = errno;
    if (error)
        return error;
    making m = {w, facts, n, path, layout};
    ns_apart said;
    if (!ns_apart_do(make, &m, silence, &said))
        return said.memory ? ENOMEM : EIO;
    error = take(&said, layout) ? ns_sweep_seal_put(fd, layout, facts, n) : EIO;
    free(said.bytes);
    return error;
}

#else

int ns_sweep_layout_make(ns_sweep_layout *layout, const ns_sweep *w, const ns_sweep_fact *facts,
                         uint32_t n, const char *path, int fd)
{
    (void)layout, (void)w, (void)facts, (void)n, (void)path, (void)fd;
    return ENOTSUP;
}

#endif
