// Files permuted with budgets of a few KiB, against the obvious loop in memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/buckets.hpp"
#include "file/checksums.hpp"
#include "file/moves.hpp"
#include "file/record_shuffle.hpp"
#include "file/sweep.hpp"
#include "file_support.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"
#include "io/transfers.hpp"
#include "oracle.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_sweep_test {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::joined;
using testing::random_bytes;
constexpr auto read_file = testing::read_bytes;
constexpr auto write_file = testing::write_bytes;

class FileSweep : public testing::FolderTest {
 protected:
  // Permutes random bytes behind a header of `offset` bytes to ones behind another.
  void check(const Problem& problem, const file::Options& options, std::uint64_t offset = 128,
             std::uint64_t out_offset = 4096) {
    const std::string name = to_text(problem.permutation) + " x " + std::to_string(problem.batch) + " of " +
                             std::to_string(problem.element_bytes) + " bytes, --memory " +
                             std::to_string(options.memory_bytes) + ", io " + file::name(options.io);
    const Bytes data = random_bytes(total_bytes(problem), 7);
    const Bytes before = random_bytes(offset, 8);
    const Bytes header = random_bytes(out_offset, 9);
    write_file(directory_ / "in", joined(before, data));
    Bytes expected(data.size());
    permute_naively(problem, data.data(), expected.data(), 1);
    const file::Sweep sweep(problem, options);
    const file::Report report =
        file::run(sweep, {directory_ / "in", offset}, {directory_ / "out", header}, options);
    EXPECT_TRUE(report.finished) << name;
    EXPECT_EQ(report.read_bytes, data.size()) << name;
    EXPECT_EQ(report.written_bytes, data.size()) << name;
    EXPECT_LE(sweep.facts().memory_bytes, options.memory_bytes) << name;
    EXPECT_TRUE(read_file(directory_ / "out") == joined(header, expected)) << name << ", " << report.io;
    EXPECT_EQ(files(), 2U) << name;
  }
};

constexpr file::Io kEveryIo[] = {file::Io::automatic, file::Io::threads, file::Io::buffered};

// What io_uring is not refused for here, too.
std::vector<file::Io> io_ways() {
  std::vector<file::Io> ways(std::begin(kEveryIo), std::end(kEveryIo));
  if (io::why_no_uring().empty()) ways.push_back(file::Io::uring);
  return ways;
}

file::Options budget(std::uint64_t bytes, file::Io io = file::Io::automatic) {
  return {.memory_bytes = bytes, .threads = 2, .io_threads = 3, .io = io};
}

TEST_F(FileSweep, EveryAffineMapOfUpToThreeBits) {
  for (int n = 0; n <= 3; ++n) {
    for (f2::Word columns = 0; columns < f2::Word{1} << (n * n); ++columns) {
      std::vector<f2::Word> column;
      for (int j = 0; j < n; ++j) column.push_back(columns >> (n * j) & f2::low_mask(n));
      const f2::Matrix matrix = f2::Matrix::from_columns(n, column);
      if (matrix.rank() < n || columns % 5 != 0) continue;
      check({.permutation = Affine(matrix, columns % (f2::Word{1} << n)), .element_bytes = 4}, budget(30), 3,
            5);
    }
  }
}

TEST_F(FileSweep, RandomAffineMapsOfEveryWidthAndWayOfReading) {
  std::uint64_t seed = 0;
  const std::vector<file::Io> ways = io_ways();
  for (const std::uint64_t width : {1, 2, 4, 8, 16, 64}) {
    for (const int n : {5, 8, 11}) {
      ++seed;
      const file::Io io = ways[seed % ways.size()];
      check({.permutation = maps::random_bmmc(n, seed), .element_bytes = width}, budget(200 * width, io),
            seed % 3 * 64, seed % 2 * 4096 + 64);
      check({.permutation = maps::random_bpc(n, seed), .element_bytes = width, .batch = 3},
            budget(400 * width, io));
      check({.permutation = maps::random_bmmc(6, seed), .element_bytes = width}, budget(9 * width, io));
    }
  }
}

// Long enough that whole blocks are written past the page cache, beside heads and tails.
TEST_F(FileSweep, SegmentsOfManyBlocks) {
  for (const file::Io io : io_ways()) {
    for (const std::uint64_t out_offset : {4096, 128}) {
      check({.permutation = maps::bit_reversal(22), .element_bytes = 2}, budget(3 << 20, io), 128,
            out_offset);
      check({.permutation = maps::random_bmmc(18, 5), .element_bytes = 16}, budget(2 << 20, io), 1,
            out_offset + 1);
      check({.permutation = maps::transpose_any(603, 901), .element_bytes = 3}, budget(1 << 19, io), 77,
            out_offset);
    }
  }
}

TEST_F(FileSweep, RandomAxes) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::uint64_t> shape(1 + random() % 5);
    for (std::uint64_t& extent : shape) extent = 1 + random() % (shape.size() > 3 ? 7 : 23);
    std::vector<int> order(shape.size());
    for (std::size_t a = 0; a < order.size(); ++a) order[a] = static_cast<int>(a);
    std::shuffle(order.begin(), order.end(), random);
    const std::uint64_t width = 1 + random() % 17;
    check({.permutation = Axes(shape, order), .element_bytes = width, .batch = 1 + random() % 3},
          budget(3 * width * (1 + random() % 300), kEveryIo[random() % 3]), random() % 200);
  }
}

