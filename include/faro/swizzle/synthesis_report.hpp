// What `faro synth` prints: a result as text and as JSON, so that the command line holds no logic of its own.
//
//     {"example":"aos-crc","struct":6,"space":"full","functions":{"first":1917,"row":183358,"last":1917},
//      "solutions":0,"best":null,"seconds":1.1}
//
// "struct" is null where the example takes none; "solutions" is 0 only where that is proven, null where
// nothing was found and the search was not finished.
#pragma once

#include <cstdint>
#include <string>

#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/synthesise.hpp"

namespace faro::swizzle {

std::string to_text(const Example& example, const SynthesisResult& result, std::uint64_t most_solutions);
std::string to_json(const Example& example, const SynthesisResult& result, std::uint64_t most_solutions);

/// A warp's registers as a grid of element numbers, a row a register: "0 4 8 12".
std::string grid_text(const ValueTable& values, const WarpState& state, std::int64_t warp);

}  // namespace faro::swizzle
