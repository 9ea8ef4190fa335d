#include "shard/row_copies.hpp"

#include <algorithm>
#include <cstddef>

#include "rounding.hpp"

namespace faro::detail {
namespace {

// The output of a view in its normal form: rows of `run` elements, all axes from `inner` on.
struct OutputRows {
  std::size_t inner = 0;
  std::uint64_t run = 1;
};
std::optional<OutputRows> output_rows(const Strided& view) {
  OutputRows rows{.inner = view.extents.size()};
  while (rows.inner > 0 && static_cast<std::uint64_t>(view.out_strides[rows.inner - 1]) == rows.run)
    rows.run *= view.extents[--rows.inner];
  // Those outside continue each other.
  for (std::size_t a = 1; a < rows.inner; ++a) {
    const std::uint64_t whole = static_cast<std::uint64_t>(view.out_strides[a]) * view.extents[a];
    if (static_cast<std::uint64_t>(view.out_strides[a - 1]) != whole) return std::nullopt;
  }
  return rows;
}

// Rows that both sides have, of a view in its normal form: one copy.
std::optional<RowCopies::Slice> rows_of_both(const Strided& view) {
  std::size_t inner = view.extents.size();
  std::int64_t run = 1;
  while (inner > 0 && view.in_strides[inner - 1] == run && view.out_strides[inner - 1] == run)
    run *= static_cast<std::int64_t>(view.extents[--inner]);
  if (inner > 1 || (inner == 1 && std::min(view.in_strides[0], view.out_strides[0]) < run))
    return std::nullopt;
  const auto length = static_cast<std::uint64_t>(run);
  return RowCopies::Slice{.packing = {},
                          .from = view.in_offset,
                          .from_pitch = inner == 0 ? length : static_cast<std::uint64_t>(view.in_strides[0]),
                          .to = view.out_offset,
                          .to_pitch = inner == 0 ? length : static_cast<std::uint64_t>(view.out_strides[0]),
                          .run = length,
                          .rows = inner == 0 ? 1 : view.extents[0]};
}

}  // namespace

std::optional<RowCopies> row_copies(const Strided& view, const RowChoice& choice) {
  const Strided normal = normal_form(view);
  if (element_count(normal) == 0 || normal.extents.empty()) return std::nullopt;
  if (auto both = rows_of_both(normal); both && both->run >= choice.least_run)
    return RowCopies{.slices = {*std::move(both)}, .workspace_elements = 0};
  const std::optional<OutputRows> rows = output_rows(normal);
  if (!rows || rows->run < choice.least_run) return std::nullopt;
  const std::size_t axes = normal.extents.size();
  const std::uint64_t extent = normal.extents.front();
  const std::uint64_t count = std::clamp<std::uint64_t>(choice.slices, 1, extent);
  RowCopies made;
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t begin = extent * k / count;
    const std::uint64_t length = extent * (k + 1) / count - begin;
    RowCopies::Slice slice;
    slice.packing = {.extents = normal.extents, .in_strides = normal.in_strides, .out_strides = {}};
    slice.packing.extents.front() = length;
    slice.packing.in_offset =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(normal.in_offset) +
                                   static_cast<std::int64_t>(begin) * normal.in_strides.front());
    // The workspace: axes of a row as they are, rows one behind the other.
    slice.run = 1;
    for (std::size_t a = rows->inner; a < axes; ++a) slice.run *= slice.packing.extents[a];
    slice.from_pitch = round_up(slice.run, choice.unit);
    slice.rows = 1;
    slice.packing.out_strides.resize(axes);
    std::uint64_t stride = 1;
    for (std::size_t a = axes; a-- > 0;) {
      if (a + 1 == rows->inner) stride = slice.from_pitch;
      slice.packing.out_strides[a] = static_cast<std::int64_t>(stride);
      stride *= slice.packing.extents[a];
      if (a < rows->inner) slice.rows *= slice.packing.extents[a];
    }
    slice.from = made.workspace_elements;
    slice.packing.out_offset = slice.from;
    slice.to = normal.out_offset + begin * static_cast<std::uint64_t>(normal.out_strides.front());
    slice.to_pitch =
        rows->inner == 0 ? slice.run : static_cast<std::uint64_t>(normal.out_strides[rows->inner - 1]);
    made.workspace_elements += round_up(slice.from_pitch * slice.rows, choice.unit);
    made.slices.push_back(std::move(slice));
  }
  return made;
}

}  // namespace faro::detail
