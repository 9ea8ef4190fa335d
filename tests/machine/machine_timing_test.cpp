// The time of random programs on random machines against a referee that walks unit by unit through the rules,
// with maps and sets: rounds one after another, and asynchronous issue.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/memory_machine.hpp"
#include "refusal.hpp"

namespace faro::machine {
namespace machine_timing_test {

// --- a program: what every thread asks for

enum class What { nothing, global, shared };
struct Step {
  What what = What::nothing;
  std::vector<std::uint64_t> word;  // of every thread; kNone: it sits out
};
constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::uint64_t kWords = 512;

// Steps of each warp between two barriers. Blocks are single warps, so that on the HMM warp i is on DMM i mod
// k.
struct Program {
  std::vector<std::vector<std::vector<Step>>> phases;  // [phase][warp][round]
};

Program random_program(const MachineOptions& machine, std::mt19937_64& random) {
  const std::uint64_t w = machine.width;
  const std::uint64_t range = 1 + random() % kWords;
  const std::uint64_t spread = random() % 3;
  Program program;
  program.phases.resize(1 + random() % 3);
  for (auto& phase : program.phases) {
    phase.resize(machine.threads / w);
    for (auto& warp : phase) {
      warp.resize(random() % 5);
      for (Step& step : warp) {
        step.what = random() % 3 == 0 ? What::shared : What::global;
        step.word.resize(w);
        const std::uint64_t base = random() % range;
        const bool sparse = random() % 3 == 0;
        for (std::uint64_t lane = 0; lane < w; ++lane) {
          const std::uint64_t word = spread == 0   ? base + lane
                                     : spread == 1 ? random() % range
                                                   : base + lane * w;
          step.word[lane] = sparse && random() % 2 == 0 ? kNone : word % kWords;
        }
      }
    }
  }
  return program;
}

MachineReport run(const MachineOptions& options, const Program& program) {
  std::vector<std::byte> data(kWords * 4);
  MemoryMachine machine(options);
  machine.add_buffer(data);
  const MemoryMachine::Launch launch{
      .blocks = options.threads / options.width, .threads = options.width, .shared_bytes = kWords * 4};
  const auto phase = [&](std::size_t number) {
    return [&program, number](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
      for (const Step& step : program.phases[number][block]) {
        const std::uint64_t word = step.word[thread];
        if (word == kNone) {
          m.idle();
        } else if (step.what == What::global) {
          m.load_global<4>(0, 4 * word);
        } else {
          m.store_shared<4>(static_cast<std::uint32_t>(4 * word), {});
        }
      }
    };
  };
  switch (program.phases.size()) {
    case 1:
      machine.run(launch, phase(0));
      break;
    case 2:
      machine.run(launch, phase(0), phase(1));
      break;
    default:
      machine.run(launch, phase(0), phase(1), phase(2));
  }
  return machine.report();
}

// --- the referee

struct Access {
  std::uint64_t round;
  std::uint64_t memory;
  std::uint64_t stages;
};

// Every warp's accesses of a phase that ask for anything.
std::vector<std::vector<Access>> accesses_of(const MachineOptions& machine,
                                             const std::vector<std::vector<Step>>& phase) {
  const bool is_hmm = machine.kind == MachineKind::hmm;
  std::vector<std::vector<Access>> result(phase.size());
  for (std::uint64_t warp = 0; warp < phase.size(); ++warp) {
    for (std::uint64_t round = 0; round < phase[warp].size(); ++round) {
      const Step& step = phase[warp][round];
      std::set<std::uint64_t> words(step.word.begin(), step.word.end());
      words.erase(kNone);
      if (words.empty()) continue;
      const bool is_shared = step.what == What::shared;
      const bool banked = machine.kind == MachineKind::dmm || (is_hmm && is_shared);
      std::map<std::uint64_t, std::uint64_t> in_bank;
      std::set<std::uint64_t> groups;
      std::uint64_t worst = 0;
      for (const std::uint64_t word : words) {
        worst = std::max(worst, ++in_bank[word % machine.width]);
        groups.insert(word / machine.width);
      }
      result[warp].push_back(
          {round, is_hmm && is_shared ? 1 + warp % machine.dmms : 0, banked ? worst : groups.size()});
    }
  }
  return result;
}

std::uint64_t latency_of(const MachineOptions& machine, std::uint64_t memory) {
  return memory == 0 ? machine.latency : machine.shared_latency;
}

// Rounds one after another: fill every memory's pipeline, wait until all is through.
std::uint64_t time_by_rounds(const MachineOptions& machine, const std::vector<std::vector<Access>>& warps) {
  std::uint64_t time = 0;
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::map<std::uint64_t, std::uint64_t> last_entry;  // by memory
    for (const auto& warp : warps) {
      for (const Access& access : warp) {
        if (access.round == round) last_entry[access.memory] += access.stages;
      }
    }
    std::uint64_t longest = 0;
    for (const auto& [memory, unit] : last_entry) {
      longest = std::max(longest, unit + latency_of(machine, memory) - 1);
    }
    time += longest;
  }
  return time;
}

std::uint64_t time_overlapped(const MachineOptions& machine, const std::vector<std::vector<Access>>& warps) {
  struct State {
    std::size_t next = 0;
    std::uint64_t entered = 0;
    std::uint64_t completed = 0;  // at the end of this unit: the last access
  };
  std::vector<State> states(warps.size());
  std::uint64_t end = 0;
  std::size_t left = 0;
  for (const auto& warp : warps) left += warp.size();
  for (std::uint64_t unit = 1; left > 0; ++unit) {
    for (std::uint64_t memory = 0; memory <= machine.dmms; ++memory) {
      std::size_t first = warps.size();
      for (std::size_t i = 0; i < warps.size(); ++i) {
        if (states[i].next == warps[i].size() || states[i].completed >= unit) continue;
        const Access& access = warps[i][states[i].next];
        if (access.memory != memory) continue;
        const auto rank = [&](std::size_t warp) {
          return std::pair(warps[warp][states[warp].next].round, states[warp].completed);
        };
        if (first == warps.size() || rank(i) < rank(first)) first = i;
      }
      if (first == warps.size()) continue;
      State& state = states[first];
      if (++state.entered < warps[first][state.next].stages) continue;
      state = {state.next + 1, 0, unit + latency_of(machine, memory) - 1};
      end = std::max(end, state.completed);
      --left;
    }
  }
  return end;
}

MachineOptions random_machine(std::mt19937_64& random) {
  constexpr std::uint64_t widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 32};
  MachineOptions machine;
  machine.kind = static_cast<MachineKind>(random() % 3);
  machine.width = widths[random() % std::size(widths)];
  machine.latency = 1 + random() % (random() % 2 == 0 ? 4 : 40);
  machine.threads = machine.width * (1 + random() % 9);
  if (machine.kind == MachineKind::hmm) {
    machine.dmms = 1 + random() % 4;
    machine.shared_latency = 1 + random() % 8;
  }
  machine.overlap = true;
  return machine;
}

