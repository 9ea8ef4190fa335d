// Affine maps on elements of any width: what is also a roll, a flip or a permutation of axes runs as that;
// what is nothing else is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/plan/plan.hpp"
#include "plan/form_to_run.hpp"
#include "refusal.hpp"

namespace faro {
namespace plan_form_test {

using detail::form_of_any_width;
using ::testing::HasSubstr;

std::string form_text(const Affine& map) {
  const auto form = form_of_any_width(map);
  return form ? to_text(*form) : "none";
}

TEST(FormOfAnyWidth, HandMadeMaps) {
  EXPECT_EQ(form_text(maps::identity(0)), "roll(1, 0)");
  EXPECT_EQ(form_text(maps::identity(3)), "roll(8, 0)");
  EXPECT_EQ(form_text(maps::reverse(4)), "flip(16)");
  EXPECT_EQ(form_text(maps::xor_mask(4, 8)), "roll(16, 8)");
  EXPECT_EQ(form_text(maps::xor_mask(4, 4)), "none");
  EXPECT_EQ(form_text(maps::transpose(16, 2)), "axes(16 2; 1 0)");
  EXPECT_EQ(form_text(maps::bit_reversal(3)), "axes(2 2 2; 2 1 0)");
  EXPECT_EQ(form_text(maps::morton(3, 1)), "roll(8, 0)");
  EXPECT_EQ(form_text(maps::gray(4)), "none");
  EXPECT_EQ(form_text(maps::bit_reversal(41)), "none");
}

// All affine maps of three bits: a form says the same as the map, and there is one wherever there can be.
TEST(FormOfAnyWidth, EveryMapOfThreeBits) {
  int axes = 0;
  int cyclic = 0;
  std::vector<f2::Word> columns(3);
  for (columns[0] = 1; columns[0] < 8; ++columns[0]) {
    for (columns[1] = 1; columns[1] < 8; ++columns[1]) {
      for (columns[2] = 1; columns[2] < 8; ++columns[2]) {
        const f2::Matrix matrix = f2::Matrix::from_columns(3, columns);
        if (!matrix.inverse()) continue;
        for (f2::Word c = 0; c < 8; ++c) {
          const Affine map(matrix, c);
          const auto form = form_of_any_width(map);
          if (!form) continue;
          axes += std::holds_alternative<Axes>(*form) ? 1 : 0;
          cyclic += std::holds_alternative<Cyclic>(*form) ? 1 : 0;
          for (std::uint64_t x = 0; x < 8; ++x) ASSERT_EQ(apply(*form, x), map(x)) << to_text(map);
        }
      }
    }
  }
  EXPECT_EQ(axes, 5);    // 3! orders of the bits, without the identity
  EXPECT_EQ(cyclic, 8);  // rolls and flips by quarters of 8
}

Target host() { return cpu::target(2); }

// The definition, byte by byte.
std::vector<std::byte> permuted(const Affine& map, std::uint64_t width, std::uint64_t batch,
                                const std::vector<std::byte>& in) {
  std::vector<std::byte> out(in.size());
  const std::uint64_t count = std::uint64_t{1} << map.bits();
  for (std::uint64_t b = 0; b < batch; ++b) {
    for (std::uint64_t x = 0; x < count; ++x) {
      std::memcpy(out.data() + (b * count + map(x)) * width, in.data() + (b * count + x) * width, width);
    }
  }
  return out;
}

TEST(FormOfAnyWidth, PlansRunAsTheForm) {
  for (const Affine& map :
       {maps::transpose(16, 2), maps::transpose(2, 64), maps::bit_reversal(10), maps::shuffle(7),
        maps::morton(3, 3), maps::random_bpc(9, 4), maps::reverse(6), maps::identity(5), maps::identity(0),
        maps::xor_mask(8, 0x80), maps::swap_bits(12, 1, 9)}) {
    // What a seed complements stays affine only.
    const Affine used = form_of_any_width(map) ? map : Affine(map.matrix(), 0);
    for (const std::uint64_t width : {3U, 12U, 24U, 100U}) {
      const Problem problem{.permutation = used, .element_bytes = width, .batch = 3};
      const Plan plan(problem, host());
      ASSERT_NE(plan.way(), nullptr) << to_text(used);
      EXPECT_FALSE(std::holds_alternative<Affine>(plan.problem().permutation));
      EXPECT_EQ(plan.array_bytes(), total_bytes(problem));
      std::vector<std::byte> in(total_bytes(problem));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 167 + i / 256);
      std::vector<std::byte> out(in.size());
      cpu::Executor(plan).run(in.data(), out.data());
      ASSERT_TRUE(out == permuted(used, width, 3, in)) << to_text(used) << ", " << width << " bytes";
    }
  }
}

TEST(FormOfAnyWidth, PowersOfTwoStayAffineAndOthersAreRefused) {
  EXPECT_EQ(Plan({.permutation = maps::transpose(16, 2), .element_bytes = 8}, host()).way(), nullptr);
  test::expect_refused(ErrorCode::value, {"elements of 12 bytes", "permutations of axes"},
                       [&] { const Plan plan({.permutation = maps::gray(4), .element_bytes = 12}, host()); });
  EXPECT_THROW(Plan({.permutation = maps::transpose(16, 2), .element_bytes = 0}, host()), Error);
  EXPECT_THROW(Plan({.permutation = maps::transpose(16, 2), .element_bytes = 4097}, host()), Error);
}

// An index array that is an affine map is carried out by the same rule, but not as many short axes.
TEST(FormOfAnyWidth, OfIndexArraysToo) {
  const Affine map = maps::transpose(16, 64);
  std::vector<std::uint32_t> entries(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) entries[i] = static_cast<std::uint32_t>(map(i));
  const Indexed indexed(std::move(entries), Direction::scatter);
  const Plan plan({.permutation = indexed, .element_bytes = 12}, host());
  EXPECT_TRUE(std::holds_alternative<Axes>(plan.problem().permutation));
  ASSERT_NE(plan.way(), nullptr);
  EXPECT_EQ(plan.way()->method, IndexMethod::axes);
  EXPECT_THAT(plan.explain(), HasSubstr("recognised    affine"));
  for (const Affine& other : {maps::gray(10), maps::bit_reversal(10)}) {
    std::vector<std::uint32_t> array(1024);
    for (std::uint32_t i = 0; i < 1024; ++i) array[i] = static_cast<std::uint32_t>(other(i));
    const Plan as_array({.permutation = Indexed(array, Direction::gather), .element_bytes = 12}, host());
    EXPECT_TRUE(std::holds_alternative<Indexed>(as_array.problem().permutation)) << to_text(other);
  }
}

TEST(FormOfAnyWidth, NothingToMove) {
  const Plan plan({.permutation = maps::transpose_any(0, 3), .element_bytes = 12}, host());
  ASSERT_NE(plan.way(), nullptr);
  EXPECT_EQ(plan.array_bytes(), 0U);
  EXPECT_FALSE(plan.explain().empty());
  cpu::Executor(plan).run(nullptr, nullptr);
}

// --- affine maps that are given in another form

Target gpu() { return cuda::target_of_capability(9, 0); }

const Affine* run_as_affine(const Plan& plan) { return std::get_if<Affine>(&plan.problem().permutation); }

// A plan for the affine map that `given` is, the same as for the map itself, on a host whose caches hold it.
void expect_planned_as_the_map(const Permutation& given, std::uint64_t width, Placement placement) {
  Target of_held_arrays = host();
  of_held_arrays.streaming_bytes = ~std::uint64_t{0};
  for (const Target& target : {of_held_arrays, gpu()}) {
    SCOPED_TRACE(to_text(given) + ", " + std::to_string(width) + " bytes, " + name(target.engine));
    const Problem problem{.permutation = given, .element_bytes = width, .batch = 1, .placement = placement};
    Problem same = problem;
    same.permutation = affine(normal_form(given), "test");
    const Plan plan(problem, target);
    const Plan of_the_map(same, target);
    ASSERT_NE(run_as_affine(plan), nullptr);
    EXPECT_EQ(plan.problem().permutation, same.permutation);
    EXPECT_EQ(plan.passes().size(), of_the_map.passes().size());
    EXPECT_EQ(plan.explain(), of_the_map.explain());
    EXPECT_EQ(plan.explain_json(), of_the_map.explain_json());
  }
}

TEST(FormToRun, ManyShortAxesAreTheAffineMap) {
  const std::vector<std::uint64_t> twos(28, 2);
  std::vector<int> reversed(28);
  for (int axis = 0; axis < 28; ++axis) reversed[static_cast<std::size_t>(axis)] = 27 - axis;
  const Axes bits(twos, reversed);
  EXPECT_EQ(normal_form(bits), Permutation(maps::bit_reversal(28)));
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    expect_planned_as_the_map(bits, width, Placement::out_of_place);
    expect_planned_as_the_map(Axes({8, 8, 16, 32}, {3, 2, 1, 0}), width, Placement::out_of_place);
    expect_planned_as_the_map(Axes({4, 1U << 20U}, {1, 0}), width, Placement::out_of_place);
    expect_planned_as_the_map(Axes({1U << 20U}, {0}), width, Placement::out_of_place);
  }
}

