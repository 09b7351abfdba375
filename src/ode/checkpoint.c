/* Checkpoints: a run as bytes.
 *
 *     header   magic, version, what the run is (equations, method, tolerance, parameters,
 *              sizes)
 *     payload  progress, tally, reason, the kept part of the block, the events
 *
 * Numbers are in the machine's own order and format: a checkpoint continues on the same kind of
 * machine, and says so when it is read on another.  Everything read is checked, so that damaged
 * bytes give a message and never a crash. */
#include "base/check.h"
#include "base/hash.h"
#include "ode/drive/bump.h"
#include "ode/drive/drive.h"
#include "ode/run_internal.h"

enum { VERSION = 4 };
#define ORDER_MARK 0x0102030405060708u

typedef struct header {
    char magic[8];
    uint64_t order, version, bytes, checksum;
    uint64_t equations, parameters; /* fingerprints */
    char method[16];
    double t0, tolerance, max_step, fixed_step, sense;
    uint64_t project, n, np, n_kept, n_system_events, n_events, mode;
} header;

typedef struct fixed_part {
    ns_counters now;
    ns_tally tally;
    ns_stretch stretch;
    uint64_t first_mode;
    int64_t status;
    char reason[sizeof((ns_run *)0)->reason];
} fixed_part;

static const char magic[8] = {'n', 's', 'r', 'u', 'n', '\r', '\n', '\0'};

static header describe(const ns_run *run)
{
    const ns_stepper *s = &run->s;
    header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof magic);
    h.order = ORDER_MARK;
    h.version = VERSION;
    h.equations = run->whole->fingerprint;
    h.parameters = run->parameters;
    strncpy(h.method, s->method->name, sizeof h.method - 1);
    h.t0 = run->options.t0;
    h.tolerance = s->tolerance;
    h.max_step = s->max_step;
    h.fixed_step = s->fixed_step;
    h.sense = s->sense;
    h.project = run->options.project;
    h.n = s->n;
    h.np = s->problem->np;
    h.n_kept = run->n_kept;
    h.n_system_events = s->problem->system->events.n;
    h.n_events = run->n_events;
    h.mode = run->stretch.mode;
    return h;
}

static size_t size_with(const ns_run *run, size_t n_events)
{
    return sizeof(header) + sizeof(fixed_part) + run->n_kept * sizeof(double) +
           n_events * (sizeof(ns_occurrence) + run->s.n * sizeof(double));
}

size_t ns_run_save_size(const ns_run *run)
{
    return size_with(run, run->n_events);
}

void ns_run_save(const ns_run *run, void *bytes)
{
    header h = describe(run);
    fixed_part part;
    memset(&part, 0, sizeof part); /* padding too: equal runs give equal bytes */
    part.now = run->s.now;
    part.tally = run->tally;
    part.stretch = run->stretch;
    part.first_mode = run->first_mode;
    /* an interrupt or a limit ended the session, not the motion */
    const bool ended = run->status != NS_STOP_INTERRUPT && run->status != NS_STOP_LIMIT;
    part.status = ended ? run->status : NS_OK;
    memcpy(part.reason, ended ? run->reason : "", ended ? strlen(run->reason) : 0);

    unsigned char *at = (unsigned char *)bytes + sizeof h;
    memcpy(at, &part, sizeof part);
    at += sizeof part;
    memcpy(at, run->kept, run->n_kept * sizeof(double));
    at += run->n_kept * sizeof(double);
    for (uint32_t i = 0; i < run->n_events; i++) {
        ns_occurrence one;
        memset(&one, 0, sizeof one);
        one.event = run->events[i].event;
        one.direction = run->events[i].direction;
        one.t = run->events[i].t;
        one.before = run->events[i].before;
        one.after = run->events[i].after;
        one.rest = run->events[i].rest;
        memcpy(at, &one, sizeof one);
        at += sizeof one;
    }
    if (run->n_events)
        memcpy(at, run->event_states, run->n_events * run->s.n * sizeof(double));
    h.bytes = ns_run_save_size(run);
    NS_CHECK((size_t)(at - (unsigned char *)bytes) +
                 run->n_events * run->s.n * sizeof(double) ==
             h.bytes);
    h.checksum = ns_hash_bytes(ns_hash_start, (unsigned char *)bytes + sizeof h,
                               h.bytes - sizeof h);
    memcpy(bytes, &h, sizeof h);
}

/* NULL if the checkpoint belongs to this run and is whole, otherwise what is wrong. */
static const char *check(const ns_run *run, const header *h, const void *bytes, size_t size)
{
    const header mine = describe(run);
    if (size < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0)
        return "this is not a checkpoint";
    if (h->order != ORDER_MARK)
        return "the checkpoint was written on a different kind of machine";
    if (h->version != VERSION)
        return "the checkpoint was written by a different version of the program";
    if (h->equations != mine.equations || h->n != mine.n || h->np != mine.np)
        return "the checkpoint belongs to a different model";
    if (h->parameters != mine.parameters)
        return "the checkpoint was made with different parameters";
    if (memcmp(h->method, mine.method, sizeof h->method) != 0)
        return "the checkpoint was made with a different method";
    if (h->tolerance != mine.tolerance)
        return "the checkpoint was made with a different tolerance";
    if (h->max_step != mine.max_step || h->fixed_step != mine.fixed_step ||
        h->project != mine.project || h->t0 != mine.t0 || h->sense != mine.sense)
        return "the checkpoint was made with different options (times, steps or projection)";
    if (h->mode >= run->whole->n_modes || h->bytes != size ||
        h->checksum != ns_hash_bytes(ns_hash_start, (const unsigned char *)bytes + sizeof *h,
                                     size - sizeof *h))
        return "the checkpoint is damaged";
    return NULL;
}

