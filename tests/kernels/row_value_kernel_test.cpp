// The kernels that take and put rows with arithmetic on a GPU, a thread at a time on the host, given what the
// CUDA engine gives them: the bits of the CPU engine, between guard zones.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "block_emulator.hpp"
#include "engines/cuda/rows/value_row_arguments.hpp"
#include "faro/faro.hpp"
#include "faro/rows.hpp"
#include "kernels/number_types.hpp"
#include "number_support.hpp"
#include "plan/gpu/value_rows.hpp"
#include "plan/gpu/value_tiles.hpp"
#include "plan/row_values.hpp"
#include "unit_bytes.hpp"

namespace faro::testing {
namespace row_value_kernel_test {

using Bytes = std::vector<std::byte>;
using kernels::BrainHalf;
using kernels::Complex;
using kernels::Float8E4M3;
using kernels::Half;
using kernels::Identity;
using kernels::kNoFault;
using kernels::NoAddend;
using kernels::NumberProgram;
using kernels::RowDirection;
using kernels::RowFaults;
constexpr unsigned kScale = kernels::ProgramStep::scale;
constexpr unsigned kOffset = kernels::ProgramStep::offset;
constexpr unsigned kSaturate = kernels::ProgramStep::saturate;

Target gpu_target() {
  Target target;
  target.engine = Engine::cuda;
  target.name = "a GPU that is emulated";
  return target;
}

// Numbers at an offset past an address that is aligned to 64, between guards.
class Placed {
 public:
  Placed(std::uint64_t size, std::uint64_t offset) : size_(size), memory_(size + offset + 2 * kAround) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    offset_ = kAround - address % kAround + offset;
  }
  std::byte* data() { return memory_.data() + offset_; }
  std::uint64_t bytes() const { return size_; }
  Bytes get() { return {data(), data() + size_}; }
  bool whole_around() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if ((i < offset_ || i >= offset_ + size_) && memory_[i] != std::byte{0}) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kAround = 64;
  std::uint64_t size_;
  Bytes memory_;
  std::uint64_t offset_ = 0;
};

struct Case {
  bool takes = true;
  std::uint64_t numbers = 8;  // of a row
  std::uint64_t count = 20;
  std::uint64_t rows = 23;
  std::uint64_t outer = 1;
  IndexType type{.bytes = 8, .is_signed = true};
  Fill fill = Fill::kept();
  std::uint64_t in_offset = 0;  // numbers
  std::uint64_t out_offset = 0;
  std::optional<std::size_t> scales = {};  // along an axis of outer x rows x numbers
  std::optional<std::size_t> offsets = {};
  Order order = Order::forward;
  std::vector<std::int64_t> entries = {};  // else drawn

