// Files permuted where they lie, against the obvious loop in memory; interrupted, finished and taken back.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/in_place_journal.hpp"
#include "file/in_place_steps.hpp"
#include "file_support.hpp"
#include "oracle.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_in_place_test {

using testing::Bytes;
using testing::FolderTest;
using testing::joined;
using testing::random_bytes;
using testing::read_bytes;
using testing::write_bytes;

file::Options small(std::uint64_t memory_bytes) {
  return {.memory_bytes = memory_bytes, .threads = 2, .io_threads = 3};
}

class FileInPlace : public FolderTest {
 protected:
  void set(const Problem& problem, std::uint64_t offset) {
    problem_ = problem;
    offset_ = offset;
    before_ =
        joined(random_bytes(offset, 1), joined(random_bytes(total_bytes(problem), 2), random_bytes(99, 3)));
    after_ = before_;
    permute_naively(problem, before_.data() + offset, after_.data() + offset, 1);
    write_bytes(path(), before_);
  }

  std::filesystem::path path() const { return directory_ / "data"; }

  void check(const Problem& problem, const file::Options& options, std::uint64_t offset = 128) {
    const std::string name = to_text(problem.permutation) + " x " + std::to_string(problem.batch) + " of " +
                             std::to_string(problem.element_bytes) + " bytes, --memory " +
                             std::to_string(options.memory_bytes);
    set(problem, offset);
    const file::Report report = file::permute_in_place(problem, {path(), offset}, options);
    EXPECT_TRUE(report.finished) << name;
    EXPECT_TRUE(read_bytes(path()) == after_) << name;
    EXPECT_LE(report.facts.memory_bytes, options.memory_bytes) << name;
    EXPECT_EQ(report.read_bytes, report.written_bytes) << name;
    EXPECT_EQ(report.journal_bytes, report.written_bytes) << name;
    EXPECT_LE(report.written_bytes, total_bytes(problem) * static_cast<std::uint64_t>(report.facts.sweeps));
    EXPECT_EQ(files(), 1U) << name;
  }

  // Runs until `part` of its bytes are done, and is cancelled there.
  bool run_in_part(double part, const file::Options& asked) {
    file::Options options = asked;
    double done = 0;
    options.progress = [&](const file::Progress& progress) {
      done = static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes);
    };
    options.cancelled = [&] { return done > part; };
    return file::permute_in_place(problem_, {path(), offset_}, options).finished;
  }

  bool recover_in_part(double part, file::Recovery recovery) {
    file::Options options = small(0);
    double done = 0;
    options.progress = [&](const file::Progress& progress) {
      done = static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes);
    };
    options.cancelled = [&] { return done > part; };
    return file::recover(path(), recovery, options).finished;
  }

  Problem problem_;
  std::uint64_t offset_ = 0;
  Bytes before_;
  Bytes after_;
};

TEST_F(FileInPlace, EveryAffineMapOfUpToThreeBits) {
  for (int n = 0; n <= 3; ++n) {
    for (f2::Word columns = 0; columns < f2::Word{1} << (n * n); ++columns) {
      std::vector<f2::Word> column;
      for (int j = 0; j < n; ++j) column.push_back(columns >> (n * j) & f2::low_mask(n));
      const f2::Matrix matrix = f2::Matrix::from_columns(n, column);
      if (matrix.rank() < n || columns % 7 != 0) continue;
      for (const std::uint64_t elements : {2, 4}) {
        check({.permutation = Affine(matrix, columns % (f2::Word{1} << n)), .element_bytes = 4},
              small(3 * 4 * elements), 5);
      }
    }
  }
}

