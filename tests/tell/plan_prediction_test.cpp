// Prediction against the counts of a full run on the counting memory, which walks every block and assumes
// nothing; and the run against the oracle, so that plans are carried out right: kernels, folded batches,
// tails.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "gpu_plan_support.hpp"
#include "kernels/affine_params.hpp"
#include "plan_support.hpp"
#include "tell/launch_facts.hpp"
#include "tell/prediction.hpp"

namespace faro {
namespace plan_prediction_test {

using testing::describe;
using testing::gpu_plan;
using testing::gpu_targets;
using testing::maps_of;

constexpr std::uint64_t kSeed = 31;

detail::Accesses accesses(const Plan& plan, std::size_t pass) {
  return detail::accesses_of({.counts = predict(plan, pass), .counted = {}}, plan.passes()[pass],
                             plan.target());
}

// --- every block of a pass, by the kernel that its launch names

template <std::size_t index>
bool run_if_tile(const Pass& pass, machine::CountingMemory& memory) {
  constexpr kernels::CompiledTile kernel = kernels::kCompiledTiles[index];
  constexpr kernels::AffineTileShape shape = kernel.shape;
  if (*pass.launch->tile != kernel) return false;
  const auto run = [&](const auto& params) {
    memory.run(
        {.blocks = pass.launch->blocks, .threads = static_cast<std::uint32_t>(pass.launch->threads)},
        [&](auto& m, auto block, auto thread) { kernels::load_tile<shape>(m, params, block, thread); },
        [&](auto& m, auto block, auto thread) { kernels::store_tile<shape>(m, params, block, thread); });
  };
  if constexpr (kernel.blocked) {
    run(make_affine_blocked_params(pass.tile, shape, pass.arrays));
  } else {
    run(make_affine_tile_params(pass.tile, shape, pass.arrays, *pass.placement));
  }
  return true;
}

template <int bytes>
bool run_if_vectors(const Pass& pass, std::uint64_t unit_bytes, machine::CountingMemory& memory) {
  if (pass.launch->vector_bytes != bytes) return false;
  const int vector_bits = std::countr_zero(std::uint64_t{bytes} / unit_bytes);
  const auto params = kernels::make_affine_segments_params(pass.map, vector_bits, pass.arrays);
  memory.run(
      {.blocks = pass.launch->blocks, .threads = static_cast<std::uint32_t>(pass.launch->threads)},
      [&](auto& m, auto block, auto thread) { kernels::move_vector<bytes>(m, params, block, thread); });
  return true;
}

/// What was counted. The pass's part of the arrays is given.   Errors: ErrorCode::internal as the counting
/// memory.
inline machine::AccessCounts run_launched(const Plan& plan, const Pass& pass, std::span<const std::byte> in,
                                          std::span<std::byte> out) {
  machine::CountingMemory memory({.shared_bytes = static_cast<std::size_t>(pass.launch->shared_bytes)});
  memory.add_input(in);
  memory.add_output(out);
  bool ran = false;
  if (pass.launch->tile) {
    ran = [&]<std::size_t... index>(std::index_sequence<index...>) {
      return (run_if_tile<index>(pass, memory) || ...);
    }
    (std::make_index_sequence<kernels::kCompiledTileCount>{});
  } else {
    const std::uint64_t unit = plan.unit_bytes();
    ran = run_if_vectors<1>(pass, unit, memory) || run_if_vectors<2>(pass, unit, memory) ||
          run_if_vectors<4>(pass, unit, memory) || run_if_vectors<8>(pass, unit, memory) ||
          run_if_vectors<16>(pass, unit, memory);
  }
  FARO_CHECK(ran && memory.output_complete());
  return memory.counts();
}

// --- plans

struct Reached {
  std::set<PassKind> kinds;
  bool folded = false;
  bool tails = false;
  bool wasted_sectors = false;
  int runs = 0;
};

void expect_permuted(const Plan& plan, const std::vector<std::byte>& in, const std::vector<std::byte>& out) {
  const Affine& map = std::get<Affine>(plan.problem().permutation);
  const std::size_t width = plan.problem().element_bytes;
  const std::size_t array = std::size_t{1} << map.bits();
  for (std::size_t x = 0; x < array * plan.problem().batch; ++x) {
    const std::size_t y = x / array * array + map(x % array);
    ASSERT_EQ(std::memcmp(&in[x * width], &out[y * width], width), 0) << "element " << x;
  }
}

void run_and_compare(const Plan& plan, Reached& reached) {
  SCOPED_TRACE(describe(plan.problem()) + " on " + plan.target().name);
  std::mt19937_64 random(kSeed);
  std::vector<std::byte> in(plan.array_bytes());
  for (std::byte& byte : in) byte = static_cast<std::byte>(random());
  std::vector<std::byte> out(in.size());
  std::size_t done = 0;
  for (std::size_t i = 0; i < plan.passes().size(); ++i) {
    const Pass& pass = plan.passes()[i];
    const auto part_in = std::span<const std::byte>(in).subspan(done, pass.bytes_read);
    const auto part_out = std::span<std::byte>(out).subspan(done, pass.bytes_written);
    done += pass.bytes_read;
    if (!pass.launch) {
      EXPECT_THROW(predict(plan, i), Error);
      std::memcpy(part_out.data(), part_in.data(), part_in.size());
      continue;
    }
    const machine::AccessCounts counted = run_launched(plan, pass, part_in, part_out);
    ASSERT_EQ(predict(plan, i), counted) << "pass " << i;
    EXPECT_EQ(counted.global_loads.bytes, pass.bytes_read);
    EXPECT_EQ(counted.global_stores.bytes, pass.bytes_written);
    if (pass.kind == PassKind::tile) {
      EXPECT_EQ(counted.shared_stores.max_congestion(), 1);
      EXPECT_EQ(counted.shared_loads.max_congestion(), 1);
    }
    if (pass.kind != PassKind::direct) {
      EXPECT_EQ(counted.global_loads.sectors, pass.bytes_read / 32);
      EXPECT_EQ(counted.global_stores.sectors, pass.bytes_written / 32);
    }
    reached.kinds.insert(pass.kind);
    reached.wasted_sectors |= accesses(plan, i).sectors_written > 1;
  }
  ASSERT_EQ(done, plan.array_bytes());
  expect_permuted(plan, in, out);
  reached.folded |= plan.folded_batch_bits() > 0;
  reached.tails |= plan.passes().size() > 1;
  ++reached.runs;
}

TEST(PlanPrediction, EqualsAFullRun) {
  Reached reached;
  constexpr std::uint64_t most_bytes = 160000;
  for (int n = 0; n <= 17; ++n) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 64U, 256U}) {
      for (const std::uint64_t batch : {1U, 3U, 37U, 1030U}) {
        if ((width * batch) << n > most_bytes) continue;
        // Small data wants a kernel too.
        Target target = gpu_targets()[static_cast<std::size_t>(n) % gpu_targets().size()];
        target.direct_bytes_max = n % 2 == 0 ? 0 : target.direct_bytes_max;
        for (const Affine& map : maps_of(n, kSeed + static_cast<std::uint64_t>(n))) {
          if (map.is_identity() && batch > 1) continue;
          run_and_compare(gpu_plan(map, width, batch, target), reached);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_EQ(reached.kinds.size(), 3U);
  EXPECT_TRUE(reached.folded && reached.tails && reached.wasted_sectors);
  EXPECT_GT(reached.runs, 1000);
}

TEST(PlanPrediction, OfArraysThatFitNoMachine) {
  // 4 PiB in 16-byte units.
  const Plan plan = gpu_plan(maps::random_bmmc(40, kSeed), 64, 64);
  const Pass& pass = plan.passes().front();
  const machine::AccessCounts counts = predict(plan, 0);
  EXPECT_EQ(pass.kind, PassKind::tile);
  EXPECT_EQ(counts.global_loads.bytes, plan.array_bytes());
  EXPECT_EQ(counts.global_loads.sectors, plan.array_bytes() / 32);
  EXPECT_EQ(counts.global_stores.sectors, plan.array_bytes() / 32);
  EXPECT_EQ(counts.shared_loads.max_congestion(), 1);
}

// One thread an element where the target is 64 bytes away: a sector for each.
TEST(PlanPrediction, DirectPassesMayWaste) {
  Target target = cuda::target_of_capability(9, 0);
  target.tiles.clear();
  const Plan plan = gpu_plan(maps::bit_reversal(20), 4, 1, target);
  const detail::Accesses predicted = accesses(plan, 0);
  EXPECT_EQ(predicted.counts.global_stores.sectors, 1U << 20);
  EXPECT_EQ(predicted.sectors_read, 1);
  EXPECT_EQ(predicted.sectors_written, 8);
}

TEST(PlanPrediction, RefusesWhatIsNotLaunched) {
  const auto refused = [](const Plan& plan) {
    try {
      predict(plan, 0);
    } catch (const Error& error) {
      return error.code() == ErrorCode::unsupported;
    }
    return false;
  };
  EXPECT_TRUE(refused(gpu_plan(maps::identity(10), 4)));
  EXPECT_TRUE(refused(Plan(Problem{.permutation = maps::gray(10), .element_bytes = 4}, Target{})));
  Target target = cuda::target_of_capability(9, 0);
  target.tiles = {{.shape = {2, 2, 2, 1, 1}}};  // which nobody compiles
  EXPECT_TRUE(refused(gpu_plan(maps::gray(10), 4, 1, target)));
}

}  // namespace plan_prediction_test
}  // namespace faro
