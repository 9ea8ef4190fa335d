// One program on one memory machine: run on real data, verified, timed, and held against its formula.
//
//     const Simulation s = simulate(
//         {.program = "transpose-diagonal",
//          .machine = {.kind = MachineKind::dmm, .width = 4, .latency = 5, .threads = 16},
//          .n = 16});
//     s.report.time      16: one round of reads, one of writes, each 16/4 stages + 5 - 1
//     s.formula          16, "2 (p/w + l - 1) n/p", "Lemma 5.1"
//     s.lower_bound       5: max(16/4, 16/16 * 5)
//
// What runs:  contiguous, stride, copy              access.hpp
//             transpose-straightforward             transpose.hpp
//             transpose-diagonal                    transpose.hpp; on the HMM in hierarchical.hpp
//             transpose-rotating                    rotating_transpose.hpp
//             diagonal                              matrix_access.hpp, as are contiguous and stride with a
//             transpose-crsw, -srcw, -drdw          layout
//             permute                               on the DMM permute.hpp, on the UMM permute_umm.hpp, on
//                                                   the HMM hierarchical.hpp; `direct` the plain loop on any
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faro/machine/machine_options.hpp"
#include "faro/machine/round_timer.hpp"
#include "faro/machine/timeline.hpp"
#include "faro/permutation/permutation.hpp"
#include "programs/cost.hpp"
#include "programs/matrix_access.hpp"

namespace faro::programs {

/// The names of all programs, in the order above.
std::span<const std::string_view> program_names();

struct ProgramRequest {
  std::string program;
  /// Among its sizes threads 0 stands for the most that the program allows, registers 0 for the width.
  /// Words are 4 bytes.
  machine::MachineOptions machine = {.threads = 0};
  /// Words; 0: as many as `permutation` has, else w^2. Of `permute` any number: words are added that stay
  /// where they are, up to what its theorem takes.
  std::uint64_t n = 0;
  /// What `permute` does; nothing: a random permutation of `seed`.
  std::optional<Permutation> permutation = {};
  std::uint64_t seed = 0;
  /// `permute` by the plain loop b[P(i)] <- a[i]: what the others are to beat.
  bool direct = false;
  /// How the w x w matrix of contiguous, stride, diagonal and transpose-crsw, -srcw and -drdw is laid out, by
  /// random numbers of `seed`. Nothing: RAW; and contiguous and stride are those of access.hpp.
  std::optional<MatrixLayout> layout = {};
};

struct Simulation {
  ProgramRequest request;      // as it was run: sizes that were left open are filled in
  std::uint64_t padded_n = 0;  // words that were run on; more than request.n where some were added
  machine::MachineReport report;
  machine::Timeline timeline;
  Cost formula;  // formula.time == report.time
  std::uint64_t lower_bound = 0;
};

/// Runs the program, compares every word with a plain loop, and the time with the formula.
/// Errors: ErrorCode::value for an unknown program, sizes that do not fit the machine or the program, a
///         permutation of other than n elements or of no permutation program; ErrorCode::internal where
///         data or time are not as they should be. Cost: at most 5 n words of memory, and what edge
///         colouring takes.
Simulation simulate(const ProgramRequest& request);

/// The permutation of `seed` that `permute` runs: as a list, n below 2^32.
std::vector<std::uint32_t> random_permutation(std::uint64_t n, std::uint64_t seed);

}  // namespace faro::programs
