// Runs that change places, on the counting memory: random runs of all lengths, any alignment, both
// directions, batches, elements of several units, against the definition.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "kernels/runs.hpp"

namespace faro::kernels {
namespace runs_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;

// Runs sorted by where they are written.
struct Runs {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> froms;
  std::vector<std::uint64_t> firsts;
};

Runs of_lengths(const std::vector<std::uint64_t>& lengths, std::mt19937_64& random) {
  Runs runs;
  std::vector<std::size_t> places(lengths.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::shuffle(places.begin(), places.end(), random);
  std::vector<std::uint64_t> begin_of(lengths.size());
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    begin_of[r] = runs.count;
    runs.count += lengths[r];
  }
  runs.begins = begin_of;
  runs.froms.resize(lengths.size());
  std::uint64_t from = 0;
  for (const std::size_t r : places) {
    runs.froms[r] = from;
    from += lengths[r];
  }
  const std::uint64_t stretches = run_stretches(runs.count);
  for (std::uint64_t s = 0; s < stretches; ++s) {
    const auto after = std::upper_bound(runs.begins.begin(), runs.begins.end(), s << kRunsStretchBits);
    runs.firsts.push_back(static_cast<std::uint64_t>(after - runs.begins.begin()) - 1);
  }
  runs.firsts.push_back(runs.begins.size() - 1);
  return runs;
}

struct Problem {
  std::uint64_t element_units = 1;
  std::uint64_t batch = 1;
  std::uint32_t in_skew = 0;
  std::uint32_t out_skew = 0;
};

// Tables that know their ends.
struct Tables {
  const Runs* runs;
  std::uint64_t operator()(int buffer, std::uint64_t index) const {
    const auto& table = buffer == kRunBegins  ? runs->begins
                        : buffer == kRunFroms ? runs->froms
                                              : runs->firsts;
    return table.at(index);
  }
};

RunsParams params_of(const Runs& runs, std::uint64_t element_bytes, const Problem& p) {
  const std::uint64_t array = runs.count * element_bytes;
  return {.in = {.begin = p.in_skew, .end = p.in_skew + array * p.batch},
          .out = {.begin = p.out_skew, .end = p.out_skew + array * p.batch},
          .array_bytes = device::Division64(array),
          .element_bytes = device::Division64(element_bytes),
          .runs = runs.begins.size(),
          .first_vector = 0};
}

constexpr std::uint64_t kBlockVectors = std::uint64_t{kRunsThreads} * kRunsVectors;

template <int unit, typename Table>
void run_blocks(CountingMemory& memory, const RunsParams& params, const Table& table, std::uint64_t first,
                std::uint64_t blocks) {
  memory.run(
      {.blocks = blocks, .threads = kRunsThreads, .first_block = first},
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        list_runs(m, params, table, block, thread);
      },
      [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
        move_runs<unit>(m, params, table, block, thread);
      });
}

template <int unit>
AccessCounts check(const Runs& runs, const Problem& p, std::mt19937_64& random) {
  const std::uint64_t width = unit * p.element_units;
  SCOPED_TRACE(std::to_string(runs.begins.size()) + " runs of " + std::to_string(runs.count) + ", " +
               std::to_string(width) + " bytes, batch " + std::to_string(p.batch) + ", skews " +
               std::to_string(p.in_skew) + " " + std::to_string(p.out_skew));
  const RunsParams params = params_of(runs, width, p);
  std::vector<std::byte> in(params.in.end);
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  std::vector<std::byte> out(params.out.end, kPoison);
  CountingMemory memory({.shared_bytes = kRunsSharedBytes});
  memory.add_input(in);
  memory.add_output(out);
  run_blocks<unit>(memory, params, Tables{&runs}, 0, (params.vectors() + kBlockVectors - 1) / kBlockVectors);
  for (std::uint64_t array = 0; array < p.batch; ++array) {
    for (std::size_t r = 0; r < runs.begins.size(); ++r) {
      const std::uint64_t end = r + 1 < runs.begins.size() ? runs.begins[r + 1] : runs.count;
      const std::uint64_t bytes = (end - runs.begins[r]) * width;
      EXPECT_EQ(std::memcmp(&in[p.in_skew + (array * runs.count + runs.froms[r]) * width],
                            &out[p.out_skew + (array * runs.count + runs.begins[r]) * width], bytes),
                0)
          << "run " << r << " of array " << array;
    }
  }
  for (std::uint32_t i = 0; i < p.out_skew; ++i) EXPECT_EQ(out[i], kPoison);
  EXPECT_EQ(memory.counts().global_stores.bytes, params.out.end - params.out.begin);
  return memory.counts();
}

