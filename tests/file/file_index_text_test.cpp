// Index arrays in files of any size, and what is composed of them, against the permutation that the parser
// makes of the same text in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/index_text.hpp"
#include "file_support.hpp"
#include "io/npy.hpp"
#include "oracle.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_index_text_test {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::random_bytes;
using testing::read_bytes;
using testing::write_bytes;

class FileIndexTexts : public testing::FolderTest {
 protected:
  // A random index array of this dtype, its last entries exchanged where `wrong` is given.
  void write_index(const std::string& name, const std::string& descr, std::uint64_t count, std::uint64_t seed,
                   std::optional<std::uint64_t> wrong = std::nullopt) {
    std::vector<std::uint64_t> entries(count);
    std::iota(entries.begin(), entries.end(), 0);
    std::shuffle(entries.begin(), entries.end(), std::mt19937_64(seed));
    if (wrong) entries.back() = *wrong;
    Bytes file = io::npy_header_bytes("'" + descr + "'", std::vector<std::uint64_t>{count});
    const auto width = static_cast<std::size_t>(descr.back() - '0');
    for (const std::uint64_t entry : entries) {
      for (std::size_t k = 0; k < width; ++k) {
        const std::size_t byte = descr.front() == '>' ? width - 1 - k : k;
        file.push_back(static_cast<std::byte>(entry >> (8 * byte)));
      }
    }
    write_bytes(directory_ / name, file);
  }

  // The text, with @a as the path of a.npy in the folder, and so on.
  std::string with_paths(std::string text) const {
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 2)) {
      const std::string path = "\"" + (directory_ / (std::string(1, text[at + 1]) + ".npy")).string() + "\"";
      text.replace(at + 1, 1, path);
      at += path.size();
    }
    return text;
  }

  file::Options budget(std::uint64_t bytes) const {
    return {.memory_bytes = bytes, .threads = 2, .io_threads = 2};
  }
};

TEST_F(FileIndexTexts, TextsWithIndexFilesAreTold) {
  const auto node = file::index_node(" compose( inverse(gather(@\"my a.npy\")), power(@b.npy , -3) )");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->kind, file::IndexNode::Kind::compose);
  EXPECT_EQ(file::files_of(*node), (std::vector<std::string>{"my a.npy", "b.npy"}));
  EXPECT_EQ(node->parts[1].exponent, -3);
  EXPECT_EQ(node->parts[0].parts[0].direction, Direction::gather);
  for (const char* const text :
       {"", "bit_reversal(4)", "@map.json", "compose(@a.npy)", "compose(@a.npy, gray(4)", "gather(3)",
        "compose(gray(4), @m.json)", "power(@a.npy, x)", "parm(4, @a.npy)", "inverse(@a.npy))"})
    EXPECT_FALSE(file::index_node(text)) << text;
  EXPECT_EQ(file::index_files("@none.npy").files, 0U);
}

