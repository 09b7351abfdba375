/* A small importer of functional mock-up units, from the text of the standard: reads the
 * archive, loads the binary, and drives both versions by the same calls.  For tests. */
#ifndef NS_TEST_FMU_IMPORT_H
#define NS_TEST_FMU_IMPORT_H

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the archive ------------------------------------------------------------------------- */

static uint32_t zip_number(const unsigned char *at, int n)
{
    uint32_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | at[i];
    return v;
}

/* Bit by bit, unlike what it checks. */
static uint32_t zip_crc(const unsigned char *at, size_t n)
{
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            const uint32_t bit = (c ^ (uint32_t)(at[i] >> k)) & 1u;
            c = c >> 1 ^ (bit ? 0xedb88320u : 0u);
        }
    return ~c;
}

/* The member whose name begins and ends so, by the central directory; NULL if there is none or
 * it is damaged. */
static const unsigned char *zip_find(const char *bytes, size_t length, const char *begin,
                                     const char *end, size_t *size)
{
    const unsigned char *z = (const unsigned char *)bytes, *tail = z + length - 22;
    if (length < 22 || zip_number(tail, 4) != 0x06054b50)
        return NULL;
    const unsigned char *at = z + zip_number(tail + 16, 4);
    for (uint32_t i = 0; i < zip_number(tail + 10, 2); i++) {
        const uint32_t n = zip_number(at + 28, 2), where = zip_number(at + 42, 4);
        const char *name = (const char *)at + 46;
        if (zip_number(at, 4) != 0x02014b50 || zip_number(z + where, 4) != 0x04034b50)
            return NULL;
        if (n >= strlen(begin) + strlen(end) && memcmp(name, begin, strlen(begin)) == 0 &&
            memcmp(name + n - strlen(end), end, strlen(end)) == 0) {
            *size = zip_number(at + 24, 4);
            const unsigned char *data = z + where + 30 + n;
            return zip_crc(data, *size) == zip_number(at + 16, 4) ? data : NULL;
        }
        at += 46 + n;
    }
    return NULL;
}

/* ---- variables --------------------------------------------------------------------------- */

typedef struct fmu_variable {
    char name[64], causality[24], variability[16], initial[16];
    unsigned vr, derivative; /* derivative: as the file has it; 0: none */
    bool start;
} fmu_variable;

typedef struct fmu {
    int version;
    char *xml, guid[64];
    fmu_variable *v;
    unsigned n, states, events, first_state;
    void *library, *instance;
} fmu;

/* The value of an attribute in the element that begins at `at`; false if it has none. */
static bool fmu_attribute(const char *at, const char *name, char *out, size_t room)
{
    char key[40];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *end = strchr(at, '>'), *found = strstr(at, key);
    out[0] = 0;
    if (!found || found > end)
        return false;
    found += strlen(key);
    snprintf(out, room, "%.*s", (int)strcspn(found, "\""), found);
    return true;
}

static void fmu_read_variables(fmu *f)
{
    const char *element = f->version == 2 ? "<ScalarVariable " : "<Float64 ";
    for (const char *at = f->xml; (at = strstr(at, element)); at++) {
        f->v = realloc(f->v, (f->n + 1) * sizeof *f->v);
        fmu_variable *v = &f->v[f->n++];
        char number[32];
        memset(v, 0, sizeof *v);
        fmu_attribute(at, "name", v->name, sizeof v->name);
        fmu_attribute(at, "causality", v->causality, sizeof v->causality);
        fmu_attribute(at, "variability", v->variability, sizeof v->variability);
        fmu_attribute(at, "initial", v->initial, sizeof v->initial);
        v->vr = fmu_attribute(at, "valueReference", number, sizeof number)
                    ? (unsigned)strtoul(number, NULL, 10)
                    : UINT32_MAX;
        const char *real = f->version == 2 ? strstr(at, "<Real") : at;
        v->start = fmu_attribute(real, "start", number, sizeof number);
        if (fmu_attribute(real, "derivative", number, sizeof number)) {
            v->derivative = (unsigned)strtoul(number, NULL, 10);
            if (!f->states++)
                f->first_state = f->version == 2 ? v->derivative - 1 : v->derivative;
        }
        f->events += strncmp(v->name, "event ", 6) == 0;
    }
}

