// Part of every test program: what the user's own `faro tune` has kept has no say in a test, nor in the
// commands that it runs. A test that keeps curves itself has a folder of its own (own_cache_support.hpp).
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace faro::testing {
namespace {

// Before main(). The folder is empty; it is made only if somebody writes to it.
[[maybe_unused]] const int own_home = [] {
  const std::string name = "faro-tests-" + std::to_string(getpid());
  return setenv("FARO_CACHE", (std::filesystem::temp_directory_path() / name / "none").c_str(), 1) +
         setenv("FARO_MEASURE", "never", 1);  // nor has what this machine takes just now
}();

}  // namespace
}  // namespace faro::testing
