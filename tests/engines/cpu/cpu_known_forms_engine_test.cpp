// The CPU engine on the forms that index arrays are known by: flipped and rolled axes, multiplications,
// blocks that are alike, maps with exceptions, given as such or found. Byte for byte against the definition,
// between guard zones; and schedules of blocks, kept in files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "drawn.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/affine.hpp"
#include "permutation_support.hpp"
#include "refusal.hpp"

namespace faro {
namespace cpu_known_forms_engine_test {

using Bytes = std::vector<std::byte>;

using test::random_bytes;

// out[target(x)] = in[x] of `count` elements, by a loop.
template <typename Target>
Bytes permuted(const Bytes& in, std::uint64_t count, std::uint64_t width, std::uint64_t batch,
               const Target& target) {
  Bytes out(in.size());
  for (std::uint64_t b = 0; b < batch; ++b) {
    for (std::uint64_t x = 0; x < count; ++x)
      std::memcpy(out.data() + (b * count + target(x)) * width, in.data() + (b * count + x) * width, width);
  }
  return out;
}

void expect_run(const ExecutablePlan& plan, const Bytes& in, const Bytes& expected, const std::string& what) {
  constexpr std::size_t kGuard = 64;
  Bytes out(in.size() + 2 * kGuard, std::byte{0xa5});
  plan.run(in.data(), out.data() + kGuard, in.size());
  ASSERT_EQ(std::memcmp(out.data() + kGuard, expected.data(), expected.size()), 0) << what;
  for (std::size_t i = 0; i < kGuard; ++i) {
    ASSERT_EQ(out[i], std::byte{0xa5}) << what;
    ASSERT_EQ(out[out.size() - 1 - i], std::byte{0xa5}) << what;
  }
}

constexpr std::uint64_t kWidths[] = {1, 2, 3, 4, 8, 12, 16, 100};

TEST(CpuKnownForms, FlippedAndRolledAxesAndMultiplications) {
  const char* const kTexts[] = {"axes(30 41; 1 0; 0 0; 1)",
                                "axes(30 41; 0 1; 15 20)",
                                "axes(7 30 11; 2 0 1; 3 4 5; 0 2)",
                                "axes(64 64; 0 1; 32 5)",
                                "axes(3 300 2; 1 2 0; 0 7 0; 1)",
                                "multiply(1009, 100)",
                                "affine_mod(4096, 1237, 77)",
                                "multiply(3000, 7)",
                                "compose(multiply(4096, 5), roll(4096, 9))"};
  for (const char* const text : kTexts) {
    const Permutation map = parse_permutation(text);
    EXPECT_FALSE(std::holds_alternative<Indexed>(map)) << text;
    const std::uint64_t count = element_count(map);
    for (const std::uint64_t width : kWidths) {
      for (const std::uint64_t batch : {1U, 3U}) {
        const Bytes in = random_bytes(count * width * batch, width + batch);
        const Bytes expected =
            permuted(in, count, width, batch, [&](std::uint64_t x) { return apply(map, x); });
        const auto what =
            std::string(text) + ", " + std::to_string(width) + " bytes, batch " + std::to_string(batch);
        const Problem problem{.permutation = map, .element_bytes = width, .batch = batch};
        const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu, .threads = 2});
        ASSERT_NE(plan.plan().way(), nullptr) << what;
        EXPECT_EQ(plan.plan().way()->schedule_bytes, 0U) << what;
        expect_run(plan, in, expected, what);
        if (width != 4) continue;
        for (const Direction direction : {Direction::scatter, Direction::gather}) {
          Problem as_array = problem;
          as_array.permutation = faro::as_array(map, direction);
          const ExecutablePlan found = faro::plan(as_array, {.engine = Engine::cpu, .threads = 2});
          EXPECT_EQ(found.plan().way()->schedule_bytes, 0U) << what << found.explain();
          expect_run(found, in, expected, what + ", found in an array");
        }
      }
    }
  }
}

