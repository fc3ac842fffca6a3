// Function multiversioning: one portable wheel, wider vectors where the processor has them.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(SUREFOOT_NO_CLONES)
#define SUREFOOT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SUREFOOT_CLONES
#endif

#define SUREFOOT_INLINE inline __attribute__((always_inline))
