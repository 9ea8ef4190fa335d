#include <utility>

#include "bench/gpu/runtime.hpp"
#include "bench/gpu_aos/kernels.hpp"
#include "faro/device/aos.hpp"

namespace faro::bench::gpu {
namespace {

namespace aos = device::aos;

constexpr unsigned kThreads = 256;
constexpr unsigned kGroupThreads = 512;
constexpr unsigned kSweepBlocks = 8192;

template <int words, int alignment>
struct alignas(alignment) Struct {
  std::uint32_t word[words];
};

/// A thread has several structs where they are small, so that as many bytes are on their way.
template <int words>
constexpr int kStructsOfThread = words <= 4   ? 4
                                 : words <= 8 ? 2
                                              : 1;

struct Arrays {
  const void* in;
  void* out;
  const std::uint32_t* index;
  std::uint64_t count;
};

template <typename T, Way way>
__device__ T load(const T* array, std::uint64_t i, std::uint64_t count) {
  constexpr int alignment = static_cast<int>(alignof(T));
  if constexpr (way == Way::direct || way == Way::direct_vectors) {
    T value{};
    if (i < count) value = array[i];
    return value;
  } else if constexpr (way == Way::column_row_column) {
    return aos::load<T, alignment, aos::Method::column_row_column>(array, i, count);
  } else if constexpr (way == Way::row_column_row) {
    return aos::load<T, alignment, aos::Method::row_column_row>(array, i, count);
  } else {
    return aos::load(array, i, count);
  }
}

template <typename T, Way way>
__device__ void store(T* array, std::uint64_t i, const T& value, std::uint64_t count) {
  constexpr int alignment = static_cast<int>(alignof(T));
  if constexpr (way == Way::direct || way == Way::direct_vectors) {
    if (i < count) array[i] = value;
  } else if constexpr (way == Way::column_row_column) {
    aos::store<T, alignment, aos::Method::column_row_column>(array, i, value, count);
  } else if constexpr (way == Way::row_column_row) {
    aos::store<T, alignment, aos::Method::row_column_row>(array, i, value, count);
  } else {
    aos::store(array, i, value, count);
  }
}

template <typename T, Way way>
__device__ T gather(const T* array, std::uint32_t index, bool wanted) {
  constexpr int alignment = static_cast<int>(alignof(T));
  if constexpr (way == Way::direct || way == Way::direct_vectors) {
    T value{};
    if (wanted) value = array[index];
    return value;
  } else if constexpr (way == Way::column_row_column) {
    return aos::gather<T, alignment, aos::Method::column_row_column>(array, index, wanted);
  } else {
    return aos::gather(array, index, wanted);
  }
}

template <typename T, Way way>
__device__ void scatter(T* array, std::uint32_t index, const T& value, bool wanted) {
  constexpr int alignment = static_cast<int>(alignof(T));
  if constexpr (way == Way::direct || way == Way::direct_vectors) {
    if (wanted) array[index] = value;
  } else if constexpr (way == Way::column_row_column) {
    aos::scatter<T, alignment, aos::Method::column_row_column>(array, index, value, wanted);
  } else {
    aos::scatter(array, index, value, wanted);
  }
}

template <Way way>
constexpr unsigned kThreadsOf = way == Way::pairs || way == Way::quads ? kGroupThreads : kThreads;

template <Way way, int words>
constexpr int kStructsOf = way == Way::pairs   ? 2
                           : way == Way::quads ? 4
                                               : kStructsOfThread<words>;

template <int words>
__device__ std::uint64_t first_struct() {
  return std::uint64_t{blockIdx.x} * (kThreads * kStructsOfThread<words>)+threadIdx.x;
}

template <Job job, int words>
__device__ void run_planes(const Arrays& arrays) {
  using T = Struct<words, 4>;
  const std::uint64_t count = arrays.count;
#pragma unroll
  for (int n = 0; n < kStructsOfThread<words>; ++n) {
    const std::uint64_t i = first_struct<words>() + n * kThreads;
    if constexpr (job == Job::load) {
      auto* const planes = static_cast<std::uint32_t*>(arrays.out);
      aos::to_planes(static_cast<const T*>(arrays.in), planes, count, i, count);
    } else {
      const auto* const planes = static_cast<const std::uint32_t*>(arrays.in);
      aos::from_planes(planes, static_cast<T*>(arrays.out), count, i, count);
    }
  }
}

// Several structs of a thread, one after the other, are one large one: word k of all of them is a vector of
// plane k.
template <Job job, int words, int structs>
__device__ void run_groups(const Arrays& arrays) {
  struct Group {
    Struct<words, 4> part[structs];
  };
  using Vector = std::conditional_t<structs == 2, uint2, uint4>;
  union Packed {
    Vector vector;
    std::uint32_t word[structs];
  };
  const std::uint64_t count = arrays.count / structs;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kGroupThreads + threadIdx.x;
  if constexpr (job == Job::load) {
    const Group value = aos::load(static_cast<const Group*>(arrays.in), i, count);
#pragma unroll
    for (int k = 0; k < words; ++k) {
      Packed packed;
#pragma unroll
      for (int s = 0; s < structs; ++s) packed.word[s] = value.part[s].word[k];
      if (i < count) (static_cast<Vector*>(arrays.out) + k * count)[i] = packed.vector;
    }
  } else {
    Group value;
#pragma unroll
    for (int k = 0; k < words; ++k) {
      Packed packed{};
      if (i < count) packed.vector = (static_cast<const Vector*>(arrays.in) + k * count)[i];
#pragma unroll
      for (int s = 0; s < structs; ++s) value.part[s].word[k] = packed.word[s];
    }
    aos::store(static_cast<Group*>(arrays.out), i, value, count);
  }
}

template <Job job, Way way, int words, int alignment>
__device__ void run_structs(const Arrays& arrays) {
  using T = Struct<words, alignment>;
  constexpr int structs = kStructsOfThread<words>;
  const auto* const in = static_cast<const T*>(arrays.in);
  auto* const out = static_cast<T*>(arrays.out);
  const std::uint64_t count = arrays.count;
  const std::uint64_t first = first_struct<words>();
  std::uint32_t index[structs];
  T value[structs];
#pragma unroll
  for (int n = 0; n < structs; ++n) {
    const std::uint64_t i = first + n * kThreads;
    const bool is_there = i < count;
    index[n] = 0;
    if constexpr (job == Job::gather || job == Job::scatter) index[n] = is_there ? arrays.index[i] : 0;
    if constexpr (job == Job::store) {
      const auto* const planes = static_cast<const std::uint32_t*>(arrays.in);
#pragma unroll
      for (int k = 0; k < words; ++k) value[n].word[k] = is_there ? planes[k * count + i] : 0;
    } else if constexpr (job == Job::gather) {
      value[n] = gather<T, way>(in, index[n], is_there);
    } else {
      value[n] = load<T, way>(in, i, count);
    }
  }
#pragma unroll
  for (int n = 0; n < structs; ++n) {
    const std::uint64_t i = first + n * kThreads;
    if constexpr (job == Job::load) {
      auto* const planes = static_cast<std::uint32_t*>(arrays.out);
#pragma unroll
      for (int k = 0; k < words; ++k) {
        if (i < count) planes[k * count + i] = value[n].word[k];
      }
    } else if constexpr (job == Job::sum) {
      std::uint32_t sum = 0;
#pragma unroll
      for (int k = 0; k < words; ++k) sum += value[n].word[k];
      if (i < count) static_cast<std::uint32_t*>(arrays.out)[i] = sum;
    } else if constexpr (job == Job::scatter) {
      scatter<T, way>(out, index[n], value[n], i < count);
    } else if constexpr (job == Job::step) {
      T turned;
#pragma unroll
      for (int k = 0; k < words; ++k) turned.word[k] = value[n].word[(k + 1) % words];
      store<T, way>(out, i, turned, count);
    } else {
      store<T, way>(out, i, value[n], count);
    }
  }
}

template <Job job, Way way, int words, int alignment>
__global__ void __launch_bounds__(kThreadsOf<way>) run(Arrays arrays) {
  if constexpr (way == Way::pairs) {
    run_groups<job, words, 2>(arrays);
  } else if constexpr (way == Way::quads) {
    run_groups<job, words, 4>(arrays);
  } else if constexpr (way == Way::planes) {
    run_planes<job, words>(arrays);
  } else {
    run_structs<job, way, words, alignment>(arrays);
  }
}

template <Job job, Way way, int words, int alignment>
bool launch(const Call& call, Stream stream) {
  constexpr unsigned of_block = kThreadsOf<way> * kStructsOf<way, words>;
  const auto blocks = static_cast<unsigned>((call.count + of_block - 1) / of_block);
  run<job, way, words, alignment>
      <<<blocks, kThreadsOf<way>, 0, stream.handle()>>>(Arrays{call.in, call.out, call.index, call.count});
  check_cuda(cudaGetLastError(), "aos kernel");
  return true;
}

template <Job job, Way way, int alignment, int... from_0>
bool launch_words(std::integer_sequence<int, from_0...> /*of words*/, const Call& call, Stream stream) {
  return call.job == job && call.way == way &&
         ((call.words == from_0 && launch<job, way, from_0, alignment>(call, stream)) || ...);
}

using AllWords = std::integer_sequence<int, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>;
using UpToEight = std::integer_sequence<int, 3, 4, 5, 6, 7, 8>;
using Quads = std::integer_sequence<int, 4, 8, 12, 16>;
using Line = std::integer_sequence<int, 16>;

template <Job job, typename Sizes>
bool launch_way(const Call& call, Stream stream) {
  return launch_words<job, Way::direct, 4>(Sizes{}, call, stream) ||
         launch_words<job, Way::column_row_column, 4>(Sizes{}, call, stream) ||
         launch_words<job, Way::row_column_row, 4>(Sizes{}, call, stream) ||
         launch_words<job, Way::chosen, 4>(Sizes{}, call, stream);
}

template <Job job, typename Sizes>
bool launch_vectors(const Call& call, Stream stream) {
  return launch_words<job, Way::direct_vectors, 16>(Sizes{}, call, stream) ||
         launch_words<job, Way::chosen_vectors, 16>(Sizes{}, call, stream);
}

__host__ __device__ std::uint32_t word_of(std::uint64_t x) {
  std::uint64_t hash = (x + 1) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::uint32_t>(hash >> 32);
}

// Every step is a permutation of the numbers below a power of two.
__device__ std::uint64_t index_of(std::uint64_t i, std::uint64_t count) {
  const std::uint64_t mask = count - 1;
  const int half = (64 - __clzll(static_cast<long long>(mask))) / 2 + 1;
  std::uint64_t x = i;
  for (int round = 0; round < 3; ++round) {
    x = (x * 0x9e3779b97f4a7c15ULL + 0x632be59bULL) & mask;
    x ^= x >> half;
  }
  return x;
}

__global__ void fill_words(std::uint32_t* array, std::uint64_t words) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t x = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; x < words; x += step) {
    array[x] = word_of(x);
  }
}

