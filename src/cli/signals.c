#include "cli/signals.h"

#include <stddef.h>

/* The only writable global of the program: a handler has nothing else to write to. */
static volatile sig_atomic_t came;

volatile sig_atomic_t *ns_signals_flag(void)
{
    return &came;
}

static void note(int number)
{
    (void)number;
    came = 1;
}

void ns_signals_catch(bool leads)
{
    struct sigaction action = {.sa_handler = leads ? note : SIG_IGN,
                               .sa_flags = leads ? (int)SA_RESETHAND : 0};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction old;
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* not under nohup */
        sigaction(SIGHUP, &action, NULL);
}
