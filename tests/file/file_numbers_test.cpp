// Files whose numbers are changed while they are permuted, with budgets of a few KiB: against the obvious
// loop over bytes in memory and the obvious steps for each number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine_support.hpp"
#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/checksums.hpp"
#include "file_sweep_support.hpp"
#include "number_oracle.hpp"
#include "oracle.hpp"
#include "permutation/rows.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_numbers_test {

using testing::budget;
using testing::Bytes;
using testing::FileSweep;
using testing::kEveryIo;
using testing::random_bytes;
using testing::SplitMix64;
constexpr auto read_file = testing::read_bytes;
constexpr auto write_file = testing::write_bytes;
namespace fs = std::filesystem;

std::uint64_t below(SplitMix64& random, std::uint64_t end) { return random() % end; }

// Numbers of the result's shape, along one axis of which scale or offset may have values.
file::Numbers draw_numbers(SplitMix64& random, const std::vector<std::uint64_t>& shape) {
  file::Numbers numbers;
  Arithmetic& of = numbers.arithmetic;
  of.from = static_cast<Number>(below(random, kNumbers));
  of.to = static_cast<Number>(below(random, kNumbers));
  if (below(random, 3) == 0) of.function = static_cast<Function>(below(random, kFunctions));
  if (is_complex(of.from) && (of.function == Function::relu || of.function == Function::gelu))
    of.function = Function::conjugate;
  const auto coefficient = [&](double usual) {
    const auto value = [&] { return std::complex<double>(static_cast<double>(below(random, 65)) / 16 - 2); };
    if (below(random, 2) == 0) return Coefficient{{usual}, {}};
    if (below(random, 2) == 0) return Coefficient{{value()}, {}};
    numbers.shape = shape;
    Coefficient made{.values = {}, .axis = below(random, shape.size())};
    for (std::uint64_t i = 0; i < shape[*made.axis]; ++i) made.values.push_back(value());
    return made;
  };
  of.scale = coefficient(1);
  of.offset = coefficient(0);
  if (below(random, 3) == 0) {
    of.addend = Addend{.number = static_cast<Number>(below(random, kNumbers)),
                       .beta = 0.5,
                       .swapped = below(random, 4) == 0};
  }
  of.to_integer = below(random, 2) == 0 ? ToInteger::nearest : ToInteger::truncate;
  of.saturated = below(random, 4) == 0;
  of.in_swapped = below(random, 5) == 0;
  of.out_swapped = below(random, 5) == 0;
  return numbers;
}

std::uint64_t step_of(const file::Numbers& numbers, const Coefficient& of) {
  if (!of.axis) return 0;
  std::uint64_t step = 1;
  for (std::size_t axis = *of.axis + 1; axis < numbers.shape.size(); ++axis) step *= numbers.shape[axis];
  return step;
}

// Numbers at places of the output, of as many that were moved there as bytes.
Bytes changed(const file::Numbers& numbers, const Bytes& moved, const Bytes& added) {
  const Arithmetic& of = numbers.arithmetic;
  const NumberOracle oracle(of);
  const std::uint64_t in_width = bytes_of(of.from);
  const std::uint64_t out_width = bytes_of(of.to);
  const std::uint64_t added_width = of.addend ? bytes_of(of.addend->number) : 0;
  const std::uint64_t count = moved.size() / in_width;
  const auto which = [&](const Coefficient& all, std::uint64_t place) {
    return all.axis ? place / step_of(numbers, all) % all.values.size() : 0;
  };
  Bytes out(count * out_width);
  for (std::uint64_t place = 0; place < count; ++place) {
    oracle.change(moved.data() + place * in_width, added.data() + place * added_width, which(of.scale, place),
                  which(of.offset, place), out.data() + place * out_width);
  }
  return out;
}

void settle_all(const file::Numbers& numbers, Bytes& data, std::uint64_t begin) {
  const NumberOracle oracle(numbers.arithmetic);
  const std::uint64_t width = bytes_of(numbers.arithmetic.to);
  for (std::uint64_t at = begin; at < data.size(); at += width) oracle.settle(data.data() + at);
}

