// What a faro_plan holds: what was asked for, and one or several sweeps that do it.
//
//     a map on a dense array       [map]
//     a view                       [view]
//     a roll along k axes          [view] x 2^k, each a box of the array
//     a map on strided elements    [view to a dense array, map]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capi/view_shapes.hpp"
#include "faro/faro.h"
#include "faro/faro.hpp"
#include "permutation/axis_map.hpp"

namespace faro::capi {

/// A view with its engine, and where its first elements lie.
struct ViewStep {
  faro::detail::AxisMap view;  // from the addresses that are given: an element of an array may lie before it
  ExecutablePlan plan;
  std::int64_t in_first = 0;  // elements from the given address to the lowest that is read
  std::int64_t out_first = 0;
};

/// Requires: axes without shifts.
ViewStep make_view_step(const faro::detail::AxisMap& view, std::uint64_t element_bytes,
                        const PlanOptions& options);

/// A permutation as it was asked for.
struct MapStep {
  Problem problem;
  ExecutablePlan plan;
};

}  // namespace faro::capi

struct faro_plan {
  std::uint64_t element_bytes = 1;
  faro::PlanOptions options;
  std::vector<faro::capi::ViewStep> views;  // side by side; with a map one, before it
  std::optional<faro::capi::MapStep> map = {};
  std::vector<std::uint64_t> out_shape;  // empty: a single element
};

namespace faro::capi {

/// Null options are the defaults. Errors: ErrorCode::value for an engine that there is none of.
PlanOptions plan_options(const faro_options* options);

/// The plan that a caller gave. Errors: ErrorCode::value where there is none.
const faro_plan& of(const faro_plan* plan, const char* operation);

/// Two axes or more are those that a text names, if it names any; extents of 1 say nothing. Errors:
/// ErrorCode::value for others.
void require_named_shape(const faro::detail::NotedPermutation& read, const Shape& shape,
                         const char* operation);

/// Errors: those of faro::plan.
faro_plan* new_map_plan(const Problem& problem, const PlanOptions& options);
faro_plan* new_view_plan(const std::vector<faro::detail::AxisMap>& views, std::uint64_t element_bytes,
                         const PlanOptions& options);

}  // namespace faro::capi
