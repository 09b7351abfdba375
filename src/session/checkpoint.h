/* Checkpoints: a file from which a run continues bit for bit.
 *
 * A checkpoint holds what identifies the run (model, parameters, method, ...), the run's own
 * block and all rows recorded so far, so that the files of a continued run are the same as
 * those of an undisturbed one.  Continuing with anything else is refused in words. */
#ifndef NS_SESSION_CHECKPOINT_H
#define NS_SESSION_CHECKPOINT_H

#include "session/record.h"

/* Both report through the record's status and message. */
void ns_checkpoint_save(ns_record *record, const char *path);
void ns_checkpoint_load(ns_record *record, const char *path);
/* The method of the run that was saved; NULL after a failure. */
const ns_method *ns_checkpoint_method(ns_record *record, const char *path);
/* The same from bytes in memory; `name` is for messages. */
void ns_checkpoint_parse(ns_record *record, const char *name, const void *bytes, size_t length);

#endif
