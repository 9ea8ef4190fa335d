// Tiles turned in registers: which there are, and that they move axes, on the counting memory, held against
// the definition.
#include "plan/gpu/axes_registers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "faro/machine/counting_memory.hpp"
#include "faro/permutation/axes.hpp"
#include "layout/unit_axes.hpp"
#include "plan/gpu/axes_choice.hpp"
#include "view_oracle.hpp"

namespace faro::detail {
namespace axes_registers_test {

using machine::CountingMemory;

constexpr std::uint64_t kSeed = 20261130;

template <int... number>
void run_shape(CountingMemory& memory, const AxesRegisters& registers,
               std::integer_sequence<int, number...> /*all*/) {
  const std::uint64_t blocks = (registers.params.tiles + kernels::kAxesRegistersThreads - 1) /
                               std::uint64_t{kernels::kAxesRegistersThreads};
  const auto run = [&](auto constant) {
    static constexpr kernels::AxesRegistersShape shape =
        kernels::axes_registers_shape(decltype(constant)::value);
    if (registers.shape != shape) return false;
    memory.run({.blocks = blocks, .threads = kernels::kAxesRegistersThreads},
               [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
                 kernels::move_axes_registers<shape>(m, registers.params, block, thread);
               });
    return true;
  };
  const bool found = (run(std::integral_constant<int, number>()) || ...);
  ASSERT_TRUE(found) << registers.shape.element_bytes << " bytes, " << registers.shape.in << " x "
                     << registers.shape.out;
}

void expect_moved(const Axes& axes, std::uint64_t unit, const AxesRegisters& registers) {
  const std::uint64_t bytes = axes.count() * unit;
  std::vector<std::byte> input(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) input[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  std::vector<std::byte> output(bytes);
  std::vector<std::byte> expected(bytes);
  test::for_places(layout::unit_axes(axes, 1, 1).axes, [&](std::int64_t from, std::int64_t to) {
    const auto width = static_cast<std::int64_t>(unit);
    std::copy_n(input.begin() + from * width, width, expected.begin() + to * width);
  });
  CountingMemory memory({});
  memory.add_input(input);
  memory.add_output(output);
  run_shape(memory, registers, std::make_integer_sequence<int, kernels::kAxesRegistersShapes>());
  EXPECT_TRUE(memory.output_complete());
  EXPECT_EQ(output, expected);
}

layout::AxisMap wide_axes(const Axes& axes, std::uint64_t unit) {
  layout::AxisMap map = layout::unit_axes(axes, 1, 1);
  map.unit = unit;
  return layout::with_widest_units(map);
}

TEST(AxesRegisters, MoveRandomAxes) {
  std::mt19937_64 random(kSeed);
  int moved = 0;
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const std::uint64_t unit = std::uint64_t{1} << random() % 4;
    std::vector<std::uint64_t> shape(2 + random() % 3);
    for (std::uint64_t& extent : shape) extent = (1 + random() % 3) * (random() % 3 == 0 ? 1 : 8);
    shape.back() = std::uint64_t{16} / unit * (1 + random() % 3);
    shape.front() = std::uint64_t{8} / unit * (1 + random() % 4);
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const Axes axes(shape, order);
    const layout::AxisMap wide = wide_axes(axes, unit);
    if (wide.unit != unit || wide.axes.size() < 2) continue;
    const auto registers = cheapest_registers(wide, kAnyPrice);
    if (!registers) continue;
    ++moved;
    expect_moved(axes, unit, *registers);
  }
  EXPECT_GT(moved, 50);
}

TEST(AxesRegisters, AreChosenBeforeWhatIsSlow) {
  // Few columns whose lines end in every tile; rows whose vectors boxes cannot write.
  for (const Axes& axes :
       {Axes({16, 16, 48, 2032, 16}, {2, 1, 4, 0, 3}), Axes({24, 8, 96, 208, 32}, {4, 1, 2, 3, 0})}) {
    const AxesChoice choice = choose_axes(axes, 1, 1);
    ASSERT_TRUE(choice.registers.has_value());
    EXPECT_EQ(choice.registers->shape.in, 16);
    EXPECT_FALSE(choose_axes(axes, 1, 1, {.registers = false}).registers.has_value());
  }
  // Long planes stay tiles of shared memory.
  EXPECT_FALSE(choose_axes(Axes({7248, 7248}, {1, 0}), 4, 1).registers.has_value());
}

TEST(AxesRegisters, AreNoneOfOddSides) {
  EXPECT_FALSE(cheapest_registers(wide_axes(Axes({101, 64, 96}, {2, 1, 0}), 4), kAnyPrice).has_value());
  EXPECT_FALSE(cheapest_registers(wide_axes(Axes({64, 8, 97}, {2, 1, 0}), 4), kAnyPrice).has_value());
}

}  // namespace axes_registers_test
}  // namespace faro::detail