// Which ways were gone by sweeps of several tiles.
struct Reached {
  int narrower = 0;
  int wider = 0;
  int equal = 0;
  int along = 0;
  int added = 0;
  int verified = 0;

  void note(const Arithmetic& of, const file::Facts& facts, const file::Options& options) {
    if (facts.tiles < 4 || is_plain(of)) return;
    const std::uint64_t in = bytes_of(of.from);
    const std::uint64_t out = bytes_of(of.to);
    ++(in == out ? equal : in < out ? wider : narrower);
    if (of.scale.axis || of.offset.axis) ++along;
    if (of.addend) ++added;
    if (options.verify) ++verified;
  }
  void expect_all() const {
    if (testing::kInstrumented) return;
    for (const int times : {narrower, wider, equal, along, added, verified}) EXPECT_GE(times, 5);
  }
};

class FileNumbers : public FileSweep {
 protected:
  Reached reached_;

  // Elements of `group` numbers.
  void expect(const Permutation& permutation, std::uint64_t batch, std::uint64_t group,
              const file::Numbers& asked, const file::Options& options, std::uint64_t seed) {
    const Arithmetic& of = asked.arithmetic;
    const Problem problem{
        .permutation = permutation, .element_bytes = group * bytes_of(of.from), .batch = batch};
    const std::string name = to_text(permutation) + " x " + std::to_string(batch) + " of " +
                             std::to_string(group) + ": " + to_text(of) + ", --memory " +
                             std::to_string(options.memory_bytes);
    SCOPED_TRACE(name);
    const Bytes data = random_bytes(total_bytes(problem), seed);
    Bytes moved(data.size());
    permute_naively(problem, data.data(), moved.data(), 1);
    check(asked, data, moved, options, seed,
          [&](const file::Numbers& numbers) { return file::Sweep(problem, options, numbers); });
  }

  template <typename MakeSweep>
  void check(file::Numbers numbers, const Bytes& data, const Bytes& moved, const file::Options& options,
             std::uint64_t seed, const MakeSweep& make) {
    const Arithmetic& of = numbers.arithmetic;
    const std::uint64_t count = moved.size() / bytes_of(of.from);
    const std::uint64_t added_bytes = of.addend ? count * bytes_of(of.addend->number) : 0;
    const Bytes added = random_bytes(added_bytes, seed + 1);
    write_file(directory_ / "in", testing::joined(random_bytes(seed % 3 * 64, 2), data));
    write_file(directory_ / "added", testing::joined(random_bytes(17, 2), added));
    numbers.addend = {directory_ / "added", 17};
    const Bytes header = random_bytes(seed % 2 * 4000 + 96, 9);
    const file::Sweep sweep = make(numbers);
    EXPECT_LE(sweep.facts().memory_bytes, options.memory_bytes);
    reached_.note(of, sweep.facts(), options);
    const file::Report report =
        file::run(sweep, {directory_ / "in", seed % 3 * 64}, {directory_ / "out", header}, options);
    Bytes wanted = testing::joined(header, is_plain(of) ? moved : changed(numbers, moved, added));
    Bytes got = read_file(directory_ / "out");
    ASSERT_EQ(got.size(), wanted.size());
    settle_all(numbers, wanted, header.size());
    settle_all(numbers, got, header.size());
    EXPECT_TRUE(got == wanted) << report.io;
    EXPECT_EQ(report.verified, options.verify);
    EXPECT_EQ(report.written_bytes, wanted.size() - header.size());
    EXPECT_EQ(files(), 3U);
  }
};

file::Options draw_options(SplitMix64& random, std::uint64_t count) {
  file::Options options = budget(300 + below(random, 60 * count + 1), kEveryIo[below(random, 3)]);
  options.verify = below(random, 2) == 0;
  return options;
}

