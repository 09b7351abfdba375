/* Native code: install it (install.h), or compile, keep, load: see native.h. */
#define _GNU_SOURCE
#include "eval/native/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "eval/machine/install.h"
#include "eval/native/compiler.h"
#include "eval/native/emit.h"
#include "eval/prune.h"

#if NS_NATIVE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct ns_native {
    void *library;          /* NULL: none is needed */
    ns_installed installed; /* what no compiler has made */
    uint32_t n;
    const ns_program *programs[];
};

enum { KEY = 32, MOST_LIBRARY = 256 << 20 };

/* Everything that is needed while a library is made. */
typedef struct making {
    ns_compiler compiler;
    const char *text;
    size_t length;
    char key[KEY + 1];
    char folder[PATH_MAX - 64];
    bool temporary; /* the folder is for this time only */
    bool two;       /* long: compiled by two processes at once */
} making;

/* Says what is wrong; false. */
#define fail(m, ...) failed(snprintf((m)->compiler.message, (m)->compiler.room, __VA_ARGS__))
static bool failed(int length)
{
    (void)length;
    return false;
}

/* ---- names ------------------------------------------------------------------------------- */

/* Two hashes of 64 bits: FNV-1a over words, with different multipliers and a final mix.
 * Against chance only; against malice the folder is private. */
typedef struct hash {
    uint64_t a, b;
} hash;

static uint64_t mixed(uint64_t h)
{
    h = (h ^ (h >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94D049BB133111EB);
    return h ^ (h >> 31);
}

static void hash_add(hash *h, const void *data, size_t length)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < length; i++) {
        h->a = (h->a ^ at[i]) * UINT64_C(1099511628211);
        h->b = (h->b + at[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h->b ^= h->b >> 29;
    }
    h->a = mixed(h->a ^ length);
    h->b = mixed(h->b + length);
}

static void hash_string(hash *h, const char *text)
{
    hash_add(h, text, strlen(text) + 1);
}

static const hash hash_start = {UINT64_C(14695981039346656037), 20260101};

/* ---- flags and key ---------------------------------------------------------------------- */

static void choose_flags(making *m, const char *lanes, bool fused)
{
    /* no vectors made of scalars: gcc 12 then contracts products and sums all the same */
    static const char *const usual[] = {"-fPIC", "-nostdlib",       "-pipe",
                                        "-w",    "-fno-math-errno", "-fno-tree-slp-vectorize"};
    static const size_t long_text = 60000; /* from here on compiling must be quick */
    /* what looks for stores and loads that can be spared finds nothing and takes half the
     * time */
    static const char *const quick[] = {"-O1", "-fno-tree-dse", "-fno-dse", "-fno-tree-fre",
                                        "-fno-tree-dominator-opts"};
    uint32_t n = 0;
    m->two = m->length > long_text;
    if (m->two)
        for (uint32_t i = 0; i < sizeof quick / sizeof *quick; i++)
            m->compiler.flags[n++] = quick[i];
    else
        m->compiler.flags[n++] = "-O2";
    for (uint32_t i = 0; i < sizeof usual / sizeof *usual; i++)
        m->compiler.flags[n++] = usual[i];
    m->compiler.flags[n++] = "-ffp-contract=off";
    if (strcmp(lanes, "avx512") == 0) {
        m->compiler.flags[n++] = "-mavx512f";
        m->compiler.flags[n++] = "-mavx512dq";
        m->compiler.flags[n++] = "-mavx512vl";
        m->compiler.flags[n++] = "-mprefer-vector-width=512";
    } else if (strcmp(lanes, "avx2") == 0) {
        m->compiler.flags[n++] = "-mavx2";
        if (fused)
            m->compiler.flags[n++] = "-mfma";
    }
    m->compiler.flags[n] = NULL;
}

/* The name under which the library is kept. */
static void make_key(making *m)
{
    hash h = hash_start;
    struct stat s;
    hash_string(&h, NS_VERSION);
    hash_string(&h, m->compiler.path);
    if (stat(m->compiler.path, &s) == 0) { /* a compiler that was replaced is another one */
        hash_add(&h, &s.st_size, sizeof s.st_size);
        hash_add(&h, &s.st_mtim.tv_sec, sizeof s.st_mtim.tv_sec);
    }
    for (const char *const *flag = m->compiler.flags; *flag; flag++)
        hash_string(&h, *flag);
    hash_add(&h, m->text, m->length);
    snprintf(m->key, sizeof m->key, "%016llx%016llx", (unsigned long long)h.a,
             (unsigned long long)h.b);
}

/* ---- folder ------------------------------------------------------------------------------ */

/* Ours, and closed to everybody else? */
static bool is_private(const char *path, bool folder)
{
    struct stat s;
    if (lstat(path, &s) != 0 || s.st_uid != geteuid())
        return false;
    return folder ? S_ISDIR(s.st_mode) && (s.st_mode & 077) == 0
                  : S_ISREG(s.st_mode) && (s.st_mode & 022) == 0;
}

static bool kept_folder(making *m)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (cache && *cache == '/')
        n = snprintf(m->folder, sizeof m->folder, "%s", cache);
    else if (home && *home == '/')
        n = snprintf(m->folder, sizeof m->folder, "%s/.cache", home);
    else
        return false;
    if (n < 0 || (size_t)n + 8 >= sizeof m->folder)
        return false;
    mkdir(m->folder, 0700); /* may be there */
    memcpy(m->folder + n, "/noslip", 8);
    mkdir(m->folder, 0700);
    return is_private(m->folder, true) && access(m->folder, W_OK | X_OK) == 0;
}

