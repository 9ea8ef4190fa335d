// Accesses and transposes of a w x w matrix whose rows are shifted, each by a number of its own: RAW, RAS,
// RAP.
//
//     element (r, c) is word r w + (c + s_r) mod w       RAW  s_r = 0
//                                                        RAS  s_r are independent random numbers
//                                                        RAP  s is a random permutation of 0 .. w-1
//
//     thread i w + j       touches         reads           writes
//     contiguous           (i, j)
//     stride               (j, i)
//     diagonal             (j, i+j mod w)
//     transpose-crsw                       (i, j)          (j, i)
//     transpose-srcw                       (j, i)          (i, j)
//     transpose-drdw                       (j, i+j mod w)  (i+j mod w, j)
//
// In RAW a matrix may have any side; both matrices of a transpose are laid out alike. A program is two lists,
// like a permutation's schedule (permute.hpp), and known before it runs. What a warp costs depends on the
// random numbers, so the formula counts it.
//
// Source: Nakano, Matsumae, Ito, "Random address permute-shift technique for the shared memory on GPUs",
// sections IV to VI.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "faro/device/memory.hpp"
#include "programs/access.hpp"

namespace faro::programs {

enum class MatrixLayout : std::uint8_t { raw, ras, rap };

/// "raw", "ras" or "rap".
std::string_view name(MatrixLayout layout);
/// Errors: ErrorCode::value for another word.
MatrixLayout parse_matrix_layout(std::string_view text);

enum class MatrixProgram : std::uint8_t { contiguous, stride, diagonal, crsw, srcw, drdw };

/// What thread x reads and writes, x below n; nothing is read by what only touches.
struct MatrixAccess {
  std::vector<std::uint32_t> source;
  std::vector<std::uint32_t> target;
};

/// The s_r of a layout of side m. The same numbers for the same seed as faro/layout/shared.hpp has.
std::vector<std::uint32_t> row_shifts(MatrixLayout layout, std::uint64_t side, std::uint64_t seed);

/// Errors: ErrorCode::value where n is no square, and, but for RAW, not w^2.
MatrixAccess matrix_access(MatrixProgram program, MatrixLayout layout, const machine::MachineOptions& machine,
                           std::uint64_t n, std::uint64_t seed);

/// Where the element (r, c) is, by its place r m + c; for whoever checks a program.
std::vector<std::uint32_t> matrix_places(MatrixLayout layout, std::uint64_t side, std::uint64_t seed);

struct TouchParams {
  AccessParams access;
  const std::uint32_t* target = nullptr;
};

/// to[target[x]] <- target[x].
template <device::Memory Memory>
constexpr void touch_words(Memory& memory, const TouchParams& params, std::uint64_t block,
                           std::uint32_t thread) {
  const AccessParams& access = params.access;
  for (std::uint64_t t = 0; t < access.rounds(); ++t) {
    const std::uint64_t x = t * access.threads + access.thread_of(block, thread);
    memory.template store_global<4>(access.to, std::uint64_t{4} * params.target[x],
                                    detail::word(params.target[x]));
  }
}

/// (l - 1) n/p for each of its lists, and the stages of every warp, counted. Errors: as check_sizes.
Cost matrix_access_cost(const machine::MachineOptions& machine, const MatrixAccess& access);

}  // namespace faro::programs
