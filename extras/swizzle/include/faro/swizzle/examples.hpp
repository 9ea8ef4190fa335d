// The examples: a specification, a sketch, what was published, and how to add one's own.
//
//     name          S    warps  what                                         holes
//     stencil-1d    -    2 x 2  mean of three neighbours                     index, lane, use
//     conv-1d       -    2 x 2  weighted, weights from an array              index, lane, use, weight
//     conv-2d       3|7  1      weighted, 3x3 or 7x7 taps, W/4 x 4 lanes     lane_x, lane_y, index_j
//     poly-32       -    1      carry-less product of degree W               lane_a, lane_b, use1, use2
//     poly-64       -    1      of degree 2 W, 16 accumulates                4 lanes, 4 parts, 16 conditions
//     load-only     -    2 x 2  what a stencil's warp must load              offset, size
//     aos-sum       2..  1      sum of each struct                           column, row
//     aos-crc       2..  1      structs to lanes: column, row, column        first, row, last
//     aos-rcr       2..  1      the same: load, column, store                load, column, store
//     transpose     5..  1      any matrix side through a smaller shared tile  none
//
// An example is a function from options to a value of this type; extras/swizzle/examples/template.cpp is one
// to copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faro/swizzle/emission.hpp"
#include "faro/swizzle/program.hpp"
#include "faro/swizzle/specification.hpp"
#include "faro/swizzle/synthesise.hpp"

namespace faro::swizzle {

/// The released sketches declare the lanes of poly-32, poly-64 and conv-2d, the weight of conv-1d and the
/// conditions of poly-32 easy, whatever the space.
enum class Declared : std::uint8_t {
  released,  // as there
  open,      // as much as the space has
};

struct ExampleOptions {
  std::int64_t struct_words =
      0;  // S: words, taps of conv-2d, the transposed matrix's side; 0: the example's default
  std::int64_t warp = 32;
  Declared holes = Declared::released;

  Freedom lanes() const { return holes == Declared::open ? Freedom::full : Freedom::easy; }
  ConditionFreedom conditions() const {
    return holes == Declared::open ? ConditionFreedom::full : ConditionFreedom::easy;
  }
};

/// A solution known beforehand.
struct KnownSolution {
  std::string source;  // "published", "closed form"
  Valuation valuation;
};

struct Example {
  std::string name;
  std::string summary;  // one line
  std::optional<std::int64_t> struct_words;
  Specification specification;
  Program sketch;
  std::vector<KnownSolution> known;
  std::optional<Tiling> tiling = {};  // where whole images can be done so
};

struct ExampleName {
  std::string_view name;
  std::string_view summary;
  std::int64_t default_words = 0;  // 0: takes none
};
/// In the order of the table above.
std::span<const ExampleName> example_names();

/// Errors: ErrorCode::value: no such example (with the nearest name), a struct size that it does not take, a
/// warp that is none of 1 .. 64, or that the example cannot use (conv-2d: a multiple of 4, at least 16).
Example make_example(std::string_view name, const ExampleOptions& options);

/// require_emittable of the sketch, and require_shuffles where all known solutions have shuffles: holes may
/// make each the receiver's own lane, as of structs of one word, which the sketch alone does not tell.
/// Errors: as emit(). Cost: that of a run of each known solution.
void require_emittable(const Example& example, const EmissionOptions& options);

// Each by itself; `make_example` calls these.
Example stencil_1d(const ExampleOptions& options);
Example conv_1d(const ExampleOptions& options);
Example conv_2d(const ExampleOptions& options);
/// conv_2d with a chosen constant list: {} is the published sketch that has no solution at 7 x 7.
Example conv_2d_with_constants(const ExampleOptions& options, std::vector<std::int64_t> constants);
Example poly_32(const ExampleOptions& options);
Example poly_64(const ExampleOptions& options);
Example load_only(const ExampleOptions& options);
Example aos_sum(const ExampleOptions& options);
Example aos_crc(const ExampleOptions& options);
Example aos_rcr(const ExampleOptions& options);
Example shared_transpose(const ExampleOptions& options);

// What `faro synth` prints: a result as text and as JSON, so that the command line holds no logic of its own.
//
//     {"example":"aos-crc","struct":6,"space":"full","functions":{"first":1917,"row":183358,"last":1917},
//      "solutions":0,"best":null,"seconds":1.1}
//
// "struct" is null where the example takes none; "solutions" is 0 only where that is proven, null where
// nothing was found and the search was not finished.

std::string to_text(const Example& example, const SynthesisResult& result, std::uint64_t most_solutions);
std::string to_json(const Example& example, const SynthesisResult& result, std::uint64_t most_solutions);

/// A warp's registers as a grid of element numbers, a row a register: "0 4 8 12".
std::string grid_text(const ValueTable& values, const WarpState& state, std::int64_t warp);

}  // namespace faro::swizzle
