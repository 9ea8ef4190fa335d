// The row shuffles of a transposition in place.
//
//     m = 3, n = 8, row 0, C2R:   element j goes to place 3 j mod 8      0 3 6 . 1 4 7 . 2 5
//                                                                        wrap 0 | wrap 1 | wrap 2
//
// The places of consecutive elements are m apart until the row's end is reached, then they begin anew: a
// wrap. So the shuffle is nearly the transposition of an m x (n / m) array within the row. A row that the
// caches hold is moved element by element; a longer one in blocks (the plan says which): on one side m runs,
// a part of every wrap, on the other one stretch of the row.
//
//     runs   | 0 1 | 2 3 | 4 5 |  <--transposed-->  | 0 2 4 | 1 3 5 |   stretch      m = 3, runs of 2
//
// A row lies whole, or along a diagonal: panel p of it in the p-th row below
// (plan/cpu/transpose_workers.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/c2r_index.hpp"

namespace faro::cpu {

/// Which of the two, inverse to each other (kernels/c2r_index.hpp).
enum class Shuffle { c2r, r2c };

/// What of a row is moved: of C2R the places of its output, of R2C those of its input.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Where a row lies.
struct RowPlace {
  std::byte* first = nullptr;   // of the row; of a diagonal, of the array
  std::uint64_t row_bytes = 0;  // 0: the row lies whole
  std::uint64_t row = 0;        // of a diagonal's panel 0
  std::uint64_t rows = 0;

  bool whole() const { return row_bytes == 0; }
  /// Column j of panel p is j elements from here.
  std::byte* panel(std::uint64_t p) const {
    const std::uint64_t below = row + p;
    return first + (below < rows ? below : below - rows) * row_bytes;
  }
};

class RowShuffle {
 public:
  /// Requires: 2 <= m < n (unchecked).
  RowShuffle(std::uint64_t m, std::uint64_t n, std::uint64_t element_bytes, Shuffle direction);

  /// All of row i, element by element.   Requires: C2R's output and R2C's input lie whole; no overlap
  /// (unchecked).
  void move(std::uint64_t i, const RowPlace& from, const RowPlace& to) const;
  /// A part of it in blocks, which needs nothing but its own elements of `to`. Uses 8 KiB of stack.
  void move_stretch(std::uint64_t i, const Stretch& stretch, const RowPlace& from, const RowPlace& to) const;
  /// The same elements in another place.
  void copy(const Stretch& stretch, const RowPlace& from, const RowPlace& to) const;

 private:
  struct Block;
  struct Run {
    std::uint64_t begin;
    std::uint64_t panel;
    std::uint64_t panel_end;
  };
  template <typename Use>
  void by_panels(const Stretch& stretch, bool whole, const Use& use) const;
  void move_block(std::uint64_t i, const Block& block, const RowPlace& runs_place) const;
  std::uint64_t staged_runs() const;
  Run run_of(std::uint64_t i, std::uint64_t place) const;
  Run next_in_panel(const Run& run) const;

  kernels::C2rShape shape_;
  std::uint64_t element_bytes_;
  Shuffle direction_;
};

}  // namespace faro::cpu
