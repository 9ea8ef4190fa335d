// The counting memory against congestion counted by hand (the congestion of the random address permute-shift
// paper: distinct banks 1, one bank w, one word 1), and against kernels that break each of its rules.
#include "faro/machine/counting_memory.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "faro/device/memory.hpp"
#include "faro/error.hpp"

namespace faro::machine {
namespace counting_memory_test {

static_assert(device::Memory<CountingMemory>);
static_assert(device::Memory<device::DirectMemory>);

using device::Packet;
using AddressOf = std::function<std::uint32_t(std::uint32_t lane)>;

// A kernel whose threads fill the whole of shared memory and then read one packet each at address(lane).
template <int bytes>
SharedCounts read_at(const AddressOf& address, std::uint32_t threads = 32, MemoryGeometry geometry = {}) {
  constexpr std::uint32_t shared_bytes = 8192;
  CountingMemory memory({.shared_bytes = shared_bytes, .geometry = geometry});
  memory.run(
      {.blocks = 1, .threads = threads},
      [&](CountingMemory& m, std::uint64_t, std::uint32_t thread) {
        for (std::uint32_t a = 4 * thread; a < shared_bytes; a += 4 * threads) m.store_shared<4>(a, {});
      },
      [&](CountingMemory& m, std::uint64_t, std::uint32_t thread) { m.load_shared<bytes>(address(thread)); });
  return memory.counts().shared_loads;
}

std::vector<std::uint64_t> phases(int count, int congestion) {
  std::vector<std::uint64_t> histogram(static_cast<std::size_t>(congestion) + 1);
  histogram.back() = static_cast<std::uint64_t>(count);
  return histogram;
}

TEST(CountingMemory, WordsOfAWarp) {
  const auto all_banks = read_at<4>([](auto lane) { return 4 * lane; });
  EXPECT_EQ(all_banks.phases_by_congestion, phases(1, 1));
  EXPECT_EQ(all_banks.bytes, 128U);

  const auto one_bank = read_at<4>([](auto lane) { return 128 * lane; });
  EXPECT_EQ(one_bank.phases_by_congestion, phases(1, 32));
  EXPECT_EQ(one_bank.wavefronts, 32U);

  EXPECT_EQ(read_at<4>([](auto) { return 64U; }).phases_by_congestion, phases(1, 1));  // one word
  EXPECT_EQ(read_at<4>([](auto lane) { return 128 * (lane / 2); }).phases_by_congestion, phases(1, 16));
  EXPECT_EQ(read_at<4>([](auto lane) { return 8 * lane; }).phases_by_congestion, phases(1, 2));  // stride 2
  EXPECT_EQ(read_at<4>([](auto lane) { return 4 * ((33 * lane) % 1024); }).phases_by_congestion,
            phases(1, 1));
}

TEST(CountingMemory, BytesAndHalfWordsShareAWord) {
  EXPECT_EQ(read_at<1>([](auto lane) { return lane; }).phases_by_congestion, phases(1, 1));
  EXPECT_EQ(read_at<1>([](auto lane) { return 128 * (lane / 4) + lane % 4; }).phases_by_congestion,
            phases(1, 8));
  EXPECT_EQ(read_at<2>([](auto lane) { return 2 * lane; }).phases_by_congestion, phases(1, 1));
  EXPECT_EQ(read_at<2>([](auto lane) { return 128 * (lane % 2) + 2 * lane; }).phases_by_congestion,
            phases(1, 2));
}

TEST(CountingMemory, WideAccessesAreServedInPhases) {
  EXPECT_EQ(read_at<8>([](auto lane) { return 8 * lane; }).phases_by_congestion, phases(2, 1));
  EXPECT_EQ(read_at<16>([](auto lane) { return 16 * lane; }).phases_by_congestion, phases(4, 1));
  // The two halves use the same banks, but not in one phase.
  EXPECT_EQ(read_at<8>([](auto lane) { return 128 * (lane / 16) + 8 * (lane % 16); }).wavefronts, 2U);
  EXPECT_EQ(read_at<8>([](auto lane) { return 128 * lane; }).phases_by_congestion, phases(2, 16));
  EXPECT_EQ(read_at<16>([](auto lane) { return 128 * lane; }).phases_by_congestion, phases(4, 8));
  // Lanes 0 and 8 collide, but are in different quarters; lanes 0 and 4 are not.
  EXPECT_EQ(read_at<16>([](auto lane) { return 16 * (lane % 8); }).wavefronts, 4U);
  EXPECT_EQ(read_at<16>([](auto lane) { return 16 * (lane % 4) + 128 * (lane / 4); }).phases_by_congestion,
            phases(4, 2));
}

TEST(CountingMemory, OtherMachines) {
  const MemoryGeometry four_banks{.warp_size = 4, .banks = 4};
  EXPECT_EQ(read_at<4>([](auto lane) { return 16 * lane; }, 4, four_banks).phases_by_congestion,
            phases(1, 4));
  EXPECT_EQ(read_at<8>([](auto lane) { return 16 * lane; }, 4, four_banks).phases_by_congestion,
            phases(2, 2));
  // Work 004, figure 2: warps {7, 5, 15, 0} and {10, 11, 12, 9} on four banks have congestion 2 and 1.
  const std::uint32_t words[] = {7, 5, 15, 0, 10, 11, 12, 9};
  const std::vector<std::uint64_t> expected = {0, 1, 1};
  EXPECT_EQ(read_at<4>([&](auto lane) { return 4 * words[lane]; }, 8, four_banks).phases_by_congestion,
            expected);
}

TEST(CountingMemory, PartialWarpsAndStoppedLanes) {
  EXPECT_EQ(read_at<4>([](auto lane) { return 4 * lane; }, 40).phases_by_congestion, phases(2, 1));
  // Only odd quarters of the warp stay: their phases are their own.
  std::vector<std::byte> in(4096);
  CountingMemory memory({.shared_bytes = 512});
  memory.run({.blocks = 1, .threads = 32}, [](CountingMemory& m, std::uint64_t, std::uint32_t lane) {
    if (lane / 8 % 2 == 1) m.store_shared<16>(16 * lane, {});
  });
  EXPECT_EQ(memory.counts().shared_stores.phases_by_congestion, phases(2, 1));
}

constexpr std::int64_t kOut = -1;  // a lane that sits an access out

// Wide loads whose lanes agree with their neighbours are served two phases at a time, by the whole warp or
// not at all; stores never are. The numbers are what an H100 counted (docs/notes/prediction-experiments.md).
TEST(CountingMemory, NeighboursThatAgreeShareAPhase) {
  using Address = std::function<std::int64_t(std::uint32_t lane)>;  // below 0: the lane sits it out
  const auto counts = [](const Address& address, auto width) {
    constexpr int bytes = decltype(width)::value;
    CountingMemory memory({.shared_bytes = 2048});
    memory.run(
        {.blocks = 1, .threads = 32},
        [](CountingMemory& m, std::uint64_t, std::uint32_t lane) {
          for (std::uint32_t i = 0; i < 4; ++i) m.store_shared<16>(16 * (lane + 32 * i), {});
        },
        [&](CountingMemory& m, std::uint64_t, std::uint32_t lane) {
          const std::int64_t at = address(lane);
          if (at < 0) return m.idle();
          static_cast<void>(m.load_shared<bytes>(static_cast<std::uint32_t>(at)));
        });
    const machine::SharedCounts& loads = memory.counts().shared_loads;
    return std::pair{loads.phases, loads.wavefronts};
  };
  constexpr std::integral_constant<int, 16> wide;
  constexpr std::integral_constant<int, 8> half;
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(counts([](auto i) { return 16 * i; }, wide), Pair(4, 4));
  EXPECT_EQ(counts([](auto) { return 0; }, wide), Pair(2, 2));
  EXPECT_EQ(counts([](auto i) { return i / 2 * 16; }, wide), Pair(2, 2));
  EXPECT_EQ(counts([](auto i) { return i % 2 * 16; }, wide), Pair(2, 2));
  EXPECT_EQ(counts([](auto i) { return i % 4 * 16; }, wide), Pair(4, 4));
  const auto of_eight = [](std::uint32_t first, std::uint32_t end) {
    return [=](std::uint32_t i) -> std::int64_t {
      return i % 8 >= first && i % 8 < end ? i / 8 * 304 + i % 8 * 16 : kOut;
    };
  };
  EXPECT_EQ(counts(of_eight(0, 1), wide), Pair(2, 2));
  EXPECT_EQ(counts(of_eight(0, 2), wide), Pair(2, 2));
  EXPECT_EQ(counts(of_eight(6, 8), wide), Pair(2, 2));
  EXPECT_EQ(counts(of_eight(0, 3), wide), Pair(4, 4));
  EXPECT_EQ(counts([](auto i) -> std::int64_t { return i % 2 == 0 ? 16 * i : kOut; }, wide), Pair(2, 4));
  // A half of the warp agrees and the other does not.
  EXPECT_EQ(counts([](auto i) -> std::int64_t { return i < 16 || i % 4 == 0 ? 16 * i : kOut; }, wide),
            Pair(4, 4));
  EXPECT_EQ(counts([](auto i) { return 8 * i; }, half), Pair(2, 2));
  EXPECT_EQ(counts([](auto) { return 0; }, half), Pair(1, 1));
  EXPECT_EQ(counts([](auto i) { return (i % 2 + i / 4 * 2) * 8; }, half), Pair(1, 1));
}

// Copies from global to shared memory past registers: no shared stores, and of those that pass the
// first-level cache by, the lines that each sector of shared memory is filled from. Again what an H100
// counted.
TEST(CountingMemory, CopiesPastRegisters) {
  using Offset = std::function<std::int64_t(std::uint32_t lane)>;
  const auto sectors = [](const Offset& offset, auto cached) {
    CountingMemory memory({.shared_bytes = 512});
    memory.add_virtual_input(4096);
    memory.run({.blocks = 1, .threads = 32}, [&](CountingMemory& m, std::uint64_t, std::uint32_t lane) {
      const std::int64_t at = offset(lane);
      if (at < 0) return m.idle();
      m.copy_past_registers<16, decltype(cached)::value>(0, static_cast<std::uint64_t>(at), 16 * lane);
    });
    EXPECT_EQ(memory.counts().global_loads.requests, 1U);
    EXPECT_EQ(memory.counts().shared_stores, machine::SharedCounts{});
    return memory.counts().global_loads.sectors;
  };
  const auto from = [](std::int64_t first, std::uint32_t lanes = 32) {
    return [=](std::uint32_t i) { return i < lanes ? first + 16 * std::int64_t{i} : kOut; };
  };
  constexpr std::false_type past;
  EXPECT_EQ(sectors(from(0), past), 16U);
  EXPECT_EQ(sectors(from(16), past), 20U);
  EXPECT_EQ(sectors(from(48), past), 20U);
  EXPECT_EQ(sectors(from(48, 7), past), 5U);
  EXPECT_EQ(sectors(from(48, 15), past), 10U);
  EXPECT_EQ(sectors(from(16, 20), past), 12U);
  EXPECT_EQ(sectors([](std::uint32_t i) { return i / 2 * 48 + i % 2 * 16; }, past), 18U);
  EXPECT_EQ(sectors([](std::uint32_t i) { return i / 4 * 144 + i % 4 * 16; }, past), 18U);
  EXPECT_EQ(sectors(from(16), std::true_type{}), 17U);

  std::vector<std::byte> in(16, std::byte{7});
  const auto copy = [](CountingMemory& m, std::uint64_t, std::uint32_t) {
    m.copy_past_registers<16>(0, 0, 0);
  };
  const auto load = [](CountingMemory& m, std::uint64_t, std::uint32_t) {
    EXPECT_EQ(m.load_shared<4>(0).unit[0], 0x07070707U);
  };
  CountingMemory memory({.shared_bytes = 16});
  memory.add_input(in);
  memory.run({.blocks = 1, .threads = 1}, copy, load);
  const auto at_once = [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
    copy(m, block, thread);
    load(m, block, thread);
  };
  EXPECT_THROW(memory.run({.blocks = 1, .threads = 1}, at_once), Error);
}

// Lanes that make different numbers of accesses, then meet: what follows is one access of the warp again, and
// those who are done are not waited for.
TEST(CountingMemory, LanesThatMeet) {
  const auto requests = [](bool meeting) {
    CountingMemory memory({.shared_bytes = 128});
    memory.run(
        {.blocks = 1, .threads = 32},
        [](CountingMemory& m, std::uint64_t, std::uint32_t thread) { m.store_shared<4>(4 * thread, {}); },
        [&](CountingMemory& m, std::uint64_t, std::uint32_t thread) {
          for (std::uint32_t i = 0; i < thread % 4; ++i) m.load_shared<4>(4 * thread);
          if (meeting) device::converge(m);
          if (thread == 5) return;
          m.load_shared<4>(4 * thread);
        });
    return memory.counts().shared_loads.requests;
  };
  EXPECT_EQ(requests(true), 4U);   // the longest loop's 3, and 1 together
  EXPECT_EQ(requests(false), 4U);  // as many, but of lanes that are at different places
  const auto kinds = [](bool meeting) {
    CountingMemory memory({.shared_bytes = 128});
    std::vector<std::byte> bytes(128);
    memory.add_output(bytes);
    memory.run(
        {.blocks = 1, .threads = 32},
        [](CountingMemory& m, std::uint64_t, std::uint32_t thread) { m.store_shared<4>(4 * thread, {}); },
        [&](CountingMemory& m, std::uint64_t, std::uint32_t thread) {
          for (std::uint32_t i = 0; i < thread % 4; ++i) m.load_shared<4>(4 * thread);
          if (meeting) device::converge(m);
          m.store_global<4>(0, 4 * thread, {});
        });
    return memory.counts().global_stores.sectors;
  };
  EXPECT_EQ(kinds(true), 4U);
  EXPECT_THROW(kinds(false), Error);  // some load while others store
}

TEST(CountingMemory, SectorsAndLines) {
  std::vector<std::byte> in(8192);
  std::vector<std::byte> out(8192);
  CountingMemory memory({});
  memory.add_input(in);
  memory.add_output(out);
  memory.run({.blocks = 1, .threads = 32}, [](CountingMemory& m, std::uint64_t, std::uint32_t lane) {
    m.load_global<4>(0, 4 * lane);
    m.load_global<16>(0, 16 * lane);
    m.load_global<4>(0, 64 * lane);
    m.load_global<1>(0, 31 + 2 * (lane / 16));
    m.store_global<8>(1, 256 * (lane / 4) + 8 * (lane % 4), {});
  });
  const GlobalCounts& loads = memory.counts().global_loads;
  EXPECT_EQ(loads.requests, 4U);
  EXPECT_EQ(loads.sectors, 4U + 16 + 32 + 2);
  EXPECT_EQ(loads.lines, 1U + 4 + 16 + 1);
  EXPECT_EQ(loads.bytes, 32U * (4 + 16 + 4 + 1));
  EXPECT_EQ(memory.counts().global_stores,
            (GlobalCounts{.requests = 1, .bytes = 256, .sectors = 8, .lines = 8}));
  EXPECT_FALSE(memory.output_complete());
}

// Runs one thread function a phase, on two buffers of 64 bytes and 64 bytes of shared memory; returns the
// complaint.
template <typename... Phases>
std::string complaint(Phases... phase) {
  std::vector<std::byte> in(64);
  std::vector<std::byte> out(64);
  CountingMemory memory({.shared_bytes = 64});
  memory.add_input(in);
  memory.add_output(out);
  try {
    memory.run({.blocks = 2, .threads = 2}, [&](CountingMemory& m, std::uint64_t block,
                                                std::uint32_t thread) { phase(m, block, thread); }...);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    return error.report().got;
  }
  return "";
}

void nothing(CountingMemory&, std::uint64_t, std::uint32_t) {}

TEST(CountingMemory, RefusesWhatAKernelMustNotDo) {
  const auto says = [](const std::string& got, const std::string& part) {
    return got.find(part) != std::string::npos;
  };
  EXPECT_EQ(complaint(nothing), "");
  EXPECT_TRUE(
      says(complaint([](auto& m, auto, auto) { m.template load_global<4>(0, 64); }), "out of bounds"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, auto) { m.template load_global<4>(0, ~std::uint64_t{3}); }),
                   "bounds"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, auto) { m.template load_global<8>(0, 4); }), "misaligned"));
  EXPECT_TRUE(
      says(complaint([](auto& m, auto, auto) { m.template load_global<4>(2, 0); }), "no such buffer"));
  EXPECT_TRUE(
      says(complaint([](auto& m, auto, auto) { m.template load_global<4>(1, 0); }), "load from an output"));
  EXPECT_TRUE(
      says(complaint([](auto& m, auto, auto) { m.template store_global<4>(0, 0, {}); }), "to an input"));
  EXPECT_TRUE(
      says(complaint([](auto& m, auto, auto) { m.template store_global<4>(1, 0, {}); }), "second store"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, auto) { m.template load_shared<4>(64); }), "out of bounds"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, auto) { m.template store_shared<4>(2, {}); }), "misaligned"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, auto) { m.template load_shared<4>(0); }), "never stored"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, auto) { m.template store_shared<4>(0, {}); }), "two threads"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, std::uint32_t t) {
                     if (t == 0)
                       m.template store_shared<4>(0, {});
                     else
                       m.template load_shared<4>(0);
                   }),
                   "races"));
  EXPECT_TRUE(says(complaint([](auto& m, auto, std::uint32_t t) {
                     if (t == 0)
                       m.template store_shared<4>(0, {});
                     else
                       m.template store_shared<2>(8, {});
                   }),
                   "disagree"));
  // What a block stored is gone for the next one.
  EXPECT_TRUE(says(complaint(
                       [](auto& m, std::uint64_t block, std::uint32_t t) {
                         if (block == 0) m.template store_shared<4>(4 * t, {});
                       },
                       [](auto& m, auto, std::uint32_t t) { m.template load_shared<4>(4 * t); }),
                   "never stored"));
  // With a barrier between, another thread's bytes may be read.
  EXPECT_EQ(complaint([](auto& m, auto, std::uint32_t t) { m.template store_shared<4>(4 * t, {}); },
                      [](auto& m, auto, std::uint32_t t) { m.template load_shared<4>(4 - 4 * t); }),
            "");
}

