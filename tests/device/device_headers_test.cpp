// What the headers that run on a GPU must not say, because no test without a GPU would notice.
//
// nvcc 13 takes libstdc++'s 64-bit std::countl_zero and std::countr_zero into device code without a word and
// makes nonsense of them; the compiler's own __builtin_clzll and __builtin_popcountll are right.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace faro {
namespace device_headers_test {

namespace fs = std::filesystem;

// Counts from the host alone may stay: a line that says so ends in "// on the host".
TEST(DeviceHeaders, CountBitsByBuiltins) {
  const fs::path root = fs::path(FARO_SOURCE_DIR);
  const std::regex counting(R"(std::(countl|countr)_(zero|one)|std::bit_(width|ceil|floor))");
  const std::regex comment(R"(^\s*//)");
  int headers = 0;
  for (const char* const folder : {"include/faro/device", "include/faro/kernels", "src/kernels"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".hpp") continue;
      ++headers;
      std::ifstream file(entry.path());
      std::string line;
      for (int number = 1; std::getline(file, line); ++number) {
        if (std::regex_search(line, comment) || !std::regex_search(line, counting)) continue;
        EXPECT_TRUE(line.ends_with("// on the host")) << entry.path() << ":" << number << ": " << line;
      }
    }
  }
  EXPECT_GT(headers, 20);
}

}  // namespace device_headers_test
}  // namespace faro