std::string text_of(const MachineOptions& machine) {
  return std::string(name(machine.kind)) + ", w " + std::to_string(machine.width) + ", l " +
         std::to_string(machine.latency) + ", p " + std::to_string(machine.threads) + ", k " +
         std::to_string(machine.dmms) + ", shared l " + std::to_string(machine.shared_latency);
}

TEST(MachineTiming, RandomProgramsUnitByUnit) {
  constexpr unsigned seed = 5;
  std::mt19937_64 random(seed);
  int faster = 0;
  int mixed = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const MachineOptions machine = random_machine(random);
    const Program program = random_program(machine, random);
    const MachineReport report = run(machine, program);

    MachineReport expected;
    expected.overlap_time = 0;
    for (const auto& phase : program.phases) {
      const auto warps = accesses_of(machine, phase);
      expected.time += time_by_rounds(machine, warps);
      *expected.overlap_time += time_overlapped(machine, warps);
      std::map<std::uint64_t, std::set<bool>> rounds;
      for (std::uint64_t warp = 0; warp < warps.size(); ++warp) {
        for (const Access& access : warps[warp]) {
          rounds[access.round].insert(access.memory == 0);
          ++expected.requests;
          expected.stages += access.stages;
          const std::vector<std::uint64_t>& words = phase[warp][access.round].word;
          expected.accesses += static_cast<std::uint64_t>(
              std::count_if(words.begin(), words.end(), [](std::uint64_t word) { return word != kNone; }));
          if (expected.congestion.size() <= access.stages) expected.congestion.resize(access.stages + 1);
          ++expected.congestion[access.stages];
        }
      }
      expected.rounds += rounds.size();
      for (const auto& [round, memories] : rounds) mixed += memories.size() == 2 ? 1 : 0;
    }
    ASSERT_EQ(report.time, expected.time) << text_of(machine) << "; seed " << seed << ", trial " << trial;
    ASSERT_EQ(report.overlap_time, expected.overlap_time)
        << text_of(machine) << "; seed " << seed << ", trial " << trial;
    ASSERT_EQ(report, expected) << text_of(machine) << "; seed " << seed << ", trial " << trial;
    ASSERT_LE(*report.overlap_time, report.time)
        << text_of(machine) << "; seed " << seed << ", trial " << trial;
    faster += *report.overlap_time < report.time ? 1 : 0;
  }
  EXPECT_GT(faster, 1000);
  EXPECT_GT(mixed, 1000) << "rounds in which both memories of an HMM are asked";
}

