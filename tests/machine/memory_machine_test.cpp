// The memory machines against the papers' figures and exact costs, cases counted by hand, and programs that
// break each of their rules.
#include "faro/machine/memory_machine.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "faro/device/memory.hpp"
#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "refusal.hpp"

namespace faro::machine {
namespace memory_machine_test {

static_assert(device::Memory<MemoryMachine>);

using Launch = MemoryMachine::Launch;
using Words = std::vector<std::uint64_t>;

MachineOptions machine_of(MachineKind kind, std::uint64_t width, std::uint64_t latency,
                          std::uint64_t threads) {
  MachineOptions options;
  options.kind = kind;
  options.width = width;
  options.latency = latency;
  options.threads = threads;
  return options;
}

MachineOptions hmm_of(std::uint64_t dmms, std::uint64_t width, std::uint64_t latency,
                      std::uint64_t shared_latency, std::uint64_t threads) {
  MachineOptions options = machine_of(MachineKind::hmm, width, latency, threads);
  options.dmms = dmms;
  options.shared_latency = shared_latency;
  return options;
}

struct Buffer {
  std::vector<std::uint32_t> words;
  explicit Buffer(std::size_t size) : words(size) { std::iota(words.begin(), words.end(), 100U); }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
};

// Thread i reads words[i].
MachineReport read_once(const MachineOptions& options, const Words& words) {
  MemoryMachine machine(options);
  Buffer buffer(64);
  machine.add_buffer(buffer.bytes());
  machine.run({}, [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
    EXPECT_EQ(m.load_global<4>(0, 4 * words[thread]).unit[0], 100 + words[thread]);
  });
  return machine.report();
}

// --- the papers

TEST(MemoryMachine, FiguresOfThePapers) {
  // Nakano 2012, figure 4.
  const Words figure_4 = {0, 1, 10, 6, 8, 9, 14, 15};
  const MachineReport dmm = read_once(machine_of(MachineKind::dmm, 4, 3, 8), figure_4);
  EXPECT_EQ(dmm.time, 5U);
  EXPECT_EQ(dmm.congestion, (Words{0, 1, 1}));
  const MachineReport umm = read_once(machine_of(MachineKind::umm, 4, 3, 8), figure_4);
  EXPECT_EQ(umm.time, 7U);
  EXPECT_EQ(umm.congestion, (Words{0, 0, 1, 1}));
  EXPECT_EQ(umm.rounds, 1U);
  EXPECT_EQ(umm.requests, 2U);
  EXPECT_EQ(umm.accesses, 8U);
  EXPECT_EQ(umm.stages, 5U);
  // Nakano, Matsumae and Ito 2014, figure 3, and the three accesses of figure 2.
  EXPECT_EQ(read_once(machine_of(MachineKind::dmm, 4, 5, 8), {7, 5, 15, 0, 10, 11, 12, 9}).time, 7U);
  EXPECT_EQ(read_once(machine_of(MachineKind::dmm, 4, 1, 4), {4, 1, 10, 15}).time, 1U);
  EXPECT_EQ(read_once(machine_of(MachineKind::dmm, 4, 1, 4), {1, 5, 9, 13}).time, 4U);
  EXPECT_EQ(read_once(machine_of(MachineKind::dmm, 4, 1, 4), {5, 5, 5, 5}).time, 1U);
}

// Section 3: thread i of p touches t p + i, or i s + t with s = n / p, in round t.
TEST(MemoryMachine, ContiguousAndStrideAccessCostWhatTheoremSays) {
  int between = 0;  // strides whose gcd with the width is neither 1 nor the width
  for (const std::uint64_t w : {1U, 3U, 5U, 6U, 7U, 12U, 32U}) {
    for (const std::uint64_t warps : {1U, 2U, 5U}) {
      for (const std::uint64_t s : {1U, 2U, 3U, 4U, 8U, 9U, 31U, 32U, 48U}) {
        for (const std::uint64_t l : {1U, 2U, 7U, 33U}) {
          const std::uint64_t p = w * warps;
          const auto time = [&](MachineKind kind, bool contiguous) {
            MemoryMachine machine(machine_of(kind, w, l, p));
            std::vector<std::byte> data(4 * p * s);
            machine.add_buffer(data);
            machine.run({}, [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
              for (std::uint64_t t = 0; t < s; ++t)
                m.load_global<4>(0, 4 * (contiguous ? t * p + thread : thread * s + t));
            });
            EXPECT_EQ(machine.report().rounds, s);
            return machine.report().time;
          };
          const std::uint64_t gcd = std::gcd(s, w);
          between += gcd != 1 && gcd != w ? 1 : 0;
          const std::string at = "w " + std::to_string(w) + ", l " + std::to_string(l) + ", p " +
                                 std::to_string(p) + ", n " + std::to_string(p * s);
          EXPECT_EQ(time(MachineKind::dmm, true), (warps + l - 1) * s) << "contiguous, dmm, " << at;
          EXPECT_EQ(time(MachineKind::umm, true), (warps + l - 1) * s) << "contiguous, umm, " << at;
          EXPECT_EQ(time(MachineKind::dmm, false), (gcd * warps + l - 1) * s) << "stride, dmm, " << at;
          EXPECT_EQ(time(MachineKind::umm, false), (std::min(s, w) * warps + l - 1) * s)
              << "stride, umm, " << at;
        }
      }
    }
  }
  EXPECT_GT(between, 50);
}

// --- rounds, idle lanes, waves

TEST(MemoryMachine, LanesThatSitOutLeaveTheOthersAligned) {
  // Lane 0 asks in rounds 0 and 2, lane 1 in rounds 1 and 2; warp 1 only in round 2, and less often.
  MemoryMachine machine(machine_of(MachineKind::umm, 2, 10, 4));
  Buffer buffer(64);
  machine.add_buffer(buffer.bytes());
  machine.run({}, [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
    thread == 0 ? static_cast<void>(m.load_global<4>(0, 0)) : device::idle(m);
    thread == 1 ? static_cast<void>(m.load_global<4>(0, 4)) : device::idle(m);
    if (thread < 3) m.load_global<4>(0, 4 * (8 * thread));
  });
  EXPECT_EQ(machine.report().time, 10U + 10U + 12U);
  EXPECT_EQ(machine.report().rounds, 3U);
  EXPECT_EQ(machine.report().requests, 4U);
  EXPECT_EQ(machine.report().accesses, 5U);
  EXPECT_EQ(machine.report().stages, 5U);
}

TEST(MemoryMachine, ARoundInWhichNobodyAsksTakesNoTime) {
  MemoryMachine machine(machine_of(MachineKind::dmm, 4, 10, 8));
  Buffer buffer(8);
  machine.add_buffer(buffer.bytes());
  const auto idle = [](MemoryMachine& m, std::uint64_t, std::uint32_t) {
    for (int i = 0; i < 100; ++i) m.idle();
  };
  machine.run({}, idle);
  EXPECT_EQ(machine.report(), MachineReport{});
  machine.run({}, [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
    idle(m, 0, thread);
    m.load_global<4>(0, 4 * thread);
  });
  EXPECT_EQ(machine.report().time, 11U);
  EXPECT_EQ(machine.report().rounds, 1U);
  machine.run({.blocks = 0, .threads = 0, .shared_bytes = 0}, idle);
  EXPECT_EQ(machine.report().time, 11U);
}

TEST(MemoryMachine, ALaneThatStopsEarlyNeedNotSayIdle) {
  const auto report = [](bool says_idle) {
    MemoryMachine machine(machine_of(MachineKind::dmm, 4, 3, 8));
    Buffer buffer(64);
    machine.add_buffer(buffer.bytes());
    machine.run({}, [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        if (i <= thread) {
          m.load_global<4>(0, 4 * (8 * i + thread));
        } else if (says_idle) {
          m.idle();
        }
      }
    });
    return machine.report();
  };
  EXPECT_EQ(report(false), report(true));
  EXPECT_EQ(report(true).accesses, 36U);
}

// One access of 4 lanes a warp takes one stage here, so a wave's round takes its warps + l - 1.
std::uint64_t time_of_blocks(std::uint64_t threads, const Launch& launch) {
  MemoryMachine machine(machine_of(MachineKind::dmm, 4, 3, threads));
  Buffer buffer(4096);
  machine.add_buffer(buffer.bytes());
  std::uint64_t calls = 0;
  machine.run(launch, [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
    EXPECT_EQ(calls++, block * launch.threads + thread);
    m.load_global<4>(0, 4 * thread);
  });
  EXPECT_EQ(calls, launch.blocks * launch.threads);
  return machine.report().time;
}

TEST(MemoryMachine, BlocksRunInWaves) {
  EXPECT_EQ(time_of_blocks(16, {.blocks = 1, .threads = 8, .shared_bytes = 0}), 2U + 2);
  EXPECT_EQ(time_of_blocks(16, {.blocks = 2, .threads = 8, .shared_bytes = 0}), 4U + 2);
  EXPECT_EQ(time_of_blocks(16, {.blocks = 3, .threads = 8, .shared_bytes = 0}), 4U + 2 + 2 + 2);
  EXPECT_EQ(time_of_blocks(16, {.blocks = 8, .threads = 8, .shared_bytes = 0}), 4 * (4U + 2));
  // A block of 6 takes 2 warps, the second half full; of 9 takes 3, so that only one fits in 4.
  EXPECT_EQ(time_of_blocks(16, {.blocks = 3, .threads = 6, .shared_bytes = 0}), 4U + 2 + 2 + 2);
  EXPECT_EQ(time_of_blocks(16, {.blocks = 2, .threads = 9, .shared_bytes = 0}), 2 * (3U + 2));
  EXPECT_EQ(time_of_blocks(16, {.blocks = 5, .threads = 1, .shared_bytes = 0}), 4U + 2 + 1 + 2);
}

// Accesses of a phase are kept until its warp is done, in pieces: enough of them to need several, of two
// sizes.
TEST(MemoryMachine, LongPhases) {
  constexpr std::uint64_t rounds = 3000;
  constexpr std::uint64_t w = 5;
  MemoryMachine machine(machine_of(MachineKind::dmm, w, 2, 2 * w));
  Buffer buffer(8 * rounds);
  machine.add_buffer(buffer.bytes());
  for (int repeat = 0; repeat < 2; ++repeat) {
    machine.run({}, [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        m.load_global<16>(0, 16 * (i + (thread == 0 ? 1 : 0)));  // 4 words; a warp with thread 0: 8 of them
        m.load_global<4>(0, 4 * (i + thread % w));               // w words in a row
      }
    });
  }
  // 4 words in 5 banks: 1 stage; 8: 2 stages.
  EXPECT_EQ(machine.report().time, 2 * rounds * ((3U + 1) + (2U + 1)));
  EXPECT_EQ(machine.report().congestion, (Words{0, 6 * rounds, 2 * rounds}));
}

