/* Status codes of the whole project, one list.
 *
 * Zero is success, positive means "stopped, as asked or for a physical reason; results up to
 * here are good", negative means failure.  The program's exit status follows from the code:
 * see ns_status_exit. */
#ifndef NS_BASE_STATUS_H
#define NS_BASE_STATUS_H

typedef enum ns_status {
    NS_OK = 0,
    /* stopped: everything computed so far is valid */
    NS_STOP_EVENT = 1,     /* an event of the formulation: the body fell over, lifted off */
    NS_STOP_SINGULAR = 2,  /* the equations became singular */
    NS_STOP_STEP = 3,      /* the step size fell below what the arithmetic resolves */
    NS_STOP_LIMIT = 4,     /* the limit on the number of steps was reached */
    NS_STOP_INTERRUPT = 5, /* the user asked to stop (signal) */
    NS_STOP_ASKED = 6, /* an event that the model declares with `stop`: runs are done then */
    /* failures */
    NS_ERR_MODEL = -1,  /* the model is wrong: diagnostics say where */
    NS_ERR_USAGE = -2,  /* the request is wrong: unknown method, name, option */
    NS_ERR_MEMORY = -3, /* out of memory */
    NS_ERR_IO = -4,     /* file or disk */
    NS_ERR_SYSTEM = -5  /* anything else the machine refused (compiler, threads) */
} ns_status;

/* A short phrase, "stopped by an event" for instance. */
const char *ns_status_text(ns_status status);

/* The program's exit status: 0 done, 1 ended early, 2 command or model wrong, 3 system
 * failed. */
int ns_status_exit(ns_status status);

#endif