// --- phases that are numbered

TEST(CountingMemory, NumberedPhasesAreTheSameAsListedOnes) {
  const auto load = [](CountingMemory& m, std::uint64_t block, std::uint32_t t) {
    m.store_shared<4>(4 * t, m.load_global<4>(0, 128 * block + 4 * t));
  };
  const auto store = [](CountingMemory& m, std::uint64_t block, std::uint32_t t) {
    m.store_global<4>(1, 128 * block + 4 * t, m.load_shared<4>(4 * (31 - t)));
  };
  std::vector<std::byte> in(256);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i);
  std::vector<std::byte> out[2] = {std::vector<std::byte>(256), std::vector<std::byte>(256)};
  AccessCounts counts[2];
  std::vector<std::uint64_t> order;
  for (const int numbered : {0, 1}) {
    CountingMemory memory({.shared_bytes = 128});
    memory.add_input(in);
    memory.add_output(out[numbered]);
    if (numbered == 0) {
      memory.run({.blocks = 2, .threads = 32}, load, store);
    } else {
      const auto phase = [&](CountingMemory& m, std::uint64_t number, std::uint64_t block, std::uint32_t t) {
        if (t == 0) order.push_back(10 * block + number);
        if (number == 0) load(m, block, t);
        if (number == 1) store(m, block, t);
      };
      memory.run_each({.blocks = 2, .threads = 32}, 3, phase);
    }
    counts[numbered] = memory.counts();
    EXPECT_TRUE(memory.output_complete());
  }
  EXPECT_EQ(out[0], out[1]);
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2, 10, 11, 12}));
}

