// Arrays of structures on a GPU: every size of struct, tails, gathered and scattered structs and planes,
// against loops on the host, between guards.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gpu/aos_kernels.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kPoison = 0xa5a5'a5a5;
constexpr std::size_t kGuardWords = 64;

class GpuAos : public GpuTest {};

std::string describe(const AosCall& call) {
  return "kernel " + std::to_string(static_cast<int>(call.kernel)) + ", " + std::to_string(call.words) +
         " words, alignment " + std::to_string(call.alignment) + ", " + std::to_string(call.count) +
         " structs";
}

Words expected_of(const AosCall& call, const Words& in, const Words& index) {
  const auto words = static_cast<std::size_t>(call.words);
  const std::size_t count = call.count;
  Words out(in.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < words; ++k) {
      const std::size_t at = i * words + k;
      switch (call.kernel) {
        case AosKernel::gather:
          out[at] = in[index[i] * words + k];
          break;
        case AosKernel::sparse_gather:
          out[at] = index[i] % 2 == 1 ? in[index[i] * words + k] : 0;
          break;
        case AosKernel::scatter:
          out[index[i] * words + k] = in[at];
          break;
        case AosKernel::to_planes:
          out[k * count + i] = in[at];
          break;
        case AosKernel::from_planes:
          out[at] = in[k * count + i];
          break;
        default:
          out[at] = in[i * words + (k + 1) % words];
      }
    }
  }
  return out;
}

// Returns whether there is such a kernel.
bool expect_moves(AosCall call) {
  SCOPED_TRACE(describe(call));
  const std::size_t size = call.count * static_cast<std::size_t>(call.words);
  std::mt19937_64 random(call.count + static_cast<std::uint64_t>(call.words));
  Words in(size);
  for (std::uint32_t& word : in) word = static_cast<std::uint32_t>(random());
  Words index(call.count);
  std::iota(index.begin(), index.end(), 0U);
  std::shuffle(index.begin(), index.end(), random);

  cuda::DeviceArray from(std::max<std::size_t>(4, size * 4));
  cuda::DeviceArray indices(std::max<std::size_t>(4, index.size() * 4));
  cuda::DeviceArray to((size + 2 * kGuardWords) * 4);
  in.resize(from.size() / 4);
  index.resize(indices.size() / 4);
  from.upload(in.data());
  indices.upload(index.data());
  Words all(size + 2 * kGuardWords, kPoison);
  to.upload(all.data());

  call.in = from.data();
  call.out = to.data() + kGuardWords * 4;
  call.index = reinterpret_cast<const std::uint32_t*>(indices.data());
  const OwnStream stream;
  if (!queue_aos(call, stream)) return false;
  stream.wait();
  const Words expected = expected_of(call, in, index);
  std::copy_n(expected.begin(), size, all.begin() + kGuardWords);
  Words out(all.size());
  to.download(out.data());
  EXPECT_TRUE(out == all);
  return true;
}

constexpr std::uint64_t kCounts[] = {0, 1, 31, 32, 33, 255, 256, 1000, 100'003};

TEST_F(GpuAos, LoadsAndStoresOfEverySize) {
  for (int words = 1; words <= 32; ++words) {
    for (const std::uint64_t count : kCounts) {
      ASSERT_TRUE(expect_moves({.kernel = AosKernel::step, .words = words, .count = count}));
    }
  }
}

TEST_F(GpuAos, EveryOtherKernel) {
  int kernels = 0;
  for (const AosKernel kernel :
       {AosKernel::step, AosKernel::step_row_column_row, AosKernel::step_column_row_column, AosKernel::gather,
        AosKernel::scatter, AosKernel::sparse_gather, AosKernel::to_planes, AosKernel::from_planes}) {
    for (const int alignment : {4, 16}) {
      for (int words = 1; words <= 32; ++words) {
        if (kernel == AosKernel::step && alignment == 4) continue;
        bool is_there = true;
        for (const std::uint64_t count : kCounts) {
          is_there = is_there &&
                     expect_moves({.kernel = kernel, .words = words, .alignment = alignment, .count = count});
        }
        if (is_there) ++kernels;
      }
    }
  }
  EXPECT_EQ(kernels, 2 * 5 + 2 * 7 + 5 * 11);
}

}  // namespace
}  // namespace faro::testing
