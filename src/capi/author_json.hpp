// JSON that the command prints with --json and faro.h gives away (docs/guide/json.md): what the authors of
// kernels ask for, layouts and source code, and what is said of stores.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "faro/emit/emit.hpp"
#include "faro/layout/adviser.hpp"
#include "faro/store.hpp"

namespace faro::capi {

using Json = nlohmann::ordered_json;

Json layout_json(const layout::Advice& advice);

Json emit_json(const Affine& map, const emit::Options& options, const emit::Source& source);

/// `path`: as it was given; null where it is known.
Json store_json(const store::ArrayFacts& array, const char* path = nullptr);

/// What is said of a run from `in` to `out`, or of what it would be.
Json store_json(const store::Facts& facts, const std::string& in, const std::string& out);
Json store_json(const store::Report& report, const std::string& in, const std::string& out);

}  // namespace faro::capi