// --- where things are

TEST(MemoryMachine, BuffersBeginAtABankRow) {
  // Buffer 0 has 5 words, buffer 1 begins at word 6: lanes 0, 1, 2 of w = 3 find banks 0, 1, 2 there.
  const auto congestion = [](int buffer_a, std::uint64_t word_a, int buffer_b, std::uint64_t word_b) {
    MemoryMachine machine(machine_of(MachineKind::dmm, 3, 1, 3));
    Buffer first(5);
    Buffer second(7);
    EXPECT_EQ(machine.add_buffer(first.bytes()), 0);
    EXPECT_EQ(machine.add_buffer(second.bytes()), 1);
    machine.run({.blocks = 1, .threads = 2, .shared_bytes = 0},
                [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
                  m.load_global<4>(thread == 0 ? buffer_a : buffer_b, 4 * (thread == 0 ? word_a : word_b));
                });
    return machine.report().time;
  };
  EXPECT_EQ(congestion(0, 0, 1, 0), 2U);
  EXPECT_EQ(congestion(0, 1, 1, 4), 2U);
  EXPECT_EQ(congestion(0, 2, 1, 0), 1U);
  EXPECT_EQ(congestion(0, 0, 1, 2), 1U);
}

TEST(MemoryMachine, SharedMemoryOfOneMemoryLiesBehindTheBuffers) {
  // UMM, w = 4: words 0 to 7 are the buffer's 5, so the blocks' 3 words each begin at 8 and 12.
  MachineOptions options = machine_of(MachineKind::umm, 4, 2, 8);
  options.timeline_units = 100;
  MemoryMachine machine(options);
  Buffer buffer(5);
  machine.add_buffer(buffer.bytes());
  machine.run({.blocks = 2, .threads = 3, .shared_bytes = 12},
              [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
                EXPECT_EQ(m.load_shared<4>(4 * thread).unit[0], 0U);
                m.store_shared<4>(4 * thread, {{7}});
              });
  EXPECT_EQ(machine.report().time, 2 * (2U + 1));
  const Timeline timeline = machine.timeline();
  ASSERT_EQ(timeline.stages.size(), 4U);
  EXPECT_EQ(timeline.stages[0].words, (Words{8, 9, 10}));
  EXPECT_EQ(timeline.stages[1].words, (Words{12, 13, 14}));
}

