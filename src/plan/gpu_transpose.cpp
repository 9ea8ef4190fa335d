#include "plan/gpu_transpose.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kCountable = std::uint64_t{1} << 31;

// The largest power of two elements in `bytes`, at least one.
std::uint64_t elements_in(std::uint64_t bytes, std::uint64_t element_bytes) {
  return std::bit_floor(std::max<std::uint64_t>(1, bytes / element_bytes));
}

// The widest strip of whole columns of m elements, to `wanted`; 0 where not even `least` fits.
std::uint64_t strip_width(std::uint64_t m, std::uint64_t element_bytes, std::uint64_t wanted,
                          std::uint64_t least, std::uint64_t bytes) {
  for (std::uint64_t width = wanted; width >= least && width > 0; width /= 2) {
    if (4 * m + 16 + m * width * element_bytes <= bytes) return width;
  }
  return 0;
}

std::uint64_t segment_width(std::uint64_t m, std::uint64_t element_bytes, std::uint64_t wanted,
                            std::uint64_t least, std::uint64_t bytes) {
  for (std::uint64_t width = wanted; width >= least && width > 0; width /= 2) {
    const std::uint64_t elements = m * width;
    if (16 * m + (elements + elements / 32) * element_bytes <= bytes) return width;
  }
  return 0;
}

struct Chooser {
  const GpuTransposeLimits& limits;
  GpuTranspose plan;
  std::uint64_t e;  // element_bytes
  std::uint64_t array_bytes;

  Chooser(const Rectangle& rectangle, const GpuTransposeLimits& given)
      : limits(given), plan{}, e(rectangle.element_bytes), array_bytes(rectangle.count() * e) {
    plan.rectangle = rectangle;
    plan.unit_bytes = std::uint64_t{1} << std::countr_zero(e);
    plan.units = static_cast<std::uint32_t>(e / plan.unit_bytes);
    plan.vectors = limits.vectors && plan.units == 1 && plan.unit_bytes < kernels::kC2rVectorBytes;
  }

  // Rows of n elements: C2R where they are the array's own.
  void view(std::uint64_t n) {
    plan.r2c = plan.rectangle.columns != n;
    plan.n = n;
    plan.m = plan.rectangle.count() / n;
  }

  std::uint64_t least() const { return elements_in(limits.strip_bytes_min, e); }
  bool row_fits(std::uint64_t n, std::uint64_t bytes) const {
    return n < kCountable && kernels::c2r_rows_shared_bytes(n, e) <= bytes;
  }

  // The widest strip or segment in vectors; 0 where not even the least fits.
  std::uint64_t vector_width(const kernels::C2rTile& tile, std::uint64_t bytes) const {
    constexpr std::uint64_t line = 128;
    std::uint64_t wanted = std::max(limits.tile_bytes / tile.rows, limits.strip_bytes);
    if (wanted > line) wanted = wanted / line * line;
    for (; wanted >= limits.strip_bytes_min && wanted >= e;
         wanted = wanted > 2 * line ? wanted - line : wanted / 2) {
      if (tile.shared_bytes(wanted / e) <= bytes) return wanted / e;
    }
    return 0;
  }

  // Narrow strips of short columns are made wide, so that a block has something to do.
  std::uint64_t wide(std::uint64_t m) const {
    return elements_in(std::max(limits.blocks_bytes / 2 / m, limits.strip_bytes), e);
  }
  std::uint64_t strip_of(std::uint64_t m, std::uint64_t bytes) const {
    if (plan.vectors) return vector_width(kernels::c2r_strip_tile(m, e), bytes);
    return strip_width(m, e, wide(m), least(), bytes);
  }
  std::uint64_t segment_of(std::uint64_t m, std::uint64_t bytes) const {
    if (plan.vectors) return vector_width(kernels::c2r_segments_tile(m, e), bytes);
    return segment_width(m, e, wide(m), least(), bytes);
  }

  // As many threads of all rows of a multiprocessor as there are registers for.
  void rows_in_shared() {
    constexpr std::uint64_t threads = 1024;
    constexpr std::uint64_t warp = 32;
    constexpr std::uint64_t system_bytes = 1024;  // of every block
    const std::uint64_t bytes = kernels::c2r_rows_shared_bytes(plan.n, e) + system_bytes;
    const std::uint64_t blocks = std::max<std::uint64_t>(1, (limits.shared_bytes + system_bytes) / bytes);
    const std::uint64_t useful = std::max(warp, ceil_div(plan.n, kernels::kC2rBatch));
    const std::uint64_t wanted = std::min(std::max(2 * warp, threads / blocks), useful);
    plan.row_threads = static_cast<std::uint32_t>(wanted / warp * warp);
  }

  void rotate_apart_if_narrow() {
    const std::uint64_t c = std::gcd(plan.m, plan.n);
    plan.rotates_apart = c > 1 && plan.n / c * e < limits.panel_bytes_min;
  }

  void together(std::uint64_t scratch_lines) {
    const std::uint64_t group = std::max<std::uint64_t>(
        1, limits.batch_bytes / std::max<std::uint64_t>(1, scratch_lines * std::max(plan.m, plan.n) * e));
    plan.arrays_at_once = std::min(plan.rectangle.arrays, group);
  }

  bool whole() {
    if (array_bytes + array_bytes / 32 > limits.shared_bytes || plan.rectangle.count() >= kCountable)
      return false;
    plan.form = GpuTransposeForm::whole;
    view(plan.rectangle.columns);
    const std::uint64_t padded = array_bytes + array_bytes / 32 + 16;
    plan.arrays_at_once = std::max<std::uint64_t>(1, limits.whole_bytes / padded);
    return true;
  }

