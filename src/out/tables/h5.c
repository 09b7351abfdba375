#include "out/tables/h5.h"

#if NS_HDF5
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hid_t ns_h5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static bool put_attribute(hid_t at, const char *name, hid_t type, const void *value)
{
    if (H5Aexists(at, name) > 0 && H5Adelete(at, name) < 0)
        return false;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0 && H5Aclose(attribute) < 0)
        good = false;
    H5Sclose(space);
    return good;
}

bool ns_h5_put_double(hid_t at, const char *name, double value)
{
    return put_attribute(at, name, H5T_NATIVE_DOUBLE, &value);
}

bool ns_h5_put_count(hid_t at, const char *name, uint64_t value)
{
    return put_attribute(at, name, H5T_NATIVE_UINT64, &value);
}

bool ns_h5_put_text(hid_t at, const char *name, const char *text)
{
    hid_t type = ns_h5_text_type();
    const bool good = put_attribute(at, name, type, &text);
    H5Tclose(type);
    return good;
}

bool ns_h5_has(hid_t at, const char *name)
{
    return H5Lexists(at, name, H5P_DEFAULT) > 0;
}

hid_t ns_h5_group(hid_t at, const char *name)
{
    return ns_h5_has(at, name) ? H5Gopen2(at, name, H5P_DEFAULT)
                               : H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

void ns_h5_be_quiet(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* The innermost entry of HDF5's error stack is the one that names the cause. */
static herr_t keep_cause(unsigned n, const H5E_error2_t *entry, void *cause)
{
    if (n == 0 && entry->desc)
        snprintf(cause, 200, "%s", entry->desc);
    return 0;
}

void ns_h5_cause(char words[200])
{
    static const char before[] = "error message = '";
    char cause[200] = "could not write it";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_cause, cause);
    const char *said = strstr(cause, before);
    if (said) { /* by the system */
        snprintf(words, 200, "%s", said + strlen(before));
        words[strcspn(words, "'")] = 0;
    } else
        snprintf(words, 200, "HDF5: %.150s: out of memory?", cause);
}

#else

/* ISO C does not allow an empty file. */
typedef int ns_h5_is_left_out;

#endif
