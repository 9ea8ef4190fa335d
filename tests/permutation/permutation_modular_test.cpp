// Multiplications modulo a count: their algebra, their covers by two rectangles, and their text.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/permutation/modular.hpp"
#include "faro/permutation/permutation.hpp"
#include "refusal.hpp"

namespace permutation_modular_test {

using namespace faro;

std::string text_of(const Modular& map) {
  return std::to_string(map.factor) + " x + " + std::to_string(map.shift) + " mod " +
         std::to_string(map.count);
}

TEST(Modular, EveryMapOfSmallCountsIsItsDefinition) {
  for (std::uint64_t count = 1; count <= 60; ++count) {
    for (std::uint64_t factor = 0; factor < count; ++factor) {
      if (std::gcd(factor, count) != 1) continue;
      for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{1}, count / 2, count - 1}) {
        const Modular map =
            maps::affine_mod(count, static_cast<std::int64_t>(factor), static_cast<std::int64_t>(shift));
        const Modular undone = map.inverse();
        const Modular twice = compose(map, map);
        const Modular thrice = map.power(3);
        for (std::uint64_t x = 0; x < count; ++x) {
          ASSERT_EQ(map(x), (factor * x + shift) % count) << text_of(map);
          ASSERT_EQ(undone(map(x)), x) << text_of(map);
          ASSERT_EQ(twice(x), map(map(x))) << text_of(map);
          ASSERT_EQ(thrice(x), map(map(map(x)))) << text_of(map);
        }
        EXPECT_EQ(map.power(-2), compose(undone, undone));
        EXPECT_EQ(map.power(0), maps::multiply(count, 1));
        EXPECT_EQ(undone.inverse(), map);
      }
    }
  }
}

// The rectangles hold every index once, and steps are what they should be.
void expect_cover(const Modular& map) {
  const auto cover = l_shape(map);
  const std::uint64_t undone = map.inverse().factor;
  std::vector<bool> seen(map.count);
  std::uint64_t cells = 0;
  for (const ModularRectangle& rectangle : cover) {
    cells += rectangle.columns * rectangle.rows;
    ASSERT_LE(cells, map.count) << text_of(map);
    for (std::uint64_t j = rectangle.first_j; j < rectangle.first_j + rectangle.rows; ++j) {
      for (std::uint64_t i = rectangle.first_i; i < rectangle.first_i + rectangle.columns; ++i) {
        const std::uint64_t x = (i + j * undone) % map.count;
        ASSERT_FALSE(seen[x]) << text_of(map);
        seen[x] = true;
        ASSERT_EQ(map(x), (i * map.factor + j + map.shift) % map.count) << text_of(map);
      }
    }
  }
  EXPECT_EQ(cells, map.count) << text_of(map);
}

TEST(Modular, TwoRectanglesCoverEveryMap) {
  for (std::uint64_t count = 1; count <= 150; ++count) {
    for (std::uint64_t factor = 0; factor < count; ++factor) {
      if (std::gcd(factor, count) == 1)
        expect_cover(maps::multiply(count, static_cast<std::int64_t>(factor)));
    }
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t count = 2 + random() % 20000;
    std::uint64_t factor = random() % count;
    while (std::gcd(factor, count) != 1) factor = (factor + 1) % count;
    expect_cover(maps::affine_mod(count, static_cast<std::int64_t>(factor),
                                  static_cast<std::int64_t>(random() % 1000)));
  }
}

TEST(Modular, RunsAreLong) {
  // The shortest runs of a typical map are near the root of the count.
  std::mt19937_64 random(2);
  for (const std::uint64_t count :
       {std::uint64_t{1} << 16, std::uint64_t{1} << 28, std::uint64_t{1} << 40, std::uint64_t{1000003}}) {
    double cut = 0;  // of the elements, in runs shorter than an eighth of the root
    constexpr int kMaps = 100;
    for (int k = 0; k < kMaps; ++k) {
      const std::uint64_t factor = random() % (count / 2) * 2 + 1;
      if (std::gcd(factor, count) != 1) continue;
      std::uint64_t elements = 0;
      for (const ModularRectangle& rectangle :
           l_shape(maps::multiply(count, static_cast<std::int64_t>(factor)))) {
        const std::uint64_t size = rectangle.columns * rectangle.rows;
        const std::uint64_t side = std::min(rectangle.columns, rectangle.rows);
        elements += size;
        if (side * side * 64 < count && side < 512)
          cut += static_cast<double>(size) / static_cast<double>(count);
      }
      ASSERT_EQ(elements, count);
    }
    EXPECT_LT(cut / kMaps, 0.35) << count;
  }
}

