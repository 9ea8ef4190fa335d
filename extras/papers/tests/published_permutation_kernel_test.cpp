// The kernels of kernels/shared_permutation.hpp on the counting memory: the published one, its turns counted,
// and the one for many arrays.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "faro/device/conflict_free.hpp"
#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/shared_permutation.hpp"
#include "kernels/shared_permutation_params.hpp"
#include "refusal.hpp"
#include "shared_schedule_support.hpp"

namespace faro::kernels {
namespace published_permutation_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;
using schedule::PackedSchedule;
using testing::Bytes;
using testing::bytes_of;
using testing::List;
using testing::named_lists;
using testing::permuted;
using testing::random_bytes;
using testing::random_list;

// --- the published kernel

template <PermuteWay way, std::uint32_t n, std::uint32_t threads>
struct Published {
  static constexpr PermuteShape kShape = permute_shape(way, n, threads);

  static AccessCounts run(const List& permutation, std::uint32_t repeats, Bytes& out) {
    const Bytes in = random_bytes(std::size_t{2} * n * 4, 3);
    const std::vector<std::uint32_t> lists = permutation_lists(permutation, way);
    EXPECT_EQ(lists.size(), kShape.list_words);
    out.assign(in.size(), std::byte{0});
    CountingMemory memory({.shared_bytes = kShape.shared_bytes()});
    memory.add_input(in);
    memory.add_output(out);
    memory.add_input(bytes_of(lists));
    memory.run(
        {.blocks = 2, .threads = threads},
        [](auto& m, std::uint64_t block, std::uint32_t thread) {
          fill_permutation<kShape>(m, block, thread);
        },
        [&](auto& m, std::uint64_t /*block*/, std::uint32_t thread) {
          repeat_permute<way, kShape>(m, repeats, thread, [] {});
        },
        [](auto& m, std::uint64_t block, std::uint32_t thread) {
          drain_permutation<kShape>(m, block, thread);
        });
    EXPECT_TRUE(memory.output_complete());
    const List expected = way == PermuteWay::copy ? testing::identity_list(n) : permutation;
    EXPECT_TRUE(out == permuted(in, expected, 4));
    return memory.counts();
  }

