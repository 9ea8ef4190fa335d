#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan/gpu_transpose.hpp"
#include "size_text.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kWidestElement = 16;
constexpr std::uint64_t kNarrow = 32;  // the shorter side below this
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

// Two axes of one extent that change places across the one between: [arrays,] side, between, side [, parts].
std::optional<Rectangle> squares_of(const Axes& axes) {
  const std::vector<std::uint64_t>& shape = axes.shape();
  const std::vector<int>& order = axes.order();
  if (shape.size() < 3) return std::nullopt;
  const std::size_t first = order.front() == 0 ? 1 : 0;  // of the two
  if (first + 3 > shape.size() || first + 4 < shape.size()) return std::nullopt;
  std::vector<int> exchanged(shape.size());
  for (std::size_t a = 0; a < shape.size(); ++a) exchanged[a] = static_cast<int>(a);
  std::swap(exchanged[first], exchanged[first + 2]);
  if (order != exchanged || shape[first] != shape[first + 2]) return std::nullopt;
  return Rectangle{.arrays = first == 0 ? 1 : shape[0],
                   .rows = shape[first],
                   .columns = shape[first],
                   .element_bytes = first + 3 == shape.size() ? 1 : shape.back(),
                   .between = shape[first + 1]};
}

// The rectangle of axes in normal form: [arrays,] rows, columns [, parts of an element].
std::optional<Rectangle> rectangle_of(const Axes& axes) {
  const std::vector<std::uint64_t>& shape = axes.shape();
  const std::vector<int>& order = axes.order();
  if (axes.is_identity()) return Rectangle{.rows = 1, .columns = axes.count(), .element_bytes = 1};
  if (order == std::vector<int>{1, 0}) {
    return Rectangle{.rows = shape[0], .columns = shape[1], .element_bytes = 1};
  }
  if (order == std::vector<int>{0, 2, 1}) {
    return Rectangle{.arrays = shape[0], .rows = shape[1], .columns = shape[2], .element_bytes = 1};
  }
  if (order == std::vector<int>{1, 0, 2}) {
    return Rectangle{.rows = shape[0], .columns = shape[1], .element_bytes = shape[2]};
  }
  if (order == std::vector<int>{0, 2, 1, 3}) {
    return Rectangle{.arrays = shape[0], .rows = shape[1], .columns = shape[2], .element_bytes = shape[3]};
  }
  return squares_of(axes);
}

// The rectangle of index bits: some that stay, some that are rotated, some that stay.
std::optional<Rectangle> rectangle_of(const Affine& map) {
  if (map.complement() != 0) return std::nullopt;
  const int bits = map.bits();
  const auto image = [&](int bit) { return map.matrix().column(bit); };
  const auto unit = [](int bit) { return f2::Word{1} << bit; };
  int low = 0;
  while (low < bits && image(low) == unit(low)) ++low;
  if (low == bits) return Rectangle{.rows = 1, .columns = std::uint64_t{1} << bits, .element_bytes = 1};
  int high = bits;
  while (image(high - 1) == unit(high - 1)) --high;
  const int middle = high - low;
  int row_bits = 1;  // the lowest bit of a column becomes the bit above those of the rows
  while (row_bits < middle && image(low) != unit(low + row_bits)) ++row_bits;
  for (int bit = 0; bit < middle; ++bit) {
    if (image(low + bit) != unit(low + (bit + row_bits) % middle)) return std::nullopt;
  }
  return Rectangle{.arrays = std::uint64_t{1} << (bits - high),
                   .rows = std::uint64_t{1} << row_bits,
                   .columns = std::uint64_t{1} << (middle - row_bits),
                   .element_bytes = std::uint64_t{1} << low};
}
void require_countable(const Rectangle& rectangle) {
  std::uint64_t bytes = rectangle.element_bytes;
  for (const std::uint64_t factor :
       {rectangle.arrays, rectangle.rows, rectangle.between, rectangle.columns}) {
    if (factor != 0 && bytes > kMostBytes / factor) {
      fail(ErrorCode::value, "plan",
           fmt::format("{} arrays of {} x {} elements", rectangle.arrays, rectangle.rows, rectangle.columns),
           "at most 2^62 bytes");
    }
    bytes *= factor;
  }
}

bool is_still(const Rectangle& rectangle) {
  return rectangle.bytes() == 0 || rectangle.rows == 1 || rectangle.columns == 1;
}

}  // namespace

const char* name(TransposeMethod method) noexcept {
  return method == TransposeMethod::narrow ? "narrow" : "rows_in_memory";
}

std::optional<Rectangle> as_transposition(const Problem& problem) {
  std::optional<Rectangle> rectangle;
  if (const auto* const axes = std::get_if<Axes>(&problem.permutation)) rectangle = rectangle_of(*axes);
  if (const auto* const map = std::get_if<Affine>(&problem.permutation)) rectangle = rectangle_of(*map);
  if (!rectangle) return std::nullopt;
  rectangle->arrays *= problem.batch;
  rectangle->element_bytes *= problem.element_bytes;
  return rectangle;
}

TransposePlan::TransposePlan(const Problem& problem, Target target) : target_(std::move(target)) {
  static_cast<void>(total_bytes(problem));
  const std::optional<Rectangle> rectangle = as_transposition(problem);
  if (!rectangle)
    fail(ErrorCode::unsupported, "plan in place", to_text(problem.permutation),
         "a transposition, or an affine map", "permute out of place");
  rectangle_ = *rectangle;
  require_countable(rectangle_);
  unit_bytes_ = std::min(problem.element_bytes & (~problem.element_bytes + 1), kWidestElement);
  const bool on_gpu = target_.engine == Engine::cuda;
  const bool exchanges = on_gpu && !is_still(rectangle_) && detail::exchanges_tiles(rectangle_);
  const auto second = [&] {
    return "other permutations need a second array for the result, of " + size_text(rectangle_.bytes());
  };
  if (!is_still(rectangle_) && rectangle_.element_bytes > kWidestElement && !rectangle_.is_square()) {
    fail(ErrorCode::unsupported, "transpose in place",
         fmt::format("elements of {} bytes", rectangle_.element_bytes),
         fmt::format("at most {}, or a square array", kWidestElement), second());
  }
  r2c_ = rectangle_.rows > rectangle_.columns;
  method_ = std::min(rectangle_.rows, rectangle_.columns) < kNarrow ? TransposeMethod::narrow
                                                                    : TransposeMethod::rows_in_memory;
  if (is_still(rectangle_)) return;
  if (exchanges) {
    r2c_ = false;
    passes_ = {detail::squares_shown(rectangle_, unit_bytes_)};
  } else if (on_gpu) {
    const detail::GpuTranspose gpu =
        detail::plan_gpu_transpose(rectangle_, detail::gpu_transpose_limits(target_));
    r2c_ = gpu.r2c;
    workspace_bytes_ = gpu.workspace_bytes();
    workers_ = gpu.workers();
    passes_ = detail::sweeps_shown(gpu);
  } else {
    const detail::TransposeWorkers workers = detail::cpu_transpose_workers(rectangle_, target_.threads);
    workspace_bytes_ = workers.workspace_bytes();
    workers_ = workers.count();
    passes_ = detail::cpu_sweeps_shown(rectangle_, workers);
  }
}

}  // namespace faro