TEST_F(FileInPlace, RandomAffineMapsOfEveryWidth) {
  std::uint64_t seed = 0;
  for (const std::uint64_t width : {1, 4, 12, 64}) {
    for (const int n : {5, 8, 11}) {
      ++seed;
      // 8 to 64 tiles: each step wakes threads.
      for (const int tile_bits : {std::max(n - 6, 2), n - 3}) {
        const std::uint64_t tile = std::uint64_t{1} << tile_bits;
        check({.permutation = maps::random_bmmc(n, seed), .element_bytes = width}, small(3 * tile * width),
              seed % 3 * 64);
      }
      check({.permutation = maps::random_bpc(n, seed), .element_bytes = width, .batch = 3},
            small(400 * width));
      check({.permutation = maps::bit_reversal(n), .element_bytes = width}, small(100 * width));
    }
  }
}

TEST_F(FileInPlace, InvolutionsTakeOnePassAndAllOthersTwo) {
  const auto passes_of = [](const Permutation& permutation, std::uint64_t memory) {
    return file::in_place_passes({.permutation = permutation, .element_bytes = 4}, small(memory)).size();
  };
  // 64 GiB in 3 GiB, in segments of 32 KiB and more.
  const auto many = [&](const Permutation& map) { return passes_of(map, std::uint64_t{3} << 30); };
  EXPECT_EQ(many(maps::bit_reversal(34)), 1U);
  EXPECT_EQ(many(maps::transpose_any(std::uint64_t{1} << 17, std::uint64_t{1} << 17)), 1U);
  EXPECT_EQ(many(maps::random_bmmc(34, 1)), 2U);
  EXPECT_EQ(many(maps::transpose_any(std::uint64_t{1} << 10, std::uint64_t{1} << 24)), 2U);
  EXPECT_EQ(many(Affine(34)), 0U);
  const auto passes = [&](const Permutation& map) { return passes_of(map, std::uint64_t{3} << 12); };
  EXPECT_EQ(passes(maps::flip(1000003)), 1U);
  EXPECT_EQ(passes(maps::roll(1000003, 77)), 2U);
  EXPECT_EQ(passes(maps::roll(1000003, 0)), 0U);
  EXPECT_EQ(test::code_of([&] { passes(maps::transpose_any(1000, 3000)); }), ErrorCode::unsupported);
}

TEST_F(FileInPlace, SegmentsOfManyBlocks) {
  check({.permutation = maps::bit_reversal(21), .element_bytes = 2}, small(3 << 20), 4096);
  check({.permutation = maps::random_bmmc(18, 5), .element_bytes = 16}, small(3 << 20), 128);
}

TEST_F(FileInPlace, RollsAndFlips) {
  for (const std::uint64_t count : {1, 2, 5, 64, 1000, 4097}) {
    for (const std::int64_t shift : {0, 1, -1, 3, 500}) {
      for (const bool reversed : {false, true}) {
        const Cyclic map{.count = count, .shift = maps::roll(count, shift).shift, .reversed = reversed};
        check({.permutation = map, .element_bytes = 5, .batch = 2}, small(300));
      }
    }
  }
}

TEST_F(FileInPlace, ArraysOfABatchThatFit) {
  check({.permutation = maps::transpose_any(3, 5), .element_bytes = 7, .batch = 333}, small(1500));
  const Indexed index(std::vector<std::uint32_t>{4, 2, 0, 1, 3}, Direction::scatter);
  check({.permutation = index, .element_bytes = 4, .batch = 100}, small(2000));
  check({.permutation = maps::bit_reversal(4), .element_bytes = 4, .batch = 0}, small(2000));
  // Leading axes that stay are a batch.
  check({.permutation = Axes({300, 7, 9}, {0, 2, 1}), .element_bytes = 4, .batch = 2}, small(2000));
}

