// The CPU engine against the obvious loop, bit for bit: every map, width, batch, alignment, kernel and
// instruction set.
// Sanitized: in `make test`, too.
#define HWY_WANT_AVX3_DL  // as the kernels do, so that this file knows the same instruction sets

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine_support.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "hwy/highway.h"
#include "plan/cpu/cpu_pass.hpp"

namespace faro::testing {
namespace cpu_engine_test {

int log2(std::uint64_t power_of_two) { return std::countr_zero(power_of_two); }

// --- every instantiation of the tile kernel

// A map of each rank for each vector and unit, with segments of one vector, so that a tile is one micro tile,
// and of up to four: the rank is what is exchanged. In an instruction set without wide registers, programs
// for them run on narrow ones, staged.
void run_every_kernel(std::uint64_t vectors_a_segment, Reached& reached) {
  std::uint64_t seed = 100;
  for (const std::uint64_t vector : kVectorBytes) {
    for (std::uint64_t unit = 1; unit <= 16; unit *= 2) {
      const int v = log2(vector / unit);
      for (int rank = 0; rank <= v; ++rank) {
        for (const Stores stores : kStores) {
          const int n = v + std::max(rank, 1) + 2 + log2(vectors_a_segment);
          // Bit 0 complemented: no segment of two units moves whole.
          const Affine ranked = map_of_rank(n, v, rank, seed);
          const Affine map(ranked.matrix(), ranked.complement() | 1);
          EngineCase c{.problem = {.permutation = map, .element_bytes = unit, .batch = 1 + seed % 3},
                       .target = test_target(vector, stores),
                       .in_offset = seed % 5,
                       .seed = seed};
          c.target.segment_bytes_max = vector * vectors_a_segment;
          check(c, &reached);
          seed += 10;
        }
      }
    }
  }
}

std::vector<std::string> kernels_of_this_target() {
  std::vector<std::string> names;
  const bool has_pairs = cpu::simd_target().starts_with("AVX");
  for (const std::uint64_t vector : kVectorBytes) {
    for (std::uint64_t unit = 1; unit <= 16; unit *= 2) {
      if (cpu::widest_vector_bytes(unit) < vector) continue;
      for (int bits = 0; bits <= log2(vector / unit); ++bits) {
        if (vector == unit) continue;  // one unit a vector: nothing moves inside, a pass of segments
        for (const bool streamed : {false, true}) {
          names.push_back(tile_kernel_name(vector, unit, bits, streamed));
          if (vector == 16 && has_pairs) names.push_back(tile_kernel_name(32, unit, bits, streamed));
        }
      }
    }
  }
  return names;
}

TEST(CpuEngine, EveryKernelOfEveryInstructionSet) {
  std::vector<std::string> sets;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    // As on a machine that knows this set and the lesser ones, which have the higher bits.
    hwy::SetSupportedTargetsForTest(~(target - 1));
    EXPECT_EQ(cpu::simd_target(), hwy::TargetName(target));
    sets.push_back(cpu::simd_target());
    Reached reached;
    run_every_kernel(1, reached);
    run_every_kernel(4, reached);
    for (const std::string& kernel : kernels_of_this_target()) {
      EXPECT_TRUE(reached.contains(kernel)) << cpu::simd_target() << ": " << kernel;
    }
    EXPECT_TRUE(reached.contains("staged")) << cpu::simd_target();
    EXPECT_EQ(reached.contains("straight"), cpu::widest_vector_bytes(16) == 64) << cpu::simd_target();
    if (HasFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GE(sets.size(), 1U);
  EXPECT_EQ(cpu::simd_target(), sets.front()) << "the best one is taken";
}

// --- every map, width and batch

void sweep(const std::vector<int>& bits, std::uint64_t bytes_max, std::uint64_t sample, Reached& reached) {
  sweep_cases(bits, bytes_max, sample, [&](const EngineCase& c) { check(c, &reached); });
}

TEST(CpuEngine, EveryMapWidthAndBatch) {
  Reached reached;
  sweep({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13}, std::uint64_t{1} << 18, kInstrumented ? 13 : 1, reached);
  for (const char* const branch : {"copy cached", "copy streamed", "segments cached", "segments streamed",
                                   "direct", "tail", "staged", "several arrays", "misaligned"}) {
    EXPECT_TRUE(reached.contains(branch)) << branch;
  }
  EXPECT_EQ(reached.contains("straight"), cpu::widest_vector_bytes(16) == 64);
}

// Of the pages that 64-bit ARM has, and of huge ones; few translations, so that blocks go page by page.
TEST(CpuEngine, PagesOfOtherSizes) {
  for (const std::uint64_t page_bytes : {4096U, 16384U, 65536U, 2U << 20}) {
    Reached reached;
    sweep_cases({12, 15, 18}, std::uint64_t{1} << 21, kInstrumented ? 41 : 7, [&](const EngineCase& c) {
      EngineCase paged = c;
      paged.target.page_bytes = page_bytes;
      paged.target.page_entries = 8;
      check(paged, &reached);
    });
    EXPECT_TRUE(reached.contains("segments streamed")) << page_bytes;
    if (HasFailure()) break;
  }
}

TEST(CpuEngine, EveryInstructionSetInSmall) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    Reached reached;
    sweep({0, 3, 4, 7, 11}, std::uint64_t{1} << 16, kInstrumented ? 41 : 3, reached);
    EXPECT_GT(reached.size(), 9U) << cpu::simd_target();
    if (HasFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
}

// --- larger arrays

Affine random_map(int n, std::uint64_t seed) {
  switch (seed % 4) {
    case 0:
      return maps::random_bp(n, seed);
    case 1:
      return maps::random_bpc(n, seed);
    case 2:
      return direct_sum(maps::random_bmmc(n / 2, seed), maps::random_bpc(n - n / 2, seed));
    default:
      return maps::random_bmmc(n, seed);
  }
}

TEST(CpuEngine, RandomMapsToTwentyFourBits) {
  Reached reached;
  const std::uint64_t bytes_max = std::uint64_t{1} << (kInstrumented ? 20 : 24);
  for (int n = 8; n <= (kInstrumented ? 18 : 24); ++n) {
    for (int k = 0; k < (n <= 14 ? 48 : n <= 20 ? 8 : 2); ++k) {
      const std::uint64_t seed = static_cast<std::uint64_t>(n) * 1000 + static_cast<std::uint64_t>(k);
      SplitMix64 random{seed};
      std::uint64_t width = std::uint64_t{1} << random() % 13;
      while (width > 1 && (width << n) > bytes_max) width /= 2;
      EngineCase c{.problem = {.permutation = random_map(n, seed), .element_bytes = width},
                   .target = test_target(kVectorBytes[random() % 2], kStores[random() % 2],
                                         1 + static_cast<int>(random() % 4)),
                   .seed = seed};
      if (random() % 2 == 0) c.in_offset = random() % 64;
      if (random() % 4 == 0) c.out_offset = random() % 64;
      while (((c.problem.batch * 3 * width) << n) <= bytes_max && random() % 2 == 0) c.problem.batch *= 3;
      check(c, &reached);
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(reached.contains("segments streamed"));
  EXPECT_TRUE(reached.contains("misaligned"));
}

// As a user's call plans it, with this machine's own sizes, all threads, stores past the caches where it is
// large.
TEST(CpuEngine, ThisMachinesOwnTarget) {
  for (const int n : {5, 9, 12, 17}) {
    for (const std::uint64_t width : {1U, 4U, 16U}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        check({.problem = {.permutation = random_map(n, seed), .element_bytes = width},
               .target = cpu::target(),
               .seed = seed});
      }
    }
  }
  // Past every last-level cache there is, where this is no instrumented build.
  check({.problem = {.permutation = random_map(22, 3), .element_bytes = kInstrumented ? 1U : 128U},
         .target = cpu::target()});
}

// --- alignment

TEST(CpuEngine, EveryAlignmentOfBothArrays) {
  for (const std::uint64_t unit : {1U, 4U, 16U}) {
    const Affine list[] = {maps::bit_reversal(11), maps::xor_mask(11, 0x400), maps::identity(11)};
    for (const Affine& map : list) {
      for (const Stores stores : kStores) {
        for (std::size_t offset = 0; offset <= 64; offset += kInstrumented ? 7 : 1) {
          EngineCase c{.problem = {.permutation = map, .element_bytes = unit, .batch = 3},
                       .target = test_target(64, stores, 2),
                       .in_offset = offset,
                       .seed = offset};
          check(c);
          std::swap(c.in_offset, c.out_offset);
          check(c);
          c.in_offset = 64 - offset;
          check(c);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// --- shares

// The tiles of several arrays in shares cut at every kind of place give the same as all at once, fetched tile
// by tile or in runs.
TEST(CpuEngine, TilesCutAnywhere) {
  const auto check_cut = [](const cpu::TileProgram& program, const Problem& problem, std::uint64_t seed) {
    Arrays arrays(program.arrays * program.array_bytes, 0, 0, seed);
    SplitMix64 random{seed};
    for (std::uint64_t begin = 0; begin < program.tiles();) {
      const std::uint64_t end = std::min(program.tiles(), begin + random() % 9);
      const auto stores = random() % 2 == 0 ? cpu::StoreKind::cached : cpu::StoreKind::streamed;
      cpu::run_tiles(program, {begin, end}, stores, arrays.in(), arrays.out());
      begin = end;
    }
    EXPECT_EQ(first_wrong(problem, arrays.in(), arrays.out()), std::nullopt) << describe(problem);
    EXPECT_TRUE(arrays.guards_intact()) << describe(problem);
  };
  for (const std::uint64_t unit : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint64_t vector : kVectorBytes) {
      if (vector == unit) continue;  // nothing moves inside: whole segments
      for (const std::uint64_t segment_bytes : {64U, 128U}) {
        const Affine list[] = {maps::bit_reversal(17), maps::random_bmmc(17, unit)};
        for (const Affine& map : list) {
          const Problem problem{.permutation = map, .element_bytes = unit, .batch = 3};
          Target target = test_target(vector, Stores::streamed);
          target.segment_bytes_max = segment_bytes;
          target.tile_bytes_max = cpu::kMaxTileBytes;
          const Plan plan(problem, target);
          ASSERT_EQ(plan.passes().size(), 1U);
          ASSERT_EQ(plan.passes()[0].kind, PassKind::tile);
          cpu::TileProgram program(plan.passes()[0], unit, std::min(vector, cpu::widest_vector_bytes(unit)));
          check_cut(program, problem, vector + unit);
          const std::size_t lines = program.source_lines.size();
          program.read_and_write_in_runs();
          EXPECT_EQ(program.source_lines.size(), lines << program.group_bits);
          EXPECT_EQ(program.group_bits > 0, !program.staged) << describe(problem);
          // A random map may have both halves of 128 bytes in one micro tile.
          const bool may_write_pairs = !program.staged && segment_bytes > 64;
          if (&map == &list[0] || !may_write_pairs) {
            EXPECT_EQ(program.writes_pairs, may_write_pairs) << describe(problem);
          }
          if (!program.staged) check_cut(program, problem, vector + unit);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Plans ask for runs where the second level of a core is a large one, and what is written goes past the
// caches.
TEST(CpuEngine, RunsWhereTheSecondLevelIsLarge) {
  for (const std::uint64_t second_level : {std::uint64_t{1} << 20, std::uint64_t{2} << 20}) {
    for (const Stores stores : kStores) {
      for (std::uint64_t unit = 1; unit <= 16; unit *= 2) {
        EngineCase c{
            .problem = {.permutation = maps::random_bmmc(20 - log2(unit), unit), .element_bytes = unit},
            .target = test_target(64, stores, 3),
            .seed = unit};
        c.target.chunk_bytes_max = second_level;
        c.target.segment_bytes_max = 1024;
        check(c);
        const Plan plan(c.problem, c.target);
        const auto& affine = std::get<detail::CpuAffine>(plan.passes().at(0).cpu->kernel);
        EXPECT_EQ(affine.in_runs, stores == Stores::streamed && second_level > std::uint64_t{1} << 20);
      }
    }
  }
}

TEST(CpuEngine, AnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::uint64_t width : {8U, 64U, 4096U}) {
      const int n = 24 - log2(width);
      for (const Stores stores : kStores) {
        for (const Affine& map : {maps::bit_reversal(n), maps::identity(n), maps::gray(n)}) {
          check({.problem = {.permutation = map, .element_bytes = width},
                 .target = test_target(64, stores, threads),
                 .seed = width});
        }
        if (kInstrumented) break;
      }
    }
  }
}

// --- plain copies

void check_copy(std::uint64_t bytes, std::size_t in_offset, std::size_t out_offset, int threads) {
  Arrays arrays(bytes, in_offset, out_offset, bytes);
  if (threads == 0) {
    cpu::copy_streamed(arrays.in(), arrays.out(), bytes);
    cpu::finish_streams();
  } else {
    cpu::copy(arrays.in(), arrays.out(), bytes, threads);
  }
  const auto line = [&] {
    return std::to_string(bytes) + " bytes, in + " + std::to_string(in_offset) + ", out + " +
           std::to_string(out_offset) + ", " + std::to_string(threads) + " threads";
  };
  EXPECT_EQ(std::memcmp(arrays.in(), arrays.out(), bytes), 0) << line();
  EXPECT_TRUE(arrays.guards_intact()) << line();
}

TEST(CpuCopy, EverySmallSizeAndAlignment) {
  for (std::uint64_t bytes = 0; bytes <= 260; ++bytes) {
    for (std::size_t offset = 0; offset < 64; offset += kInstrumented ? 9 : 1) {
      check_copy(bytes, 1, offset, 0);
      check_copy(bytes, offset, 0, 1);
    }
  }
}

// On both sides of where the two meet in their pages, and of the length from which that matters.
TEST(CpuCopy, AnyDistanceWithinAPage) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kTarget = 4 * kPage;
  std::vector<std::byte> memory(10 * kPage);
  const std::size_t first = (0 - reinterpret_cast<std::uintptr_t>(memory.data())) % kPage;
  for (std::size_t i = 0; i < kTarget; ++i) memory[i] = static_cast<std::byte>(i * 167 + i / 256);
  for (const std::size_t bytes : {0U, 1U, 1023U, 1024U, 1025U, 1100U, 3001U, 8191U}) {
    for (const std::size_t offset : {0U, 1U, 63U, 4090U}) {
      for (std::size_t ahead = 0; ahead < kPage; ahead += ahead < 130 || ahead > 4000 ? 1 : 97) {
        const std::byte* const from = memory.data() + first + offset;
        std::byte* const to = memory.data() + first + offset % 64 + kTarget + ahead;
        std::memset(to - 1, 0xEE, bytes + 2);
        cpu::copy_cached(from, to, bytes);
        ASSERT_EQ(std::memcmp(from, to, bytes), 0) << bytes << " bytes, " << ahead << " ahead";
        ASSERT_EQ(to[-1], std::byte{0xEE});
        ASSERT_EQ(to[bytes], std::byte{0xEE});
      }
    }
  }
}

TEST(CpuCopy, ThreadsAndSizesPastTheCaches) {
  const std::uint64_t past = cpu::target().streaming_bytes + 12345;
  for (const int threads : {1, 2, 7}) {
    for (const std::size_t offset : {0U, 3U}) {
      check_copy(3 << 20 | 77, offset, 5 - offset, threads);
      if (past <= (kInstrumented ? std::uint64_t{1} << 20 : std::uint64_t{1} << 28)) {
        check_copy(past, 5 - offset, offset, threads);
      }
    }
  }
}

// What is measured for large arrays leaves small ones in the caches.
TEST(CpuEngine, FittedCurvesWritePastTheCachesFromTheSameSizeOn) {
  Target fitted = cpu::target(1);
  const std::uint64_t before = fitted.streaming_bytes;
  fitted.name += ", of a test";  // others' curves stay as they are
  ASSERT_EQ(setenv("FARO_MEASURE", "", 1), 0);
  cpu::plan_by_curves(fitted, cpu::kMeasuredBytes);
  ASSERT_EQ(setenv("FARO_MEASURE", "never", 1), 0);
  EXPECT_NE(fitted.index_calibration->source.find("fitted"), std::string::npos);
  EXPECT_EQ(fitted.streaming_bytes, before);
}

}  // namespace cpu_engine_test
}  // namespace faro::testing
