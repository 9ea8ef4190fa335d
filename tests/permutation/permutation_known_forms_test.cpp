// Forms beside affine maps and axes: axes that are flipped and rolled, multiplications, blocks that are
// alike, maps with exceptions. Each against its definition, its laws, its text, and found again in an index
// array.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/cyclic_axes.hpp"
#include "permutation_support.hpp"
#include "refusal.hpp"

namespace faro {
namespace permutation_known_forms_test {

using Shape = std::vector<std::uint64_t>;

constexpr Direction kDirections[] = {Direction::scatter, Direction::gather};

std::vector<std::uint64_t> images_of(const Permutation& permutation) {
  std::vector<std::uint64_t> images(element_count(permutation));
  for (std::uint64_t x = 0; x < images.size(); ++x) images[x] = apply(permutation, x);
  return images;
}

// Calls body(shape, order, moves) for every order of some shapes, with some flips and rolls of each axis.
template <typename Body>
void for_each_moved_axes(const Body& body) {
  std::mt19937_64 random(3);
  for (const Shape& shape :
       {Shape{5}, Shape{1, 3}, Shape{2, 3}, Shape{3, 4}, Shape{2, 2, 2}, Shape{3, 1, 4}, Shape{2, 5, 3},
        Shape{4, 4, 4}, Shape{2, 3, 2, 3}, Shape{6, 2, 5}, Shape{3, 300, 2}, Shape{40, 70}}) {
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      for (int trial = 0; trial < 12; ++trial) {
        std::vector<Cyclic> moves;
        for (const std::uint64_t extent : shape) {
          const bool rests = random() % 3 == 0;
          moves.push_back({.count = extent,
                           .shift = rests ? 0 : random() % extent,
                           .reversed = !rests && random() % 2 == 0});
        }
        body(shape, order, moves);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// Index by index, as the words say it.
std::vector<std::uint64_t> defined(const Shape& shape, const std::vector<int>& order,
                                   const std::vector<Cyclic>& moves) {
  const std::uint64_t count =
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  std::vector<std::uint64_t> images(count);
  for (std::uint64_t x = 0; x < count; ++x) {
    std::vector<std::uint64_t> index(shape.size());
    std::uint64_t rest = x;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      index[axis] = moves[axis](rest % shape[axis]);
    std::uint64_t y = 0;
    for (const int axis : order)
      y = y * shape[static_cast<std::size_t>(axis)] + index[static_cast<std::size_t>(axis)];
    images[x] = y;
  }
  return images;
}

TEST(CyclicAxes, AreWhatTheySayAndFoundAgain) {
  int found = 0;
  int all = 0;
  for_each_moved_axes(
      [&](const Shape& shape, const std::vector<int>& order, const std::vector<Cyclic>& moves) {
        const CyclicAxes axes(shape, order, moves);
        const std::vector<std::uint64_t> images = defined(shape, order, moves);
        SCOPED_TRACE(to_text(Permutation(axes)));
        ASSERT_EQ(images_of(Permutation(axes)), images);
        const CyclicAxes inverse = axes.inverse();
        for (std::uint64_t x = 0; x < images.size(); ++x) ASSERT_EQ(inverse(images[x]), x);
        EXPECT_EQ(inverse.inverse(), axes);
        const Permutation form = detail::simplest_form(axes);
        EXPECT_EQ(images_of(form), images);
        if (std::holds_alternative<CyclicAxes>(form)) {
          EXPECT_EQ(parse_permutation(to_text(form)), form);
        }
        const Permutation normal = normal_form(Permutation(axes));
        EXPECT_EQ(images_of(normal), images);
        for (const Direction direction : kDirections) {
          const Recognition seen = recognise(as_array(Permutation(axes), direction));
          ++all;
          const bool known = seen.family <= Family::cyclic_axes;
          found += known ? 1 : 0;
          if (known) {
            EXPECT_EQ(images_of(seen.permutation), images) << name(seen.family);
          }
          const bool rolls_much = detail::number_of_parts(axes) > 16;
          EXPECT_TRUE(known || rolls_much) << name(seen.family) << ": " << seen.findings.back().why;
        }
      });
  EXPECT_GT(found, all / 2);
}

TEST(CyclicAxes, AreViewsThatMeetNowhere) {
  for_each_moved_axes(
      [&](const Shape& shape, const std::vector<int>& order, const std::vector<Cyclic>& moves) {
        const CyclicAxes axes(shape, order, moves);
        constexpr std::uint64_t kBatch = 2;
        const std::uint64_t count = axes.count();
        const std::vector<Strided> views = detail::views_of(axes, kBatch);
        EXPECT_EQ(views.size(), detail::number_of_parts(axes));
        std::vector<std::uint64_t> from(count * kBatch, ~std::uint64_t{0});
        for (const Strided& view : views) {
          std::vector<std::uint64_t> at(view.extents.size());
          const std::uint64_t elements = element_count(view);
          for (std::uint64_t e = 0; e < elements; ++e) {
            std::uint64_t rest = e;
            auto in = static_cast<std::int64_t>(view.in_offset);
            auto out = static_cast<std::int64_t>(view.out_offset);
            for (std::size_t axis = view.extents.size(); axis-- > 0; rest /= view.extents[axis]) {
              const auto digit = static_cast<std::int64_t>(rest % view.extents[axis]);
              in += digit * view.in_strides[axis];
              out += digit * view.out_strides[axis];
            }
            ASSERT_EQ(from.at(static_cast<std::size_t>(out)), ~std::uint64_t{0});
            from[static_cast<std::size_t>(out)] = static_cast<std::uint64_t>(in);
          }
        }
        for (std::uint64_t b = 0; b < kBatch; ++b) {
          for (std::uint64_t x = 0; x < count; ++x) ASSERT_EQ(from[b * count + axes(x)], b * count + x);
        }
      });
}

TEST(CyclicAxes, HaveATextAndRefuse) {
  // A quarter turn of 2 x 3, and the middle of 4 x 5 moved to its begin.
  EXPECT_EQ(images_of(parse_permutation("axes(2 3; 1 0; 0 0; 1)")),
            (std::vector<std::uint64_t>{4, 2, 0, 5, 3, 1}));
  EXPECT_EQ(to_text(parse_permutation("axes(4 5; 0 1; 2 2)")), "axes(4 5; 0 1; 2 2)");
  EXPECT_EQ(to_text(parse_permutation("axes(4 5; 0 1; 2 0)")), "roll(20, 10)");
  EXPECT_EQ(to_text(parse_permutation("axes(4 5; 0 1; 0 0; 0 1)")), "flip(20)");
  EXPECT_EQ(to_text(parse_permutation("axes(4 5; 1 0; 0 0)")), "transpose(4, 5)");
  EXPECT_EQ(to_text(inverse(parse_permutation("axes(4 5; 1 0; 1 2; 0)"))), "axes(5 4; 1 0; 3 1; 1)");
  const auto code = [](const char* text) { return test::code_of([&] { parse_permutation(text); }); };
  EXPECT_EQ(code("axes(4 5; 1 0; 1)"), ErrorCode::value);
  EXPECT_EQ(code("axes(4 5; 1 0; 1 2; 2)"), ErrorCode::value);
  EXPECT_EQ(code("axes(4 5; 1 0; 1 2; 0 0)"), ErrorCode::value);
  EXPECT_EQ(test::code_of([] { CyclicAxes({4, 5}, {1, 0}, {maps::roll(4, 1)}); }), ErrorCode::value);
  EXPECT_EQ(test::code_of([] {
              CyclicAxes({4, 5}, {1, 0}, {maps::roll(4, 1), maps::roll(4, 1)});
            }),
            ErrorCode::value);
}

TEST(Modular, IsAFormOfItsOwn) {
  for (std::uint64_t count = 1; count <= 40; ++count) {
    for (std::uint64_t factor = 0; factor < count; ++factor) {
      if (std::gcd(factor, count) != 1) continue;
      const Modular map =
          maps::affine_mod(count, static_cast<std::int64_t>(factor), static_cast<std::int64_t>(count / 3));
      const Permutation permutation(map);
      const std::vector<std::uint64_t> images = images_of(permutation);
      EXPECT_EQ(parse_permutation(to_text(permutation)), permutation);
      EXPECT_EQ(images_of(normal_form(permutation)), images) << to_text(permutation);
      // One form, whatever it came from.
      for (const Direction direction : kDirections) {
        const Recognition seen = recognise(as_array(permutation, direction));
        EXPECT_EQ(images_of(seen.permutation), images) << to_text(permutation);
        EXPECT_LE(seen.family, Family::cyclic_axes) << to_text(permutation);
        if (seen.family == Family::modular) {
          EXPECT_EQ(seen.permutation, permutation);
        }
        const Permutation normal = normal_form(permutation);
        if (std::holds_alternative<Modular>(normal)) {
          EXPECT_NE(seen.family, Family::affine) << to_text(permutation);
        }
      }
      const Permutation roll = maps::roll(count, 2);
      const Permutation both = compose(permutation, roll);
      for (std::uint64_t x = 0; x < count; ++x) EXPECT_EQ(apply(both, x), apply(permutation, apply(roll, x)));
      EXPECT_FALSE(std::holds_alternative<Indexed>(both)) << to_text(permutation);
      EXPECT_FALSE(std::holds_alternative<Indexed>(power(permutation, -3)));
      EXPECT_EQ(images_of(power(permutation, 3)),
                images_of(compose(permutation, compose(permutation, permutation))));
    }
  }
  EXPECT_FALSE(std::holds_alternative<Indexed>(parse_permutation("inverse(multiply(1000000000039, 5))")));
}

// --- recognised in part

TEST(Recognise, BlocksThatAreAlike) {
  std::mt19937_64 random(5);
  for (const std::uint64_t repeats : {1U, 2U, 6U, 50U}) {
    for (const std::uint64_t together : {1U, 2U, 3U, 8U}) {
      for (const std::uint64_t size : {5U, 40U, 301U}) {
        if (repeats == 1 && together == 1) continue;
        for (const Direction direction : kDirections) {
          std::vector<std::uint64_t> small(size);
          std::iota(small.begin(), small.end(), std::uint64_t{0});
          // One cycle that keeps no part to itself, and no two neighbours together.
          do {
            std::shuffle(small.begin(), small.end(), random);
          } while (!recognise(Indexed(small, direction)).findings.back().holds ||
                   recognise(Indexed(small, direction)).family < Family::runs ||
                   small[size - 1] == size - 1 || small[0] == 0);
          std::vector<std::uint64_t> entries;
          for (std::uint64_t b = 0; b < repeats; ++b) {
            for (const std::uint64_t p : small) {
              for (std::uint64_t j = 0; j < together; ++j) entries.push_back((b * size + p) * together + j);
            }
          }
          const Indexed array(entries, direction);
          const Recognition seen = recognise(array);
          SCOPED_TRACE(std::to_string(repeats) + " x " + std::to_string(size) + " x " +
                       std::to_string(together) + ": " + seen.findings.back().why);
          if (seen.family == Family::runs) continue;
          ASSERT_EQ(seen.family, Family::blocks);
          const std::uint64_t found = seen.blocks.repeats;
          EXPECT_EQ(found % repeats, 0U);
          EXPECT_EQ(seen.blocks.together % together, 0U);
          const std::uint64_t count = element_count(seen.permutation);
          EXPECT_EQ(count * found * seen.blocks.together, array.count());
          // The law, element by element.
          for (std::uint64_t i = 0; i < array.count(); ++i) {
            const std::uint64_t source = direction == Direction::scatter ? i : array.entry(i);
            const std::uint64_t target = direction == Direction::scatter ? array.entry(i) : i;
            const std::uint64_t block = count * seen.blocks.together;
            const std::uint64_t within = source % block;
            EXPECT_EQ(source / block * block +
                          apply(seen.permutation, within / seen.blocks.together) * seen.blocks.together +
                          within % seen.blocks.together,
                      target);
          }
          EXPECT_EQ(normal_form(Permutation(array)), Permutation(array));
        }
      }
    }
  }
}

TEST(Recognise, MapsWithExceptions) {
  std::mt19937_64 random(6);
  const Permutation kMaps[] = {maps::bit_reversal(12),
                               maps::random_bmmc(10, 3),
                               maps::gray(11),
                               Permutation(maps::multiply(4096, 1237)),
                               Permutation(maps::affine_mod(10007, 31, 5)),
                               Permutation(maps::multiply(1 << 20, 12345))};
  for (const Permutation& map : kMaps) {
    const std::uint64_t count = element_count(map);
    for (const std::size_t number : {2U, 5U, 15U}) {
      for (const Direction direction : kDirections) {
        const Indexed right = as_array(map, direction);
        std::vector<std::uint64_t> entries;
        for (std::uint64_t i = 0; i < count; ++i) entries.push_back(right.entry(i));
        // Some entries change places in a circle, the first ones, which probes see, among them.
        std::set<std::uint64_t> changed{0, 1};
        while (changed.size() < number) changed.insert(random() % count);
        std::uint64_t last = entries[*changed.rbegin()];
        for (const std::uint64_t i : changed) std::swap(entries[i], last);
        const Indexed wrong(entries, direction);
        const Recognition seen = recognise(wrong);
        SCOPED_TRACE(to_text(map) + ": " + seen.findings.back().why);
        if (seen.family == Family::runs) continue;
        ASSERT_EQ(seen.family, Family::exceptions);
        EXPECT_EQ(images_of(seen.permutation), images_of(map));
        ASSERT_EQ(seen.exceptions.size(), number);
        EXPECT_TRUE(
            std::is_sorted(seen.exceptions.begin(), seen.exceptions.end(),
                           [](const Exception& a, const Exception& b) { return a.source < b.source; }));
        for (const Exception& each : seen.exceptions) {
          const std::uint64_t i = direction == Direction::scatter ? each.source : each.target;
          EXPECT_TRUE(changed.contains(i));
          EXPECT_EQ(entries[i], direction == Direction::scatter ? each.target : each.source);
        }
      }
    }
  }
  // Too many are no exceptions.
  const Recognition seen = recognise(Indexed::random(1 << 16, 3));
  EXPECT_EQ(seen.family, Family::general);
}

}  // namespace permutation_known_forms_test
}  // namespace faro
