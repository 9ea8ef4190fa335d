// Affine maps on elements of any width: what is also a roll, a flip or a permutation of axes runs as that;
// what is nothing else is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu_index.hpp"
#include "faro/error.hpp"
#include "faro/permutation/maps.hpp"
#include "faro/plan/plan.hpp"
#include "plan/form_to_run.hpp"

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
      ASSERT_NE(plan.index_plan(), nullptr) << to_text(used);
      EXPECT_FALSE(std::holds_alternative<Affine>(plan.problem().permutation));
      EXPECT_EQ(plan.array_bytes(), total_bytes(problem));
      std::vector<std::byte> in(total_bytes(problem));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 167 + i / 256);
      std::vector<std::byte> out(in.size());
      cpu::IndexExecutor(*plan.index_plan()).run(in.data(), out.data());
      ASSERT_TRUE(out == permuted(used, width, 3, in)) << to_text(used) << ", " << width << " bytes";
    }
  }
}

TEST(FormOfAnyWidth, PowersOfTwoStayAffineAndOthersAreRefused) {
  EXPECT_EQ(Plan({.permutation = maps::transpose(16, 2), .element_bytes = 8}, host()).index_plan(), nullptr);
  try {
    const Plan plan({.permutation = maps::gray(4), .element_bytes = 12}, host());
    ADD_FAILURE() << "planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::value);
    EXPECT_THAT(error.what(), HasSubstr("elements of 12 bytes"));
    EXPECT_THAT(error.what(), HasSubstr("permutations of axes"));
  }
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
  ASSERT_NE(plan.index_plan(), nullptr);
  EXPECT_EQ(plan.index_plan()->chosen().method, IndexMethod::axes);
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
  ASSERT_NE(plan.index_plan(), nullptr);
  EXPECT_EQ(plan.array_bytes(), 0U);
  EXPECT_FALSE(plan.explain().empty());
  cpu::IndexExecutor(*plan.index_plan()).run(nullptr, nullptr);
}

}  // namespace plan_form_test
}  // namespace faro
