#include "faro/permutation/strided.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "cursor.hpp"
#include "permutation/axis_map.hpp"
#include "permutation/text.hpp"

namespace faro {
namespace {

constexpr std::size_t kMostStridedAxes = 64;
constexpr std::int64_t kFarthest = std::int64_t{1} << 56;  // elements
constexpr const char* kStridedSyntax = "`strided(extents; in_strides; out_strides; in_offset out_offset)`";

std::uint64_t length_of(std::int64_t stride) {
  return stride < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(stride)
                    : static_cast<std::uint64_t>(stride);
}

void check_lists(const Strided& view) {
  const std::size_t axes = view.extents.size();
  if (axes > kMostStridedAxes) {
    fail(ErrorCode::value, "strided", std::to_string(axes) + " axes",
         "at most " + std::to_string(kMostStridedAxes));
  }
  for (const auto* const strides : {&view.in_strides, &view.out_strides}) {
    if (strides->size() == axes) continue;
    fail(ErrorCode::value, "strided",
         std::to_string(strides->size()) + " strides of the " +
             (strides == &view.in_strides ? "input" : "output") + " for " + std::to_string(axes) +
             (axes == 1 ? " extent" : " extents"),
         "a stride of each axis on both sides");
  }
}

std::uint64_t count_of_extents(const Strided& view) {
  if (std::find(view.extents.begin(), view.extents.end(), 0) != view.extents.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : view.extents) {
    if (count > Indexed::kMaxCount / extent)
      fail(ErrorCode::value, "strided", "a product of extents past 2^40", "at most 2^40 elements");
    count *= extent;
  }
  return count;
}

// The first and the last element that a side reaches.
struct Reach {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Reach reach_of(const Strided& view, const std::vector<std::int64_t>& strides, std::uint64_t offset,
               const char* side) {
  const auto require_near = [&](bool near) {
    if (!near) {
      fail(ErrorCode::value, "strided", std::string("strides that leave the ") + side + ", past element 2^56",
           "strides within an array");
    }
  };
  require_near(offset <= static_cast<std::uint64_t>(kFarthest));
  Reach reach{.first = static_cast<std::int64_t>(offset), .last = static_cast<std::int64_t>(offset)};
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    const std::uint64_t steps = view.extents[axis] - 1;
    const std::uint64_t length = length_of(strides[axis]);
    if (steps == 0 || length == 0) continue;
    require_near(steps <= static_cast<std::uint64_t>(kFarthest) / length);
    const auto far = static_cast<std::int64_t>(steps * length);
    if (strides[axis] < 0) {
      reach.first -= far;
    } else {
      reach.last += far;
    }
    require_near(reach.last <= kFarthest && reach.first >= -kFarthest);
  }
  if (reach.first < 0) {
    fail(ErrorCode::value, "strided",
         std::string("strides that leave the ") + side + ", to element " + std::to_string(reach.first),
         "elements from 0 on",
         "an offset of " + std::to_string(static_cast<std::int64_t>(offset) - reach.first) +
             " would keep them in it");
  }
  return reach;
}

Reach in_reach(const Strided& view) { return reach_of(view, view.in_strides, view.in_offset, "input"); }
Reach out_reach(const Strided& view) { return reach_of(view, view.out_strides, view.out_offset, "output"); }

std::string index_text(const std::vector<std::uint64_t>& index) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(index[axis]);
  return text + ")";
}

// --- text

class StridedReader {
 public:
  explicit StridedReader(std::string_view text) : cursor_(text) {}

  Strided whole() {
    if (cursor_.word() != "strided" || !cursor_.take('(')) wanted("`strided(`");
    Strided view;
    while (detail::is_digit(cursor_.peek())) view.extents.push_back(cursor_.number("an extent"));
    sign(';');
    view.in_strides = integers();
    sign(';');
    view.out_strides = integers();
    if (cursor_.take(';')) {
      view.in_offset = cursor_.number(std::string("the offset of the input as in ") + kStridedSyntax);
      view.out_offset = cursor_.number(std::string("the offset of the output as in ") + kStridedSyntax);
    }
    sign(')');
    if (!cursor_.at_end()) cursor_.fail_here("the end of the text after the view");
    return view;
  }