std::vector<std::uint64_t> shuffled(std::uint64_t size, std::uint64_t seed) {
  std::vector<std::uint64_t> entries(size);
  std::iota(entries.begin(), entries.end(), std::uint64_t{0});
  std::mt19937_64 random(seed);
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

std::vector<std::uint64_t> blocks_of(const std::vector<std::uint64_t>& small, std::uint64_t repeats,
                                     std::uint64_t together) {
  std::vector<std::uint64_t> entries;
  for (std::uint64_t b = 0; b < repeats; ++b) {
    for (const std::uint64_t p : small) {
      for (std::uint64_t j = 0; j < together; ++j) entries.push_back((b * small.size() + p) * together + j);
    }
  }
  return entries;
}

struct BlockCase {
  std::uint64_t size;
  std::uint64_t repeats;
  std::uint64_t together;
};

TEST(CpuKnownForms, BlocksThatAreAlike) {
  for (const BlockCase& of : {BlockCase{5000, 6, 1}, BlockCase{1000, 1, 3}, BlockCase{400, 60, 2},
                              BlockCase{7, 1000, 1}, BlockCase{5000, 2, 5}}) {
    const std::vector<std::uint64_t> entries = blocks_of(shuffled(of.size, of.size), of.repeats, of.together);
    for (const Direction direction : {Direction::scatter, Direction::gather}) {
      const Indexed array(entries, direction);
      for (const std::uint64_t width : {1U, 4U, 12U, 1000U}) {
        if (width * entries.size() > 20'000'000) continue;
        const std::uint64_t batch = width == 4 ? 2 : 1;
        const Bytes in = random_bytes(entries.size() * width * batch, width);
        Bytes expected(in.size());
        for (std::uint64_t b = 0; b < batch; ++b) {
          for (std::uint64_t i = 0; i < entries.size(); ++i) {
            const std::uint64_t from =
                b * entries.size() + (direction == Direction::scatter ? i : entries[i]);
            const std::uint64_t to = b * entries.size() + (direction == Direction::scatter ? entries[i] : i);
            std::memcpy(expected.data() + to * width, in.data() + from * width, width);
          }
        }
        const Problem problem{.permutation = array, .element_bytes = width, .batch = batch};
        const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu, .threads = 2});
        const auto what = std::to_string(of.repeats) + " blocks of " + std::to_string(of.size) + " x " +
                          std::to_string(of.together) + ", " + std::to_string(width) + " bytes\n" +
                          plan.explain();
        EXPECT_EQ(plan.plan().given().element_bytes, width);
        expect_run(plan, in, expected, what);
        const auto schedule = plan.schedule();
        const Blocks blocks = plan.plan().blocks();
        if (schedule == nullptr || blocks == Blocks{}) continue;
        // Kept in a file, as small as a block's, and planned with again.
        EXPECT_EQ(schedule->count * blocks.repeats * blocks.together, entries.size());
        const auto path = std::filesystem::temp_directory_path() /
                          ("faro-blocks-" + std::to_string(of.size) + "-" + std::to_string(width) + ".plan");
        plan.save(path);
        EXPECT_LT(std::filesystem::file_size(path), 200 + 20 * schedule->count);
        const auto loaded = std::make_shared<const schedule::IndexSchedule>(schedule::load(path));
        EXPECT_EQ(loaded->blocks, blocks);
        const ExecutablePlan again =
            faro::plan(problem, {.engine = Engine::cpu, .threads = 2, .index_schedule = loaded});
        expect_run(again, in, expected, what + ", from a file");
        // Another array has other blocks, or none.
        std::vector<std::uint64_t> others = entries;
        std::swap(others[1], others.back());
        EXPECT_NE(test::code_of([&] {
                    static_cast<void>(
                        faro::plan({.permutation = Indexed(others, direction), .element_bytes = width},
                                   {.engine = Engine::cpu, .index_schedule = loaded}));
                  }),
                  ErrorCode{});
        std::filesystem::remove(path);
      }
    }
  }
}