  bool resident(std::uint64_t n) {
    const std::uint64_t m = plan.rectangle.count() / n;
    if (!row_fits(n, limits.shared_bytes / 2)) return false;
    const std::uint64_t strip = strip_of(m, limits.shared_bytes / 2);
    if (strip == 0) return false;
    plan.form = GpuTransposeForm::resident;
    view(n);
    plan.strip = static_cast<std::uint32_t>(strip);
    rows_in_shared();
    rotate_apart_if_narrow();
    plan.arrays_at_once = plan.rectangle.arrays;
    return true;
  }

  // A launch ends with multiprocessors that wait for the last blocks: the fewer launches, the better.
  std::uint64_t batch() const {
    constexpr std::uint64_t parts = 16;
    return std::clamp(array_bytes / parts, limits.batch_bytes,
                      std::max(limits.batch_bytes, limits.batch_bytes_max));
  }

  bool long_rows(std::uint64_t n, std::uint64_t bytes) {
    const std::uint64_t m = plan.rectangle.count() / n;
    const std::uint64_t segment = segment_of(m, bytes);
    const std::uint64_t strip = strip_of(m, bytes);
    const std::uint64_t b = n / std::gcd(m, n);
    if (segment == 0 || strip == 0 || (b < n && b * e < limits.panel_bytes_min)) return false;
    plan.form = GpuTransposeForm::long_rows;
    view(n);
    plan.strip = static_cast<std::uint32_t>(strip);
    plan.segment = static_cast<std::uint32_t>(segment);
    plan.moved_rows = std::clamp<std::uint64_t>(batch() / (n * e), 1, ceil_div(m, 8));
    together(plan.moved_rows);
    return true;
  }

  void long_columns(std::uint64_t n) {
    view(n);
    const std::uint64_t m = plan.m;
    if (m >= kCountable) {
      fail(ErrorCode::unsupported, "plan",
           "columns of " + std::to_string(m) + " elements and rows of " + std::to_string(n),
           "a shorter side that fits the shared memory, or columns below 2^31",
           "transpose parts of the array");
    }
    plan.strip = static_cast<std::uint32_t>(std::min(std::bit_ceil(n), elements_in(limits.strip_bytes, e)));
    rotate_apart_if_narrow();
    const std::uint32_t halo = kernels::c2r_halo(n / std::gcd(m, n), plan.strip, true, true);
    plan.window_rows = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(halo, limits.window_rows > halo ? limits.window_rows - halo : 1));
    const std::uint64_t wanted = std::max(batch() / (m * e), std::uint64_t{plan.strip});
    const std::uint64_t columns = wanted / plan.strip * plan.strip;
    plan.moved_columns =
        std::min({n, columns, std::max<std::uint64_t>(plan.strip, n / 8 / plan.strip * plan.strip)});
    if (row_fits(n, limits.shared_bytes)) {
      plan.form = GpuTransposeForm::long_columns;
      rows_in_shared();
      together(plan.moved_columns);
      return;
    }
    plan.form = GpuTransposeForm::huge;
    plan.copied_rows = std::clamp<std::uint64_t>(limits.copied_bytes / (n * e), 1, m);
  }
};

}  // namespace

GpuTransposeLimits gpu_transpose_limits(const Target& target) {
  GpuTransposeLimits limits;
  if (target.chunk_bytes_max > 0) limits.shared_bytes = target.chunk_bytes_max;
  // A multiprocessor has a little more than its largest block: a quarter, less what the system takes.
  limits.blocks_bytes = std::min(limits.blocks_bytes, limits.shared_bytes / 4);
  limits.whole_bytes = std::min(limits.whole_bytes, limits.shared_bytes / 4);
  return limits;
}

int GpuTranspose::sweeps() const {
  switch (form) {
    case GpuTransposeForm::nothing:
      return 0;
    case GpuTransposeForm::whole:
      return 1;
    case GpuTransposeForm::resident:
    case GpuTransposeForm::long_rows:
    case GpuTransposeForm::long_columns:
    case GpuTransposeForm::huge:
      break;
  }
  return rotates_apart ? 3 : 2;
}

GpuTranspose plan_gpu_transpose(const Rectangle& rectangle, const GpuTransposeLimits& limits) {
  Chooser chooser(rectangle, limits);
  const std::uint64_t shorter = std::min(rectangle.rows, rectangle.columns);
  const std::uint64_t longer = std::max(rectangle.rows, rectangle.columns);
  if (rectangle.arrays == 0 || shorter <= 1) return chooser.plan;
  const bool made = chooser.whole() || chooser.resident(longer) || chooser.resident(shorter) ||
                    (longer > shorter && chooser.long_rows(longer, limits.blocks_bytes));
  if (!made) chooser.long_columns(shorter);
  GpuTranspose& plan = chooser.plan;
  // No launch may have more blocks than a grid.
  if (plan.form != GpuTransposeForm::whole) {
    std::uint64_t most = 1;
    for (const GpuTransposeLaunch& launch : launches_of(plan)) most = std::max(most, launch.blocks_of_array);
    plan.arrays_at_once = std::clamp<std::uint64_t>(limits.blocks_max / most, 1, plan.arrays_at_once);
  }
  return plan;
}

}  // namespace faro::detail
