/* What a session is made of: files, tables, models, records, writers and checkpoints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "out/formats.h"
#include "session/checkpoint.h"
#include "session/record.h"

static const char oscillator[] = "title \"Oscillator\"\n"
                                 "param k = 1, A = 1\n"
                                 "coordinate x in m\n"
                                 "lagrangian x'^2/2 - k*x^2/2\n"
                                 "start { x = A; x' = 0 }\n"
                                 "event middle: x = 0\n"
                                 "run { until 10 }\n";

/* Stands before the one of the C library: the n-th call from now on fails (0: none does). */
static unsigned long fail_at;

void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory = NULL;
    if (fail_at && --fail_at == 0)
        return NULL;
    return posix_memalign(&memory, alignment, size) ? NULL : memory;
}

static char folder[] = "noslip-test-io-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return chdir("..") || system("rm -rf noslip-test-io-*") ? -1 : 0;
}

static ns_model *load(const char *text)
{
    ns_model *m = ns_model_load_text("test.mech", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(m);
    if (m->status != NS_OK)
        print_message("%s", m->messages);
    return m;
}

static char *slurp(const char *path, size_t *length)
{
    char *bytes;
    assert_int_equal(ns_file_read(path, 1 << 24, &bytes, length), 0);
    return bytes;
}

/* ---- files ------------------------------------------------------------------------------- */

static void reading(void **state)
{
    (void)state;
    char *bytes;
    size_t n;
    assert_int_equal(ns_file_write("a", "hello", 5), 0);
    assert_int_equal(ns_file_read("a", 5, &bytes, &n), 0);
    assert_int_equal(n, 5);
    assert_string_equal(bytes, "hello");
    free(bytes);
    assert_int_equal(ns_file_read("a", 4, &bytes, &n), EFBIG);
    assert_null(bytes);
    assert_int_equal(ns_file_read("nosuch", 4, &bytes, &n), ENOENT);
    assert_int_equal(ns_file_read(".", 4, &bytes, &n), EISDIR);
}

static void replacing(void **state)
{
    (void)state;
    assert_int_equal(ns_file_write("b", "old", 3), 0);
    assert_int_equal(chmod("b", 0640), 0);
    ns_file_target target;
    int fd;
    assert_int_equal(ns_file_target_init(&target, "b"), 0);
    assert_int_equal(ns_file_target_create(&target, &fd), 0);
    assert_int_equal(ns_file_put(fd, "newer", 5), 0);
    close(fd);
    size_t n;
    char *bytes = slurp("b", &n);
    assert_string_equal(bytes, "old"); /* nothing is visible before it is published */
    free(bytes);
    assert_int_equal(ns_file_target_publish(&target), 0);
    ns_file_target_free(&target);
    bytes = slurp("b", &n);
    assert_string_equal(bytes, "newer");
    free(bytes);
    struct stat info;
    assert_int_equal(stat("b", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);

    /* A target that is given up leaves no trace. */
    assert_int_equal(ns_file_target_init(&target, "b"), 0);
    assert_int_equal(ns_file_target_create(&target, &fd), 0);
    char *temporary = strdup(target.temporary);
    close(fd);
    ns_file_target_free(&target);
    assert_int_equal(access(temporary, F_OK), -1);
    free(temporary);

    assert_int_equal(ns_file_target_init(&target, "."), EISDIR);
    assert_int_equal(ns_file_target_init(&target, "nosuch/file"), ENOENT);
    assert_int_equal(ns_file_target_init(&target, ""), ENOENT);
    assert_int_equal(ns_file_target_init(&target, "a/file"), ENOTDIR);
}

/* ---- tables ------------------------------------------------------------------------------ */

static void tables(void **state)
{
    (void)state;
    ns_table t = {.columns = 3};
    assert_null(ns_table_column(&t, 0));
    for (int i = 0; i < 1000; i++)
        assert_true(ns_table_add(&t, i, (double[]){10 * i, 20 * i, 30 * i}));
    assert_int_equal(t.rows, 1000);
    for (int i = 0; i < 1000; i++) {
        double row[3];
        ns_table_row(&t, (size_t)i, row);
        assert_true(t.t[i] == i && row[0] == 10 * i && row[2] == 30 * i);
        assert_true(ns_table_column(&t, 1)[i] == 20 * i);
    }
    assert_false(ns_table_reserve(&t, SIZE_MAX / 2));
    assert_int_equal(t.rows, 1000);
    ns_table_free(&t);
}

static void numbers(void **state)
{
    (void)state;
    char buffer[NS_NUMBER_ROOM];
    const double values[] = {0.1, -1e-300, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ns_text_number(buffer, values[i]);
        double back = strtod(buffer, NULL);
        assert_memory_equal(&back, &values[i], sizeof back);
    }
    ns_text_number(buffer, -(double)INFINITY);
    assert_string_equal(buffer, "-inf");
    static const struct {
        double value;
        const char *text;
    } shortest[] = {{0.03, "0.03"},
                    {1e-14, "1e-14"},
                    {1e22, "1e+22"},
                    {1.0 / 3, "0.3333333333333333"},    /* 16 digits */
                    {0.1 + 0.2, "0.30000000000000004"}, /* 17 */
                    {123456789012345, "123456789012345"}};
    for (size_t i = 0; i < sizeof shortest / sizeof *shortest; i++) {
        ns_text_number(buffer, shortest[i].value);
        assert_string_equal(buffer, shortest[i].text);
    }
    assert_ptr_equal(ns_output_find(ns_output_formats, "a/b.c/x.h5"), &ns_output_hdf5);
    assert_ptr_equal(ns_output_find(ns_output_formats, "x.hdf5"), &ns_output_hdf5);
    assert_ptr_equal(ns_output_find(ns_output_formats, "x.y.csv"), &ns_output_csv);
    assert_null(ns_output_find(ns_output_formats, "x.csv/y"));
    assert_null(ns_output_find(ns_output_formats, ".csv"));
    assert_null(ns_output_find(ns_output_formats, "csv"));
}

/* ---- models ------------------------------------------------------------------------------ */

static void models(void **state)
{
    (void)state;
    ns_model *m = load(oscillator);
    assert_int_equal(m->status, NS_OK);
    assert_string_equal(m->messages, "");
    assert_string_equal(m->description->title, "Oscillator");
    assert_true(m->x0[0] == 1 && m->settings.until == 10 && isnan(m->settings.tolerance));
    assert_ptr_equal(ns_model_problem(m, false), m->problem);
    assert_non_null(ns_model_problem(m, true)->jacobian);
    ns_model_free(m);

    const ns_override o = {.name = "A", .expression = "2*k"};
    m = ns_model_load_text("t", oscillator, strlen(oscillator), &o, 1, NS_MODEL_READY);
    assert_int_equal(m->status, NS_OK);
    assert_true(m->x0[0] == 2);
    ns_model_free(m);

    m = ns_model_load("nosuch.mech", NULL, 0, NS_MODEL_READY);
    assert_int_equal(m->status, NS_ERR_USAGE);
    assert_non_null(strstr(m->messages, "nosuch.mech"));
    ns_model_free(m);

    const char wrong[] = "coordinate x\nlagrangian y\n";
    m = ns_model_load_text("t", wrong, strlen(wrong), NULL, 0, NS_MODEL_READY);
    assert_int_equal(m->status, NS_ERR_MODEL);
    assert_non_null(strstr(m->messages, "t:2:12: error"));
    ns_model_free(m);
    ns_model_free(NULL);
}

/* ---- records ----------------------------------------------------------------------------- */

static ns_record *run(ns_model *m, const ns_record_options *o)
{
    ns_record *r = ns_record_new(m, o);
    assert_non_null(r);
    if (r->status == NS_OK)
        ns_record_run(r);
    return r;
}

static void output_times(void **state)
{
    (void)state;
    ns_model *m = load(oscillator);
    ns_record_options o = ns_record_defaults(m);
    o.keep = true;

    ns_record *r = run(m, &o); /* nothing said: the end */
    assert_int_equal(r->status, NS_OK);
    assert_int_equal(r->table.rows, 1);
    assert_true(r->table.t[0] == 10);
    assert_int_equal(r->events.rows, 3);
    ns_record_free(r);

    o.every = 0.1; /* 10 is the hundredth multiple but for round-off */
    r = run(m, &o);
    assert_int_equal(r->table.rows, 101);
    assert_true(r->table.t[0] == 0 && r->table.t[100] == 10);
    const int64_t x = ns_model_observable(m, "x");
    assert_true(x >= 0);
    for (size_t i = 0; i < 101; i++)
        assert_true(fabs(ns_table_column(&r->table, (uint32_t)x)[i] - cos(r->table.t[i])) <
                    2e-14);
    ns_record_free(r);

    o.every = 3;
    r = run(m, &o);
    assert_int_equal(r->table.rows, 4);
    assert_true(r->table.t[3] == 9);
    assert_true(fabs(r->last[x] - cos(10)) < 2e-14);
    ns_record_free(r);

    o.every = 0;
    o.at = (const double[]){12, 0, 3, 12};
    o.n_at = 4;
    r = run(m, &o); /* runs on to the last of them */
    assert_int_equal(r->table.rows, 3);
    assert_true(r->table.t[0] == 0 && r->table.t[1] == 3 && r->table.t[2] == 12);
    ns_record_free(r);
    o.until_fixed = true;
    r = run(m, &o);
    assert_int_equal(r->status, NS_ERR_USAGE);
    assert_non_null(strstr(r->message, "12"));
    ns_record_free(r);

    o.at = (const double[]){-1, -2};
    o.n_at = 2;
    o.run.until = -2;
    r = run(m, &o); /* backwards */
    assert_int_equal(r->status, NS_OK);
    assert_true(r->table.t[0] == -1 && r->table.t[1] == -2);
    assert_true(fabs(ns_table_column(&r->table, (uint32_t)x)[1] - cos(2)) < 1e-14);
    ns_record_free(r);
    ns_model_free(m);
}

/* Files written in many small pieces and without keeping the rows are the same as at once. */
static void streaming(void **state)
{
    (void)state;
    ns_model *m = load(oscillator);
    ns_record_options o = ns_record_defaults(m);
    o.run.until = 200;
    o.every = 0.01;
    o.formats = ns_output_formats;
    o.outputs = (const char *const[]){"one.csv", "one.h5"};
    o.n_outputs = 2;
    o.keep = true;
    ns_record *r = run(m, &o);
    assert_int_equal(r->status, NS_OK);
    assert_int_equal(r->table.rows, 20001);
    ns_record_free(r);
    o.formats = ns_output_formats;
    o.outputs = (const char *const[]){"two.csv", "two.h5"};
    o.keep = false;
    o.flush_seconds = 1e-9;
    r = run(m, &o);
    assert_int_equal(r->status, NS_OK);
    assert_int_equal(r->table.rows, 0);
    assert_int_equal(ns_record_rows(r), 20001);
    ns_record_free(r);
    ns_model_free(m);
    size_t n1, n2;
    char *one = slurp("one.csv", &n1), *two = slurp("two.csv", &n2);
    assert_int_equal(n1, n2);
    assert_memory_equal(one, two, n1);
    free(one);
    free(two);
    assert_int_equal(system(NS_PYTHON " -c 'import h5py\n"
                                      "a, b = h5py.File(\"one.h5\"), h5py.File(\"two.h5\")\n"
                                      "assert len(a[\"t\"]) == 20001\n"
                                      "for f in (\"t\", \"values/x\", \"events/t\"):\n"
                                      "    assert (a[f][:] == b[f][:]).all(), f\n"
                                      "'"),
                     0);
}

static volatile int stop;

static void stop_late(void *context, const ns_progress *p)
{
    (void)context;
    stop = p->fraction > 0.3;
}

/* Interrupted, saved and continued: the same bits as undisturbed. */
static void checkpoints(void **state)
{
    (void)state;
    ns_model *m = load(oscillator);
    ns_record_options o = ns_record_defaults(m);
    o.run.until = 3000;
    o.every = 0.5;
    o.formats = ns_output_formats;
    o.outputs = (const char *const[]){"whole.csv"};
    o.n_outputs = 1;
    ns_record *r = run(m, &o);
    assert_int_equal(r->status, NS_OK);
    const uint64_t steps = r->outcome->steps;
    const size_t events = r->events.rows;
    ns_record_free(r);

    o.formats = ns_output_formats;

    o.outputs = (const char *const[]){"part.csv"};
    o.checkpoint = "part.ckpt";
    o.run.max_steps = steps / 3;
    r = run(m, &o);
    assert_int_equal(r->status, NS_STOP_LIMIT);
    ns_record_free(r);
    o.run.max_steps = 0;
    o.resume = "part.ckpt";
    r = run(m, &o);
    assert_int_equal(r->status, NS_OK);
    assert_int_equal(r->outcome->steps, steps);
    assert_int_equal(r->events.rows, events);
    ns_record_free(r);
    size_t n1, n2;
    char *one = slurp("whole.csv", &n1), *two = slurp("part.csv", &n2);
    assert_int_equal(n1, n2);
    assert_memory_equal(one, two, n1);
    free(one);
    free(two);

    /* Anything else is refused. */
    o.every = 0.25;
    r = run(m, &o);
    assert_int_equal(r->status, NS_ERR_USAGE);
    assert_non_null(strstr(r->message, "output"));
    ns_record_free(r);
    o.every = 0.5;
    o.run.tolerance = 1e-9;
    r = run(m, &o);
    assert_int_equal(r->status, NS_ERR_USAGE);
    assert_non_null(strstr(r->message, "tolerance"));
    ns_record_free(r);
    o.run.tolerance = 0;

    /* Every damage is noticed. */
    size_t n;
    char *bytes = slurp("part.ckpt", &n);
    o.checkpoint = o.resume = NULL;
    for (size_t i = 0; i < n; i += 1 + n / 200) {
        r = ns_record_new(m, &o);
        bytes[i] = (char)(bytes[i] ^ 4);
        ns_checkpoint_parse(r, "x", bytes, n);
        assert_int_equal(r->status, NS_ERR_USAGE);
        bytes[i] = (char)(bytes[i] ^ 4);
        ns_record_free(r);
        r = ns_record_new(m, &o);
        ns_checkpoint_parse(r, "x", bytes, i);
        assert_int_equal(r->status, NS_ERR_USAGE);
        ns_record_free(r);
    }
    free(bytes);
    ns_model_free(m);
}

static void interruption(void **state)
{
    (void)state;
    ns_model *m = load(oscillator);
    ns_record_options o = ns_record_defaults(m);
    o.run.until = 1e7;
    o.every = 1e4;
    o.formats = ns_output_formats;
    o.outputs = (const char *const[]){"stopped.json"};
    o.n_outputs = 1;
    o.run.interrupt = &stop;
    o.progress = stop_late;
    o.run.max_steps = 100000; /* in case it does not work */
    stop = 1;
    ns_record *r = run(m, &o);
    assert_int_equal(r->status, NS_STOP_INTERRUPT);
    assert_int_equal(r->table.rows, 1); /* the start */
    ns_record_free(r);
    assert_int_equal(access("stopped.json", R_OK), 0);
    ns_model_free(m);
}

/* Whatever allocation fails: a status and words, no crash, no leak. */
static void out_of_memory(void **state)
{
    (void)state;
    unsigned failures = 0;
    for (unsigned long n = 1; n < 100; n++) {
        fail_at = n;
        ns_model *m = ns_model_load_text("t", oscillator, strlen(oscillator), NULL, 0,
                                         NS_MODEL_READY);
        assert_non_null(m);
        ns_status status = m->status;
        if (status == NS_OK) {
            ns_record_options o = ns_record_defaults(m);
            o.run.method = n % 2 ? "gauss" : "dop853";
            ns_record *r = run(m, &o);
            status = r->status;
            assert_true(status == NS_OK || strstr(r->message, "memory"));
            ns_record_free(r);
        } else {
            assert_non_null(strstr(m->messages, "memory"));
        }
        ns_model_free(m);
        const bool reached = fail_at == 0;
        fail_at = 0;
        if (!reached) {
            assert_int_equal(status, NS_OK);
            break;
        }
        assert_int_equal(status, NS_ERR_MEMORY);
        failures++;
    }
    assert_in_range(failures, 1, 98);
}

/* A limit on the size of files stands for a full disk. */
static void full_disk(void **state)
{
    (void)state;
    ns_model *m = load(oscillator);
    ns_record_options o = ns_record_defaults(m);
    o.run.until = 1000;
    o.every = 0.01;
    o.flush_seconds = 1e-9;
    o.n_outputs = 1;
    const char *const names[] = {"full.csv", "full.h5", "full.json"};
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (int i = 0; i < 3; i++) {
        struct rlimit small = {.rlim_cur = 2000000, .rlim_max = old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        o.formats = ns_output_formats;
        o.outputs = &names[i];
        ns_record *r = run(m, &o);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(r->status, NS_ERR_IO);
        assert_non_null(strstr(r->message, names[i]));
        ns_record_free(r);
    }
    ns_model_free(m);
    assert_int_equal(
        system(NS_PYTHON
               " -c 'import h5py, json, math, csv\n"
               "h = h5py.File(\"full.h5\")\n"
               "n = len(h[\"t\"])\n"
               "assert n > 100 and len(h[\"values/x\"]) == n, n\n"
               "assert all(abs(x - math.cos(t)) < 1e-11 for t, x in\n"
               "           zip(h[\"t\"][:], h[\"values/x\"][:]))\n"
               "assert h.attrs[\"status\"] == \"stopped\"\n"
               "j = json.load(open(\"full.json\"))\n"
               "assert len(j[\"t\"]) > 100 and j[\"status\"] == \"stopped\"\n"
               "rows = [r for r in csv.reader(open(\"full.csv\")) if r[0][0] != \"#\"]\n"
               "assert len(rows) > 1000 and all(len(r) == len(rows[0]) for r in rows)\n"
               "assert abs(float(rows[-1][1]) - math.cos(float(rows[-1][0]))) < 1e-11\n"
               "assert open(\"full.csv\").read()[-1] == \"\\n\"\n"
               "'"),
        0);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),       cmocka_unit_test(replacing),
        cmocka_unit_test(tables),        cmocka_unit_test(numbers),
        cmocka_unit_test(models),        cmocka_unit_test(output_times),
        cmocka_unit_test(streaming),     cmocka_unit_test(checkpoints),
        cmocka_unit_test(interruption),  cmocka_unit_test(full_disk),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
