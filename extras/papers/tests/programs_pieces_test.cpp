// The pieces of the programs one by one: the lemmas that they rest on, by hand where small, their refusals,
// and that they are kernels like others.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/congestion.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/machine/memory_machine.hpp"
#include "programs/hierarchical.hpp"
#include "programs/permute.hpp"
#include "programs/permute_umm.hpp"
#include "programs/progressions.hpp"
#include "programs/rotating_transpose.hpp"
#include "programs/simulation.hpp"
#include "programs/transpose.hpp"
#include "refusal.hpp"

namespace faro::programs {
namespace programs_pieces_test {

using machine::MachineKind;
using machine::MachineOptions;
using machine::MemoryMachine;
using Words = std::vector<std::uint32_t>;

Words ascending(std::size_t n) {
  Words words(n);
  std::iota(words.begin(), words.end(), 0U);
  return words;
}

std::span<std::byte> bytes_of(Words& words) { return std::as_writable_bytes(std::span(words)); }

AccessParams access_of(const MachineOptions& options, std::uint64_t n) {
  return {.n = n, .threads = options.threads, .block_threads = options.threads};
}

constexpr MachineOptions machine_of(MachineKind kind, std::uint64_t width, std::uint64_t latency,
                                    std::uint64_t threads) {
  MachineOptions options;
  options.kind = kind;
  options.width = width;
  options.latency = latency;
  options.threads = threads;
  options.registers = width;
  return options;
}

// --- Lemma 5.1's figure 5: who reads which word of a, m = 4

// A memory that also notes who reads what.
struct Noting {
  MemoryMachine& machine;
  Words& reader;
  std::uint32_t thread;
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) {
    reader[offset / 4] = thread;
    return machine.load_global<bytes>(buffer, offset);
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) {
    machine.store_global<bytes>(buffer, offset, packet);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    return machine.load_shared<bytes>(address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    machine.store_shared<bytes>(address, packet);
  }
};

TEST(Transpose, DiagonalReadsAsInTheFigure) {
  const MachineOptions options = machine_of(MachineKind::dmm, 4, 1, 16);
  Words a = ascending(16);
  Words b(16);
  MemoryMachine machine(options);
  machine.add_buffer(bytes_of(a));
  machine.add_buffer(bytes_of(b));
  Words reader(16);
  const TransposeParams params{.access = access_of(options, 16), .side = 4};
  machine.run({}, [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
    Noting noting{.machine = m, .reader = reader, .thread = thread};
    transpose_diagonal(noting, params, block, thread);
  });
  EXPECT_EQ(reader, (Words{0, 4, 8, 12, 13, 1, 5, 9, 10, 14, 2, 6, 7, 11, 15, 3}));
  EXPECT_EQ(b, (Words{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}));
  EXPECT_EQ(machine.report().congestion, (std::vector<std::uint64_t>{0, 8}));
}

// --- progressions, against counting

TEST(Progressions, CountAsATableDoes) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const std::uint64_t width = 1 + random() % 12;
    const std::uint64_t step = 1 + random() % 20;
    std::vector<Progression> progressions;
    std::vector<std::uint64_t> words;
    for (std::uint64_t i = 0, count = 1 + random() % 4; i < count; ++i) {
      const Progression p{.first = random() % 60, .step = step, .count = 1 + random() % width};
      std::vector<std::uint64_t> added;
      for (std::uint64_t j = 0; j < p.count; ++j) added.push_back(p.first + j * step);
      // Addresses of a warp differ.
      if (std::any_of(added.begin(), added.end(), [&](auto word) {
            return std::find(words.begin(), words.end(), word) != words.end();
          })) {
        continue;
      }
      words.insert(words.end(), added.begin(), added.end());
      progressions.push_back(p);
    }
    machine::TurnCounter turns(width);
    EXPECT_EQ(ProgressionStages(MachineKind::dmm, width)(progressions), turns.by_bank(words))
        << "seed " << seed;
    EXPECT_EQ(ProgressionStages(MachineKind::umm, width)(progressions), turns.by_group(words))
        << "seed " << seed;
  }
}

// --- Lemmas 7.1 and 7.2: in rows and in columns of w x w, on the UMM

