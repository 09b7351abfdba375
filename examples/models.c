/* Models: opened, asked, changed; their equations as functions and as text.  With motions.c and
 * studies.c this shows every function of the library once.
 *     cc models.c $(pkg-config --cflags --libs noslip) -lm -o models */
#include <math.h>
#include <noslip/noslip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pendulum[] = "param l = 2 m, m = 1 kg, half = m/2\n"
                               "coordinate phi in rad\n"
                               "lagrangian m/2*l^2*phi'^2 + m*9.81*l*cos(phi)\n"
                               "event low: phi falling\n"
                               "start { phi = 0.5; phi' = 0 }\n"
                               "run { until 10 }\n";

/* An example that does not hold ends the program. */
static void expect(int holds, const char *what)
{
    if (!holds) {
        printf("%s does not hold\n", what);
        exit(1);
    }
}
#define EXPECT(what) expect(what, #what)

static void lists(void)
{
    const char *summary;
    printf("noslip %s: %s", ns_version(), ns_list("methods", 0, &summary));
    printf(" (%s)\n", summary);
    EXPECT(strstr(ns_gallery_text("rattleback"), "body") != NULL);
}

static void opening(void)
{
    const char *const name[] = {"m"}, *const expression[] = {"300 g"};
    ns_model *text = ns_model_open_text("pendulum", pendulum, name, expression, 1);
    ns_model *bundled = ns_model_open_gallery("rattleback", NULL, NULL, 0);
    ns_model *found = ns_model_find("chaplygin-sleigh", NULL, NULL, 0);
    ns_model *file = ns_model_open("no-such-file.mech", NULL, NULL, 0);
    EXPECT(ns_model_verdict(text) == NS_DONE && ns_model_number(text, NS_PARAMETERS, 1) == 0.3);
    EXPECT(ns_model_verdict(file) == NS_WRONG &&
           strstr(ns_model_messages(file), "no-such-file"));
    printf("%s: '%s' by %s\n", ns_model_source(found), ns_model_title(found),
           ns_model_formulation(found));
    EXPECT(strcmp(ns_model_text(bundled), ns_gallery_text("rattleback")) == 0);
    ns_model_close(text);
    ns_model_close(bundled);
    ns_model_close(found);
    ns_model_close(file);
}

static void messages(void)
{
    ns_model *wrong = ns_model_open_text("wrong", "state x' = sinn(x)\n", NULL, NULL, 0);
    const char *severity, *file, *hint;
    unsigned line, column, length;
    EXPECT(ns_model_message_count(wrong) == 1);
    printf("%s", ns_model_message(wrong, 0, &severity, &file, &line, &column, &length, &hint));
    printf(" (%s in %s, line %u, column %u, %u bytes; %s)\n", severity, file, line, column,
           length, hint);
    ns_model_close(wrong);
}

static void contents(ns_model *m)
{
    double start[2];
    size_t at[4];
    char vector[20];
    EXPECT(ns_model_count(m, NS_STATES) == 2 && ns_model_numbers(m, NS_STATES, start, 2) == 2);
    const long phi = ns_model_index(m, NS_STATES, "phi");
    printf("%s starts at %g %s and is a %s\n", ns_model_name(m, NS_STATES, (size_t)phi),
           start[phi], ns_model_unit(m, NS_STATES, (size_t)phi),
           ns_model_quantity(m, NS_STATES, (size_t)phi));
    EXPECT(strcmp(ns_model_role(m, NS_PARAMETERS, 2), "derived") == 0);
    EXPECT(ns_model_setting(m, "until") == 10);
    ns_model *body = ns_model_open_gallery("rattleback", NULL, NULL, 0);
    EXPECT(ns_model_vector(body, NS_VALUES, "omega", at, 4) == 3);
    EXPECT(ns_model_vector_of(body, NS_VALUES, at[0], vector, sizeof vector) == 5);
    ns_model_close(body);
}

static void variants(ns_model *m)
{
    const char *const name[] = {"m", "phi"}, *const value[] = {"2 kg", "60 deg"};
    ns_model *other = ns_model_variant(m, name, value, 2);
    ns_model *again = ns_model_variant_numbers(other, name, (const double[]){4}, 1);
    EXPECT(fabs(ns_model_number(other, NS_STATES, 0) - acos(0.5)) < 1e-15);
    EXPECT(ns_model_number(again, NS_PARAMETERS, 2) == 2); /* half of m */
    ns_model *derivatives = ns_model_sensitivities(m, "l");
    EXPECT(ns_model_index(derivatives, NS_VALUES, "phi by l") >= 0);
    ns_model_close(derivatives);
    ns_model_close(again);
    ns_model_close(other);
}

static void calculators(ns_model *m)
{
    const double x[2][2] = {{0.5, 0}, {0.25, 1}};
    double out[2][2][2];
    ns_calculator *jacobian = ns_calculator_new(m, "jacobian");
    EXPECT(ns_calculator_verdict(jacobian) == NS_DONE);
    EXPECT(ns_calculator_rows(jacobian) == 2 && ns_calculator_columns(jacobian) == 2);
    EXPECT(ns_calculator_threads(jacobian, 1) == NS_DONE); /* however many points */
    EXPECT(ns_calculator_eval(jacobian, 2, NULL, 0, &x[0][0], NULL, 0, &out[0][0][0]) ==
           NS_DONE);
    EXPECT(out[0][0][1] == 1); /* d(phi')/d(phi') */
    EXPECT(fabs(out[1][1][0] + 9.81 / 2 * cos(0.25)) < 1e-14);
    ns_calculator_close(jacobian);
    char *latex = ns_model_equations(m, "latex");
    EXPECT(strstr(latex, "\\sin") != NULL);
    ns_free(latex);
}

int main(void)
{
    ns_model *m = ns_model_open_text("pendulum", pendulum, NULL, NULL, 0);
    lists();
    opening();
    messages();
    contents(m);
    variants(m);
    calculators(m);
    ns_model_close(m);
    puts("all examples hold");
    return 0;
}
