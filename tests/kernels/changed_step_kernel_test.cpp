// Steps of index arrays, and sums of rows, whose numbers change on their way, run by a block that is
// emulated, against one loop over all numbers: every step, both directions, numbers that are changed as they
// are read and as they are written, in elements of one number and of several, with factors along an axis and
// something added.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "engine_support.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/schedule/row_column.hpp"
#include "kernels/index_steps.hpp"
#include "kernels/partition_level.hpp"
#include "kernels/sum_rows.hpp"
#include "kernels/window_params.hpp"

namespace faro::changed_step_test {

using kernels::BrainHalf;
using kernels::Identity;
using kernels::NumberProgram;
using kernels::ProgramStep;
using schedule::PartitionSchedule;
using testing::SplitMix64;

constexpr float kScale = 1.5F;
constexpr float kOffset = -3;
constexpr float kBeta = 0.25F;
constexpr std::uint64_t kScales = 5;  // of numbers beside each other, where factors differ

template <typename T>
std::vector<T> numbers(std::uint64_t count, SplitMix64& random) {
  std::vector<T> made(count);
  for (T& x : made)
    x = kernels::stored<T>(static_cast<float>(static_cast<int>(random() % 512) - 256) / 8, {});
  return made;
}

template <typename T>
std::vector<std::byte> bytes(const std::vector<T>& of) {
  std::vector<std::byte> all(of.size() * sizeof(T));
  std::memcpy(all.data(), of.data(), all.size());
  return all;
}

template <typename T>
const std::byte* table(const std::vector<T>& of) {
  return reinterpret_cast<const std::byte*>(of.data());
}

// What is launched: elements of `width` numbers, element i of each array to target[i].
struct Moved {
  std::vector<std::uint64_t> target;
  std::uint64_t width = 1;
  std::uint64_t arrays = 1;
  std::uint64_t blocks = 0;
  std::uint32_t shared_bytes = 0;
  std::vector<const std::byte*> tables = {};
};

template <typename Kernel>
struct Launched : Kernel {
  std::uint64_t all = 0;
  std::uint32_t shared = 0;
  std::uint64_t blocks() const { return all; }
  std::uint32_t shared_bytes() const { return shared; }
};

template <typename Program, bool kRounds, bool kAlong, typename Step>
void expect_step(const typename Step::Params& params, const Moved& moved, SplitMix64& random) {
  using From = typename Program::From;
  using To = typename Program::To;
  using Computed = typename Program::Computed;
  const std::uint64_t of_array = moved.target.size() * moved.width;
  const std::uint64_t count = of_array * moved.arrays;
  // Between guards, both ends at a vector's alignment.
  const auto aligned = [](auto* pointer) {
    return reinterpret_cast<decltype(pointer)>((reinterpret_cast<std::uintptr_t>(pointer) + 127) / 128 * 128);
  };
  const std::vector<From> numbers_in = numbers<From>(count + 256, random);
  const From* const in = aligned(numbers_in.data());
  const std::vector<To> other = numbers<To>(count, random);
  std::vector<To> room(count + 320, kernels::stored<To>(77.0F, {}));
  To* const target = aligned(room.data() + 32);
  Launched<kernels::MoveChanged<Program, kRounds, kAlong, Step>> kernel;
  kernel.p = params;
  kernel.all = moved.blocks;
  kernel.shared = moved.shared_bytes;
  kernel.in = in;
  kernel.out = target;
  kernel.addend = other.data();
  std::copy(moved.tables.begin(), moved.tables.end(), kernel.tables);
  const auto give = [](kernels::ValueFactor& factor, float x) {
    const auto value = static_cast<Computed>(x);
    std::memcpy(factor.bytes, &value, sizeof value);
  };
  give(kernel.factors.scale.one, kScale);
  give(kernel.factors.offset.one, kOffset);
  give(kernel.factors.beta, kBeta);
  std::vector<Computed> scales(kAlong ? kScales : 1, static_cast<Computed>(kScale));
  kernel.first = kAlong ? 3 : 0;
  if constexpr (kAlong) {
    for (std::size_t i = 0; i < kScales; ++i) scales[i] = static_cast<Computed>(i + 1);
    kernel.factors.scale.table = scales.data();
    kernel.factors.scale.extent = device::Division64(kScales);
  }
  testing::emulate(kernel, {.order = static_cast<testing::Order>(random() % 3)});

  std::vector<To> wanted(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t array = i / of_array * of_array;
    const std::uint64_t element = (i - array) / moved.width;
    const std::uint64_t place = array + moved.target[element] * moved.width + (i - array) % moved.width;
    Computed x = Program::widened(in[i]);
    if constexpr (Program::kHasScale) x = x * scales[(kernel.first + place) % scales.size()];
    if constexpr (Program::kHasOffset) x = x + static_cast<Computed>(kOffset);
    if constexpr (Program::kHasAddend)
      x = x + Program::widened_addend(other[place]) * static_cast<Computed>(kBeta);
    wanted[place] = Program::rounded(x);
  }
  ASSERT_EQ(bytes(std::vector<To>(target, target + count)), bytes(wanted));
  const To guard = kernels::stored<To>(77.0F, {});
  for (const To* at = room.data(); at < room.data() + room.size(); ++at) {
    const bool outside = at < target || at >= target + count;
    ASSERT_TRUE(!outside || std::memcmp(at, &guard, sizeof guard) == 0);
  }
}

constexpr unsigned kLinear = ProgramStep::scale | ProgramStep::offset;
using Narrowed = NumberProgram<float, BrainHalf, float>;                    // 2 bytes are moved
using Widened = NumberProgram<BrainHalf, float, float, Identity, kLinear>;  // 2
using Bytes = NumberProgram<float, std::uint8_t, float, Identity, ProgramStep::saturate>;        // 1
using Summed = NumberProgram<float, BrainHalf, float, Identity, ProgramStep::scale, BrainHalf>;  // 4

// run(program, rounds first, along an axis, bytes of a number that is moved).
template <typename Run>
void for_each_program(const Run& run) {
  run(std::type_identity<Narrowed>(), std::true_type(), std::false_type(), std::integral_constant<int, 2>());
  run(std::type_identity<Widened>(), std::false_type(), std::true_type(), std::integral_constant<int, 2>());
  run(std::type_identity<Bytes>(), std::true_type(), std::false_type(), std::integral_constant<int, 1>());
  run(std::type_identity<Summed>(), std::false_type(), std::true_type(), std::integral_constant<int, 4>());
}

std::vector<std::uint64_t> shuffled(std::uint64_t count, SplitMix64& random) {
  std::vector<std::uint64_t> target(count);
  std::iota(target.begin(), target.end(), std::uint64_t{0});
  for (std::uint64_t i = count; i > 1; --i) std::swap(target[i - 1], target[random() % i]);
  return target;
}

std::vector<std::uint64_t> inverse(const std::vector<std::uint64_t>& of) {
  std::vector<std::uint64_t> made(of.size());
  for (std::uint64_t i = 0; i < of.size(); ++i) made[of[i]] = i;
  return made;
}

template <typename Entry, bool gather>
void expect_direct(SplitMix64& random) {
  using kernels::DirectKind;
  const std::uint64_t width = 1 + random() % 3;
  const std::uint64_t count = 700 + random() % 1500;
  Moved moved{.target = shuffled(count, random), .width = width, .arrays = 1 + random() % 3};
  const std::vector<std::uint64_t> read = gather ? inverse(moved.target) : moved.target;
  const std::vector<Entry> entries(read.begin(), read.end());
  moved.tables = {table(entries)};
  for_each_program([&](auto program, auto rounds, auto along, auto held) {
    using Program = typename decltype(program)::type;
    constexpr int kBytes = held();
    const auto expect = [&](auto kind, const kernels::DirectParams& p, int vector, std::uint32_t batch) {
      moved.arrays = p.arrays;
      moved.width = p.units;
      moved.blocks = kernels::direct_blocks(p, vector, batch);
      expect_step<Program, rounds(), along(), kernels::DirectStep<kBytes, sizeof(Entry), gather, kind()>>(
          p, moved, random);
    };
    const auto params = [&](std::uint64_t arrays, std::uint64_t units) {
      const bool power = (units & (units - 1)) == 0;
      return kernels::DirectParams{.count = count,
                                   .arrays = arrays,
                                   .units = static_cast<std::uint32_t>(units),
                                   .unit_bits = power ? std::countr_zero(units) : -1};
    };
    const std::uint64_t arrays = 1 + random() % 3;
    expect(std::integral_constant<DirectKind, DirectKind::one>(), params(1, 1), 1, 1);
    expect(std::integral_constant<DirectKind, DirectKind::small>(), params(arrays, width), 1, 1);
    expect(std::integral_constant<DirectKind, DirectKind::units>(), params(arrays, width), 1,
           kernels::kDirectUnitBatch);
    expect(std::integral_constant<DirectKind, DirectKind::vectors>(), params(1, 1),
           kernels::direct_vector(kBytes), kernels::kDirectVectorBatch);
  });
}

TEST(ChangedSteps, Direct) {
  for (std::uint64_t i = 0; i < 4 && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{i * 71 + 3};
    expect_direct<std::uint32_t, true>(random);
    expect_direct<std::uint32_t, false>(random);
    expect_direct<std::uint64_t, true>(random);
    expect_direct<std::uint64_t, false>(random);
  }
}

// A level and a last pass by themselves: what each does to elements is what its tables say.
template <bool forwards>
void expect_partition(SplitMix64& random) {
  const std::uint64_t count = 9000 + random() % 9000;
  const std::vector<std::uint64_t> all = shuffled(count, random);
  const PartitionSchedule made = schedule::partition_schedule(
      Indexed(all, Direction::scatter), {.count = count, .chunk_bits = 11, .level_bits = {4}});
  const schedule::PartitionLevel& level = made.levels.front();
  const std::uint64_t size = made.shape.chunk_elements();
  std::vector<std::uint64_t> after_level(count);
  std::vector<std::uint64_t> within_chunk(count);
  const std::uint32_t buckets = made.shape.buckets(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t chunk = i / size;
    const std::uint16_t* const starts = level.starts.data() + chunk * buckets;
    const std::uint32_t place = level.places[i];
    const auto bucket =
        static_cast<std::uint64_t>(std::upper_bound(starts, starts + buckets, place) - starts) - 1;
    after_level[i] = (bucket << made.shape.region_bits(1)) + level.offsets[chunk * buckets + bucket] + place -
                     starts[bucket];
    within_chunk[i] = chunk * size + made.last[i];
  }
  for_each_program([&](auto program, auto rounds, auto along, auto held) {
    using Program = typename decltype(program)::type;
    constexpr int kBytes = held();
    for (const std::uint32_t units : {1U, 3U}) {
      const kernels::ElementUnits element{.unit_bytes = kBytes, .units = units};
      const auto targets = [&](const std::vector<std::uint64_t>& of) { return forwards ? of : inverse(of); };
      Moved moved{.target = targets(after_level), .width = units, .arrays = 1 + random() % 2};
      const auto expect = [&](auto step, const kernels::PartitionParams& p, std::uint64_t blocks,
                              bool shared) {
        moved.blocks = blocks * moved.arrays;
        moved.shared_bytes = shared ? static_cast<std::uint32_t>(kernels::chunk_shared_bytes(p, kBytes)) : 0;
        expect_step<Program, rounds(), along(), typename decltype(step)::type>(p, moved, random);
      };
      const kernels::PartitionParams of_level = kernels::make_level_params(made.shape, 0, element);
      moved.tables = {table(level.places), table(level.starts), table(level.offsets)};
      using kernels::LevelStep;
      if (units == 1) {
        expect(std::type_identity<LevelStep<kBytes, true, 0, forwards>>(), of_level, of_level.chunks, true);
        expect(std::type_identity<LevelStep<kBytes, true, 2, forwards>>(), of_level, of_level.chunks, true);
      } else {
        expect(std::type_identity<LevelStep<kBytes, false, 1, forwards>>(), of_level, of_level.chunks, true);
      }
      expect(std::type_identity<kernels::InGlobalStep<kBytes, true, forwards>>(), of_level,
             kernels::in_global_blocks(of_level), false);
      const kernels::PartitionParams last =
          kernels::make_chunk_params(count, static_cast<std::uint32_t>(size), element);
      moved.target = targets(within_chunk);
      moved.tables = {table(made.last)};
      using kernels::ChunkStep;
      if (units == 1) {
        expect(std::type_identity<ChunkStep<kBytes, true, false, forwards>>(), last, last.chunks, true);
        expect(std::type_identity<ChunkStep<kBytes, true, true, forwards>>(), last, last.chunks, true);
      } else {
        expect(std::type_identity<ChunkStep<kBytes, false, false, forwards>>(), last, last.chunks, true);
      }
      expect(std::type_identity<kernels::InGlobalStep<kBytes, false, forwards>>(), last,
             kernels::in_global_blocks(last), false);
    }
  });
}

TEST(ChangedSteps, Partitions) {
  SplitMix64 random{17};
  expect_partition<true>(random);
  expect_partition<false>(random);
}

TEST(ChangedSteps, Columns) {
  SplitMix64 random{29};
  constexpr std::uint32_t kRows = 37;
  constexpr std::uint32_t kColumns = 210;
  std::vector<std::uint16_t> places;
  Moved moved{.target = std::vector<std::uint64_t>(std::uint64_t{kRows} * kColumns), .width = 1, .arrays = 2};
  for (std::uint32_t c = 0; c < kColumns; ++c) {
    const std::vector<std::uint64_t> of_column = shuffled(kRows, random);
    for (std::uint32_t r = 0; r < kRows; ++r) {
      places.push_back(static_cast<std::uint16_t>(of_column[r]));
      moved.target[r * kColumns + c] = of_column[r] * kColumns + c;
    }
  }
  moved.tables = {table(places)};
  for_each_program([&](auto program, auto rounds, auto along, auto held) {
    using Program = typename decltype(program)::type;
    const kernels::ColumnsParams p{
        .rows = kRows, .columns = kColumns, .strip = 32, .strips = (kColumns + 31) / 32, .units = 1};
    Moved backwards = moved;
    backwards.target = inverse(moved.target);
    moved.blocks = backwards.blocks = p.strips * moved.arrays;
    moved.shared_bytes = backwards.shared_bytes = kRows * 32 * held();
    expect_step<Program, rounds(), along(), kernels::ColumnsStep<held(), true>>(p, moved, random);
    expect_step<Program, rounds(), along(), kernels::ColumnsStep<held(), false>>(p, backwards, random);
    const std::uint64_t blocks = (std::uint64_t{kRows} * kColumns + 255) / 256 * moved.arrays;
    moved.blocks = backwards.blocks = blocks;
    expect_step<Program, rounds(), along(), kernels::ColumnsInGlobalStep<held(), true>>(p, moved, random);
    expect_step<Program, rounds(), along(), kernels::ColumnsInGlobalStep<held(), false>>(p, backwards,
                                                                                         random);
  });
}

template <bool backwards>
void expect_window(std::uint32_t window, SplitMix64& random) {
  constexpr std::uint64_t kCount = 8192;
  std::vector<std::uint64_t> read(kCount);  // of each place, where it is read
  std::iota(read.begin(), read.end(), std::uint64_t{0});
  for (std::uint64_t begin = random() % (window + 1); begin < kCount; begin += window + 1) {
    const std::uint64_t end = std::min<std::uint64_t>(kCount, begin + window + 1);
    for (std::uint64_t i = end; i > begin + 1; --i)
      std::swap(read[i - 1], read[begin + random() % (i - begin)]);
  }
  std::vector<std::uint16_t> shifts;
  for (std::uint64_t i = 0; i < kCount; ++i)
    shifts.push_back(static_cast<std::uint16_t>(read[i] + window - i));
  Moved moved{.target = backwards ? read : inverse(read), .width = 1, .arrays = 2};
  moved.tables = {table(shifts)};
  for_each_program([&](auto program, auto rounds, auto along, auto held) {
    using Program = typename decltype(program)::type;
    const kernels::WindowShape shape{.count = kCount,
                                     .batch = moved.arrays,
                                     .window = window,
                                     .unit_bytes = held(),
                                     .element_units = 1,
                                     .backwards = backwards};
    const kernels::WindowParams p = kernels::make_window_params(shape);
    moved.blocks = p.blocks;
    moved.shared_bytes = p.shared_bytes;
    using kernels::WindowStep;
    expect_step<Program, rounds(), along(), WindowStep<held(), backwards, false, true>>(p, moved, random);
    if (p.shared_bytes == 0) return;
    expect_step<Program, rounds(), along(), WindowStep<held(), backwards, false, false>>(p, moved, random);
    expect_step<Program, rounds(), along(), WindowStep<held(), backwards, true, false>>(p, moved, random);
  });
}

TEST(ChangedSteps, Windows) {
  SplitMix64 random{31};
  for (const std::uint32_t window : {3U, 200U}) {
    expect_window<true>(window, random);
    expect_window<false>(window, random);
  }
}

TEST(ChangedSteps, Runs) {
  SplitMix64 random{37};
  std::vector<std::uint64_t> begins;
  std::uint64_t count = 0;
  while (count < 9000) {
    begins.push_back(count);
    count += 1 + random() % 300;
  }
  std::vector<std::uint64_t> froms(begins.size());
  std::uint64_t from = 0;
  for (const std::uint64_t run : shuffled(begins.size(), random)) {
    froms[run] = from;
    from += (run + 1 < begins.size() ? begins[run + 1] : count) - begins[run];
  }
  std::vector<std::uint64_t> firsts;
  for (std::uint64_t s = 0; s < kernels::run_stretches(count); ++s) {
    const auto after = std::upper_bound(begins.begin(), begins.end(), s << kernels::kRunsStretchBits);
    firsts.push_back(static_cast<std::uint64_t>(after - begins.begin()) - 1);
  }
  firsts.push_back(begins.size() - 1);
  std::vector<std::uint64_t> target(count);
  for (std::size_t run = 0; run < begins.size(); ++run) {
    const std::uint64_t end = run + 1 < begins.size() ? begins[run + 1] : count;
    for (std::uint64_t i = begins[run]; i < end; ++i) target[froms[run] + i - begins[run]] = i;
  }
  for_each_program([&](auto program, auto rounds, auto along, auto held) {
    using Program = typename decltype(program)::type;
    Moved moved{.target = target, .width = 1, .arrays = 2};
    moved.tables = {table(begins), table(froms), table(firsts)};
    const std::uint64_t array = count * held();
    const kernels::RunsParams p{.in = {.begin = 0, .end = array * moved.arrays},
                                .out = {.begin = 0, .end = array * moved.arrays},
                                .array_bytes = device::Division64(array),
                                .element_bytes = device::Division64(held()),
                                .runs = begins.size(),
                                .first_vector = 0};
    constexpr std::uint64_t of_block = std::uint64_t{kernels::kRunsThreads} * kernels::kRunsVectors;
    moved.blocks = (p.vectors() + of_block - 1) / of_block;
    moved.shared_bytes = kernels::kRunsSharedBytes;
    expect_step<Program, rounds(), along(), kernels::RunsStep<held()>>(p, moved, random);
  });
}

// Rows that are added: kEach numbers a thread, factors along a row, sums of the output's type or a wider one.
template <typename Program, typename Sum, int kEach>
void expect_sums(SplitMix64& random) {
  using From = typename Program::From;
  using Stored = typename Sum::Stored;
  constexpr std::uint64_t kRows = 40;
  constexpr std::uint64_t kAdded = 300;
  constexpr std::uint64_t kNumbers = 3 * kEach;
  constexpr std::uint64_t kOuter = 2;
  std::vector<std::uint32_t> keys(kAdded);
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random() % kRows);
  std::sort(keys.begin(), keys.end());
  const std::vector<std::uint64_t> places = shuffled(kAdded, random);
  const std::vector<std::uint32_t> items(places.begin(), places.end());
  const std::vector<From> in = numbers<From>(kOuter * kAdded * kNumbers + 16, random);
  const auto* const from =
      reinterpret_cast<const From*>((reinterpret_cast<std::uintptr_t>(in.data()) + 15) / 16 * 16);
  std::vector<Stored> room = numbers<Stored>(kOuter * kRows * kNumbers + 16, random);
  auto* const out = reinterpret_cast<Stored*>((reinterpret_cast<std::uintptr_t>(room.data()) + 15) / 16 * 16);
  std::vector<float> scales(kNumbers);
  for (std::uint64_t i = 0; i < kNumbers; ++i) scales[i] = static_cast<float>(i % 5) - 1;

