/* What helps a newcomer: texts that are compiled in. */
#ifndef NS_COMMAND_LEARN_LEARN_H
#define NS_COMMAND_LEARN_LEARN_H

/* Starting models, of src/command/starters; the page docs/errors.md, as one entry. */
struct ns_template_entry {
    const char *name, *text;
};
struct ns_explain_entry {
    const char *name, *text;
};

extern const struct ns_template_entry ns_template_entries[]; /* ends with a NULL name */
extern const unsigned ns_template_count;
extern const struct ns_explain_entry ns_explain_entries[];
extern const unsigned ns_explain_count;

/* The next section of that page: its heading's word, a code, and the text after it.  NULL at
 * the end. */
const char *ns_explain_next(const char *page, char word[64], const char **text);

#endif