static unsigned fmu_find(const fmu *f, const char *name)
{
    for (unsigned i = 0; i < f->n; i++)
        if (strcmp(f->v[i].name, name) == 0)
            return f->v[i].vr;
    return UINT32_MAX;
}

/* Loads the binary in the archive, which goes to a file for a moment, or what is built from its
 * source here. */
static void *fmu_load(const char *bytes, size_t length, bool build)
{
    size_t n = 0;
    char path[] = "/tmp/noslip-fmu-XXXXXX", command[256];
    const unsigned char *at = zip_find(bytes, length, build ? "sources/" : "binaries/",
                                       build ? "model.c" : ".so", &n);
    const int file = at ? mkstemp(path) : -1;
    if (file < 0)
        return NULL;
    bool good = write(file, at, n) == (ssize_t)n;
    close(file);
    snprintf(command, sizeof command,
             "cc -std=c99 -O0 -fPIC -shared -o %s.so -x c %s -lm && mv %s.so %s", path, path,
             path, path);
    good = good && (!build || system(command) == 0);
    void *library = good ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path);
    return library;
}

static bool fmu_open(fmu *f, int version, const char *bytes, size_t length, bool build)
{
    size_t n = 0;
    memset(f, 0, sizeof *f);
    f->version = version;
    const unsigned char *at = zip_find(bytes, length, "modelDescription.xml", "", &n);
    if (!at)
        return false;
    f->xml = malloc(n + 1);
    memcpy(f->xml, at, n);
    f->xml[n] = 0;
    fmu_attribute(strstr(f->xml, "<fmiModelDescription"),
                  version == 2 ? "guid" : "instantiationToken", f->guid, sizeof f->guid);
    fmu_read_variables(f);
    f->library = fmu_load(bytes, length, build);
    return f->library != NULL;
}

static void fmu_close(fmu *f)
{
    if (f->library)
        dlclose(f->library);
    free(f->xml);
    free(f->v);
}

/* ---- calls, the same for both versions --------------------------------------------------- */

static void *fmu_symbol(const fmu *f, const char *two, const char *three)
{
    char name[64];
    snprintf(name, sizeof name, "fmi%d%s", f->version, f->version == 2 ? two : three);
    return dlsym(f->library, name);
}

/* A function of this type; ISO C has no cast from object to function. */
#define FMU_CALL(f, two, three, type, ...)                                                     \
    (__extension__({                                                                           \
        __typeof__(type) call_;                                                                \
        void *symbol_ = fmu_symbol(f, two, three);                                             \
        memcpy(&call_, &symbol_, sizeof call_);                                                \
        call_(__VA_ARGS__);                                                                    \
    }))

typedef struct fmu_callbacks {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *allocate, *release, *finished, *environment;
} fmu_callbacks;

static void fmu_log_2(void *to, const char *name, int status, const char *category,
                      const char *message, ...)
{
    (void)name, (void)status, (void)category, (void)message;
    if (to)
        ++*(int *)to;
}

static void fmu_log_3(void *to, int status, const char *category, const char *message)
{
    (void)status, (void)category, (void)message;
    if (to)
        ++*(int *)to;
}

static bool fmu_instantiate(fmu *f, bool cosimulation, const char *guid, int *complaints)
{
    fmu_callbacks callbacks = {.logger = fmu_log_2, .environment = complaints};
    typedef void *two(const char *, int, const char *, const char *, const fmu_callbacks *, int,
                      int);
    typedef void *exchange(const char *, const char *, const char *, bool, bool, void *,
                           void (*)(void *, int, const char *, const char *));
    typedef void *co(const char *, const char *, const char *, bool, bool, bool, bool,
                     const unsigned *, size_t, void *,
                     void (*)(void *, int, const char *, const char *), void *);
    if (f->version == 2)
        f->instance = FMU_CALL(f, "Instantiate", "", two *, "one", cosimulation, guid, "",
                               &callbacks, 0, 0);
    else if (cosimulation)
        f->instance = FMU_CALL(f, "", "InstantiateCoSimulation", co *, "one", guid, "", false,
                               false, false, false, NULL, 0, complaints, fmu_log_3, NULL);
    else
        f->instance = FMU_CALL(f, "", "InstantiateModelExchange", exchange *, "one", guid, "",
                               false, false, complaints, fmu_log_3);
    return f->instance != NULL;
}

