/* out/plot: what the SVG says is read back and compared with the data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/plot/plot.h"
#include "out/plot/plot_axis.h"
#include "support/xml.h"

static ns_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = ns_arena_new();
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    ns_arena_free(arena);
    return 0;
}

static const char *svg(const ns_plot *plot)
{
    ns_text text = ns_text_new(arena);
    ns_plot_svg(plot, &text);
    char why[200];
    if (!xml_well_formed(text.at, why))
        fail_msg("%s", why);
    return text.at;
}

/* The data of the n-th path. */
static const char *path(const char *text, int n)
{
    for (; n >= 0; n--) {
        text = strstr(text, "<path");
        assert_non_null(text);
        text = strstr(text, " d=\"") + 4;
    }
    return text;
}

typedef struct walk {
    size_t n, moves, dots;
    double x[8000], y[8000], low, high;
} walk;

static void follow(const char *d, walk *w)
{
    *w = (walk){.low = INFINITY, .high = -INFINITY};
    while (*d && *d != '"') {
        if (*d == 'h') {
            w->dots++;
            d += 2;
            continue;
        }
        assert_true(*d == 'M' || *d == 'L');
        w->moves += *d == 'M';
        char *end;
        assert_true(w->n < 8000);
        w->x[w->n] = strtod(d + 1, &end);
        w->y[w->n] = strtod(end, &end);
        w->low = fmin(w->low, w->y[w->n]);
        w->high = fmax(w->high, w->y[w->n]);
        w->n++;
        d = end;
    }
}

/* The frame: the rectangle of the first clip path. */
static void frame(const char *text, double f[4])
{
    const char *at = strstr(text, "<clipPath");
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "<rect"),
                            "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &f[0],
                            &f[1], &f[2], &f[3]),
                     4);
}

static void test_line(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 4}, y[] = {-1, 3, 0, 1};
    ns_plot *plot = ns_plot_new(arena, "a line");
    ns_plot_panel *panel = ns_plot_add(plot, "", "time", "s", "height", "m");
    ns_plot_line(panel, "height", 4, x, y);
    panel->y.from = -2;
    panel->y.to = 4;
    const char *text = svg(plot);
    double f[4];
    walk w;
    frame(text, f);
    follow(path(text, 0), &w);
    assert_int_equal(w.n, 4);
    assert_int_equal(w.moves, 1);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(w.x[i] - (f[0] + f[2] * x[i] / 4)) < 0.011);
        assert_true(fabs(w.y[i] - (f[1] + f[3] * (4 - y[i]) / 6)) < 0.011);
    }
    assert_non_null(strstr(text, ">time (s)<"));
    assert_non_null(strstr(text, ">height (m)<"));
    assert_non_null(strstr(text, ">a line<"));
    assert_string_equal(text, svg(plot)); /* the same plot, the same bytes */
}

static void test_gaps(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 3, 4, 5, 6}, y[] = {1, 2, NAN, 5, 0, 3, INFINITY};
    ns_plot *plot = ns_plot_new(arena, "");
    ns_plot_panel *panel = ns_plot_add(plot, "", "x", "", "y", "");
    ns_plot_line(panel, "y", 7, x, y);
    walk w;
    follow(path(svg(plot), 0), &w);
    assert_int_equal(w.n, 5);
    assert_int_equal(w.moves, 2);
    assert_int_equal(w.dots, 0);
    panel->y.log = true; /* the zero is left out too: 5 and 3 stand alone */
    follow(path(svg(plot), 0), &w);
    assert_int_equal(w.n, 4);
    assert_int_equal(w.moves, 3);
    assert_int_equal(w.dots, 2);
}

/* A million noisy points give a small file that still shows the two highest peaks. */
static void test_many_points(void **state)
{
    (void)state;
    enum { N = 1000000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    uint64_t seed = 5;
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = i;
        y[i] = (double)(seed >> 40) / (1 << 24);
    }
    y[333333] = 5;
    y[777777] = -4;
    ns_plot *plot = ns_plot_new(arena, "noise");
    ns_plot_panel *panel = ns_plot_add(plot, "", "x", "", "y", "");
    panel->y.from = -4;
    panel->y.to = 5;
    ns_plot_line(panel, "y", N, x, y);
    const char *text = svg(plot);
    assert_true(strlen(text) < 250000);
    double f[4];
    walk *w = malloc(sizeof *w);
    assert_non_null(w);
    frame(text, f);
    const char *d = path(text, 0);
    double low = INFINITY, high = -INFINITY;
    for (; *d && *d != '"'; d++)
        if (*d == 'M' || *d == 'L') {
            char *end;
            strtod(d + 1, &end);
            double at = strtod(end, NULL);
            low = fmin(low, at);
            high = fmax(high, at);
        }
    assert_true(fabs(low - f[1]) < 0.011);
    assert_true(fabs(high - (f[1] + f[3])) < 0.011);
    /* as points: no more than there are places */
    panel->series.at[0]->line = false;
    panel->series.at[0]->marker = NS_PLOT_DOT;
    ns_text points = ns_text_new(arena);
    ns_plot_svg(plot, &points);
    size_t dots = 0;
    for (const char *at = points.at; (at = strstr(at, "h0")); at++)
        dots++;
    assert_true(dots > 1000 && (double)dots <= (2 * f[2] + 3) * (2 * f[3] + 3));
    free(w);
    free(x);
    free(y);
}

