// The exchange of structs without search: that it is one for every size, and what it is by hand.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/hole.hpp"

namespace faro::swizzle {
namespace swizzle_closed_form_test {

// A function's values by arguments, x fastest, as a test reads them.
class Table {
 public:
  Table(const FormulaParameters& formula, std::int64_t xs, std::int64_t ys) : xs_(xs) {
    for (std::int64_t y = 0; y < ys; ++y)
      for (std::int64_t x = 0; x < xs; ++x) values_.push_back(value_of(formula, std::array{x, y}));
  }
  std::int64_t operator()(std::int64_t x, std::int64_t y) const {
    return values_[static_cast<std::size_t>(y * xs_ + x)];
  }

 private:
  std::int64_t xs_;
  std::vector<std::int64_t> values_;
};

// The first register and lane that hold a wrong word, or "".
std::string wrong_of_rows(std::int64_t S, std::int64_t W) {
  const ClosedForm form = closed_form_exchange(S, W);
  const Table load(form.load, W, S);
  const Table column(form.column, S, W);
  const Table store(form.store, W, S);
  for (std::int64_t r = 0; r < S; ++r) {
    std::vector<bool> stored(static_cast<std::size_t>(W), false);
    for (std::int64_t t = 0; t < W; ++t) {
      const std::int64_t from = column(r, t);
      const std::string where = " at register " + std::to_string(r) + ", lane " + std::to_string(t);
      if (from < 0 || from >= S) return "column " + std::to_string(from) + where;
      const std::int64_t word = W * from + load(t, from);
      const std::int64_t to = store(t, r);
      if (to < 0 || to >= W || stored[static_cast<std::size_t>(to)]) return "store" + where;
      stored[static_cast<std::size_t>(to)] = true;
      if (word != S * to + r) return "word " + std::to_string(word) + where;
    }
  }
  for (std::int64_t i = 0; i < S; ++i) {
    std::vector<bool> loaded(static_cast<std::size_t>(W), false);
    for (std::int64_t t = 0; t < W; ++t) {
      const std::int64_t from = load(t, i);
      if (from < 0 || from >= W || loaded[static_cast<std::size_t>(from)]) return "load";
      loaded[static_cast<std::size_t>(from)] = true;
    }
  }
  return "";
}

std::string wrong_of_columns(std::int64_t S, std::int64_t W) {
  const ClosedFormColumns form = closed_form_columns(S, W);
  const Table first(form.first, S, W);
  const Table row(form.row, W, S);
  const Table last(form.last, S, W);
  for (std::int64_t t = 0; t < W; ++t)
    for (std::int64_t r = 0; r < S; ++r) {
      const std::int64_t through = last(r, t);
      const std::int64_t lane = row(t, through);
      const std::int64_t word = W * first(through, lane) + lane;
      if (word != S * t + r)
        return "word " + std::to_string(word) + " at register " + std::to_string(r) + ", lane " +
               std::to_string(t);
    }
  return "";
}

TEST(ClosedForm, ExchangesStructsOfEverySize) {
  std::vector<std::int64_t> warps{20, 24, 32, 48, 64};
  for (std::int64_t W = 1; W <= 16; ++W) warps.push_back(W);
  for (const std::int64_t W : warps)
    for (std::int64_t S = 1; S <= 64; ++S) {
      ASSERT_EQ(wrong_of_rows(S, W), "") << "S = " << S << ", W = " << W;
      ASSERT_EQ(wrong_of_columns(S, W), "") << "S = " << S << ", W = " << W;
    }
}

TEST(ClosedForm, OfFourWordsAndEightLanesByHand) {
  const ClosedForm form = closed_form_exchange(4, 8);
  const Table load(form.load, 8, 4);
  const Table column(form.column, 4, 8);
  const std::vector<std::vector<int>> loaded{{0, 1, 2, 3, 4, 5, 6, 7},
                                             {11, 8, 9, 10, 15, 12, 13, 14},
                                             {18, 19, 16, 17, 22, 23, 20, 21},
                                             {25, 26, 27, 24, 29, 30, 31, 28}};
  const std::vector<std::vector<int>> permuted{{0, 8, 16, 24, 4, 12, 20, 28},
                                               {25, 1, 9, 17, 29, 5, 13, 21},
                                               {18, 26, 2, 10, 22, 30, 6, 14},
                                               {11, 19, 27, 3, 15, 23, 31, 7}};
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t t = 0; t < 8; ++t) {
      EXPECT_EQ(8 * i + load(t, i), loaded[static_cast<std::size_t>(i)][static_cast<std::size_t>(t)]);
      const std::int64_t from = column(i, t);
      EXPECT_EQ(8 * from + load(t, from), permuted[static_cast<std::size_t>(i)][static_cast<std::size_t>(t)]);
    }
}

TEST(ClosedForm, OfSixWordsIsThePublishedFirstStep) {
  const Table first(closed_form_columns(6, 32).first, 6, 32);
  for (std::int64_t t = 0; t < 32; ++t)
    for (std::int64_t i = 0; i < 6; ++i) {
      const std::int64_t u = ((i - t) % 6 + 6) % 6;
      EXPECT_EQ(first(i, t), (u + 1) / 2 % 3 + 3 * (u % 2)) << i << " " << t;
    }
}

// An odd struct needs no rotation of its loads.
TEST(ClosedForm, IsSimplified) {
  IndexNames names;
  names.arguments = {"x", "y"};
  EXPECT_EQ(to_text(closed_form_exchange(5, 32).load.formula, names), "x");
  EXPECT_LE(operations(closed_form_exchange(4, 32).load.formula), 8);
}

TEST(ClosedForm, RefusesSizes) {
  for (const auto& [S, W] : std::vector<std::pair<int, int>>{{0, 32}, {1025, 32}, {4, 0}, {4, 1025}}) {
    EXPECT_THROW(closed_form_exchange(S, W), Error) << S << " " << W;
    EXPECT_THROW(closed_form_columns(S, W), Error) << S << " " << W;
  }
}

}  // namespace swizzle_closed_form_test
}  // namespace faro::swizzle
