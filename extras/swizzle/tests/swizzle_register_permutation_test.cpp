// Register permutations as rotations around a fixed permutation: the law, for every shape that is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/emission.hpp"
#include "faro/swizzle/hole.hpp"
#include "refusal.hpp"
#include "swizzle/function_set.hpp"
#include "swizzle/register_permutation.hpp"

namespace faro::swizzle {
namespace swizzle_register_permutation_test {

using Kind = RegisterPermutation::Kind;
using Table = std::vector<std::int64_t>;
using Function = std::function<std::int64_t(std::int64_t i, std::int64_t t)>;

Table table_of(std::int64_t n, std::int64_t warp, const Function& f) {
  Table table;
  for (std::int64_t t = 0; t < warp; ++t)
    for (std::int64_t i = 0; i < n; ++i) table.push_back(f(i, t));
  return table;
}

Table rotated(const Table& x, const RegisterPermutation::Rotation& rotation, std::size_t lane) {
  Table y;
  for (std::int64_t r = 0; r < static_cast<std::int64_t>(x.size()); ++r) {
    const std::int64_t d = r / rotation.stride % rotation.length;
    const std::int64_t other = (d + rotation.amounts[lane]) % rotation.length;
    y.push_back(x[static_cast<std::size_t>(r + (other - d) * rotation.stride)]);
  }
  return y;
}

// Step after step on the registers 0, 1, 2, …: what is left is the table.
Table applied(const RegisterPermutation& how, std::int64_t n, std::size_t lane) {
  Table x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), 0);
  for (const auto& rotation : how.before) x = rotated(x, rotation, lane);
  Table y;
  for (const std::int64_t from : how.fixed) y.push_back(x[static_cast<std::size_t>(from)]);
  for (const auto& rotation : how.after) y = rotated(y, rotation, lane);
  return y;
}

RegisterPermutation checked(std::int64_t n, std::int64_t warp, const Table& table, const std::string& what) {
  RegisterPermutation how = factor_registers(n, warp, table);
  if (how.kind == Kind::tree) return how;
  for (std::int64_t t = 0; t < warp; ++t) {
    const Table wanted(table.begin() + t * n, table.begin() + (t + 1) * n);
    EXPECT_EQ(applied(how, n, static_cast<std::size_t>(t)), wanted) << what << ", lane " << t;
  }
  for (const auto* side : {&how.before, &how.after}) {
    for (const auto& rotation : *side) {
      EXPECT_EQ(rotation.amounts.size(), static_cast<std::size_t>(warp)) << what;
      EXPECT_EQ(n % (rotation.stride * rotation.length), 0) << what;
      for (const std::int64_t amount : rotation.amounts)
        EXPECT_TRUE(amount >= 0 && amount < rotation.length) << what;
    }
  }
  return how;
}