class RowsAndColumns : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kWidth = 6;
  static constexpr std::uint64_t kN = kWidth * kWidth;
  static constexpr MachineOptions kOptions = machine_of(MachineKind::umm, kWidth, 9, kWidth);

  // A permutation that keeps every row to itself.
  static Words in_rows(std::uint32_t seed) {
    std::mt19937 random(seed);
    Words target = ascending(kN);
    for (std::uint64_t row = 0; row < kN; row += kWidth) {
      std::shuffle(target.begin() + static_cast<std::ptrdiff_t>(row),
                   target.begin() + static_cast<std::ptrdiff_t>(row + kWidth), random);
    }
    return target;
  }

  void SetUp() override {
    machine_.add_buffer(bytes_of(a_));
    machine_.add_buffer(bytes_of(b_));
    machine_.add_buffer(bytes_of(scratch_));
  }

  void run(const UmmPass& pass) {
    machine_.run({}, [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
      run_pass(m, pass, block, thread);
    });
  }

  UmmPass rows(const Words& target, int from, int to) {
    UmmPass pass{.kind = UmmPass::Kind::rows, .move = {.access = access_of(kOptions, kN)}};
    pass.move.target = target.data();
    pass.move.access.from = from;
    pass.move.access.to = to;
    return pass;
  }

  UmmPass transpose(int from, int to) {
    AccessParams access = access_of(kOptions, kN);
    access.from = from;
    access.to = to;
    return {.kind = UmmPass::Kind::tiles, .rotating = rotating_params(kOptions, access, kWidth, kWidth)};
  }

  Words a_ = ascending(kN);
  Words b_ = Words(kN);
  Words scratch_ = Words(kN);
  MemoryMachine machine_{kOptions};
};

TEST_F(RowsAndColumns, Rows) {
  const Words target = in_rows(1);
  run(rows(target, 0, 1));
  for (std::uint64_t x = 0; x < kN; ++x) EXPECT_EQ(b_[target[x]], x);
  EXPECT_EQ(machine_.report().time, row_permute_cost(kOptions, kN).time);
  EXPECT_EQ(machine_.report().time, 2 * 9 * kWidth);  // 2 (1 + l - 1) n/p
}

TEST_F(RowsAndColumns, Columns) {
  const Words target = in_rows(2);  // of the transposed matrix
  run(transpose(0, 1));
  run(rows(target, 1, 2));
  run(transpose(2, 1));
  for (std::uint64_t x = 0; x < kN; ++x) {
    const std::uint64_t moved = target[x % kWidth * kWidth + x / kWidth];
    EXPECT_EQ(b_[moved % kWidth * kWidth + moved / kWidth], x);
    EXPECT_EQ(moved / kWidth, x % kWidth);  // in its column
  }
  EXPECT_EQ(machine_.report().time, column_permute_cost(kOptions, kN).time);
  EXPECT_EQ(machine_.report().time, 3 * 2 * 9 * kWidth);
}

// --- the same programs as kernels: on the counting memory, with a GPU's banks

TEST(Kernels, TileTransposeIsFreeOfBankConflicts) {
  constexpr std::uint64_t kSide = 64;
  Words in = ascending(kSide * kSide);
  Words out(in.size());
  SharedTransposeParams params{
      .access = {.n = in.size(), .threads = in.size(), .block_threads = 256}, .side = kSide, .width = 32};
  machine::CountingMemory memory({.shared_bytes = params.shared_bytes()});
  memory.add_input(std::as_bytes(std::span(in)));
  memory.add_output(bytes_of(out));
  memory.run(
      {.blocks = params.blocks(), .threads = 256},
      [&](auto& m, std::uint64_t block, std::uint32_t thread) {
        load_tile_rotated(m, params, block, thread);
      },
      [&](auto& m, std::uint64_t block, std::uint32_t thread) {
        store_tile_transposed(m, params, block, thread);
      });
  EXPECT_EQ(memory.counts().shared_stores.max_congestion(), 1);
  EXPECT_EQ(memory.counts().shared_loads.max_congestion(), 1);
  for (std::uint64_t x = 0; x < in.size(); ++x) ASSERT_EQ(out[x % kSide * kSide + x / kSide], in[x]);
}

TEST(Kernels, RunOnRealMemory) {
  constexpr std::uint64_t kSide = 8;
  Words in = ascending(kSide * kSide);
  Words out(in.size());
  device::DirectMemory memory{.input = reinterpret_cast<const std::byte*>(in.data()),
                              .output = reinterpret_cast<std::byte*>(out.data())};
  const TransposeParams params{.access = {.n = in.size(), .threads = 16, .block_threads = 8}, .side = kSide};
  for (std::uint64_t block = 0; block < 2; ++block) {
    for (std::uint32_t thread = 0; thread < 8; ++thread) transpose_diagonal(memory, params, block, thread);
  }
  for (std::uint64_t x = 0; x < in.size(); ++x) ASSERT_EQ(out[x % kSide * kSide + x / kSide], in[x]);
}

// --- the lower bound, and what beats what

TEST(LowerBound, IsTheLargerLimit) {
  EXPECT_EQ(lower_bound(machine_of(MachineKind::dmm, 4, 5, 16), 16), 5U);
  EXPECT_EQ(lower_bound(machine_of(MachineKind::dmm, 4, 1, 16), 64), 16U);
  EXPECT_EQ(lower_bound(machine_of(MachineKind::umm, 4, 3, 4), 64), 48U);
  EXPECT_EQ(lower_bound(machine_of(MachineKind::umm, 5, 1, 5), 12), 3U);
}

