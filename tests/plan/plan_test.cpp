// What every plan for a CPU must satisfy, over all sizes, widths and batches, and a few plans worked out by
// hand. Plans for GPUs: plan_gpu_test.cpp.
#include "faro/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "plan_support.hpp"
#include "processor_time.hpp"
#include "refusal.hpp"

namespace faro {
namespace plan_test {

using f2::Subspace;
using testing::describe;
using testing::maps_of;

constexpr std::uint64_t kSeed = 7;
constexpr std::array<std::uint64_t, 7> kBatches{0, 1, 2, 3, 5, 64, 1000003};

int log2_of(std::uint64_t power_of_two) { return std::countr_zero(power_of_two); }

Plan plan_of(Affine map, std::uint64_t element_bytes, std::uint64_t batch = 1, Target target = {}) {
  return {Problem{.permutation = map, .element_bytes = element_bytes, .batch = batch}, std::move(target)};
}

// --- laws

void expect_tile_law(const Plan& plan, const Pass& pass) {
  const Target& target = plan.target();
  const layout::Tile& tile = pass.tile;
  const int s = tile.segment_bits;
  EXPECT_EQ(tile.index_bits, pass.map.bits());
  EXPECT_EQ(tile.tile_bits() + tile.block_bits(), tile.index_bits);
  EXPECT_EQ(tile.row_bits, pass.map.rank_gamma(s));
  EXPECT_EQ(pass.segment_bytes, plan.unit_bytes() << s);
  EXPECT_GE(pass.segment_bytes, target.vector_bytes);
  EXPECT_LE(pass.segment_bytes,
            pass.kind == PassKind::segments ? kWholeSegmentBytesMax : target.segment_bytes_max);
  EXPECT_LE(plan.unit_bytes() << tile.tile_bits(), target.tile_bytes_max);
  if (s < tile.index_bits && pass.segment_bytes < target.segment_bytes_max) {
    EXPECT_GT(plan.unit_bytes() << (s + 1 + pass.map.rank_gamma(s + 1)), target.tile_bytes_max)
        << "longer segments fit";
  }
}

void expect_segments_law(const Plan& plan, const Pass& pass) {
  const int s = pass.tile.segment_bits;
  EXPECT_EQ(pass.tile.row_bits, 0);
  EXPECT_EQ(pass.tile.local, f2::Matrix::identity(s));
  EXPECT_EQ(pass.tile.complement & f2::low_mask(s), 0U);
  for (const f2::Word v : pass.tile.block_targets) EXPECT_EQ(v & f2::low_mask(s), 0U);
  EXPECT_EQ(pass.segment_bytes, plan.unit_bytes() << s);
  EXPECT_GE(pass.segment_bytes, plan.target().vector_bytes);
  EXPECT_LE(pass.segment_bytes, kWholeSegmentBytesMax);
}

// Blocks that share pages, read or written, are neighbours: the low block bits run through (P + A^-1 P) / T.
void expect_near_blocks_first(const Plan& plan, const Pass& pass) {
  const Target& target = plan.target();
  const int n = pass.map.bits();
  const int s = pass.tile.segment_bits;
  int near = std::min(n, log2_of(target.page_bytes) - log2_of(plan.unit_bytes()));
  while (near > s && (std::uint64_t{2} << pass.map.rank_gamma(near)) > target.page_entries) --near;
  if (near <= s) return;
  Subspace tile = Subspace::low(n, s);
  for (const f2::Word v : pass.tile.source_rows) tile.insert(v);
  const Subspace pages = Subspace::low(n, near);
  const Subspace around = f2::sum(tile, f2::sum(pages, f2::image(pass.map.inverse_matrix(), pages)));
  const auto count = static_cast<std::size_t>(around.dimension() - tile.dimension());
  ASSERT_LE(count, pass.tile.block_sources.size());
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(around.contains(pass.tile.block_sources[i])) << "block bit " << i;
  }
}

void expect_laws(const Plan& plan) {
  const Problem& problem = plan.problem();
  SCOPED_TRACE(describe(problem));
  const Affine& map = std::get<Affine>(problem.permutation);
  EXPECT_EQ(plan.unit_bytes() << plan.unit_bits_per_element(), problem.element_bytes);
  EXPECT_LE(plan.unit_bytes(), plan.target().unit_bytes_max);
  EXPECT_EQ(plan.array_bytes(), total_bytes(problem));
  EXPECT_EQ(plan.workspace_bytes(), 0U);
  EXPECT_EQ(plan.passes().empty(), problem.batch == 0);
  EXPECT_LE(plan.passes().size(), 2U);

  std::uint64_t arrays = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < plan.passes().size(); ++i) {
    const Pass& pass = plan.passes()[i];
    const int folded = i == 0 ? plan.folded_batch_bits() : 0;
    EXPECT_EQ(pass.map, direct_sum(direct_sum(Affine(plan.unit_bits_per_element()), map), Affine(folded)));
    EXPECT_EQ(pass.bytes_read, pass.bytes_written);
    EXPECT_EQ(pass.segments_read * pass.segment_bytes, pass.bytes_read);
    EXPECT_EQ(pass.segments_written * pass.segment_bytes, pass.bytes_written);
    arrays += pass.arrays << folded;
    bytes += pass.bytes_read;
    if (pass.kind == PassKind::tile) expect_tile_law(plan, pass);
    if (pass.kind == PassKind::segments) expect_segments_law(plan, pass);
    if (pass.kind == PassKind::tile || pass.kind == PassKind::segments) expect_near_blocks_first(plan, pass);
    if (pass.kind == PassKind::direct && i == 0) {
      const std::uint64_t array = plan.unit_bytes() << pass.map.bits();
      EXPECT_LE(array, std::max(plan.target().direct_bytes_max, plan.target().vector_bytes - 1));
    }
    EXPECT_EQ(pass.kind == PassKind::copy, map.is_identity());
    EXPECT_TRUE(i == 0 || pass.kind == PassKind::direct);
  }
  EXPECT_EQ(arrays, problem.batch);
  EXPECT_EQ(bytes, plan.array_bytes());
}

