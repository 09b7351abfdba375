/* Signals that ask a command to stop, and its limit of time. */
#ifndef NS_CLI_SIGNALS_H
#define NS_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Where it will not be zero once a signal came or time was up; others who want the command to
 * stop may write to it, too. */
volatile sig_atomic_t *ns_signals_flag(void);

/* From now on the first signal is noted there and a second one has its usual effect.  A process
 * that does not lead leaves signals to the one that does. */
void ns_signals_catch(bool leads);

/* While this is on, a command that has not come back a second after the flag was set is ended:
 * for studies, which write nothing before they are done.  Off: it has come back. */
void ns_signals_insist(bool on);

/* Sets the flag to NS_INTERRUPT_TIME after this many seconds. */
void ns_signals_limit(double seconds);

#endif
