/* Modules where there are none. */
#ifndef NS_WASM_DLFCN_H
#define NS_WASM_DLFCN_H

#include <stddef.h>

#define RTLD_NOW 0
#define RTLD_GLOBAL 0

static inline void *dlopen(const char *path, int how)
{
    (void)path;
    (void)how;
    return NULL;
}

static inline void *dlsym(void *module, const char *name)
{
    (void)module;
    (void)name;
    return NULL;
}

static inline const char *dlerror(void)
{
    return "WebAssembly loads no modules";
}

#endif
