// A view of a small array that one thread moves at once, as little as says how: many of them lie one behind
// another in memory, where a program with its tables would be fetched line by line from wherever it was made;
// and it is made in a fraction of a microsecond, for arrays of a shape that comes once.
//
//     rows along the output's run, columns along the input's     planes that are transposed in registers
//     neither                                                    units that are copied
//     the others                                                 a nest of these
//
// Which of them an axis is, its strides say: no box is looked for, since the first-level cache holds all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/strided_nest.hpp"
#include "faro/problem/problem.hpp"
#include "permutation/axis_map.hpp"

namespace faro::cpu {

class SmallMove {
 public:
  static constexpr std::size_t kMostAxes = 6;
  static constexpr std::uint64_t kMostPlaces = 256;  // of rows, or of columns

  explicit SmallMove(std::uint64_t unit_bytes) : unit_bytes_(static_cast<std::uint32_t>(unit_bytes)) {}

  enum class Kind : std::uint8_t { rows, columns, nest };
  /// One more axis, the fastest of its kind first: of the rows, then of the columns, then of the nest. False
  /// where there is no room for it; the move is of no use then.
  bool add(Kind kind, std::uint64_t extent, std::int64_t in, std::int64_t out);

 private:
  friend class ReadyMove;

  struct Axis {
    std::uint32_t extent;
    std::int32_t in;
    std::int32_t out;
  };
  std::uint32_t unit_bytes_;
  std::array<std::uint8_t, 3> axes_of_{};  // of each kind
  std::array<Axis, kMostAxes> axis_{};
};

/// A move with the tables of its places, for arrays one after another: 4 KiB of the stack.
class ReadyMove {
 public:
  explicit ReadyMove(const SmallMove& move);

  /// Requires: arrays that do not overlap (unchecked).   Cost: no allocation.
  void run(const std::byte* in, std::byte* out, const NextArrays& next = {}) const;

 private:
  // The places along axes, the first the fastest.
  class Table {
   public:
    Table() { places_[0] = 0; }
    void add(std::uint64_t extent, std::int64_t stride);
    const std::int64_t* data() const { return places_; }
    std::uint64_t count() const { return count_; }

   private:
    std::uint64_t count_ = 1;
    std::int64_t places_[SmallMove::kMostPlaces];  // only what is used is set
  };

  std::uint64_t unit_bytes_;
  bool turns_;
  StridedNest nest_;
  Table rows_;
  Table columns_;
};

/// The move of a view in normal form; nothing for what is not small, for axes that go backwards, and for few
/// long rows or columns, which channels.hpp moves faster. Cost: some ten nanoseconds.
std::optional<SmallMove> small_move(const std::vector<detail::StridedAxis>& axes,
                                    std::uint64_t element_bytes);
/// Of a view, or a permutation of axes, out of place; nothing for other problems. Requires: one that a plan
/// takes.
std::optional<SmallMove> small_move(const Problem& problem);

}  // namespace faro::cpu
