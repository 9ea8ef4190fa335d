// Rolls and flips on the counting memory: every count and shift where small, arrays that begin anywhere,
// batches, elements of several units; whole vectors where it matters.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/permutation/axes.hpp"
#include "kernels/cyclic.hpp"

namespace faro::kernels {
namespace cyclic_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;

struct Problem {
  Cyclic map;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  std::uint32_t in_skew = 0;
  std::uint32_t out_skew = 0;
};

std::string describe(const Problem& p) {
  return (p.map.reversed ? "flip " : "roll ") + std::to_string(p.map.count) + " by " +
         std::to_string(p.map.shift) + ", " + std::to_string(p.element_bytes) + " bytes, batch " +
         std::to_string(p.batch) + ", skews " + std::to_string(p.in_skew) + " " + std::to_string(p.out_skew);
}

CyclicParams params_of(const Problem& p) {
  const std::uint64_t array = p.map.count * p.element_bytes;
  return {.in = {.begin = p.in_skew, .end = p.in_skew + array * p.batch},
          .out = {.begin = p.out_skew, .end = p.out_skew + array * p.batch},
          .array_bytes = device::Division64(array),
          .shift_bytes = p.map.shift * p.element_bytes,
          .element_bytes = device::Division64(p.element_bytes),
          .first_vector = 0};
}

template <int unit>
void run_kernel(CountingMemory& memory, const Problem& p, const CyclicParams& params,
                const CountingMemory::Launch& launch) {
  const auto run = [&](auto reversed, auto several) {
    memory.run(launch, [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
      move_cyclic<unit, decltype(reversed)::value, decltype(several)::value>(m, params, block, thread);
    });
  };
  if (!p.map.reversed) return run(std::false_type(), std::false_type());
  if (p.element_bytes != unit) return run(std::true_type(), std::true_type());
  return run(std::true_type(), std::false_type());
}

// The first `skew` bytes of the buffers belong to others.
template <int unit>
AccessCounts check(const Problem& p, std::mt19937_64& random) {
  SCOPED_TRACE(describe(p));
  const std::uint64_t bytes = p.map.count * p.element_bytes * p.batch;
  std::vector<std::byte> in(p.in_skew + bytes);
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  std::vector<std::byte> out(p.out_skew + bytes + kGuardBytes, kPoison);
  const CyclicParams params = params_of(p);
  CountingMemory memory({});
  memory.add_input(in);
  memory.add_output(std::span(out).first(p.out_skew + bytes));
  run_kernel<unit>(
      memory, p, params,
      {.blocks = (params.vectors() + kCyclicThreads - 1) / kCyclicThreads, .threads = kCyclicThreads});
  for (std::uint64_t x = 0; x < p.map.count * p.batch; ++x) {
    const std::uint64_t y = x / p.map.count * p.map.count + p.map(x % p.map.count);
    EXPECT_EQ(std::memcmp(&in[p.in_skew + x * p.element_bytes], &out[p.out_skew + y * p.element_bytes],
                          p.element_bytes),
              0)
        << "element " << x;
    if (::testing::Test::HasFailure()) return memory.counts();
  }
  for (std::uint32_t i = 0; i < p.out_skew; ++i) EXPECT_EQ(out[i], kPoison) << "before the output";
  EXPECT_EQ(memory.counts().global_stores.bytes, bytes);
  return memory.counts();
}

template <int unit>
void sweep(std::uint64_t element_units, std::mt19937_64& random) {
  for (std::uint64_t count = 1; count <= 40; ++count) {
    for (const bool reversed : {false, true}) {
      const std::uint64_t shift = random() % count;
      for (const std::uint64_t s : {std::uint64_t{0}, shift, count - 1}) {
        const auto skew = [&] { return static_cast<std::uint32_t>(random() % 16 / unit * unit); };
        check<unit>({.map = {.count = count, .shift = s, .reversed = reversed},
                     .element_bytes = unit * element_units,
                     .batch = 1 + random() % 4,
                     .in_skew = skew(),
                     .out_skew = skew()},
                    random);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(CyclicKernel, EverySmallCountAnywhere) {
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 2; ++round) {
    sweep<1>(1, random);
    sweep<1>(3, random);
    sweep<2>(1, random);
    sweep<2>(5, random);
    sweep<4>(1, random);
    sweep<4>(3, random);
    sweep<8>(1, random);
    sweep<8>(3, random);
    sweep<16>(1, random);
    sweep<16>(4, random);
  }
}

// Long arrays: 16 bytes a thread on the store side, no more than twice the vectors read, and of those every
// other from a neighbour's sectors.
TEST(CyclicKernel, VectorsOfOutput) {
  std::mt19937_64 random(kSeed);
  for (const bool reversed : {false, true}) {
    for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5003}}) {
      const Problem p{.map = {.count = 1 << 14, .shift = shift, .reversed = reversed}, .element_bytes = 4};
      const AccessCounts counts = check<4>(p, random);
      const std::uint64_t vectors = p.map.count / 4;
      EXPECT_EQ(counts.global_stores.bytes, p.map.count * 4);
      // A vector in which two pieces meet is stored by itself, as a profiler counts it.
      EXPECT_LE(counts.global_stores.requests, vectors / 32 + 1);
      EXPECT_GE(counts.global_stores.sectors, p.map.count / 8);
      EXPECT_LE(counts.global_stores.sectors, p.map.count / 8 + 1);
      EXPECT_LE(counts.global_loads.requests, vectors / 32 * 2 + 16);
    }
  }
}

TEST(CyclicKernel, ByHand) {
  std::mt19937_64 random(kSeed);
  const std::string in = "abcdefgh";
  std::string out(8, '.');
  for (const bool reversed : {false, true}) {
    const Problem p{.map = {.count = 8, .shift = reversed ? 7U : 3U, .reversed = reversed},
                    .element_bytes = 1};
    CountingMemory memory({});
    memory.add_input(std::as_bytes(std::span(in)));
    memory.add_output(std::as_writable_bytes(std::span(out)));
    run_kernel<1>(memory, p, params_of(p), {.blocks = 1, .threads = kCyclicThreads});
    EXPECT_EQ(out, reversed ? "hgfedcba" : "fghabcde");
  }
}

// Blocks of an array of 2^40 bytes and more: addresses past 32 bits, at its ends and where a roll's pieces
// meet.
TEST(CyclicKernel, BeyondThirtyTwoBits) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 38) + 3;
  for (const bool reversed : {false, true}) {
    const Problem p{
        .map = {.count = count, .shift = count / 3, .reversed = reversed}, .element_bytes = 4, .batch = 3};
    CyclicParams params = params_of(p);
    const std::uint64_t blocks = (params.vectors() + kCyclicThreads - 1) / kCyclicThreads;
    const std::uint64_t joint = p.map.shift * 4 / kMovedBytes / kCyclicThreads;
    for (const std::uint64_t block : {std::uint64_t{0}, joint, blocks / 3, blocks / 2, blocks - 1}) {
      CountingMemory memory({});
      memory.add_virtual_input(params.in.end);
      memory.add_virtual_output(params.out.end);
      run_kernel<4>(memory, p, params, {.blocks = 1, .threads = kCyclicThreads, .first_block = block});
      const std::uint64_t bytes = std::min<std::uint64_t>(
          params.out.end - block * kCyclicThreads * kMovedBytes, kCyclicThreads * kMovedBytes);
      EXPECT_EQ(memory.counts().global_stores.bytes, bytes);
    }
    // The index function alone, against the map.
    std::mt19937_64 random(kSeed);
    for (int sample = 0; sample < 2000; ++sample) {
      const std::uint64_t y = random() % count;
      const std::uint64_t x = p.map.inverse()(y);
      const MovedPiece piece = reversed ? cyclic_piece<4, true, false>(params, (count + y) * 4)
                                        : cyclic_piece<4, false, false>(params, (count + y) * 4);
      ASSERT_EQ(piece.at, (count + x) * 4);
    }
  }
}

}  // namespace cyclic_kernel_test
}  // namespace faro::kernels