/* The same of what depends on the mode it was made in. */
static const char *check_sizes(const ns_run *run, const header *h, size_t size)
{
    const header mine = describe(run);
    if (h->n_kept != mine.n_kept || h->n_system_events != mine.n_system_events ||
        h->n_events > UINT32_MAX / 2 || size_with(run, (size_t)h->n_events) != size)
        return "the checkpoint is damaged";
    return NULL;
}

/* A byte that is neither 0 nor 1 is not a bool: it must not be read as one. */
static bool is_bool(const bool *value)
{
    unsigned char byte;
    memcpy(&byte, value, 1);
    return byte <= 1;
}

/* How a motion can have ended, see ns_run_save. */
static bool is_end(int64_t status)
{
    return status == NS_OK || status == NS_STOP_EVENT || status == NS_STOP_SINGULAR ||
           status == NS_STOP_STEP || status == NS_STOP_ASKED;
}

static const char *check_part(const ns_run *run, const fixed_part *part)
{
    const ns_stepper *s = &run->s;
    const uint64_t modes = run->whole->n_modes;
    const ns_stretch *at = &part->stretch;
    if (at->mode >= modes || at->next >= modes || part->first_mode >= modes ||
        at->pending > NS_PENDING_BRIDGE || at->fired > s->problem->system->events.n ||
        ((at->pending || at->bridged) && !run->whole->jumps))
        return "the checkpoint is damaged";
    if (part->tally.pending > 7 || !isfinite(part->now.t) || !isfinite(part->now.from) ||
        !(part->now.h > 0) || memchr(part->reason, 0, sizeof part->reason) == NULL ||
        !is_bool(&part->now.noisy) || !is_bool(&part->now.moved) || !is_end(part->status))
        return "the checkpoint is damaged";
    if (s->sense * (part->now.t - run->options.t0) < 0 ||
        s->sense * (part->now.t - part->now.from) < 0 ||
        part->now.mark_steps > part->now.steps || part->now.probed > part->now.steps ||
        at->origin > part->now.steps)
        return "the checkpoint is damaged";
    if (s->sense * (run->options.until - part->now.t) < 0)
        return "the checkpoint is from a time after the end of this run";
    return NULL;
}

/* Inputs had other values at the start, and all programs hold these: the method and what looks
 * at steps begin once more, before they take what they knew. */
static ns_status restore_inputs(ns_run *run, const fixed_part *part, const void *kept,
                                const char **message)
{
    ns_stepper *s = &run->s;
    if (!run->options.schedule)
        return NS_OK;
    if (!ns_schedule_restore(run)) {
        *message = "the checkpoint is damaged";
        return NS_ERR_USAGE;
    }
    ns_drive_begin(s, run->drive_kept, run->drive);
    ns_bump_begin(run);
    ns_enclose_begin(run);
    const ns_status status = s->method->begin(s);
    *message = s->why_begin;
    s->now = part->now;
    memcpy(run->kept, kept, run->n_kept * sizeof(double));
    return status;
}

ns_status ns_run_restore(ns_run *run, const void *bytes, size_t size, const char **message)
{
    header h = {0};
    fixed_part part;
    if (size >= sizeof h)
        memcpy(&h, bytes, sizeof h);
    *message = check(run, &h, bytes, size);
    if (*message)
        return NS_ERR_USAGE;
    if (h.mode != run->stretch.mode && ns_run_change(run, (uint32_t)h.mode) != NS_OK) {
        *message = run->s.why_begin;
        return NS_ERR_MEMORY;
    }
    *message = check_sizes(run, &h, size);
    if (*message)
        return NS_ERR_USAGE;
    const unsigned char *at = (const unsigned char *)bytes + sizeof h;
    memcpy(&part, at, sizeof part);
    at += sizeof part;
    *message = check_part(run, &part);
    const unsigned char *list = at + run->n_kept * sizeof(double);
    for (uint32_t i = 0; !*message && i < h.n_events; i++) {
        ns_occurrence one;
        memcpy(&one, list + i * sizeof one, sizeof one);
        if (one.event >= h.n_system_events || one.before >= run->whole->n_modes ||
            one.after >= run->whole->n_modes)
            *message = "the checkpoint is damaged";
    }
    if (*message)
        return NS_ERR_USAGE;
    if (!ns_events_reserve(run, (uint32_t)h.n_events)) {
        *message = "out of memory";
        return NS_ERR_MEMORY;
    }
    run->s.now = part.now;
    run->tally = part.tally;
    run->stretch = part.stretch;
    run->first_mode = (uint32_t)part.first_mode;
    run->status = (ns_status)part.status;
    memcpy(run->reason, part.reason, sizeof run->reason);
    memcpy(run->kept, at, run->n_kept * sizeof(double));
    run->n_events = (uint32_t)h.n_events;
    if (run->n_events) {
        memcpy(run->events, list, run->n_events * sizeof *run->events);
        memcpy(run->event_states, list + run->n_events * sizeof *run->events,
               run->n_events * run->s.n * sizeof(double));
    }
    const ns_status status = restore_inputs(run, &part, at, message);
    if (status != NS_OK)
        return status;
    if (run->s.method->resume)
        run->s.method->resume(&run->s);
    *message = "";
    return NS_OK;
}
