// Small views moved unit by unit, on the counting memory, held against the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/axes_elements.hpp"
#include "kernels/axes_params.hpp"
#include "view_oracle.hpp"

namespace faro::kernels {
namespace axes_elements_kernel_test {

using layout::StridedAxis;
using machine::CountingMemory;

template <int unit>
void run_kernel(CountingMemory& memory, const AxesElementsParams& p) {
  const std::uint64_t blocks = (p.vectors() + kAxesElementsThreads - 1) / kAxesElementsThreads;
  memory.run({.blocks = blocks, .threads = kAxesElementsThreads},
             [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
               by_elements_units<unit>(static_cast<int>(p.units), [&](auto most) {
                 move_axes_elements<unit, decltype(most)::value>(m, p, block, thread);
               });
             });
}

template <int unit>
void run_view(std::mt19937_64& random) {
  const std::size_t n = 1 + random() % 5;
  std::vector<StridedAxis> axes(n);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::int64_t out = 1;
  for (StridedAxis& axis : axes) {
    axis = {.extent = 1 + random() % (random() % 4 == 0 ? 30 : 7), .in = 0, .out = out};
    out *= static_cast<std::int64_t>(axis.extent + random() % 2);
  }
  std::shuffle(order.begin(), order.end(), random);
  std::int64_t in = 1;
  std::int64_t first = 0;
  for (const std::size_t a : order) {
    StridedAxis& axis = axes[a];
    const auto extent = static_cast<std::int64_t>(axis.extent);
    axis.in = random() % 6 == 0 ? 0 : random() % 4 == 0 ? -in : in;
    if (axis.in < 0) first += (extent - 1) * in;
    in *= extent + static_cast<std::int64_t>(random() % 3);
  }
  // The input begins anywhere past an aligned address; words that are read lie within it.
  const std::size_t skew = random() % 8 * unit;
  std::vector<std::byte> array(skew + static_cast<std::size_t>(in + first) * unit);
  const std::span<std::byte> input = std::span(array).subspan(skew);
  for (std::byte& b : input) b = static_cast<std::byte>(random());
  std::vector<std::byte> output(static_cast<std::size_t>(out) * unit, kPoison);
  std::vector<std::byte> expected = output;
  test::for_places(axes, [&](std::int64_t from, std::int64_t to) {
    std::copy_n(input.begin() + (first + from) * unit, unit, expected.begin() + to * unit);
  });
  CountingMemory memory({});
  memory.add_input(array);
  memory.add_output(output);
  const AxesElementsShape shape{
      .lanes = std::uint64_t{1} << random() % 8,
      .units = static_cast<int>(1 + random() % static_cast<unsigned>(most_elements_units(unit))),
      .in_order = random() % 2 == 0};
  AxesElementsParams params = make_axes_elements_params(
      faro::detail::normal_form({.axes = axes}).axes, unit, static_cast<std::uint64_t>(first), 0,
      random() % 3 == 0 ? std::nullopt : std::optional(shape));
  EXPECT_LE(params.in.end, input.size());
  for (std::uint64_t* const offset : {&params.in_first, &params.in.begin, &params.in.end}) *offset += skew;
  EXPECT_EQ(params.is_near, 1);
  if (random() % 3 == 0) params.is_near = 0;  // as where strides are long
  run_kernel<unit>(memory, params);
  ASSERT_EQ(output, expected) << "seed " << kSeed;
}

TEST(AxesElementsKernel, RandomViews) {
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    run_view<1>(random);
    run_view<2>(random);
    run_view<4>(random);
    run_view<8>(random);
    run_view<16>(random);
  }
}

}  // namespace axes_elements_kernel_test
}  // namespace faro::kernels