std::vector<std::uint64_t> random_lengths(std::uint64_t most, std::size_t number, std::mt19937_64& random) {
  std::vector<std::uint64_t> lengths;
  for (std::size_t r = 0; r < number; ++r) lengths.push_back(1 + random() % most);
  return lengths;
}

template <int unit>
void sweep(std::uint64_t element_units, std::mt19937_64& random) {
  for (const std::uint64_t most : {1U, 3U, 40U, 3000U}) {
    for (const std::size_t number : {1U, 2U, 7U, 60U}) {
      if (most * number > 9000) continue;
      const Runs runs = of_lengths(random_lengths(most, number, random), random);
      const auto skew = [&] { return static_cast<std::uint32_t>(random() % 16 / unit * unit); };
      check<unit>(
          runs,
          {.element_units = element_units, .batch = 1 + random() % 3, .in_skew = skew(), .out_skew = skew()},
          random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(RunsKernel, RunsOfAllLengthsAnywhere) {
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 2; ++round) {
    sweep<1>(1, random);
    sweep<1>(5, random);
    sweep<2>(1, random);
    sweep<4>(1, random);
    sweep<4>(3, random);
    sweep<8>(1, random);
    sweep<16>(1, random);
    sweep<16>(4, random);
  }
}

// One run after 20000 short ones: stretches with many runs and with none of their own.
TEST(RunsKernel, LongAndShortMixed) {
  std::mt19937_64 random(kSeed);
  std::vector<std::uint64_t> lengths(9000, 1);
  lengths.push_back(20000);
  lengths.insert(lengths.end(), 3, 4096);
  check<4>(of_lengths(lengths, random), {}, random);
  check<1>(of_lengths(lengths, random), {.in_skew = 5, .out_skew = 9}, random);
  check<16>(of_lengths(lengths, random), {.batch = 2}, random);
}

// Runs of 64 units whose ends are sectors: a sector is read where it is needed and nowhere else.
TEST(RunsKernel, WholeSectors) {
  std::mt19937_64 random(kSeed);
  const Runs runs = of_lengths(std::vector<std::uint64_t>(256, 64), random);
  const AccessCounts counts = check<4>(runs, {}, random);
  EXPECT_EQ(counts.global_loads.bytes, runs.count * 4);
  EXPECT_EQ(counts.global_loads.sectors, runs.count / 8);
  EXPECT_EQ(counts.global_stores.sectors, runs.count / 8);
  EXPECT_EQ(counts.global_stores.requests, runs.count / 4 / 32);
}

TEST(RunsKernel, BeyondThirtyTwoBits) {
  const std::uint64_t half = (std::uint64_t{1} << 32) + 4099;
  Runs runs;
  runs.count = 2 * half;
  runs.begins = {0, half};
  runs.froms = {half, 0};
  const std::uint64_t stretches = run_stretches(runs.count);
  const auto table = [&](int buffer, std::uint64_t index) -> std::uint64_t {
    if (buffer == kRunBegins) return runs.begins.at(index);
    if (buffer == kRunFroms) return runs.froms.at(index);
    EXPECT_LE(index, stretches);
    return index == stretches || index << kRunsStretchBits >= half ? 1 : 0;
  };
  const RunsParams params = params_of(runs, 4, {.batch = 2});
  const std::uint64_t blocks = (params.vectors() + kBlockVectors - 1) / kBlockVectors;
  for (const std::uint64_t block :
       {std::uint64_t{0}, half * 4 / kMovedBytes / kBlockVectors, blocks / 2, blocks - 1}) {
    CountingMemory memory({.shared_bytes = kRunsSharedBytes});
    memory.add_virtual_input(params.in.end);
    memory.add_virtual_output(params.out.end);
    run_blocks<4>(memory, params, table, block, 1);
    EXPECT_EQ(memory.counts().global_stores.bytes,
              std::min<std::uint64_t>(kBlockVectors * kMovedBytes,
                                      params.out.end - block * kBlockVectors * kMovedBytes));
  }
}

}  // namespace runs_kernel_test
}  // namespace faro::kernels
