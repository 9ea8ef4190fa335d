#include "reproduce/device_check.hpp"

#include <cstdint>

#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"

namespace faro::reproduce {
namespace {

constexpr int kThreads = 256;
constexpr int kMostBits = 40;
constexpr std::uint64_t kNothing = ~std::uint64_t{0};

// The same struct as in the text.
struct Map {
  unsigned long long row[kMostBits] = {};
  unsigned long long complement = 0;
  int bits = 0;
};

constexpr const char* kText = R"(
typedef unsigned long long word;
struct Map {
  word row[40];
  word complement;
  int bits;
};

__device__ unsigned drawn(word x) { return static_cast<unsigned>(x) * 0x9e3779b1u; }

extern "C" __global__ void fill(unsigned* array) {
  const word x = word{blockIdx.x} * blockDim.x + threadIdx.x;
  array[x] = drawn(x);
}

extern "C" __global__ void poison(unsigned* array) {
  array[word{blockIdx.x} * blockDim.x + threadIdx.x] = 0xa5a5a5a5u;
}

extern "C" __global__ void check(const __grid_constant__ Map map, const unsigned* out, word* lowest) {
  const word x = word{blockIdx.x} * blockDim.x + threadIdx.x;
  word y = map.complement;
  for (int i = 0; i < map.bits; ++i) y ^= static_cast<word>(__popcll(map.row[i] & x) & 1) << i;
  if (out[y] != drawn(x) && x < *static_cast<volatile word*>(lowest)) atomicMin(lowest, x);
}
)";

}  // namespace

struct DeviceCheck::State {
  std::shared_ptr<const cuda::RuntimeModule> module;
  cuda::RuntimeKernel fill;
  cuda::RuntimeKernel poison;
  cuda::RuntimeKernel check;
  cuda::DeviceArray lowest;
};

DeviceCheck::DeviceCheck() {
  const auto module = cuda::compile({.text = kText, .file_name = "check.cu"}, cuda::target().device);
  state_ = std::make_unique<State>(State{module, module->kernel("fill", false),
                                         module->kernel("poison", false), module->kernel("check", false),
                                         cuda::DeviceArray(sizeof(std::uint64_t))});
}

DeviceCheck::~DeviceCheck() = default;

namespace {

// Requires: at least 2^8 elements (checked).
std::uint64_t blocks_of(int bits) {
  FARO_CHECK((std::uint64_t{1} << bits) % kThreads == 0);
  return (std::uint64_t{1} << bits) / kThreads;
}

}  // namespace

void DeviceCheck::fill(std::byte* array, int bits, Stream stream) const {
  void* arguments[] = {&array};
  state_->fill.launch(blocks_of(bits), kThreads, 1, 0, arguments, stream);
}

void DeviceCheck::poison(std::byte* array, int bits, Stream stream) const {
  void* arguments[] = {&array};
  state_->poison.launch(blocks_of(bits), kThreads, 1, 0, arguments, stream);
}

void DeviceCheck::require_permuted(const Affine& map, const std::byte* out, const std::string& what) const {
  Map rows;
  const f2::Matrix transposed = map.matrix().transposed();
  for (int i = 0; i < map.bits(); ++i) rows.row[i] = transposed.column(i);
  rows.complement = map.complement();
  rows.bits = map.bits();
  std::uint64_t lowest = kNothing;
  state_->lowest.upload(&lowest);
  std::byte* found = state_->lowest.data();
  void* arguments[] = {&rows, &out, &found};
  state_->check.launch(blocks_of(map.bits()), kThreads, 1, 0, arguments, {});
  state_->lowest.download(&lowest);
  if (lowest == kNothing) return;
  fail(ErrorCode::verification, what,
       "in[" + std::to_string(lowest) + "] not at out[" + std::to_string(map(lowest)) + "]",
       "out[pi(x)] = in[x]", "this is a bug; please report it");
}

}  // namespace faro::reproduce
