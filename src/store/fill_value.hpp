// Fill values as Zarr writes them in JSON.
//
//     0    -1.5    true    "NaN"    "-Infinity"    [1.0, "NaN"] of a complex number
//     v3    "0x7fc00001"    [1, 255] of raw bytes    "YWJj" of texts: their bytes in base64
//     v2    null            "Af8=" of raw bytes      "YWJj"
#pragma once

#include <cstdint>
#include <string>

#include "store/element_type.hpp"
#include "store/json.hpp"
#include "store/sides.hpp"

namespace faro::store {

/// An element. Errors: ErrorCode::file for JSON that is none; ErrorCode::unsupported for what only another
/// type would have.
Bytes fill_of_json(const Json& json, const ElementType& type, const std::string& operation);
enum class FillText : std::uint8_t { v2, v3 };

/// Law: fill_of_json(json_of_fill(f, t, v3), t) == f; v2 has one NaN.
Json json_of_fill(const Bytes& fill, const ElementType& type, FillText version);

}  // namespace faro::store