  // Turns of one permute by one block: loads of the lists among the loads.
  static std::array<std::uint64_t, 4> turns(const List& permutation) {
    Bytes out;
    const AccessCounts one = run(permutation, 1, out);
    const AccessCounts two = run(permutation, 2, out);
    return {(two.shared_loads.requests - one.shared_loads.requests) / 2,
            (two.shared_loads.wavefronts - one.shared_loads.wavefronts) / 2,
            (two.shared_stores.requests - one.shared_stores.requests) / 2,
            (two.shared_stores.wavefronts - one.shared_stores.wavefronts) / 2};
  }
};

// n = 1024, 32 warps: load requests and turns, store requests and turns.
TEST(PublishedKernel, TurnsOfEveryWay) {
  using ::testing::ElementsAre;
  const List transpose = testing::transpose_list(1024, 32);
  const List shuffle = testing::shuffle_list(1024);
  EXPECT_THAT((Published<PermuteWay::copy, 1024, 1024>::turns(transpose)), ElementsAre(32, 32, 32, 32));
  EXPECT_THAT((Published<PermuteWay::d_designated, 1024, 1024>::turns(transpose)),
              ElementsAre(64, 64, 32, 32 * 32));
  EXPECT_THAT((Published<PermuteWay::s_designated, 1024, 1024>::turns(transpose)),
              ElementsAre(64, 32 + 32 * 32, 32, 32));
  EXPECT_THAT((Published<PermuteWay::d_designated, 1024, 1024>::turns(shuffle)), ElementsAre(64, 64, 32, 64));
  EXPECT_THAT((Published<PermuteWay::s_designated, 1024, 1024>::turns(shuffle)), ElementsAre(64, 96, 32, 32));
  for (const auto& [name, list] : named_lists(1024, 32)) {
    SCOPED_TRACE(name);
    EXPECT_THAT((Published<PermuteWay::conflict_free, 1024, 1024>::turns(list)), ElementsAre(96, 96, 32, 32));
    EXPECT_THAT((Published<PermuteWay::packed, 1024, 1024>::turns(list)), ElementsAre(96, 96, 32, 32));
    EXPECT_THAT((Published<PermuteWay::held, 1024, 1024>::turns(list)), ElementsAre(32, 32, 32, 32));
  }
}

// More than a slot a thread, and threads that have none in the last round.
TEST(PublishedKernel, OtherShapes) {
  Bytes out;
  const List list = random_list(960, 1);
  Published<PermuteWay::copy, 960, 256>::run(list, 1, out);
  Published<PermuteWay::d_designated, 960, 256>::run(list, 1, out);
  Published<PermuteWay::s_designated, 960, 256>::run(list, 1, out);
  Published<PermuteWay::conflict_free, 960, 256>::run(list, 1, out);
  Published<PermuteWay::packed, 960, 256>::run(list, 1, out);
  Published<PermuteWay::held, 960, 256>::run(list, 1, out);
}

TEST(PublishedKernel, RefusesWhatItsListsCannotSay) {
  const auto refusal = [](const List& list, PermuteWay way) {
    const Error error = test::refusal([&] { permutation_lists(list, way); });
    EXPECT_EQ(error.code(), ErrorCode::value);
    return std::string(error.what());
  };
  EXPECT_THAT(refusal({0, 0}, PermuteWay::copy), ::testing::HasSubstr("0 at place 1"));
  EXPECT_THAT(refusal(random_list(33, 1), PermuteWay::conflict_free), ::testing::HasSubstr("multiple of 32"));
  EXPECT_THAT(refusal(random_list(2048, 1), PermuteWay::packed), ::testing::HasSubstr("16 bits or more"));
}

// --- many arrays

template <int element_bytes, int index_bits>
void expect_teams(const List& permutation, std::uint64_t arrays, std::uint64_t blocks,
                  std::uint32_t most_threads, bool wide) {
  SCOPED_TRACE("n " + std::to_string(permutation.size()) + ", " + std::to_string(element_bytes) + " bytes, " +
               std::to_string(arrays) + " arrays");
  const PackedSchedule packed =
      schedule::pack(schedule::shared_schedule(permutation, element_bytes), index_bits);
  auto params = make_team_params(packed, element_bytes, 232'448, most_threads);
  ASSERT_TRUE(params.has_value());
  params->arrays = arrays;
  params->wide = wide;
  const Bytes in = random_bytes(permutation.size() * element_bytes * arrays, arrays);
  Bytes out(in.size());
  CountingMemory memory({.shared_bytes = team_shared_bytes(*params)});
  memory.add_input(in);
  memory.add_output(out);
  memory.add_input(bytes_of(packed.words));
  const std::uint64_t step = blocks * params->teams;
  const std::uint64_t rounds = (arrays + step - 1) / step;
  // As the kernel: fill and lists, permute, drain together with the next fill.
  memory.run_each(
      {.blocks = blocks, .threads = params->teams * params->team_threads}, 2 * rounds + 1,
      [&](CountingMemory& m, std::uint64_t phase, std::uint64_t block, std::uint32_t thread) {
        const std::uint64_t first = block * params->teams + phase / 2 * step;
        if (phase == 0) {
          copy_lists(m, 0, params->list_words,
                     {.thread = thread, .threads = params->teams * params->team_threads});
        }
        if (phase % 2 == 1) {
          return permute_teams<TeamPhase::permute, element_bytes, index_bits>(m, *params, first, thread);
        }
        if (phase > 0) {
          permute_teams<TeamPhase::drain, element_bytes, index_bits>(m, *params, first - step, thread);
        }
        permute_teams<TeamPhase::fill, element_bytes, index_bits>(m, *params, first, thread);
      });
  EXPECT_TRUE(memory.output_complete());
  EXPECT_TRUE(out == permuted(in, permutation, element_bytes));
  EXPECT_EQ(memory.counts().shared_loads.max_congestion(), 1);
  EXPECT_EQ(memory.counts().shared_stores.max_congestion(), 1);
}

TEST(PermuteTeams, ManyArrays) {
  expect_teams<4, 10>(random_list(1000, 1), 21, 2, 1024, false);  // eight warps, an array each
  expect_teams<4, 10>(random_list(1024, 1), 16, 1, 1024, true);
  expect_teams<1, 8>(random_list(37, 1), 9, 1, 1024, false);
  expect_teams<2, 8>(random_list(37, 1), 5, 3, 64, false);
  expect_teams<8, 16>(random_list(3000, 1), 3, 2, 1024, false);  // 256 threads an array
  expect_teams<12, 10>(random_list(500, 1), 4, 2, 1024, false);
  expect_teams<16, 8>(random_list(200, 1), 10, 1, 1024, true);
  expect_teams<4, 16>(random_list(10'000, 1), 2, 1, 1024, true);  // a whole block
  expect_teams<4, 10>(random_list(1, 1), 17, 1, 1024, false);
}

TEST(PermuteTeams, WhatFits) {
  const auto teams = [](std::uint32_t n, int bytes, std::uint64_t shared) {
    const auto params = make_team_params(
        schedule::pack(schedule::shared_schedule(testing::identity_list(n), bytes)), bytes, shared);
    if (!params) return std::string("none");
    EXPECT_LE(team_shared_bytes(*params), shared);
    return std::to_string(params->teams) + " x " + std::to_string(params->team_threads);
  };
  EXPECT_EQ(teams(1024, 4, 232'448), "8 x 32");
  EXPECT_EQ(teams(1024, 4, 49'152), "5 x 32");  // lists of 2736 bytes and five times 8 KiB
  EXPECT_EQ(teams(1024, 4, 10'928), "1 x 32");
  EXPECT_EQ(teams(1024, 4, 10'927), "none");
  EXPECT_EQ(teams(8192, 4, 232'448), "1 x 256");
  EXPECT_EQ(teams(19'200, 4, 232'448), "1 x 1024");
  EXPECT_EQ(teams(19'400, 4, 232'448), "none");
}

}  // namespace published_permutation_kernel_test
}  // namespace faro::kernels