  std::string text() const {
    return std::string(takes ? "take " : "put ") + std::to_string(outer) + " x " + std::to_string(count) +
           " of " + std::to_string(rows) + " rows of " + std::to_string(numbers) + ", entries of " +
           std::to_string(type.bytes) + ", offsets " + std::to_string(in_offset) + " and " +
           std::to_string(out_offset);
  }
  std::uint64_t out_rows() const { return takes ? count : rows; }
};

std::vector<std::int64_t> drawn_entries(const Case& of, std::mt19937_64& random) {
  std::vector<std::int64_t> free(of.rows);
  std::iota(free.begin(), free.end(), 0);
  std::shuffle(free.begin(), free.end(), random);
  std::vector<std::int64_t> entries(of.count);
  for (std::int64_t& entry : entries) {
    const bool may_miss = !of.takes || of.fill.with != Fill::With::nothing;
    if (may_miss && (random() % 5 == 0 || free.empty())) {
      entry = -1;
    } else if (of.takes) {
      entry = static_cast<std::int64_t>(random() % of.rows);
    } else {
      entry = free.back();
      free.pop_back();
    }
  }
  return entries;
}

Coefficient factors(std::optional<std::size_t> axis, const Case& of, double first) {
  if (!axis) return {{first}, {}};
  Coefficient made{{}, axis};
  const std::uint64_t extents[] = {of.outer, of.out_rows(), of.numbers};
  for (std::uint64_t i = 0; i < extents[*axis]; ++i)
    made.values.emplace_back(first + static_cast<double>(i % 13));
  return made;
}

template <typename Program>
Arithmetic arithmetic_of(const Case& of, Function function, unsigned flags) {
  Arithmetic made{.from = kernels::number_of<typename Program::From>(),
                  .to = kernels::number_of<typename Program::To>(),
                  .function = function,
                  .saturated = (flags & kSaturate) != 0,
                  .shape = {of.outer, of.out_rows(), of.numbers}};
  if constexpr (Program::kHasScale) made.scale = factors(of.scales, of, 1.5);
  if constexpr (Program::kHasOffset) made.offset = factors(of.offsets, of, -3);
  if constexpr (Program::kHasAddend)
    made.addend = Addend{.number = kernels::number_of<typename Program::Addend>(), .beta = 0.5};
  return made;
}

// A NaN has any bits.
void expect_same(Number number, const Bytes& got, const Bytes& wanted) {
  const std::uint64_t width = bytes_of(number);
  for (std::uint64_t i = 0; i < got.size() / width; ++i) {
    if (std::memcmp(got.data() + i * width, wanted.data() + i * width, width) == 0) continue;
    const auto at = static_cast<std::int64_t>(i);
    const auto a = test::read(number, got.data(), at, false);
    const auto b = test::read(number, wanted.data(), at, false);
    const auto alike = [](auto x, auto y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    ASSERT_TRUE(alike(a.real(), b.real()) && alike(a.imag(), b.imag()))
        << "number " << i << ": " << a << ", wanted " << b;
  }
}

struct Ran {
  RowFaults faults;
  detail::ValueRows rows;
};

// kElements: rows of one vector may go as elements.
template <typename Program, bool kElements>
void run_kernel(HostDevice& device, const detail::RowValues& values, const detail::ValueRows& rows,
                const cuda::RowMemory& memory, const std::uint32_t* faulty,
                const cuda::ValueRowArrays& arrays) {
  const auto launch = [&](auto kernel_type) {
    using Kernel = typename decltype(kernel_type)::type;
    const auto kernel = cuda::value_row_arguments<Kernel>(values, rows, memory, faulty, arrays);
    ASSERT_EQ(kernel.blocks(), rows.pass.blocks);
    device.run(kernel);
  };
  const auto by_vectors = [&]<RowDirection kDirection, int k, bool kAlong>() {
    using Vectors = kernels::ChangedVectors<Program, k, kAlong>;
    using kernels::MoveElements;
    constexpr int kFew = kernels::kElementArrays;
    if (rows.pass.kernel != RowKernel::move_elements)
      return launch(std::type_identity<kernels::VectorRows<kDirection, Vectors>>());
    if constexpr (kElements) {
      if (rows.pass.arrays == 1) return launch(std::type_identity<MoveElements<kDirection, Vectors, 1>>());
      return launch(std::type_identity<MoveElements<kDirection, Vectors, kFew>>());
    }
    FAIL() << "elements";
  };
  constexpr int kWidest = static_cast<int>(sizeof(typename Program::From) > sizeof(typename Program::To)
                                               ? sizeof(typename Program::From)
                                               : sizeof(typename Program::To));
  detail::by_unit_bytes(static_cast<std::uint64_t>(rows.numbers), [&](auto count) {
    constexpr int k = decltype(count)::value;
    if constexpr (k * kWidest <= kernels::kMostChangedBytes) {
      const bool takes = std::holds_alternative<Take>(values.move);
      const bool along = detail::along_axes(values.arithmetic);
      if (takes && along) return by_vectors.template operator()<RowDirection::take, k, true>();
      if (takes) return by_vectors.template operator()<RowDirection::take, k, false>();
      if (along) return by_vectors.template operator()<RowDirection::put, k, true>();
      return by_vectors.template operator()<RowDirection::put, k, false>();
    } else {
      FAIL() << k << " numbers";
    }
  });
}

// Entries that are wrong: where the kernel finds the first; their rows stay, of Put all.
template <typename Program, bool kElements = false>
Ran expect_as_on_cpu(const Case& of, Function function = Function::identity, unsigned flags = 0) {
  SCOPED_TRACE(of.text());
  std::mt19937_64 random(of.numbers * 31 + of.count + of.in_offset);
  const Arithmetic arithmetic = arithmetic_of<Program>(of, function, flags);
  SCOPED_TRACE(to_text(arithmetic));
  const std::vector<std::int64_t> entries = of.entries.empty() ? drawn_entries(of, random) : of.entries;
  std::vector<std::int64_t> fine = entries;
  for (std::int64_t& entry : fine) {
    if (entry >= static_cast<std::int64_t>(of.rows) || entry < -1) entry = -1;
  }
  std::vector<std::byte> words(entries.size() * 8);
  for (std::size_t i = 0; i < entries.size(); ++i)
    std::memcpy(words.data() + i * static_cast<std::uint64_t>(of.type.bytes), &entries[i],
                static_cast<std::size_t>(of.type.bytes));
  const auto move_of = [&](const RowNumbers& numbers) -> RowMove {
    if (of.takes) return Take{.from = numbers, .rows = of.rows, .fill = of.fill};
    return Put{.to = numbers, .rows = of.rows};
  };
  const RowLayout layout{.outer = of.outer, .row_bytes = of.numbers * bytes_of(arithmetic.from)};
  const RowMove move = move_of({words.data(), of.count, of.type});
  const auto values = detail::make_row_values(move, layout, arithmetic, gpu_target());
  const std::uint64_t from = bytes_of(arithmetic.from);
  const std::uint64_t to = bytes_of(arithmetic.to);
  Placed in(values.in_count() * from, of.in_offset * from);
  Placed out(values.out_count() * to, of.out_offset * to);
  const Number added = arithmetic.addend ? arithmetic.addend->number : Number::u8;
  Placed addend(arithmetic.addend ? values.out_count() * bytes_of(added) : 0, 0);
  test::fill_numbers(in, arithmetic.from, random);
  test::fill_numbers(out, arithmetic.to, random);
  test::fill_numbers(addend, added, random);
  Bytes wanted = out.get();

  Ran ran;
  const Bytes pattern = cuda::fill_pattern(move);
  const cuda::RowMemory memory{
      .faults = &ran.faults, .fill_pattern = pattern.data(), .fill_bytes = pattern.size()};
  HostDevice device({.order = of.order});
  std::vector<std::uint64_t> workspace(values.row_plan->workspace_bytes() / 8 + 2);
  const std::uint32_t* const faulty =
      cuda::RowMoveQueue<HostDevice>(device, memory, reinterpret_cast<std::byte*>(workspace.data()))
          .mark(*values.row_plan);
  ran.rows = detail::make_value_rows(
      values, {.in = of.in_offset == 0 ? 16 : from, .out = of.out_offset == 0 ? 16 : to, .addend = 16});
  kernels::RowChanges changes;
  changes.addend = addend.data();
  std::vector<typename Program::Computed> tables[2];
  const auto give = [&](const Coefficient& coefficient, kernels::PlacedFactor& factor, auto& table) {
    for (const auto& value : coefficient.values)
      table.push_back(kernels::stored<typename Program::Computed>(value.real(), {}));
    std::memcpy(factor.one.bytes, table.data(), sizeof(table[0]));
    if (!coefficient.axis) return;
    factor.table = table.data();
    factor.inner = device::Division64(detail::numbers_of_step(arithmetic, *coefficient.axis));
    factor.extent = device::Division64(table.size());
  };
  give(arithmetic.scale, changes.factors.scale, tables[0]);
  give(arithmetic.offset, changes.factors.offset, tables[1]);
  const auto beta = kernels::stored<typename Program::Computed>(0.5, {});
  std::memcpy(changes.factors.beta.bytes, &beta, sizeof beta);
  run_kernel<Program, kElements>(
      device, values, ran.rows, memory, faulty,
      {.entries = words.data(), .in = in.data(), .out = out.data(), .changes = changes});

  const bool stopped = !of.takes && ran.faults.out_of_range != kNoFault;
  if (!stopped) {
    Case filled = of;
    // Rows of wrong entries stay, as those of absent ones do that are kept.
    if (fine != entries) filled.fill = Fill::kept();
    const RowNumbers numbers{std::span<const std::int64_t>(fine)};
    const RowMove on_cpu = of.takes ? RowMove(Take{.from = numbers, .rows = of.rows, .fill = filled.fill})
                                    : RowMove(Put{.to = numbers, .rows = of.rows});
    const auto cpu = plan_rows(on_cpu, layout, arithmetic, {.engine = Engine::cpu, .threads = 1});
    cpu.run({in.data(), cpu.in_count()}, wanted.data(), cpu.out_count(),
            {arithmetic.addend ? addend.data() : nullptr, cpu.addend_count()});
  }
  expect_same(arithmetic.to, out.get(), wanted);
  EXPECT_TRUE(out.whole_around());
  return ran;
}

// Widths of rows from a number to odd ones, arrays at any number, both directions, every type of entries.
template <typename Program>
void expect_rows(Function function = Function::identity, unsigned flags = 0) {
  for (const std::uint64_t numbers : {1U, 2U, 3U, 4U, 7U, 8U, 16U, 31U, 48U, 129U}) {
    for (const bool takes : {true, false}) {
      const Ran ran = expect_as_on_cpu<Program>(
          {.takes = takes, .numbers = numbers, .outer = numbers % 3, .fill = Fill::zero()}, function, flags);
      EXPECT_EQ(ran.faults.out_of_range, kNoFault);
      EXPECT_EQ(ran.faults.twice, kNoFault);
      expect_as_on_cpu<Program>({.takes = takes,
                                 .numbers = numbers,
                                 .count = 9,
                                 .type = {.bytes = 4, .is_signed = true},
                                 .in_offset = numbers % 2 + 1,
                                 .out_offset = numbers % 3,
                                 .order = Order::backward},
                                function, flags);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(RowValueKernel, ConvertsAsOnTheCpu) {
  expect_rows<NumberProgram<float, BrainHalf, float>>();
  expect_rows<NumberProgram<Half, float, float>>();
  expect_rows<NumberProgram<double, std::uint8_t, double>>();
  expect_rows<NumberProgram<std::int64_t, kernels::Boolean, std::int64_t>>();
  expect_rows<NumberProgram<std::int16_t, double, double>>();
}

TEST(RowValueKernel, ChangesAsOnTheCpu) {
  expect_rows<NumberProgram<BrainHalf, Float8E4M3, float, Identity, kScale | kSaturate>>(Function::identity,
                                                                                         kSaturate);
  expect_rows<NumberProgram<std::uint8_t, float, float, Identity, kScale | kOffset>>();
  expect_rows<NumberProgram<Complex<float>, Complex<float>, Complex<float>, kernels::Conjugate>>(
      Function::conjugate);
  expect_rows<NumberProgram<float, float, float, kernels::Negate>>(Function::negate);
}

TEST(RowValueKernel, AddsToWhatIsTaken) {
  using Program = NumberProgram<float, Half, float, Identity, kScale, BrainHalf>;
  for (const std::uint64_t numbers : {1U, 5U, 8U, 64U})
    expect_as_on_cpu<Program>({.numbers = numbers, .outer = 2, .fill = Fill::zero()});
}

// Along arrays, rows and numbers of a row; of what is put along the row alone.
TEST(RowValueKernel, HasFactorsAlongEveryAxis) {
  using Program = NumberProgram<std::uint8_t, float, float, Identity, kScale | kOffset>;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const std::uint64_t numbers : {1U, 3U, 8U, 20U}) {
      expect_as_on_cpu<Program>({.numbers = numbers, .outer = 3, .scales = axis});
      expect_as_on_cpu<Program>({.numbers = numbers, .outer = 3, .scales = 2 - axis, .offsets = axis});
    }
  }
  expect_as_on_cpu<Program>({.takes = false, .numbers = 12, .scales = 2, .offsets = 2});
}

TEST(RowValueKernel, FillsAsItIs) {
  using Program = NumberProgram<float, BrainHalf, float>;
  for (const std::uint64_t numbers : {3U, 8U, 24U}) {
    expect_as_on_cpu<Program>({.numbers = numbers, .fill = Fill::kept()});
    for (const std::uint64_t of_fill : {1U, 2U, 6U}) {
      if (numbers * 2 % of_fill != 0) continue;
      Bytes value(of_fill);
      for (std::uint64_t i = 0; i < of_fill; ++i) value[i] = static_cast<std::byte>(17 * i + 3);
      expect_as_on_cpu<Program>({.numbers = numbers, .fill = Fill::of(value)});
    }
  }
}

// Along the last axis: arrays that go by fours, and those of which a block has all entries.
TEST(RowValueKernel, ChangesElementsOfManyArrays) {
  std::set<std::uint64_t> reached;
  for (const std::uint64_t rows : {300U, 2100U}) {
    for (const bool takes : {true, false}) {
      for (const Fill& fill : {Fill::zero(), Fill::kept()}) {
        const Ran ran = expect_as_on_cpu<NumberProgram<double, float, double>, true>(
            {.takes = takes, .numbers = 1, .count = rows - 37, .rows = rows, .outer = 7, .fill = fill});
        EXPECT_EQ(ran.rows.pass.kernel, RowKernel::move_elements);
        reached.insert(ran.rows.pass.arrays);
      }
    }
  }
  EXPECT_EQ(reached.size(), 2U);
}

// Rows that are taken again and again, part by part.
TEST(RowValueKernel, TakesRepeatedRowsByParts) {
  using Program = NumberProgram<float, BrainHalf, float>;
  const Ran ran = expect_as_on_cpu<Program>({.numbers = 2048, .count = 2600, .rows = 1300});
  EXPECT_GT(ran.rows.pass.slice_bytes, 0U);
  EXPECT_LT(ran.rows.pass.slice_bytes, 8192U);
}

TEST(RowValueKernel, NotesWrongEntries) {
  using Program = NumberProgram<float, BrainHalf, float>;
  for (const std::uint64_t numbers : {3U, 8U}) {
    const Case taken{.numbers = numbers, .count = 5, .rows = 4, .entries = {0, 3, 4, -1, -2}};
    EXPECT_EQ(expect_as_on_cpu<Program>(taken).faults.out_of_range, 2U);
    Case put = taken;
    put.takes = false;
    EXPECT_EQ(expect_as_on_cpu<Program>(put).faults.out_of_range, 2U);
  }
}

TEST(RowValueKernel, TellsItsLaunches) {
  const std::vector<std::int64_t> entries(1000);
  const Arithmetic to_bf16{.from = Number::f32, .to = Number::bf16};
  const auto values = detail::make_row_values(Take{.from = RowNumbers(std::span(entries)), .rows = 5000},
                                              {.row_bytes = 1024}, to_bf16, gpu_target());
  const detail::ValueRows rows = detail::make_value_rows(values);
  EXPECT_EQ(rows.numbers, 8);
  EXPECT_EQ(rows.pass.blocks, 125U);  // 32 vectors a row, 256 a block
  EXPECT_EQ(rows.pass.read_bytes, 1024000U + 8000U);
  EXPECT_EQ(rows.pass.written_bytes, 512000U);
  const std::string told = detail::told_value_rows(values);
  EXPECT_NE(told.find("125 blocks of 256 threads: a thread changes vectors of 8 numbers"), std::string::npos)
      << told;
  EXPECT_EQ(detail::make_value_rows(values, {.in = 8, .out = 16}).numbers, 2);
  EXPECT_EQ(detail::make_value_rows(values, {.in = 16, .out = 2}).numbers, 1);
}

}  // namespace row_value_kernel_test
}  // namespace faro::testing