TEST(FormToRun, FlipsAndQuarterTurnsAreAffine) {
  for (const Permutation& given :
       {Permutation(maps::flip(1U << 20U)), Permutation(maps::roll(1U << 20U, 1 << 18)),
        Permutation(maps::roll(1U << 12U, 1 << 11)), Permutation(maps::roll(1U << 12U, 0)),
        Permutation(maps::flip(2))}) {
    expect_planned_as_the_map(given, 4, Placement::out_of_place);
    expect_planned_as_the_map(given, 8, Placement::in_place);
  }
  for (const Target& target : {host(), gpu()}) {
    EXPECT_EQ(run_as_affine(Plan({.permutation = maps::roll(16, 3), .element_bytes = 4}, target)), nullptr);
    EXPECT_EQ(run_as_affine(Plan({.permutation = maps::flip(12), .element_bytes = 4}, target)), nullptr);
    EXPECT_EQ(run_as_affine(Plan({.permutation = Axes({12, 4}, {1, 0}), .element_bytes = 4}, target)),
              nullptr);
    EXPECT_EQ(run_as_affine(Plan({.permutation = maps::flip(16), .element_bytes = 12}, target)), nullptr);
  }
}

// What is no affine map has one plan however it is written, too.
TEST(FormToRun, OnePlanForOnePermutation) {
  const auto same = [](const Permutation& given, const Permutation& form) {
    for (const std::uint64_t width : {1U, 4U, 12U}) {
      for (const Target& target : {host(), gpu()}) {
        SCOPED_TRACE(to_text(given) + ", " + std::to_string(width) + " bytes, " + name(target.engine));
        const Plan plan({.permutation = given, .element_bytes = width, .batch = 3}, target);
        const Plan other({.permutation = form, .element_bytes = width, .batch = 3}, target);
        EXPECT_EQ(plan.explain(), other.explain());
        EXPECT_EQ(plan.explain_json(), other.explain_json());
      }
    }
  };
  const Permutation stays = maps::roll(1000, 0);
  same(Axes({10, 100}, {0, 1}), stays);
  same(Axes({10, 1, 100}, {1, 0, 2}), stays);
  same(maps::multiply(1000, 1), stays);
  same(maps::affine_mod(1000, 1, -7), maps::roll(1000, 993));
  same(maps::multiply(1000, -1), Cyclic{.count = 1000, .shift = 0, .reversed = true});
  same(maps::affine_mod(1000, 999, 999), maps::flip(1000));
  const Plan plan({.permutation = stays, .element_bytes = 4}, gpu());
  ASSERT_EQ(plan.passes().size(), 1U);
  EXPECT_EQ(plan.passes().front().kind, PassKind::copy);
}

