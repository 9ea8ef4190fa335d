// The transposition of any m x n array in place: the plan of it.
//
// A rows x columns array, row-major, becomes its transpose, columns x rows, in the same memory, by three
// sweeps, or fewer (docs/theory/transposition.md; kernels/c2r_index.hpp has the equations): rotate columns,
// shuffle rows, shuffle columns. Which of C2R and R2C is taken follows the shape: the sweeps' rows are the
// longer side. Narrow arrays (the shorter side below 32) take a path of their own that fuses the column
// operations.
//
// Two axes of equal extents that change places, others between them, are square transpositions, one for each
// index of the axes between:
//
//     axes(2 5 3 5 7; 0 3 2 1 4)      2 arrays of 3 squares of 5 x 5 elements of 7
//
// Powers of two go through affine passes and never come here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faro/problem/pass.hpp"
#include "faro/problem/problem.hpp"
#include "faro/problem/target.hpp"

namespace faro {

/// `arrays` arrays of rows x columns elements, row-major, one after another. With `between`, which only
/// squares have, a row holds the rows of so many squares side by side, and each is transposed.
struct Rectangle {
  std::uint64_t arrays = 1;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t element_bytes = 4;
  std::uint64_t between = 1;

  std::uint64_t count() const { return rows * between * columns; }  // of one array
  std::uint64_t bytes() const { return arrays * count() * element_bytes; }
  bool is_square() const { return rows == columns; }
};

/// The rectangle that a problem's permutation transposes: an Axes of two axes that change places, or of three
/// of which the first stays (arrays) or the last stays (a wider element, to 16 bytes; of squares, any), two
/// equal axes that change places across others, or Affine of the first kinds; none where it is something
/// else.
std::optional<Rectangle> as_transposition(const Problem& problem);

enum class TransposeMethod { rows_in_memory, narrow };  // general; the shorter side below 32
const char* name(TransposeMethod method) noexcept;

class TransposePlan {
 public:
  /// Errors: ErrorCode::unsupported for a permutation that is no transposition, or elements wider than 16
  /// bytes but in squares (any width 1..16 works); ErrorCode::value past 2^62 bytes.
  TransposePlan(const Problem& problem, Target target);

  const Rectangle& rectangle() const { return rectangle_; }
  const Target& target() const { return target_; }
  bool r2c() const { return r2c_; }  // else C2R
  TransposeMethod method() const { return method_; }
  /// The sweeps over the arrays, in their order: Pass::what is "rotate columns", "shuffle rows", ….
  const std::vector<Pass>& passes() const { return passes_; }

  /// To lend while running: at most max(rows, columns) elements a worker, for `workers()` of them; 0 where
  /// rows fit the fast memory.
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }
  std::uint64_t workers() const { return workers_; }
  /// The widest power of two up to 16 that divides the width of the problem's elements.
  std::uint64_t unit_bytes() const { return unit_bytes_; }

 private:
  Rectangle rectangle_;
  Target target_;
  bool r2c_ = false;
  TransposeMethod method_ = TransposeMethod::rows_in_memory;
  std::vector<Pass> passes_;
  std::uint64_t workspace_bytes_ = 0;
  std::uint64_t workers_ = 0;
  std::uint64_t unit_bytes_ = 1;
};

}  // namespace faro