TEST_F(FileNumbers, DrawnAxes) {
  for (std::uint64_t seed = 1; seed <= (testing::kInstrumented ? 40U : 300U) && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SplitMix64 random{seed};
    std::vector<std::uint64_t> shape(1 + below(random, 4));
    for (std::uint64_t& extent : shape) extent = 1 + below(random, 17);
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
    const Axes axes(shape, order);
    const std::uint64_t batch = 1 + below(random, 3);
    const std::uint64_t group = 1 + below(random, 3);
    std::vector<std::uint64_t> result{batch};
    for (const int axis : order) result.push_back(shape[static_cast<std::size_t>(axis)]);
    result.push_back(group);
    const file::Numbers numbers = draw_numbers(random, result);
    expect(axes, batch, group, numbers, draw_options(random, element_count(axes) * group), seed);
  }
  reached_.expect_all();
}

TEST_F(FileNumbers, DrawnMapsOfEveryKind) {
  for (std::uint64_t seed = 1; seed <= (testing::kInstrumented ? 40U : 300U) && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SplitMix64 random{seed};
    const int bits = static_cast<int>(below(random, 12));
    const std::uint64_t count = 1 + below(random, 3000);
    const auto odd = static_cast<std::int64_t>(2 * below(random, 700) + 1);
    const std::vector<Permutation> kinds{
        maps::random_bmmc(bits, seed),
        maps::bit_reversal(bits),
        maps::identity(bits),
        maps::roll(count, static_cast<std::int64_t>(below(random, count))),
        maps::flip(count),
        maps::multiply(std::uint64_t{1} << bits, odd),
        as_index_array(maps::random_bmmc(std::min(bits, 7), seed)),
    };
    const Permutation& map = kinds[below(random, kinds.size())];
    const std::uint64_t batch = 1 + below(random, 3);
    const std::uint64_t group = below(random, 2) == 0 ? 1 : 1 + below(random, 4);
    const std::uint64_t numbers_in_all = element_count(map) * group;
    const file::Numbers numbers = draw_numbers(random, {batch, element_count(map), group});
    file::Options options = draw_options(random, numbers_in_all);
    if (std::holds_alternative<Indexed>(map)) options.memory_bytes += 500 * numbers_in_all;
    expect(map, batch, group, numbers, options, seed);
  }
  reached_.expect_all();
}

// Flips, slices, broadcasts, gaps of the output.
TEST_F(FileNumbers, DrawnViews) {
  for (std::uint64_t seed = 1; seed <= (testing::kInstrumented ? 40U : 300U) && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SplitMix64 random{seed};
    Strided view;
    std::uint64_t in = 1;
    std::uint64_t out = 1;
    const std::size_t rank = 1 + below(random, 3);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::uint64_t extent = 1 + below(random, 20);
      in *= 1 + below(random, 3);
      view.extents.push_back(extent);
      view.in_strides.push_back(below(random, 5) == 0 ? 0 : static_cast<std::int64_t>(in));
      view.out_strides.push_back(static_cast<std::int64_t>(out));
      in *= extent;
      out *= extent;
      if (below(random, 2) == 0) {
        view.in_offset += static_cast<std::uint64_t>(view.in_strides[axis]) * (extent - 1);
        view.in_strides[axis] *= -1;
      }
    }
    for (std::size_t i = rank; i > 1; --i) {
      const std::size_t j = below(random, i);
      std::swap(view.in_strides[i - 1], view.in_strides[j]);
      std::swap(view.out_strides[i - 1], view.out_strides[j]);
      std::swap(view.extents[i - 1], view.extents[j]);
    }
    file::Numbers numbers = draw_numbers(random, {out});
    const std::uint64_t width = bytes_of(numbers.arithmetic.from);
    const Bytes data = random_bytes(in_elements(view) * width, seed);
    Bytes moved(out * width);
    faro::plan(view, width, {.engine = Engine::cpu}).run(data.data(), in_elements(view), moved.data(), out);
    file::Options options = draw_options(random, out);
    SCOPED_TRACE(to_text(view) + ": " + to_text(numbers.arithmetic));
    check(numbers, data, moved, options, seed,
          [&](const file::Numbers& of) { return file::Sweep(view, width, options, of); });
  }
  reached_.expect_all();
}

