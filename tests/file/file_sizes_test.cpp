// Files past 2^32 bytes and elements, by way of holes: a few bytes of them are something else than zero.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/record_shuffle.hpp"
#include "file_support.hpp"

namespace faro {
namespace file_sizes_test {

namespace fs = std::filesystem;

class FileSizes : public testing::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    constexpr std::uint64_t kRoom = std::uint64_t{24} << 30;
    if (fs::space(directory_).available < kRoom) GTEST_SKIP() << "less than 24 GiB of disk";
  }

  // A file of zeros, made of a hole.
  fs::path hole(std::uint64_t bytes) const {
    const fs::path path = directory_ / "in";
    std::ofstream(path).close();
    fs::resize_file(path, bytes);
    return path;
  }

  static void put(const fs::path& path, std::uint64_t at, unsigned char byte) {
    const io::Descriptor file(open(path.c_str(), O_WRONLY));
    ASSERT_EQ(pwrite(file.get(), &byte, 1, static_cast<off_t>(at)), 1);
  }

  static int get(const fs::path& path, std::uint64_t at) {
    const io::Descriptor file(open(path.c_str(), O_RDONLY));
    unsigned char byte = 0;
    return pread(file.get(), &byte, 1, static_cast<off_t>(at)) == 1 ? byte : -1;
  }

  // Random places of `count`, the first and the last, each with a byte of its own; and the byte that each
  // element becomes, wherever `place` says.
  template <typename Place>
  void check(std::uint64_t count, const Place& place, const std::function<file::Report()>& run) {
    const fs::path in = hole(count);
    std::mt19937_64 random(6);
    std::vector<std::uint64_t> marked{0, count - 1, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32};
    for (int i = 0; i < 200; ++i) marked.push_back(random() % count);
    const auto byte_of = [](std::uint64_t x) { return static_cast<unsigned char>(x % 251 + 1); };
    for (const std::uint64_t x : marked) put(in, x, byte_of(x));
    const file::Report report = run();
    EXPECT_TRUE(report.finished);
    EXPECT_EQ(report.facts.moved_bytes, count);
    for (const std::uint64_t x : marked) EXPECT_EQ(get(directory_ / "out", place(x)), byte_of(x)) << x;
  }
};

TEST_F(FileSizes, ViewsPastTwoToThe32ElementsAndBytes) {
  constexpr std::uint64_t kFirst = (std::uint64_t{1} << 32) + 5;
  constexpr std::int64_t kInStep = (std::int64_t{1} << 31) + 7;
  constexpr std::int64_t kOutStep = (std::int64_t{1} << 29) + 3;
  constexpr std::uint64_t kWidth = 4;
  const Strided view{.extents = {3, 1000},
                     .in_strides = {kInStep, 1},
                     .out_strides = {kOutStep, 1},
                     .in_offset = kFirst,
                     .out_offset = 17};
  const fs::path in = hole((kFirst + 2 * kInStep + 1000) * kWidth);
  for (std::uint64_t row = 0; row < 3; ++row) {
    for (const std::uint64_t i : {0, 1, 500, 999})
      put(in, (kFirst + row * kInStep + i) * kWidth + 2, static_cast<unsigned char>(row * 50 + i % 7 + 1));
  }
  const file::Options options{.memory_bytes = 20000, .threads = 2, .io_threads = 2};
  const file::Report report =
      file::run(file::Sweep(view, kWidth, options), {in, 0}, {directory_ / "out"}, options);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.written_bytes, 3000 * kWidth);
  for (std::uint64_t row = 0; row < 3; ++row) {
    for (const std::uint64_t i : {0, 1, 500, 999}) {
      EXPECT_EQ(get(directory_ / "out", (17 + row * kOutStep + i) * kWidth + 2),
                static_cast<int>(row * 50 + i % 7 + 1))
          << row << ", " << i;
    }
    EXPECT_EQ(get(directory_ / "out", (17 + row * kOutStep + 2) * kWidth + 2), 0);
  }
}

// A flip of a hole in place, whose first and last blocks alone are looked at: it is cancelled behind them.
TEST_F(FileSizes, InPlacePastTwoToThe32Elements) {
  constexpr std::uint64_t kCount = (std::uint64_t{1} << 33) + 1001;
  const fs::path in = hole(kCount);
  put(in, 5, 77);
  file::Options options{.memory_bytes = 3 << 20, .threads = 2, .io_threads = 2};
  bool stops = false;
  options.progress = [&](const file::Progress& now) { stops = now.done_bytes > (8 << 20); };
  options.cancelled = [&] { return stops; };
  const Problem problem{.permutation = maps::flip(kCount), .element_bytes = 1};
  EXPECT_FALSE(file::permute_in_place(problem, {in, 0}, options).finished);
  EXPECT_EQ(get(in, kCount - 6), 77);
  EXPECT_EQ(get(in, 5), 0);
  EXPECT_TRUE(file::recover(in, file::Recovery::undo, {.threads = 2}).finished);
  EXPECT_EQ(get(in, kCount - 6), 0);
  EXPECT_EQ(get(in, 5), 77);
}

TEST_F(FileSizes, BitReversalOfEightGiBOfBytes) {
  const Affine map = maps::bit_reversal(33);
  const file::Options options{.memory_bytes = std::uint64_t{1} << 30};
  check(std::uint64_t{1} << 33, map, [&] {
    return file::run(file::Sweep({.permutation = map, .element_bytes = 1}, options), {directory_ / "in", 0},
                     {directory_ / "out"}, options);
  });
}

TEST_F(FileSizes, ShuffleOfFiveGiBOfBytes) {
  constexpr std::uint64_t kCount = (std::uint64_t{5} << 30) + 3;
  const file::RecordShuffle shuffle(kCount, 9);
  const file::Options options{.memory_bytes = std::uint64_t{1} << 30};
  check(kCount, shuffle, [&] {
    return file::shuffle({.records = kCount, .record_bytes = 1, .seed = 9}, {directory_ / "in", 0},
                         {directory_ / "out"}, options);
  });
}

}  // namespace file_sizes_test
}  // namespace faro
