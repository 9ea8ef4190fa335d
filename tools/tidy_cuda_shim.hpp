// What clang-tidy 14 needs to read a .cu file as C++: nvcc's keywords and variables, of CUDA 13's headers only those
// that are plain C++. Included before the file by tools/tidy.sh, and by nothing else.
#pragma once

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __grid_constant__
#undef __launch_bounds__
#undef __align__
#define __global__
#define __device__
#define __host__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes)

extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;

void __syncthreads();
void __syncwarp();
void __trap();
unsigned __ballot_sync(unsigned lanes, bool condition);
unsigned __shfl_up_sync(unsigned lanes, unsigned value, unsigned distance);
unsigned __shfl_sync(unsigned lanes, unsigned value, int lane);
unsigned long __cvta_generic_to_shared(const void* address);
unsigned atomicAnd(unsigned* address, unsigned value);
unsigned atomicOr(unsigned* address, unsigned value);
unsigned atomicAdd(unsigned* address, unsigned value);
unsigned long long atomicAdd(unsigned long long* address, unsigned long long value);
unsigned long long atomicMax(unsigned long long* address, unsigned long long value);
int __popc(unsigned x);
int __popcll(unsigned long long x);
unsigned long long atomicMin(unsigned long long* address, unsigned long long value);
template <typename T>
T __ldcs(const T* address);
template <typename T>
T __ldg(const T* address);
template <typename T>
void __stcs(T* address, T value);
