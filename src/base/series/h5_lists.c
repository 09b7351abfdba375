/* The child says, for each dataset of numbers, a head and what it counts:
 *     head    length of the name, rank, rows
 *     name    bytes
 *     values  doubles, if the rank is 1 */
#include "base/series/h5_lists.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if NS_HDF5
#include <hdf5.h>

#include "base/process/apart.h"

#define SILENCE 20.0 /* s: reading a list of the largest size takes less */
enum { MOST_NAME = 4096 };
static const uint64_t most_rows = UINT64_C(1) << 33;

typedef struct head {
    uint64_t name, rank, rows;
} head;

typedef struct job {
    const char *path;
    const ns_h5_lists_request *request;
    int to;
    size_t said;
} job;

/* ---- in the child ------------------------------------------------------------------------ */

static bool complain(int to, const char *words)
{
    ns_apart_say(to, words, strlen(words));
    return false;
}

/* The exact name, if the dataset has it as an attribute: those of links have no slash. */
static char *exact_name(hid_t dataset, const char *link)
{
    char *text = NULL, *copy = NULL;
    hid_t attribute = H5Aexists(dataset, "name") > 0 ? H5Aopen(dataset, "name", H5P_DEFAULT)
                                                     : -1;
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    if (type >= 0 && H5Tis_variable_str(type) > 0 && H5Aread(attribute, type, &text) >= 0 &&
        text) {
        copy = strdup(text);
        H5free_memory(text);
    }
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return copy ? copy : strdup(link);
}

static bool say_list(job *j, hid_t dataset, const char *link)
{
    hid_t space = H5Dget_space(dataset);
    hsize_t size[H5S_MAX_RANK] = {0};
    const int rank = H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space);
    char *name = exact_name(dataset, link);
    if (!name || rank < 0) {
        free(name);
        return false;
    }
    const head h = {strnlen(name, MOST_NAME), (uint64_t)rank, rank == 1 ? size[0] : 0};
    bool good = h.rows <= most_rows;
    double *values = good ? malloc(h.rows * sizeof *values + 1) : NULL;
    good = values && (!h.rows || H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                         H5P_DEFAULT, values) >= 0);
    good = good && ns_apart_say(j->to, &h, sizeof h) && ns_apart_say(j->to, name, h.name) &&
           ns_apart_say(j->to, values, h.rows * sizeof *values);
    free(values);
    free(name);
    j->said += good;
    return good;
}

static herr_t visit(hid_t group, const char *link, const H5L_info_t *info, void *context)
{
    (void)info;
    hid_t object = H5Oopen(group, link, H5P_DEFAULT);
    if (object < 0)
        return 0;
    bool good = true;
    if (H5Iget_type(object) == H5I_DATASET) {
        hid_t type = H5Dget_type(object);
        const H5T_class_t kind = H5Tget_class(type);
        if (kind == H5T_FLOAT || kind == H5T_INTEGER)
            good = say_list(context, object, link);
        H5Tclose(type);
    }
    H5Oclose(object);
    return good ? 0 : -1;
}

static bool say_group(job *j, hid_t at)
{
    hsize_t place = 0;
    const size_t before = j->said;
    if (j->request->as_made &&
        H5Literate(at, H5_INDEX_CRT_ORDER, H5_ITER_INC, &place, visit, j) >= 0)
        return true;
    place = 0;
    return j->said == before &&
           H5Literate(at, H5_INDEX_NAME, H5_ITER_INC, &place, visit, j) >= 0;
}

static bool say_file(void *context, int to)
{
    job *j = context;
    const ns_h5_lists_request *q = j->request;
    j->to = to;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(j->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return complain(to, "it is no HDF5 file, or it is damaged");
    const bool has = H5Lexists(file, q->group, H5P_DEFAULT) > 0;
    hid_t group = has ? H5Gopen2(file, q->group, H5P_DEFAULT) : -1;
    if (has && group < 0 && !q->both)
        return complain(to, "it is damaged");
    bool good = (group >= 0 && !q->both) || say_group(j, file);
    if (good && group >= 0)
        good = say_group(j, group);
    if (!good && !j->said)
        return complain(to, "it has lists that cannot be read");
    return good; /* the end of the process closes the rest */
}

/* ---- in the parent ----------------------------------------------------------------------- */

static bool hear(ns_arena *arena, const char *at, size_t left, ns_h5_lists *lists)
{
    for (head h; left >= sizeof h;) {
        memcpy(&h, at, sizeof h);
        at += sizeof h;
        left -= sizeof h;
        if (h.name > left || h.rows > (left - h.name) / sizeof(double))
            return false;
        ns_h5_list list = {.name = ns_arena_string(arena, at, (size_t)h.name),
                           .rank = (size_t)h.rank,
                           .rows = (size_t)h.rows,
                           .value = NS_NEW_ARRAY(arena, double, h.rows + 1)};
        memcpy(list.value, at + h.name, (size_t)h.rows * sizeof(double));
        at += h.name + h.rows * sizeof(double);
        left -= (size_t)(h.name + h.rows * sizeof(double));
        NS_PUSH(arena, *lists, list);
    }
    return left == 0;
}

bool ns_h5_lists_read(ns_arena *arena, const char *path, const ns_h5_lists_request *request,
                      ns_h5_lists *lists, const char **message)
{
    job j = {.path = path, .request = request};
    ns_apart end;
    *lists = (ns_h5_lists){0};
    if (!ns_apart_do(say_file, &j, SILENCE, &end)) {
        *message = ns_arena_format(arena, "cannot read %s as HDF5: %s", path, end.why);
        return false;
    }
    const bool good = !end.bytes || hear(arena, end.bytes, end.length, lists);
    free(end.bytes);
    if (!good)
        *message = ns_arena_format(arena, "cannot read %s as HDF5: it is damaged", path);
    return good;
}

#else

bool ns_h5_lists_read(ns_arena *arena, const char *path, const ns_h5_lists_request *request,
                      ns_h5_lists *lists, const char **message)
{
    (void)request;
    *lists = (ns_h5_lists){0};
    *message = ns_arena_format(arena, "cannot read %s: %s", path, NS_WITHOUT_HDF5);
    return false;
}

#endif
