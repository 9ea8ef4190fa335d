// Every formula against the machine: simulate() itself compares the time with the formula and every word with
// a plain loop, so these sweeps only have to reach the sizes, and to see that they did.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/layout/shared.hpp"
#include "programs/simulation.hpp"

namespace faro::programs {
namespace programs_formula_test {

using machine::MachineKind;

const std::vector<MachineKind> kKinds{MachineKind::dmm, MachineKind::umm, MachineKind::hmm};

// What to paste into the command line.
std::string command_of(const ProgramRequest& request) {
  std::string line =
      "faro simulate " + request.program + " --machine " + std::string(machine::name(request.machine.kind)) +
      " --width " + std::to_string(request.machine.width) + " --latency " +
      std::to_string(request.machine.latency) + " --threads " + std::to_string(request.machine.threads) +
      " --n " + std::to_string(request.n) + " --registers " + std::to_string(request.machine.registers) +
      " --seed " + std::to_string(request.seed);
  if (request.machine.kind == MachineKind::hmm) {
    line += " --dmms " + std::to_string(request.machine.dmms) + " --shared-latency " +
            std::to_string(request.machine.shared_latency);
  }
  return line + (request.direct ? " --direct" : "");
}

// The request with 4-byte words, and no register count: the width.
ProgramRequest request_of(const std::string& program, MachineKind kind, std::uint64_t width,
                          std::uint64_t latency, std::uint64_t threads, std::uint64_t n) {
  ProgramRequest request{.program = program, .machine = {.threads = threads}, .n = n};
  request.machine.kind = kind;
  request.machine.width = width;
  request.machine.latency = latency;
  return request;
}

// Runs it; gives the time, or a failure.
std::uint64_t time_of(const ProgramRequest& request) {
  try {
    return simulate(request).report.time;
  } catch (const Error& error) {
    ADD_FAILURE() << command_of(request) << "\n" << error.what();
    return 0;
  }
}

// All p with w | p and p | n.
std::vector<std::uint64_t> thread_counts(std::uint64_t width, std::uint64_t n) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t p = width; p <= n; p += width) {
    if (n % p == 0) counts.push_back(p);
  }
  return counts;
}

const std::vector<std::uint64_t> kWidths{1, 2, 3, 4, 5, 6, 7, 8, 12, 32};
const std::vector<std::uint64_t> kLatencies{1, 2, 7, 100};

TEST(Formulas, ContiguousStrideCopy) {
  int common_factors = 0;  // gcd(n/p, w) neither 1 nor w
  for (const std::uint64_t width : kWidths) {
    for (std::uint64_t multiple = 1; multiple <= 30; ++multiple) {
      const std::uint64_t n = width * multiple;
      for (const std::uint64_t p : thread_counts(width, n)) {
        const std::uint64_t factor = std::gcd(n / p, width);
        if (factor != 1 && factor != width) ++common_factors;
        for (const MachineKind kind : kKinds) {
          for (const char* const program : {"contiguous", "stride", "copy"}) {
            time_of(request_of(program, kind, width, multiple % 2 == 0 ? 1 : 9, p, n));
          }
        }
      }
    }
  }
  EXPECT_GT(common_factors, 50);
}

// The figures of Table 1's rows, by hand, at w = 4, p = 8, l = 3: n/p = 2 and 6.
TEST(Formulas, ByHand) {
  // Two rounds of 2 + 3 - 1 units.
  EXPECT_EQ(time_of(request_of("contiguous", MachineKind::dmm, 4, 3, 8, 16)), 8U);
  EXPECT_EQ(time_of(request_of("contiguous", MachineKind::umm, 4, 3, 8, 16)), 8U);
  EXPECT_EQ(time_of(request_of("copy", MachineKind::umm, 4, 3, 8, 16)), 16U);
  // Stride 2: banks 0 2 0 2, two groups. Two stages a warp: 4 + 2 units a round.
  EXPECT_EQ(time_of(request_of("stride", MachineKind::dmm, 4, 3, 8, 16)), 12U);
  EXPECT_EQ(time_of(request_of("stride", MachineKind::umm, 4, 3, 8, 16)), 12U);
  // Stride 6: banks 0 2 0 2, but four groups: 6 (4 + 2) and 6 (8 + 2).
  EXPECT_EQ(time_of(request_of("stride", MachineKind::dmm, 4, 3, 8, 48)), 36U);
  EXPECT_EQ(time_of(request_of("stride", MachineKind::umm, 4, 3, 8, 48)), 60U);
  // Stride 5 is conflict-free in banks.
  EXPECT_EQ(time_of(request_of("stride", MachineKind::dmm, 4, 3, 8, 40)), 20U);
  // Lemma 5.1's figure, n = p = 16, w = 4: diagonal 4 + 4 + 2 (l - 1) on the DMM, straightforward 16 + 4.
  EXPECT_EQ(time_of(request_of("transpose-diagonal", MachineKind::dmm, 4, 5, 16, 16)), 16U);
  EXPECT_EQ(time_of(request_of("transpose-diagonal", MachineKind::umm, 4, 5, 16, 16)), 40U);
  EXPECT_EQ(time_of(request_of("transpose-straightforward", MachineKind::dmm, 4, 5, 16, 16)), 28U);
  // w x w by w threads with w registers: 2 w l.
  EXPECT_EQ(time_of(request_of("transpose-rotating", MachineKind::umm, 4, 5, 4, 16)), 40U);
  // Any permutation of w x w: three row passes of 2 (p/w + l - 1) n/p and two transposes of 2 w l.
  EXPECT_EQ(time_of(request_of("permute", MachineKind::umm, 4, 5, 4, 16)), 3U * 40 + 2U * 40);
  EXPECT_EQ(time_of(request_of("permute", MachineKind::dmm, 4, 5, 16, 16)), 16U);
}

