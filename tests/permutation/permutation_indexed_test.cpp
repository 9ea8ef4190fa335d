// Index arrays: what they mean, what is refused and in which words, their algebra, and files of them.
// Sanitized: in `make test`, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation_support.hpp"
#include "processor_time.hpp"

namespace faro {
namespace permutation_indexed_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Entries32 = std::vector<std::uint32_t>;
using Entries64 = std::vector<std::uint64_t>;

Indexed scatter(Entries64 entries) { return {std::move(entries), Direction::scatter}; }
Indexed gather(Entries64 entries) { return {std::move(entries), Direction::gather}; }

template <typename Word>
std::vector<std::byte> bytes_of(const std::vector<Word>& words, std::size_t offset = 0) {
  std::vector<std::byte> bytes(offset + words.size() * sizeof(Word));
  if (!words.empty()) std::memcpy(bytes.data() + offset, words.data(), words.size() * sizeof(Word));
  return bytes;
}

std::string refused_bytes(const std::vector<std::byte>& bytes, IndexType type) {
  return refusal_of([&] { Indexed::from_bytes(bytes, type, Direction::scatter); });
}

TEST(Indexed, WorkedExample) {
  // scatter: in a b c, out b c a; gather: out c a b.
  EXPECT_THAT(targets(scatter({2, 0, 1})), ElementsAre(2, 0, 1));
  EXPECT_THAT(targets(gather({2, 0, 1})), ElementsAre(1, 2, 0));
  EXPECT_EQ(scatter({2, 0, 1}), gather({1, 2, 0}));
  EXPECT_FALSE(scatter({2, 0, 1}) == gather({2, 0, 1}));
  EXPECT_FALSE(scatter({2, 0, 1}) == scatter({2, 1, 0}));
  EXPECT_FALSE(scatter({1, 0}) == scatter({1, 0, 2}));
  EXPECT_STREQ(name(Direction::scatter), "scatter");
  EXPECT_STREQ(name(Direction::gather), "gather");
}

TEST(Indexed, EntriesAreAsNarrowAsTheCountAllows) {
  const Indexed array = scatter({2, 0, 1});
  EXPECT_EQ(array.count(), 3U);
  EXPECT_EQ(array.index_type().bytes, 4);
  EXPECT_THAT(array.entries32(), ElementsAre(2, 0, 1));
  EXPECT_TRUE(array.entries64().empty());
  EXPECT_TRUE(array.on_host());
  EXPECT_FALSE(array.device().has_value());
  const Indexed none = scatter({});
  EXPECT_EQ(none.count(), 0U);
  EXPECT_TRUE(none.entries32().empty() && none.entries64().empty());
  EXPECT_EQ(none, gather({}));
}

TEST(Indexed, CopiesShareTheArray) {
  const Indexed array = Indexed::random(1000, 1);
  const Indexed copy = array;
  EXPECT_EQ(copy.entries32().data(), array.entries32().data());
  EXPECT_EQ(array.inverse().entries32().data(), array.entries32().data());
}

TEST(Indexed, NamesTheFirstOffendingPositions) {
  EXPECT_EQ(refusal_of([] {
              scatter({0, 1, 2, 3, 4, 5, 6, 12, 40, 9});
            }),
            "index array: got entry 7 is 12, wanted a number below 10");
  EXPECT_EQ(refusal_of([] {
              scatter({0, 1, 2, 4, 3, 6, 7, 8, 9, 3});
            }),
            "index array: got entry 9 is 3, as is entry 4; 5 is missing, wanted each of 0 .. 9 once");
  // A number out of range comes first, wherever it is.
  EXPECT_EQ(refusal_of([] { scatter({1, 1, 3}); }), "index array: got entry 2 is 3, wanted a number below 3");
  // Three of one: the second is named. Two pairs: the one that is complete first.
  EXPECT_THAT(refusal_of([] { scatter({2, 2, 2}); }), HasSubstr("entry 1 is 2, as is entry 0; 0 is missing"));
  EXPECT_THAT(refusal_of([] {
                scatter({0, 1, 2, 2, 1});
              }),
              HasSubstr("entry 3 is 2, as is entry 2; 3 is missing"));
  EXPECT_THAT(refusal_of([] {
                Indexed(Entries32{0, 0}, Direction::gather);
              }),
              HasSubstr("entry 1 is 0, as is entry 0; 1 is missing"));
  EXPECT_THAT(refusal_of([] { Indexed(Entries32{1}, Direction::gather); }), HasSubstr("below 1"));
  EXPECT_THAT(refusal_of([] { scatter({std::uint64_t{1} << 32, 0}); }), HasSubstr("entry 0 is 4294967296"));
}

// By many threads the same positions as one loop finds.
TEST(Indexed, OffendingPositionsOfLargeArrays) {
  std::mt19937_64 random(1);
  const std::uint64_t count = 200'003;
  Entries32 good(count);
  std::iota(good.begin(), good.end(), 0U);
  std::shuffle(good.begin(), good.end(), random);
  for (int trial = 0; trial < 40; ++trial) {
    Entries32 bad = good;
    const std::uint64_t faults = 1 + random() % 3;
    for (std::uint64_t k = 0; k < faults; ++k) bad[random() % count] = good[random() % count];
    if (trial % 4 == 0) bad[random() % count] = static_cast<std::uint32_t>(count + random() % 5);
    std::string expected = "accepted";
    std::vector<std::int64_t> place(count, -1);
    for (std::uint64_t i = 0; i < count && expected == "accepted"; ++i) {
      if (bad[i] >= count) expected = "entry " + std::to_string(i) + " is " + std::to_string(bad[i]) + ",";
    }
    for (std::uint64_t i = 0; i < count && expected == "accepted"; ++i) {
      if (place[bad[i]] >= 0) {
        std::vector<bool> present(count, false);
        for (const std::uint32_t value : bad) present[value] = true;
        const auto missing = std::find(present.begin(), present.end(), false) - present.begin();
        expected = "entry " + std::to_string(i) + " is " + std::to_string(bad[i]) + ", as is entry " +
                   std::to_string(place[bad[i]]) + "; " + std::to_string(missing) + " is missing";
      }
      place[bad[i]] = static_cast<std::int64_t>(i);
    }
    EXPECT_THAT(refusal_of([&] { Indexed(bad, Direction::scatter); }), HasSubstr(expected));
    EXPECT_THAT(refusal_of([&] { Indexed(Entries64(bad.begin(), bad.end()), Direction::scatter); }),
                HasSubstr(expected));
  }
}

TEST(Indexed, FromBytesOfEveryType) {
  const auto expect_read = [](const auto& words, bool is_signed) {
    const IndexType type{.bytes = sizeof(words[0]), .is_signed = is_signed};
    for (const std::size_t offset : {0U, 1U, 3U}) {  // unaligned, too
      const auto bytes = bytes_of(words, offset);
      const Indexed array = Indexed::from_bytes(std::span(bytes).subspan(offset), type, Direction::gather);
      EXPECT_EQ(array, gather({2, 0, 3, 1}));
      EXPECT_EQ(array.index_type().bytes, 4);
    }
  };
  expect_read(std::vector<std::uint32_t>{2, 0, 3, 1}, false);
  expect_read(std::vector<std::int32_t>{2, 0, 3, 1}, true);
  expect_read(std::vector<std::uint64_t>{2, 0, 3, 1}, false);
  expect_read(std::vector<std::int64_t>{2, 0, 3, 1}, true);
  EXPECT_EQ(Indexed::from_bytes({}, {.bytes = 8, .is_signed = true}, Direction::scatter).count(), 0U);
}

TEST(Indexed, FromBytesRefuses) {
  const IndexType u4{.bytes = 4, .is_signed = false};
  const IndexType i4{.bytes = 4, .is_signed = true};
  const IndexType u8{.bytes = 8, .is_signed = false};
  const IndexType i8{.bytes = 8, .is_signed = true};
  EXPECT_THAT(refused_bytes(bytes_of(std::vector<std::int32_t>{0, -3}), i4), HasSubstr("entry 1 is -3,"));
  EXPECT_THAT(refused_bytes(bytes_of(std::vector<std::int32_t>{0, -3}), u4),
              HasSubstr("entry 1 is 4294967293,"));
  EXPECT_THAT(refused_bytes(bytes_of(std::vector<std::int64_t>{-1, 0}), i8), HasSubstr("entry 0 is -1,"));
  EXPECT_THAT(refused_bytes(bytes_of(std::vector<std::int64_t>{-1, 0}), u8),
              HasSubstr("entry 0 is 18446744073709551615,"));
  // Not cut down to 32 bits before it is looked at.
  EXPECT_THAT(refused_bytes(bytes_of(std::vector<std::uint64_t>{1, std::uint64_t{1} << 32}), u8),
              HasSubstr("entry 1 is 4294967296,"));
  EXPECT_THAT(refused_bytes(bytes_of(std::vector<std::int32_t>{0, 1, 1}), i4),
              HasSubstr("entry 2 is 1, as is entry 1; 2 is missing"));
  EXPECT_THAT(refused_bytes(std::vector<std::byte>(10), u4),
              HasSubstr("10 bytes, wanted a whole number of entries of 4 bytes"));
  EXPECT_THAT(refused_bytes({}, {.bytes = 2, .is_signed = false}), HasSubstr("entries of 2 bytes"));
}

TEST(Indexed, InverseAndRedirection) {
  for (const std::uint64_t count : {0U, 1U, 2U, 7U, 64U, 1000U, 40'001U}) {
    const Indexed array = Indexed::random(count, count);
    const Indexed other = array.redirected(Direction::gather);
    EXPECT_EQ(other.direction(), Direction::gather);
    EXPECT_EQ(other, array);
    EXPECT_EQ(array.redirected(Direction::scatter).entries32().data(), array.entries32().data());
    EXPECT_EQ(array.inverse().direction(), Direction::gather);
    EXPECT_EQ(array.inverse().inverse(), array);
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(other.entry(array.entry(i)), i);
      ASSERT_EQ(apply(array.inverse(), array.entry(i)), i);
      if (count > 2000) i += 997;
    }
  }
}

TEST(Indexed, RandomIsAPermutationAndTheSameEverywhere) {
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 1000U, 65536U, 65537U, 300'000U}) {
    const Indexed array = Indexed::random(count, 5);
    EXPECT_EQ(array.count(), count);
    EXPECT_EQ(array.direction(), Direction::scatter);
    EXPECT_EQ(array.label(), "random(" + std::to_string(count) + ", 5)");
    const auto entries = array.entries32();
    EXPECT_EQ(Indexed(Entries32(entries.begin(), entries.end()), Direction::scatter), array);  // checked
  }
  // The grammar's texts mean the same for ever: by an independent program, from the page of
  // docs/guide/maps.md.
  EXPECT_THAT(targets(Indexed::random(8, 1)), ElementsAre(3, 6, 4, 1, 2, 0, 5, 7));
  const Indexed buckets = Indexed::random(100'000, 1);
  const std::pair<std::uint64_t, std::uint64_t> kEntries[] = {
      {0, 12352}, {1, 63005}, {2, 41520}, {3, 60970}, {50'000, 77498}, {99'997, 52748}, {99'999, 93331}};
  for (const auto& [i, entry] : kEntries) EXPECT_EQ(buckets.entry(i), entry) << i;
  EXPECT_EQ(Indexed::random(100'000, 1), Indexed::random(100'000, 1));
  EXPECT_FALSE(Indexed::random(100'000, 1) == Indexed::random(100'000, 2));
}

TEST(Indexed, RandomIsUniform) {
  // All 24 permutations of 4 elements, about as often; chi-squared with 23 degrees is below 60 but in 1 of
  // 10^4.
  std::vector<int> seen(256, 0);
  constexpr int kTrials = 12'000;
  for (int seed = 0; seed < kTrials; ++seed) {
    const auto entries = targets(Indexed::random(4, static_cast<std::uint64_t>(seed)));
    ++seen[entries[0] * 64 + entries[1] * 16 + entries[2] * 4 + entries[3]];
  }
  double chi_squared = 0;
  int different = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++different;
    chi_squared += (count - kTrials / 24.0) * (count - kTrials / 24.0) / (kTrials / 24.0);
  }
  EXPECT_EQ(different, 24);
  EXPECT_LT(chi_squared, 60);
  // With many buckets: where the elements of the first sixteenth go, sixteenth by sixteenth (15 degrees).
  const Indexed large = Indexed::random(std::uint64_t{1} << 20, 3);
  std::array<double, 16> parts{};
  for (std::uint64_t i = 0; i < 65536; ++i) parts[large.entry(i) >> 16] += 1;
  chi_squared = 0;
  for (const double count : parts) chi_squared += (count - 4096) * (count - 4096) / 4096;
  EXPECT_LT(chi_squared, 50);
  EXPECT_GT(chi_squared, 1);
}

TEST(Indexed, HugeOnesAreRefusedBeforeAnythingIsAllocated) {
  const std::uint64_t most = Indexed::kMaxCount;
  EXPECT_THAT(refusal_of([&] { Indexed::random(most, 1); }),
              HasSubstr("random(1099511627776, 1), which needs 8 TiB of memory"));
  EXPECT_THAT(refusal_of([&] { Indexed::random(most + 1, 1); }), HasSubstr("at most 2^40"));
  EXPECT_THAT(refusal_of([&] { Indexed::random(~std::uint64_t{0}, 1); }), HasSubstr("at most 2^40"));
  EXPECT_THAT(refusal_of([&] {
                compose(maps::roll(most - 1, 1), Axes({most / 512, 257}, {1, 0}));
              }),
              HasSubstr("permutations of 1099511627775 and"));
  EXPECT_THAT(refusal_of([&] {
                compose(maps::roll(most / 4 * 3, 1), Axes({3, most / 4}, {1, 0}));
              }),
              HasSubstr("compose: got 824633720832 entries, which needs"));
}

TEST(Indexed, ArraysOnADevice) {
  const auto owner = std::make_shared<int>(0);
  const Indexed there =
      Indexed::on_device(owner.get(), 100, {.bytes = 8, .is_signed = true}, Direction::gather, 3, owner);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_FALSE(there.on_host());
  EXPECT_EQ(there.device(), 3);
  EXPECT_EQ(there.count(), 100U);
  EXPECT_EQ(there.index_type().bytes, 8);
  EXPECT_TRUE(there.index_type().is_signed);
  EXPECT_EQ(there.device_entries(), owner.get());
  EXPECT_EQ(there.inverse().direction(), Direction::scatter);
  EXPECT_EQ(there.inverse().device_entries(), owner.get());
  EXPECT_EQ(to_text(there), "indices(of 100 elements)");
  EXPECT_EQ(there.labelled("there").label(), "there");
  EXPECT_EQ(there.redirected(Direction::gather).device_entries(), owner.get());
  EXPECT_FALSE(there.is_checked());
  const Indexed valid = Indexed::valid_on_device(owner.get(), 100, {.bytes = 8, .is_signed = true},
                                                 Direction::gather, 3, owner);
  EXPECT_TRUE(valid.is_checked());
  EXPECT_TRUE(valid.inverse().labelled("valid").is_checked());
  EXPECT_EQ(valid.device_entries(), owner.get());
  EXPECT_TRUE(Indexed::random(100, 1).is_checked());
  const auto expect_refused = [](const auto& action) {
    EXPECT_THAT(refusal_of(action), HasSubstr("the memory of device 3, wanted an array of the host"));
  };
  expect_refused([&] { static_cast<void>(there.entries32()); });
  expect_refused([&] { static_cast<void>(there.entries64()); });
  expect_refused([&] { static_cast<void>(there.redirected(Direction::scatter)); });
  expect_refused([&] { static_cast<void>(there == there); });
  expect_refused([&] { static_cast<void>(apply(there, 0)); });
  expect_refused([&] { compose(there, maps::roll(100, 1)); });
  expect_refused([&] { compose(maps::roll(100, 1), there); });
  EXPECT_THAT(refusal_of([] {
                Indexed::on_device(nullptr, 1, {.bytes = 2, .is_signed = false}, Direction::gather, 0,
                                   nullptr);
              }),
              HasSubstr("entries of 2 bytes"));
}

// --- composition and powers over all forms

std::vector<Permutation> forms_of_sixteen() {
  return {maps::identity(4),
          maps::gray(4),
          maps::random_bmmc(4, 2),
          maps::roll(16, 0),
          maps::roll(16, 3),
          maps::roll(16, 4),
          maps::flip(16),
          Cyclic{.count = 16, .shift = 4, .reversed = true},
          Axes({2, 8}, {1, 0}),
          Axes({4, 2, 2}, {2, 0, 1}),
          Axes({16}, {0}),
          Indexed::random(16, 1),
          Indexed::random(16, 2).redirected(Direction::gather),
          Indexed::random(16, 3).inverse()};
}

TEST(Compose, EveryPairOfForms) {
  for (const Permutation& a : forms_of_sixteen()) {
    for (const Permutation& b : forms_of_sixteen()) {
      const Permutation both = compose(a, b);
      SCOPED_TRACE(to_text(a) + " after " + to_text(b));
      for (std::uint64_t x = 0; x < 16; ++x) ASSERT_EQ(apply(both, x), apply(a, apply(b, x)));
      EXPECT_EQ(targets(inverse(both)), targets(compose(inverse(b), inverse(a))));
      const bool any_index = std::holds_alternative<Indexed>(a) || std::holds_alternative<Indexed>(b);
      if (any_index || (affine_form(a) && affine_form(b))) {
        EXPECT_EQ(std::holds_alternative<Indexed>(both), any_index);
      }
    }
  }
}

TEST(Compose, PowersOfEveryForm) {
  for (const Permutation& map : forms_of_sixteen()) {
    SCOPED_TRACE(to_text(map));
    for (const std::int64_t k : {-5, -2, -1, 0, 1, 2, 3, 12}) {
      const auto step = targets(k < 0 ? inverse(map) : map);
      std::vector<std::uint64_t> expected(16);
      std::iota(expected.begin(), expected.end(), std::uint64_t{0});
      for (std::int64_t times = 0; times < std::abs(k); ++times) {
        for (std::uint64_t& x : expected) x = step[x];
      }
      EXPECT_EQ(targets(power(map, k)), expected) << k;
    }
  }
  EXPECT_EQ(power(maps::roll(10, 3), INT64_MIN), Permutation(maps::roll(10, 6)));  // 3 x -2^63 is -24 mod 10
  EXPECT_EQ(power(maps::roll(0, 0), 5), Permutation(maps::roll(0, 0)));
}

// pi^k is pi^(k mod the order of pi), and pi^j after pi^k is pi^(j+k): of exponents that no loop could run.
TEST(Compose, PowersByAnyExponent) {
  constexpr std::int64_t kLargest = INT64_MAX;
  constexpr std::int64_t kSmallest = INT64_MIN;
  for (const std::uint64_t count : {1U, 2U, 5U, 60U, 1000U}) {
    std::vector<Permutation> maps{Indexed::random(count, count), Indexed::random(count, 7).inverse(),
                                  maps::transpose_any(count, 7)};
    for (const Permutation& map : maps) {
      SCOPED_TRACE(to_text(map));
      for (const std::int64_t k : {std::int64_t{2}, std::int64_t{1000003}, kLargest / 2, -kLargest / 3}) {
        EXPECT_EQ(targets(compose(power(map, k), power(map, k + 1))), targets(power(map, 2 * k + 1))) << k;
        EXPECT_EQ(targets(power(map, -k)), targets(inverse(power(map, k)))) << k;
      }
      EXPECT_EQ(targets(compose(power(map, kLargest), map)), targets(inverse(power(map, kSmallest))));
      // By squaring: 2^62.
      Permutation squared = map;
      for (int i = 0; i < 62; ++i) squared = compose(squared, squared);
      EXPECT_EQ(targets(power(map, std::int64_t{1} << 62)), targets(squared));
    }
  }
}

// However large the exponent is, one walk over the array.
TEST(Compose, PowersTakeTheTimeOfOneWalk) {
  const Permutation map = Indexed::random(std::uint64_t{1} << 20, 1);
  const auto took_ms = [&](std::int64_t k) {
    return testing::least_processor_ms(
        3, [&] { static_cast<void>(power(map, k)); }, testing::TimeOf::program);
  };
  EXPECT_LT(took_ms(INT64_MAX), 8 * took_ms(2));
}

TEST(Compose, OddSizes) {
  const Permutation a = maps::transpose_any(5, 7);
  const Permutation b = maps::roll(35, -4);
  const Permutation both = compose(a, b);
  for (std::uint64_t x = 0; x < 35; ++x) EXPECT_EQ(apply(both, x), apply(a, apply(b, x)));
  EXPECT_EQ(compose(a, inverse(a)), Permutation(maps::roll(35, 0)));
  EXPECT_EQ(compose(maps::flip(7), maps::flip(7)), Permutation(maps::roll(7, 0)));
  EXPECT_THAT(refusal_of([] { compose(maps::flip(7), maps::flip(8)); }), HasSubstr("of 7 and 8 elements"));
  EXPECT_THAT(refusal_of([] { compose(maps::gray(3), maps::flip(7)); }), HasSubstr("of 8 and 7 elements"));
}

TEST(Compose, LabelsSayWhereALargeArrayCameFrom) {
  const Permutation map = Indexed::random(1000, 1);
  EXPECT_EQ(to_text(compose(map, maps::flip(1000))), "compose(random(1000, 1), flip(1000))");
  EXPECT_EQ(to_text(inverse(map)), "inverse(random(1000, 1))");
  EXPECT_EQ(to_text(inverse(inverse(map))), "random(1000, 1)");
  EXPECT_EQ(to_text(power(map, -3)), "power(random(1000, 1), -3)");
  EXPECT_EQ(to_text(scatter([] {
              Entries64 entries(65);
              std::iota(entries.rbegin(), entries.rend(), std::uint64_t{0});
              return entries;
            }())),
            "indices(of 65 elements)");
  EXPECT_EQ(to_text(gather({2, 0, 1})), "indices(1 2 0)");
}

}  // namespace permutation_indexed_test
}  // namespace faro
