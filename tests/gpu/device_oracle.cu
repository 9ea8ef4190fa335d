#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "gpu/device_oracle.hpp"

namespace faro::testing {
namespace {

using Count = unsigned long long;  // what CUDA's atomics take

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 1 << 16;

__device__ std::uint64_t hash(std::uint64_t seed, std::uint64_t word) {
  std::uint64_t z = (seed * 0x2545f4914f6cdd1dU + word + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;  // SplitMix64's finaliser
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

__device__ std::uint8_t drawn_byte(std::uint64_t seed, std::uint64_t k) {
  return static_cast<std::uint8_t>(hash(seed, k / 8) >> 8 * (k % 8));
}

__device__ std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::uint64_t index_step() { return std::uint64_t{gridDim.x} * blockDim.x; }

// Reading first keeps millions of wrong elements from queueing for one word.
__device__ void note(std::uint64_t* lowest, std::uint64_t place) {
  if (place < *static_cast<volatile std::uint64_t*>(lowest)) {
    atomicMin(reinterpret_cast<Count*>(lowest), static_cast<Count>(place));
  }
}

__global__ void fill_kernel(std::uint8_t* to, std::uint64_t bytes, std::uint64_t seed) {
  for (std::uint64_t k = first_index(); k < bytes; k += index_step()) to[k] = drawn_byte(seed, k);
}

template <typename Unit>
__global__ void examine_kernel(const __grid_constant__ OracleProblem problem,
                               const __grid_constant__ OracleArrays arrays, Findings* findings) {
  const OracleMap& map = problem.map;
  const auto* const in = reinterpret_cast<const Unit*>(arrays.in);
  const auto* const out = reinterpret_cast<const Unit*>(arrays.out);
  const std::uint64_t units = problem.element_bytes / sizeof(Unit);  // of an element
  const std::uint64_t elements = std::uint64_t{1} << map.bits;

  for (std::uint64_t k = first_index(); k < problem.bytes() / sizeof(Unit); k += index_step()) {
    const std::uint64_t unit = k % units;
    const std::uint64_t element = k / units;
    const std::uint64_t x = element % elements;
    const std::uint64_t array = element / elements;
    std::uint64_t y = 0;
    for (int i = 0; i < map.bits; ++i) {
      const std::uint64_t bit = static_cast<unsigned>(__popcll(map.row[i] & x)) ^ map.complement >> i;
      y |= (bit & 1) << i;
    }
    if (in[k] != out[(array * elements + y) * units + unit]) note(&findings->misplaced, element);
  }

  const auto* const drawn = reinterpret_cast<const std::uint8_t*>(arrays.in);
  for (std::uint64_t k = first_index(); k < problem.bytes(); k += index_step()) {
    if (drawn[k] != drawn_byte(arrays.seed, k)) note(&findings->input, k);
  }

  const auto* const before = reinterpret_cast<const std::uint8_t*>(arrays.out) - arrays.guard_bytes;
  for (std::uint64_t k = first_index(); k < 2 * arrays.guard_bytes; k += index_step()) {
    const std::uint64_t at = k < arrays.guard_bytes ? k : k + problem.bytes();
    if (before[at] != static_cast<std::uint8_t>(kDevicePoison)) note(&findings->guard, at);
  }
}

template <typename Unit>
__global__ void examine_small_kernel(const __grid_constant__ SmallArrays arrays, Findings* findings) {
  const auto* const in = reinterpret_cast<const Unit*>(arrays.in);
  const auto* const out = reinterpret_cast<const Unit*>(arrays.out);
  const std::uint64_t units = arrays.element_bytes / sizeof(Unit);
  const std::uint64_t elements = std::uint64_t{1} << arrays.index_bits;
  for (std::uint64_t k = first_index(); k < arrays.count * 2 * elements * units; k += index_step()) {
    const std::uint64_t element = k / units;
    const std::uint64_t number = element / (2 * elements);
    const std::uint64_t x = element % (2 * elements);
    const SmallMap map = arrays.maps[number];
    if (x < elements && map != kNotMoved) {
      unsigned from = 0;
      for (int i = 0; i < 4; ++i) from |= static_cast<unsigned>(x >> arrays.position[i] & 1) << i;
      std::uint64_t y = x;
      for (int i = 0; i < 4; ++i) {
        const unsigned bit = static_cast<unsigned>(__popc(map >> 4 * i & from)) ^ map >> (16 + i);
        y &= ~(std::uint64_t{1} << arrays.position[i]);
        y |= std::uint64_t{bit & 1} << arrays.position[i];
      }
      if (in[k] != out[(element - x + y) * units + k % units]) note(&findings->misplaced, number);
    } else {
      Unit poison;
      memset(&poison, static_cast<int>(kDevicePoison), sizeof(poison));
      if (out[k] != poison) note(&findings->guard, number);
    }
  }
}

unsigned blocks_for(std::uint64_t threads) {
  const std::uint64_t blocks = (threads + kThreads - 1) / kThreads;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, kMostBlocks));
}

template <typename... Arguments>
void launch(void (*kernel)(Arguments...), std::uint64_t threads, Stream stream, Arguments... arguments) {
  void* pointers[] = {&arguments...};
  const cudaError_t error = cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks_for(threads)),
                                             dim3(kThreads), pointers, 0, stream.handle());
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("the oracle: cudaLaunchKernel: ") + cudaGetErrorString(error));
  }
}

// Calls launch_for(Unit{}) with the widest unit that an element of so many bytes is aligned to.
template <typename LaunchFor>
void for_unit_of(std::uint64_t element_bytes, LaunchFor launch_for) {
  switch (element_bytes) {
    case 1:
      return launch_for(std::uint8_t{});
    case 2:
      return launch_for(std::uint16_t{});
    case 4:
      return launch_for(std::uint32_t{});
    default:
      return launch_for(std::uint64_t{});
  }
}

}  // namespace

void fill(std::byte* to, std::uint64_t bytes, std::uint64_t seed, Stream stream) {
  if (bytes != 0) launch(fill_kernel, bytes, stream, reinterpret_cast<std::uint8_t*>(to), bytes, seed);
}

void examine(const OracleProblem& problem, const OracleArrays& arrays, Findings* findings, Stream stream) {
  for_unit_of(problem.element_bytes, [&](auto unit) {
    launch(examine_kernel<decltype(unit)>, problem.bytes(), stream, problem, arrays, findings);
  });
}

void examine_small(const SmallArrays& arrays, Findings* findings, Stream stream) {
  for_unit_of(arrays.element_bytes, [&](auto unit) {
    launch(examine_small_kernel<decltype(unit)>, arrays.count << (arrays.index_bits + 1), stream, arrays,
           findings);
  });
}

}  // namespace faro::testing
