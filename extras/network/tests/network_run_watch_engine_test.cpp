// A network that is watched: the result is the one that nobody watches gives, and what is told adds up to the
// array.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "engines/cpu/run_watch.hpp"
#include "faro/network/network.hpp"

namespace network_run_watch_engine_test {
namespace {

using namespace faro;

TEST(NetworkRunWatch, TellsOfEveryByte) {
  const network::Problem problem{.program = network::sort(18), .element = {network::Scalar::u32}, .batch = 3};
  const std::uint64_t bytes = 3 * 4 << 18;
  std::vector<std::uint32_t> in(bytes / 4);
  std::uint32_t state = 1;
  for (std::uint32_t& each : in) each = state = state * 1664525U + 1013904223U;
  for (const int threads : {1, 2}) {
    const auto program = network::compile(problem, {.engine = Engine::cpu, .threads = threads});
    std::vector<std::uint32_t> unwatched(in.size());
    program.run(in.data(), unwatched.data(), bytes);
    std::vector<std::uint32_t> out(in.size());
    std::atomic<std::uint64_t> told{0};
    const cpu::RunWatch watch(bytes, [&](std::uint64_t more) { told += more; });
    program.run(in.data(), out.data(), bytes);
    EXPECT_TRUE(out == unwatched);
    EXPECT_LE(told, bytes);  // rounding leaves some out
    EXPECT_GE(static_cast<double>(told), 0.97 * static_cast<double>(bytes));
  }
}

}  // namespace
}  // namespace network_run_watch_engine_test
