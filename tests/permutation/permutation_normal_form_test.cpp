// The normal form: hand-checked examples, then its laws on every small permutation of every form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation_support.hpp"

namespace faro {
namespace permutation_normal_form_test {

std::string form_text(const std::string& spec) { return to_text(normal_form(parse_permutation(spec))); }

TEST(NormalForm, HandCheckedExamples) {
  EXPECT_EQ(form_text("axes(4 4; 1 0)"), "bits(4; 2 3 0 1)");
  EXPECT_EQ(form_text("axes(2 2 2; 2 1 0)"), "bit_reversal(3)");
  EXPECT_EQ(form_text("axes(1 1; 1 0)"), "identity(0)");
  EXPECT_EQ(form_text("axes(8; 0)"), "identity(3)");
  EXPECT_EQ(form_text("flip(16)"), "reverse(4)");
  EXPECT_EQ(form_text("roll(16, 8)"), "xor(4, 0x8)");
  EXPECT_EQ(form_text("roll(16, 4)"), "affine(4; 0x1 0x2 0xc 0x8; 0x4)");
  EXPECT_EQ(form_text("roll(16, 3)"), "roll(16, 3)");
  EXPECT_EQ(form_text("flip(12)"), "flip(12)");
  EXPECT_EQ(form_text("axes(3 4; 0 1)"), "roll(12, 0)");
  EXPECT_EQ(form_text("axes(3 2 4; 1 2 0)"), "transpose(3, 8)");
  EXPECT_EQ(form_text("indices(0 2 1 3)"), "bit_reversal(2)");
  EXPECT_EQ(form_text("inverse(indices(1 2 0))"), "roll(3, 2)");
  EXPECT_EQ(form_text("indices(1 0 2)"), "compose(roll(3, 2), flip(3))");
  EXPECT_EQ(form_text("indices(0 2 4 1 3 5)"), "transpose(2, 3)");
  EXPECT_EQ(form_text("indices(0 1 3 2 4)"), "indices(0 1 3 2 4)");
  EXPECT_EQ(form_text("gray(5)"), "gray(5)");
  EXPECT_EQ(to_text(normal_form(maps::transpose_any(0, 3))), "roll(0, 0)");
}

// Holds the laws of one permutation, and its form against that of all others that move elements alike.
void expect_lawful(const Permutation& permutation, std::map<std::vector<std::uint64_t>, Permutation>& forms) {
  const Permutation form = normal_form(permutation, 1);
  const std::vector<std::uint64_t> wanted = targets(permutation);
  ASSERT_EQ(targets(form), wanted) << to_text(permutation);
  ASSERT_EQ(normal_form(form, 1), form) << to_text(permutation);
  if (std::holds_alternative<Indexed>(form)) return;
  const auto [known, is_new] = forms.emplace(wanted, form);
  ASSERT_EQ(known->second, form) << to_text(permutation);
}

TEST(NormalForm, OneFormForAllThatMoveAlike) {
  std::map<std::vector<std::uint64_t>, Permutation> forms;
  for (std::uint64_t count = 1; count <= 36; ++count) {
    for (std::uint64_t shift = 0; shift < count; ++shift) {
      for (const bool reversed : {false, true}) {
        const Cyclic map{.count = count, .shift = shift, .reversed = reversed};
        expect_lawful(map, forms);
        expect_lawful(as_array(map, Direction::scatter), forms);
        expect_lawful(as_array(map, Direction::gather), forms);
      }
    }
    for (const std::vector<std::uint64_t>& shape : shapes_of(count, 4)) {
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      do {
        const Axes map(shape, order);
        expect_lawful(map, forms);
        expect_lawful(as_array(map, Direction::gather), forms);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
  std::size_t affine_maps = 0;
  for (const auto& [moved, form] : forms) affine_maps += std::holds_alternative<Affine>(form) ? 1 : 0;
  EXPECT_GT(affine_maps, 100U);
  EXPECT_GT(forms.size(), affine_maps + 1000U);
}

// Every permutation of up to six elements: an Affine wherever the definition says so.
TEST(NormalForm, EveryPermutationOfFewElements) {
  std::map<std::vector<std::uint64_t>, Permutation> forms;
  for (std::uint64_t count = 1; count <= 6; ++count) {
    std::vector<std::uint32_t> entries(count);
    std::iota(entries.begin(), entries.end(), 0U);
    do {
      const Indexed array(entries, Direction::scatter);
      expect_lawful(array, forms);
      expect_lawful(array.redirected(Direction::gather), forms);
      bool is_affine = f2::is_power_of_two(count);
      for (std::uint64_t x = 0; x < count && is_affine; ++x) {
        for (std::uint64_t y = 0; y < count; ++y) {
          is_affine = is_affine && (entries[x ^ y] ^ entries[x] ^ entries[y] ^ entries[0]) == 0;
        }
      }
      ASSERT_EQ(std::holds_alternative<Affine>(normal_form(array, 1)), is_affine) << to_text(array);
    } while (std::next_permutation(entries.begin(), entries.end()));
  }
}

TEST(NormalForm, WhatIsNotAffineIsRefusedByName) {
  const auto refused = [](const std::string& spec) {
    return refusal_of([&] { static_cast<void>(affine(normal_form(parse_permutation(spec)), "try")); });
  };
  EXPECT_EQ(refused("axes(2 4 2; 2 0 1)"), "accepted");
  EXPECT_NE(refused("roll(16, 3)").find("try: got roll(16, 3), wanted an affine map over F2"),
            std::string::npos);
  EXPECT_NE(refused("axes(3 4; 1 0)").find("transpose(3, 4)"), std::string::npos);
}

}  // namespace permutation_normal_form_test
}  // namespace faro