TEST(Formulas, TransposesOfEverySide) {
  int undivided = 0;  // w does not divide m
  int narrow = 0;     // m < w
  for (const std::uint64_t width : kWidths) {
    for (std::uint64_t m = 1; m <= 64; ++m) {
      const std::uint64_t n = m * m;
      for (const std::uint64_t p : thread_counts(width, n)) {
        if (p != width && p != n && p % 5 != 0) continue;
        for (const MachineKind kind : {MachineKind::dmm, MachineKind::umm}) {
          time_of(request_of("transpose-straightforward", kind, width, 3, p, n));
          time_of(request_of("transpose-diagonal", kind, width, 3, p, n));
        }
        time_of(request_of("transpose-straightforward", MachineKind::hmm, width, 3, p, n));
        undivided += m % width != 0 ? 1 : 0;
        narrow += m < width ? 1 : 0;
      }
    }
  }
  EXPECT_GT(undivided, 50);
  EXPECT_GT(narrow, 5);
}

// Where w does not divide m the diagonal is not free of conflicts, though the lemma does not say so.
TEST(Formulas, DiagonalNeedsTheWidthToDivideTheSide) {
  const auto time = time_of(request_of("transpose-diagonal", MachineKind::dmm, 4, 1, 4, 36));
  EXPECT_GT(time, 2U * 9);  // m = 6
}

TEST(Formulas, RotatingTranspose) {
  struct Shape {
    std::uint64_t width;
    std::uint64_t registers;
    std::uint64_t tile;
  };
  int several_groups = 0;
  for (const Shape& s :
       {Shape{1, 1, 1}, Shape{3, 3, 3}, Shape{4, 4, 4}, Shape{4, 1, 2}, Shape{5, 5, 5}, Shape{6, 6, 6},
        Shape{7, 7, 7}, Shape{8, 2, 4}, Shape{9, 1, 3}, Shape{12, 12, 12}, Shape{12, 3, 6}, Shape{16, 4, 8},
        Shape{16, 1, 4}, Shape{18, 2, 6}, Shape{32, 32, 32}, Shape{32, 8, 16}, Shape{32, 2, 8}}) {
    for (std::uint64_t m = s.tile; m <= 4 * s.width && m <= 96; m += s.tile) {
      if (m != s.tile && m % s.width != 0) continue;
      const std::uint64_t n = m * m;
      for (const std::uint64_t p : thread_counts(s.width, n)) {
        if (n % (s.registers * p) != 0) continue;
        for (const MachineKind kind : kKinds) {
          ProgramRequest request = request_of("transpose-rotating", kind, s.width, 4, p, n);
          request.machine.registers = s.registers;
          time_of(request);
        }
        several_groups += s.tile != s.width ? 1 : 0;
      }
    }
  }
  EXPECT_GT(several_groups, 20);
}

TEST(Formulas, PermutationOnTheDmm) {
  for (const std::uint64_t width : kWidths) {
    for (const std::uint64_t multiple : {1U, 2U, 6U, 10U, 32U}) {
      const std::uint64_t n = width * multiple;
      for (const std::uint64_t p : thread_counts(width, n)) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
          ProgramRequest request = request_of("permute", MachineKind::dmm, width, 1 + 3 * seed, p, n);
          request.seed = seed;
          time_of(request);
        }
      }
    }
  }
}

