// The accesses of a warp to a w x w matrix that the RAP paper studies, as addresses under a layout.
//
//     w = 4, warp i, lane j      contiguous (i, j)    stride (j, i)    diagonal (j, i + j mod w)
//     threads 4 i + j by place      0  1  2  3          0  4  8 12         0  4  8 12
//                                   4  5  6  7          1  5  9 13        13  1  5  9
//                                   8  9 10 11          2  6 10 14        10 14  2  6
//                                  12 13 14 15          3  7 11 15         7 11 15  3
//
// Random: every lane chooses any of the w w elements, independently, so that lanes may meet; they are then
// served together. (If they could not meet, w = 32 would give 3.53 in place of the 3.44 that is printed.)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "faro/layout/shared.hpp"
#include "reproduce/monte_carlo.hpp"

namespace faro::reproduce {

enum class Access { contiguous, stride, diagonal, random };
inline constexpr std::array kAccesses{Access::contiguous, Access::stride, Access::diagonal, Access::random};

constexpr std::string_view name(Access access) {
  constexpr std::array<std::string_view, kAccesses.size()> names{"contiguous", "stride", "diagonal",
                                                                 "random"};
  return names[static_cast<std::size_t>(access)];
}

/// Fills `addresses`, one of every lane j < w, with warp i's access.
template <layout::Index w, typename Layout>
void address_lanes(const Layout& at, Access access, layout::Index i, layout::SplitMix64& random,
                   std::span<std::uint64_t> addresses) {
  switch (access) {
    case Access::contiguous:
      for (layout::Index j = 0; j < w; ++j) addresses[j] = at(i, j);
      return;
    case Access::stride:
      for (layout::Index j = 0; j < w; ++j) addresses[j] = at(j, i);
      return;
    case Access::diagonal:
      for (layout::Index j = 0; j < w; ++j) addresses[j] = at(j, (i + j) % w);
      return;
    case Access::random:
      for (layout::Index j = 0; j < w; ++j) {
        const layout::Index row = random.below(w);
        addresses[j] = at(row, random.below(w));
      }
      return;
  }
}

enum class Layout2 { raw, ras, rap };
inline constexpr std::array kLayouts2{Layout2::raw, Layout2::ras, Layout2::rap};
inline constexpr std::array<layout::Index, 5> kWidths{16, 32, 64, 128, 256};

constexpr std::string_view name(Layout2 layout) {
  constexpr std::array<std::string_view, kLayouts2.size()> names{"RAW", "RAS", "RAP"};
  return names[static_cast<std::size_t>(layout)];
}

/// One cell: a layout, an access, a width (one of kWidths).
struct MatrixCell {
  Layout2 layout = Layout2::raw;
  Access access = Access::contiguous;
  layout::Index width = 32;
};

/// "RAP, diagonal, w = 32"
std::string to_text(const MatrixCell& cell);

/// What Table II prints of a cell that is a mean.
double table2_mean(const MatrixCell& cell);

/// Whether the congestion is the same for every seed and warp: 1, or w of RAW's stride.
constexpr bool is_certain(const MatrixCell& cell) {
  return cell.access == Access::contiguous ||
         (cell.layout != Layout2::ras && cell.access == Access::stride) ||
         (cell.layout == Layout2::raw && cell.access == Access::diagonal);
}

struct MatrixTrials {
  std::uint64_t count = 0;
  std::uint64_t seed = 0;
  std::string table;  // its name: cells of two tables draw from different seeds
};

/// `count` trials, each with a fresh layout and the access of a random warp; a certain cell is tried with
/// every warp of at most 256 fresh layouts instead.
Tally measure(const MatrixCell& cell, const MatrixTrials& trials);

}  // namespace faro::reproduce