// --- buffers without bytes

// One vector from offset `from` of an input to `to` of an output, both of 2^50 bytes.
GlobalCounts move_virtually(std::uint64_t from, std::uint64_t to, std::uint64_t step = 16) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 50;
  CountingMemory memory({});
  memory.add_virtual_input(bytes);
  memory.add_virtual_output(bytes);
  memory.run({.blocks = 1, .threads = 2, .first_block = 7},
             [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
               const Packet<16> zeros = m.load_global<16>(device::kInput, from + 16 * thread + block - 7);
               for (const std::uint32_t unit : zeros.unit) EXPECT_EQ(unit, 0U);
               m.store_global<16>(device::kOutput, to + step * thread, zeros);
             });
  EXPECT_TRUE(memory.output_complete());
  return memory.counts().global_stores;
}

TEST(CountingMemory, VirtualBuffersAreCheckedAndCounted) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 50;
  EXPECT_EQ(move_virtually(bytes - 32, bytes / 2).sectors, 1U);
  EXPECT_EQ(move_virtually(0, bytes / 2 + 16).sectors, 2U);
  EXPECT_THROW(move_virtually(bytes - 16, 0), Error);  // out of bounds
  EXPECT_THROW(move_virtually(0, bytes - 16), Error);
  EXPECT_THROW(move_virtually(8, 0), Error);             // misaligned
  EXPECT_THROW(move_virtually(0, bytes / 2, 0), Error);  // a second store to a byte
}

TEST(AccessCounts, TimesIsRepeatedSum) {
  AccessCounts once;
  once.global_loads = {1, 2, 3, 4};
  once.global_stores = {5, 6, 7, 8};
  once.shared_loads.add_phase(3);
  once.shared_stores.add_phase(1);
  AccessCounts sum;
  for (int i = 0; i < 3; ++i) sum += once;
  AccessCounts times = once;
  times *= 3;
  EXPECT_EQ(times, sum);
  times *= 0;
  EXPECT_EQ(times, AccessCounts{});
}

}  // namespace counting_memory_test
}  // namespace faro::machine