// Tiles that several threads convert, in place and by way of two buffers.
TEST_F(FileNumbers, TilesOfManyNumbers) {
  constexpr int kBits = testing::kInstrumented ? 18 : 20;
  const std::uint64_t count = std::uint64_t{1} << kBits;
  std::uint64_t seed = 0;
  for (const auto& [from, to] : {std::pair(Number::f32, Number::bf16), std::pair(Number::u8, Number::f32),
                                 std::pair(Number::f32, Number::f32), std::pair(Number::i16, Number::c128),
                                 std::pair(Number::f64, Number::i8)}) {
    for (const int threads : {1, 2, 3}) {
      ++seed;
      Arithmetic of{.from = from, .to = to, .scale = {{2.0}, {}}};
      file::Options options = budget((bytes_of(from) + bytes_of(to)) << kBits);
      options.threads = threads;
      options.verify = threads == 2;
      expect(maps::random_bmmc(kBits, seed), 1, 1, {.arithmetic = of}, options, seed);
      of.offset = {{1.0, 2.0, 3.0, 4.0}, 1};
      expect(maps::bit_reversal(kBits), 1, 1, {.arithmetic = of, .shape = {count / 8, 4, 2}}, options, seed);
      of.addend = Addend{.number = Number::i32, .beta = 0.25};
      options.memory_bytes += 4 << kBits;
      expect(maps::random_bpc(kBits, seed), 1, 1, {.arithmetic = of, .shape = {count / 8, 4, 2}}, options,
             seed);
    }
  }
}

// What no element of a view reaches is zero, and not the offset.
TEST_F(FileNumbers, GapsAreZero) {
  const Strided view{.extents = {5, 3}, .in_strides = {3, 1}, .out_strides = {4, 1}};
  const std::vector<float> data(15, 2.0F);
  Bytes bytes(sizeof(float) * 15);
  std::memcpy(bytes.data(), data.data(), bytes.size());
  write_file(directory_ / "in", bytes);
  file::Options options = budget(600);
  options.verify = true;
  const file::Numbers numbers{.arithmetic = {.from = Number::f32, .to = Number::u8, .offset = {{1.0}, {}}}};
  file::run(file::Sweep(view, 4, options, numbers), {directory_ / "in"}, {directory_ / "out"}, options);
  const Bytes got = read_file(directory_ / "out");
  ASSERT_EQ(got.size(), 19U);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], std::byte(i % 4 == 3 ? 0 : 3)) << i;
}

// Interrupted at any moment and gone on with, of both widths and with an added file.
TEST_F(FileNumbers, GoesOnBehindTheFinishedTiles) {
  const Problem problem{.permutation = maps::random_bmmc(15, 9), .element_bytes = 4};
  const Bytes data = random_bytes(total_bytes(problem), 3);
  write_file(directory_ / "in", data);
  Bytes moved(data.size());
  permute_naively(problem, data.data(), moved.data(), 1);
  for (const Number to : {Number::bf16, Number::f64, Number::i32}) {
    for (const bool adds : {false, true}) {
      SCOPED_TRACE(name(to) + std::string(adds ? ", added" : ""));
      file::Numbers numbers{.arithmetic = {.from = Number::f32, .to = to, .scale = {{2.0}, {}}}};
      Bytes added;
      if (adds) {
        numbers.arithmetic.addend = Addend{.number = Number::i16, .beta = 3};
        added = random_bytes(moved.size() / 2, 4);
      }
      write_file(directory_ / "added", added);
      numbers.addend = {directory_ / "added"};
      file::Options options = budget(3 << 13);
      options.keep_unfinished = true;
      options.checkpoint_seconds = 0;
      options.verify = true;
      const auto run = [&](double part, bool resume) {
        file::Options chosen = options;
        chosen.resume = resume;
        double done = 0;
        chosen.progress = [&](const file::Progress& progress) {
          done = static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes);
        };
        chosen.cancelled = [&] { return done > part; };
        return file::run(file::Sweep(problem, chosen, numbers), {directory_ / "in"}, {directory_ / "out"},
                         chosen);
      };
      EXPECT_FALSE(run(0.4, false).finished);
      EXPECT_FALSE(run(0.7, true).finished);
      const file::Report report = run(2, true);
      EXPECT_TRUE(report.finished);
      EXPECT_GT(report.resumed_tiles, report.facts.tiles / 2);
      Bytes got = read_file(directory_ / "out");
      Bytes wanted = changed(numbers, moved, added);
      settle_all(numbers, got, 0);
      settle_all(numbers, wanted, 0);
      EXPECT_TRUE(got == wanted);
      // Another scale is another run.
      EXPECT_FALSE(run(0.5, false).finished);
      numbers.arithmetic.scale.values = {2.0 + 0x1p-50};
      EXPECT_EQ(test::code_of([&] { run(2, true); }), ErrorCode::file);
      fs::remove(directory_ / "out");
      EXPECT_TRUE(run(2, false).finished);
      fs::remove(directory_ / "out");
    }
  }
}