// No kernel moves elements of these widths by an affine map that is nothing else.
TEST_F(FileSweep, AffineMapsOfElementsOfAnyWidth) {
  std::uint64_t seed = 0;
  for (const std::uint64_t width : {3, 6, 12, 24, 100, 5000, 8192}) {
    for (const int n : {1, 5, 9}) {
      ++seed;
      check({.permutation = maps::random_bmmc(n, seed), .element_bytes = width}, budget(100 * width));
      check({.permutation = maps::gray(n), .element_bytes = width, .batch = 3},
            budget(3 * (width << n) / 4 + 3 * width));
      check({.permutation = maps::random_bmmc(n, seed), .element_bytes = width, .batch = 2},
            budget(4000 * width));
    }
  }
  file::Options verified = budget(5000);
  verified.verify = true;
  check({.permutation = maps::random_bmmc(12, 2), .element_bytes = 12, .batch = 2}, verified);
}

TEST_F(FileSweep, RollsAndFlips) {
  for (const std::uint64_t count : {1, 2, 5, 64, 1000, 4097}) {
    for (const std::int64_t shift : {0, 1, -1, 3, 500}) {
      const Cyclic roll = maps::roll(count, shift);
      for (const bool reversed : {false, true}) {
        check({.permutation = Cyclic{.count = count, .shift = roll.shift, .reversed = reversed},
               .element_bytes = 5,
               .batch = 2},
              budget(300));
      }
    }
  }
}

// One sweep of the parts of an L; lines that go around the end, follow one another, and do neither.
TEST_F(FileSweep, MultiplicationsModuloAnyCount) {
  std::mt19937_64 random(11);
  std::uint64_t turn = 0;
  for (const std::uint64_t count : {2, 3, 7, 64, 97, 500, 1024, 3001}) {
    std::vector<std::uint64_t> factors{count - 1, 3, count / 2 + 1, count - 5};
    for (int i = 0; i < 3; ++i) factors.push_back(random());
    for (const std::uint64_t factor : factors) {
      if (std::gcd(factor % count, count) != 1) continue;
      ++turn;
      const Modular map = maps::affine_mod(count, static_cast<std::int64_t>(factor % count),
                                           static_cast<std::int64_t>(random() % count));
      const std::uint64_t width = std::array{1, 4, 12, 100}[turn % 4];
      file::Options options = budget(3 * width * (1 + count / 40 + random() % 10), kEveryIo[turn % 3]);
      options.verify = turn % 2 == 0;
      check({.permutation = map, .element_bytes = width, .batch = 1 + turn % 3}, options);
    }
  }
  // A tebibyte in 3 GiB, by runs of sqrt(2^30 x 4) bytes or nearly, whatever the factor.
  for (int i = 0; i < 20; ++i) {
    const std::int64_t factor = static_cast<std::int64_t>(random() >> 24 | 1);
    const file::Sweep sweep(
        {.permutation = maps::multiply(std::uint64_t{1} << 38, factor), .element_bytes = 4},
        {.memory_bytes = std::uint64_t{3} << 30, .threads = 2});
    EXPECT_GT(std::min(sweep.facts().read_run_bytes, sweep.facts().write_run_bytes), 16U << 10) << factor;
    EXPECT_EQ(sweep.facts().sweeps, 1);
  }
}

TEST_F(FileSweep, SmallArraysOfABatchAndIndexArraysThatFit) {
  check({.permutation = maps::bit_reversal(4), .element_bytes = 4, .batch = 1001}, budget(2000));
  check({.permutation = maps::transpose_any(3, 5), .element_bytes = 7, .batch = 333}, budget(1500));
  const Indexed index(std::vector<std::uint32_t>{4, 2, 0, 1, 3}, Direction::scatter);
  check({.permutation = index, .element_bytes = 4, .batch = 100}, budget(2000));
  check({.permutation = maps::bit_reversal(4), .element_bytes = 4, .batch = 0}, budget(2000));
}

TEST_F(FileSweep, WhatStaysIsABatchOfSmallArrays) {
  const auto expect_same = [](const Problem& problem, std::uint64_t most_bytes, std::uint64_t batch) {
    const Problem made = file::in_small_arrays(problem, most_bytes);
    EXPECT_EQ(made.batch, batch) << to_text(problem.permutation);
    ASSERT_EQ(total_bytes(made), total_bytes(problem));
    const Bytes data = random_bytes(total_bytes(problem), 3);
    Bytes expected(data.size());
    Bytes got(data.size());
    permute_naively(problem, data.data(), expected.data(), 1);
    permute_naively(made, data.data(), got.data(), 1);
    EXPECT_TRUE(expected == got) << to_text(problem.permutation);
  };
  const Affine low = direct_sum(maps::random_bmmc(5, 3), Affine(4));
  expect_same({.permutation = low, .element_bytes = 4}, 300, 8);
  expect_same({.permutation = low, .element_bytes = 4, .batch = 3}, 128, 48);
  expect_same({.permutation = low, .element_bytes = 4}, 127, 1);
  expect_same({.permutation = low, .element_bytes = 4}, 4096, 1);
  expect_same({.permutation = direct_sum(Affine(4), maps::random_bmmc(5, 3)), .element_bytes = 1}, 100, 1);
  expect_same({.permutation = Axes({6, 5, 7}, {0, 2, 1}), .element_bytes = 3, .batch = 2}, 105, 12);
  expect_same({.permutation = Axes({6, 5, 7}, {0, 2, 1}), .element_bytes = 3}, 104, 1);
  expect_same({.permutation = Axes({6, 5, 7}, {2, 1, 0}), .element_bytes = 3}, 200, 1);
  expect_same({.permutation = maps::roll(100, 3), .element_bytes = 3}, 200, 1);
}