// Squares, cubes, and whatever has the input's shape: no extent a power of two, boxes that the ends cut.
TEST_F(FileInPlace, AxesThatKeepTheShape) {
  const auto of = [](std::vector<std::uint64_t> shape, std::vector<int> order, std::uint64_t width,
                     std::uint64_t batch = 1) {
    return Problem{.permutation = Axes(shape, order), .element_bytes = width, .batch = batch};
  };
  for (const std::uint64_t memory : {3 << 9, 3 << 11, 3 << 13}) {
    check(of({37, 37}, {1, 0}, 4), small(memory));
    check(of({53, 53}, {1, 0}, 1, 3), small(memory), 5);
    check(of({31, 31, 3}, {1, 0, 2}, 2), small(memory));
    check(of({13, 7, 13}, {2, 1, 0}, 4, 2), small(memory));
    check(of({11, 11, 11}, {1, 2, 0}, 4), small(memory));
    check(of({11, 11, 11}, {2, 0, 1}, 12), small(memory));
    check(of({5, 7, 5, 7}, {2, 3, 0, 1}, 8), small(memory));  // one square of 35
    check(of({5, 3, 7, 5, 3, 7, 2}, {3, 1, 5, 0, 4, 2, 6}, 1), small(memory));
    check(of({3, 19, 19}, {0, 2, 1}, 5), small(memory));
    check(of({6, 6, 6, 6}, {1, 0, 3, 2}, 3), small(memory), 0);
  }
  // Axes that are cut until both sides have the same.
  check(of({6, 6, 36}, {2, 0, 1}, 4), small(3 << 9));
  check(of({5, 25}, {1, 0}, 4, 2), small(3 << 8));
  check(of({27, 9}, {1, 0}, 5), small(3 << 8));
  check(of({9, 10, 90}, {2, 0, 1}, 2), small(3 << 9));
  file::Options verified = small(3 << 9);
  verified.verify = true;
  check(of({37, 37}, {1, 0}, 4), verified);
  check(of({11, 11, 11}, {1, 2, 0}, 4, 2), verified);
  // One pass, in runs of about the root of the budget's half.
  const file::Facts facts =
      file::in_place_facts(of({100003, 100003}, {1, 0}, 4), small(std::uint64_t{1} << 30));
  EXPECT_EQ(facts.sweeps, 1);
  EXPECT_GT(facts.read_run_bytes, 20U << 10);
  EXPECT_LE(facts.memory_bytes, std::uint64_t{1} << 30);
  // Rows of the length of an element each: their ranges are part of the budget.
  const file::Facts thin = file::in_place_facts(of({200, 200, 200, 200}, {3, 0, 1, 2}, 4), small(3 << 20));
  EXPECT_GE(thin.sweeps, 1);
  // A cycle of three: two passes of long runs, or one where all of an axis is a run.
  const auto sweeps = [](const Permutation& axes, std::uint64_t memory) {
    return file::in_place_facts({.permutation = axes, .element_bytes = 4}, small(memory)).sweeps;
  };
  EXPECT_EQ(sweeps(Axes({3001, 3001, 3001}, {1, 2, 0}), std::uint64_t{1} << 30), 2);
  EXPECT_EQ(sweeps(Axes({3001, 3001, 3001}, {2, 1, 0}), std::uint64_t{1} << 30), 1);
  EXPECT_EQ(sweeps(Axes({51, 51, 51, 99991}, {1, 2, 0, 3}), std::uint64_t{1} << 30), 1);
}

