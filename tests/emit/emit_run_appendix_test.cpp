// The kernels of the publication's appendix (Bouverot-Dupuis and Sheeran, 2023): the reversal of 15 bits with
// tiles of 32 x 32, without overlap. Each is written down here as index formulas, and the emitted text must
// make the same accesses, thread by thread, in the same order.
//
//     in    14-10 warp | 9-5 block | 4-0 thread          out   14-10 warp | 9-5 block | 4-0 thread,
//                                                              each of the three reversed
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "emitted/emitted_check.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::testing {
namespace emit_run_appendix_test {

using emit::Rung;
using Kind = TracedAccess::Kind;
using Index = std::uint64_t;

constexpr int kBits = 15;

Index reversed(Index value, int bits) {
  Index result = 0;
  for (int i = 0; i < bits; ++i) result |= (value >> i & 1U) << (bits - 1 - i);
  return result;
}

struct Step {
  Kind kind;
  Index index;
};

// What a thread does, in order. `thread` and `warp` are threadIdx.x and .y.
using Program = std::function<std::vector<Step>(Index block, Index warp, Index thread)>;

std::vector<Step> naive(Index block, Index threads, Index thread) {
  const Index x = block * threads + thread;
  return {{Kind::global_load, x}, {Kind::global_store, reversed(x, kBits)}};
}

// The place in the tile: rows as they are, or each turned by its number.
Index flat(Index address) { return address; }
Index turned(Index address) { return (address & ~Index{31}) + (((address >> 5) + address) & 31); }

template <Index (*place)(Index)>
std::vector<Step> tile(Index block, Index warp, Index thread) {
  return {{Kind::global_load, warp << 10 | block << 5 | thread},
          {Kind::shared_store, place(warp << 5 | thread)},
          {Kind::shared_load, place(thread << 5 | warp)},
          {Kind::global_store, reversed(warp, 5) << 10 | reversed(block, 5) << 5 | reversed(thread, 5)}};
}

// Eight tiles a block: the low three of the block's five bits count iterations. The publication puts each
// element into the tile as it comes; the emitted text has all eight on their way before it stores the first.
template <Index (*place)(Index)>
std::vector<Step> iterations(Index block, Index warp, Index thread) {
  std::vector<Step> steps;
  for (Index i = 0; i < 8; ++i) {
    steps.push_back({Kind::global_load, warp << 10 | block << 8 | i << 5 | thread});
  }
  for (Index i = 0; i < 8; ++i) {
    steps.push_back({Kind::shared_store, i << 10 | place(warp << 5 | thread)});
  }
  for (Index i = 0; i < 8; ++i) {
    steps.push_back({Kind::shared_load, i << 10 | place(thread << 5 | warp)});
    steps.push_back({Kind::global_store, reversed(warp, 5) << 10 | reversed(i, 3) << 7 |
                                             reversed(block, 2) << 5 | reversed(thread, 5)});
  }
  return steps;
}

struct Appendix {
  Rung rung;
  bool turned_rows;
  std::uint64_t blocks;
  Program program;
};

// Runs the text and returns the accesses of every thread.
void compare(const Appendix& published) {
  emit::Options options;
  options.rung = published.rung;
  options.element = "int";
  options.tile_bits = published.rung == Rung::naive ? 0 : 5;
  options.iteration_bits = 3;
  options.turned_rows = published.turned_rows;
  const Affine map = maps::bit_reversal(kBits);
  SCOPED_TRACE(describe(EmittedCase{.map = map, .options = options}));
  const emit::Source source = emit::emit(map, options);
  ASSERT_EQ(source.kernels.size(), 1U);
  const emit::Kernel& kernel = source.kernels[0];
  if (published.rung != Rung::naive) {
    EXPECT_EQ(kernel.blocks, published.blocks);
    EXPECT_EQ(kernel.threads_x, 32);
    EXPECT_EQ(kernel.threads_y, 32);
    EXPECT_EQ(kernel.shared_bytes, 4U << kBits >> f2::trailing_bit(published.blocks));
  }
  EmittedLibrary library;
  library.add(options.name, source);
  library.build();
  std::vector<std::byte> in(std::size_t{4} << kBits, std::byte{1});
  std::vector<std::byte> out(in.size());
  std::vector<TracedAccess> trace;
  EXPECT_EQ(run_counted(library, kernel, in, out, &trace), kernel.predicted);

  const auto threads = static_cast<Index>(kernel.threads_x * kernel.threads_y);
  std::vector<std::vector<Step>> did(kernel.blocks * threads);
  for (const TracedAccess& access : trace) {
    did[access.block * threads + access.thread].push_back({access.kind, access.offset / 4});
  }
  for (Index block = 0; block < kernel.blocks; ++block) {
    for (Index t = 0; t < threads; ++t) {
      const std::vector<Step> expected =
          published.rung == Rung::naive ? naive(block, threads, t) : published.program(block, t / 32, t % 32);
      const std::vector<Step>& steps = did[block * threads + t];
      ASSERT_EQ(steps.size(), expected.size()) << "block " << block << ", thread " << t;
      for (std::size_t k = 0; k < steps.size(); ++k) {
        ASSERT_EQ(steps[k].kind, expected[k].kind)
            << "block " << block << ", thread " << t << ", access " << k;
        ASSERT_EQ(steps[k].index, expected[k].index)
            << "block " << block << ", thread " << t << ", access " << k;
      }
    }
  }
}

TEST(EmittedAppendix, Naive) { compare({Rung::naive, true, 0, {}}); }
TEST(EmittedAppendix, Tile) { compare({Rung::tile, true, 32, tile<flat>}); }
TEST(EmittedAppendix, Banks) { compare({Rung::banks, true, 32, tile<turned>}); }
// The appendix leaves the rows of this one as they are; with rows turned it has no conflicts either.
TEST(EmittedAppendix, Iterations) { compare({Rung::iters, false, 4, iterations<flat>}); }
TEST(EmittedAppendix, IterationsOfTurnedRows) { compare({Rung::iters, true, 4, iterations<turned>}); }

// --- the same on a machine that tells the time

// A GPU of one multiprocessor: a UMM of latency 200 over a DMM of latency 20. Its blocks run one by one.
std::uint64_t time_of(Rung rung) {
  emit::Options options;
  options.rung = rung;
  const Affine map = maps::bit_reversal(kBits);
  const emit::Source source = emit::emit(map, options);
  EmittedLibrary library;
  library.add(options.name, source);
  library.build();
  std::vector<std::byte> from(std::size_t{4} << kBits);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i ^ i >> 8);
  const std::vector<std::byte> in = from;
  std::vector<std::byte> out(from.size());
  std::uint64_t time = 0;
  for (const emit::Kernel& kernel : source.kernels) {
    EmittedKernel<machine::MemoryMachine> emitted(library, kernel, in.size());
    machine::MemoryMachine memory({.kind = machine::MachineKind::hmm,
                                   .width = 32,
                                   .latency = 200,
                                   .threads = std::max<std::uint64_t>(1024, emitted.threads()),
                                   .shared_latency = 20});
    memory.add_buffer(from);
    memory.add_buffer(out);
    const auto phase = [&](std::uint64_t number) {
      return [&emitted, number](machine::MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
        emitted.run_phase(m, number, block, thread);
      };
    };
    const machine::MemoryMachine::Launch launch{
        .blocks = kernel.blocks, .threads = emitted.threads(), .shared_bytes = kernel.shared_bytes};
    if (emitted.shape().phases == 1) {
      memory.run(launch, phase(0));
    } else {
      EXPECT_EQ(emitted.shape().phases, 2U);
      memory.run(launch, phase(0), phase(1));
    }
    time += memory.report().time;
    from = out;
  }
  for (std::uint64_t x = 0; x < std::uint64_t{1} << kBits; ++x) {
    if (std::memcmp(&in[4 * x], &out[4 * map(x)], 4) != 0) {
      ADD_FAILURE() << emit::name(rung) << ": in[" << x << "] is not in its place";
      break;
    }
  }
  return time;
}

TEST(EmittedAppendix, TheLadderOnTheMemoryMachine) {
  const std::uint64_t naive_time = time_of(Rung::naive);
  const std::uint64_t tile_time = time_of(Rung::tile);
  const std::uint64_t banks_time = time_of(Rung::banks);
  const std::uint64_t iters_time = time_of(Rung::iters);
  // A warp's store costs 32 turns: 1024 warps, of which 32 share the 2 latencies of a wave.
  EXPECT_EQ(naive_time, 1024 * (1 + 32) + 32 * 2 * 199);
  // Global 1 + 1 turns a warp; shared 1 + 32; each wave has four rounds.
  EXPECT_EQ(tile_time, 1024 * (1 + 1 + 1 + 32) + 32 * 2 * (199 + 19));
  EXPECT_EQ(banks_time, 1024 * 4 + 32 * 2 * (199 + 19));
  // The same rounds, eight times fewer blocks and eight times as many rounds in each.
  EXPECT_EQ(iters_time, banks_time);
  EXPECT_LT(time_of(Rung::one_pass), naive_time);
  EXPECT_LT(time_of(Rung::two_pass), naive_time);
}

}  // namespace emit_run_appendix_test
}  // namespace faro::testing
