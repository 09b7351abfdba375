/* What several lines of HDF5 do, in one: attributes, groups, texts, errors. */
#ifndef NS_OUT_TABLES_H5_H
#define NS_OUT_TABLES_H5_H

#if NS_HDF5
#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

/* Texts of variable length in UTF-8: that of a model may be longer than an attribute can be.
 * To be closed. */
hid_t ns_h5_text_type(void);

/* Attributes of an object; one of that name is replaced. */
bool ns_h5_put_text(hid_t at, const char *name, const char *text);
bool ns_h5_put_double(hid_t at, const char *name, double value);
bool ns_h5_put_count(hid_t at, const char *name, uint64_t value);

bool ns_h5_has(hid_t at, const char *name);    /* a group or a dataset */
hid_t ns_h5_group(hid_t at, const char *name); /* opened, or made if there is none */

/* HDF5 prints its errors unless told otherwise. */
void ns_h5_be_quiet(void);
/* A message that says why the last call failed. */
void ns_h5_cause(char words[200]);
#endif

#endif