// Parts of rows stay whole: the squares of their length are transposed, then they change places.
TEST_F(FileInPlace, AxesThatChangeTheShape) {
  const auto of = [](std::vector<std::uint64_t> shape, std::vector<int> order, std::uint64_t width,
                     std::uint64_t batch = 1) {
    return Problem{.permutation = Axes(shape, order), .element_bytes = width, .batch = batch};
  };
  for (const std::uint64_t memory : {1 << 15, 1 << 16}) {
    check(of({12, 36, 50}, {1, 0, 2}, 4), small(memory));        // rows of 50 stay
    check(of({40, 120}, {1, 0}, 4), small(memory));              // M = 3 N
    check(of({90, 60}, {1, 0}, 4, 2), small(memory), 5);         // 30 in common
    check(of({60, 90}, {1, 0}, 3), small(memory));               // likewise, other units
    check(of({20, 7, 60}, {2, 1, 0}, 8), small(memory));         // with an axis between
    check(of({11, 13, 48}, {1, 0, 2}, 6, 3), small(memory), 0);  // a batch of them
    file::Options verified = small(memory);
    verified.verify = true;
    check(of({90, 60}, {1, 0}, 4, 2), verified);
  }
  check(of({48, 5, 7, 32}, {3, 1, 2, 0}, 4), small(1 << 18));
  check(of({48, 5, 7, 32}, {1, 3, 2, 0}, 2), small(1 << 18));
  const auto facts = [](const Permutation& axes, std::uint64_t memory) {
    return file::in_place_facts({.permutation = axes, .element_bytes = 4}, small(memory));
  };
  EXPECT_LE(facts(Axes({12, 36, 5000}, {1, 0, 2}), 1 << 18).sweeps, 2);
  const file::Facts large = facts(Axes({49152, 65536 * 5}, {1, 0}), std::uint64_t{1} << 30);
  EXPECT_EQ(large.sweeps, 3);
  EXPECT_LE(large.memory_bytes, std::uint64_t{1} << 30);
  // Nothing in common, so that a unit is an element; and units whose numbers alone are more than memory.
  EXPECT_EQ(test::code_of([&] { facts(Axes({4096, 3375}, {1, 0}), 1 << 20); }), ErrorCode::unsupported);
  EXPECT_EQ(test::code_of([&] { facts(Axes({4096, 3376}, {1, 0}), 1 << 20); }), ErrorCode::unsupported);
}

TEST_F(FileInPlace, EachStepIsVerifiedBeforeItIsWritten) {
  const Indexed gather(std::vector<std::uint32_t>{4, 2, 0, 1, 3}, Direction::gather);
  for (const Permutation& permutation :
       {Permutation(maps::random_bmmc(9, 4)), Permutation(maps::bit_reversal(10)),
        Permutation(maps::roll(1003, 17)), Permutation(maps::flip(1001)), Permutation(gather),
        Permutation(maps::transpose_any(7, 9))}) {
    const bool is_small = element_count(permutation) < 100;
    file::Options options = small(2000);
    options.verify = true;
    check({.permutation = permutation, .element_bytes = 4, .batch = is_small ? 200U : 2U}, options);
    set({.permutation = permutation, .element_bytes = 4, .batch = 10}, 0);
    EXPECT_TRUE(file::permute_in_place(problem_, {path(), 0}, options).verified);
  }
}

// Cancelled at every part, and again while it is recovered: finished or taken back in the end.
TEST_F(FileInPlace, InterruptedRunsAreFinishedOrTakenBack) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(0, 1);
  const Permutation permutations[] = {maps::random_bmmc(9, 9),     maps::bit_reversal(10),
                                      maps::roll(1001, 13),        maps::flip(1499),
                                      Axes({31, 31}, {1, 0}),      Axes({11, 11, 11}, {1, 2, 0}),
                                      Axes({4, 3, 14}, {1, 0, 2}), Axes({30, 50}, {1, 0})};
  int interrupted = 0;
  for (const Permutation& permutation : permutations) {
    const bool has_many_units = element_count(permutation) == 1500;
    const file::Options options = small(has_many_units ? 10 << 10 : 1 << 10);
    for (int trial = 0; trial < 12; ++trial) {
      set({.permutation = permutation, .element_bytes = 4}, 64);
      if (run_in_part(part(random), options)) continue;
      if (!file::is_permuted_in_part(path())) {
        EXPECT_TRUE(read_bytes(path()) == before_);
        continue;
      }
      ++interrupted;
      EXPECT_EQ(test::code_of([&] { run_in_part(2, options); }), ErrorCode::file);
      if (trial % 3 == 1 && recover_in_part(part(random), file::Recovery::finish)) {
        EXPECT_TRUE(read_bytes(path()) == after_);
        continue;
      }
      if (trial % 3 == 2 && recover_in_part(part(random), file::Recovery::undo)) {
        EXPECT_TRUE(read_bytes(path()) == before_);
        continue;
      }
      const bool finishes = trial % 2 == 0;
      const file::Report report =
          file::recover(path(), finishes ? file::Recovery::finish : file::Recovery::undo, small(0));
      EXPECT_TRUE(report.finished);
      EXPECT_TRUE(read_bytes(path()) == (finishes ? after_ : before_)) << to_text(permutation) << trial;
      EXPECT_EQ(files(), 1U);
    }
  }
  EXPECT_GT(interrupted, 20);
}

