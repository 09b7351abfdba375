#include "out/formats.h"

const ns_output_format *const ns_output_formats[] = {
    &ns_output_hdf5, &ns_output_csv, &ns_output_json, &ns_output_svg, &ns_output_gltf, NULL};