  std::vector<Stored> wanted(out, out + kOuter * kRows * kNumbers);
  for (std::uint64_t o = 0; o < kOuter; ++o) {
    for (std::uint64_t first = 0; first < kAdded;) {
      std::uint64_t end = first;
      while (end < kAdded && keys[end] == keys[first]) ++end;
      for (std::uint64_t n = 0; n < kNumbers; ++n) {
        Stored& to = wanted[(o * kRows + keys[first]) * kNumbers + n];
        Sum sum;
        sum.start(to);
        for (std::uint64_t p = first; p < end; ++p) {
          float x = Program::widened(from[(o * kAdded + items[p]) * kNumbers + n]);
          if constexpr (Program::kHasScale) x = x * scales[n];
          sum.add(std::bit_cast<Stored>(Program::rounded(x)));
        }
        to = sum.result();
      }
      first = end;
    }
  }
  kernels::SumRows<Sum, kEach, kernels::ChangedRows<Program, Stored, kEach, true>> kernel;
  kernel.keys = {.words = keys.data()};
  kernel.items = {.words = items.data()};
  kernel.pairs = device::Division64(kAdded);
  kernel.vectors = device::Division64(kNumbers / kEach);
  kernel.outer = kOuter;
  kernel.in_rows = kAdded;
  kernel.out_rows = kRows;
  kernel.in = reinterpret_cast<const std::byte*>(from);
  kernel.out = reinterpret_cast<std::byte*>(out);
  kernel.rows.factors.scale.table = scales.data();
  kernel.rows.factors.scale.extent = device::Division64(kNumbers);
  testing::emulate(kernel, {.order = static_cast<testing::Order>(random() % 3)});
  EXPECT_EQ(bytes(std::vector<Stored>(out, out + wanted.size())), bytes(wanted));
}

TEST(ChangedSteps, SumsOfRows) {
  SplitMix64 random{41};
  using Scaled = NumberProgram<BrainHalf, float, float, Identity, ProgramStep::scale>;
  expect_sums<Scaled, kernels::OwnSum<float>, 4>(random);
  expect_sums<Scaled, kernels::OwnSum<float>, 1>(random);
  expect_sums<Scaled, kernels::CompensatedSum<float, float>, 4>(random);
  expect_sums<NumberProgram<float, BrainHalf, float>, kernels::WideSum<BrainHalf, float>, 8>(random);
  expect_sums<NumberProgram<float, std::int8_t, float>, kernels::OwnSum<std::uint8_t>, 16>(random);
}

}  // namespace faro::changed_step_test