TEST_F(FileNumbers, RefusesWhatCannotBe) {
  const file::Options options = budget(4096);
  const auto code = [&](std::uint64_t width, const file::Numbers& numbers) {
    return test::code_of([&] {
      const Problem problem{.permutation = maps::transpose_any(6, 4), .element_bytes = width};
      static_cast<void>(file::Sweep(problem, options, numbers));
    });
  };
  const Arithmetic usual{.from = Number::f32, .to = Number::f16};
  EXPECT_EQ(code(6, {.arithmetic = usual}), ErrorCode::value);
  Arithmetic of = usual;
  of.scale = {{1.0, 2.0, 3.0}, 0};
  EXPECT_EQ(code(4, {.arithmetic = of}), ErrorCode::value);
  EXPECT_EQ(code(4, {.arithmetic = of, .shape = {3, 4}}), ErrorCode::value);
  of = usual;
  of.addend = Addend{.strides = {1}};
  EXPECT_EQ(code(4, {.arithmetic = of, .shape = {24}}), ErrorCode::value);
  // A shorter file to add.
  write_file(directory_ / "in", Bytes(96));
  write_file(directory_ / "added", Bytes(95));
  of.addend->strides = {};
  const Problem problem{.permutation = maps::transpose_any(6, 4), .element_bytes = 4};
  const file::Numbers numbers{.arithmetic = of, .addend = {directory_ / "added"}};
  EXPECT_EQ(test::code_of([&] {
              file::run(file::Sweep(problem, options, numbers), {directory_ / "in"}, {directory_ / "out"},
                        options);
            }),
            ErrorCode::file);
  EXPECT_EQ(files(), 2U);
}

// The sums see a number that was changed otherwise: the engine's against other steps.
TEST_F(FileNumbers, SumsSeeAnotherNumber) {
  const Problem problem{.permutation = maps::bit_reversal(8), .element_bytes = 4};
  const file::Numbers asked{.arithmetic = {.from = Number::f32, .to = Number::bf16, .scale = {{2.0}, {}}}};
  file::Numbers other = asked;
  other.arithmetic.scale = {{2.5}, {}};
  const Bytes data = random_bytes(total_bytes(problem), 3);
  Bytes moved(data.size());
  permute_naively(problem, data.data(), moved.data(), 1);
  for (const bool is_same : {true, false}) {
    file::Checksums sums(file::destinations_of(problem), 4, "x", 1);
    sums.change(std::make_shared<const file::ChangedNumbers>(asked));
    file::TileWork work;
    work.in = file::one_row(0, data.size());
    work.out = file::one_row(0, data.size() / 2);
    sums.add_read(work, data.data());
    const Bytes out = changed(is_same ? asked : other, moved, {});
    sums.add_written(work.out, out.data());
    sums.add_covered(sums.covered(work.out));
    const auto compare = [&] { sums.require_equal(out.size()); };
    if (is_same) {
      EXPECT_NO_THROW(compare());
    } else {
      EXPECT_EQ(test::code_of(compare), ErrorCode::verification);
    }
  }
}

}  // namespace file_numbers_test
}  // namespace faro
