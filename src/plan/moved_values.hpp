// Any permutation whose numbers are changed while they are moved: which way it goes, and on which side the
// numbers are converted.
//
//     way      permutation                     what becomes of it
//     views    axes, rolls, flips              each part as a view (value_plan.hpp)
//     tiles    other affine maps               boxes in a core's cache, moved by tiles, converted row by row
//     passes   multiplications, computed       the passes of the plain permutation; the first converts what it
//              maps, index arrays              reads, or the last what it writes
//     places   the first, where factors lie       each place of the output by itself
//              across their axes
//     buffer   arrays of a few KiB             moved whole in a core's cache
//     in place what can be moved there         moved, and then converted by another sweep
//
// Numbers are converted as they are read where that does not make them wider, so that tiles, passes and what
// lies between them have the narrower type; else as they are written:
//
//     f32 to bf16     in --converted--> bf16 --moved--> out       u8 to f32     in --moved--> u8 --converted--> out
//
// As they are written, too, where something is added, or a factor differs along the output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "faro/arithmetic.hpp"
#include "faro/plan/plan.hpp"
#include "faro/problem/problem.hpp"
#include "layout/tile_box.hpp"
#include "plan/value_plan.hpp"

namespace faro::detail {

enum class ConvertedSide { read, written };

struct ViewsOfValues {
  std::vector<ValuePlan> parts;
};

/// Tiles of units: elements wider than the widest unit are low bits that the map leaves alone.
struct TilesOfValues {
  Pass pass;  // with the box's tile
  layout::TileBox box;
  std::uint64_t vector_bytes = 64;
  std::uint64_t unit_bytes = 1;
  int unit_bits_per_element = 0;
};

/// `back`: from the output's places to the input's.
struct PlacesOfValues {
  Permutation back;
};

/// Passes of numbers of the width between reading and writing.
struct PassesOfValues {
  Plan plan;
  /// Bytes of an array that passes before the last write instead of the output: where that has numbers of
  /// another width, or is what is added.
  std::uint64_t between_bytes = 0;
};

/// So many arrays at a time, and the last of them.
struct BufferOfValues {
  Plan plan;
  std::uint64_t arrays = 1;
  std::optional<Plan> rest = {};
};

struct ValuesInPlace {
  Plan plan;
};

struct MovedValues {
  Arithmetic arithmetic;
  std::uint64_t count = 0;  // of one array
  std::uint64_t batch = 1;
  ConvertedSide side = ConvertedSide::written;
  std::variant<ViewsOfValues, PlacesOfValues, TilesOfValues, PassesOfValues, BufferOfValues, ValuesInPlace>
      way;
  bool streamed = false;  // what is converted as it is written goes past the caches
  int threads = 1;

  std::uint64_t numbers() const { return count * batch; }
  std::uint64_t read_bytes() const;
  std::uint64_t written_bytes() const;
  /// Bytes of a number between reading and writing.
  std::uint64_t moved_width() const {
    return bytes_of(side == ConvertedSide::read ? arithmetic.to : arithmetic.from);
  }
  std::string explain() const;
};

/// problem.element_bytes is not read. `choice`: for index arrays that stay such. Errors:
/// ErrorCode::value for a shape that is not the output's, an addend with strides, in place two widths, and
/// those of check(arithmetic, shape) and of Plan; ErrorCode::unsupported for factors along an axis that the
/// permutation's own axes cross.
MovedValues make_moved_values(const Problem& problem, const Arithmetic& arithmetic, const Target& target,
                              const IndexChoice& choice = {});

/// The same where the way is views, and nothing where it is another: what an engine of views carries out
/// alone.
std::optional<MovedValues> make_moved_views(const Problem& problem, const Arithmetic& arithmetic,
                                            const Target& target);

}  // namespace faro::detail