TEST(Modular, HasAText) {
  for (const std::string text :
       {"multiply(8, 3)", "multiply(1000, 7)", "affine_mod(1000, 7, 999)", "multiply(1, 0)"}) {
    const Permutation map = parse_permutation(text);
    EXPECT_EQ(to_text(map), text);
    EXPECT_EQ(parse_permutation(to_text(map)), map);
  }
  EXPECT_EQ(to_text(parse_permutation("affine_mod(10, -3, -1)")), "affine_mod(10, 7, 9)");
  EXPECT_EQ(to_text(parse_permutation("multiply(10, 23)")), "multiply(10, 3)");
  EXPECT_EQ(normal_form(parse_permutation("compose(multiply(9, 5), multiply(9, 2))")),
            normal_form(parse_permutation("indices(0 1 2 3 4 5 6 7 8)")));
  EXPECT_EQ(parse_permutation("power(multiply(100, 3), 2)"), parse_permutation("multiply(100, 9)"));
  EXPECT_EQ(parse_permutation("inverse(multiply(100, 3))"), parse_permutation("multiply(100, 67)"));
  EXPECT_EQ(normal_form(parse_permutation("multiply(1000, -1)")),
            normal_form(parse_permutation("compose(roll(1000, 1), flip(1000))")));
  const Permutation map = parse_permutation("affine_mod(1000, 7, 5)");
  for (std::uint64_t x = 0; x < 1000; ++x) ASSERT_EQ(apply(map, x), (7 * x + 5) % 1000);
}

TEST(Modular, IndexMapsOfTransforms) {
  for (const auto& [rows, columns] :
       {std::pair<std::uint64_t, std::uint64_t>{1, 1}, {2, 3}, {9, 16}, {63, 64}, {1, 50}}) {
    const Indexed map = maps::good_thomas(rows, columns);
    for (std::uint64_t x = 0; x < rows * columns; ++x)
      ASSERT_EQ(map.entry(x), x % rows * columns + x % columns);
    EXPECT_EQ(parse_permutation(map.label()), Permutation(map));
  }
  for (const std::uint64_t prime : {2, 3, 5, 7, 11, 101, 65537}) {
    const Indexed map = maps::rader(prime);
    EXPECT_EQ(map.entry(0), 0U);
    EXPECT_EQ(map.entry(1), 1U);
    // The product of two elements goes where the sum of their exponents is.
    for (std::uint64_t x = 1; x < std::min<std::uint64_t>(prime, 300); ++x) {
      const std::uint64_t sum = (map.entry(x) - 1) * 2 % (prime - 1);
      ASSERT_EQ(map.entry(x * x % prime), sum + 1) << prime;
    }
    EXPECT_EQ(parse_permutation(map.label()), Permutation(map));
  }
  for (const std::string text : {"good_thomas(4, 6)", "good_thomas(0, 5)", "good_thomas(2^21, 2^21)",
                                 "rader(1)", "rader(9)", "rader(0)"}) {
    EXPECT_EQ(test::code_of([&] { parse_permutation(text); }), ErrorCode::value) << text;
  }
}

TEST(Modular, RefusesWhatIsNoUnit) {
  for (const auto& [text, part] :
       {std::pair("multiply(10, 4)", "multiply: got factor 4 modulo 10, whose greatest common divisor is 2"),
        std::pair("multiply(10, 0)", "greatest common divisor is 10"),
        std::pair("affine_mod(9, -6, 1)", "greatest common divisor is 3"),
        std::pair("multiply(0, 1)", "0 elements"),
        std::pair("multiply(2^41, 1)", "2199023255552 elements")}) {
    const std::string message =
        test::message_of(ErrorCode::value, [text = text] { parse_permutation(text); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(test::code_of([] { compose(maps::multiply(8, 3), maps::multiply(9, 2)); }), ErrorCode::value);
}

}  // namespace permutation_modular_test
