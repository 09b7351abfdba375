/* What the files of the public interface share. */
#ifndef NS_API_API_H
#define NS_API_API_H

#include "noslip/noslip.h"
#include "session/model.h"
#include "session/record.h"

static inline ns_verdict ns_api_verdict(ns_status status)
{
    return (ns_verdict)ns_status_exit(status);
}

/* A model that can be used, or NULL. */
static inline bool ns_api_good(const ns_model *model)
{
    return model && model->status == NS_OK;
}

/* The options in full, whatever version the caller was compiled for; NULL: the defaults. */
ns_simulate_options ns_api_full(const ns_simulate_options *options);
/* What they ask of a record of the model; false, with words, if they contradict themselves. */
bool ns_api_record_options(const ns_model *model, const ns_simulate_options *from,
                           ns_record_options *to, char *message, size_t room);

/* An engine by its name, NULL: auto; false if there is none. */
bool ns_api_engine(const char *word, ns_record_engine *engine);

/* The names of ns_list, "quantities" and "studies". */
const char *ns_api_quantity_name(size_t i, const char **summary);
const char *ns_api_study_name(size_t i, const char **summary);
const char *ns_api_format_name(size_t i, const char **summary);

/* A quality of a motion by its name (ns_result_diagnostic), nan if there is none. */
double ns_api_diagnostic(const ns_model *model, const ns_outcome *outcome, const char *name);

#endif