TEST_F(FileSweep, ViewsWithGapsRepeatsAndFlips) {
  const std::vector<Strided> views{
      {.extents = {30, 40}, .in_strides = {-40, 1}, .out_strides = {40, 1}, .in_offset = 29 * 40},
      {.extents = {30, 20}, .in_strides = {40, 2}, .out_strides = {20, 1}},
      {.extents = {50, 8}, .in_strides = {0, 1}, .out_strides = {8, 1}, .in_offset = 3},
      {.extents = {18, 13}, .in_strides = {1, 1}, .out_strides = {13, 1}},
      {.extents = {9, 11, 7},
       .in_strides = {1, -70, 10},
       .out_strides = {100, 8, 1},
       .in_offset = 720,
       .out_offset = 5},
      {.extents = {20, 30}, .in_strides = {30, 1}, .out_strides = {3, 60}},
      {.extents = {2, 300}, .in_strides = {1, 2}, .out_strides = {3, 2}},
  };
  for (const Strided& view : views) {
    for (const std::uint64_t width : {1, 4, 6}) {
      for (const file::Io io : {file::Io::automatic, file::Io::threads}) {
        const Bytes data = random_bytes(1300 * width, 4);
        write_file(directory_ / "in", data);
        Bytes expected(out_elements(view) * width, std::byte{0});
        const ExecutableStridedPlan plan = faro::plan(view, width, {.engine = Engine::cpu, .threads = 1});
        plan.run(data.data(), 1300, expected.data(), out_elements(view));
        file::Options options = budget(600 * width, io);
        options.verify = io == file::Io::threads;
        const file::Sweep sweep(view, width, options);
        EXPECT_TRUE(file::run(sweep, {directory_ / "in", 0}, {directory_ / "out"}, options).finished);
        EXPECT_TRUE(read_file(directory_ / "out") == expected) << to_text(view) << " of " << width;
      }
    }
  }
}

TEST_F(FileSweep, SumsHoldForWhatIsRightAndForNothingElse) {
  const Problem problem{.permutation = maps::random_bmmc(10, 3), .element_bytes = 12, .batch = 3};
  const Bytes data = random_bytes(total_bytes(problem), 1);
  Bytes out(data.size());
  permute_naively(problem, data.data(), out.data(), 1);
  const file::Rows in_rows{.count = 6, .bytes = data.size() / 6, .vectors = {}, .digits = {{6, 6144}}};
  const file::Rows out_rows{.count = 1, .bytes = data.size(), .vectors = {}, .digits = {}};
  const auto code_of = [&](const Bytes& written, std::uint64_t begin, std::uint64_t bytes) {
    file::Checksums sums(file::destinations_of(problem), problem.element_bytes, "the test", 2);
    sums.add_read(in_rows, data.data());
    sums.add_written(out_rows, written.data());
    sums.add_covered(sums.covered(begin, bytes));
    sums.add_covered(sums.covered(0, begin));
    try {
      sums.require_equal(data.size());
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::value;
  };
  EXPECT_EQ(code_of(out, 5000, data.size() - 5000), ErrorCode::value);
  EXPECT_EQ(code_of(out, 5000, data.size() - 5001), ErrorCode::verification);
  Bytes changed = out;
  changed[777] ^= std::byte{1};
  EXPECT_EQ(code_of(changed, 0, data.size()), ErrorCode::verification);
  Bytes swapped = out;
  std::swap_ranges(swapped.begin(), swapped.begin() + 12, swapped.begin() + 1200);
  EXPECT_EQ(code_of(swapped, 0, data.size()), ErrorCode::verification);
  // In the middle of a run, of tiles that are written where they were read.
  const auto code_of_tile = [&](const Bytes& written, std::uint64_t written_bytes) {
    file::Checksums sums(file::destinations_of(problem), problem.element_bytes, "the test", 2);
    sums.add_read(in_rows, data.data());
    sums.add_written(out_rows, written.data());
    sums.add_covered(sums.covered(0, written_bytes) - sums.covered(out_rows));
    return test::code_of([&] {
      sums.require_alike();
      fail(ErrorCode::value, "", "", "");
    });
  };
  EXPECT_EQ(code_of_tile(out, data.size()), ErrorCode::value);
  EXPECT_EQ(code_of_tile(out, data.size() - 12), ErrorCode::verification);
  EXPECT_EQ(code_of_tile(changed, data.size()), ErrorCode::verification);
  EXPECT_EQ(code_of_tile(swapped, data.size()), ErrorCode::verification);
}

// A gather says where elements come from.
TEST_F(FileSweep, GathersOfArraysThatFitAreVerified) {
  const Indexed index(std::vector<std::uint32_t>{4, 2, 0, 1, 3}, Direction::gather);
  file::Options options = budget(2000);
  options.verify = true;
  check({.permutation = index, .element_bytes = 4, .batch = 1000}, options);
}

// Where the output's elements come from, by a view's strides, against a walk over its indices.
TEST_F(FileSweep, SourcesOfViews) {
  const Strided view{.extents = {3, 1, 4, 5},
                     .in_strides = {-7, 99, 0, 2},
                     .out_strides = {40, 3, 6, 1},
                     .in_offset = 30,
                     .out_offset = 2};
  const auto sources = file::sources_of(view);
  ASSERT_TRUE(sources);
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint64_t k = 0; k < 4; ++k) {
      std::array<std::uint64_t, 5> row{};
      (*sources)(2 + 40 * i + 6 * k, row);
      for (std::uint64_t l = 0; l < 5; ++l) EXPECT_EQ(row[l], 30 - 7 * i + 2 * l);
    }
  }
  // 0, 2, 4 and 3, 5, 7: no axis lies inside the other.
  const auto interleaved = file::sources_of({.extents = {2, 3}, .in_strides = {3, 1}, .out_strides = {3, 2}});
  ASSERT_TRUE(interleaved);
  const std::array<std::uint64_t, 6> places{0, 2, 4, 3, 5, 7};
  for (std::uint64_t x = 0; x < places.size(); ++x) {
    std::array<std::uint64_t, 1> source{};
    (*interleaved)(places[x], source);
    EXPECT_EQ(source[0], x);
  }
  EXPECT_FALSE(file::sources_of(
      {.extents = {1 << 20, 1 << 20}, .in_strides = {1 << 20, 1}, .out_strides = {(1 << 20) + 1, 1 << 20}}));
  // A wrong element is found.
  const Bytes data = random_bytes(240, 3);
  const file::Rows in{.count = 1, .bytes = 240, .vectors = {}, .digits = {}};
  const file::Rows out{.count = 1, .bytes = 5, .begin = 42, .vectors = {}, .digits = {}};
  for (const bool is_wrong : {false, true}) {
    file::Checksums sums(*sources, true, 1, "the test", 1);
    Bytes written{data[23], data[25], data[27], data[29], data[is_wrong ? 30 : 31]};
    sums.add_read(in, out, data.data());
    sums.add_written(out, written.data());
    EXPECT_EQ(test::code_of([&] {
                sums.require_equal(5);
                fail(ErrorCode::value, "", "", "");
              }),
              is_wrong ? ErrorCode::verification : ErrorCode::value);
  }
}

