// What plans count, beside what an H100's profiler counted of the same problems, which a seed had drawn
// (`make gpu-verify-model`, 26 November 2026): requests and sectors of device memory, every block.
#include <gtest/gtest.h>

#include <cstdint>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/plan/plan.hpp"
#include "hardware_counters.hpp"
#include "tell/prediction.hpp"

namespace faro {
namespace plan_hardware_counts_test {

Counters counted(const Plan& plan) {
  const PassCounter counter(plan, {.every_block = true});
  machine::AccessCounts sum;
  for (std::size_t i = 0; i < plan.passes().size(); ++i) sum += counter(i)->counts;
  return counters_of(sum);
}

// Boxes, and tiles that boxes may take over, are left out: how they are laid out changes with what is
// learned.
TEST(PlanHardwareCounts, AxesRollsAndFlips) {
  struct Row {
    const char* spec;
    std::uint64_t width;
    std::uint64_t batch;
    Counters counters;
  };
  for (const Row& row : {Row{"axes(31 33 45 7; 3 0 1 2)", 8, 1, {5238, 10073, 82011, 80567}},
                         {"roll(838737, 802253)", 6, 1, {19669, 9833, 324366, 157267}},
                         {"flip(1684578)", 1, 3, {19780, 9879, 325767, 157937}}}) {
    const Plan plan(
        {.permutation = parse_permutation(row.spec), .element_bytes = row.width, .batch = row.batch},
        cuda::target_of_capability(9, 0));
    EXPECT_EQ(counted(plan), row.counters) << row.spec;
  }
}

TEST(PlanHardwareCounts, SweepsInPlace) {
  struct Row {
    const char* spec;
    std::uint64_t width;
    Counters counters;
  };
  for (const Row& row : {Row{"transpose(22, 3908)", 16, {5412, 5412, 85976, 85976}},
                         {"transpose(345, 577)", 8, {7049, 10703, 114126, 118748}},
                         {"transpose(10902, 24)", 12, {49104, 49320, 232818, 236076}},
                         {"transpose(5773, 97)", 2, {4791, 18967, 83095, 103791}},
                         {"transpose(30664, 77)", 1, {10423, 48387, 179742, 202931}}}) {
    const Plan plan({.permutation = parse_permutation(row.spec),
                     .element_bytes = row.width,
                     .placement = Placement::in_place},
                    cuda::target_of_capability(9, 0));
    EXPECT_EQ(counted(plan), row.counters) << row.spec;
  }
}

// Rows and columns of small arrays are left out: their transposes are axes, whose kernels change as above.
TEST(PlanHardwareCounts, IndexArrays) {
  struct Row {
    std::uint64_t count;
    std::uint64_t seed;
    Direction direction;
    IndexMethod method;
    std::uint64_t width;
    Counters counters;
  };
  for (const Row& row :
       {Row{145751, 33755074, Direction::scatter, IndexMethod::direct, 8, {9110, 4555, 163903, 36438}},
        {187851, 1643833928, Direction::gather, IndexMethod::partition, 8, {15098, 5874, 117928, 93928}},
        {682426,
         1612609536,
         Direction::scatter,
         IndexMethod::partition,
         3,
         {256038, 131073, 299068, 193536}}}) {
    Indexed array = Indexed::random(row.count, row.seed);
    if (array.direction() != row.direction) array = array.inverse();
    IndexChoice choice;
    choice.method = row.method;
    const Plan plan({.permutation = array, .element_bytes = row.width}, cuda::target_of_capability(9, 0),
                    recognise(array), choice);
    EXPECT_EQ(counted(plan), row.counters) << row.count << " " << name(row.method);
  }
}

}  // namespace plan_hardware_counts_test
}  // namespace faro
