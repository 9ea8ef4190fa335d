// Recognition: everything that has a form is found by it, and whatever has one entry less right is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation_support.hpp"

namespace faro {
namespace permutation_recognise_test {

using ::testing::HasSubstr;

constexpr Direction kDirections[] = {Direction::scatter, Direction::gather};

// Whether a permutation in a form of its own says what the array says.
bool says_the_same(const Permutation& permutation, const Indexed& array) {
  if (element_count(permutation) != array.count()) return false;
  for (std::uint64_t i = 0; i < array.count(); ++i) {
    const std::uint64_t source = array.direction() == Direction::scatter ? i : array.entry(i);
    const std::uint64_t target = array.direction() == Direction::scatter ? array.entry(i) : i;
    if (apply(permutation, source) != target) return false;
  }
  return true;
}

// The last finding is the family, those before it say no and why.
void expect_findings(const Recognition& seen) {
  ASSERT_FALSE(seen.findings.empty());
  for (const Finding& finding : seen.findings) {
    EXPECT_EQ(finding.holds, &finding == &seen.findings.back());
    EXPECT_FALSE(finding.why.empty());
  }
  EXPECT_EQ(seen.findings.back().family, seen.family);
}

void expect_recognised(const Permutation& permutation, Family family, int threads = 1) {
  for (const Direction direction : kDirections) {
    const Indexed array = as_array(permutation, direction);
    const Recognition seen = recognise(array, threads);
    SCOPED_TRACE(to_text(permutation) + " as " + name(direction) + ": " + seen.findings.back().why);
    ASSERT_STREQ(name(seen.family), name(family));
    ASSERT_TRUE(says_the_same(seen.permutation, array)) << to_text(seen.permutation);
    expect_findings(seen);
  }
}

// The entries of `array` at i and j exchanged.
Indexed exchanged(const Indexed& array, std::uint64_t i, std::uint64_t j) {
  std::vector<std::uint64_t> entries;
  for (std::uint64_t k = 0; k < array.count(); ++k) entries.push_back(array.entry(k));
  std::swap(entries[i], entries[j]);
  return {std::move(entries), array.direction()};
}

TEST(Recognise, HandMadeArrays) {
  const auto seen = [](std::vector<std::uint64_t> entries, Direction direction = Direction::scatter) {
    const Recognition result = recognise(Indexed(std::move(entries), direction));
    return std::string(name(result.family)) + " " + to_text(result.permutation);
  };
  EXPECT_EQ(seen({}), "identity roll(0, 0)");
  EXPECT_EQ(seen({0}), "identity identity(0)");
  EXPECT_EQ(seen({0, 1}), "identity identity(1)");
  EXPECT_EQ(seen({1, 0}), "affine reverse(1)");
  EXPECT_EQ(seen({0, 1, 2}), "identity roll(3, 0)");
  EXPECT_EQ(seen({2, 0, 1}), "cyclic roll(3, 2)");
  EXPECT_EQ(seen({2, 0, 1}, Direction::gather), "cyclic roll(3, 1)");
  EXPECT_EQ(seen({2, 1, 0}), "cyclic flip(3)");
  EXPECT_EQ(seen({3, 2, 1, 0}), "affine reverse(2)");
  EXPECT_EQ(seen({0, 3, 1, 4, 2, 5}), "axes transpose(3, 2)");
  EXPECT_EQ(seen({0, 3, 1, 4, 2, 5}, Direction::gather), "axes transpose(2, 3)");
  EXPECT_EQ(seen({1, 2, 3, 4, 5, 6, 7, 0}), "cyclic roll(8, 1)");
  EXPECT_EQ(seen({3, 2, 1, 0, 7, 6, 5, 4}), "affine xor(3, 0x3)");
  EXPECT_EQ(seen({3, 2, 1, 0, 7, 6, 4, 5}), "general indices(3 2 1 0 7 6 4 5)");
  EXPECT_EQ(seen({1, 0, 2, 3, 4, 6, 5, 7}), "window indices(1 0 2 3 4 6 5 7)");
}

TEST(Recognise, EveryCyclicMap) {
  for (std::uint64_t count = 0; count <= 40; ++count) {
    for (std::uint64_t shift = 0; shift < std::max<std::uint64_t>(count, 1); ++shift) {
      for (const bool reversed : {false, true}) {
        const Permutation map = Cyclic{.count = count, .shift = shift, .reversed = reversed};
        const auto images = targets(map);
        const bool is_identity = std::is_sorted(images.begin(), images.end());
        const Family family = is_identity        ? Family::identity
                              : affine_form(map) ? Family::affine
                                                 : Family::cyclic;
        expect_recognised(map, family);
      }
    }
  }
}

TEST(Recognise, EveryAffineMapOfThreeBitsAndRandomOnes) {
  std::vector<f2::Word> columns(3);
  int found = 0;
  for (columns[0] = 1; columns[0] < 8; ++columns[0]) {
    for (columns[1] = 1; columns[1] < 8; ++columns[1]) {
      for (columns[2] = 1; columns[2] < 8; ++columns[2]) {
        const f2::Matrix matrix = f2::Matrix::from_columns(3, columns);
        if (!matrix.inverse()) continue;
        for (f2::Word c = 0; c < 8; ++c) {
          const Affine map(matrix, c);
          expect_recognised(map, map.is_identity() ? Family::identity : Family::affine);
          ++found;
        }
      }
    }
  }
  EXPECT_EQ(found, 1344);
  for (int n = 4; n <= 17; ++n) expect_recognised(maps::random_bmmc(n, 3), Family::affine, 2);
}

TEST(Recognise, EveryShapeAndOrderOfAxes) {
  for (std::uint64_t count = 1; count <= 72; ++count) {
    for (const auto& shape : shapes_of(count, 4)) {
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      do {
        const Axes map(shape, order);
        const Family family = map.is_identity()            ? Family::identity
                              : f2::is_power_of_two(count) ? Family::affine
                                                           : Family::axes;
        expect_recognised(map, family);
        if (family == Family::axes) {
          ASSERT_EQ(recognise(as_array(map, Direction::scatter)).permutation, Permutation(map));
          ASSERT_EQ(recognise(as_array(map, Direction::gather)).permutation, Permutation(map));
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(Recognise, LargeShapes) {
  std::mt19937_64 random(7);
  const std::vector<std::vector<std::uint64_t>> shapes{
      {1000, 1000},
      {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3},
      {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 5, 5},
      {7, 1, 16, 1, 81, 125},
      {720720},
      {997, 991},
      {2, 500001},
      {500001, 2},
      {17, 2, 17, 2, 17, 2, 17},
      {256, 3, 1024},
  };
  for (const auto& shape : shapes) {
    for (int trial = 0; trial < 2; ++trial) {
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      const Axes map(shape, order);
      const Recognition seen = recognise(as_array(map, Direction::gather), 2);
      if (map.is_identity()) {
        EXPECT_EQ(seen.family, Family::identity);
      } else {
        ASSERT_EQ(seen.permutation, Permutation(map)) << to_text(map) << ": " << seen.findings.back().why;
      }
    }
  }
}

// One exchange, wherever it is, must be noticed: the array is none of the families that were there before.
TEST(Recognise, OnePerturbedEntryFallsBack) {
  std::mt19937_64 random(11);
  const std::vector<Permutation> kMaps{maps::identity(10),
                                       maps::gray(10),
                                       maps::random_bmmc(10, 5),
                                       maps::roll(1000, 0),
                                       maps::roll(1000, 77),
                                       maps::roll(1024, 1),
                                       maps::flip(1000),
                                       Axes({10, 5, 20}, {2, 1, 0}),
                                       maps::transpose_any(8, 125),
                                       Axes({3, 3, 3, 3}, {3, 1, 2, 0}),
                                       maps::bit_reversal(10)};
  for (const Permutation& map : kMaps) {
    for (const Direction direction : kDirections) {
      const Indexed array = as_array(map, direction);
      for (int trial = 0; trial < 60; ++trial) {
        // The ends first, which the probes see; then anywhere.
        const std::uint64_t i = trial < 3 ? static_cast<std::uint64_t>(trial) : random() % array.count();
        const std::uint64_t j = trial < 6 ? array.count() - 1 : random() % array.count();
        if (i == j) continue;
        const Indexed wrong = exchanged(array, i, j);
        const Recognition seen = recognise(wrong);
        ASSERT_TRUE(seen.family == Family::runs || seen.family == Family::window ||
                    seen.family == Family::exceptions || seen.family == Family::general)
            << to_text(map) << " exchanged at " << i << " and " << j << ": " << name(seen.family);
        expect_findings(seen);
        if (seen.family == Family::exceptions) {
          ASSERT_EQ(seen.exceptions.size(), 2U);
          continue;
        }
        ASSERT_EQ(std::get<Indexed>(seen.permutation), wrong);
      }
    }
  }
}

// Exhaustive where it can be: all permutations of up to 8 elements. Whatever is claimed is so, and a family
// is only passed over where it does not hold.
TEST(Recognise, AllPermutationsOfFewElements) {
  for (std::uint64_t count = 0; count <= 8; ++count) {
    std::vector<std::uint64_t> entries(count);
    std::iota(entries.begin(), entries.end(), std::uint64_t{0});
    std::vector<std::uint64_t> identity = entries;
    int affine = 0;
    int cyclic = 0;
    int axes = 0;
    do {
      const Indexed array(entries, Direction::scatter);
      const Recognition seen = recognise(array);
      ASSERT_TRUE(says_the_same(seen.permutation, array)) << to_text(array);
      ASSERT_EQ(seen.family == Family::identity, entries == identity) << to_text(array);
      affine += seen.family == Family::affine ? 1 : 0;
      cyclic += seen.family == Family::cyclic ? 1 : 0;
      axes += seen.family == Family::axes ? 1 : 0;
    } while (std::next_permutation(entries.begin(), entries.end()));
    // |GL(n, 2)| 2^n affine maps; rolls and flips that are none; transposes of 6 = 2 x 3 = 3 x 2.
    const int kAffine[] = {0, 0, 1, 0, 23, 0, 0, 0, 1343};
    const int kCyclic[] = {0, 0, 0, 5, 0, 9, 11, 13, 8};
    const int kAxes[] = {0, 0, 0, 0, 0, 0, 2, 0, 0};
    EXPECT_EQ(affine, kAffine[count]) << count;
    EXPECT_EQ(cyclic, kCyclic[count]) << count;
    EXPECT_EQ(axes, kAxes[count]) << count;
  }
}

TEST(Recognise, Runs) {
  // Blocks of 100 elements in another order, in which no two meet that are neighbours.
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t b = 0; b < 50; ++b) blocks.push_back(b % 2 == 0 ? 49 - b / 2 : b / 2);
  std::vector<std::uint64_t> entries;
  for (const std::uint64_t block : blocks) {
    for (std::uint64_t i = 0; i < 100; ++i) entries.push_back(100 * block + i);
  }
  const Recognition seen = recognise(Indexed(entries, Direction::scatter));
  EXPECT_EQ(seen.family, Family::runs);
  EXPECT_EQ(seen.runs, 50U);
  EXPECT_EQ(seen.displacement, 4900U);
  EXPECT_EQ(seen.findings.back().why, "50 runs of 100 elements on average");
  // Runs of 16 on the mean are enough, 313 runs of 5000 elements are too many.
  const Recognition few = recognise(Indexed(entries, Direction::scatter), 1, {.run_elements = 100});
  EXPECT_EQ(few.family, Family::runs);
  const Recognition strict =
      recognise(Indexed(entries, Direction::scatter), 1, {.run_elements = 101, .displacement = 4900});
  EXPECT_EQ(strict.family, Family::blocks);  // of which 100 elements stay together
  EXPECT_EQ(strict.blocks, (Blocks{.repeats = 1, .together = 100}));
  EXPECT_FALSE(strict.runs.has_value());
  EXPECT_FALSE(strict.displacement.has_value());
  const Recognition near =
      recognise(Indexed(entries, Direction::scatter), 1, {.run_elements = 101, .displacement = 4901});
  EXPECT_EQ(near.family, Family::blocks);
  EXPECT_EQ(near.displacement, 4900U);
}

TEST(Recognise, Window) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> entries(100'000);
  std::iota(entries.begin(), entries.end(), std::uint64_t{0});
  for (std::size_t begin = 0; begin < entries.size(); begin += 500) {
    std::shuffle(entries.begin() + static_cast<std::ptrdiff_t>(begin),
                 entries.begin() + static_cast<std::ptrdiff_t>(begin + 500), random);
  }
  std::uint64_t displacement = 0;
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    displacement = std::max(displacement, entries[i] > i ? entries[i] - i : i - entries[i]);
  }
  for (const Direction direction : kDirections) {
    const Recognition seen = recognise(Indexed(entries, direction), 2);
    EXPECT_EQ(seen.family, Family::window);
    EXPECT_EQ(seen.displacement, displacement);
    EXPECT_THAT(seen.findings.back().why, HasSubstr("nothing moves further than"));
  }
  std::swap(entries[0], entries[9000]);
  EXPECT_EQ(recognise(Indexed(entries, Direction::scatter), 2).family, Family::general);
}

// What is short is no window for being short: only what moves less than a quarter of the array is local.
TEST(Recognise, ShortArraysAreNotWindows) {
  for (const std::uint64_t count : {100U, 1000U, 4096U, 8191U, 8192U}) {
    for (const Direction direction : kDirections) {
      const Recognition seen = recognise(Indexed::random(count, 1).redirected(direction));
      EXPECT_EQ(seen.family, Family::general) << count;
      EXPECT_TRUE(seen.displacement.has_value()) << count;
      EXPECT_EQ(seen.findings[seen.findings.size() - 2].family, Family::window);
      EXPECT_THAT(seen.findings[seen.findings.size() - 2].why, HasSubstr("a quarter of the array"));
    }
  }
  // On both sides of a quarter: one exchange over so many places, among exchanges of neighbours.
  for (const std::uint64_t count : {64U, 65U, 66U, 67U, 8190U}) {
    std::vector<std::uint64_t> entries(count);
    std::iota(entries.begin(), entries.end(), std::uint64_t{0});
    for (std::uint64_t i = 0; i + 1 < count; i += 2) std::swap(entries[i], entries[i + 1]);
    const std::uint64_t most = (count - 1) / 4;
    for (const std::uint64_t moved : {most, most + 1}) {
      std::vector<std::uint64_t> far = entries;
      std::iter_swap(std::find(far.begin(), far.end(), std::uint64_t{0}), far.begin());
      std::swap(far[0], far[moved]);
      std::uint64_t displacement = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        displacement = std::max(displacement, far[i] > i ? far[i] - i : i - far[i]);
      const Recognition seen = recognise(Indexed(far, Direction::scatter));
      EXPECT_EQ(seen.displacement, displacement);
      EXPECT_EQ(seen.family, 4 * displacement < count ? Family::window : Family::general)
          << count << ", moved " << displacement;
      if (moved == most + 1) {
        EXPECT_EQ(seen.family, Family::general) << count;
      }
    }
  }
}

TEST(Recognise, LargeArraysByThreads) {
  for (const Permutation& map : {Permutation(maps::random_bmmc(20, 1)), Permutation(maps::roll(1'000'003, 5)),
                                 Permutation(Cyclic{.count = 999'999, .shift = 3, .reversed = true}),
                                 Permutation(Axes({60, 70, 11, 23}, {3, 1, 0, 2}))}) {
    const Indexed array = as_array(map, Direction::scatter);
    const Recognition seen = recognise(array, 4);
    EXPECT_EQ(seen.permutation, map) << to_text(map);
    // The last two entries, which no probe sees all of.
    const Recognition wrong = recognise(exchanged(array, array.count() - 3, array.count() - 2), 4);
    const bool in_part = wrong.family == Family::exceptions && wrong.exceptions.size() == 2;
    EXPECT_TRUE(in_part || std::holds_alternative<Indexed>(wrong.permutation)) << to_text(map);
  }
  const Recognition random = recognise(Indexed::random(1 << 20, 1), 4);
  EXPECT_EQ(random.family, Family::general);
  EXPECT_EQ(random.findings.size(), 11U);
}

TEST(Recognise, FindingsNameTheFirstThatDiffers) {
  const Indexed array = exchanged(as_array(maps::roll(100'000, 5), Direction::gather), 70'000, 80'001);
  for (const int threads : {1, 4}) {
    const Recognition seen = recognise(array, threads);
    const auto cyclic = std::find_if(seen.findings.begin(), seen.findings.end(),
                                     [](const Finding& f) { return f.family == Family::cyclic; });
    ASSERT_NE(cyclic, seen.findings.end());
    EXPECT_EQ(cyclic->why, "Q[70000] = 79996, not 69995 as roll(100000, 99995) has it");
  }
}

TEST(Recognise, RefusesAnArrayOnADevice) {
  const Indexed there =
      Indexed::on_device(nullptr, 8, {.bytes = 4, .is_signed = false}, Direction::scatter, 0, nullptr);
  EXPECT_THAT(refusal_of([&] { recognise(there); }), HasSubstr("the memory of device 0"));
}

// A reader of entries that are no permutation: nothing is believed, nothing is out of bounds.
class WildReader : public IndexReader {
 public:
  explicit WildReader(std::vector<std::uint64_t> entries) : entries_(std::move(entries)) {}
  std::uint64_t count() const override { return entries_.size(); }
  std::vector<std::uint64_t> at(std::span<const std::uint64_t> positions) override {
    std::vector<std::uint64_t> result;
    for (const std::uint64_t position : positions) result.push_back(entries_.at(position));
    return result;
  }
  std::optional<std::uint64_t> mismatch(const Permutation& candidate) override {
    for (std::uint64_t i = 0; i < count(); ++i) {
      if (apply(candidate, i) != entries_[i]) return i;
    }
    return std::nullopt;
  }
  Locality locality(std::uint64_t, std::uint64_t) override {
    return {.runs = ~std::uint64_t{0}, .displacement = ~std::uint64_t{0}};
  }

 private:
  std::vector<std::uint64_t> entries_;
};

TEST(Recognise, EntriesThatAreNoPermutation) {
  std::mt19937_64 random(5);
  const Indexed unused = Indexed::random(3, 1);
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::uint64_t count = random() % 25;
    std::vector<std::uint64_t> entries(count);
    const std::uint64_t kind = random() % 4;
    for (std::uint64_t i = 0; i < count; ++i) {
      entries[i] = kind == 0 ? random() : kind == 1 ? random() % count : kind == 2 ? i * (random() % 3) : 0;
    }
    std::vector<std::uint64_t> sorted = entries;
    std::sort(sorted.begin(), sorted.end());
    bool is_permutation = true;
    for (std::uint64_t i = 0; i < count; ++i) is_permutation = is_permutation && sorted[i] == i;
    WildReader reader(entries);
    const Recognition seen = recognise(reader, unused);
    if (!is_permutation) {
      ASSERT_EQ(seen.family, Family::general);
    }
  }
}

}  // namespace permutation_recognise_test
}  // namespace faro