TEST_F(FileSweep, VerifiesEveryForm) {
  for (const Permutation& permutation :
       {Permutation(maps::random_bmmc(12, 2)), Permutation(maps::transpose_any(63, 65)),
        Permutation(maps::roll(4000, 17)), Permutation(maps::flip(4001))}) {
    file::Options options = budget(5000);
    options.verify = true;
    check({.permutation = permutation, .element_bytes = 4, .batch = 2}, options);
  }
}

// What is planned for 2^50 bytes: by counting, for nothing is moved.
TEST_F(FileSweep, PlansAPebibyte) {
  const std::uint64_t memory = std::uint64_t{3} << 34;
  const file::Sweep sweep({.permutation = maps::bit_reversal(40), .element_bytes = 1024},
                          {.memory_bytes = memory, .threads = 2});
  EXPECT_EQ(sweep.facts().moved_bytes, std::uint64_t{1} << 50);
  EXPECT_EQ(sweep.facts().tiles * sweep.facts().tile_bytes, std::uint64_t{1} << 50);
  // sqrt(2^34 x 2^10) = 2^22.
  EXPECT_EQ(sweep.facts().read_run_bytes, std::uint64_t{1} << 22);
  EXPECT_EQ(sweep.facts().write_run_bytes, std::uint64_t{1} << 22);
  EXPECT_EQ(sweep.facts().text(), "one sweep, tiles of 16 GiB in segments of 4 MiB");
  const auto tiles = sweep.state().tiles();
  const file::TileWork last = tiles->tile(tiles->count() - 1);
  EXPECT_LT(last.in.offset(last.in.count - 1), std::uint64_t{1} << 50);
  EXPECT_LT(last.out.offset(last.out.count - 1), std::uint64_t{1} << 50);

  const file::Sweep axes({.permutation = Axes({1000, 1000, 1000, 1001}, {3, 2, 1, 0}), .element_bytes = 1000},
                         {.memory_bytes = memory, .threads = 2});
  EXPECT_GE(axes.facts().read_run_bytes, std::uint64_t{3} << 20);
  EXPECT_GE(axes.facts().write_run_bytes, std::uint64_t{3} << 20);
}