/* Where nothing can be kept the code is made for this time only. */
static bool choose_folder(making *m)
{
    if (kept_folder(m))
        return true;
    int error = ns_file_pattern(m->folder, sizeof m->folder, "noslip");
    if (!error && !mkdtemp(m->folder))
        error = errno;
    if (error)
        return fail(m, "there is no folder to compile in: %s", strerror(error));
    m->temporary = true;
    return true;
}

/* ---- libraries --------------------------------------------------------------------------- */

/* A kept library ends with a hash of its key and of all bytes before (loaders do not look that
 * far): the code of another model is not taken for it, whatever its name. */
static hash seal_of(const making *m, const char *bytes, size_t length)
{
    hash h = hash_start;
    hash_string(&h, m->key);
    hash_add(&h, bytes, length);
    return h;
}

static bool is_sealed(const making *m, const char *path)
{
    char *bytes;
    size_t length;
    if (!is_private(path, false) || ns_file_read(path, MOST_LIBRARY, &bytes, &length) != 0)
        return false;
    bool good = false;
    if (length > sizeof(hash)) {
        const hash seal = seal_of(m, bytes, length - sizeof(hash));
        good = memcmp(bytes + length - sizeof(hash), &seal, sizeof seal) == 0;
    }
    free(bytes);
    return good;
}

static bool add_seal(const making *m, const char *path)
{
    char *bytes;
    size_t length;
    int error = ns_file_read(path, MOST_LIBRARY, &bytes, &length);
    if (error)
        return fail(m, "the compiled code cannot be read: %s", strerror(error));
    const hash seal = seal_of(m, bytes, length);
    free(bytes);
    const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    error = file < 0 ? errno : ns_file_put(file, &seal, sizeof seal);
    if (file >= 0)
        close(file);
    chmod(path, 0700);
    return !error || fail(m, "the compiled code cannot be written: %s", strerror(error));
}

static void *load(const making *m, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(m, "the compiled code cannot be loaded: %s", dlerror());
    return library;
}

/* A stretch of text. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

/* The last `mark` before `end`, NULL if there is none. */
static const char *last_mark(const char *text, const char *end, const char *mark)
{
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, mark)) && at < end; at++)
        found = at;
    return found;
}

/* Two texts of about the same length out of one; false if it cannot be cut. */
static bool cut(const making *m, piece first[3], piece second[3])
{
    const char *end = m->text + m->length, *macros = strstr(m->text, NS_EMIT_MACROS);
    const char *middle = macros ? strstr(m->text + m->length / 2, NS_EMIT_CUT) : NULL;
    const char *here = middle ? last_mark(macros, middle, NS_EMIT_MACROS) : NULL;
    const char *behind = here ? strstr(here, NS_EMIT_CUT) : NULL;
    if (!behind)
        return false;
    first[0] = (piece){m->text, (size_t)(middle - m->text)};
    first[1] = first[2] = (piece){0};
    second[0] = (piece){m->text, (size_t)(macros - m->text)};
    second[1] = (piece){here, (size_t)(behind - here)};
    second[2] = (piece){middle, (size_t)(end - middle)};
    return true;
}

static bool put_source(const making *m, const char *path, const piece pieces[3])
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int error = file < 0 ? errno : 0;
    for (int i = 0; i < 3 && !error; i++)
        error = ns_file_put(file, pieces[i].at, pieces[i].length);
    if (file >= 0)
        close(file);
    return !error || fail(m, "%s: %s", path, strerror(error));
}

/* Names of the files that one making needs. */
enum { SOURCE, SOURCE_2, OBJECT, OBJECT_2, LOG, LOG_2, LIBRARY, FILES };
typedef char file_name[PATH_MAX + 40];

