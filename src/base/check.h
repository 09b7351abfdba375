/* NS_CHECK(condition): a promise at the border of a data structure. Unlike `assert` it does not
 * depend on NDEBUG but on the CMake option NOSLIP_CHECKS: on in the builds dev, asan, fuzz and
 * ci, off in release. So it must be cheap: a comparison at an entry, never a loop and
 * never in an inner one. The condition is compiled, and may name variables, in every build. */
#ifndef NS_BASE_CHECK_H
#define NS_BASE_CHECK_H

#if NS_CHECKS

/* Names the broken promise on standard error and aborts. */
_Noreturn __attribute__((cold)) void ns_check_failed(const char *condition, const char *file,
                                                     int line, const char *function);

#define NS_CHECK(condition)                                                                    \
    ((condition) ? (void)0 : ns_check_failed(#condition, __FILE__, __LINE__, __func__))

#else
#define NS_CHECK(condition) ((void)sizeof(!(condition)))
#endif

#endif
