/* Signals that ask a command to stop. */
#ifndef NS_CLI_SIGNALS_H
#define NS_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Where it will not be zero once a signal came; others who want the command to stop may write to it, too. */
volatile sig_atomic_t *ns_signals_flag(void);

/* From now on the first signal is noted there and a second one has its usual effect.  A process that does not
 * lead leaves signals to the one that does. */
void ns_signals_catch(bool leads);

#endif
