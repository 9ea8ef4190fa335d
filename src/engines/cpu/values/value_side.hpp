// Numbers converted in the order of an array's places: as they are read from it, or as they are written to
// it.
//
//     read       array --convert--> buffer, moved on from there
//     written    moved to a buffer --convert, + beta addend--> array
//
// A factor along an axis of the array is the one of (place / inner) mod extent, where inner is what lies
// behind the axis. A stretch of places with one factor, or one that lies together in the table of factors, is
// one run (value_run.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cpu/values/value_run.hpp"

namespace faro::cpu {

/// The factors of places, from a coefficient along an axis of a shape, or one for all.
class PlaceFactors {
 public:
  PlaceFactors(const Coefficient& of, const std::vector<std::uint64_t>& shape, Number computed);

  struct Stretch {
    Factors factors;
    std::uint64_t places = 0;  // that they are for, from the first on
  };
  Stretch at(std::uint64_t place) const;

 private:
  std::vector<std::byte> values_;
  std::uint64_t width_;
  std::uint64_t inner_ = 0;   // places of one value; 0: all
  std::uint64_t period_ = 0;  // places after which values are the first again
  bool varies_ = false;       // a value for each place of a period
};

/// What conversions in the order of places go by; made once.
class PlacedValues {
 public:
  /// Values of arithmetic.shape. `streamed`: what is written goes past the caches.
  PlacedValues(const Arithmetic& arithmetic, bool streamed);

  const ValueProgram& program() const { return program_; }
  /// Those of the first place.
  Factors scale() const { return scale_.at(0).factors; }
  Factors offset() const { return offset_.at(0).factors; }
  /// Numbers `place` and on of the array, from and to where those of `run` lie; its factors are set here.
  void convert(ValueRun run, std::uint64_t place) const;

 private:
  ValueProgram program_;
  PlaceFactors scale_;
  PlaceFactors offset_;
};

/// The arrays of a run, and the place in them of the first number of an array that is permuted.
struct ValueArrays {
  const std::byte* in = nullptr;
  const std::byte* addend = nullptr;
  std::byte* out = nullptr;
};

/// One side of a run.
class ValueSide {
 public:
  ValueSide(const PlacedValues& values, const ValueArrays& arrays, std::uint64_t first)
      : values_(values), arrays_(arrays), first_(first) {}

  /// Numbers at .. at + count - 1 of the array that is read.
  void read(std::uint64_t at, std::uint64_t count, std::byte* to) const {
    const std::uint64_t place = first_ + at;
    values_.convert({.from = arrays_.in + place * bytes_of(values_.program().from), .to = to, .count = count},
                    place);
  }
  /// Writes elements of the array.
  void write(const std::byte* from, std::uint64_t at, std::uint64_t count) const {
    const ValueProgram& program = values_.program();
    const std::uint64_t place = first_ + at;
    const std::byte* const addend =
        program.has_addend ? arrays_.addend + place * bytes_of(program.addend) : nullptr;
    values_.convert(
        {.from = from, .to = arrays_.out + place * bytes_of(program.to), .addend = addend, .count = count},
        place);
  }
  /// For loops that write numbers by themselves: where the first one lies, in the addend too, and its
  /// factors. Requires: a factor for all (unchecked).
  const ValueProgram& program() const { return values_.program(); }
  ValueRun first_written() const {
    const std::byte* const addend =
        program().has_addend ? arrays_.addend + first_ * bytes_of(program().addend) : nullptr;
    return {.to = arrays_.out + first_ * bytes_of(program().to),
            .addend = addend,
            .scale = values_.scale(),
            .offset = values_.offset()};
  }

 private:
  const PlacedValues& values_;
  ValueArrays arrays_;
  std::uint64_t first_;
};

}  // namespace faro::cpu
