#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_terminal(FILE *file)
{
    const char *term = getenv("TERM");
    return isatty(fileno(file)) && !(term && strcmp(term, "dumb") == 0);
}

ns_style ns_terminal_style(FILE *file)
{
    const char *no = getenv("NO_COLOR");
    if ((no && *no) || !is_terminal(file))
        return ns_style_none;
    return (ns_style){"\033[1m", "\033[2m", "\033[1;31m", "\033[1;33m", "\033[0m"};
}

static unsigned width_of(FILE *file)
{
    struct winsize size;
    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

ns_bar ns_terminal_bar(FILE *file)
{
    return (ns_bar){.file = file, .wanted = is_terminal(file)};
}

/* "3 s", "2 min 10 s", "4 h 3 min" */
static void put_duration(char buffer[32], double seconds)
{
    if (!(seconds < 1e8))
        snprintf(buffer, 32, "very long");
    else if (seconds < 60)
        snprintf(buffer, 32, "%.0f s", ceil(seconds));
    else if (seconds < 3600)
        snprintf(buffer, 32, "%.0f min %.0f s", floor(seconds / 60), fmod(seconds, 60));
    else
        snprintf(buffer, 32, "%.0f h %.0f min", floor(seconds / 3600), fmod(seconds / 60, 60));
}

void ns_terminal_bar_draw(ns_bar *bar, const ns_host_progress *p)
{
    if (!bar->wanted || p->seconds < 1 || !(p->fraction >= 0))
        return;
    const double fraction = p->fraction > 1 ? 1 : p->fraction;
    char left[32] = "?", text[120];
    if (fraction > 1e-6)
        put_duration(left, p->seconds * (1 - fraction) / fraction);
    int length = snprintf(text, sizeof text, "%3.0f %%  %s = %.4g of %.4g, %s left",
                          floor(100 * fraction), p->what, p->at, p->end, left);
    const int width = (int)width_of(bar->file) - length - 6;
    fputs("\r", bar->file);
    if (width >= 10) {
        const int room = width < 40 ? width : 40, full = (int)(fraction * room);
        fputc('[', bar->file);
        for (int i = 0; i < room; i++)
            fputc(i < full ? '#' : '.', bar->file);
        fputs("] ", bar->file);
    }
    fprintf(bar->file, "%s\033[K", text);
    fflush(bar->file);
    bar->shown = true;
}

void ns_terminal_bar_clear(ns_bar *bar)
{
    if (bar->shown) {
        fputs("\r\033[K", bar->file);
        fflush(bar->file);
    }
    bar->shown = false;
}