// There are so many buckets that each is drawn by itself.
TEST_F(FileIndexTexts, RandomPermutationsThatNoMemoryHolds) {
  constexpr std::uint64_t kCount = 300'007;
  write_index("a.npy", "<u4", kCount, 1);
  for (const char* const short_text :
       {"compose(@a, random(300007, 5))", "compose(inverse(random(300007, 5)), @a)"}) {
    const std::string text = with_paths(short_text);
    const Problem problem{.permutation = parse_permutation(text), .element_bytes = 4};
    const Bytes data = random_bytes(total_bytes(problem), 3);
    write_bytes(directory_ / "in", data);
    Bytes expected(data.size());
    permute_naively(problem, data.data(), expected.data(), 1);
    file::permute_by_index_text({.text = text}, 4, {directory_ / "in", 0}, {directory_ / "out"},
                                budget(200'000));
    EXPECT_TRUE(read_bytes(directory_ / "out") == expected) << short_text;
  }
  const std::string other = with_paths("compose(@a, random(300008, 5))");
  EXPECT_THROW(file::permute_by_index_text({.text = other}, 4, {directory_ / "in", 0}, {directory_ / "none"},
                                           budget(200'000)),
               Error);
  EXPECT_FALSE(fs::exists(directory_ / "none"));
}

TEST_F(FileIndexTexts, AreWhatMemoryMakesOfThem) {
  constexpr std::uint64_t kCount = 1000;
  write_index("a.npy", "<u4", kCount, 1);
  write_index("b.npy", "<i8", kCount, 2);
  write_index("c.npy", ">u2", kCount, 3);
  write_index("d.npy", "<i2", kCount, 4);
  const std::vector<std::string> texts{
      "@a",
      "@b",
      "@c",
      "gather(@c)",
      "inverse(@a)",
      "inverse(gather(@d))",
      "compose(@a, @b)",
      "compose(@c, @d)",
      "compose(multiply(1000, 7), @a)",
      "compose(@c, multiply(1000, 7))",
      "compose(@a, transpose(25, 40))",
      "compose(random(1000, 5), @b)",
      "compose(@b, random(1000, 5))",
      "compose(inverse( random (1000, 5)), power(@d, 2))",
      "power(@a, 3)",
      "power(gather(@b), -2)",
      "power(@a, 0)",
      "compose(inverse(compose(@a, gather(@b))), compose(roll(1000, 5), @d))",
  };
  std::size_t turn = 0;
  for (const std::string& short_text : texts) {
    const std::string text = with_paths(short_text);
    for (const bool inverse : {false, true}) {
      ++turn;
      const Permutation permutation = parse_permutation(text);
      const std::uint64_t width = turn % 3 == 0 ? 40 : 1 + turn % 5;
      const Problem problem{.permutation = inverse ? faro::inverse(permutation) : permutation,
                            .element_bytes = width,
                            .batch = 1 + turn % 3};
      const Bytes data = random_bytes(total_bytes(problem), turn);
      write_bytes(directory_ / "in", data);
      Bytes expected(data.size());
      permute_naively(problem, data.data(), expected.data(), 1);
      file::Options options = budget(7000 + 200 * width);
      options.verify = turn % 2 == 0;
      const file::Report report =
          file::permute_by_index_text({.text = text, .inverse = inverse, .batch = problem.batch}, width,
                                      {directory_ / "in", 0}, {directory_ / "out"}, options);
      EXPECT_TRUE(report.finished) << short_text;
      EXPECT_EQ(report.verified, options.verify) << short_text;
      EXPECT_TRUE(read_bytes(directory_ / "out") == expected) << short_text << (inverse ? ", undone" : "");
      fs::remove(directory_ / "out");
      EXPECT_EQ(files(), 5U) << short_text;
    }
  }
  // A gather, as the bare name is read.
  file::IndexText gathers{.text = with_paths("compose(@a, @b)")};
  gathers.parse.direction = Direction::gather;
  const Problem problem{.permutation = parse_permutation(gathers.text, gathers.parse), .element_bytes = 4};
  const Bytes data = random_bytes(total_bytes(problem), 9);
  write_bytes(directory_ / "in", data);
  Bytes expected(data.size());
  permute_naively(problem, data.data(), expected.data(), 1);
  file::permute_by_index_text(gathers, 4, {directory_ / "in", 0}, {directory_ / "out"}, budget(9000));
  EXPECT_TRUE(read_bytes(directory_ / "out") == expected);
}

TEST_F(FileIndexTexts, RefusesWhatIsNoPermutationAndLeavesNothing) {
  constexpr std::uint64_t kCount = 500;
  write_index("a.npy", "<u4", kCount, 1);
  write_index("b.npy", "<u4", kCount + 1, 1);
  write_bytes(directory_ / "in", random_bytes(kCount * 4, 1));
  const auto code = [&](const std::string& text) {
    return test::code_of([&] {
      file::permute_by_index_text({.text = with_paths(text)}, 4, {directory_ / "in", 0}, {directory_ / "out"},
                                  budget(6000));
    });
  };
  EXPECT_EQ(code("compose(@a, @b)"), ErrorCode::value);
  EXPECT_EQ(code("compose(@a, bit_reversal(9))"), ErrorCode::value);
  EXPECT_EQ(code("bit_reversal(9)"), ErrorCode::value);
  EXPECT_EQ(code("compose(@a, good_thomas(4, 125))"), ErrorCode::value);  // more than a quarter of the memory
  for (const std::uint64_t wrong : {std::uint64_t{0}, kCount, ~std::uint64_t{0}}) {
    for (const char* const descr : {"<u4", "<i8", ">i4"}) {
      write_index("c.npy", descr, kCount, wrong == 0 ? 7 : 1, wrong);
      for (const char* const text : {"@c", "gather(@c)", "inverse(@c)", "compose(@a, @c)", "compose(@c, @a)",
                                     "compose(@c, multiply(500, 3))", "power(@c, 2)"})
        EXPECT_EQ(code(text), ErrorCode::value) << text << ", " << wrong << " in " << descr;
    }
  }
  EXPECT_EQ(files(), 4U);
}

// The same problem by another number of threads goes on; by other index files it does not.
TEST_F(FileIndexTexts, AreResumedByAnyNumberOfThreads) {
  constexpr std::uint64_t kCount = 20000;
  write_index("a.npy", "<u4", kCount, 1);
  write_index("b.npy", "<u4", kCount, 2);
  const Bytes data = random_bytes(kCount * 8, 3);
  write_bytes(directory_ / "in", data);
  const auto run = [&](const std::string& text, int threads, double part, bool resume) {
    file::Options options = budget(60000);
    options.threads = threads;
    options.keep_unfinished = true;
    options.checkpoint_seconds = 0;
    options.resume = resume;
    double done = 0;
    std::uint64_t most = 0;
    options.progress = [&](const file::Progress& now) {
      most = std::max(most, now.total_bytes);
      if (now.total_bytes == 4 * data.size())
        done = static_cast<double>(now.done_bytes) / static_cast<double>(now.total_bytes);
    };
    options.cancelled = [&] { return done > part; };
    return file::permute_by_index_text({.text = with_paths(text)}, 8, {directory_ / "in", 0},
                                       {directory_ / "out"}, options);
  };
  const std::string text = "compose(@a, gather(@b))";
  Bytes expected(data.size());
  permute_naively({.permutation = parse_permutation(with_paths(text)), .element_bytes = 8}, data.data(),
                  expected.data(), 1);
  for (const int threads : {1, 4}) {
    ASSERT_FALSE(run(text, 2, 0.6, false).finished);
    EXPECT_EQ(test::code_of([&] { run("compose(@b, gather(@a))", 2, 2, true); }), ErrorCode::file);
    const file::Report report = run(text, threads, 2, true);
    EXPECT_TRUE(report.finished);
    EXPECT_GT(report.resumed_tiles, 0U) << threads;
    EXPECT_TRUE(read_bytes(directory_ / "out") == expected);
    fs::remove(directory_ / "out");
    EXPECT_EQ(files(), 3U);
  }
}

}  // namespace file_index_text_test
}  // namespace faro