// A phase in which going on with an early warp's long access would hold up another's chain: warp 0 asks the
// common memory for 1 stage and, two rounds later, for 10; warp 1 its own for 5, the common one for 1, its
// own for 10.
TEST(MachineTiming, OverlapNeverExceedsRoundsOneByOne) {
  const std::vector<OverlapAccess> accesses = {{.round = 0, .stages = 1, .memory = 0},
                                               {.round = 2, .stages = 10, .memory = 0},
                                               {.round = 0, .stages = 5, .memory = 1},
                                               {.round = 1, .stages = 1, .memory = 0},
                                               {.round = 2, .stages = 10, .memory = 1}};
  const std::vector<std::size_t> first = {0, 2};
  // Warp 0: units 1, 2 to 5; it waits in 6 for warp 1, whose access is of an earlier round; 7 to 12. Warp 1:
  // 1 to 5, 6, 7 to 16. Without the wait warp 1 would end in 22; rounds one by one take 5 + 1 + 10.
  EXPECT_EQ(overlap_time(accesses, first, {.memories = 2, .latency = 1, .shared_latency = 1}), 16U);
}

// The example of overlap.hpp.
TEST(MachineTiming, OverlapByHand) {
  const std::vector<OverlapAccess> accesses = {{.round = 0, .stages = 1, .memory = 0},
                                               {.round = 1, .stages = 1, .memory = 0},
                                               {.round = 0, .stages = 1, .memory = 0},
                                               {.round = 1, .stages = 1, .memory = 0}};
  const std::vector<std::size_t> first = {0, 2};
  EXPECT_EQ(overlap_time(accesses, first, {.memories = 1, .latency = 3, .shared_latency = 1}), 7U);
  EXPECT_EQ(overlap_time({}, {}, {.memories = 1, .latency = 3, .shared_latency = 1}), 0U);
  EXPECT_EQ(
      overlap_time({}, std::vector<std::size_t>{0, 0}, {.memories = 1, .latency = 3, .shared_latency = 1}),
      0U);
  // Warp 1 asks for the first time in round 1, before warp 0 comes back, and is not overtaken: A0 A0 B1 B1
  // A1, and B2 when B1 is over.
  const std::vector<OverlapAccess> skipping = {{.round = 0, .stages = 2, .memory = 0},
                                               {.round = 1, .stages = 1, .memory = 0},
                                               {.round = 1, .stages = 2, .memory = 0},
                                               {.round = 2, .stages = 1, .memory = 0}};
  EXPECT_EQ(overlap_time(skipping, first, {.memories = 1, .latency = 2, .shared_latency = 1}), 7U);
}

TEST(MachineTiming, TimePast64BitsIsRefused) {
  MachineOptions options;
  options.width = 1;
  options.threads = 1;
  options.latency = kMaxLatency;
  RoundTimer timer(options);
  const std::uint64_t word = 0;
  timer.begin_warp();
  for (std::uint64_t round = 0; round <= std::numeric_limits<std::uint64_t>::max() / kMaxLatency; ++round) {
    timer.add(round, RoundTimer::Space::global, {&word, 1}, 1);
  }
  test::expect_refused(ErrorCode::value, [&] { timer.end_phase(); });
}

}  // namespace machine_timing_test
}  // namespace faro::machine
