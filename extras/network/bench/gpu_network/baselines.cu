#include <cub/device/device_radix_sort.cuh>

#include "bench/gpu/runtime.hpp"
#include "bench/gpu_network/baselines.hpp"

namespace faro::bench::gpu {
namespace {

constexpr unsigned kThreads = 256;

struct SortU32 {
  using Value = unsigned;
  static __device__ void apply(Value& first, Value& second) {
    const Value low = min(first, second);
    second = max(first, second);
    first = low;
  }
};
struct HadamardF32 {
  using Value = float;
  static __device__ void apply(Value& first, Value& second) {
    const Value total = first + second;
    second = first - second;
    first = total;
  }
};

template <typename Operator>
__global__ void bare_layer(BareLayer layer, int gap, std::uint64_t pairs, typename Operator::Value* data) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= pairs) return;
  const std::uint64_t below = (std::uint64_t{1} << gap) - 1;
  std::uint64_t x = (i & ~below) << 1 | (i & below);
  std::uint64_t y = x ^ layer.direction;
  if (((__popcll(layer.first & x) & 1) != 0) != layer.constant) {
    const std::uint64_t other = x;
    x = y;
    y = other;
  }
  auto first = data[x];
  auto second = data[y];
  Operator::apply(first, second);
  data[x] = first;
  data[y] = second;
}

template <typename Operator>
void launch(const BareLayer& layer, int bits, void* data, Stream stream) {
  const int gap = 63 - __builtin_clzll(layer.direction);
  const std::uint64_t pairs = std::uint64_t{1} << (bits - 1);
  const auto blocks = static_cast<unsigned>((pairs + kThreads - 1) / kThreads);
  bare_layer<Operator><<<blocks, kThreads, 0, stream.handle()>>>(
      layer, gap, pairs, static_cast<typename Operator::Value*>(data));
  check_cuda(cudaGetLastError(), "bare_layer");
}

}  // namespace

void queue_layer(BareOperator op, const BareLayer& layer, int bits, void* data, Stream stream) {
  if (op == BareOperator::sort_u32) {
    launch<SortU32>(layer, bits, data, stream);
  } else {
    launch<HadamardF32>(layer, bits, data, stream);
  }
}

void queue_radix_sort(void* workspace, std::uint64_t& workspace_bytes, const void* in, void* out,
                      std::uint64_t count, Stream stream) {
  std::size_t bytes = workspace_bytes;
  check_cuda(cub::DeviceRadixSort::SortKeys(workspace, bytes, static_cast<const unsigned*>(in),
                                            static_cast<unsigned*>(out), count, 0, 32, stream.handle()),
             "cub::DeviceRadixSort::SortKeys");
  workspace_bytes = bytes;
}

}  // namespace faro::bench::gpu
