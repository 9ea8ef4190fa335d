// Parameters of the kernels for axes and views, made on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "faro/error.hpp"
#include "kernels/axes_box.hpp"
#include "kernels/axes_elements.hpp"
#include "kernels/axes_registers.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/axes_skinny.hpp"
#include "kernels/axes_turned.hpp"
#include "kernels/axes_view_rows.hpp"
#include "kernels/axes_whole.hpp"
#include "layout/strided_box.hpp"
#include "layout/unit_axes.hpp"

namespace faro::kernels {

// The sizes that the kernels for axes accept.

/// Numbers of units and bytes are divided by device::Division64, and added up.
/// Errors: ErrorCode::unsupported for more than 2^62 bytes.
inline void check_size(const std::vector<layout::StridedAxis>& axes, std::uint64_t unit_bytes) {
  std::uint64_t left = (std::uint64_t{1} << 62) / unit_bytes;
  for (const layout::StridedAxis& axis : axes) left /= axis.extent;
  if (left > 0) return;
  fail(ErrorCode::unsupported, "permute axes", "more than 2^62 bytes", "at most 2^62 bytes",
       "split the batch");
}

/// Where a view's elements begin in the arrays, in units.
struct ViewFirst {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

// Parameters of axes_box.hpp, made on the host from a box.

/// The kernel that moves such boxes: one of kBoxShapes.
BoxShape box_shape(const layout::StridedBox& box);

/// Errors: ErrorCode::unsupported where axes reach past 2^47 bytes. Requires: below 2^62 bytes.
void check_reach(const std::vector<layout::StridedAxis>& axes, int unit_bytes);

/// `in_first`, `out_first`: the units with all coordinates 0. Errors: those of check_reach().
AxesBoxParams make_axes_box_params(const layout::StridedBox& box, std::uint64_t in_first = 0,
                                   std::uint64_t out_first = 0);

// Parameters of axes_elements.hpp, made on the host from strided axes.

/// How threads and their units lie.
struct AxesElementsShape {
  std::uint64_t lanes = 16;  // threads side by side along the output
  int units = 4;             // of a thread, along the input; at most most_elements_units()
  bool in_order = false;     // these along the lanes' axis, where it is long enough
};

/// What is fast for so many units (docs/notes/axes-experiments.md).
AxesElementsShape usual_elements_shape(std::uint64_t count, int unit_bytes);

/// For views that are read in the order in which they are written, of any size.
AxesElementsShape ordered_elements_shape(int unit_bytes);

/// Whether axes that step further in the output do so in the input, but for those that repeat.
bool steps_ascend(const std::vector<layout::StridedAxis>& axes);

/// `in_first`, `out_first`: the units with all coordinates 0. `shape`: if not the usual one. Requires: axes
/// in normal form, fewer than 2^30 units for each of a thread's.
AxesElementsParams make_axes_elements_params(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             std::uint64_t in_first = 0, std::uint64_t out_first = 0,
                                             const std::optional<AxesElementsShape>& shape = std::nullopt);

// Parameters of axes_lines.hpp and axes_plane.hpp, made on the host.
//
//     axes(12345 6789; 1 0)        plane            tiles of 256 bytes both ways
//     axes(3 1000000; 1 0)         few_rows         3 rows of some kilobytes      (axes_skinny.hpp)
//     axes(1000000 3; 1 0)         few_columns      some kilobytes of input, 3 lines
//     axes(7 5 100000; 2 1 0)      nothing          rows are few, but lines do not follow one another

struct AxesLinesOptions {
  std::uint32_t in_skew = 0;   // how far the input begins past an address that is aligned to 16
  std::uint32_t out_skew = 0;  // and the output past one that is aligned to 32
  std::optional<int> plane_shape = std::nullopt;  // which of the width's; else what suits the sides
  std::uint64_t band = 0;                     // tiles of a line that come one after another; 0: what is usual
  std::optional<bool> turned = std::nullopt;  // axes_turned.hpp or axes_plane.hpp; else what is usual
  bool skinny = true;                         // axes_skinny.hpp for few rows or columns of single units
  std::uint32_t skinny_bytes = 0;             // of a block of it; 0: as usual
  bool few_vectors = true;                    // axes_few_vectors.hpp where it fits
};

struct AxesLinesChoice {
  AxesLinesParams params;
  std::optional<AxesPlaneShape> plane;    // of a plane of single units
  std::optional<AxesSkinnyShape> skinny;  // of few rows or columns of single units
  bool turned = false;                    // by axes_turned.hpp
  bool aligned = false;                   // whether rows of the input begin at vectors; turned, at words
};

/// The choice for a dense array's axes in normal form. Nothing where neither form fits. Requires: axes of two
/// and more, not the identity (checked). Errors: ErrorCode::unsupported past 2^62 bytes.   Cost: under a
/// millisecond.
std::optional<AxesLinesChoice> make_axes_lines(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                               const AxesLinesOptions& options = {});

/// The same of a view: planes alone, whose rows and lines may go backwards, be apart, and begin anywhere.
/// Requires: axes in normal form, or turned by read_forwards(), that check_reach() lets pass.
std::optional<AxesLinesChoice> make_view_lines(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                               const ViewFirst& first, const AxesLinesOptions& options = {});

/// Bank turns of a warp's access to units of a stretch, over those without conflict.
double axes_skinny_congestion(const AxesLinesParams& params, const AxesSkinnyShape& shape);

// Parameters of axes_rows.hpp, made on the host.

/// Whether rows that stay whole are long enough to be moved as they are, both sides by the sector.
bool axes_rows_suit(const std::vector<layout::StridedAxis>& axes, int unit_bytes);

/// Requires: axes of which the fastest stays, or none at all (checked). `in_skew`, `out_skew`: how far the
/// arrays begin past an address that is aligned to 16. Errors: ErrorCode::unsupported past 2^62 bytes.
AxesRowsParams make_axes_rows_params(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                     std::uint32_t in_skew, std::uint32_t out_skew);

// Parameters of axes_view_rows.hpp, made on the host from the axes of a view.

struct ViewRowsChoice {
  ViewRowsParams params;
  ViewRowsShape shape;
  std::uint64_t alignment = 1;  // of both arrays, in bytes
};

/// Nothing where the view's fastest axis is not the same on both sides, its rows are short, or more than
/// 2^31. `least_bytes`: of a row; 0: as is usual. Requires: axes in normal form, units of 1, 2, 4, 8 or 16
/// bytes.
std::optional<ViewRowsChoice> make_view_rows(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                             const ViewFirst& first, std::uint64_t least_bytes = 0);

// Parameters of axes_whole.hpp, made on the host.

/// `tile_bytes`: of the arrays of a block; 0: as is usual, and nothing where there would be fewer blocks than
/// multiprocessors. Nothing either where the slowest axis does not stay, or an array has less than 2 axes or
/// more than kMostWholeBytes. Arrays of a view may be turned and repeated within themselves, and lie a fifth
/// apart in the input; nothing where the output has gaps. Requires: axes in normal form, below 2^62 bytes.
/// Cost: under a tenth of a millisecond.
std::optional<AxesWholeParams> make_axes_whole(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                               const ViewFirst& first = {}, std::uint32_t tile_bytes = 0);
inline constexpr std::uint64_t kMostWholeBytes = 48 << 10;

/// Bank turns of a warp's read of units, over those without conflict, on an average over some warps of a
/// block (`most_warps`) and all their reads.
double axes_whole_congestion(const AxesWholeParams& params, int unit_bytes, int most_warps);

}  // namespace faro::kernels
