// What networks count, beside what an H200's profiler counted of the same problems (29 November 2026).
#include <gtest/gtest.h>

#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "hardware_counters.hpp"
#include "network/prediction.hpp"

namespace faro {
namespace network_hardware_counts_test {

TEST(NetworkHardwareCounts, WithTheTablesThatKernelsRead) {
  struct Row {
    network::Program program;
    network::Scalar scalar;
    Counters counters;
  };
  for (const Row& row :
       {Row{network::sort(18), network::Scalar::u32, {201728, 20480, 593408, 327680}},
        Row{network::bitonic_sort(19), network::Scalar::u32, {430080, 45056, 1286144, 720896}},
        Row{network::wht(20), network::Scalar::f32, {88064, 16384, 372736, 262144}}}) {
    const network::Plan plan({.program = row.program, .element = {.scalar = row.scalar}}, {}, Engine::cuda);
    machine::AccessCounts sum;
    for (const network::LaunchCounts& launch : network::predict(plan)) {
      sum += launch.counts;
      sum.global_loads += launch.tables.value();
    }
    EXPECT_EQ(counters_of(sum), row.counters);
  }
}

}  // namespace network_hardware_counts_test
}  // namespace faro
