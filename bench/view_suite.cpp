#include "bench/view_suite.hpp"

#include "faro/permutation/axes.hpp"

namespace faro::bench {
namespace {

// The shape as a view of an input whose axes have room for `in_room` more elements each, and so the output's.
Strided roomy(const AxesShape& shape, const std::vector<std::uint64_t>& in_room,
              const std::vector<std::uint64_t>& out_room) {
  const std::size_t rank = shape.shape.size();
  Strided view{.extents = shape.shape,
               .in_strides = std::vector<std::int64_t>(rank),
               .out_strides = std::vector<std::int64_t>(rank)};
  std::int64_t stride = 1;
  for (std::size_t a = rank; a-- > 0;) {
    view.in_strides[a] = stride;
    stride *= static_cast<std::int64_t>(shape.shape[a] + in_room[a]);
  }
  stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    const auto a = static_cast<std::size_t>(shape.order[i]);
    view.out_strides[a] = stride;
    stride *= static_cast<std::int64_t>(shape.shape[a] + out_room[a]);
  }
  return view;
}

Strided flipped(const AxesShape& shape, std::size_t axis) {
  const std::vector<std::uint64_t> none(shape.shape.size(), 0);
  Strided view = roomy(shape, none, none);
  view.in_offset = (shape.shape[axis] - 1) * static_cast<std::uint64_t>(view.in_strides[axis]);
  view.in_strides[axis] = -view.in_strides[axis];
  return view;
}

Strided repeated(const AxesShape& shape, std::size_t axis) {
  AxesShape once = shape;
  once.shape[axis] = 1;
  const std::vector<std::uint64_t> none(shape.shape.size(), 0);
  Strided view = roomy(once, none, none);
  const Strided all = roomy(shape, none, none);
  view.extents = shape.shape;
  view.out_strides = all.out_strides;
  view.in_strides[axis] = 0;
  return view;
}

}  // namespace

std::vector<ViewCase> view_cases(const std::vector<std::uint64_t>& widths) {
  std::vector<ViewCase> cases;
  for (const std::uint64_t width : widths) {
    const AxesShape shapes[] = {{{7248, 7248}, {0, 1}, width},
                                {{7248, 7248}, {1, 0}, width},
                                {{96, 75, 75, 96}, {3, 2, 1, 0}, width},
                                {{75, 75, 96, 96}, {1, 0, 3, 2}, width},
                                {{8, 2048, 32, 128}, {0, 2, 1, 3}, width}};
    for (const AxesShape& shape : shapes) {
      const std::size_t last = shape.shape.size() - 1;
      const std::vector<std::uint64_t> none(last + 1, 0);
      std::vector<std::uint64_t> rows(last + 1, 0);
      rows[last] = 32;  // elements of padding
      std::vector<std::uint64_t> all(last + 1, 8);
      std::vector<std::uint64_t> out_rows(last + 1, 0);
      out_rows[static_cast<std::size_t>(shape.order[last])] = 32;
      const auto add = [&](const char* what, Strided view) {
        cases.push_back({.what = what, .view = std::move(view), .plain = shape});
      };
      add("flipped, the fastest axis", flipped(shape, last));
      add("flipped, the slowest axis", flipped(shape, 0));
      add("of padded rows", roomy(shape, rows, none));
      add("a slice, 8 elements less along each axis", roomy(shape, all, none));
      add("to padded rows", roomy(shape, none, out_rows));
      add("repeated, the slowest axis", repeated(shape, 0));
      add("repeated, the fastest axis", repeated(shape, last));
    }
  }
  // Small arrays of a batch.
  const AxesShape small[] = {{{1600000, 5, 15}, {0, 2, 1}, 4},
                             {{100000, 12, 10, 10}, {0, 3, 1, 2}, 4},
                             {{1300000, 12, 16}, {0, 2, 1}, 2},
                             {{1000000, 9, 11}, {0, 2, 1}, 1}};
  for (const AxesShape& shape : small) {
    const std::vector<std::uint64_t> none(shape.shape.size(), 0);
    std::vector<std::uint64_t> rows(shape.shape.size(), 0);
    rows[1] = 1;
    const auto add = [&](const char* what, Strided view) {
      cases.push_back({.what = what, .view = std::move(view), .plain = shape});
    };
    add("flipped, the fastest axis", flipped(shape, shape.shape.size() - 1));
    add("flipped, the second axis", flipped(shape, 1));
    add("a slice, all but one of the second axis", roomy(shape, rows, none));
    add("repeated, the fastest axis", repeated(shape, shape.shape.size() - 1));
  }
  return cases;
}

}  // namespace faro::bench