TEST(Permute, ScheduleBeatsTheLoopOnATranspose) {
  const Words target = [] {
    Words list(1024);
    for (std::uint32_t x = 0; x < 1024; ++x) list[x] = x % 32 * 32 + x / 32;
    return list;
  }();
  const MachineOptions options = machine_of(MachineKind::dmm, 32, 10, 1024);
  EXPECT_EQ(direct_permute_cost(options, target).time, 32U + 9 + 1024 + 9);
  EXPECT_EQ(scheduled_permute_cost(options, 1024).time, 2U * (32 + 9));
}

TEST(Permute, RandomPermutationsArePermutations) {
  for (const std::uint64_t n : {1U, 2U, 3U, 1000U}) {
    Words list = random_permutation(n, 7);
    EXPECT_EQ(list, random_permutation(n, 7));
    if (n > 100) {
      EXPECT_NE(list, random_permutation(n, 8));
      EXPECT_NE(list, ascending(n));
    }
    std::sort(list.begin(), list.end());
    EXPECT_EQ(list, ascending(n));
  }
}

// --- refusals

std::string refusal_of(const ProgramRequest& request) {
  return test::message_of(ErrorCode::value, [&] { simulate(request); });
}

// simulate() adds words; the programs themselves refuse.
TEST(Refusals, OfSizesThatATheoremDoesNotTake) {
  const auto machine = [](MachineKind kind) {
    return machine::MachineOptions{.kind = kind, .width = 4, .latency = 1, .threads = 4, .registers = 4};
  };
  const auto refused = [](const auto& cost, const std::string& part) {
    EXPECT_NE(test::message_of(ErrorCode::value, cost).find(part), std::string::npos) << part;
  };
  refused([&] { umm_permute_cost(machine(MachineKind::umm), 32); }, "a power of the width");
  refused([&] { hmm_permute_cost(machine(MachineKind::hmm), 36); }, "a multiple of the width");
  refused([&] { hmm_permute_cost(machine(MachineKind::hmm), 32); }, "a square");
}

TEST(Refusals, AreNamed) {
  struct Case {
    std::string part;
    ProgramRequest request;
  };
  const auto request = [](const char* program, MachineKind kind, std::uint64_t width, std::uint64_t threads,
                          std::uint64_t n) {
    ProgramRequest r{.program = program, .machine = {.threads = threads}, .n = n};
    r.machine.kind = kind;
    r.machine.width = width;
    return r;
  };
  constexpr MachineKind kDmm = MachineKind::dmm;
  constexpr MachineKind kUmm = MachineKind::umm;
  ProgramRequest wrong_size = request("permute", kDmm, 4, 4, 64);
  wrong_size.permutation = parse_permutation("gray(4)");
  ProgramRequest misplaced = request("copy", kDmm, 4, 4, 16);
  misplaced.permutation = parse_permutation("gray(4)");
  ProgramRequest registers = request("transpose-rotating", kUmm, 4, 4, 16);
  registers.machine.registers = 2;
  ProgramRequest slow = request("stride", kDmm, 4, 4, std::uint64_t{1} << 26);
  slow.machine.latency = machine::kMaxLatency;
  ProgramRequest laid_out = request("stride", kDmm, 4, 4, 64);
  laid_out.layout = MatrixLayout::rap;
  ProgramRequest no_layout = request("copy", kDmm, 4, 4, 16);
  no_layout.layout = MatrixLayout::raw;
  for (const Case& c :
       {Case{"did you mean `stride`?", request("strid", kDmm, 4, 4, 16)},
        Case{"width 0", request("copy", kDmm, 0, 4, 16)},
        Case{"threads that the width divides", request("copy", kDmm, 4, 6, 12)},
        Case{"p = 8 threads for n = 12", request("copy", kDmm, 4, 8, 12)},
        Case{"p = 32 threads for n = 16", request("copy", kDmm, 4, 32, 16)},
        Case{"from 1 to 2^26", request("copy", kDmm, 4, 4, (std::uint64_t{1} << 26) + 4)},
        Case{"from 1 to 2^26", request("copy", kDmm, std::uint64_t{1} << 20, 0, 0)},
        Case{"the nearest are 9 and 16", request("transpose-diagonal", kDmm, 4, 4, 12)},
        Case{"sides that T = 4 divides", request("transpose-rotating", kUmm, 4, 4, 36)},
        Case{"w / r a square", registers},
        Case{"r p that divides n", request("transpose-rotating", kUmm, 4, 8, 16)},
        Case{"a square", request("transpose-crsw", kDmm, 4, 4, 32)}, Case{"w^2 = 16 words", laid_out},
        Case{"contiguous, stride, diagonal", no_layout}, Case{"16 elements with n = 64", wrong_size},
        Case{"the program `permute`", misplaced}, Case{"2^64 - 1 time units", slow}}) {
    EXPECT_NE(refusal_of(c.request).find(c.part), std::string::npos) << c.part << "\n"
                                                                     << refusal_of(c.request);
  }
}

}  // namespace programs_pieces_test
}  // namespace faro::programs
