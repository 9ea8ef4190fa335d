#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "faro/device/aos.hpp"
#include "gpu/aos_kernels.hpp"

namespace faro::testing {
namespace {

namespace aos = device::aos;

template <int words>
struct Struct {
  std::uint32_t word[words];
};

// Blocks have two axes: lanes are the hardware's, not threadIdx.x.
constexpr unsigned kSide = 16;

struct Arrays {
  const void* in;
  void* out;
  const std::uint32_t* index;
  std::uint64_t count;
};

__device__ std::uint64_t thread() {
  return std::uint64_t{blockIdx.x} * (kSide * kSide) + threadIdx.y * kSide + threadIdx.x;
}

template <AosKernel kernel, int words, int alignment>
__global__ void run(Arrays arrays) {
  using T = Struct<words>;
  const auto* const in = static_cast<const T*>(arrays.in);
  auto* const out = static_cast<T*>(arrays.out);
  const std::uint64_t i = thread();
  if constexpr (kernel == AosKernel::gather || kernel == AosKernel::sparse_gather) {
    const std::uint32_t index = i < arrays.count ? arrays.index[i] : 0;
    if (kernel == AosKernel::gather) {
      const std::uint64_t wide_index = index;
      const T value =
          words % 2 == 0 ? aos::gather<T, alignment>(in, index) : aos::gather<T, alignment>(in, wide_index);
      aos::store<T, alignment>(out, i, value, arrays.count);
    } else {
      const bool wanted = i < arrays.count && index % 2 == 1;
      aos::store<T, alignment>(out, i, aos::gather<T, alignment>(in, wanted ? index : ~0U, wanted),
                               arrays.count);
    }
  } else if constexpr (kernel == AosKernel::scatter) {
    const bool wanted = i < arrays.count;
    const T value = aos::load<T, alignment>(in, i, arrays.count);
    aos::scatter<T, alignment>(out, wanted ? arrays.index[i] : ~0U, value, wanted);
  } else if constexpr (kernel == AosKernel::to_planes) {
    aos::to_planes(in, static_cast<std::uint32_t*>(arrays.out), arrays.count, i, arrays.count);
  } else if constexpr (kernel == AosKernel::from_planes) {
    aos::from_planes(static_cast<const std::uint32_t*>(arrays.in), out, arrays.count, i, arrays.count);
  } else {
    constexpr aos::Method method = kernel == AosKernel::step_row_column_row ? aos::Method::row_column_row
                                   : kernel == AosKernel::step_column_row_column
                                       ? aos::Method::column_row_column
                                       : aos::kBestMethod<T, alignment>;
    // Whole blocks need no count.
    const bool is_whole = (blockIdx.x + std::uint64_t{1}) * kSide * kSide <= arrays.count;
    const T read = is_whole ? aos::load<T, alignment, method>(in, i)
                            : aos::load<T, alignment, method>(in, i, arrays.count);
    T turned;
#pragma unroll
    for (int k = 0; k < words; ++k) turned.word[k] = read.word[(k + 1) % words];
    if (is_whole) {
      aos::store<T, alignment, method>(out, i, turned);
    } else {
      aos::store<T, alignment, method>(out, i, turned, arrays.count);
    }
  }
}

template <AosKernel kernel, int words, int alignment = 4>
bool launch(const AosCall& call, Stream stream) {
  const auto blocks = static_cast<unsigned>((call.count + kSide * kSide - 1) / (kSide * kSide));
  if (blocks == 0) return true;
  run<kernel, words, alignment>
      <<<blocks, dim3(kSide, kSide), 0, stream.handle()>>>(Arrays{call.in, call.out, call.index, call.count});
  const cudaError_t result = cudaGetLastError();
  if (result != cudaSuccess)
    throw std::runtime_error(std::string("aos kernel: ") + cudaGetErrorString(result));
  return true;
}

template <AosKernel kernel, int alignment, int... sizes>
bool launch_one_of(std::integer_sequence<int, sizes...>, const AosCall& call, Stream stream) {
  return call.kernel == kernel && call.alignment == alignment &&
         ((call.words == sizes && launch<kernel, sizes, alignment>(call, stream)) || ...);
}

template <int... from_0>
bool launch_step(std::integer_sequence<int, from_0...>, const AosCall& call, Stream stream) {
  return launch_one_of<AosKernel::step, 4>(std::integer_sequence<int, (from_0 + 1)...>{}, call, stream);
}

}  // namespace

bool queue_aos(const AosCall& call, Stream stream) {
  constexpr std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 8, 12, 16, 31, 32> some;
  constexpr std::integer_sequence<int, 2, 4, 8, 12, 16, 30, 32> even;
  constexpr std::integer_sequence<int, 4, 8, 12, 16, 32> quads;
  return launch_step(std::make_integer_sequence<int, 32>{}, call, stream) ||
         launch_one_of<AosKernel::step, 16>(quads, call, stream) ||
         launch_one_of<AosKernel::gather, 16>(quads, call, stream) ||
         launch_one_of<AosKernel::step_row_column_row, 4>(even, call, stream) ||
         launch_one_of<AosKernel::step_column_row_column, 4>(even, call, stream) ||
         launch_one_of<AosKernel::gather, 4>(some, call, stream) ||
         launch_one_of<AosKernel::scatter, 4>(some, call, stream) ||
         launch_one_of<AosKernel::sparse_gather, 4>(some, call, stream) ||
         launch_one_of<AosKernel::to_planes, 4>(some, call, stream) ||
         launch_one_of<AosKernel::from_planes, 4>(some, call, stream);
}

}  // namespace faro::testing
