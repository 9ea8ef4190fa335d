// What a faro_plan holds: what was asked for, and one or several sweeps that do it.
//
//     a map on a dense array       [map]
//     a view                       [view]
//     a roll along k axes          [view] x 2^k, each a box of the array
//     a map on strided elements    [view to a dense array, map]
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capi/view_shapes.hpp"
#include "faro/faro.h"
#include "faro/faro.hpp"
#include "faro/rows.hpp"
#include "permutation/axis_map.hpp"

namespace faro::capi {

/// A sweep with its engine.
struct Step {
  Problem
      problem;  // as it was asked for; a view of arrays that begin with the lowest elements that it reaches
  ExecutablePlan plan;
  std::int64_t in_first = 0;  // elements from the given address to that lowest one: it may lie before
  std::int64_t out_first = 0;

  std::uint64_t bytes() const { return plan.plan().array_bytes(); }  // that are moved
  /// A view as it was asked for, counted from the given addresses.
  faro::detail::AxisMap view() const;
};

/// Requires: axes without shifts.
Step make_view_step(const faro::detail::AxisMap& view, std::uint64_t element_bytes,
                    const PlanOptions& options);

}  // namespace faro::capi

struct faro_plan {
  std::uint64_t element_bytes = 1;
  faro::PlanOptions options;
  std::vector<faro::capi::Step>
      steps;  // views side by side; or a permutation, with one view or none before it
  std::vector<std::uint64_t> out_shape = {};  // empty: a single element

  /// The permutation; null where there are views alone.
  const faro::capi::Step* map() const { return steps.back().problem.view ? nullptr : &steps.back(); }
  std::span<const faro::capi::Step> views() const {
    return std::span(steps).first(steps.size() - (map() == nullptr ? 0 : 1));
  }
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

/// The kernels of affine maps take widths that are powers of two. Others take the map entry by entry, unless
/// it is of another form, too.
Problem of_any_width(Problem problem);

/// What the structs of other functions hold. Errors: ErrorCode::value for numbers and functions that there
/// are none of, and for options that this version does not know.
Arithmetic arithmetic_in(const faro_arithmetic& of);
/// Errors: ErrorCode::value for strides of an added array.
void require_dense_addend(const faro_arithmetic& of);
const ExecutableRows& rows_of(const faro_row_plan& plan);

/// Errors: those of faro::plan.
faro_plan* new_map_plan(const Problem& problem, const PlanOptions& options);
faro_plan* new_view_plan(const std::vector<faro::detail::AxisMap>& views, std::uint64_t element_bytes,
                         const PlanOptions& options);

}  // namespace faro::capi
