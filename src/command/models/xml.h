/* A small reader of XML: elements with attributes, in a tree; text between them, comments,
 * declarations and processing instructions are passed over.  For descriptions made by other
 * programs: nothing in it may hurt.  No entities but the five and numeric ones, no document
 * types with definitions, no control characters, line ends in values as spaces (XML 1.0,
 * 3.3.3), limits on depth and numbers. */
#ifndef NS_COMMAND_MODELS_XML_H
#define NS_COMMAND_MODELS_XML_H

#include "base/arena.h"

typedef struct ns_xml_attribute {
    const char *name, *value;
} ns_xml_attribute;

typedef struct ns_xml {
    const char *name;
    uint32_t line, column; /* of its `<`, from 1 */
    NS_LIST(ns_xml_attribute) attributes;
    struct ns_xml *parent, *child, *next; /* first child, next sibling */
} ns_xml;

enum { NS_XML_DEPTH = 64, NS_XML_MOST = 200000, NS_XML_MOST_ATTRIBUTES = 1000 };

/* The root element, in the arena; NULL with what is wrong and where. */
ns_xml *ns_xml_read(ns_arena *arena, const char *text, size_t length, const char **message,
                    uint32_t *line, uint32_t *column);

/* NULL if there is none: an attribute; the first child of a name; the next one of that name. */
const char *ns_xml_value(const ns_xml *element, const char *name);
const ns_xml *ns_xml_child(const ns_xml *element, const char *name);
const ns_xml *ns_xml_next(const ns_xml *element);

#endif