TEST(PlanLaws, EverySizeAndWidth) {
  std::set<PassKind> reached;
  for (int n = 0; n <= kMaxProblemBits; ++n) {
    for (std::uint64_t width = 1; width <= kMaxElementBytes; width *= 2) {
      for (const Affine& map : maps_of(n, kSeed)) {
        const Plan plan = plan_of(map, width);
        expect_laws(plan);
        reached.insert(plan.passes().front().kind);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_EQ(reached.size(), 4U);
}

TEST(PlanLaws, EveryBatch) {
  for (int n = 0; n <= 16; ++n) {
    for (const std::uint64_t width : {1U, 4U, 64U}) {
      for (const std::uint64_t batch : kBatches) {
        for (const Affine& map : maps_of(n, kSeed)) {
          expect_laws(plan_of(map, width, batch));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(PlanLaws, OtherTargets) {
  Target huge_pages;
  huge_pages.page_bytes = std::uint64_t{2} << 20;
  Target pages_of_arm;
  pages_of_arm.page_bytes = std::uint64_t{64} << 10;
  Target few_entries;
  few_entries.page_entries = 64;
  for (const Target& target : {huge_pages, pages_of_arm, few_entries}) {
    for (int n = 0; n <= 34; ++n) {
      for (const std::uint64_t width : {1U, 2U, 4U, 16U, 32U}) {
        for (const Affine& map : maps_of(n, kSeed + 1)) {
          const Plan plan = plan_of(map, width, 1, target);
          expect_laws(plan);
          for (const Pass& pass : plan.passes()) {
            EXPECT_FALSE(pass.placement.has_value() || pass.launch.has_value());
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

// --- by hand, for the default target: vectors of 64 bytes, tiles of 16 KiB, segments up to 4 KiB

struct Expected {
  std::string map;
  std::uint64_t element_bytes;
  PassKind kind;
  int segment_bits;
  int row_bits;
  std::uint64_t segments;
};

TEST(PlanByHand, KindsAndSizes) {
  const std::array table{
      // 4 MiB; gamma(s) = s, and 6 + 6 + log2(4) is the capacity 14
      Expected{"bit_reversal(20)", 4, PassKind::tile, 6, 6, 1U << 14},
      // gamma(s) = s up to 10: 7 + 7
      Expected{"transpose(1024, 1024)", 1, PassKind::tile, 7, 7, 1U << 13},
      // upper triangular: gamma = 0, so the longest segments
      Expected{"gray(30)", 1, PassKind::tile, 12, 0, 1U << 18},
      // the complement turns segments around
      Expected{"reverse(20)", 8, PassKind::tile, 9, 0, 1U << 11},
      Expected{"xor(20, 1)", 4, PassKind::tile, 10, 0, 1U << 10},
      // the low 12 bits stay
      Expected{"xor(20, 0xff000)", 4, PassKind::segments, 12, 0, 1U << 8},
      // bit 16 up change places; of the fixed low bits 14 fill the longest whole segment, 64 KiB
      Expected{"swap_bits(20, 16, 19)", 4, PassKind::segments, 14, 0, 1U << 6},
      // 4 fixed bits of 4 bytes are one vector, 3 are half a vector
      Expected{"swap_bits(20, 4, 19)", 4, PassKind::segments, 4, 0, 1U << 16},
      Expected{"swap_bits(20, 3, 19)", 4, PassKind::tile, 10, 1, 1U << 10},
      // two units of 16 bytes: bit 0 stays, gamma(s) = s - 1, 5 + 4 + 4 <= 14
      Expected{"bit_reversal(18)", 32, PassKind::tile, 5, 4, 1U << 14},
      // one element is one segment of 4 KiB
      Expected{"bit_reversal(6)", 4096, PassKind::segments, 8, 0, 64},
      Expected{"identity(20)", 4, PassKind::copy, 0, 0, 1},
      Expected{"identity(0)", 1, PassKind::copy, 0, 0, 1},
      Expected{"bit_reversal(4)", 4, PassKind::direct, 0, 0, 16},
      Expected{"reverse(7)", 4, PassKind::direct, 0, 0, 128},
      Expected{"reverse(8)", 4, PassKind::tile, 8, 0, 1},
  };
  for (const Expected& e : table) {
    const Plan plan(Problem{.permutation = parse_permutation(e.map), .element_bytes = e.element_bytes},
                    Target{});
    SCOPED_TRACE(describe(plan.problem()));
    ASSERT_EQ(plan.passes().size(), 1U);
    const Pass& pass = plan.passes().front();
    EXPECT_STREQ(name(pass.kind), name(e.kind));
    EXPECT_EQ(pass.tile.segment_bits, e.segment_bits);
    EXPECT_EQ(pass.tile.row_bits, e.row_bits);
    EXPECT_EQ(pass.segments_read, e.segments);
    EXPECT_EQ(pass.segments_written, e.segments);
    EXPECT_EQ(pass.bytes_read, plan.array_bytes());
  }
}

TEST(PlanByHand, BatchIsFolded) {
  // 128 bytes an array: 2^5 of them have 4 KiB, which is folded at most; 1000003 = 31250 * 32 + 3.
  const Plan plan = plan_of(maps::reverse(5), 4, 1000003);
  EXPECT_EQ(plan.folded_batch_bits(), 5);
  ASSERT_EQ(plan.passes().size(), 2U);
  EXPECT_EQ(plan.passes()[0].arrays, 31250U);
  EXPECT_EQ(plan.passes()[1].arrays, 3U);
  EXPECT_EQ(plan.passes()[1].kind, PassKind::direct);
  EXPECT_EQ(plan.passes()[1].bytes_read, 3U * 128);
}

TEST(PlanByHand, RowBasesOfBitReversal) {
  const Plan plan = plan_of(maps::bit_reversal(20), 4);
  const layout::Tile& tile = plan.passes().front().tile;
  const std::vector<f2::Word> rows{0x4000, 0x8000, 0x10000, 0x20000, 0x40000, 0x80000};
  EXPECT_EQ(tile.source_rows, rows);
  EXPECT_EQ(tile.target_rows, rows);
}

// --- refusals

struct Refused {
  Problem problem;
  ErrorCode code;
  std::string message;
};

TEST(PlanRefusals, NameTheFault) {
  const auto of_width = [](std::uint64_t width) {
    return Problem{.permutation = maps::gray(10), .element_bytes = width};
  };
  const std::array table{
      Refused{of_width(3), ErrorCode::value, "elements of 3 bytes"},
      Refused{of_width(0), ErrorCode::value, "elements of 0 bytes"},
      Refused{of_width(8192), ErrorCode::value, "elements of 8192 bytes"},
      Refused{{.permutation = maps::gray(41), .element_bytes = 1}, ErrorCode::value, "n = 41"},
      Refused{{.permutation = maps::gray(64), .element_bytes = 1}, ErrorCode::value, "n = 64"},
      Refused{
          {.permutation = maps::gray(40), .element_bytes = 4096, .batch = 1025}, ErrorCode::value, "2^62"},
      Refused{{.permutation = maps::gray(0), .element_bytes = 1, .batch = ~std::uint64_t{0}},
              ErrorCode::value,
              "2^62"},
  };
  for (const Refused& refused : table) {
    SCOPED_TRACE(describe(refused.problem));
    test::expect_refused(refused.code, refused.message, [&] { const Plan plan(refused.problem, Target{}); });
  }
}

TEST(PlanRefusals, TheLargestProblemIsPlanned) {
  const Plan plan = plan_of(maps::random_bmmc(40, kSeed), 4096, 1024);
  EXPECT_EQ(plan.array_bytes(), std::uint64_t{1} << 62);
  expect_laws(plan);
}

// --- time

TEST(PlanTime, UnderAMillisecondAt34Bits) {
  if (!testing::kTimed) GTEST_SKIP() << "a Release build without sanitizers is timed";
  std::vector<double> milliseconds;
  for (std::uint64_t seed = 0; seed < 201; ++seed) {
    const Affine map = maps::random_bmmc(34, seed);
    const double start = testing::processor_ms();
    const Plan plan = plan_of(map, 4);
    const double spent = testing::processor_ms() - start;
    ASSERT_EQ(plan.passes().size(), 1U);
    milliseconds.push_back(spent);
  }
  std::nth_element(milliseconds.begin(), milliseconds.begin() + 100, milliseconds.end());
  RecordProperty("median_us", static_cast<int>(milliseconds[100] * 1000));
  EXPECT_LT(milliseconds[100], testing::kOnABusyMachine);
}

}  // namespace plan_test
}  // namespace faro