TEST_F(FileSweep, RefusesBeforeAnythingIsWritten) {
  using test::code_of;
  write_file(directory_ / "in", random_bytes(1000, 1));
  const Problem problem{.permutation = maps::bit_reversal(8), .element_bytes = 4};
  const file::Options options = budget(300);
  const file::Sweep sweep(problem, options);
  const auto run = [&](const fs::path& in, const fs::path& out) {
    file::run(sweep, {directory_ / in, 0}, {directory_ / out}, options);
  };
  EXPECT_EQ(code_of([&] { run("in", "out"); }), ErrorCode::file);  // too short
  write_file(directory_ / "in", random_bytes(1024, 1));
  EXPECT_EQ(code_of([&] { run("in", "in"); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { run("none", "out"); }), ErrorCode::file);
  EXPECT_EQ(code_of([&] { run(".", "out"); }), ErrorCode::file);
  EXPECT_EQ(code_of([&] { run("in", "none/out"); }), ErrorCode::file);
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(code_of([&] { file::Sweep(problem, budget(11)); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { file::Sweep({.permutation = maps::gray(10), .element_bytes = 0}, budget(300)); }),
            ErrorCode::value);
  EXPECT_EQ(
      code_of([&] {
        file::Sweep(
            {.permutation = maps::bit_reversal(8), .element_bytes = 4, .placement = Placement::in_place},
            options);
      }),
      ErrorCode::unsupported);
}

// --- interruptions

class FileResume : public FileSweep {
 protected:
  void SetUp() override {
    FileSweep::SetUp();
    data_ = random_bytes(total_bytes(problem_), 3);
    write_file(directory_ / "in", data_);
    expected_.resize(data_.size());
    permute_naively(problem_, data_.data(), expected_.data(), 1);
    options_ = budget(3 << 12);
    options_.keep_unfinished = true;
    options_.checkpoint_seconds = 0;
  }

  // Cancels when `part` of the bytes are done.
  file::Report run(double part, bool resume) {
    file::Options options = options_;
    options.resume = resume;
    double done = 0;
    options.progress = [&](const file::Progress& progress) {
      done = static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes);
    };
    options.cancelled = [&] { return done > part; };
    return file::run(file::Sweep(problem_, options), {directory_ / "in", 0}, {directory_ / "out"}, options);
  }

  Problem problem_{.permutation = maps::random_bmmc(15, 9), .element_bytes = 4};
  Bytes data_;
  Bytes expected_;
  file::Options options_;
};

TEST_F(FileResume, GoesOnBehindTheFinishedTiles) {
  for (const bool verify : {false, true}) {
    options_.verify = verify;
    EXPECT_FALSE(run(0.4, false).finished);
    EXPECT_FALSE(fs::exists(directory_ / "out"));
    EXPECT_FALSE(run(0.7, true).finished);
    const file::Report report = run(2, true);
    EXPECT_TRUE(report.finished);
    EXPECT_GT(report.resumed_tiles, report.facts.tiles / 2);
    EXPECT_LT(report.written_bytes, data_.size() / 2);
    EXPECT_TRUE(read_file(directory_ / "out") == expected_);
    EXPECT_EQ(files(), 2U);
    fs::remove(directory_ / "out");
  }
}

TEST_F(FileResume, TilesThatChangedAreMadeAgain) {
  EXPECT_FALSE(run(0.8, false).finished);
  Bytes partial = read_file(directory_ / ".faro-partial-out");
  partial[partial.size() / 2] ^= std::byte{4};
  for (std::size_t at = 0; at < partial.size(); at += 20000) partial[at] ^= std::byte{1};
  write_file(directory_ / ".faro-partial-out", partial);
  const file::Report report = run(2, true);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.resumed_tiles, 0U);
  EXPECT_TRUE(read_file(directory_ / "out") == expected_);
}

TEST_F(FileResume, AnotherProblemIsRefusedAndWithoutResumeBegunAnew) {
  EXPECT_FALSE(run(0.5, false).finished);
  problem_.permutation = maps::bit_reversal(15);
  permute_naively(problem_, data_.data(), expected_.data(), 1);
  EXPECT_EQ(test::code_of([&] { run(2, true); }), ErrorCode::file);
  EXPECT_EQ(files(), 3U);
  EXPECT_TRUE(run(2, false).finished);
  EXPECT_TRUE(read_file(directory_ / "out") == expected_);
  EXPECT_EQ(files(), 2U);
}

TEST_F(FileResume, TwoRunsOnOneOutputExcludeEachOther) {
  file::Options options = options_;
  ErrorCode second = ErrorCode::internal;
  options.progress = [&](const file::Progress&) {
    if (second == ErrorCode::internal) second = test::code_of([&] { run(2, false); });
  };
  EXPECT_TRUE(file::run(file::Sweep(problem_, options), {directory_ / "in", 0}, {directory_ / "out"}, options)
                  .finished);
  EXPECT_EQ(second, ErrorCode::file);
  EXPECT_TRUE(read_file(directory_ / "out") == expected_);
}

// --- records by a seed and by an index file

TEST_F(FileSweep, ASeedPermutesAnyCount) {
  for (const std::uint64_t count : {1, 2, 3, 100, 4096, 4097, 5000, 65536, 100003}) {
    for (const std::uint64_t seed : {0, 1, 12345}) {
      const file::RecordShuffle shuffle(count, seed);
      std::vector<bool> taken(count, false);
      for (std::uint64_t x = 0; x < count; ++x) {
        const std::uint64_t y = shuffle(x);
        ASSERT_LT(y, count);
        ASSERT_FALSE(taken[y]) << count << " by seed " << seed;
        taken[y] = true;
        ASSERT_EQ(shuffle.inverse(y), x);
      }
      std::vector<std::uint64_t> places(count);
      // By vectors, from anywhere.
      for (const bool inverse : {false, true}) {
        for (const std::uint64_t first : {std::uint64_t{0}, count / 3, count - 1}) {
          const std::span<std::uint64_t> part = std::span(places).first(count - first);
          shuffle.fill(first, inverse, part);
          for (std::uint64_t i = 0; i < part.size(); ++i)
            ASSERT_EQ(part[i], inverse ? shuffle.inverse(first + i) : shuffle(first + i)) << count;
        }
      }
    }
  }
  // Files that were shuffled are put back by later versions, too.
  const file::RecordShuffle few(8, 7);
  const file::RecordShuffle many(1000000, 7);
  EXPECT_EQ((std::vector{few(0), few(1), few(2), few(7)}), (std::vector<std::uint64_t>{1, 4, 5, 7}));
  EXPECT_EQ((std::vector{many(0), many(1), many(999999)}),
            (std::vector<std::uint64_t>{794625, 798155, 520799}));
}

