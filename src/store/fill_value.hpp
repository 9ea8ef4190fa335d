// Fill values as Zarr writes them in JSON.
//
//     0    -1.5    true    "NaN"    "-Infinity"    "0x7fc00001"    [1.0, "NaN"] of a complex number    null in v2
#pragma once

#include <string>

#include "store/element_type.hpp"
#include "store/json.hpp"
#include "store/sides.hpp"

namespace faro::store {

/// An element. Errors: ErrorCode::file for JSON that is none; ErrorCode::unsupported for what only another
/// type would have.
Bytes fill_of_json(const Json& json, const ElementType& type, const std::string& operation);
/// Law: fill_of_json(json_of_fill(f, t), t) == f.
Json json_of_fill(const Bytes& fill, const ElementType& type);

}  // namespace faro::store
