/* Shared by the files that write the picture of a report. */
#ifndef NS_OUT_REPORT_REPORT_STAGE_H
#define NS_OUT_REPORT_REPORT_STAGE_H

#include "out/mesh/mesh.h"
#include "out/report/report_internal.h"

typedef struct ns_report_stage {
    ns_report *r;
    const ns_scene *scene;
    const ns_frames *frames;
    ns_mesh *meshes; /* [bodies] */
    double size;     /* of the largest body with a mesh; 0 if there is none */
} ns_report_stage;

/* A vector at the start; 0 where it has no component. */
void ns_report_numbers(const ns_report_stage *s, const ns_v3 *v, double out[3]);
void ns_report_put_vector(const ns_report_stage *s, const char *key, const ns_v3 *v);
void ns_report_put_track(const ns_report_stage *s, const char *key, const ns_track *track);
void ns_report_put_mesh(const ns_report_stage *s, const ns_mesh *mesh);
/* Left out if it is not given. */
void ns_report_put_size(const ns_report_stage *s, const char *key, ns_ex size);

/* report_body.c; `name` may be NULL */
void ns_report_put_shape(const ns_report_stage *s, const ns_scene_shape *shape,
                         const char *name);
void ns_report_put_body(const ns_report_stage *s, uint32_t i);

#endif