// Every place is about as likely for every record: 16 cells, 3 degrees of 5 sigma.
TEST_F(FileSweep, SeedsSpreadEvenly) {
  constexpr std::uint64_t kCount = 5000;
  constexpr int kSeeds = 8000;
  for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, kCount - 1}) {
    std::array<int, 16> cells{};
    std::array<int, 16> steps{};  // of a record and its neighbour
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const file::RecordShuffle shuffle(kCount, seed);
      const std::uint64_t y = shuffle(x);
      ++cells[y * 16 / kCount];
      ++steps[(shuffle((x + 1) % kCount) + kCount - y) % kCount * 16 / kCount];
    }
    for (const int cell : cells) EXPECT_NEAR(cell, kSeeds / 16, 110) << x;
    for (const int step : steps) EXPECT_NEAR(step, kSeeds / 16, 110) << x;
  }
}

// What a random permutation has one of on the mean, and fewer rounds more: records that stay, and neighbours
// that stay neighbours. 400 seeds; 5 sigma are 100. And each sixteenth sends as much to each, 5 sigma of 256.
TEST_F(FileSweep, SeedsLeaveNoTraceOfTheOrder) {
  for (const std::uint64_t count : {4097, 5000, 8192}) {
    constexpr int kSeeds = 400;
    int stay = 0;
    int neighbours = 0;
    double table = 0;
    std::vector<std::uint64_t> places(count);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      file::RecordShuffle(count, seed).fill(0, false, places);
      std::array<int, 256> sent{};
      for (std::uint64_t x = 0; x < count; ++x) {
        stay += places[x] == x ? 1 : 0;
        neighbours += x > 0 && places[x] == places[x - 1] + 1 ? 1 : 0;
        ++sent[x * 16 / count * 16 + places[x] * 16 / count];
      }
      const double even = static_cast<double>(count) / 256;
      for (const int each : sent) table += (each - even) * (each - even) / even;
    }
    EXPECT_NEAR(stay, kSeeds, 100) << count;
    EXPECT_NEAR(neighbours, kSeeds, 100) << count;
    EXPECT_NEAR(table / kSeeds, 15 * 15, 5.5) << count;  // degrees of freedom
  }
}

TEST_F(FileSweep, ShufflesAreTheSameForEveryBudget) {
  for (const std::uint64_t width : {1, 12, 100}) {
    for (const std::uint64_t count : {1, 700, 6001}) {
      const Bytes data = random_bytes(count * width, width);
      write_file(directory_ / "in", joined(random_bytes(77, 1), data));
      const file::RecordShuffle shuffle(count, 5);
      Bytes expected(data.size());
      for (std::uint64_t x = 0; x < count; ++x)
        std::copy_n(&data[x * width], width, &expected[shuffle(x) * width]);
      for (const std::uint64_t records : {std::uint64_t{100}, std::uint64_t{1000}, 4 * count}) {
        for (const file::Io io : {file::Io::automatic, file::Io::threads}) {
          const file::Options options = budget(3 * (width + 4) * records + 8 * records, io);
          file::Shuffle asked{.records = count, .record_bytes = width, .seed = 5};
          const file::Report report =
              file::shuffle(asked, {directory_ / "in", 77}, {directory_ / "out"}, options);
          ASSERT_TRUE(report.finished);
          ASSERT_TRUE(read_file(directory_ / "out") == expected)
              << count << " of " << width << ", " << records;
          EXPECT_EQ(report.facts.sweeps, count > records * 2 ? 2 : 1) << count << ", " << records;
          asked.inverse = true;
          file::shuffle(asked, {directory_ / "out", 0}, {directory_ / "back"}, options);
          ASSERT_TRUE(read_file(directory_ / "back") == data);
        }
      }
    }
  }
}