TEST(CpuKnownForms, BlocksOfAKnownMap) {
  // Bit reversal of 2^10 triples, 5 times: no power of two in all, and affine within a block.
  std::vector<std::uint64_t> small(1024);
  for (std::uint64_t x = 0; x < small.size(); ++x) small[x] = maps::bit_reversal(10)(x);
  const std::vector<std::uint64_t> entries = blocks_of(small, 5, 3);
  const Bytes in = random_bytes(entries.size() * 8, 1);
  const Bytes expected = permuted(in, entries.size(), 8, 1, [&](std::uint64_t x) { return entries[x]; });
  const ExecutablePlan plan =
      faro::plan({.permutation = Indexed(entries, Direction::scatter), .element_bytes = 8},
                 {.engine = Engine::cpu, .threads = 1});
  EXPECT_EQ(plan.schedule(), nullptr) << plan.explain();
  expect_run(plan, in, expected, plan.explain());
}

TEST(CpuKnownForms, MapsWithExceptions) {
  for (const char* const text :
       {"bit_reversal(14)", "multiply(10007, 31)", "gray(13)", "affine_mod(65536, 1237, 5)"}) {
    const Permutation map = parse_permutation(text);
    const std::uint64_t count = element_count(map);
    for (const Direction direction : {Direction::scatter, Direction::gather}) {
      const Indexed right = as_array(map, direction);
      std::vector<std::uint64_t> entries;
      for (std::uint64_t i = 0; i < count; ++i) entries.push_back(right.entry(i));
      std::swap(entries[0], entries[count / 2]);
      std::swap(entries[7], entries[count - 1]);
      std::swap(entries[0], entries[99]);
      for (const std::uint64_t width : kWidths) {
        const std::uint64_t batch = width % 3 + 1;
        const Bytes in = random_bytes(count * width * batch, width);
        Bytes expected(in.size());
        for (std::uint64_t b = 0; b < batch; ++b) {
          for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t from = b * count + (direction == Direction::scatter ? i : entries[i]);
            const std::uint64_t to = b * count + (direction == Direction::scatter ? entries[i] : i);
            std::memcpy(expected.data() + to * width, in.data() + from * width, width);
          }
        }
        const ExecutablePlan plan =
            faro::plan({.permutation = Indexed(entries, direction), .element_bytes = width, .batch = batch},
                       {.engine = Engine::cpu, .threads = 2});
        expect_run(plan, in, expected, std::string(text) + "\n" + plan.explain());
        if (width != 4) continue;
        // In place there is nothing to patch from.
        EXPECT_EQ(test::code_of([&] {
                    static_cast<void>(faro::plan({.permutation = Indexed(entries, direction),
                                                  .element_bytes = width,
                                                  .placement = Placement::in_place},
                                                 {.engine = Engine::cpu}));
                  }),
                  ErrorCode::unsupported);
        EXPECT_EQ(plan.plan().exceptions().size(), 5U) << plan.explain();
        EXPECT_EQ(plan.plan().passes().back().kind, PassKind::patch);
        EXPECT_NE(plan.explain().find("patch"), std::string::npos);
        EXPECT_NE(plan.plan().explain_json().find("patch"), std::string::npos);
      }
    }
  }
}

// An affine map and then an index array are one index array, and one plan.
TEST(CpuKnownForms, AMapThenAnIndexArray) {
  const std::uint64_t count = 1 << 14;
  const Indexed array(shuffled(count, 3), Direction::scatter);
  for (const Permutation& map : {Permutation(maps::bit_reversal(14)), Permutation(maps::multiply(1 << 14, 5)),
                                 Permutation(maps::roll(1 << 14, 77)), Permutation(array)}) {
    const Permutation both = compose(Permutation(array), map);
    const Bytes in = random_bytes(count * 4, 9);
    const Bytes expected =
        permuted(in, count, 4, 1, [&](std::uint64_t x) { return array.entry(apply(map, x)); });
    const ExecutablePlan plan =
        faro::plan({.permutation = both, .element_bytes = 4}, {.engine = Engine::cpu});
    expect_run(plan, in, expected, to_text(map));
  }
}

}  // namespace cpu_known_forms_engine_test
}  // namespace faro