TEST(MemoryMachine, WideAndNarrowAccesses) {
  const auto stages = []<int bytes>(std::integral_constant<int, bytes>, std::uint64_t word_bytes) {
    MachineOptions options = machine_of(MachineKind::dmm, 4, 1, 4);
    options.word_bytes = word_bytes;
    MemoryMachine machine(options);
    std::vector<std::byte> data(64);
    machine.add_buffer(data);
    machine.run({}, [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
      m.load_global<bytes>(0, bytes * thread);
    });
    EXPECT_EQ(machine.report().accesses, 4U);
    return machine.report().stages;
  };
  EXPECT_EQ(stages(std::integral_constant<int, 4>{}, 4), 1U);
  EXPECT_EQ(stages(std::integral_constant<int, 16>{}, 4), 4U);
  EXPECT_EQ(stages(std::integral_constant<int, 8>{}, 4), 2U);
  EXPECT_EQ(stages(std::integral_constant<int, 1>{}, 4), 1U);  // four bytes of one word
  EXPECT_EQ(stages(std::integral_constant<int, 16>{}, 1), 16U);
  EXPECT_EQ(stages(std::integral_constant<int, 2>{}, 16), 1U);
  EXPECT_EQ(stages(std::integral_constant<int, 16>{}, 16), 1U);
}