static bool compile_at_once(const making *m, file_name *files)
{
    const piece all[3] = {{m->text, m->length}};
    const char *sources[] = {files[SOURCE], NULL};
    pid_t child;
    return put_source(m, files[SOURCE], all) &&
           ns_compiler_start(&m->compiler, "-shared", sources, files[LIBRARY], files[LOG],
                             &child) &&
           ns_compiler_wait(&m->compiler, files[LOG], child);
}

/* Both halves at the same time, then what links them. */
static bool compile_halves(const making *m, file_name *files, const piece first[3],
                           const piece second[3])
{
    const char *sources[] = {files[SOURCE], NULL}, *sources_2[] = {files[SOURCE_2], NULL};
    const char *objects[] = {files[OBJECT], files[OBJECT_2], NULL};
    pid_t one, two, link;
    if (!put_source(m, files[SOURCE], first) || !put_source(m, files[SOURCE_2], second) ||
        !ns_compiler_start(&m->compiler, "-c", sources, files[OBJECT], files[LOG], &one))
        return false;
    if (!ns_compiler_start(&m->compiler, "-c", sources_2, files[OBJECT_2], files[LOG_2],
                           &two)) {
        ns_compiler_stop(one);
        return false;
    }
    if (!ns_compiler_wait(&m->compiler, files[LOG_2], two)) {
        ns_compiler_stop(one);
        return false;
    }
    return ns_compiler_wait(&m->compiler, files[LOG], one) &&
           ns_compiler_start(&m->compiler, "-shared", objects, files[LIBRARY], files[LOG],
                             &link) &&
           ns_compiler_wait(&m->compiler, files[LOG], link);
}

/* Compiles in files of our own, then gives the library its name. */
static bool compile(const making *m, const char *library)
{
    static const char *const ends[FILES] = {"a.c", "b.c", "a.o", "b.o", "a.log", "b.log", "so"};
    file_name files[FILES];
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (int i = 0; i < FILES; i++)
        snprintf(files[i], sizeof files[i], "%s/%s-%ld-%lu.%s", m->folder, m->key,
                 (long)getpid(), (unsigned long)t.tv_nsec, ends[i]);
    piece first[3], second[3];
    bool good = m->two && cut(m, first, second) ? compile_halves(m, files, first, second)
                                                : compile_at_once(m, files);
    good = good && add_seal(m, files[LIBRARY]);
    if (good && rename(files[LIBRARY], library) != 0)
        good = fail(m, "%s: %s", library, strerror(errno));
    for (int i = 0; i < FILES; i++)
        if (i != LIBRARY || !good)
            unlink(files[i]);
    return good;
}

static void *obtain(making *m, bool *cached)
{
    if (!ns_compiler_find(&m->compiler))
        return NULL;
    make_key(m);
    if (!choose_folder(m))
        return NULL;
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s.so", m->folder, m->key);
    void *library = NULL;
    *cached = is_sealed(m, path);
    if (*cached) {
        ns_prune_used(path);
        library = load(m, path);
        *cached = library != NULL; /* it may have been removed meanwhile */
    }
    if (!*cached && compile(m, path))
        library = load(m, path);
    if (m->temporary) {
        unlink(path);
        rmdir(m->folder);
    } else if (!*cached)
        ns_prune(m->folder, &ns_prune_usual);
    return library;
}

/* ---- programs ---------------------------------------------------------------------------- */

static const char *write_text(ns_arena *arena, const ns_native_request *requests, uint32_t n,
                              size_t *length)
{
    ns_text text = ns_text_new(arena);
    ns_emit_prelude(&text);
    for (uint32_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "program%u", i);
        ns_emit_program(&text, arena, ns_program_stream(requests[i].program), name,
                        (requests[i].one ? NS_EMIT_ONE : 0u) |
                            (requests[i].eight ? NS_EMIT_EIGHT : 0u) |
                            (requests[i].eight_fused ? NS_EMIT_EIGHT_FUSED : 0u));
    }
    *length = text.length;
    return ns_text_string(&text);
}

static void *find(const making *m, void *library, const char *name, bool *good)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        *good = fail(m, "the compiled code has no %s", name);
    return symbol;
}

static void *find_program(const making *m, void *library, uint32_t i, const char *lanes,
                          bool *good)
{
    char name[32];
    snprintf(name, sizeof name, "program%u_%s", i, lanes);
    return find(m, library, name, good);
}

/* ISO C has no cast from object to function. */
#define AS_FUNCTION(function, symbol)                                                          \
    do {                                                                                       \
        void *found_ = (symbol);                                                               \
        memcpy(&(function), &found_, sizeof(function));                                        \
    } while (0)

