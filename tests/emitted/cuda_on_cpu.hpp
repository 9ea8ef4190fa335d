// The words of CUDA C++ that emitted kernels use, for a C++ compiler: with this header in front, the text of
// a kernel is compiled as it stands into a library, and emitted_kernel.hpp runs it thread by thread.
//
//     using faro_kernel_element = uint32_t;         the text's one line that names the element's type becomes
//     using faro_kernel_element = counted<uint32_t>;
//
// A counted element that lies on the stack is a register and behaves as its type. Anywhere else it is in
// memory, global or shared, and every load and store of it is reported by its address; the host holds the
// bytes. A struct of counted elements, the text's vector type, is one access of its whole size where it is
// copied whole.
//
// Threads do not wait at a barrier. __syncthreads() ends the phase that is being run; in the next phase the
// thread begins anew, the host answers the loads of the former phases from its log and ignores their stores.
#pragma once

#include <cstddef>
#include <cstdint>

struct uint3 {
  unsigned x, y, z;
};
using dim3 = uint3;

// What the host tells the kernels, and what they report to it.
struct CudaOnCpu {
  uint3 thread_idx, block_idx, block_dim, grid_dim;
  std::uintptr_t stack_low;  // where registers are
  std::uintptr_t stack_bytes;
  void (*load)(const void* address, void* to, unsigned bytes);
  void (*store)(void* address, const void* from, unsigned bytes);
  void (*barrier)();
};

#if !defined(FARO_CUDA_ON_CPU_HOST)

extern "C" {
CudaOnCpu faro_cuda_on_cpu;
}

#define threadIdx faro_cuda_on_cpu.thread_idx
#define blockIdx faro_cuda_on_cpu.block_idx
#define blockDim faro_cuda_on_cpu.block_dim
#define gridDim faro_cuda_on_cpu.grid_dim
#define __syncthreads() faro_cuda_on_cpu.barrier()

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// In a function this is a static object, and after `extern` a declaration: both as in CUDA.
#define __shared__ __attribute__((aligned(128))) thread_local

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __brev(unsigned x) {
  unsigned y = 0;
  for (int i = 0; i < 32; ++i) y |= (x >> i & 1U) << (31 - i);
  return y;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32U |
         __brev(static_cast<unsigned>(x >> 32U));
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32U | low;
  unsigned y = 0;
  for (unsigned i = 0; i < 4; ++i) {
    y |= static_cast<unsigned>(both >> 8 * (selector >> 4 * i & 7U) & 0xffU) << 8 * i;
  }
  return y;
}
template <typename T>
T __ldg(const T* from) {
  return *from;
}

// CUDA's vector types, as far as their members go.
#define FARO_VECTOR_TYPES(prefix, type, a2, a4)                        \
  struct prefix##1 {                                                   \
    type x;                                                            \
  };                                                                   \
  struct alignas(a2) prefix##2 {                                       \
    type x, y;                                                         \
  };                                                                   \
  struct prefix##3 {                                                   \
    type x, y, z;                                                      \
  };                                                                   \
  struct alignas(a4) prefix##4 {                                       \
    type x, y, z, w;                                                   \
  };                                                                   \
  inline prefix##2 make_##prefix##2(type x, type y) { return {x, y}; } \
  inline prefix##4 make_##prefix##4(type x, type y, type z, type w) { return {x, y, z, w}; }
FARO_VECTOR_TYPES(char, signed char, 2, 4)
FARO_VECTOR_TYPES(uchar, unsigned char, 2, 4)
FARO_VECTOR_TYPES(short, short, 4, 8)
FARO_VECTOR_TYPES(ushort, unsigned short, 4, 8)
FARO_VECTOR_TYPES(int, int, 8, 16)
FARO_VECTOR_TYPES(float, float, 8, 16)
FARO_VECTOR_TYPES(double, double, 16, 16)
FARO_VECTOR_TYPES(longlong, long long, 16, 16)
FARO_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
FARO_VECTOR_TYPES(long, long, 16, 16)
FARO_VECTOR_TYPES(ulong, unsigned long, 16, 16)
struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct __half {
  unsigned short bits;
};
struct __half2 {
  __half x, y;
};
struct __nv_bfloat16 {
  unsigned short bits;
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
struct __nv_fp8_e4m3 {
  unsigned char bits;
};
struct __nv_fp8_e5m2 {
  unsigned char bits;
};
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
using cuFloatComplex = float2;
using cuDoubleComplex = double2;

inline bool faro_in_memory(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - faro_cuda_on_cpu.stack_low >=
         faro_cuda_on_cpu.stack_bytes;
}
inline void faro_load(const void* from, void* to, unsigned bytes) {
  if (faro_in_memory(from)) {
    faro_cuda_on_cpu.load(from, to, bytes);
  } else {
    __builtin_memcpy(to, from, bytes);
  }
}
inline void faro_store(void* to, const void* from, unsigned bytes) {
  if (faro_in_memory(to)) {
    faro_cuda_on_cpu.store(to, from, bytes);
  } else {
    __builtin_memcpy(to, from, bytes);
  }
}

// A type that has members is inherited from, so that they can be named; a number is converted to.
template <typename T, bool is_class = __is_class(T)>
struct Held {
  T value;
  const T& get() const { return value; }
};
template <typename T>
struct Held<T, true> : T {
  const T& get() const { return *this; }
};

template <typename T>
struct counted : Held<T> {
  counted() = default;
  counted(const counted& other) { faro_load(&other, this, sizeof(T)); }
  counted(const T& value) { __builtin_memcpy(this, &value, sizeof(T)); }
  counted& operator=(const counted& other) {
    const counted value(other);
    faro_store(this, &value, sizeof(T));
    return *this;
  }
  operator T() const {
    const counted value(*this);
    return value.get();
  }
};

// The text's `struct alignas(16) NAME_vector { NAME_element at[4]; };`
template <typename T, unsigned count, unsigned alignment>
struct alignas(alignment) counted_vector {
  T at[count];
  counted_vector() = default;
  counted_vector(const counted_vector& other) { faro_load(&other, this, sizeof(at)); }
  counted_vector& operator=(const counted_vector& other) {
    const counted_vector value(other);
    faro_store(this, &value, sizeof(at));
    return *this;
  }
};

#endif