// Rows that stay whole and planes with two long sides have kernels of their own on a GPU; on a CPU boxes are
// faster where the caches do not hold the arrays.
TEST(FormToRun, RowsAndPlanesStayAxesOnAGpu) {
  Target held = host();
  held.streaming_bytes = ~std::uint64_t{0};
  Target not_held = host();
  not_held.streaming_bytes = 0;
  for (const Axes& axes : {Axes({4096, 4096}, {1, 0}), Axes({256, 64, 64}, {1, 0, 2}),
                           Axes({16, 2048, 1024}, {0, 2, 1}), Axes({1024, 16, 1024}, {2, 1, 0})}) {
    const Plan on_gpu({.permutation = axes, .element_bytes = 4}, gpu());
    ASSERT_NE(on_gpu.way(), nullptr) << to_text(axes);
    EXPECT_EQ(on_gpu.way()->method, IndexMethod::axes);
    EXPECT_NE(run_as_affine(Plan({.permutation = axes, .element_bytes = 4}, held)), nullptr);
    EXPECT_EQ(run_as_affine(Plan({.permutation = axes, .element_bytes = 4}, not_held)), nullptr);
    expect_planned_as_the_map(axes, 4, Placement::in_place);
    Target with_tile = gpu();
    with_tile.tile = kernels::kCompiledTiles[0];
    const std::uint64_t width = 1U << static_cast<unsigned>(with_tile.tile->shape.width_bits);
    EXPECT_NE(run_as_affine(Plan({.permutation = axes, .element_bytes = width}, with_tile)), nullptr);
  }
}

// A method that is asked for is one of axes: they stay what they are.
TEST(FormToRun, AMethodAskedForIsTaken) {
  const Axes axes({2, 2, 2, 2}, {3, 2, 1, 0});
  const Recognition as_given{
      .family = Family::axes, .permutation = axes, .runs = {}, .displacement = {}, .findings = {}};
  const IndexChoice by_axes{.method = IndexMethod::axes};
  for (const Target& target : {host(), gpu()}) {
    const Plan plan({.permutation = axes, .element_bytes = 4}, target, as_given, by_axes);
    ASSERT_NE(plan.way(), nullptr);
    EXPECT_EQ(plan.way()->method, IndexMethod::axes);
    EXPECT_NE(run_as_affine(Plan({.permutation = axes, .element_bytes = 4}, target, as_given, {})), nullptr);
  }
}

}  // namespace plan_form_test
}  // namespace faro
