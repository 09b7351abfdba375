#include "out/tables/sheet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/process/apart.h"
#include "out/tables/csv.h"
#include "out/tables/h5.h"

ns_sheet *ns_sheet_new(ns_arena *arena, const char *study, const char *model)
{
    ns_sheet *sheet = NS_NEW(arena, ns_sheet);
    sheet->arena = arena;
    sheet->study = study;
    sheet->model = model;
    return sheet;
}

void ns_sheet_number(ns_sheet *sheet, const char *name, double value)
{
    NS_PUSH(sheet->arena, sheet->facts, (ns_sheet_fact){.name = name, .number = value});
}

void ns_sheet_text(ns_sheet *sheet, const char *name, const char *text)
{
    NS_PUSH(sheet->arena, sheet->facts, (ns_sheet_fact){.name = name, .text = text});
}

ns_sheet_table *ns_sheet_add(ns_sheet *sheet, const char *name, size_t rows)
{
    ns_sheet_table *table = NS_NEW(sheet->arena, ns_sheet_table);
    table->name = name;
    table->rows = rows;
    NS_PUSH(sheet->arena, sheet->tables, table);
    return table;
}

void ns_sheet_column_add(ns_sheet *sheet, ns_sheet_table *table, const char *name,
                         const char *unit, const double *values)
{
    NS_PUSH(sheet->arena, table->columns,
            (ns_sheet_column){.name = name, .unit = unit, .number = values});
}

void ns_sheet_words_add(ns_sheet *sheet, ns_sheet_table *table, const char *name,
                        const char *const *words)
{
    NS_PUSH(sheet->arena, table->columns,
            (ns_sheet_column){.name = name, .unit = "", .text = words});
}

double *ns_sheet_numbers(ns_sheet *sheet, ns_sheet_table *table, const char *name,
                         const char *unit)
{
    double *values = NS_NEW_ARRAY(sheet->arena, double, table->rows + 1);
    ns_sheet_column_add(sheet, table, name, unit, values);
    return values;
}

const char **ns_sheet_words(ns_sheet *sheet, ns_sheet_table *table, const char *name)
{
    const char **words = NS_NEW_ARRAY(sheet->arena, const char *, table->rows + 1);
    ns_sheet_words_add(sheet, table, name, words);
    return words;
}

/* ---- JSON -------------------------------------------------------------------------------- */

