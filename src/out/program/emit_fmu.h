/* A model as a functional mock-up unit (FMI 2.0 or 3.0; fmi-standard.org): an archive with a
 * description in XML, the model as C source, and a binary for the machine at hand.  One unit
 * serves model exchange and co-simulation. */
#ifndef NS_OUT_PROGRAM_EMIT_FMU_H
#define NS_OUT_PROGRAM_EMIT_FMU_H

#include "base/text.h"
#include "session/model.h"

/* Fixed parts of the source, compiled in from out/program/fmu (cmake/EmbedModels.cmake). */
struct ns_fmu_part_entry {
    const char *name, *text;
};
extern const struct ns_fmu_part_entry ns_fmu_part_entries[];
extern const unsigned ns_fmu_part_count;

/* What a parameter is to the outside: as in fmu/core.inc. */
typedef enum ns_fmu_kind { NS_FMU_CALCULATED, NS_FMU_PARAMETER, NS_FMU_INPUT } ns_fmu_kind;

typedef struct ns_fmu {
    ns_arena *arena;
    const ns_model *model;
    const ns_system *system;  /* a fork */
    int version;              /* 2 or 3 */
    const char *identifier;   /* a name in C */
    const char *token;        /* GUID or instantiation token */
    const ns_fmu_kind *kind;  /* [parameters] */
    NS_LIST(uint32_t) events; /* indices of the system's */
    bool projects;            /* the state may be put back at events */
} ns_fmu;

/* The archive of a model that is ready, and neither jumps nor has a schedule.  False with a
 * message in the arena of `out`. */
bool ns_emit_fmu(const ns_model *model, int version, bool binary, ns_text *out,
                 const char **message);

/* emit_fmu_xml.c: modelDescription.xml */
void ns_emit_fmu_description(const ns_fmu *fmu, ns_text *out);

#endif
