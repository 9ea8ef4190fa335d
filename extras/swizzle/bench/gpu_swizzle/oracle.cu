// Inputs, and what every output must be, by the obvious loops.
#include "bench/gpu/runtime.hpp"
#include "bench/gpu_swizzle/kernels.hpp"

namespace faro::bench::gpu {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kSweepBlocks = 8192;
constexpr int kMostTaps = 7;
constexpr std::uint32_t kPoison = 0xffffffffU;

struct AllWeights {
  int of[kMostTaps][kMostTaps];
};

__device__ std::uint32_t word_of(std::uint64_t x) {
  std::uint64_t hash = (x + 1) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::uint32_t>(hash >> 32);
}

__device__ int pixel_of(const Image& image, int x, int y) {
  return static_cast<int>(word_of(static_cast<std::uint64_t>(y) * image.width + x) & 255U);
}

__device__ std::uint64_t first_of_thread() { return blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; }
__device__ std::uint64_t step_of_thread() { return std::uint64_t{gridDim.x} * blockDim.x; }

__global__ void fill_image(float* in, Image image) {
  const std::uint64_t all = static_cast<std::uint64_t>(image.pitch) * image.height;
  for (std::uint64_t k = first_of_thread(); k < all; k += step_of_thread()) {
    const int x = static_cast<int>(k % image.pitch), y = static_cast<int>(k / image.pitch);
    in[k] = static_cast<float>(x < image.width ? pixel_of(image, x, y) : -1000);  // never to be used
  }
}

__global__ void count_wrong_pixels(const std::uint32_t* out, Image image, int taps, AllWeights weights,
                                   int ring, unsigned long long* wrong) {
  const std::uint64_t all = static_cast<std::uint64_t>(image.pitch) * image.height;
  for (std::uint64_t k = first_of_thread(); k < all; k += step_of_thread()) {
    const int x = static_cast<int>(k % image.pitch), y = static_cast<int>(k / image.pitch);
    std::uint32_t wanted = kPoison;
    const int last_x = image.width - taps, last_y = image.height - taps;
    if (x <= last_x && y <= last_y) {
      if (x < ring || y < ring || x > last_x - ring || y > last_y - ring) continue;
      int sum = 0;
      for (int ky = 0; ky < taps; ++ky)
        for (int kx = 0; kx < taps; ++kx) sum += weights.of[ky][kx] * pixel_of(image, x + kx, y + ky);
      wanted = __float_as_uint(static_cast<float>(sum));
    }
    // A sum of zero may have either sign.
    const std::uint32_t got = out[k] == 0x80000000U ? 0 : out[k];
    if (got != wanted) atomicAdd(wrong, 1ULL);
  }
}

__global__ void fill_factors(std::uint32_t* a, std::uint32_t* b, std::uint64_t words) {
  for (std::uint64_t k = first_of_thread(); k < words; k += step_of_thread()) {
    a[k] = word_of(k);
    b[k] = word_of(words + k);
  }
}

__global__ void count_wrong_products(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                                     std::uint64_t words, unsigned long long* wrong) {
  for (std::uint64_t k = first_of_thread(); k < words; k += step_of_thread()) {
    const std::uint64_t factors = k / kProductWords * kFactorWords;
    const std::uint64_t degree = k % kProductWords;
    std::uint32_t sum = 0;
    for (std::uint64_t i = 0; i < kFactorWords; ++i)
      if (degree >= i && degree - i < kFactorWords) sum ^= a[factors + i] & b[factors + degree - i];
    if (c[k] != sum) atomicAdd(wrong, 1ULL);
  }
}

template <typename Count>
std::uint64_t counted(Stream stream, const Count& count) {
  unsigned long long* wrong = nullptr;
  unsigned long long result = 0;
  check_cuda(cudaMalloc(&wrong, sizeof(*wrong)), "cudaMalloc");
  check_cuda(cudaMemsetAsync(wrong, 0, sizeof(*wrong), stream.handle()), "cudaMemsetAsync");
  count(wrong);
  check_cuda(cudaGetLastError(), "oracle");
  check_cuda(cudaMemcpyAsync(&result, wrong, sizeof(result), cudaMemcpyDeviceToHost, stream.handle()),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  check_cuda(cudaFree(wrong), "cudaFree");
  return result;
}

std::uint64_t bytes_of(const Image& image) {
  return static_cast<std::uint64_t>(image.pitch) * image.height * sizeof(float);
}

}  // namespace

void queue_image(void* in, const Image& image, Stream stream) {
  fill_image<<<kSweepBlocks, kThreads, 0, stream.handle()>>>(static_cast<float*>(in), image);
  check_cuda(cudaGetLastError(), "fill_image");
}

void queue_poison(void* out, const Image& image, Stream stream) {
  check_cuda(cudaMemsetAsync(out, static_cast<int>(kPoison & 255U), bytes_of(image), stream.handle()),
             "cudaMemsetAsync");
}

std::uint64_t wrong_pixels(const void* out, const Image& image, int taps, int ring, Stream stream) {
  AllWeights weights = {};
  for (int ky = 0; ky < taps; ++ky)
    for (int kx = 0; kx < taps; ++kx) weights.of[ky][kx] = static_cast<int>(weight_of(ky, kx));
  return counted(stream, [&](unsigned long long* wrong) {
    count_wrong_pixels<<<kSweepBlocks, kThreads, 0, stream.handle()>>>(static_cast<const std::uint32_t*>(out),
                                                                       image, taps, weights, ring, wrong);
  });
}

void queue_factors(void* a, void* b, std::uint64_t count, Stream stream) {
  fill_factors<<<kSweepBlocks, kThreads, 0, stream.handle()>>>(
      static_cast<std::uint32_t*>(a), static_cast<std::uint32_t*>(b), count * kFactorWords);
  check_cuda(cudaGetLastError(), "fill_factors");
}

std::uint64_t wrong_products(const void* a, const void* b, const void* c, std::uint64_t count,
                             Stream stream) {
  return counted(stream, [&](unsigned long long* wrong) {
    count_wrong_products<<<kSweepBlocks, kThreads, 0, stream.handle()>>>(
        static_cast<const std::uint32_t*>(a), static_cast<const std::uint32_t*>(b),
        static_cast<const std::uint32_t*>(c), count * kProductWords, wrong);
  });
}

}  // namespace faro::bench::gpu
