// Two transposes of an m x m matrix without registers to spare: straightforward and diagonal.
//
//     m = w = 4. Thread j m + k of a round reads, per program (rows j of 4 threads = warps):
//
//     straightforward   a[k][j]               warp 0 reads column 0: one bank, four groups
//     diagonal          a[k][(j+k) mod m]     a's words by the thread that reads them:  0  4  8 12
//                                             a warp's four words are in four banks    13  1  5  9
//                                             (DMM: 1 stage) and four groups           10 14  2  6
//                                             (UMM: 4 stages)                           7 11 15  3
//
// The straightforward program writes b[j][k], one stage; the diagonal one b[(j+k) mod m][k], as it reads.
//
// That the diagonal takes one stage on the DMM needs w | m, which the lemma does not say: else a warp's words
// are a few arithmetic progressions, broken where k or the column wraps around, and these may share banks.
// The formulas below are exact for every m: they count the progressions.
//
// Source: section 5 and Lemma 5.1 of Nakano's memory machines paper.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "programs/access.hpp"

namespace faro::programs {

struct TransposeParams {
  AccessParams access;
  std::uint64_t side = 0;  // m; n = m^2
};

/// b[j][k] <- a[k][j]
template <device::Memory Memory>
constexpr void transpose_straightforward(Memory& memory, const TransposeParams& params, std::uint64_t block,
                                         std::uint32_t thread) {
  const AccessParams& access = params.access;
  const std::uint64_t m = params.side;
  for (std::uint64_t t = 0; t < access.rounds(); ++t) {
    const std::uint64_t x = t * access.threads + access.thread_of(block, thread);
    const std::uint64_t j = x / m;
    const std::uint64_t k = x % m;
    memory.template store_global<4>(access.to, 4 * (j * m + k),
                                    memory.template load_global<4>(access.from, 4 * (k * m + j)));
  }
}

/// b[(j+k) mod m][k] <- a[k][(j+k) mod m]
template <device::Memory Memory>
constexpr void transpose_diagonal(Memory& memory, const TransposeParams& params, std::uint64_t block,
                                  std::uint32_t thread) {
  const AccessParams& access = params.access;
  const std::uint64_t m = params.side;
  for (std::uint64_t t = 0; t < access.rounds(); ++t) {
    const std::uint64_t x = t * access.threads + access.thread_of(block, thread);
    const std::uint64_t k = x % m;
    const std::uint64_t j = (x / m + k) % m;
    memory.template store_global<4>(access.to, 4 * (j * m + k),
                                    memory.template load_global<4>(access.from, 4 * (k * m + j)));
  }
}

// Exact, on global memory. Errors: as check_sizes, and ErrorCode::value where n is no square.
// Cost: constant where w | m, else O(n).

/// w | m: ((w + 1) p/w + 2 (l - 1)) n/p on both machines.
Cost straightforward_transpose_cost(const machine::MachineOptions& machine, std::uint64_t n);
/// w | m: 2 (p/w + l - 1) n/p on the DMM, 2 (p + l - 1) n/p on the UMM.
Cost diagonal_transpose_cost(const machine::MachineOptions& machine, std::uint64_t n);

}  // namespace faro::programs
