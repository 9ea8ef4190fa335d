// The project's GPU kernels on the memory machines: right on all three, and on a machine of a GPU's shape
// their shared stages are the wavefronts that the counting memory finds.
#include <gtest/gtest.h>

#include <random>

#include "affine_kernel_support.hpp"
#include "faro/machine/memory_machine.hpp"
#include "kernels/affine_naive.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/affine_tile.hpp"

namespace faro::kernels {
namespace machine_kernels_test {

using machine::CountingMemory;
using machine::MachineKind;
using machine::MachineOptions;
using machine::MemoryMachine;

MachineOptions gpu_shaped(MachineKind kind) {
  MachineOptions options;
  options.kind = kind;
  options.width = 32;
  options.latency = 100;
  options.threads = 2048;
  if (kind == MachineKind::hmm) {
    options.dmms = 4;
    options.shared_latency = 10;
  }
  return options;
}

// 2^n words by the tile kernel; gives the machine's report.
template <AffineTileShape shape>
machine::MachineReport run_tile(const MachineOptions& options, const Affine& map, std::mt19937_64& random,
                                std::uint64_t& wavefronts) {
  const layout::Tile tile =
      layout::make_tile(map, {.segment_bits = shape.segment_bits, .min_row_bits = shape.row_bits});
  const AffineTileParams params = make_affine_tile_params(tile, shape, 1);
  const auto load = [&](auto& m, std::uint64_t block, std::uint32_t thread) {
    load_tile<shape>(m, params, block, thread);
  };
  const auto store = [&](auto& m, std::uint64_t block, std::uint32_t thread) {
    store_tile<shape>(m, params, block, thread);
  };

  Arrays arrays(std::size_t{shape.element_bytes()} << map.bits(), random);
  MemoryMachine machine(options);
  machine.add_buffer(arrays.in);
  machine.add_buffer(arrays.output());
  machine.run({.blocks = params.blocks(), .threads = shape.threads(), .shared_bytes = shape.tile_bytes()},
              load, store);
  expect_permuted(map, static_cast<std::size_t>(shape.element_bytes()), arrays);

  CountingMemory memory({.shared_bytes = shape.tile_bytes()});
  Arrays again(arrays.in.size(), random);
  memory.add_input(again.in);
  memory.add_output(again.output());
  memory.run({.blocks = params.blocks(), .threads = static_cast<std::uint32_t>(shape.threads())}, load,
             store);
  wavefronts = memory.counts().shared_loads.wavefronts + memory.counts().shared_stores.wavefronts;
  return machine.report();
}

template <AffineTileShape shape>
void expect_tile(const Affine& map, std::mt19937_64& random) {
  SCOPED_TRACE(describe(map) + ", " + describe(shape) + ", seed " + std::to_string(kSeed));
  for (const MachineKind kind : {MachineKind::dmm, MachineKind::umm, MachineKind::hmm}) {
    std::uint64_t wavefronts = 0;
    const auto report = run_tile<shape>(gpu_shaped(kind), map, random, wavefronts);
    if (::testing::Test::HasFailure()) return;
    const std::uint64_t bytes = std::uint64_t{shape.element_bytes()} << map.bits();
    // Whole rows of 32 words both ways, in the device memory's stages: one each.
    const std::uint64_t global_stages = 2 * bytes / 128;
    if (kind == MachineKind::hmm) {
      EXPECT_EQ(report.stages, global_stages + wavefronts);
    }
    // As shared memory is free of conflicts, there too every row that a warp touches is one stage.
    if (shape.element_bytes() == 4) {
      EXPECT_EQ(wavefronts, global_stages);
    }
  }
}

TEST(MachineKernels, TheTileKernelIsRightOnEveryMachine) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 4; ++trial) {
    const int n = 13 + trial % 2;
    const Affine maps[] = {Affine(f2::reversal(n), 0), random_affine(n, random), random_bpc(n, random)};
    for (const Affine& map : maps) {
      expect_tile<AffineTileShape{2, 6, 6, 2, 7}>(map, random);
      expect_tile<AffineTileShape{2, 5, 5, 2, 7}>(map, random);
      expect_tile<AffineTileShape{2, 6, 6, 0, 9}>(map, random);
      expect_tile<AffineTileShape{3, 5, 5, 1, 7}>(map, random);
      if (HasFailure()) return;
    }
  }
}

TEST(MachineKernels, TheNaiveKernelIsRightOnEveryMachine) {
  std::mt19937_64 random(kSeed);
  for (const MachineKind kind : {MachineKind::dmm, MachineKind::umm, MachineKind::hmm}) {
    for (int n = 0; n <= 12; ++n) {
      const Affine map = random_affine(n, random);
      SCOPED_TRACE(describe(map) + " on the " + std::string(name(kind)));
      const AffineNaiveParams params = make_affine_naive_params(map, 3, 6);
      Arrays arrays(std::size_t{12} << n, random);
      MemoryMachine machine(gpu_shaped(kind));
      machine.add_buffer(arrays.in);
      machine.add_buffer(arrays.output());
      machine.run({.blocks = params.blocks(), .threads = 64, .shared_bytes = 0},
                  [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
                    move_element<4>(m, params, block, thread);
                  });
      expect_permuted(map, 4, arrays);
      EXPECT_EQ(machine.report().accesses, std::uint64_t{6} << n);
      if (HasFailure()) return;
    }
  }
}

// Reversing the bits of a word's index reads rows of 32 words and writes 32 words 2^(n-5) apart: one stage
// and 32 on the UMM, where the tile kernel takes one each.
TEST(MachineKernels, TheNaiveReversalPaysForEveryElement) {
  constexpr int n = 12;
  std::mt19937_64 random(kSeed);
  const Affine map(f2::reversal(n), 0);
  const AffineNaiveParams params = make_affine_naive_params(map, 1, 8);
  Arrays arrays(std::size_t{4} << n, random);
  MemoryMachine machine(gpu_shaped(MachineKind::hmm));
  machine.add_buffer(arrays.in);
  machine.add_buffer(arrays.output());
  machine.run({.blocks = params.blocks(), .threads = 256, .shared_bytes = 0},
              [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
                move_element<4>(m, params, block, thread);
              });
  // Two waves of 64 warps, each a round of reads and one of writes.
  EXPECT_EQ(machine.report().time, 2 * ((64U + 99) + (32 * 64U + 99)));
}

}  // namespace machine_kernels_test
}  // namespace faro::kernels