// --- the hierarchical machine by hand

TEST(MemoryMachine, HmmByHand) {
  // Two DMMs, w = 2, l = 10, shared l = 3; 3 blocks of 1 warp: blocks 0 and 2 on DMM 0, block 1 on DMM 1.
  MemoryMachine machine(hmm_of(2, 2, 10, 3, 6));
  Buffer buffer(64);
  machine.add_buffer(buffer.bytes());
  const Launch launch{.blocks = 3, .threads = 2, .shared_bytes = 64};
  machine.run(launch, [](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
    // Shared: 1, 2 and 1 stages. DMM 0 takes 1 + 1, DMM 1 takes 2: the longer sum is 2, + 3 - 1.
    m.store_shared<4>(4 * (block == 1 ? 2 * thread : thread), {{static_cast<std::uint32_t>(block)}});
  });
  EXPECT_EQ(machine.report().time, 2U + 2);
  machine.run(launch, [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
    m.load_shared<4>(8 * thread);  // 2 stages each: DMM 0 takes 4
  });
  EXPECT_EQ(machine.report().time, 4U + 6);
  machine.run(launch, [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
    m.load_global<4>(0, 8 * thread);  // 2 groups each: 6 + 10 - 1
  });
  EXPECT_EQ(machine.report().time, 10U + 15);
  machine.run(launch, [](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
    if (block == 0) {
      m.load_global<4>(0, 4 * thread);  // 1 + 10 - 1, beside which
    } else {
      m.load_shared<4>(8 * thread);  // 2 + 3 - 1 on both DMMs is hidden
    }
  });
  EXPECT_EQ(machine.report().time, 25U + 10);
  EXPECT_EQ(machine.report().rounds, 4U);
}

// Three blocks a wave on two DMMs: the second wave begins on DMM 0 again, as the first did.
TEST(MemoryMachine, BlocksOfAWaveSitOnDmmsInTurn) {
  MachineOptions options = hmm_of(2, 4, 1, 1, 12);
  options.timeline_units = 100;
  MemoryMachine machine(options);
  machine.run({.blocks = 6, .threads = 4, .shared_bytes = 64},
              [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) { m.load_shared<4>(4 * thread); });
  std::vector<Words> seen;  // memory, warp
  for (const TimelineStage& stage : machine.timeline().stages) seen.push_back({stage.memory, stage.warp});
  EXPECT_EQ(seen, (std::vector<Words>{{1, 0}, {2, 1}, {1, 2}, {1, 0}, {2, 1}, {1, 2}}));
}

