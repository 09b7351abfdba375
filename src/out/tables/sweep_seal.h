/* For sweep_table.c: what a table says about itself, in front of what HDF5 writes.
 *
 * The first bytes of the file (HDF5's user block) hold where the arrays are, hashes of the
 * facts that decide the rows, and a checksum of everything else in the file but the rows, which
 * have checksums of their own.  A table is continued by this alone: HDF5, which crashes or
 * loops on some damaged files, does not see it again. */
#ifndef NS_OUT_TABLES_SWEEP_SEAL_H
#define NS_OUT_TABLES_SWEEP_SEAL_H

#include "out/tables/sweep_layout.h"

/* Bytes that the seal takes, a power of two as HDF5 wants it. */
uint64_t ns_sweep_seal_room(const ns_sweep *sweep, uint32_t n_facts);
/* Seals a file that HDF5 has made and closed.  0 or an errno value. */
int ns_sweep_seal_put(int fd, const ns_sweep_layout *layout, const ns_sweep_fact *facts,
                      uint32_t n_facts);
/* Where the arrays are.  False with words if the file belongs to something else or is
 * damaged. */
bool ns_sweep_seal_get(int fd, ns_sweep_layout *layout, const ns_sweep_fact *facts,
                       uint32_t n_facts, const char *shown, char message[400]);

#endif
