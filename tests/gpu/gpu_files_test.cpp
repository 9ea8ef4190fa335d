// Files larger than the budget whose tiles a GPU permutes, against the obvious loop on the host.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file_support.hpp"
#include "gpu/gpu_support.hpp"
#include "oracle.hpp"

namespace faro::testing {
namespace {

class GpuFiles : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "faro-gpu-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  file::Options options(std::uint64_t memory_bytes) const {
    return {.memory_bytes = memory_bytes, .engine = Engine::cuda};
  }

  void check(const Problem& problem, std::uint64_t memory_bytes) {
    SCOPED_TRACE(to_text(problem.permutation) + " x " + std::to_string(problem.batch) + " of " +
                 std::to_string(problem.element_bytes) + " bytes");
    const Bytes data = random_bytes(total_bytes(problem), settings().seed);
    write_bytes(directory_ / "in", data);
    Bytes expected(data.size());
    permute_naively(problem, data.data(), expected.data());
    const file::Options asked = options(memory_bytes);
    const file::Report report = file::run(file::Sweep(problem, asked), {.path = directory_ / "in"},
                                          {.path = directory_ / "out"}, asked);
    EXPECT_TRUE(report.finished);
    EXPECT_GT(report.facts.tiles, 2U);
    EXPECT_NE(report.engine_text.find("GB/s by cuda, "), std::string::npos) << report.engine_text;
    EXPECT_TRUE(read_bytes(directory_ / "out") == expected);
    std::printf("%s of %llu: %s, taken: %s\n", to_text(problem.permutation).substr(0, 30).c_str(),
                static_cast<unsigned long long>(problem.element_bytes), report.engine_text.c_str(),
                name(report.engine));
  }

  std::filesystem::path directory_;
};

TEST_F(GpuFiles, TilesOfEveryKind) {
  check({.permutation = maps::bit_reversal(22), .element_bytes = 4}, 3 << 20);
  check({.permutation = maps::random_bmmc(20, 3), .element_bytes = 1}, 3 << 17);
  check({.permutation = maps::random_bpc(18, 3), .element_bytes = 16, .batch = 3}, 3 << 19);
  check({.permutation = maps::transpose_any(1203, 901), .element_bytes = 4}, 3 << 19);
  check({.permutation = maps::transpose_any(603, 901), .element_bytes = 3}, 3 << 18);
  check({.permutation = maps::flip(1000003), .element_bytes = 8}, 3 << 20);
  check({.permutation = maps::bit_reversal(16), .element_bytes = 4, .batch = 50}, 3 << 21);
}

// Both ways give the same bytes, whichever is taken; a tile that the device moves.
TEST_F(GpuFiles, InPlace) {
  const Problem problem{.permutation = maps::random_bmmc(20, 5), .element_bytes = 4};
  const Bytes data = random_bytes(total_bytes(problem), settings().seed);
  write_bytes(directory_ / "data", data);
  Bytes expected(data.size());
  permute_naively(problem, data.data(), expected.data());
  EXPECT_TRUE(file::permute_in_place(problem, {.path = directory_ / "data"}, options(3 << 18)).finished);
  EXPECT_TRUE(read_bytes(directory_ / "data") == expected);
}

// Large tiles, for the rates: told, not tested.
TEST_F(GpuFiles, RatesOfLargeTiles) {
  check({.permutation = maps::bit_reversal(28), .element_bytes = 4}, std::uint64_t{3} << 27);
  check({.permutation = maps::transpose_any(12007, 20011), .element_bytes = 4}, std::uint64_t{3} << 27);
}

}  // namespace
}  // namespace faro::testing