static void expect_ticks(double from, double to, bool log, int most, const char *factor,
                         const char *words)
{
    ns_scale scale = {.log = log, .from = from, .to = to, .lo = 0, .hi = 1};
    ns_ticks ticks;
    char got[1000] = "";
    ns_scale_ticks(&scale, most, &ticks);
    for (int i = 0; i < ticks.n; i++) {
        strcat(got, i ? " " : "");
        strcat(got, ticks.text[i]);
    }
    assert_string_equal(got, words);
    assert_string_equal(ticks.factor, factor);
}

static void test_ticks(void **state)
{
    (void)state;
    expect_ticks(0, 10, false, 6, "", "0 2 4 6 8 10");
    expect_ticks(-0.3, 0.32, false, 4, "", "−0.2 0.0 0.2");
    expect_ticks(0.00001, 0.00004, false, 4, "×10⁻⁵", "1 2 3 4");
    expect_ticks(-2e7, 2e7, false, 5, "×10⁷", "−2 −1 0 1 2");
    expect_ticks(9.81, 9.8100003, false, 4, "×10⁻⁷ + 9.81", "0 1 2 3");
    expect_ticks(1e-16, 1e-2, true, 8, "", "10⁻¹⁶ 10⁻¹⁴ 10⁻¹² 10⁻¹⁰ 10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻²");
    expect_ticks(0.5, 200, true, 8, "", "1 10¹ 10²");
    expect_ticks(2, 9, true, 8, "", "2 5");
    /* whatever the range, ticks lie in it and increase */
    for (int k = 0; k < 2000; k++) {
        ns_scale scale = {.log = k % 2, .lo = 0, .hi = 1};
        double lo = (k % 7 ? 1 : -1) * pow(10, (k * 37) % 600 - 300),
               hi = lo + fabs(lo) * pow(10, (k * 13) % 20 - 8);
        if (scale.log)
            lo = fabs(lo), hi = lo * (1 + pow(10, (k * 13) % 20 - 8));
        ns_ticks ticks;
        ns_scale_fit(&scale, lo, hi, 0.05);
        assert_true(scale.from < scale.to);
        ns_scale_ticks(&scale, 3 + k % 8, &ticks);
        for (int i = 0; i < ticks.n; i++) {
            double at = ns_scale_map(&scale, ticks.at[i]);
            assert_true(at > -1e-6 && at < 1 + 1e-6);
            if (i) {
                assert_true(ticks.at[i] > ticks.at[i - 1]);
                if (strcmp(ticks.text[i], ticks.text[i - 1]) == 0)
                    fail_msg("twice %s from %g to %g", ticks.text[i], scale.from, scale.to);
            }
        }
    }
}

static void test_equal(void **state)
{
    (void)state;
    double x[200], y[200];
    for (int i = 0; i < 200; i++) {
        x[i] = 3 + cos(i * 0.0317);
        y[i] = sin(i * 0.0317);
    }
    ns_plot *plot = ns_plot_new(arena, "circle");
    ns_plot_panel *panel = ns_plot_add(plot, "", "x", "m", "y", "m");
    panel->equal = true;
    panel->height = 200;
    ns_plot_line(panel, "path", 200, x, y);
    walk w;
    follow(path(svg(plot), 1), &w); /* path 0 is the legend's */
    double left = INFINITY, right = -INFINITY;
    for (size_t i = 0; i < w.n; i++) {
        left = fmin(left, w.x[i]);
        right = fmax(right, w.x[i]);
    }
    assert_true(fabs((right - left) / (w.high - w.low) - 1) < 0.005);
}

