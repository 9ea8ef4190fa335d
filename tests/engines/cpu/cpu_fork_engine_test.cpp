// A child of fork() has none of the parent's threads, and uses the engine all the same.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "faro/faro.hpp"

namespace faro::testing {
namespace cpu_fork_engine_test {

constexpr int kBits = 20;

// Whether a plan of four threads puts every element where it belongs.
bool runs() {
  std::vector<std::uint64_t> in(std::size_t{1} << kBits);
  std::vector<std::uint64_t> out(in.size());
  std::iota(in.begin(), in.end(), std::uint64_t{0});
  const auto plan = faro::plan({.permutation = maps::reverse(kBits), .element_bytes = sizeof(in[0])},
                               {.engine = Engine::cpu, .threads = 4});
  plan.run<std::uint64_t>(in, out);
  for (std::uint64_t i = 0; i < in.size(); ++i) {
    if (out[i] != in.size() - 1 - i) return false;
  }
  return true;
}

TEST(CpuFork, AChildOfAProcessThatHasRunPlansRunsThem) {
  ASSERT_TRUE(runs());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // a child that waits for threads that are not there is ended
    _exit(runs() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(runs());
}

}  // namespace cpu_fork_engine_test
}  // namespace faro::testing