static ns_native *room_for(uint32_t n)
{
    return calloc(1, sizeof(ns_native) + n * sizeof(const ns_program *));
}

static ns_native *attach(const making *m, void *library, const ns_native_request *requests,
                         uint32_t n)
{
    ns_native *native = room_for(n);
    bool good = native != NULL;
    for (int pass = 0; pass < 2 && good; pass++) /* first see that all is there */
        for (uint32_t i = 0; i < n; i++) {
            const ns_native_request *r = &requests[i];
            ns_program_code one, eight, fused;
            AS_FUNCTION(one, r->one ? find_program(m, library, i, "1", &good) : NULL);
            AS_FUNCTION(eight, r->eight ? find_program(m, library, i, "8", &good) : NULL);
            AS_FUNCTION(fused,
                        r->eight_fused ? find_program(m, library, i, "8f", &good) : NULL);
            native->programs[i] = r->program;
            if (pass == 1)
                ns_program_use(r->program, one, eight, fused);
        }
    if (!good) {
        free(native);
        dlclose(library);
        return NULL;
    }
    native->library = library;
    native->n = n;
    return native;
}

static ns_native *make_library(making *m, ns_arena *arena, const ns_native_request *requests,
                               uint32_t n, ns_native_facts *facts)
{
    bool fused = false;
    for (uint32_t i = 0; i < n; i++)
        fused = fused || requests[i].eight_fused;
    m->text = write_text(arena, requests, n, &m->length);
    facts->text_length = m->length;
    choose_flags(m, ns_program_lanes_name(requests[0].program), fused);
    void *library = obtain(m, &facts->cached);
    return library ? attach(m, library, requests, n) : NULL;
}

static bool compiler_asked_for(void)
{
    const char *how = getenv("NOSLIP_NATIVE");
    return how && strcmp(how, "c") == 0;
}

bool ns_native_is_quick(const ns_program *program)
{
    return !compiler_asked_for() && ns_install_can(program);
}

uint32_t ns_native_most(const ns_program *program)
{
    return ns_native_is_quick(program) ? UINT32_MAX : 2000;
}

/* Machine code of our own where this is possible, unless the compiler is asked for. */
static ns_native *make(making *m, ns_arena *arena, const ns_native_request *requests,
                       uint32_t n, ns_native_facts *facts)
{
    ns_installed installed = {0};
    ns_native *native = room_for(n);
    if (compiler_asked_for() || !native || !ns_install(&installed, arena, requests, n)) {
        free(native);
        return make_library(m, arena, requests, n, facts);
    }
    native->installed = installed;
    for (uint32_t i = 0; i < n; i++)
        native->programs[i] = requests[i].program;
    native->n = n;
    facts->code_length = installed.code;
    return native;
}

ns_native *ns_native_new(const ns_native_request *requests, uint32_t n, char *message,
                         size_t room, ns_native_facts *facts)
{
    NS_CHECK(requests || !n);
    NS_CHECK(message && room);
    const double begin = ns_clock_seconds();
    ns_native_facts found = {0};
    making *m = calloc(1, sizeof *m);
    ns_arena *arena = ns_arena_new();
    ns_native *volatile native = NULL;
    snprintf(message, room, "out of memory");
    if (m && arena && n && !NS_ARENA_GUARD(arena)) {
        m->compiler.message = message;
        m->compiler.room = room;
        native = make(m, arena, requests, n, &found);
    }
    if (arena)
        ns_arena_free(arena);
    free(m);
    found.seconds = ns_clock_seconds() - begin;
    if (facts)
        *facts = found;
    return native;
}

void ns_native_free(ns_native *native)
{
    if (!native)
        return;
    for (uint32_t i = 0; i < native->n; i++)
        ns_program_interpret(native->programs[i]);
    if (native->library)
        dlclose(native->library);
    ns_install_remove(&native->installed);
    free(native);
}

#else /* left out: CMake, NOSLIP_NATIVE */

ns_native *ns_native_new(const ns_native_request *requests, uint32_t n, char *message,
                         size_t room, ns_native_facts *facts)
{
    (void)requests, (void)n;
    snprintf(message, room, "this program was built without native code");
    if (facts)
        *facts = (ns_native_facts){0};
    return NULL;
}

bool ns_native_is_quick(const ns_program *program)
{
    (void)program;
    return false;
}

uint32_t ns_native_most(const ns_program *program)
{
    (void)program;
    return 0;
}

void ns_native_free(ns_native *native)
{
    (void)native;
}

#endif
