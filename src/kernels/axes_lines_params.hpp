// Parameters of axes_lines.hpp and axes_plane.hpp, made on the host.
//
//     axes(12345 6789; 1 0)        plane            tiles of 256 bytes both ways
//     axes(3 1000000; 1 0)         few_rows         3 rows of some kilobytes      (axes_skinny.hpp)
//     axes(1000000 3; 1 0)         few_columns      some kilobytes of input, 3 lines
//     axes(7 5 100000; 2 1 0)      nothing          rows are few, but lines do not follow one another
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/axes_skinny.hpp"
#include "kernels/axes_turned.hpp"
#include "layout/unit_axes.hpp"

namespace faro::kernels {

struct AxesLinesOptions {
  std::uint32_t in_skew = 0;   // how far the input begins past an address that is aligned to 16
  std::uint32_t out_skew = 0;  // and the output past one that is aligned to 32
  std::optional<int> plane_shape = std::nullopt;  // which of the width's; else what suits the sides
  std::uint64_t band = 0;                     // tiles of a line that come one after another; 0: what is usual
  std::optional<bool> turned = std::nullopt;  // axes_turned.hpp or axes_plane.hpp; else what is usual
  bool skinny = true;                         // axes_skinny.hpp for few rows or columns of single units
};

struct AxesLinesChoice {
  AxesLinesParams params;
  std::optional<AxesPlaneShape> plane;    // of a plane of single units
  std::optional<AxesSkinnyShape> skinny;  // of few rows or columns of single units
  bool turned = false;                    // by axes_turned.hpp
  bool aligned = false;                   // whether rows of the input begin at vectors; turned, at words
};

/// Nothing where neither form fits. Requires: axes of two and more, not the identity (checked).
/// Errors: ErrorCode::unsupported past 2^62 bytes.   Cost: under a millisecond.
std::optional<AxesLinesChoice> make_axes_lines(const layout::UnitAxes& axes, int unit_bytes,
                                               const AxesLinesOptions& options = {});

/// Bank turns of a warp's reads, over those without conflict, on an average: what pitches are chosen by.
double axes_lines_congestion(const AxesLinesParams& params, int unit_bytes);
/// Bank turns of a warp's access to units of a stretch, over those without conflict.
double axes_skinny_congestion(const AxesLinesParams& params, const AxesSkinnyShape& shape);

}  // namespace faro::kernels
