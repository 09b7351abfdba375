/* The formats of output files.  A new one: its descriptor here and in the list of formats.c. */
#ifndef NS_OUT_FORMATS_H
#define NS_OUT_FORMATS_H

#include "session/output.h"

extern const ns_output_format ns_output_csv, ns_output_json, ns_output_hdf5, ns_output_svg,
    ns_output_gltf;
extern const ns_output_format *const ns_output_formats[]; /* ends with NULL */

#endif
