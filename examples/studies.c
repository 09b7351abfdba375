/* Studies: the other commands of the program, with structured results.
 *     cc studies.c $(pkg-config --cflags --libs noslip) -o studies */
#include <noslip/noslip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int holds, const char *what)
{
    if (!holds) {
        printf("%s does not hold\n", what);
        exit(1);
    }
}
#define EXPECT(what) expect(what, #what)

/* At which speeds does a bicycle balance itself? */
static void branch(void)
{
    const char *const names[] = {"over", "set"}, *const values[] = {"v=4:6.5", "kick=0"};
    ns_model *bicycle = ns_model_open_gallery("bicycle", NULL, NULL, 0);
    ns_study *s = ns_study_run(bicycle, NULL, "equilibria", names, values, 2, NULL, NULL);
    EXPECT(ns_study_verdict(s) == NS_DONE);
    size_t rows, columns, n;
    const char *text, *unit, *const *texts;
    const double *numbers;
    double number;
    for (size_t i = 0; i < ns_study_fact_count(s); i++) {
        const char *name = ns_study_fact(s, i, &number, &text);
        printf("%s: %s", name, text ? text : "");
        text ? puts("") : printf("%g\n", number);
    }
    for (size_t k = 0; k < ns_study_table_count(s); k++) {
        printf("table %s", ns_study_table(s, k, &rows, &columns));
        printf(" has %zu rows, %zu columns, the first ", rows, columns);
        printf("%s", ns_study_column(s, k, 0, &unit, &numbers, &texts));
        printf(" in '%s' of %s\n", unit, numbers ? "numbers" : "texts");
    }
    EXPECT(ns_study_numbers(s, "branch", "v", &n) != NULL && n > 2);
    EXPECT(strstr(ns_study_summary(s), "icycle") && *ns_study_json(s) == '{');
    EXPECT(*ns_study_report(s) == '{'); /* the data of its page */
    EXPECT(ns_study_save(s, "branch.csv") == NS_DONE);
    EXPECT(ns_study_save(s, "branch.doc") == NS_WRONG && *ns_study_error(s));
    ns_study_close(s);
    ns_model_close(bicycle);
}

static void comparison(void)
{
    ns_model *a = ns_model_open_gallery("chaplygin-sleigh", NULL, NULL, 0);
    ns_study *s = ns_study_run(a, a, "compare", NULL, NULL, 0, NULL, NULL);
    EXPECT(ns_study_fact_number(s, "largest_difference") == 0);
    ns_study_close(s);
    const char *argument, *help;
    printf("an option of compare: %s", ns_study_option("compare", 0, &argument, &help));
    printf(" %s, %s\n", argument, help);
    s = ns_study_run(a, NULL, "compares", NULL, NULL, 0, NULL, NULL);
    EXPECT(ns_study_verdict(s) == NS_WRONG && *ns_study_messages(s));
    ns_study_close(s);
    ns_model_close(a);
}

/* A claim of the literature, run again. */
static void claim(void)
{
    ns_study *s = ns_study_run(NULL, NULL, "reproduce", (const char *const[]){""},
                               (const char *const[]){"b-measure"}, 1, NULL, NULL);
    printf("%g expectations, %g failed\n", ns_study_fact_number(s, "expectations"),
           ns_study_fact_number(s, "failed"));
    ns_study_close(s);
}

/* What a message about a model means: the word in [ ] at its end is a code. */
static void explanation(void)
{
    ns_study *s = ns_study_run(NULL, NULL, "explain", (const char *const[]){""},
                               (const char *const[]){"undefined-name"}, 1, NULL, NULL);
    EXPECT(ns_study_verdict(s) == NS_DONE);
    printf("%.60s...\n", ns_study_summary(s));
    ns_study_close(s);
}

int main(void)
{
    branch();
    comparison();
    claim();
    explanation();
    puts("all examples hold");
    return 0;
}