static void fmu_free_instance(fmu *f)
{
    FMU_CALL(f, "FreeInstance", "FreeInstance", void (*)(void *), f->instance);
}

static int fmu_simple(fmu *f, const char *two, const char *three)
{
    return FMU_CALL(f, two, three, int (*)(void *), f->instance);
}

static int fmu_get(fmu *f, unsigned vr, double *value)
{
    typedef int two(void *, const unsigned *, size_t, double *);
    typedef int three(void *, const unsigned *, size_t, double *, size_t);
    return f->version == 2
               ? FMU_CALL(f, "GetReal", "", two *, f->instance, &vr, 1, value)
               : FMU_CALL(f, "", "GetFloat64", three *, f->instance, &vr, 1, value, 1);
}

static int fmu_set(fmu *f, unsigned vr, double value)
{
    typedef int two(void *, const unsigned *, size_t, const double *);
    typedef int three(void *, const unsigned *, size_t, const double *, size_t);
    return f->version == 2
               ? FMU_CALL(f, "SetReal", "", two *, f->instance, &vr, 1, &value)
               : FMU_CALL(f, "", "SetFloat64", three *, f->instance, &vr, 1, &value, 1);
}

static int fmu_begin(fmu *f, double from)
{
    typedef int setup(void *, int, double, double, int, double);
    typedef int enter(void *, bool, double, double, bool, double);
    if (f->version == 3)
        return FMU_CALL(f, "", "EnterInitializationMode", enter *, f->instance, false, 0.0,
                        from, false, 0.0);
    const int bad = FMU_CALL(f, "SetupExperiment", "", setup *, f->instance, 0, 0.0, from, 0,
                             0.0);
    return bad ? bad : fmu_simple(f, "EnterInitializationMode", "");
}

static int fmu_initialised(fmu *f)
{
    return fmu_simple(f, "ExitInitializationMode", "ExitInitializationMode");
}

/* *last: where it ended; *terminated: by an event of the model. */
static int fmu_step(fmu *f, double t, double h, double *last, bool *terminated)
{
    typedef int two(void *, double, double, int);
    typedef int three(void *, double, double, bool, bool *, bool *, bool *, double *);
    if (f->version == 3) {
        bool event, early;
        return FMU_CALL(f, "", "DoStep", three *, f->instance, t, h, true, &event, terminated,
                        &early, last);
    }
    const int status = FMU_CALL(f, "DoStep", "", two *, f->instance, t, h, 1);
    int ended = 0;
    FMU_CALL(f, "GetBooleanStatus", "", int (*)(void *, int, int *), f->instance, 3, &ended);
    FMU_CALL(f, "GetRealStatus", "", int (*)(void *, int, double *), f->instance, 2, last);
    *terminated = ended;
    return status == 2 && ended ? 0 : status;
}

static int fmu_array(fmu *f, const char *two, const char *three, double *x, size_t n)
{
    return FMU_CALL(f, two, three, int (*)(void *, double *, size_t), f->instance, x, n);
}

static int fmu_direction(fmu *f, bool adjoint, const unsigned *unknown, size_t m,
                         const unsigned *known, size_t n, const double *seed, double *out)
{
    typedef int two(void *, const unsigned *, size_t, const unsigned *, size_t, const double *,
                    double *);
    typedef int three(void *, const unsigned *, size_t, const unsigned *, size_t,
                      const double *, size_t, double *, size_t);
    if (f->version == 2)
        return FMU_CALL(f, "GetDirectionalDerivative", "", two *, f->instance, unknown, m,
                        known, n, seed, out);
    return FMU_CALL(f, "", adjoint ? "GetAdjointDerivative" : "GetDirectionalDerivative",
                    three *, f->instance, unknown, m, known, n, seed, adjoint ? m : n, out,
                    adjoint ? n : m);
}

/* ---- model exchange: our own integrator -------------------------------------------------- */

typedef struct fmu_event_info {
    int again, terminate, nominals, values, time_defined;
    double time;
} fmu_event_info;

