// A view of a small array that one thread moves at once, as little as says how: many of them lie one behind
// another in memory, where a program with its tables would be fetched line by line from wherever it was made.
//
//     rows along the output's run, columns along the input's     planes that are transposed in registers
//     neither                                                    units that are copied
//     the others                                                 a nest of these
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engines/cpu/strided_nest.hpp"
#include "faro/plan/plan.hpp"

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

  /// Requires: arrays that do not overlap (unchecked).   Cost: no allocation; 4 KiB of the stack for tables.
  void run(const std::byte* in, std::byte* out) const;

 private:
  struct Axis {
    std::uint32_t extent;
    std::int32_t in;
    std::int32_t out;
  };
  std::uint32_t unit_bytes_;
  std::array<std::uint8_t, 3> axes_of_{};  // of each kind
  std::array<Axis, kMostAxes> axis_{};
};

/// The move of a plan that one thread carries out at once, through the caches; nothing for others.
std::optional<SmallMove> small_move(const Plan& plan);

}  // namespace faro::cpu