// A record that was cut does not count: the file is made whole by the one before.
TEST_F(FileInPlace, TornRecordsAndOtherFiles) {
  set({.permutation = maps::random_bmmc(9, 4), .element_bytes = 4}, 0);
  ASSERT_FALSE(run_in_part(0.6, small(1 << 10)));
  const auto journal = file::in_place_journal_path(path());
  const Bytes whole = read_bytes(journal);
  int recovered = 0;
  int refused = 0;
  const Bytes in_part = read_bytes(path());
  for (std::size_t at = 0; at < whole.size(); at += 307) {
    Bytes damaged = whole;
    damaged[at] ^= std::byte{8};
    write_bytes(journal, damaged);
    write_bytes(path(), in_part);
    try {
      file::recover(path(), file::Recovery::finish, small(0));
      ++recovered;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::file) << at;
      EXPECT_TRUE(read_bytes(path()) == in_part) << at;
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(recovered, 0);
  write_bytes(journal, whole);
  write_bytes(path(), Bytes(5));
  EXPECT_EQ(test::code_of([&] { file::recover(path(), file::Recovery::finish, small(0)); }), ErrorCode::file);
  std::filesystem::remove(journal);
  EXPECT_EQ(test::code_of([&] { file::recover(path(), file::Recovery::finish, small(0)); }), ErrorCode::file);
}

TEST_F(FileInPlace, TheHeaderIsWrittenLast) {
  set({.permutation = maps::random_bmmc(12, 4), .element_bytes = 4}, 64);
  const Bytes header = random_bytes(40, 77);
  std::copy(header.begin(), header.end(), after_.begin());
  for (const bool finishes : {true, false}) {
    write_bytes(path(), before_);
    file::Options options = small(1 << 10);
    double done = 0;
    options.progress = [&](const file::Progress& now) {
      done = static_cast<double>(now.done_bytes) / static_cast<double>(now.total_bytes);
    };
    options.cancelled = [&] { return done > 0.5; };
    ASSERT_FALSE(file::permute_in_place(problem_, {path(), 64, header}, options).finished);
    const Bytes now = read_bytes(path());
    EXPECT_TRUE(std::equal(now.begin(), now.begin() + 64, before_.begin()));
    file::recover(path(), finishes ? file::Recovery::finish : file::Recovery::undo, small(0));
    EXPECT_TRUE(read_bytes(path()) == (finishes ? after_ : before_));
  }
}

TEST_F(FileInPlace, RefusesBeforeAnythingIsWritten) {
  set({.permutation = maps::bit_reversal(10), .element_bytes = 4}, 8);
  const auto code = [&](const Problem& problem, const file::InPlaceFile& in, file::Options options) {
    return test::code_of([&] { file::permute_in_place(problem, in, options); });
  };
  EXPECT_EQ(code(problem_, {path(), 4096}, small(3000)), ErrorCode::file);
  EXPECT_EQ(code(problem_, {directory_ / "none", 0}, small(3000)), ErrorCode::file);
  EXPECT_EQ(code(problem_, {directory_, 0}, small(3000)), ErrorCode::file);
  EXPECT_EQ(code(problem_, {path(), 8}, small(20)), ErrorCode::value);
  EXPECT_EQ(code(problem_, {path(), 8, Bytes(9)}, small(3000)), ErrorCode::value);
  file::Options resumes = small(3000);
  resumes.resume = true;
  EXPECT_EQ(code(problem_, {path(), 8}, resumes), ErrorCode::unsupported);
  EXPECT_TRUE(read_bytes(path()) == before_);
  EXPECT_EQ(files(), 1U);
}

}  // namespace file_in_place_test
}  // namespace faro