/* Event mode until nothing changes; whether the model ends. */
static bool fmu_events(fmu *f)
{
    typedef int update(void *, bool *, bool *, bool *, bool *, bool *, double *);
    fmu_event_info i = {0};
    bool again, terminate, nominals, values, defined;
    double time;
    if (f->version == 2) {
        FMU_CALL(f, "NewDiscreteStates", "", int (*)(void *, fmu_event_info *), f->instance,
                 &i);
        terminate = i.terminate;
    } else
        FMU_CALL(f, "", "UpdateDiscreteStates", update *, f->instance, &again, &terminate,
                 &nominals, &values, &defined, &time);
    fmu_simple(f, "EnterContinuousTimeMode", "EnterContinuousTimeMode");
    return terminate;
}

static void fmu_rates(fmu *f, double t, const double *x, double *dx)
{
    FMU_CALL(f, "SetTime", "SetTime", int (*)(void *, double), f->instance, t);
    FMU_CALL(f, "SetContinuousStates", "SetContinuousStates",
             int (*)(void *, const double *, size_t), f->instance, x, f->states);
    fmu_array(f, "GetDerivatives", "GetContinuousStateDerivatives", dx, f->states);
}

/* A step of order 12: modified midpoint rule with 2, 4, ..., 12 parts, extrapolated. */
static void fmu_extrapolate(fmu *f, double t, double h, double *x)
{
    enum { COLUMNS = 6 };
    const unsigned n = f->states;
    double *work = calloc((size_t)n * (COLUMNS + 4), sizeof *work), *table = work + 4 * n;
    double *f0 = work, *before = work + n, *now = work + 2 * n, *rate = work + 3 * n;
    fmu_rates(f, t, x, f0);
    for (int k = 0; k < COLUMNS; k++) {
        const int parts = 2 * (k + 1);
        const double part = h / parts;
        for (unsigned i = 0; i < n; i++) {
            before[i] = x[i];
            now[i] = x[i] + part * f0[i];
        }
        for (int j = 1; j < parts; j++) {
            fmu_rates(f, t + part * j, now, rate);
            for (unsigned i = 0; i < n; i++) {
                const double next = before[i] + 2 * part * rate[i];
                before[i] = now[i];
                now[i] = next;
            }
        }
        memcpy(table + (size_t)k * n, now, n * sizeof *now);
        for (int j = k - 1; j >= 0; j--) {
            const double ratio = (k + 1.0) / (j + 1.0), w = 1 / (ratio * ratio - 1);
            for (unsigned i = 0; i < n; i++)
                table[(size_t)j * n + i] = table[(size_t)(j + 1) * n + i] +
                                           w * (table[(size_t)(j + 1) * n + i] -
                                                table[(size_t)j * n + i]);
        }
    }
    memcpy(x, table, n * sizeof *x);
    free(work);
}

/* From one time to another in this many steps; false if the model ended the motion. */
static bool fmu_exchange(fmu *f, double from, double to, int steps)
{
    double *x = calloc(f->states, sizeof *x), *dx = calloc(f->states, sizeof *dx);
    bool good = true;
    fmu_array(f, "GetContinuousStates", "GetContinuousStates", x, f->states);
    for (int k = 0; k < steps && good; k++) {
        const double t = from + (to - from) * k / steps,
                     end = from + (to - from) * (k + 1) / steps;
        fmu_extrapolate(f, t, end - t, x);
        fmu_rates(f, end, x, dx);
        bool event = false, terminate = false;
        if (f->version == 2) {
            int a = 0, b = 0;
            FMU_CALL(f, "CompletedIntegratorStep", "", int (*)(void *, int, int *, int *),
                     f->instance, 1, &a, &b);
            event = a;
            terminate = b;
        } else
            FMU_CALL(f, "", "CompletedIntegratorStep", int (*)(void *, bool, bool *, bool *),
                     f->instance, true, &event, &terminate);
        if (event) {
            fmu_simple(f, "EnterEventMode", "EnterEventMode");
            terminate = fmu_events(f) || terminate;
            fmu_array(f, "GetContinuousStates", "GetContinuousStates", x, f->states);
        }
        good = !terminate;
    }
    free(x);
    free(dx);
    return good;
}

#endif
