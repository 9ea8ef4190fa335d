#include "faro/permutation/strided.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "cursor.hpp"
#include "faro/permutation/affine.hpp"
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

struct Line {
  std::uint64_t extent = 1;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

// Whether strides of the output are those of an array without gaps, slowest first.
bool is_dense(const Strided& normal) {
  std::int64_t stride = 1;
  for (std::size_t axis = normal.extents.size(); axis-- > 0;) {
    if (normal.out_strides[axis] != stride) return false;
    stride *= static_cast<std::int64_t>(normal.extents[axis]);
  }
  return normal.out_offset == 0;
}

// The axes by the input's strides, longest first, where those are without gaps too; flips count as forwards.
std::optional<std::vector<std::size_t>> dense_input_order(const Strided& normal) {
  std::vector<std::size_t> order(normal.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return length_of(normal.in_strides[a]) > length_of(normal.in_strides[b]);
  });
  std::uint64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    if (length_of(normal.in_strides[order[i]]) != stride) return std::nullopt;
    stride *= normal.extents[order[i]];
  }
  if (in_reach(normal).first != 0) return std::nullopt;
  return order;
}

// Axes of powers of two, some of them flipped: bits change places, and those of a flipped axis change.
Affine flipped_affine(const Strided& normal) {
  int bits = 0;
  for (const std::uint64_t extent : normal.extents) bits += f2::trailing_bit(extent);
  std::vector<int> to(static_cast<std::size_t>(bits));
  f2::Word flipped = 0;
  for (std::size_t axis = 0; axis < normal.extents.size(); ++axis) {
    const int in = f2::trailing_bit(length_of(normal.in_strides[axis]));
    const int out = f2::trailing_bit(length_of(normal.out_strides[axis]));
    for (int bit = 0; bit < f2::trailing_bit(normal.extents[axis]); ++bit) {
      to[static_cast<std::size_t>(in) + static_cast<std::size_t>(bit)] = out + bit;
      if (normal.in_strides[axis] < 0) flipped |= f2::Word{1} << (out + bit);
    }
  }
  const Affine moved = maps::permute_bits(to);
  return Affine(moved.matrix(), flipped);
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

Strided normal_form(const Strided& view) {
  check(view);
  Strided normal{.extents = {}, .in_strides = {}, .out_strides = {}};
  if (element_count(view) == 0) return {.extents = {0}, .in_strides = {1}, .out_strides = {1}};
  auto in_offset = static_cast<std::int64_t>(view.in_offset);
  auto out_offset = static_cast<std::int64_t>(view.out_offset);
  std::vector<Line> lines;
  for (std::size_t axis = 0; axis < view.extents.size(); ++axis) {
    Line line{.extent = view.extents[axis], .in = view.in_strides[axis], .out = view.out_strides[axis]};
    if (line.extent == 1) continue;
    if (line.out < 0) {
      const auto last = static_cast<std::int64_t>(line.extent - 1);
      in_offset += last * line.in;
      out_offset += last * line.out;
      line.in = -line.in;
      line.out = -line.out;
    }
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.out > b.out; });
  for (const Line& line : lines) {
    const auto extent = static_cast<std::int64_t>(line.extent);
    if (!normal.extents.empty() && normal.in_strides.back() == line.in * extent &&
        normal.out_strides.back() == line.out * extent) {
      normal.extents.back() *= line.extent;
      normal.in_strides.back() = line.in;
      normal.out_strides.back() = line.out;
      continue;
    }
    normal.extents.push_back(line.extent);
    normal.in_strides.push_back(line.in);
    normal.out_strides.push_back(line.out);
  }
  normal.in_offset = static_cast<std::uint64_t>(in_offset);
  normal.out_offset = static_cast<std::uint64_t>(out_offset);
  return normal;
}

std::optional<Permutation> as_permutation(const Strided& view) {
  const Strided normal = normal_form(view);
  if (element_count(normal) == 0) return normal_form(Permutation(Axes({0}, {0})));
  if (!is_dense(normal)) return std::nullopt;
  const auto by_input = dense_input_order(normal);
  if (!by_input) return std::nullopt;
  const bool flips = std::any_of(normal.in_strides.begin(), normal.in_strides.end(),
                                 [](std::int64_t stride) { return stride < 0; });
  std::vector<std::uint64_t> shape;
  std::vector<int> order(normal.extents.size());
  for (std::size_t i = 0; i < by_input->size(); ++i) {
    shape.push_back(normal.extents[(*by_input)[i]]);
    order[(*by_input)[i]] = static_cast<int>(i);
  }
  if (!flips) return normal_form(Permutation(Axes(shape, order)));
  if (normal.extents.size() == 1) return normal_form(Permutation(maps::flip(normal.extents.front())));
  const bool powers = std::all_of(normal.extents.begin(), normal.extents.end(),
                                  [](std::uint64_t extent) { return f2::is_power_of_two(extent); });
  if (powers) return normal_form(Permutation(flipped_affine(normal)));
  std::vector<Cyclic> moves;
  for (const std::size_t axis : *by_input) {
    const std::uint64_t extent = normal.extents[axis];
    moves.push_back(normal.in_strides[axis] < 0 ? maps::flip(extent) : maps::roll(extent, 0));
  }
  return normal_form(Permutation(CyclicAxes(shape, order, moves)));
}

Strided as_strided(const Axes& axes) {
  Strided view{.extents = axes.shape(), .in_strides = {}, .out_strides = {}};
  view.in_strides.resize(view.extents.size());
  std::int64_t stride = 1;
  for (std::size_t axis = view.extents.size(); axis-- > 0;) {
    view.in_strides[axis] = stride;
    stride *= static_cast<std::int64_t>(view.extents[axis]);
  }
  for (const std::uint64_t target : axes.target_strides())
    view.out_strides.push_back(static_cast<std::int64_t>(target));
  return view;
}

std::vector<std::uint64_t> detail::result_shape(const Strided& view) {
  if (element_count(view) == 0) return view.extents;
  std::int64_t stride = 1;
  bool dense = view.out_offset == 0;
  for (std::size_t axis = view.extents.size(); axis-- > 0;) {
    dense = dense && (view.extents[axis] == 1 || view.out_strides[axis] == stride);
    stride *= static_cast<std::int64_t>(view.extents[axis]);
  }
  return dense ? view.extents : std::vector<std::uint64_t>{out_elements(view)};
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