TEST(MemoryMachine, HmmOfOneDmmAndOnlySharedAccessesIsADmm) {
  const auto time = [](const MachineOptions& options) {
    MemoryMachine machine(options);
    machine.run({.blocks = 5, .threads = 12, .shared_bytes = 1024},
                [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
                  m.store_shared<4>(4 * (5 * thread % 64), {});
                  m.store_shared<4>(4 * (6 * thread % 64), {});
                });
    return machine.report().time;
  };
  EXPECT_EQ(time(hmm_of(1, 6, 99, 4, 24)), time(machine_of(MachineKind::dmm, 6, 4, 24)));
}

// --- data

TEST(MemoryMachine, BlocksOfAWaveHaveSharedMemoryOfTheirOwn) {
  for (const MachineKind kind : {MachineKind::dmm, MachineKind::umm, MachineKind::hmm}) {
    MemoryMachine machine(machine_of(kind, 4, 1, 16));
    Buffer out(7 * 8);
    machine.add_buffer(out.bytes());
    machine.run(
        {.blocks = 7, .threads = 8, .shared_bytes = 32},
        [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
          EXPECT_EQ(m.load_shared<4>(4 * thread).unit[0], 0U);  // also in later waves
        },
        [](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
          m.store_shared<4>(4 * thread, {{static_cast<std::uint32_t>(10 * block + thread)}});
        },
        [](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
          m.store_global<4>(0, 4 * (8 * block + thread), m.load_shared<4>(4 * (7 - thread)));
        });
    for (std::uint32_t i = 0; i < out.words.size(); ++i)
      EXPECT_EQ(out.words[i], 10 * (i / 8) + 7 - i % 8) << i;
  }
}

TEST(MemoryMachine, OfSeveralStoresTheLastThreadsStays) {
  MemoryMachine machine(machine_of(MachineKind::dmm, 4, 1, 8));
  Buffer out(1);
  machine.add_buffer(out.bytes());
  machine.run(
      {}, [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) { m.store_global<4>(0, 0, {{thread}}); });
  EXPECT_EQ(out.words[0], 7U);
  EXPECT_EQ(machine.report().stages, 2U);
}

TEST(MemoryMachine, IdleLanesOfTheCountingMemory) {
  CountingMemory memory({.shared_bytes = 128});
  memory.run({.blocks = 1, .threads = 32}, [](CountingMemory& m, std::uint64_t, std::uint32_t thread) {
    thread % 2 == 0 ? m.store_shared<4>(4 * thread, {}) : device::idle(m);
    thread % 2 == 1 ? m.store_shared<4>(4 * thread, {}) : device::idle(m);
  });
  EXPECT_EQ(memory.counts().shared_stores.requests, 2U);
  EXPECT_EQ(memory.counts().shared_stores.bytes, 128U);
}

// --- refusals

using test::refusal;

void expect_refused(const MachineOptions& options, const std::string& names) {
  const Error error = refusal([&] { MemoryMachine machine(options); });
  EXPECT_EQ(error.code(), ErrorCode::value) << error.what();
  EXPECT_NE(error.report().got.find(names), std::string::npos) << error.what();
  EXPECT_FALSE(error.report().wanted.empty());
}

TEST(MemoryMachine, RefusesImpossibleSizes) {
  const MachineKind dmm = MachineKind::dmm;
  const std::uint64_t huge = ~std::uint64_t{0};
  expect_refused(machine_of(dmm, 0, 1, 32), "width 0");
  expect_refused(machine_of(dmm, kMaxWidth + 1, 1, kMaxWidth + 1), "width 1048577");
  expect_refused(machine_of(dmm, 32, 0, 32), "latency 0");
  expect_refused(machine_of(dmm, 32, huge, 32), "latency 18446744073709551615");
  expect_refused(machine_of(dmm, 32, 1, 0), "threads 0");
  expect_refused(machine_of(dmm, 1, 1, kMaxThreads + 1), "threads");
  expect_refused(machine_of(dmm, 32, 1, 48), "48 threads of width 32");
  expect_refused(machine_of(dmm, 64, 1, 32), "32 threads of width 64");
  expect_refused(hmm_of(0, 32, 1, 1, 32), "DMMs 0");
  expect_refused(hmm_of(kMaxDmms + 1, 32, 1, 1, 32), "DMMs");
  expect_refused(hmm_of(1, 32, 1, 0, 32), "shared latency 0");
  MachineOptions options = machine_of(dmm, 32, 1, 32);
  options.dmms = 2;
  expect_refused(options, "2 DMMs of the dmm");
  options = machine_of(MachineKind::umm, 32, 1, 32);
  options.shared_latency = 3;
  expect_refused(options, "shared latency of the umm");
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{12}, huge}) {
    options = machine_of(dmm, 32, 1, 32);
    options.word_bytes = bytes;
    expect_refused(options, std::to_string(bytes));
  }
  EXPECT_NO_THROW(MemoryMachine(machine_of(dmm, kMaxWidth, kMaxLatency, kMaxThreads)));
}

