/* What there is, by name: bundled models, methods, formulations, ... */
#include <string.h>

#include "api/api.h"
#include "session/gallery.h"

const char *ns_version(void)
{
    return NS_VERSION;
}

const char *ns_gallery_text(const char *name)
{
    const struct ns_gallery_entry *e = ns_gallery_find(name);
    return e ? e->text : NULL;
}

typedef const char *(*lister)(size_t i, const char **summary);

static const char *gallery(size_t i, const char **summary)
{
    (void)summary; /* the title is known when the text is read: ns_model_title */
    return i < ns_gallery_count ? ns_gallery_entries[i].name : NULL;
}

static const char *method(size_t i, const char **summary)
{
    for (size_t k = 0; ns_methods[k]; k++)
        if (k == i) {
            *summary = ns_methods[k]->summary;
            return ns_methods[k]->name;
        }
    return NULL;
}

static const char *formulation(size_t i, const char **summary)
{
    for (size_t k = 0; ns_formulations[k]; k++)
        if (k == i) {
            *summary = ns_formulations[k]->summary;
            return ns_formulations[k]->name;
        }
    return NULL;
}

static const char *equations(size_t i, const char **summary)
{
    static const char *const forms[][2] = {
        {"text", "as the model language reads it"},
        {"latex", "a LaTeX document"},
        {"mathml", "MathML in a fragment of HTML"},
        {"c", "a C program of its own"},
    };
    if (i >= sizeof forms / sizeof *forms)
        return NULL;
    *summary = forms[i][1];
    return forms[i][0];
}

static const char *list_of_lists(size_t i, const char **summary);

static const struct {
    const char *name;
    lister at;
    const char *summary;
} lists[] = {
    {"gallery", gallery, "bundled models"},
    {"methods", method, "integration methods"},
    {"formulations", formulation, "ways to equations"},
    {"quantities", ns_api_quantity_name, "what ns_calculator_new takes"},
    {"formats", ns_api_format_name, "what ns_result_bytes takes"},
    {"equations", equations, "what ns_model_equations takes"},
    {"studies", ns_api_study_name, "what ns_study_run takes"},
    {"lists", list_of_lists, "these names"},
};
enum { LISTS = sizeof lists / sizeof *lists };

static const char *list_of_lists(size_t i, const char **summary)
{
    if (i >= LISTS)
        return NULL;
    *summary = lists[i].summary;
    return lists[i].name;
}

const char *ns_list(const char *list, size_t i, const char **summary)
{
    const char *words = "";
    for (size_t k = 0; k < LISTS; k++)
        if (strcmp(lists[k].name, list) == 0) {
            const char *name = lists[k].at(i, &words);
            if (summary)
                *summary = words;
            /* cppcheck-suppress returnDanglingLifetime ; the name is not in `words` */
            return name;
        }
    return NULL;
}
