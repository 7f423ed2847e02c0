// Owns: the spelling of Clang's thread-safety attributes, which are empty on other compilers.
// Must never: affect the running program. Only Clang reads them.
// Source: Clang documentation, "Thread Safety Analysis".
#pragma once

#if defined(__clang__)
#define VARVE_ANNOTATE(x) __attribute__((x))
#else
#define VARVE_ANNOTATE(x)
#endif

#define VARVE_CAPABILITY(name) VARVE_ANNOTATE(capability(name))
#define VARVE_SCOPED_CAPABILITY VARVE_ANNOTATE(scoped_lockable)
#define VARVE_GUARDED_BY(mutex) VARVE_ANNOTATE(guarded_by(mutex))
#define VARVE_REQUIRES(...) VARVE_ANNOTATE(requires_capability(__VA_ARGS__))
#define VARVE_EXCLUDES(...) VARVE_ANNOTATE(locks_excluded(__VA_ARGS__))
#define VARVE_ACQUIRE(...) VARVE_ANNOTATE(acquire_capability(__VA_ARGS__))
#define VARVE_RELEASE(...) VARVE_ANNOTATE(release_capability(__VA_ARGS__))
#define VARVE_NO_THREAD_SAFETY_ANALYSIS VARVE_ANNOTATE(no_thread_safety_analysis)
