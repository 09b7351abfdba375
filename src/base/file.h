/* Files: reading whole ones, and writing so that a reader never meets half a file.
 *
 * What is written goes to a temporary neighbour first and takes the real name by rename, so
 * that a kill or a full disk leaves either what was there before or something complete.
 * Functions return 0 or an errno value. */
#ifndef NS_BASE_FILE_H
#define NS_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a file ("-": of standard input) in memory from malloc with a zero byte after
 * them.  EFBIG if there are more than `most`, EISDIR for a folder. */
int ns_file_read(const char *path, size_t most, char **bytes, size_t *length);

/* A file that is going to be written.  Nothing is visible under its name before the first
 * ns_file_publish; files that are not regular files (pipes, devices) are written in place. */
typedef struct ns_file_target {
    char *path;      /* symbolic links resolved */
    char *temporary; /* NULL if there is none now */
    unsigned mode;   /* permissions the new file gets; 0: the usual ones */
    bool in_place;
} ns_file_target;

/* Finds out whether `path` can be written, without changing it. */
int ns_file_target_init(ns_file_target *target, const char *path);
/* Creates the temporary file (or opens the file itself when written in place); the caller
 * owns the descriptor. */
int ns_file_target_create(ns_file_target *target, int *descriptor);
/* Gives what is in the temporary file the real name; the data is on the disk before. */
int ns_file_target_publish(ns_file_target *target);
/* The same where there must not be such a file yet: EEXIST if there is. */
int ns_file_target_publish_new(ns_file_target *target);
/* Removes a temporary file that is left, frees the rest. */
void ns_file_target_free(ns_file_target *target);

/* Do two names mean the same file, there already or not?  "-" means none. */
bool ns_file_same(const char *a, const char *b);

/* A pattern for mkstemp and mkdtemp: STEM-XXXXXX in the folder for temporary files, $TMPDIR if
 * that is an absolute path and /tmp otherwise.  ENAMETOOLONG if there is no room. */
int ns_file_pattern(char *path, size_t room, const char *stem);

/* All bytes to a descriptor; partial writes are continued. */
int ns_file_put(int descriptor, const void *bytes, size_t length);
/* The content of one file after what another has. */
int ns_file_copy(int from, int to);
/* A whole file at once, atomically. */
int ns_file_write(const char *path, const void *bytes, size_t length);

#endif
