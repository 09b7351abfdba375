/* The module noslip.wasm is the library: its exports are the functions of noslip.h. */
#include "noslip/noslip.h"

extern const char *ns_wasm_version(void);

NS_API const char *ns_wasm_version(void)
{
    return ns_version();
}
