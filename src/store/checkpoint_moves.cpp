#include "store/checkpoint_moves.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "faro/error.hpp"
#include "permutation/cyclic_axes.hpp"

namespace faro::store {
namespace {

Strided identity_view(std::uint64_t count) {
  return {.extents = {count}, .in_strides = {1}, .out_strides = {1}};
}

PartMove rotary_move(const Rotary& rotary, const Shape& shape, const std::string& operation) {
  const std::uint64_t rows = shape.empty() ? 1 : shape.front();
  const std::uint64_t head = rows / rotary.heads;
  const std::uint64_t turned = rotary.turned.value_or(head);
  if (rows == 0 || rows % rotary.heads != 0 || turned % 2 != 0 || turned > head) {
    fail(ErrorCode::value, operation,
         fmt::format("{} heads, {} rows of each turned, in {} rows", rotary.heads, turned, rows),
         "rows that are whole heads, and an even number of a head's turned");
  }
  const std::uint64_t inner = volume(shape) / rows;
  const auto stride = [inner](std::uint64_t of_rows) { return static_cast<std::int64_t>(of_rows * inner); };
  Strided pairs{.extents = {rotary.heads, 2, turned / 2, inner},
                .in_strides = {stride(head), stride(turned / 2), stride(1), 1},
                .out_strides = {stride(head), stride(1), stride(2), 1}};
  if (!rotary.interleaves) std::swap(pairs.in_strides, pairs.out_strides);
  PartMove move{.views = {std::move(pairs)}, .shape = shape};
  if (turned < head) {
    const std::uint64_t behind = turned * inner;
    move.views.push_back({.extents = {rotary.heads, (head - turned) * inner},
                          .in_strides = {stride(head), 1},
                          .out_strides = {stride(head), 1},
                          .in_offset = behind,
                          .out_offset = behind});
  } else {
    move.permutation = as_permutation(move.views.front());
  }
  move.text = fmt::format("{} heads {}", rotary.heads, rotary.interleaves ? "interleaved" : "in halves");
  return move;
}

PartMove view_move(const std::string& text, const Shape& shape, const std::string& operation) {
  const Strided view = parse_strided(text);
  if (in_elements(view) > volume(shape)) {
    fail(ErrorCode::value, operation, fmt::format("{} of a tensor of {} elements", text, volume(shape)),
         fmt::format("one of at least {}", in_elements(view)));
  }
  if (out_elements(view) != element_count(view))
    fail(ErrorCode::value, operation, text + ", whose result has gaps", "a view that fills its result");
  return {.permutation = as_permutation(view),
          .views = {view},
          .shape = faro::detail::result_shape(view),
          .text = text};
}

PartMove map_move(const std::string& text, const Shape& shape, const std::string& operation) {
  const std::uint64_t count = volume(shape);
  ParseOptions options{.bare_bits = {}, .shape = shape};
  if (std::has_single_bit(count)) options.bare_bits = std::bit_width(count) - 1;
  const ParsedPermutation parsed = parse_with_axes(text, options);
  if (element_count(parsed.permutation) != count) {
    fail(ErrorCode::value, operation,
         fmt::format("{} of {} elements for a tensor of {}", text, element_count(parsed.permutation), count),
         "a map of as many");
  }
  PartMove move{.permutation = parsed.permutation, .shape = shape, .text = text};
  if (parsed.axes && parsed.axes->shape == shape) move.shape = parsed.axes->target_shape();
  if (parsed.regrouped && parsed.regrouped->before == shape) move.shape = parsed.regrouped->after;
  return move;
}

// A map that gives bits other places, or turns them over: an axis of two for each.
std::optional<Strided> view_of_bits(const Affine& map) {
  Strided view;
  for (int j = 0; j < map.bits(); ++j) {
    const f2::Word target = map.matrix().column(j);
    if (!std::has_single_bit(target)) return std::nullopt;
    const bool is_flipped = (map.complement() & target) != 0;
    const std::int64_t step = std::int64_t{1} << j;
    view.extents.push_back(2);
    view.in_strides.push_back(is_flipped ? -step : step);
    view.out_strides.push_back(static_cast<std::int64_t>(target));
    if (is_flipped) view.in_offset += std::uint64_t{1} << j;
  }
  return view;
}

std::vector<Strided> views_of_move(const PartMove& move, const std::string& operation) {
  if (!move.views.empty()) return move.views;
  const Permutation form = normal_form(*move.permutation);
  if (faro::detail::axis_map(form)) return faro::detail::views_of(form, 1);
  if (const auto* const map = std::get_if<Affine>(&form)) {
    if (const auto view = view_of_bits(*map)) return {*view};
  }
  fail(ErrorCode::unsupported, operation, move.text + " of a part that lies in pieces",
       "a map of axes where a tensor is split or joined along another axis than the first");
}

using SideStrides = std::vector<std::int64_t> Strided::*;

// The strides and the offset of one side, of dense numbers, as those of the blocks. False where an axis goes
// over a block's end within its steps.
bool lodge(Strided& view, const Lodging& lodging, SideStrides side, SideStrides other,
           std::uint64_t Strided::*offset) {
  if (lodging.is_dense()) {
    view.*offset += lodging.first;
    return true;
  }
  const auto block = static_cast<std::int64_t>(lodging.block);
  const auto pitch = static_cast<std::int64_t>(lodging.pitch);
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  const std::size_t rank = view.extents.size();  // what is put behind is of whole blocks already
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto extent = static_cast<std::int64_t>(view.extents[axis]);
    const std::int64_t stride = (view.*side)[axis];
    if (extent == 1 || stride == 0) continue;
    if (stride % block == 0) {
      (view.*side)[axis] = stride / block * pitch;
      continue;
    }
    const std::int64_t step = std::llabs(stride);
    std::int64_t within = extent;
    if (block % step == 0 && extent * step > block) {
      within = block / step;
      if (extent % within != 0) return false;
      view.extents[axis] = static_cast<std::uint64_t>(within);
      view.extents.push_back(static_cast<std::uint64_t>(extent / within));
      (view.*side).push_back(stride < 0 ? -pitch : pitch);
      (view.*other).push_back((view.*other)[axis] * within);
    }
    (stride < 0 ? lowest : highest) += stride * (within - 1);
  }
  const std::uint64_t at = view.*offset % lodging.block;
  const bool stays =
      static_cast<std::int64_t>(at) + lowest >= 0 && static_cast<std::int64_t>(at) + highest < block;
  view.*offset = view.*offset / lodging.block * lodging.pitch + at + lodging.first;
  return stays;
}

}  // namespace