 private:
  [[noreturn]] void wanted(const std::string& what) { cursor_.fail_here(what + " as in " + kStridedSyntax); }
  void sign(char c) {
    if (!cursor_.take(c)) wanted(detail::in_quotes(std::string_view(&c, 1)));
  }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> result;
    while (detail::is_digit(cursor_.peek()) || cursor_.peek() == '-') {
      const bool negative = cursor_.take('-');
      const std::string place = cursor_.here();
      const std::uint64_t magnitude = cursor_.number("a stride");
      if (magnitude > static_cast<std::uint64_t>(kFarthest))
        cursor_.fail(ErrorCode::value, place, "a stride in -2^56..2^56");
      const auto value = static_cast<std::int64_t>(magnitude);
      result.push_back(negative ? -value : value);
    }
    return result;
  }

  detail::Cursor cursor_;
};

template <typename Number>
std::string numbers_text(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

}  // namespace

void check(const Strided& view) {
  check_lists(view);
  if (count_of_extents(view) == 0) return;
  static_cast<void>(in_reach(view));
  static_cast<void>(out_reach(view));
  const std::optional<MeetingIndices> meeting = meeting_indices(view);
  if (!meeting) return;
  fail(ErrorCode::value, "strided",
       "indices " + index_text(meeting->first) + " and " + index_text(meeting->second) +
           ", which meet in one element of the output",
       "strides of the output that keep all elements apart");
}

std::uint64_t element_count(const Strided& view) {
  check_lists(view);
  return count_of_extents(view);
}

std::uint64_t in_elements(const Strided& view) {
  if (element_count(view) == 0) return 0;
  return static_cast<std::uint64_t>(in_reach(view).last) + 1;
}

std::uint64_t out_elements(const Strided& view) {
  if (element_count(view) == 0) return 0;
  return static_cast<std::uint64_t>(out_reach(view).last) + 1;
}

detail::AxisMap detail::axis_map(const Strided& view) {
  AxisMap map{.in_first = static_cast<std::int64_t>(view.in_offset),
              .out_first = static_cast<std::int64_t>(view.out_offset)};
  for (std::size_t axis = 0; axis < view.extents.size(); ++axis) {
    map.axes.push_back(
        {.extent = view.extents[axis], .in = view.in_strides[axis], .out = view.out_strides[axis]});
  }
  return map;
}

Strided detail::as_strided(const AxisMap& map) {
  Strided view{.extents = {},
               .in_strides = {},
               .out_strides = {},
               .in_offset = static_cast<std::uint64_t>(map.in_first),
               .out_offset = static_cast<std::uint64_t>(map.out_first)};
  for (const StridedAxis& axis : map.axes) {
    FARO_CHECK(axis.shift == 0);
    view.extents.push_back(axis.extent);
    view.in_strides.push_back(axis.in);
    view.out_strides.push_back(axis.out);
  }
  return view;
}

Strided normal_form(const Strided& view) {
  check(view);
  detail::AxisMap normal = detail::normal_form(detail::axis_map(view));
  std::reverse(normal.axes.begin(), normal.axes.end());  // slowest first
  return detail::as_strided(normal);
}

std::optional<Permutation> detail::as_permutation(const AxisMap& normal) {
  if (!whole(normal)) return std::nullopt;
  return faro::normal_form(Permutation(CyclicAxes(normal)));
}

std::optional<Permutation> as_permutation(const Strided& view) {
  check(view);
  return detail::as_permutation(detail::normal_form(detail::axis_map(view)));
}

Strided as_strided(const Axes& axes) { return detail::as_strided(axes.map()); }

std::vector<std::uint64_t> detail::result_shape(const Strided& view) {
  if (element_count(view) == 0 || (view.out_offset == 0 && is_dense(view.extents, view.out_strides)))
    return view.extents;
  return {out_elements(view)};
}

std::string to_text(const Strided& view) {
  std::string text = "strided(" + numbers_text(view.extents) + "; " + numbers_text(view.in_strides) + "; " +
                     numbers_text(view.out_strides);
  if (view.in_offset != 0 || view.out_offset != 0)
    text += "; " + std::to_string(view.in_offset) + " " + std::to_string(view.out_offset);
  return text + ")";
}

Strided parse_strided(std::string_view text) {
  Strided view = StridedReader(text).whole();
  check(view);
  return view;
}

bool is_strided_text(std::string_view text) { return detail::Cursor(text).word() == "strided"; }

}  // namespace faro
