/* Shared by the files that make a report. */
#ifndef NS_OUT_REPORT_REPORT_INTERNAL_H
#define NS_OUT_REPORT_REPORT_INTERNAL_H

#include "base/json.h"
#include "out/report/packed.h"
#include "out/report/report.h"

/* A quantity over time. */
typedef struct ns_report_series {
    const char *name, *unit, *group;
    const double *data; /* [n] */
    bool log, hidden;
    bool noise; /* round-off: samples need not follow it */
} ns_report_series;

typedef struct ns_report {
    const ns_record *record;
    const ns_model *model;
    const ns_system *system;
    ns_arena *arena;
    ns_json json;
    ns_frames *frames;
    size_t n;               /* samples of the motion */
    const double *t;        /* [n] */
    const double *observed; /* [observables][n] */
    NS_LIST(ns_report_series) series;
    uint32_t *keep; /* [kept] samples that are written */
    size_t kept;
    double off_position, off_angle; /* largest distance of the drawn motion from the true one:
                                       relative to the size of the picture, and in radians */
} ns_report;

/* Values of observable `name` along the motion, NULL if there is none. */
const double *ns_report_observed(const ns_report *r, const char *name);

/* report.c: title, file, text and formulation of a model; the page as a file, false with words
 * (`data` NULL: no memory) */
void ns_report_put_model(ns_json *j, const ns_model *model, ns_arena *arena);
bool ns_report_put_page(const char *path, const ns_report_options *o, const char *data,
                        size_t length, char buffer[300]);

/* report_series.c */
void ns_report_collect(ns_report *r);
void ns_report_put_series(ns_report *r);

/* report_thin.c: fills keep, kept, off_position, off_angle */
void ns_report_thin(ns_report *r);

/* report_scene.c */
void ns_report_put_scene(ns_report *r);

/* report_facts.c: facts, warnings, spans, events, parameters, final values */
void ns_report_put_facts(ns_report *r);
void ns_report_put_parameters(ns_json *j, const ns_model *model);

/* report_equations.c */
void ns_report_put_equations(ns_report *r);

#endif
