/* The page of a study: what it found, its tables, and its figures with hover and zoom
 * (docs/report.md).  A figure is described once, as an ns_plot, and drawn by SVG and page
 * alike. */
#ifndef NS_OUT_REPORT_REPORT_FIGURES_H
#define NS_OUT_REPORT_REPORT_FIGURES_H

#include "base/json.h"
#include "out/plot/plot.h"
#include "out/report/report.h"
#include "out/tables/sheet.h"
#include "session/model.h"

typedef struct ns_study_page {
    const ns_model *model;
    const ns_sheet *sheet;
    const ns_plot *plot; /* may be NULL */
} ns_study_page;

/* The data alone, as the page holds it; in the arena. */
const char *ns_report_study_data(const ns_study_page *page, const char *command,
                                 ns_arena *arena, size_t *length);

/* Writes the page; false with what is wrong in `buffer`. */
bool ns_report_study_write(const ns_study_page *page, const ns_report_options *options,
                           const char *path, char buffer[300]);

#endif
