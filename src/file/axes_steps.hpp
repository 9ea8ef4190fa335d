// Axes in place whose shape stays, as those of square matrices and cubes do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "faro/permutation/axes.hpp"
#include "file/steps.hpp"

namespace faro::file {

/// Axes cut into such as keep the shape: each is as long as the one that it becomes. Nothing where they
/// cannot be cut so: axes(6 6; 1 0) are as they are, axes(5 25; 1 0) become axes(5 5 5; 1 2 0), and axes(2 3;
/// 1 0) are none.
std::optional<NamedAxes> kept_axes(const Axes& axes);

/// Passes in place: in each a box, the box it goes to, and so on until it comes back, are a step. One pass,
/// or two that swap pairs of axes where their runs are longer by more. Errors: ErrorCode::unsupported for
/// more than 2^23 boxes.
std::vector<std::unique_ptr<Steps>> passes_of_axes(const NamedAxes& axes, const Problem& problem,
                                                   std::uint64_t budget_bytes,
                                                   const std::shared_ptr<const MoveMaker>& maker);

}  // namespace faro::file
