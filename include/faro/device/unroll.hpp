// FARO_UNROLL before a loop with a constant bound: the CUDA compiler must unroll it, so that arrays indexed
// by the loop's counter live in registers. Other compilers are left to their own judgement. The language has
// no such request.
#pragma once

#include "faro/require_cxx20.hpp"

#if defined(__CUDACC__)
#define FARO_UNROLL _Pragma("unroll")
#define FARO_NO_UNROLL _Pragma("unroll 1")
#else
#define FARO_UNROLL
#define FARO_NO_UNROLL
#endif
