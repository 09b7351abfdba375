#define _GNU_SOURCE /* fallocate */
#include "out/tables/sweep_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/tables/h5.h"
#include "session/output.h"

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

int ns_sweep_layout_make(const ns_sweep *w, const ns_sweep_fact *facts, uint32_t n,
                         const char *path, int fd)
{
    off_t need = (off_t)OBJECT * (w->n_axes + w->n_gets + 16);
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
    const ns_h5_errors before = ns_h5_be_quiet();
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Pset_obj_track_times(create, false);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, create, access);
    H5Pclose(create);
    H5Pclose(access);
    bool good = file >= 0 && make_content(file, w, facts, n);
    if (file >= 0 && H5Fclose(file) < 0)
        good = false;
    ns_h5_be_as_before(before);
    return good ? 0 : EIO;
}

/* ---- opening ----------------------------------------------------------------------------- */

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

/* Does the file belong to this sweep?  False with words. */
static bool same_facts(hid_t file, const ns_sweep_fact *facts, uint32_t n, const char *path,
                       char message[400])
{
    for (uint32_t i = 0; i < n; i++) {
        if (!facts[i].what)
            continue;
        char *text = ns_h5_get_text(file, facts[i].name);
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

bool ns_sweep_layout_read(ns_sweep_layout *t, const ns_sweep *w, const ns_sweep_fact *facts,
                          uint32_t n, const char *path, const char *shown, char message[400])
{
    const ns_h5_errors before = ns_h5_be_quiet();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    bool good = file >= 0 && same_facts(file, facts, n, shown, message);
    if (file < 0)
        snprintf(message, 400, "%s is not the table of a sweep (HDF5 cannot open it)", shown);
    if (good && !locate_all(file, t, w)) {
        snprintf(message, 400, "%s is not the table of this sweep", shown);
        good = false;
    }
    if (file >= 0)
        H5Fclose(file);
    ns_h5_be_as_before(before);
    return good;
}

char *ns_sweep_table_text(const char *path, const char *name)
{
    char *text = NULL;
    const ns_h5_errors before = ns_h5_be_quiet();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ns_h5_be_as_before(before);
    if (file >= 0) {
        text = ns_h5_get_text(file, name);
        H5Fclose(file);
    }
    return text;
}

#else

int ns_sweep_layout_make(const ns_sweep *w, const ns_sweep_fact *facts, uint32_t n,
                         const char *path, int fd)
{
    (void)w, (void)facts, (void)n, (void)path, (void)fd;
    return ENOTSUP;
}

bool ns_sweep_layout_read(ns_sweep_layout *t, const ns_sweep *w, const ns_sweep_fact *facts,
                          uint32_t n, const char *path, const char *shown, char message[400])
{
    (void)t, (void)w, (void)facts, (void)n, (void)path;
    snprintf(message, 400, "%s: " NS_WITHOUT_HDF5, shown);
    return false;
}

char *ns_sweep_table_text(const char *path, const char *name)
{
    (void)path, (void)name;
    return NULL;
}

#endif