TEST(Formulas, PermutationOnTheUmm) {
  struct Case {
    std::uint64_t width;
    std::uint64_t n;
    std::uint64_t registers;
  };
  for (const Case& c :
       {Case{1, 1, 1},      Case{1, 60, 1},   Case{2, 2, 2},    Case{2, 4, 2},      Case{2, 32, 2},
        Case{2, 1024, 2},   Case{3, 9, 3},    Case{3, 27, 3},   Case{3, 243, 3},    Case{4, 16, 4},
        Case{4, 64, 4},     Case{4, 64, 1},   Case{4, 1024, 1}, Case{4, 4096, 4},   Case{5, 125, 5},
        Case{6, 36, 6},     Case{6, 1296, 6}, Case{7, 49, 7},   Case{8, 512, 2},    Case{12, 144, 3},
        Case{12, 1728, 12}, Case{16, 256, 1}, Case{32, 32, 32}, Case{32, 1024, 32}, Case{32, 1024, 8},
        Case{32, 32768, 32}}) {
    for (const std::uint64_t p : thread_counts(c.width, c.n)) {
      if (c.n > c.width && c.n % (c.registers * p) != 0 && c.width > 1) continue;
      ProgramRequest request = request_of("permute", MachineKind::umm, c.width, 6, p, c.n);
      request.machine.registers = c.registers;
      request.seed = p;
      time_of(request);
    }
  }
}

