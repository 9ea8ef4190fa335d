// Every header of faro is C++20. What an older standard would say of them, hundreds of errors, is one line
// instead.
#pragma once

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error \
    "faro needs C++20: -std=c++20 (for nvcc, too), CMAKE_CXX_STANDARD and CMAKE_CUDA_STANDARD 20, or link the CMake target faro::faro, which sets it"
#endif