TEST(MemoryMachine, RefusesLaunchesThatDoNotFit) {
  MemoryMachine machine(machine_of(MachineKind::dmm, 4, 1, 16));
  bool ran = false;
  const auto phase = [&](MemoryMachine&, std::uint64_t, std::uint32_t) { ran = true; };
  const Error large = refusal([&] { machine.run({.blocks = 1, .threads = 17, .shared_bytes = 0}, phase); });
  EXPECT_EQ(large.code(), ErrorCode::value) << large.what();
  const Error shared =
      refusal([&] { machine.run({.blocks = 9, .threads = 1, .shared_bytes = ~std::uint64_t{0}}, phase); });
  EXPECT_EQ(shared.code(), ErrorCode::value) << shared.what();
  EXPECT_FALSE(ran);
}

using Phase = std::function<void(MemoryMachine&, std::uint64_t block, std::uint32_t thread)>;

// The error names block 2 and thread 5, and the machine can be used after it.
void expect_fault(const std::string& what, const std::string& where, const Phase& fault) {
  MemoryMachine machine(machine_of(MachineKind::dmm, 4, 1, 16));
  Buffer buffer(16);
  machine.add_buffer(buffer.bytes());
  const Launch launch{.blocks = 4, .threads = 8, .shared_bytes = 64};
  const Error error = refusal([&] {
    machine.run(launch, [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
      if (block == 2 && thread == 5) {
        fault(m, block, thread);
      } else {
        m.load_global<4>(0, 4 * thread);
      }
    });
  });
  EXPECT_EQ(error.code(), ErrorCode::internal) << error.what();
  for (const std::string& part : {what, where, std::string("block 2, thread 5")}) {
    EXPECT_NE(error.report().got.find(part), std::string::npos) << part << ": " << error.what();
  }
  const std::uint64_t before = machine.report().time;
  machine.run(launch,
              [](MemoryMachine& m, std::uint64_t, std::uint32_t thread) { m.load_shared<4>(4 * thread); });
  EXPECT_EQ(machine.report().time, before + 2 * 4);
}

TEST(MemoryMachine, NamesWhatAProgramDoesWrong) {
  expect_fault("global access out of bounds", "byte 64",
               [](auto& m, auto, auto) { m.template load_global<4>(0, 64); });
  expect_fault("global access out of bounds", "byte 18446744073709551612",
               [](auto& m, auto, auto) { m.template load_global<4>(0, ~std::uint64_t{3}); });
  expect_fault("misaligned global access", "byte 2",
               [](auto& m, auto, auto) { m.template store_global<4>(0, 2, {}); });
  expect_fault("misaligned global access", "byte 8, 16 bytes",
               [](auto& m, auto, auto) { m.template load_global<16>(0, 8); });
  expect_fault("buffer 1", "byte 0", [](auto& m, auto, auto) { m.template load_global<4>(1, 0); });
  expect_fault("buffer -1", "byte 0", [](auto& m, auto, auto) { m.template load_global<4>(-1, 0); });
  expect_fault("shared access out of bounds", "byte 64",
               [](auto& m, auto, auto) { m.template load_shared<4>(64); });
  expect_fault("shared access out of bounds", "byte 4294967292",
               [](auto& m, auto, auto) { m.template load_shared<4>(0xfffffffc); });
  expect_fault("misaligned shared access", "byte 7",
               [](auto& m, auto, auto) { m.template store_shared<2>(7, {}); });
  expect_fault("disagree", "word 1", [](auto& m, auto, auto) { m.template store_global<4>(0, 4, {}); });
  expect_fault("disagree", "word 2", [](auto& m, auto, auto) { m.template load_global<8>(0, 8); });
  expect_fault("disagree", "word", [](auto& m, auto, auto) { m.template load_shared<4>(0); });
}

}  // namespace memory_machine_test
}  // namespace faro::machine