// Cancelled in either sweep and gone on with; verified by sums.
TEST_F(FileSweep, ShufflesAreVerifiedAndResumed) {
  constexpr std::uint64_t kCount = 20011;
  for (const std::uint64_t width : {4, 40}) {
    const Bytes data = random_bytes(kCount * width, width);
    write_file(directory_ / "in", data);
    const file::RecordShuffle shuffle(kCount, 8);
    Bytes expected(data.size());
    for (std::uint64_t x = 0; x < kCount; ++x)
      std::copy_n(&data[x * width], width, &expected[shuffle(x) * width]);
    const file::Shuffle asked{.records = kCount, .record_bytes = width, .seed = 8};
    const auto run = [&](double part, bool resume, bool verify) {
      file::Options options = budget(kCount * width);
      options.keep_unfinished = true;
      options.checkpoint_seconds = 0;
      options.resume = resume;
      options.verify = verify;
      double done = 0;
      options.progress = [&](const file::Progress& now) {
        done = static_cast<double>(now.done_bytes) / static_cast<double>(now.total_bytes);
      };
      options.cancelled = [&] { return done > part; };
      return file::shuffle(asked, {directory_ / "in", 0}, {directory_ / "out"}, options);
    };
    for (const double part : {0.3, 0.45, 0.6, 0.9}) {
      const bool verify = part < 0.5;
      ASSERT_FALSE(run(part, false, verify).finished);
      EXPECT_FALSE(fs::exists(directory_ / "out"));
      const file::Report report = run(2, true, verify);
      EXPECT_TRUE(report.finished);
      EXPECT_EQ(report.verified, verify);
      EXPECT_GT(report.resumed_tiles, 0U) << part;
      EXPECT_EQ(report.facts.sweeps, 2);
      EXPECT_TRUE(read_file(directory_ / "out") == expected) << width << ", " << part;
      fs::remove(directory_ / "out");
      EXPECT_EQ(files(), 1U);
    }
    // Begun anew, with what lies there of an earlier run.
    ASSERT_FALSE(run(0.6, false, false).finished);
    EXPECT_TRUE(run(2, false, true).finished);
    EXPECT_TRUE(read_file(directory_ / "out") == expected);
    fs::remove(directory_ / "out");
    // A scratch file that changed is made again.
    ASSERT_FALSE(run(0.7, false, false).finished);
    Bytes scratch = read_file(directory_ / ".faro-partial-out-scratch");
    for (std::size_t at = 0; at < scratch.size(); at += 1000) scratch[at] ^= std::byte{1};
    write_file(directory_ / ".faro-partial-out-scratch", scratch);
    const file::Report report = run(2, true, false);
    EXPECT_EQ(report.resumed_tiles, 0U);
    EXPECT_TRUE(read_file(directory_ / "out") == expected);
    fs::remove(directory_ / "out");
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(FileSweep, ShapesOfBucketsKeepToTheBudget) {
  for (const std::uint64_t records : {1UL << 20, 1UL << 30, 1UL << 36}) {
    for (const std::uint64_t width : {1, 4, 100, 4096}) {
      for (const bool is_tagged : {false, true}) {
        for (const std::uint64_t memory : {1UL << 24, 1UL << 30, 1UL << 34}) {
          const auto shape = file::bucket_shape(records, width, is_tagged, memory);
          if (!shape) {
            EXPECT_LT(memory, records * width / 64);
            continue;
          }
          EXPECT_LE(3 * shape->region_bytes, memory + 3 * 4096);
          EXPECT_LE(3 * shape->chunk_records * shape->stored_bytes(), memory);
          EXPECT_LE(shape->chunk_records, 1UL << 32);
          EXPECT_GE(shape->buckets() * shape->bucket_records(), records);
          EXPECT_LT((shape->buckets() - 1) * shape->bucket_records(), records);
        }
      }
    }
  }
  // 4 GiB of 4 bytes in 1 GiB: nothing but the data is moved, and 4 bytes a cell and chunk.
  const auto shape = file::bucket_shape(1UL << 30, 4, false, 1UL << 30);
  ASSERT_TRUE(shape);
  EXPECT_LT(shape->buckets() * shape->region_bytes, (4UL << 30) * 101 / 100);
}

// The sweep holds the plan of its tiles: of axes a view, of affine maps the map of a coset.
TEST_F(FileSweep, HoldsThePlanOfItsTiles) {
  const file::Options options = budget(3 << 12);
  const auto plan_of = [&](const Permutation& permutation, std::uint64_t width) {
    return file::Sweep({.permutation = permutation, .element_bytes = width}, options).tile_plan();
  };
  // Tiles of 2^10 elements of 4 bytes in segments of 2^5: five bits come from either end.
  const file::TilePlan affine = plan_of(maps::bit_reversal(20), 4);
  EXPECT_EQ(affine.permutation, to_text(Permutation(maps::bit_reversal(10))));
  EXPECT_EQ(affine.text, plan_only({.permutation = maps::bit_reversal(10), .element_bytes = 4},
                                   {.engine = Engine::cpu, .threads = 2})
                             .explain());
  EXPECT_FALSE(affine.json.empty());
  const file::TilePlan axes = plan_of(Axes({100, 200}, {1, 0}), 2);
  EXPECT_TRUE(axes.permutation.starts_with("strided(")) << axes.permutation;
  EXPECT_FALSE(axes.text.empty());
  const file::TilePlan any = plan_of(maps::gray(12), 12);
  EXPECT_NE(any.text.find("elements of 12 bytes"), std::string::npos) << any.text;
  EXPECT_TRUE(any.json.empty());
  const file::Sweep nothing({.permutation = maps::gray(12), .element_bytes = 4, .batch = 0}, options);
  EXPECT_TRUE(nothing.tile_plan().text.empty());
}

// The first tile goes both ways, later ones the faster.
TEST_F(FileSweep, TheFasterEngineIsTaken) {
  using namespace std::chrono_literals;
  for (const bool host_is_faster : {false, true}) {
    file::EngineTrial trial;
    int by_device = 0;
    int by_host = 0;
    const auto device = [&] {
      ++by_device;
      std::this_thread::sleep_for(host_is_faster ? 20ms : 0ms);
    };
    const auto host = [&] {
      ++by_host;
      std::this_thread::sleep_for(host_is_faster ? 0ms : 20ms);
    };
    EXPECT_TRUE(trial.text().empty());
    for (int tile = 0; tile < 5; ++tile) trial.run(device, host, 1000);
    EXPECT_EQ(trial.chosen(), host_is_faster ? Engine::cpu : Engine::cuda);
    EXPECT_EQ(by_device, host_is_faster ? 2 : 6);
    EXPECT_EQ(by_host, host_is_faster ? 5 : 1);
    EXPECT_NE(trial.text().find(" by cuda, "), std::string::npos) << trial.text();
  }
  if (cuda::status().available) return;
  file::Options options = budget(300);
  options.engine = Engine::cuda;
  EXPECT_EQ(test::code_of(
                [&] { file::Sweep({.permutation = maps::bit_reversal(8), .element_bytes = 4}, options); }),
            ErrorCode::device);
}

TEST_F(FileSweep, IndexArraysOfEveryDirectionAndPlace) {
  constexpr std::uint64_t kCount = 700;
  constexpr std::uint64_t kWidth = 5;
  constexpr std::uint64_t kBatch = 3;
  const Bytes data = random_bytes(kCount * kWidth * kBatch, 2);
  write_file(directory_ / "in", data);
  std::vector<std::uint32_t> index(kCount);
  for (std::uint32_t x = 0; x < kCount; ++x) index[x] = x * 337 % kCount;
  Bytes file = io::npy_header_bytes("'<u4'", std::vector<std::uint64_t>{kCount});
  const auto entries = std::as_bytes(std::span(index));
  file.insert(file.end(), entries.begin(), entries.end());
  write_file(directory_ / "index.npy", file);
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    Bytes expected(data.size());
    for (std::uint64_t x = 0; x < kCount * kBatch; ++x) {
      const std::uint64_t other = x / kCount * kCount + index[x % kCount];
      const std::uint64_t from = direction == Direction::scatter ? x : other;
      const std::uint64_t to = direction == Direction::scatter ? other : x;
      std::copy_n(&data[from * kWidth], kWidth, &expected[to * kWidth]);
    }
    for (const std::uint64_t memory : {9000, 60000, 600000}) {
      for (const bool verify : {false, true}) {
        file::Options options = budget(memory);
        options.verify = verify;
        const file::Input in{.path = directory_ / "in"};
        const file::Output out{.path = directory_ / "out"};
        const auto by_file =
            file::permute_indexed({.path = directory_ / "index.npy", .direction = direction, .batch = kBatch},
                                  kWidth, in, out, options);
        EXPECT_TRUE(by_file.finished);
        EXPECT_EQ(by_file.verified, verify);
        EXPECT_TRUE(read_file(directory_ / "out") == expected) << memory;
        fs::remove(directory_ / "out");
        const Problem problem{
            .permutation = Indexed(index, direction), .element_bytes = kWidth, .batch = kBatch};
        EXPECT_TRUE(file::permute_indexed(problem, in, out, options).finished);
        EXPECT_TRUE(read_file(directory_ / "out") == expected) << memory;
        fs::remove(directory_ / "out");
        EXPECT_EQ(files(), 2U);
      }
    }
  }
  const Problem problem{.permutation = Indexed(index, Direction::scatter), .element_bytes = kWidth};
  EXPECT_EQ(test::code_of([&] {
              file::permute_indexed(problem, {directory_ / "in", 0}, {directory_ / "out"}, budget(3000));
            }),
            ErrorCode::value);
}

TEST_F(FileSweep, IndexFilesLargerThanTheBudget) {
  constexpr std::uint64_t kCount = 3000;
  constexpr std::uint64_t kWidth = 6;
  const Bytes data = random_bytes(kCount * kWidth, 2);
  write_file(directory_ / "in", data);
  std::vector<std::uint64_t> places(kCount);
  for (std::uint64_t x = 0; x < kCount; ++x) places[x] = x * 1237 % kCount;
  Bytes expected(data.size());
  for (std::uint64_t x = 0; x < kCount; ++x)
    std::copy_n(&data[x * kWidth], kWidth, &expected[places[x] * kWidth]);
  const auto write_index = [&](bool wide) {
    Bytes file = io::npy_header_bytes(wide ? "'<u8'" : "'<u4'", std::vector<std::uint64_t>{kCount});
    for (const std::uint64_t place : places) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&place);
      file.insert(file.end(), bytes, bytes + (wide ? 8 : 4));
    }
    write_file(directory_ / "index.npy", file);
  };
  const auto scatter = [&](std::uint64_t memory) {
    file::permute_indexed(file::IndexFile{.path = directory_ / "index.npy"}, kWidth, {directory_ / "in", 0},
                          {directory_ / "out"}, budget(memory));
  };
  for (const bool wide : {false, true}) {
    write_index(wide);
    for (const std::uint64_t memory : {6000, 200000}) {
      scatter(memory);
      EXPECT_TRUE(read_file(directory_ / "out") == expected);
      fs::remove(directory_ / "out");
      for (const std::uint64_t wrong : {places[8], kCount, ~std::uint64_t{0}}) {
        const std::uint64_t right = std::exchange(places[9], wrong);
        write_index(wide);
        EXPECT_EQ(test::code_of([&] { scatter(memory); }), ErrorCode::value) << wrong << ", " << memory;
        EXPECT_EQ(files(), 2U);
        places[9] = right;
        write_index(wide);
      }
    }
  }
}

}  // namespace file_sweep_test
}  // namespace faro
