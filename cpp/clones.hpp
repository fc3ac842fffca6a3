// Function multiversioning: one portable wheel, wider vectors where the processor has them.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(SUREFOOT_NO_CLONES)
#define SUREFOOT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SUREFOOT_CLONES
#endif

#define SUREFOOT_INLINE inline __attribute__((always_inline))

// The loop's arrays do not overlap and no turn needs another's result.
#if defined(__GNUC__) && !defined(__clang__)
#define SUREFOOT_DISTINCT _Pragma("GCC ivdep")
#elif defined(__clang__)
#define SUREFOOT_DISTINCT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SUREFOOT_DISTINCT
#endif