__global__ void fill_index(std::uint32_t* index, std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    index[i] = static_cast<std::uint32_t>(index_of(i, count));
  }
}

// Where word k of struct i is in the output, and where it came from.
__global__ void count_wrong(Call call, unsigned long long* wrong) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  const auto words = static_cast<std::uint64_t>(call.words);
  const std::uint64_t all = call.count * words;
  const auto* const out = static_cast<const std::uint32_t*>(call.out);
  if (call.job == Job::sum) {
    for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < call.count; i += step) {
      std::uint32_t sum = 0;
      for (std::uint64_t k = 0; k < words; ++k) sum += word_of(i * words + k);
      if (out[i] != sum) atomicAdd(wrong, 1ULL);
    }
    return;
  }
  for (std::uint64_t x = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; x < all; x += step) {
    const std::uint64_t i = x / words;
    const std::uint64_t k = x % words;
    const std::uint64_t in_planes = k * call.count + i;
    std::uint64_t to = x;
    std::uint64_t from = x;
    if (call.job == Job::load) to = in_planes;
    if (call.job == Job::store) from = in_planes;
    if (call.job == Job::step) from = i * words + (k + 1) % words;
    if (call.job == Job::gather) from = index_of(i, call.count) * words + k;
    if (call.job == Job::scatter) to = index_of(i, call.count) * words + k;
    if (out[to] != word_of(from)) atomicAdd(wrong, 1ULL);
  }
}

}  // namespace

