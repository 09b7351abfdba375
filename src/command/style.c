#include "command/style.h"

#include <string.h>

const ns_style ns_style_none = {"", "", "", "", ""};

void ns_style_heading(FILE *file, const ns_style *style, const char *text)
{
    fprintf(file, "\n%s%s%s\n", style->bold, text, style->plain);
}

int ns_style_wider(int width, const char *name)
{
    const int length = (int)strlen(name);
    return length > width ? length : width;
}
