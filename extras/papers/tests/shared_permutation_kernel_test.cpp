// The device functions of device/conflict_free.hpp and the kernels made of them, on the counting memory:
// right results, congestion 1 for every width, length and index width, nothing out of bounds, no race.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "faro/device/conflict_free.hpp"
#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/shared_permutation.hpp"
#include "kernels/shared_permutation_params.hpp"
#include "shared_schedule_support.hpp"

namespace faro::kernels {
namespace shared_permutation_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;
using machine::MemoryGeometry;
using schedule::PackedSchedule;
using schedule::SharedSchedule;
using testing::adversarial_list;
using testing::Bytes;
using testing::bytes_of;
using testing::List;
using testing::named_lists;
using testing::permuted;
using testing::random_bytes;
using testing::random_list;

// --- a kernel that someone might write: arrays in, permuted in shared memory, and out again

enum class Lists { shared, global, held };

struct Sizes {
  std::uint32_t threads = 64;
  std::uint32_t arrays = 1;
  MemoryGeometry geometry = {};
};

struct Outcome {
  Bytes out;
  AccessCounts counts;  // of one permute_shared by the whole block
};

// Copies bytes by the block: every thread what is its own.
template <int access, typename Move>
void each_unit(CountingMemory& memory, std::uint32_t bytes, std::uint32_t thread, std::uint32_t threads,
               const Move& move) {
  for (std::uint32_t first = 0; first < bytes; first += threads * access) {
    if (first + thread * access < bytes) {
      move(first + thread * access);
    } else {
      memory.idle();
      memory.idle();
    }
  }
}

template <int element_bytes, int index_bits, Lists lists>
class Block {
 public:
  Block(const List& permutation, const Sizes& sizes) : permutation_(permutation), sizes_(sizes) {
    const SharedSchedule made = schedule::shared_schedule(permutation, element_bytes, sizes.geometry);
    packed_ = schedule::pack(made, index_bits);
    const auto n = static_cast<std::uint32_t>(permutation.size());
    const std::uint32_t tile = (n * element_bytes + 15) / 16 * 16;
    lists_at_ = 2 * sizes.arrays * tile;
    arrays_ = {.in = 0, .out = sizes.arrays * tile, .stride = tile, .arrays = sizes.arrays};
  }

  Outcome run() const {
    const AccessCounts once = counted(1).counts;
    Outcome twice = counted(2);
    // What the second permute added: the counts are linear in the phases.
    AccessCounts one = twice.counts;
    const auto subtract = [](machine::SharedCounts& from, const machine::SharedCounts& other) {
      from.requests -= other.requests;
      from.bytes -= other.bytes;
      from.phases -= other.phases;
      from.wavefronts -= other.wavefronts;
      for (std::size_t c = 0; c < other.phases_by_congestion.size(); ++c) {
        from.phases_by_congestion[c] -= other.phases_by_congestion[c];
      }
    };
    subtract(one.shared_loads, once.shared_loads);
    subtract(one.shared_stores, once.shared_stores);
    twice.counts = one;
    return twice;
  }

  Bytes input() const {
    return random_bytes(permutation_.size() * element_bytes * sizes_.arrays, permutation_.size());
  }

 private:
  Outcome counted(int repeats) const {
    constexpr int access = device::shared_access_bytes(element_bytes);
    const Bytes in = input();
    const auto n_bytes = static_cast<std::uint32_t>(permutation_.size() * element_bytes);
    const std::uint32_t threads = sizes_.threads;
    Outcome outcome{.out = Bytes(in.size()), .counts = {}};
    CountingMemory memory({.shared_bytes = lists_at_ + packed_.bytes(), .geometry = sizes_.geometry});
    memory.add_input(in);
    memory.add_output(outcome.out);
    memory.add_input(bytes_of(packed_.words));
    const std::uint64_t last = 1 + static_cast<std::uint64_t>(repeats);
    memory.run_each(
        {.blocks = 1, .threads = threads}, last + 1,
        [&](CountingMemory& m, std::uint64_t phase, std::uint64_t /*block*/, std::uint32_t thread) {
          if (phase == 0) {
            for (std::uint32_t k = 0; k < sizes_.arrays; ++k) {
              each_unit<access>(m, n_bytes, thread, threads, [&](std::uint32_t at) {
                m.template store_shared<access>(
                    arrays_.in + k * arrays_.stride + at,
                    m.template load_global<access>(device::kInput, k * n_bytes + at));
              });
            }
            each_unit<4>(
                m, static_cast<std::uint32_t>(packed_.bytes()), thread, threads,
                [&](std::uint32_t at) { m.store_shared<4>(lists_at_ + at, m.load_global<4>(kLists, at)); });
          } else if (phase == last) {
            for (std::uint32_t k = 0; k < sizes_.arrays; ++k) {
              each_unit<access>(m, n_bytes, thread, threads, [&](std::uint32_t at) {
                m.template store_global<access>(
                    device::kOutput, k * n_bytes + at,
                    m.template load_shared<access>(arrays_.out + k * arrays_.stride + at));
              });
            }
          } else {
            permute(m, thread);
          }
        });
    EXPECT_TRUE(memory.output_complete());
    outcome.counts = memory.counts();
    return outcome;
  }