Lodging lodging_of(const Shape& whole, std::size_t axis, std::uint64_t begin, std::uint64_t extent) {
  const Shape before(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(axis));
  const Shape behind(whole.begin() + static_cast<std::ptrdiff_t>(axis) + 1, whole.end());
  const std::uint64_t inner = volume(behind);
  const std::uint64_t block = extent * inner;
  return {.block = block, .pitch = volume(before) <= 1 ? block : whole[axis] * inner, .first = begin * inner};
}

PartMove part_move(const std::optional<Layout>& layout, const Shape& shape, const std::string& operation) {
  if (!layout) return {.views = {identity_view(volume(shape))}, .shape = shape};
  if (is_empty(shape)) {
    fail(ErrorCode::value, operation, fmt::format("a map of a tensor of shape ({})", fmt::join(shape, ", ")),
         "one with elements");
  }
  if (layout->rotary) return rotary_move(*layout->rotary, shape, operation);
  if (is_strided_text(layout->map)) return view_move(layout->map, shape, operation);
  return map_move(layout->map, shape, operation);
}

std::vector<Strided> lodged(const PartMove& move, const Lodging& in, const Lodging& out,
                            const std::string& operation) {
  std::vector<Strided> views = views_of_move(move, operation);
  for (Strided& view : views) {
    const bool is_lodged =
        lodge(view, in, &Strided::in_strides, &Strided::out_strides, &Strided::in_offset) &&
        lodge(view, out, &Strided::out_strides, &Strided::in_strides, &Strided::out_offset);
    if (is_lodged) continue;
    fail(ErrorCode::unsupported, operation, move.text + " over the ends of parts that lie in pieces",
         "a map that takes each piece apart evenly", "`reshape` says the axes first");
  }
  return views;
}

}  // namespace faro::store