TEST(Formulas, HierarchicalMachine) {
  int partial = 0;  // DMMs that get different numbers of blocks
  for (const std::uint64_t width : {1U, 2U, 3U, 4U, 6U, 32U}) {
    for (std::uint64_t m = width; m <= 64 && m <= 6 * width; m += width) {
      for (const std::uint64_t p : thread_counts(width, m * m)) {
        for (const std::uint64_t dmms : {1U, 2U, 3U}) {
          ProgramRequest request = request_of("permute", MachineKind::hmm, width, 5, p, m * m);
          request.machine.dmms = dmms;
          request.machine.shared_latency = 2;
          if (m <= 32) time_of(request);
          request.program = "transpose-diagonal";
          time_of(request);
          partial += p / std::gcd(p, m) % dmms != 0 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(partial, 50);
}

// All threads at once, DMMs evenly used: the published figures, 16 and 2 rounds of either memory.
TEST(Formulas, HierarchicalMachineWithAllThreads) {
  struct Case {
    std::uint64_t width;
    std::uint64_t side;
    std::uint64_t dmms;
    std::uint64_t latency;
  };
  for (const Case& c : {Case{4, 16, 4, 10}, Case{4, 16, 2, 1}, Case{8, 32, 16, 50}, Case{32, 64, 4, 300}}) {
    const std::uint64_t n = c.side * c.side;
    ProgramRequest request = request_of("permute", MachineKind::hmm, c.width, c.latency, n, n);
    request.machine.dmms = c.dmms;
    EXPECT_EQ(time_of(request), 16 * n / c.width + 16 * n / (c.dmms * c.width) + 16 * c.latency - 16);
    request.program = "transpose-diagonal";
    EXPECT_EQ(time_of(request), 2 * n / c.width + 2 * n / (c.dmms * c.width) + 2 * c.latency - 2);
  }
}

TEST(Formulas, DirectPermutation) {
  for (const MachineKind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      ProgramRequest request = request_of("permute", kind, 6, 3, 12, 144);
      request.direct = true;
      request.seed = seed;
      time_of(request);
    }
    // A transpose, directly: writes of w stages on either machine.
    ProgramRequest transpose = request_of("permute", kind, 32, 1, 1024, 1024);
    transpose.direct = true;
    transpose.permutation = parse_permutation("transpose(32, 32)");
    EXPECT_EQ(time_of(transpose), 32U + 1024U);
  }
}

// Any number of words is brought to what the theorem takes by words that stay where they are.
TEST(Formulas, PermutationsOfAnyNumberOfWords) {
  for (const MachineKind kind : kKinds) {
    for (std::uint64_t n = 1; n <= 40; ++n) {
      for (const bool direct : {false, true}) {
        ProgramRequest request = request_of("permute", kind, 4, 3, 0, n);
        request.direct = direct;
        request.seed = n;
        const Simulation run = simulate(request);
        EXPECT_EQ(run.request.n, n);
        const std::uint64_t whole = (n + 3) / 4 * 4;
        const std::uint64_t power = n <= 4 ? 4 : n <= 16 ? 16 : 64;
        const std::uint64_t square = n <= 16 ? 16 : 64;
        EXPECT_EQ(run.padded_n, direct || kind == MachineKind::dmm ? whole
                                : kind == MachineKind::umm         ? power
                                                                   : square)
            << command_of(request);
        EXPECT_EQ(run.report.time, run.formula.time);
      }
    }
  }
  // Rounds of p threads are whole.
  EXPECT_EQ(simulate(request_of("permute", MachineKind::dmm, 4, 3, 8, 12)).padded_n, 16U);
}

// In whatever form the permutation is given; simulate() compares every word.
TEST(Formulas, PermutationsInEveryForm) {
  for (const std::string text :
       {"roll(12, 5)", "flip(13)", "transpose(3, 5)", "axes(2 3 4; 2 0 1)", "indices(2 0 1)",
        "random(100, 7)", "inverse(random(100, 7))", "gray(5)", "bits(4; 2 3 0 1)"}) {
    for (const MachineKind kind : kKinds) {
      ProgramRequest request = request_of("permute", kind, 4, 3, 0, 0);
      request.permutation = parse_permutation(text);
      const Simulation run = simulate(request);
      EXPECT_EQ(run.request.n, element_count(*request.permutation)) << text;
      request.direct = true;
      simulate(request);
    }
  }
  // Read either way.
  const std::vector<std::uint32_t> entries{1, 2, 3, 4, 5, 6, 7, 0};
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    ProgramRequest request = request_of("permute", MachineKind::dmm, 4, 3, 0, 0);
    request.permutation = Indexed(entries, direction);
    simulate(request);
  }
}

// The table of the RAP paper's section IV on a small machine: RAW's strides are slow, RAP's are not, whatever
// its random numbers; contiguous access is one stage in every layout.
TEST(Formulas, LayoutsOfAMatrix) {
  for (const std::uint64_t w : {4U, 6U, 16U, 32U}) {
    const auto stages = [&](const std::string& program, MatrixLayout layout, std::uint64_t seed) {
      ProgramRequest request = request_of(program, MachineKind::dmm, w, 1, w * w, w * w);
      request.layout = layout;
      request.seed = seed;
      const Simulation run = simulate(request);
      EXPECT_EQ(run.report.time, run.formula.time);
      return run.report.stages;
    };
    using enum MatrixLayout;
    std::uint64_t all_of_ras = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      for (const MatrixLayout layout : {raw, ras, rap}) {
        EXPECT_EQ(stages("contiguous", layout, seed), w);
        EXPECT_EQ(stages("stride", layout, seed) == w * w, layout == raw);
        EXPECT_EQ(stages("transpose-crsw", layout, seed), stages("transpose-srcw", layout, seed));
      }
      EXPECT_EQ(stages("stride", rap, seed), w);
      EXPECT_EQ(stages("diagonal", raw, seed), w);
      EXPECT_GE(stages("stride", ras, seed), w);  // by chance as few
      all_of_ras += stages("stride", ras, seed);
      EXPECT_EQ(stages("transpose-crsw", rap, seed), 2 * w);
      EXPECT_EQ(stages("transpose-crsw", raw, seed), w + w * w);
      EXPECT_EQ(stages("transpose-drdw", raw, seed), 2 * w);
      EXPECT_EQ(stages("transpose-drdw", ras, seed), 2 * stages("diagonal", ras, seed));
    }
    EXPECT_GT(all_of_ras, 20 * w);
  }
  // Without a layout the matrix may have any side; the UMM does not care for shifts.
  EXPECT_EQ(time_of(request_of("transpose-srcw", MachineKind::umm, 4, 3, 64, 64)),
            time_of(request_of("transpose-straightforward", MachineKind::umm, 4, 3, 64, 64)));
  EXPECT_EQ(time_of(request_of("transpose-drdw", MachineKind::dmm, 4, 3, 64, 64)),
            time_of(request_of("transpose-diagonal", MachineKind::dmm, 4, 3, 64, 64)));
  // The numbers are those of the layouts for kernels.
  const auto rap = layout::Rap<32>::random(9);
  const std::vector<std::uint32_t> places = matrix_places(MatrixLayout::rap, 32, 9);
  for (layout::Index i = 0; i < 32; ++i) {
    for (layout::Index j = 0; j < 32; ++j) EXPECT_EQ(places[i * 32 + j], rap(i, j));
  }
}

TEST(Formulas, Latencies) {
  for (const std::uint64_t latency : kLatencies) {
    for (const MachineKind kind : kKinds) {
      for (const std::string_view program : program_names()) {
        time_of(request_of(std::string(program), kind, 4, latency, 0, 256));
      }
    }
  }
}

}  // namespace programs_formula_test
}  // namespace faro::programs