/* Every cell is painted once, in the colour of its value. */
static void test_field(void **state)
{
    (void)state;
    enum { NX = 7, NY = 5 };
    double value[NX * NY];
    for (int i = 0; i < NX * NY; i++)
        value[i] = i / (NX * NY - 1.0);
    value[12] = NAN;
    ns_plot *plot = ns_plot_new(arena, "field");
    ns_plot_panel *panel = ns_plot_add(plot, "", "a", "", "b", "");
    ns_plot_field *field = ns_plot_map(panel, NX, NY, value, (double[]){1, 8},
                                       (double[]){0, 5});
    field->label = "growth";
    field->unit = "1/s";
    const char *text = svg(plot), *at = strstr(text, "crispEdges\">");
    assert_non_null(at);
    int painted[NX * NY] = {0}, grey = 0;
    char colour[8] = "";
    for (; strncmp(at, "</g>", 4) != 0; at++) {
        if (strncmp(at, "fill=\"", 6) == 0)
            snprintf(colour, 8, "%s", at + 6);
        int column, row, width;
        if (*at == 'M' && sscanf(at, "M%d %dh%dv1", &column, &row, &width) == 3)
            for (int i = 0; i < width; i++) {
                painted[row * NX + column + i]++;
                if (strcmp(colour, "#dddddd") == 0) {
                    assert_int_equal(row * NX + column + i, 12);
                    grey++;
                }
            }
    }
    for (int i = 0; i < NX * NY; i++)
        assert_int_equal(painted[i], 1);
    assert_int_equal(grey, 1);
    assert_non_null(strstr(text, ">growth (1/s)<"));
    /* cells with words: their own colour, a legend of those that occur, no part in the range */
    uint8_t word[NX * NY] = {0};
    word[12] = 1;
    word[13] = 3;
    value[13] = 1e9;
    field->word = word;
    field->words = (const char *const[]){"never", "unused", "fell"};
    field->n_words = 3;
    text = svg(plot);
    assert_non_null(strstr(text, ">never<"));
    assert_non_null(strstr(text, ">fell<"));
    assert_null(strstr(text, ">unused<"));
    assert_non_null(strstr(text, "<path fill=\"#e4e4e4\" d=\"M5 1h1v1h-1z\"/>"));
    assert_non_null(strstr(text, "<path fill=\"#222222\" d=\"M6 1h1v1h-1z\"/>"));
    assert_non_null(strstr(text, ">0.8<"));
    field->diverging = true;
    field->log = false;
    svg(plot);
}

static void test_hostile(void **state)
{
    (void)state;
    static const char *const names[] = {"</text><script>alert(1)</script>",
                                        "a & b",
                                        "\"quoted\" 'single'",
                                        "\x01\x02\x1f\x7f",
                                        "\xff\xfe bad \xc3",
                                        "\xed\xa0\x80 surrogate",
                                        "ünïcode µ",
                                        "]]>",
                                        "<!--"};
    const double x[] = {0, 1}, y[] = {1e308, -1e308};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ns_plot *plot = ns_plot_new(arena, names[i]);
        plot->subtitle = names[i];
        ns_plot_panel *panel = ns_plot_add(plot, names[i], names[i], names[i], names[i],
                                           names[i]);
        ns_plot_line(panel, names[i], 2, x, y)->paint = names[i];
        ns_plot_points(panel, "other", 2, x, x);
        ns_plot_at(panel, names[i], 0.5);
        ns_plot_shade(panel, 0.2, INFINITY);
        assert_null(strstr(svg(plot), "<script"));
    }
    /* nothing to show, or nothing that can be shown */
    ns_plot *plot = ns_plot_new(arena, NULL);
    svg(plot);
    ns_plot_panel *panel = ns_plot_add(plot, NULL, NULL, NULL, NULL, NULL);
    svg(plot);
    const double bad[] = {NAN, INFINITY};
    ns_plot_line(panel, NULL, 2, bad, bad);
    ns_plot_points(panel, NULL, 0, NULL, NULL);
    panel->y.log = panel->x.log = true;
    svg(plot);
}

static void test_write(void **state)
{
    (void)state;
    const double x[] = {0, 1};
    ns_plot *plot = ns_plot_new(arena, "file");
    plot->columns = 2;
    for (int i = 0; i < 3; i++)
        ns_plot_line(ns_plot_add(plot, "", "x", "", "y", ""), "y", 2, x, x);
    assert_int_equal(ns_plot_write(plot, "/nonexistent-folder/plot.svg"), ENOENT);
    char name[] = "plot-test-XXXXXX";
    int descriptor = mkstemp(name);
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(ns_plot_write(plot, name), 0);
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    char begin[5] = "";
    assert_int_equal(fread(begin, 1, 4, file), 4);
    assert_string_equal(begin, "<svg");
    fclose(file);
    unlink(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_line, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gaps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_points, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ticks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_field, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