  void permute(CountingMemory& memory, std::uint32_t thread) const {
    const device::Team team{.thread = thread, .threads = sizes_.threads};
    if constexpr (lists == Lists::shared) {
      device::permute_shared<element_bytes, index_bits>(memory, packed_.at(lists_at_), arrays_, team);
    } else if constexpr (lists == Lists::global) {
      device::permute_shared<element_bytes, index_bits, kLists>(memory, packed_.at(0), arrays_, team);
    } else {
      const auto held = device::hold_moves<40, index_bits, kLists>(memory, packed_.at(0), team);
      device::permute_held<element_bytes>(memory, held, packed_.count, arrays_);
    }
  }

  List permutation_;
  Sizes sizes_;
  PackedSchedule packed_;
  std::uint32_t lists_at_ = 0;
  device::SharedArrays arrays_;
};

template <int element_bytes, int index_bits, Lists lists>
void expect_free_of_conflicts(const List& permutation, const Sizes& sizes, const std::string& what) {
  SCOPED_TRACE(what + ": n " + std::to_string(permutation.size()) + ", " + std::to_string(element_bytes) +
               " bytes, " + std::to_string(index_bits) + " bits, " + std::to_string(sizes.threads) +
               " threads, " + std::to_string(sizes.geometry.banks) + " banks, lists " +
               std::to_string(static_cast<int>(lists)));
  const Block<element_bytes, index_bits, lists> block(permutation, sizes);
  const Outcome outcome = block.run();
  EXPECT_TRUE(outcome.out == permuted(block.input(), permutation, element_bytes));
  EXPECT_EQ(outcome.counts.shared_loads.wavefronts, outcome.counts.shared_loads.phases);
  EXPECT_EQ(outcome.counts.shared_stores.wavefronts, outcome.counts.shared_stores.phases);
  const std::uint64_t moved = permutation.size() * element_bytes * sizes.arrays;
  EXPECT_EQ(outcome.counts.shared_stores.bytes, moved);
  if (lists != Lists::shared) {
    EXPECT_EQ(outcome.counts.shared_loads.bytes, moved);
  }
}

template <int element_bytes>
void expect_every_way(const List& list, const Sizes& sizes, const std::string& what) {
  if (list.size() <= 255) {
    expect_free_of_conflicts<element_bytes, 8, Lists::shared>(list, sizes, what);
    expect_free_of_conflicts<element_bytes, 8, Lists::global>(list, sizes, what);
  }
  if (list.size() <= 1023) {
    expect_free_of_conflicts<element_bytes, 10, Lists::shared>(list, sizes, what);
    expect_free_of_conflicts<element_bytes, 10, Lists::held>(list, sizes, what);
  }
  expect_free_of_conflicts<element_bytes, 16, Lists::shared>(list, sizes, what);
  expect_free_of_conflicts<element_bytes, 32, Lists::shared>(list, sizes, what);
  expect_free_of_conflicts<element_bytes, 16, Lists::global>(list, sizes, what);
  expect_free_of_conflicts<element_bytes, 16, Lists::held>(list, sizes, what);
}

template <int element_bytes>
void expect_every_length() {
  const std::uint32_t classes = schedule::bank_rule(element_bytes).classes;
  for (const std::uint32_t n : {1U, 2U, 5U, 31U, 32U, 33U, 100U, 127U, 128U, 255U, 333U, 1000U}) {
    expect_every_way<element_bytes>(random_list(n, n), {}, "random");
    expect_every_way<element_bytes>(adversarial_list(n, classes), {.threads = 96}, "adversarial");
  }
  for (const auto& [name, list] : named_lists(512, classes)) {
    expect_every_way<element_bytes>(list, {.threads = 128}, name);
  }
  expect_every_way<element_bytes>(random_list(77, 1), {.threads = 32, .arrays = 3}, "three arrays");
  expect_every_way<element_bytes>(random_list(77, 1), {.threads = 8}, "a quarter of a warp");
}

TEST(PermuteShared, Bytes1) { expect_every_length<1>(); }
TEST(PermuteShared, Bytes2) { expect_every_length<2>(); }
TEST(PermuteShared, Bytes4) { expect_every_length<4>(); }
TEST(PermuteShared, Bytes8) { expect_every_length<8>(); }
TEST(PermuteShared, Bytes12) { expect_every_length<12>(); }
TEST(PermuteShared, Bytes16) { expect_every_length<16>(); }

// Every index of 8 and 10 bits is an element: none is left to say idle, and none is needed.
TEST(PermuteShared, FullIndexWidths) {
  for (const auto& [name, list] : named_lists(256, 32)) {
    expect_free_of_conflicts<4, 8, Lists::shared>(list, {.threads = 256}, name);
    expect_free_of_conflicts<1, 8, Lists::shared>(list, {.threads = 256}, name);
    expect_free_of_conflicts<16, 8, Lists::held>(list, {.threads = 32}, name);
  }
  for (const auto& [name, list] : named_lists(1024, 32)) {
    expect_free_of_conflicts<4, 10, Lists::shared>(list, {.threads = 1024}, name);
    expect_free_of_conflicts<8, 10, Lists::global>(list, {.threads = 256}, name);
    expect_free_of_conflicts<2, 10, Lists::held>(list, {.threads = 32}, name);
  }
}

TEST(PermuteShared, AnyNumberOfThreadsIsRight) {
  const List list = random_list(77, 1);
  for (const std::uint32_t threads : {1U, 3U, 20U, 33U, 100U}) {
    const Block<2, 8, Lists::shared> block(list, {.threads = threads});
    EXPECT_TRUE(block.run().out == permuted(block.input(), list, 2)) << threads;
  }
}

TEST(PermuteShared, OtherMachines) {
  for (const int banks : {4, 8, 16}) {
    Sizes sizes;
    sizes.geometry.banks = sizes.geometry.warp_size = banks;
    for (const auto& [name, list] : named_lists(256, static_cast<std::uint32_t>(banks))) {
      expect_every_way<1>(list, sizes, name);
      expect_every_way<4>(list, sizes, name);
      expect_every_way<12>(list, sizes, name);
      expect_every_way<16>(list, sizes, name);
    }
    expect_every_way<2>(random_list(99, 1), sizes, "random");
    expect_every_way<8>(random_list(99, 1), sizes, "random");
  }
}

// --- lists from anywhere

TEST(PermuteShared, WrongListsTouchNothingOutside) {
  constexpr std::uint32_t n = 100;
  constexpr std::size_t guard = 64;
  constexpr std::uint32_t bytes = 4 * n;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Bytes noise = random_bytes(2000, seed);
    Bytes shared(guard + std::size_t{2} * bytes + guard, std::byte{0x5a});
    device::DirectMemory memory{.input = noise.data(), .output = nullptr, .shared = shared.data()};
    const device::SharedPermutation lists{.count = n, .slots = 480, .sources = 0, .targets = 1000};
    const device::SharedArrays arrays{.in = guard, .out = guard + bytes, .stride = 0, .arrays = 1};
    for (std::uint32_t thread = 0; thread < 32; ++thread) {
      const device::Team team{.thread = thread, .threads = 32};
      device::permute_shared<4, 8, device::kInput>(memory, lists, arrays, team);
      device::permute_shared<4, 10, device::kInput>(memory, lists, arrays, team);
      device::permute_shared<4, 16, device::kInput>(memory, lists, arrays, team);
    }
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const bool is_output = i >= guard + bytes && i < shared.size() - guard;
      if (!is_output) {
        ASSERT_EQ(shared[i], std::byte{0x5a}) << "byte " << i << " seed " << seed;
      }
    }
  }
}

}  // namespace shared_permutation_kernel_test
}  // namespace faro::kernels