bool queue(const Call& call, Stream stream) {
  return launch_way<Job::load, AllWords>(call, stream) || launch_way<Job::store, AllWords>(call, stream) ||
         launch_way<Job::step, AllWords>(call, stream) || launch_way<Job::sum, AllWords>(call, stream) ||
         launch_way<Job::gather, Line>(call, stream) || launch_way<Job::scatter, Line>(call, stream) ||
         launch_vectors<Job::step, Quads>(call, stream) || launch_vectors<Job::gather, Line>(call, stream) ||
         launch_vectors<Job::scatter, Line>(call, stream) ||
         launch_words<Job::load, Way::planes, 4>(AllWords{}, call, stream) ||
         launch_words<Job::store, Way::planes, 4>(AllWords{}, call, stream) ||
         launch_words<Job::load, Way::pairs, 4>(AllWords{}, call, stream) ||
         launch_words<Job::store, Way::pairs, 4>(AllWords{}, call, stream) ||
         launch_words<Job::load, Way::quads, 4>(UpToEight{}, call, stream) ||
         launch_words<Job::store, Way::quads, 4>(UpToEight{}, call, stream);
}

void queue_fill(void* array, std::uint64_t words, Stream stream) {
  fill_words<<<kSweepBlocks, kThreads, 0, stream.handle()>>>(static_cast<std::uint32_t*>(array), words);
  check_cuda(cudaGetLastError(), "fill_words");
}

void queue_index(std::uint32_t* index, std::uint64_t count, Stream stream) {
  fill_index<<<kSweepBlocks, kThreads, 0, stream.handle()>>>(index, count);
  check_cuda(cudaGetLastError(), "fill_index");
}

std::uint64_t wrong_words(const Call& call, Stream stream) {
  unsigned long long* wrong = nullptr;
  unsigned long long count = 0;
  check_cuda(cudaMalloc(&wrong, sizeof(*wrong)), "cudaMalloc");
  check_cuda(cudaMemsetAsync(wrong, 0, sizeof(*wrong), stream.handle()), "cudaMemsetAsync");
  count_wrong<<<kSweepBlocks, kThreads, 0, stream.handle()>>>(call, wrong);
  check_cuda(cudaGetLastError(), "count_wrong");
  check_cuda(cudaMemcpyAsync(&count, wrong, sizeof(count), cudaMemcpyDeviceToHost, stream.handle()),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  check_cuda(cudaFree(wrong), "cudaFree");
  return count;
}

}  // namespace faro::bench::gpu
