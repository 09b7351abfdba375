#define _GNU_SOURCE
#include "cli/signals.h"

#include <math.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "ode/run.h"

/* The only writable globals of the program: a handler has nothing else to write to. */
static volatile sig_atomic_t came, insisting;

volatile sig_atomic_t *ns_signals_flag(void)
{
    return &came;
}

/* Seconds a study has to come back after a signal. */
enum { PATIENCE = 1 };

static void note(int number)
{
    (void)number;
    came = 1;
    if (insisting)
        alarm(PATIENCE);
}

static void end_time(int number)
{
    (void)number;
    if (!came) {
        came = NS_INTERRUPT_TIME;
        if (insisting)
            alarm(PATIENCE);
    } else if (insisting) {
        static const char text[] = "\nnoslip: interrupted\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(ns_status_exit(NS_STOP_INTERRUPT));
    }
}

static void handle_alarm(void)
{
    struct sigaction action = {.sa_handler = end_time, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
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

void ns_signals_insist(bool on)
{
    if (on)
        handle_alarm();
    insisting = on;
    if (came)
        alarm(on ? PATIENCE : 0);
}

void ns_signals_limit(double seconds)
{
    handle_alarm();
    const double whole = floor(seconds);
    const struct itimerval when = {
        .it_value = {.tv_sec = (time_t)whole,
                     .tv_usec = (suseconds_t)(999999 * (seconds - whole)) + (whole < 1)}};
    setitimer(ITIMER_REAL, &when, NULL);
}
