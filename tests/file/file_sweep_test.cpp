// Files permuted with budgets of a few KiB, against the obvious loop in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/moves.hpp"
#include "file/sweep.hpp"
#include "file_sweep_support.hpp"
#include "oracle.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_sweep_test {

using testing::budget;
using testing::Bytes;
using testing::FileSweep;
using testing::io_ways;
using testing::kEveryIo;
using testing::random_bytes;
constexpr auto read_file = testing::read_bytes;
constexpr auto write_file = testing::write_bytes;
namespace fs = std::filesystem;

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
        const ExecutablePlan plan = faro::plan(view, width, {.engine = Engine::cpu, .threads = 1});
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

// Two buffers and longer runs, where both sides get what pays; the same bytes in every split.
TEST_F(FileSweep, LongerRunsOnEitherSide) {
  const auto rate = [](std::uint64_t segment, double read, double write) {
    return file::SegmentRate{.segment_bytes = segment, .read_bytes_per_s = read, .write_bytes_per_s = write};
  };
  const std::vector<file::SegmentRate> of_writes{rate(8, 1e9, 1e6), rate(1 << 12, 1e9, 1e9)};
  const std::vector<file::SegmentRate> of_reads{rate(8, 1e6, 1e9), rate(1 << 12, 1e9, 1e9)};
  for (const std::uint64_t memory : {3UL << 12, 1UL << 14, 3UL << 14}) {
    for (const bool is_reversal : {false, true}) {
      const Affine map = is_reversal ? maps::bit_reversal(13) : maps::random_bmmc(13, memory);
      const Problem problem{.permutation = map, .element_bytes = 4, .batch = 2};
      std::vector<file::Facts> facts;
      for (const auto& rates : {std::vector<file::SegmentRate>(), of_writes, of_reads}) {
        file::Options options = budget(memory);
        options.segment_rates = rates;
        options.verify = true;
        check(problem, options);
        facts.push_back(file::Sweep(problem, options).facts());
      }
      if (!is_reversal) continue;
      EXPECT_GT(facts[1].write_run_bytes, facts[1].read_run_bytes);
      EXPECT_LT(facts[2].write_run_bytes, facts[2].read_run_bytes);
      EXPECT_EQ(facts[1].write_run_bytes, facts[2].read_run_bytes);
      // Half of 16 KiB of memory is a larger power of two than a third.
      EXPECT_EQ(facts[0].memory_bytes / facts[0].tile_bytes, memory == 1UL << 14 ? 2U : 3U);
    }
  }
}

// Where rows are written as they were read, nothing is permuted, and two buffers do.
TEST_F(FileSweep, RollsNeedNoThirdBuffer) {
  const auto buffers = [](const Permutation& permutation) {
    const file::Facts facts =
        file::Sweep({.permutation = permutation, .element_bytes = 4, .batch = 3}, budget(3 << 12)).facts();
    return facts.memory_bytes / facts.tile_bytes;
  };
  EXPECT_EQ(buffers(maps::roll(5000, 0)), 2U);
  EXPECT_EQ(buffers(maps::roll(5000, 77)), 2U);
  EXPECT_EQ(buffers(Axes({40, 30, 25}, {1, 0, 2})), 3U);
  EXPECT_EQ(buffers(maps::flip(5000)), 3U);
}

// Runs of the output that are cut end where blocks of the file do, where its rows begin there.
TEST_F(FileSweep, WritesWholeBlocks) {
  const file::Facts facts =
      file::Sweep({.permutation = Axes({1 << 16, 181, 181}, {2, 1, 0}), .element_bytes = 4},
                  budget(1UL << 30))
          .facts();
  EXPECT_EQ(facts.write_run_bytes % 4096, 0U) << facts.text();
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

}  // namespace file_sweep_test
}  // namespace faro