void ns_sheet_json(const ns_sheet *sheet, ns_json *j)
{
    ns_json_object(j, NULL);
    ns_json_text(j, "study", sheet->study);
    ns_json_text(j, "model", sheet->model ? sheet->model : "");
    for (uint32_t i = 0; i < sheet->facts.n; i++) {
        const ns_sheet_fact *f = &sheet->facts.at[i];
        if (f->text)
            ns_json_text(j, f->name, f->text);
        else
            ns_json_number(j, f->name, f->number);
    }
    ns_json_object(j, "tables");
    for (uint32_t i = 0; i < sheet->tables.n; i++) {
        const ns_sheet_table *table = sheet->tables.at[i];
        ns_json_object(j, table->name);
        for (uint32_t k = 0; k < table->columns.n; k++) {
            const ns_sheet_column *c = &table->columns.at[k];
            if (c->text)
                ns_json_texts(j, c->name, c->text, table->rows);
            else
                ns_json_numbers(j, c->name, c->number, table->rows);
        }
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_end(j);
}

/* ---- CSV --------------------------------------------------------------------------------- */

static void put_csv(const ns_sheet *sheet, FILE *to)
{
    if (!sheet->tables.n)
        return;
    const ns_sheet_table *table = sheet->tables.at[0];
    for (uint32_t i = 0; i < table->columns.n; i++) {
        fputs(i ? "," : "", to);
        ns_csv_field(to, table->columns.at[i].name);
    }
    fprintf(to, "\n# %s of %s\n", sheet->study, sheet->model);
    for (uint32_t i = 0; i < sheet->facts.n; i++) {
        const ns_sheet_fact *f = &sheet->facts.at[i];
        fprintf(to, "# %s = ", f->name);
        if (f->text)
            fputs(f->text, to);
        else
            ns_csv_number(to, f->number);
        fputc('\n', to);
    }
    for (size_t k = 0; k < table->rows; k++) {
        for (uint32_t i = 0; i < table->columns.n; i++) {
            const ns_sheet_column *c = &table->columns.at[i];
            fputs(i ? "," : "", to);
            if (c->text)
                ns_csv_field(to, c->text[k]);
            else
                ns_csv_number(to, c->number[k]);
        }
        fputc('\n', to);
    }
}

/* ---- HDF5: facts are attributes, a table is a group of datasets -------------------------- */

#if NS_HDF5

static bool put_dataset(hid_t at, const ns_sheet_column *c, size_t rows)
{
    const hsize_t size = rows;
    hid_t words = ns_h5_text_type();
    hid_t type = c->text ? words : H5T_NATIVE_DOUBLE;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(at, c->name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const void *values = c->text ? (const void *)c->text : (const void *)c->number;
    bool good = set >= 0 &&
                (!rows || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (set >= 0) {
        good = good && ns_h5_put_text(set, "unit", c->unit ? c->unit : "");
        H5Dclose(set);
    }
    H5Sclose(space);
    H5Tclose(words);
    return good;
}

static bool fill(const ns_sheet *sheet, hid_t file)
{
    bool good = ns_h5_put_text(file, "study", sheet->study) &&
                ns_h5_put_text(file, "model", sheet->model);
    for (uint32_t i = 0; i < sheet->facts.n && good; i++) {
        const ns_sheet_fact *f = &sheet->facts.at[i];
        good = f->text ? ns_h5_put_text(file, f->name, f->text)
                       : ns_h5_put_double(file, f->name, f->number);
    }
    for (uint32_t i = 0; i < sheet->tables.n && good; i++) {
        const ns_sheet_table *t = sheet->tables.at[i];
        hid_t group = ns_h5_group(file, t->name);
        good = group >= 0;
        for (uint32_t k = 0; k < t->columns.n && good; k++)
            good = put_dataset(group, &t->columns.at[k], t->rows);
        if (group >= 0)
            H5Gclose(group);
    }
    return good;
}

typedef struct writing {
    const ns_sheet *sheet;
    const char *name;
} writing;

static bool make_hdf5(void *context, int to)
{
    const writing *w = context;
    (void)to;
    ns_h5_be_quiet();
    hid_t file = H5Fcreate(w->name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = file >= 0 && fill(w->sheet, file);
    return file >= 0 && H5Fclose(file) >= 0 && good;
}

static int write_hdf5(const ns_sheet *sheet, const char *path)
{
    static const double silence = 600;
    ns_file_target target;
    int descriptor, error = ns_file_target_init(&target, path);
    if (error)
        return error;
    error = ns_file_target_create(&target, &descriptor);
    if (!error) {
        close(descriptor);
        writing w = {sheet, target.temporary ? target.temporary : target.path};
        ns_apart said;
        const bool good = ns_apart_do(make_hdf5, &w, silence, &said);
        free(said.bytes);
        error = good ? ns_file_target_publish(&target) : said.memory ? ENOMEM : EIO;
    }
    ns_file_target_free(&target);
    return error;
}

#else

static int write_hdf5(const ns_sheet *sheet, const char *path)
{
    (void)sheet, (void)path;
    return ENOTSUP; /* ns_output_find says it in words */
}

#endif

static bool ends_with(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot + 1, ending) == 0;
}

bool ns_sheet_knows(const char *path)
{
    return ends_with(path, "csv") || ends_with(path, "json") || ends_with(path, "h5") ||
           ends_with(path, "hdf5");
}

int ns_sheet_write(const ns_sheet *sheet, const char *path)
{
    if (ends_with(path, "h5") || ends_with(path, "hdf5"))
        return write_hdf5(sheet, path);
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return ENOMEM;
    ns_json json = ns_json_to(to);
    if (ends_with(path, "json"))
        ns_sheet_json(sheet, &json);
    else
        put_csv(sheet, to);
    const bool whole = !ferror(to);
    const int error = fclose(to) || !whole ? ENOMEM : ns_file_write(path, text, length);
    free(text);
    return error;
}
