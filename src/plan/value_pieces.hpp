// A view with arithmetic in pieces: parts of its index space whose arrays are small enough for a device, and
// lie there without gaps.
//
//     host input                      device                          host output
//     strides of the view   -->   in, in the input's order            strides of the view
//       gathered                       | changed                         ^
//                                  out, in the output's order  -->  scattered
//
// What is added is gathered as the input is. Gathering and scattering are views, too, of numbers as bytes,
// and go by the CPU's engine; what happens on the device is a view like any other. Pieces of the same extents
// differ in where their factors begin alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/value_plan.hpp"

namespace faro::detail {

struct ValuePiece {
  ValuePlan gathered;
  std::optional<ValuePlan> gathered_addend;
  ValuePlan changed;
  ValuePlan scattered;
};

class ValuePieces {
 public:
  /// Pieces whose three arrays have at most `piece_bytes` together, or one number each. `target`: the CPU's.
  /// Requires: a plan of at least one number.
  ValuePieces(const ValuePlan& plan, std::uint64_t piece_bytes, const Target& target);

  std::uint64_t count() const;
  /// Requires: index < count().
  ValuePiece piece(std::uint64_t index) const;
  /// Pieces of one kind have the same `changed`, but for its first factors.
  std::uint64_t kind(std::uint64_t index) const;

  /// Of the largest piece.
  std::uint64_t in_bytes() const;
  std::uint64_t addend_bytes() const;
  std::uint64_t out_bytes() const;

 private:
  std::uint64_t distinct(std::int64_t ValueStrides::*side) const;

  ValuePlan plan_;
  Target target_;
  std::vector<std::uint64_t> part_;  // extents of a whole piece
};

}  // namespace faro::detail
