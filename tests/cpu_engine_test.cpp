// The CPU engine against the obvious loop, bit for bit, with guard zones around poisoned outputs.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "faro/engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/permutation/maps.hpp"
#include "faro/plan/plan.hpp"

namespace faro {
namespace {

constexpr std::size_t kGuardBytes = 128;
constexpr std::byte kPoison{0xa5};

// An array with `offset` bytes of misalignment and guard zones on both sides.
class Guarded {
 public:
  Guarded(std::uint64_t bytes, std::size_t offset)
      : storage_(bytes + 2 * kGuardBytes + 64 + offset, kPoison), bytes_(bytes) {
    void* start = storage_.data() + kGuardBytes;
    std::size_t space = storage_.size() - kGuardBytes;
    std::align(64, 1, start, space);
    data_ = static_cast<std::byte*>(start) + offset;
  }
  std::byte* data() { return data_; }
  bool guards_intact() const {
    const auto poisoned = [](const std::byte* from, const std::byte* to) {
      return std::all_of(from, to, [](std::byte b) { return b == kPoison; });
    };
    return poisoned(storage_.data(), data_) && poisoned(data_ + bytes_, storage_.data() + storage_.size());
  }

 private:
  std::vector<std::byte> storage_;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_;
};

struct Case {
  Problem problem;
  Target target;
  std::size_t in_offset = 0;
  std::size_t out_offset = 0;
};

// Runs a case and compares; the failure message is a problem to paste. Returns the pass kinds that ran.
std::set<PassKind> check(const Case& c) {
  const Plan plan(c.problem, c.target);
  const cpu::Executor executor(plan);
  const std::uint64_t bytes = plan.array_bytes();
  Guarded in(bytes, c.in_offset);
  Guarded out(bytes, c.out_offset);
  std::mt19937_64 random(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) in.data()[i] = static_cast<std::byte>(random());
  executor.run(in.data(), out.data());

  const auto& map = std::get<Affine>(c.problem.permutation);
  const std::uint64_t width = c.problem.element_bytes;
  const std::uint64_t count = std::uint64_t{1} << map.bits();
  for (std::uint64_t b = 0; b < c.problem.batch; ++b) {
    for (std::uint64_t x = 0; x < count; ++x) {
      const std::byte* expected = in.data() + (b * count + x) * width;
      const std::byte* got = out.data() + (b * count + map(x)) * width;
      if (std::memcmp(expected, got, width) != 0) {
        ADD_FAILURE() << to_text(c.problem.permutation) << " width " << width << " batch " << c.problem.batch
                      << " vector " << c.target.vector_bytes << ": element " << x << " of array " << b;
        return {};
      }
    }
  }
  EXPECT_TRUE(out.guards_intact()) << to_text(c.problem.permutation) << " width " << width;
  std::set<PassKind> kinds;
  for (const Pass& pass : plan.passes()) kinds.insert(pass.kind);
  return kinds;
}

Target test_target(std::uint64_t vector_bytes, int threads, bool streaming) {
  Target t = cpu::target(threads);
  t.vector_bytes = vector_bytes;
  t.direct_bytes_max = 0;
  t.streaming_bytes = streaming ? 0 : ~std::uint64_t{0};
  return t;
}

Affine map_of_kind(int kind, int n, std::uint64_t seed) {
  switch (kind) {
    case 0: return maps::random_bmmc(n, seed);
    case 1: return maps::random_bpc(n, seed);
    case 2: return maps::bit_reversal(n);
    case 3: return maps::gray(n);
    case 4: return maps::xor_mask(n, f2::unit(n - 1) | seed % f2::unit(n));
    case 5: return maps::rotate_bits(n, static_cast<std::int64_t>(seed % 7));
    default: return maps::random_bp(n, seed);
  }
}

TEST(CpuEngine, EveryWidthVectorAndStore) {
  std::set<PassKind> reached;
  std::uint64_t seed = 1;
  for (const std::uint64_t vector_bytes : {16U, 64U}) {
    for (const bool streaming : {false, true}) {
      for (std::uint64_t width = 1; width <= 64; width *= 2) {
        for (const int n : {3, 5, 8, 11, 14}) {
          for (int kind = 0; kind < 7; ++kind) {
            for (const std::uint64_t batch : {1U, 3U}) {
              const Case c{.problem = {.permutation = map_of_kind(kind, n, ++seed),
                                       .element_bytes = width,
                                       .batch = batch},
                           .target = test_target(vector_bytes, 1 + static_cast<int>(seed % 3), streaming)};
              const auto kinds = check(c);
              reached.insert(kinds.begin(), kinds.end());
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(reached.size(), 4U) << "every kind of pass is reached";
}

TEST(CpuEngine, OddAlignments) {
  for (const std::size_t in_offset : {0U, 1U, 7U, 32U}) {
    for (const std::size_t out_offset : {0U, 1U, 4U, 63U}) {
      for (const int kind : {0, 2, 4}) {
        for (const bool streaming : {false, true}) {
          check({.problem = {.permutation = map_of_kind(kind, 13, 5), .element_bytes = 4},
                 .target = test_target(64, 2, streaming),
                 .in_offset = in_offset,
                 .out_offset = out_offset});
        }
      }
    }
  }
}

}  // namespace
}  // namespace faro
