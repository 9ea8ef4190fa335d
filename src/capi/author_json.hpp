// JSON of what the authors of kernels ask for: layouts, source code. The command prints it with
// --json, and faro.h gives it away (docs/guide/json.md).
#pragma once

#include <nlohmann/json.hpp>

#include "faro/emit/emit.hpp"
#include "faro/layout/adviser.hpp"

namespace faro::capi {

using Json = nlohmann::ordered_json;

Json layout_json(const layout::Advice& advice);

Json emit_json(const Affine& map, const emit::Options& options, const emit::Source& source);

}  // namespace faro::capi
