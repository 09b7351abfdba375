/* Which exchange a process uses: found in the environment that launchers give their
 * processes. */
#include "base/exchange.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *local_open(uint32_t *rank, uint32_t *size, char message[NS_EXCHANGE_MESSAGE])
{
    static const char only;
    (void)message;
    *rank = 0;
    *size = 1;
    return (void *)&only;
}

static bool local_send(void *exchange, uint32_t to, const void *bytes, size_t length)
{
    (void)exchange, (void)to, (void)bytes, (void)length;
    return false;
}

static bool local_waiting(void *exchange, uint32_t *from, size_t *length)
{
    (void)exchange, (void)from, (void)length;
    return false;
}

static void local_receive(void *exchange, uint32_t from, void *bytes, size_t length)
{
    (void)exchange, (void)from, (void)bytes, (void)length;
}

static void local_close(void *exchange)
{
    (void)exchange;
}

static void local_abandon(void *exchange, int status)
{
    (void)exchange;
    _exit(status);
}

const ns_exchange ns_exchange_local = {
    .interface = NS_EXCHANGE_INTERFACE,
    .name = "local",
    .open = local_open,
    .send = local_send,
    .waiting = local_waiting,
    .receive = local_receive,
    .close = local_close,
    .abandon = local_abandon,
};

/* Open MPI, MPICH and its kin, Slurm's own starter for both (PMI). */
uint32_t ns_exchange_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end = NULL;
        const long n = text ? strtol(text, &end, 10) : 0;
        if (end != text && n > 0 && n < INT_MAX)
            return (uint32_t)n;
    }
    /* srun --mpi=pmix tells the rank to all and the number of tasks of the step */
    const char *tasks = getenv("PMIX_RANK") ? getenv("SLURM_STEP_NUM_TASKS") : NULL;
    const long n = tasks ? strtol(tasks, NULL, 10) : 1;
    return n > 0 && n < INT_MAX ? (uint32_t)n : 1;
}

/* Tasks of a step of Slurm that were told nothing of each other: srun --mpi=none. */
uint32_t ns_exchange_strangers(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    const long n = tasks && ns_exchange_launched() == 1 && !getenv("PMI_SIZE") &&
                           !getenv("PMIX_RANK") && !getenv("OMPI_COMM_WORLD_SIZE")
                       ? strtol(tasks, NULL, 10)
                       : 1;
    return n > 0 && n < INT_MAX ? (uint32_t)n : 1;
}

#ifdef NS_EXCHANGE_MODULE
/* Beside the program in the build tree, in the library's folder where it is installed. */
static void *load(const char *program, const char *place)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", program, place);
    if (length < 0 || (size_t)length >= sizeof path || access(path, R_OK) != 0)
        return NULL;
    /* global: the parts that MPI loads by itself look for its symbols */
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static const ns_exchange *find_module(char message[NS_EXCHANGE_MESSAGE])
{
    static const char *const places[] = {"noslip-mpi.so", NS_EXCHANGE_MODULE};
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash) {
        snprintf(message, NS_EXCHANGE_MESSAGE, "cannot find the program's own folder");
        return NULL;
    }
    *slash = '\0';
    dlerror();
    void *module = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !module; i++)
        module = load(program, places[i]);
    const ns_exchange *exchange = module ? dlsym(module, NS_EXCHANGE_SYMBOL) : NULL;
    if (!exchange) {
        const char *why = dlerror();
        snprintf(message, NS_EXCHANGE_MESSAGE,
                 "the MPI module (%.180s/%s) cannot be loaded: %.200s", program, places[1],
                 why ? why : "it is not there");
        return NULL;
    }
    if (exchange->interface != NS_EXCHANGE_INTERFACE) {
        snprintf(message, NS_EXCHANGE_MESSAGE,
                 "the MPI module belongs to another version of noslip");
        return NULL;
    }
    return exchange;
}
#else
static const ns_exchange *find_module(char message[NS_EXCHANGE_MESSAGE])
{
    snprintf(message, NS_EXCHANGE_MESSAGE,
             "this noslip was built without MPI; install libopenmpi-dev and build again, or "
             "give each "
             "process its part with --shard");
    return NULL;
}
#endif

const ns_exchange *ns_exchange_find(char message[NS_EXCHANGE_MESSAGE])
{
    return ns_exchange_launched() > 1 ? find_module(message) : &ns_exchange_local;
}