TEST(SwizzleRegisterPermutation, ARotationIsItself) {
  const auto how = checked(6, 32, table_of(6, 32, [](auto i, auto t) { return (i + t) % 6; }), "i + t");
  ASSERT_EQ(how.kind, Kind::barrel);
  EXPECT_EQ(how.fixed, (Table{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(how.before.size() + how.after.size(), 1U);
  const auto& rotation = how.before.empty() ? how.after[0] : how.before[0];
  EXPECT_EQ(rotation.length, 6);
  EXPECT_EQ(rotation.amounts[7], 1);
}

TEST(SwizzleRegisterPermutation, ThePaperCase) {
  // new[r][t] = old[(t - r) mod 4][t]: reversed, then rotated.
  const auto how = checked(4, 8, table_of(4, 8, [](auto i, auto t) { return (t - i + 8) % 4; }), "t - r");
  ASSERT_EQ(how.kind, Kind::barrel);
  EXPECT_EQ(how.fixed, (Table{0, 3, 2, 1}));
}

TEST(SwizzleRegisterPermutation, TheSameForAllLanesIsFixed) {
  EXPECT_EQ(checked(5, 32, table_of(5, 32, [](auto i, auto) { return (i * i) % 5; }), "squares").kind,
            Kind::fixed);
  EXPECT_EQ(checked(1, 32, table_of(1, 32, [](auto, auto) { return 0; }), "one").kind, Kind::fixed);
}

TEST(SwizzleRegisterPermutation, ClosedFormsOfEveryStruct) {
  for (std::int64_t S = 2; S <= 24; ++S) {
    for (const std::int64_t W : {8, 20, 32}) {
      const std::string what = "struct " + std::to_string(S) + ", warp " + std::to_string(W);
      const auto of = [&](const FormulaParameters& form) {
        return table_of(S, W, [&](auto r, auto t) {
          const std::int64_t arguments[] = {r, t};
          return value_of(form, arguments);
        });
      };
      EXPECT_NE(checked(S, W, of(closed_form_exchange(S, W).column), what).kind, Kind::tree) << what;
      EXPECT_NE(checked(S, W, of(closed_form_columns(S, W).first), what).kind, Kind::tree) << what;
      EXPECT_NE(checked(S, W, of(closed_form_columns(S, W).last), what).kind, Kind::tree) << what;
    }
  }
}

TEST(SwizzleRegisterPermutation, EveryXformOfRegistersIsABarrel) {
  for (const std::int64_t S : {2, 3, 4, 5, 6, 8}) {
    HoleDeclaration hole;
    hole.name = "column";
    hole.kind = HoleKind::xform;
    hole.arguments = {{"i", S}, {"k", 32}};
    hole.n = S;
    hole.m = 32;
    hole.one_to_one = true;
    const FunctionSet functions(hole, Space::full);
    std::vector<std::int32_t> cells(static_cast<std::size_t>(S * 32));
    const std::size_t stride = functions.size() / 300 + 1;
    int trees = 0;
    for (std::size_t f = 0; f < functions.size(); f += stride) {
      functions.table(f, cells);
      const std::string what = "struct " + std::to_string(S) + ", " + to_text(functions.parameters(f), hole);
      if (checked(S, 32, {cells.begin(), cells.end()}, what).kind == Kind::tree) {
        ++trees;
        EXPECT_EQ(trees, 0) << what;
      }
    }
  }
}

TEST(SwizzleRegisterPermutation, ThePublishedExtraColumn) {
  const XformParameters first{
      .n = 6, .cf = 3, .df = 2, .gs = 6, .g = 3, .wrap = false, .cr = 0, .dr = 32, .c = 3, .ecr = 5, .ec = 1};
  const Table table = table_of(6, 32, [&](auto i, auto t) {
    const std::int64_t arguments[] = {i, t};
    return value_of(first, arguments);
  });
  EXPECT_EQ(checked(6, 32, table, "extra").kind, Kind::barrel);
}

TEST(SwizzleRegisterPermutation, RandomProductsAndWhatIsNone) {
  std::mt19937 random(3);
  const auto below = [&random](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  int barrels = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t n = std::vector<std::int64_t>{4, 6, 8, 12, 16}[random() % 5];
    Table fixed(static_cast<std::size_t>(n));
    std::iota(fixed.begin(), fixed.end(), 0);
    std::shuffle(fixed.begin(), fixed.end(), random);
    Table a(16), b(16), c(16);
    for (std::size_t t = 0; t < 16; ++t) {
      a[t] = below(2);
      b[t] = below(n / 2);
      c[t] = below(n);
    }
    // A rotation of all around the fixed, and the two digits (r mod 2, r div 2) on the other side.
    const auto how = checked(n, 16,
                             table_of(n, 16,
                                      [&](auto i, auto t) {
                                        const auto lane = static_cast<std::size_t>(t);
                                        const std::int64_t r =
                                            fixed[static_cast<std::size_t>((i + c[lane]) % n)];
                                        return (r + a[lane]) % 2 + (r / 2 + b[lane]) % (n / 2) * 2;
                                      }),
                             "trial " + std::to_string(trial));
    if (how.kind == Kind::barrel) ++barrels;
  }
  EXPECT_GT(barrels, 50);  // of few registers a tree may be shorter
  Table any;
  for (int t = 0; t < 32; ++t) {
    Table lane(8);
    std::iota(lane.begin(), lane.end(), 0);
    std::shuffle(lane.begin(), lane.end(), random);
    any.insert(any.end(), lane.begin(), lane.end());
  }
  EXPECT_EQ(factor_registers(8, 32, any).kind, Kind::tree);
  EXPECT_EQ(factor_registers(2, 2, {0, 0, 1, 1}).kind, Kind::tree);  // not one-to-one
}

TEST(SwizzleRegisterPermutation, Refusals) {
  const auto code = [](std::int64_t n, std::int64_t warp, const Table& table) {
    return refusal_of([&] { factor_registers(n, warp, table); });
  };
  EXPECT_NE(code(2, 2, {0, 1, 2, 0}).find("register 2 for register 0 of lane 1"), std::string::npos);
  EXPECT_NE(code(2, 2, {0, 1, -1, 0}).find("register -1"), std::string::npos);
  EXPECT_NE(code(2, 2, {0, 1}).find("2 values"), std::string::npos);
  EXPECT_NE(code(0, 2, {}).find("at least 1"), std::string::npos);
}

}  // namespace swizzle_register_permutation_test
}  // namespace faro::swizzle
