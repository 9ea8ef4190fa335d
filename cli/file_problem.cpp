#include "cli/file_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "cli/report.hpp"
#include "permutation/pattern.hpp"
#include "permutation/rows.hpp"
#include "plan/form_to_run.hpp"

namespace faro::cli {
namespace {

using Shape = std::vector<std::uint64_t>;
using Part = FileProblem::Part;
using CutShape = FileProblem::CutShape;

// How the file's items are divided, outermost first.
struct Division {
  std::uint64_t batch = 1;
  std::uint64_t elements = 0;  // of each array
  std::uint64_t group = 1;     // items of an element
  CutShape cut;
  std::optional<Part> part;
  std::optional<std::size_t> axis;  // of --axis and --rows, or found by the lengths
};

std::uint64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{1},
                         std::multiplies<>());
}

Shape slice(const Shape& shape, const Part& part) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(part.first_axis),
          shape.begin() + static_cast<std::ptrdiff_t>(part.end_axis)};
}

// `shape` with `other` in the place of the part.
Shape replaced(const Shape& shape, const Part& part, const Shape& other) {
  Shape result(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(part.first_axis));
  result.insert(result.end(), other.begin(), other.end());
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(part.end_axis), shape.end());
  return result;
}

Division along(const Shape& shape, std::size_t first, std::size_t end) {
  return {.batch = product(shape, 0, first),
          .elements = product(shape, first, end),
          .group = product(shape, end, shape.size()),
          .cut = {.extents = shape},
          .part = Part{.first_axis = first, .end_axis = end},
          .axis = end - first == 1 ? std::optional(first) : std::nullopt};
}

std::string permuting(const PermuteOptions& options) { return "permute `" + options.in + "`"; }

// --axis, which may count from the last, or --rows.
std::optional<std::size_t> axis_given(const PermuteOptions& options, const Shape& shape) {
  if (!options.rows && options.axis.empty()) return std::nullopt;
  const std::string name = options.rows ? "--rows" : "--axis";
  const auto only_one = [&](const std::string& other, bool is_given) {
    if (is_given) fail(ErrorCode::value, permuting(options), name + " and " + other, "one of them");
  };
  only_one("--axis", options.rows && !options.axis.empty());
  only_one("--batch", !options.common.batch.empty());
  only_one("--element-bytes", !options.common.element_bytes.empty());
  if (shape.empty()) fail(ErrorCode::value, permuting(options), name + " of a single number", "an array");
  if (options.rows) return 0;
  const std::uint64_t last = shape.size() - 1;
  if (!options.axis.starts_with('-')) return parse_number("--axis", options.axis, 0, last);
  return shape.size() - parse_number("--axis", options.axis.substr(1), 1, shape.size());
}

// The axes between a batch and an element, where both are whole axes. There may be several ways, by axes of
// extent 1; the first has the most axes.
std::vector<Part> parts_of(const Shape& shape, std::uint64_t batch, std::uint64_t group) {
  std::vector<Part> parts;
  for (std::size_t first = 0; first <= shape.size(); ++first) {
    if (product(shape, 0, first) != batch) continue;
    for (std::size_t end = shape.size() + 1; end-- > first;) {
      if (product(shape, end, shape.size()) == group) parts.push_back({.first_axis = first, .end_axis = end});
    }
  }
  return parts;
}

// The first axes of `shape`, in the order of `begin` .. `end`, whose product is `wanted`: how many they are,
// and what is left of `wanted` that divides the next. Nothing where it ends at no place of the shape.
struct Boundary {
  std::size_t axes = 0;
  std::uint64_t rest = 1;
};
template <typename Iterator>
std::optional<Boundary> boundary(Iterator begin, Iterator end, std::uint64_t wanted) {
  Boundary found{.axes = 0, .rest = wanted};
  while (begin != end && found.rest > 1 && *begin != 0 && found.rest % *begin == 0) {
    found.rest /= *begin++;
    ++found.axes;
  }
  const bool is_place = found.rest == 1 || (begin != end && *begin % found.rest == 0);
  return is_place ? std::optional(found) : std::nullopt;
}

// `shape` with axes that begin and end where batches and elements do, as far as there are such places.
CutShape cut_shape(const Shape& shape, std::uint64_t batch, std::uint64_t group) {
  CutShape cut{.extents = shape};
  if (batch == 0 || group == 0) return cut;
  const auto batches = boundary(shape.begin(), shape.end(), batch);
  if (batches && batches->rest > 1) {
    const auto axis = cut.extents.begin() + static_cast<std::ptrdiff_t>(batches->axes);
    *axis /= batches->rest;
    cut.extents.insert(axis, batches->rest);
    cut.is_batch_cut = true;
  }
  const auto elements = boundary(cut.extents.rbegin(), cut.extents.rend(), group);
  if (elements && elements->rest > 1) {
    const auto axis = cut.extents.end() - static_cast<std::ptrdiff_t>(elements->axes) - 1;
    *axis /= elements->rest;
    cut.extents.insert(axis + 1, elements->rest);
    cut.is_element_cut = true;
  }
  return cut;
}

// By --element-bytes and --batch.
Division divided(const PermuteOptions& options, const io::NpyHeader& header) {
  const std::string operation = permuting(options);
  const std::uint64_t items = header.item_count();
  const std::uint64_t width = options.common.element_bytes_given().value_or(header.item_bytes);
  const std::uint64_t batch = options.common.batch_count();
  if (width % header.item_bytes != 0) {
    fail(ErrorCode::value, operation, fmt::format("--element-bytes {}", width),
         fmt::format("a multiple of the item size, {}", count_text(header.item_bytes, "byte")),
         "elements are whole items");
  }
  const std::uint64_t group = width / header.item_bytes;
  if (items % group != 0) {
    fail(ErrorCode::value, operation, count_text(items, "item"),
         fmt::format("a multiple of the {} in an element", group));
  }
  const std::uint64_t elements = items / group;
  if (batch == 0 ? elements != 0 : elements % batch != 0) {
    fail(ErrorCode::value, operation,
         fmt::format("{} and --batch {}", count_text(elements, "element"), batch),
         "a number of elements that is a multiple of the batch");
  }
  Division division;
  division.batch = batch;
  division.elements = batch == 0 ? 0 : elements / batch;
  division.group = group;
  division.cut = cut_shape(header.shape, batch, group);
  const std::vector<Part> parts = parts_of(division.cut.extents, batch, group);
  if (!parts.empty()) division.part = parts.front();
  return division;
}

// By --axis, else as divided().
Division division_asked_for(const PermuteOptions& options, const io::NpyHeader& header) {
  const std::optional<std::size_t> axis = axis_given(options, header.shape);
  if (!axis) return divided(options, header);
  Division division = along(header.shape, *axis, *axis + 1);
  division.axis = axis;
  return division;
}

// The shape of one of its arrays.
Shape array_of(const Division& division) {
  return division.part ? slice(division.cut.extents, *division.part) : Shape{division.elements};
}

bool has_options(const PermuteOptions& options) {
  return options.rows || !options.axis.empty() || !options.common.batch.empty() ||
         !options.common.element_bytes.empty();
}

// Where the whole file is of another length than the permutation: its rows.
std::optional<Division> by_rows(const PermuteOptions& options, const Shape& shape, std::uint64_t wanted) {
  const bool is_one = !has_options(options) && shape.size() >= 2 && wanted == shape.front() &&
                      wanted != product(shape, 0, shape.size());
  return is_one ? std::optional(along(shape, 0, 1)) : std::nullopt;
}

// The same, or the leading axes that the text names.
std::optional<Division> by_lengths(const PermuteOptions& options, const Shape& shape,
                                   const faro::detail::NotedPermutation& read) {
  const ParsedPermutation& parsed = read.parsed;
  const std::uint64_t wanted = element_count(parsed.permutation);
  if (has_options(options) || shape.size() < 2 || wanted == product(shape, 0, shape.size()))
    return std::nullopt;
  if (auto rows = by_rows(options, shape, wanted)) return rows;
  const Shape* const names = parsed.axes ? &parsed.axes->shape : read.shapes ? &read.shapes->before : nullptr;
  if (names == nullptr || names->size() >= shape.size()) return std::nullopt;
  const Shape& named = *names;
  if (!std::equal(named.begin(), named.end(), shape.begin())) return std::nullopt;
  return along(shape, 0, named.size());
}

// What would make the lengths fit, where that is what was meant; empty where nobody can know.
std::string remedy_for(const PermuteOptions& options, const io::NpyHeader& header, const Division& division,
                       std::uint64_t wanted) {
  const Shape& shape = header.shape;
  const std::uint64_t items = header.item_count();
  const std::uint64_t elements = division.batch * division.elements;
  if (wanted == 0 || division.axis) return "";
  if (elements == 0) return "the file is empty: --batch 0 says that it holds no array";
  if (shape.size() >= 2) {
    const char* const alone = has_options(options) ? " alone" : "";
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == wanted)
        return fmt::format("--axis {}{} permutes along the axis of that length", axis, alone);
    }
    std::vector<std::string> ways;
    for (std::size_t k = 1; k < shape.size() && ways.size() < 2; ++k) {
      const std::uint64_t bytes = items / wanted * header.item_bytes;
      if (product(shape, k, shape.size()) == wanted)
        ways.push_back(fmt::format("--batch {}{} permutes that many arrays alike", items / wanted, alone));
      if (product(shape, 0, k) == wanted && bytes <= kMaxElementBytes)
        ways.push_back(fmt::format("--element-bytes {}{} makes elements that fit", bytes, alone));
    }
    return fmt::format("{}", fmt::join(ways, ", "));
  }
  if (elements % wanted == 0) {
    const std::uint64_t times = elements / wanted;
    std::string batch = fmt::format("--batch {} permutes that many arrays alike", times);
    const std::uint64_t bytes = times * header.item_bytes;
    const bool may_be_wide = !has_options(options) && bytes <= kMaxElementBytes;
    if (!may_be_wide) return batch;
    return fmt::format("{}, --element-bytes {} moves {} items at a time as one element", batch, bytes, times);
  }
  if (items % wanted == 0 && items / wanted * header.item_bytes <= kMaxElementBytes)
    return fmt::format("--element-bytes {} makes elements that fit", items / wanted * header.item_bytes);
  return "";
}

void check_count(const PermuteOptions& options, const io::NpyHeader& header, const Division& division,
                 std::uint64_t wanted) {
  if (division.batch == 0 || wanted == division.elements) return;
  const std::string of = header.shape.size() < 2 ? "" : ", shape " + shape_text(header.shape);
  const bool is_one = division.axis || division.batch == 1;
  const std::string got =
      division.axis ? fmt::format("axis {} of {}{}", *division.axis, division.elements, of)
      : is_one
          ? count_text(division.elements, "element") + of
          : fmt::format("{} arrays of {}{}", division.batch, count_text(division.elements, "element"), of);
  fail(ErrorCode::value, permuting(options), got,
       fmt::format("{}{} for {}", is_one ? "" : "arrays of ", wanted, options.label()),
       remedy_for(options, header, division, wanted));
}

bool is_transpose_of_words(const std::string& spec) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t start = spec.find_first_not_of(blanks);
  return start != std::string::npos && spec.compare(start, 9, "transpose") == 0;
}

// The axes that a text names are the array's, or the array has one axis and no shape of its own.
void check_axes(const PermuteOptions& options, FileProblem& made, const Division& division) {
  if (made.regrouped || !(made.axes || made.shapes)) return;  // a pattern was read for the array
  if (made.shape.size() < 2 || division.batch == 0) return;
  const Shape& named = made.axes ? made.axes->shape : made.shapes->before;
  if (!division.part) {
    const std::string arrays = division.batch == 1 ? "" : fmt::format("{} arrays of ", division.batch);
    fail(ErrorCode::value, permuting(options),
         fmt::format("{}{} of {} within shape {}", arrays, count_text(division.elements, "element"),
                     size_text(made.problem.element_bytes), shape_text(made.shape)),
         fmt::format("arrays of shape {}, which {} takes", shape_text(named), options.label()),
         "let batches and elements end where axes do, or within one axis");
  }
  const Shape array = made.array_shape();
  if (array == named || array.size() <= 1) return;
  for (const Part& part : parts_of(made.cut.extents, division.batch, division.group)) {
    if (slice(made.cut.extents, part) != named) continue;
    made.part = part;
    return;
  }
  const bool is_transpose = is_transpose_of_words(options.spec);
  const std::string wanted =
      is_transpose
          ? fmt::format("the {} of {}", options.inverse ? "columns x rows" : "rows x columns", options.spec)
          : fmt::format("shape {}, which {} takes", shape_text(named), options.label());
  std::string remedy = "the result's shape follows the axes; a reshaped array would fit";
  if (is_transpose && array.size() == 2) {
    remedy = options.inverse
                 ? fmt::format("this array is the result of `transpose({}, {})`", array[1], array[0])
                 : fmt::format("`transpose({}, {})` is this array's", array[0], array[1]);
  }
  fail(ErrorCode::value, permuting(options), "shape " + shape_text(array), wanted, remedy);
}

// `flip(1)` of an array with an axis 1: along it, as numpy's flip(a, 1). A number that is that of all
// elements, or of rows, is a count.
std::optional<std::string> axis_of_flip(const PermuteOptions& options, const Shape& shape) {
  if (has_options(options) || shape.empty()) return std::nullopt;
  std::string text;
  std::copy_if(options.spec.begin(), options.spec.end(), std::back_inserter(text),
               [](unsigned char c) { return std::isspace(c) == 0; });
  const std::string head = "flip(";
  if (!text.starts_with(head) || !text.ends_with(')')) return std::nullopt;
  const std::string number = text.substr(head.size(), text.size() - head.size() - 1);
  const std::string digits = number.starts_with('-') ? number.substr(1) : number;
  constexpr std::size_t kMostDigits = 2;  // of an axis
  const bool is_number =
      !digits.empty() && digits.size() <= kMostDigits &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return std::nullopt;
  const std::uint64_t value = std::stoull(digits);
  if (number != digits) return value >= 1 && value <= shape.size() ? std::optional(number) : std::nullopt;
  const bool is_count = value == product(shape, 0, shape.size()) || value == shape.front();
  return value < shape.size() && !is_count ? std::optional(number) : std::nullopt;
}

// The permutation, and what it does to the shape; a pattern undone is the pattern of the way back.
faro::detail::NotedPermutation parsed_spec(const PermuteOptions& options, const std::optional<Shape>& at_hand,
                                           Direction direction) {
  using faro::detail::AtHand;
  const Verbosity verbosity = options.quiet ? Verbosity::quiet : Verbosity::normal;
  const auto read = [&](const std::string& spec, AtHand what) {
    return parse_spec_of_array(spec, at_hand, direction, verbosity, what);
  };
  if (!options.inverse) return read(options.spec, AtHand::input);
  if (faro::detail::is_pattern(options.spec))
    return read(faro::detail::inverse_pattern(options.spec), AtHand::input);
  faro::detail::NotedPermutation undone = read(options.spec, AtHand::result);
  ParsedPermutation& parsed = undone.parsed;
  parsed.permutation = inverse(parsed.permutation);
  if (parsed.axes) parsed.axes = parsed.axes->inverse();
  if (undone.shapes) std::swap(undone.shapes->before, undone.shapes->after);
  return undone;
}

// Axes in their new order, those that one axis of the result joins together; of extent 1 anywhere.
std::vector<std::vector<int>> joined_axes(const NamedAxes& axes, const Shape& result) {
  std::vector<std::vector<int>> groups;
  std::size_t next = 0;
  for (const std::uint64_t extent : result) {
    groups.emplace_back();
    for (std::uint64_t joined = 1; joined < extent && next < axes.order.size(); ++next) {
      groups.back().push_back(axes.order[next]);
      joined *= axes.shape[static_cast<std::size_t>(axes.order[next])];
    }
  }
  for (; next < axes.order.size(); ++next) {
    if (groups.empty()) groups.emplace_back();
    groups.back().push_back(axes.order[next]);
  }
  return groups;
}

std::string elements_text(const Division& division, std::uint64_t item_bytes, const Shape& shape) {
  const std::string of = " of " + size_text(division.group * item_bytes);
  const std::string axis =
      division.axis && *division.axis > 0 ? fmt::format(" along axis {}", *division.axis) : std::string();
  const bool is_rows = division.axis == std::size_t{0} && shape.size() > 1;
  return short_count(division.elements) + (is_rows ? " row" : " element") +
         (division.elements == 1 ? "" : "s") + of + axis;
}

// Elements that no kernel takes as they are, as smaller ones that move together.
void fit_width(const PermuteOptions& options, FileProblem& made, const Division& division,
               std::uint64_t item_bytes, Widths widths) {
  std::uint64_t width = division.group * item_bytes;
  if (widths == Widths::any && std::holds_alternative<Affine>(made.problem.permutation)) {
    made.problem.element_bytes = width;
    return;
  }
  if (division.axis && width > kMaxElementBytes) {
    const std::uint64_t units = widening_for(width, kMaxElementBytes);
    made.problem.permutation = widened(made.problem.permutation, units);
    width /= units;
  }
  made.problem.element_bytes = width;
  // Nothing but an index array moves what is affine and no more by elements of such a width.
  const auto* const map = std::get_if<Affine>(&made.problem.permutation);
  const bool needs_array = division.axis && !options.in_place && map != nullptr &&
                           !std::has_single_bit(width) && !detail::form_of_any_width(*map);
  if (needs_array) made.problem.permutation = as_index_array(*map);
}

// The shape of an array of other words than those of axes, where they move its axes all the same.
std::optional<NamedAxes> axes_moved(const Permutation& permutation, const Shape& array) {
  const bool rests =
      std::any_of(array.begin(), array.end(), [](std::uint64_t extent) { return extent <= 1; });
  if (array.size() < 2 || rests || std::holds_alternative<Indexed>(permutation)) return std::nullopt;
  if (faro::apply(permutation, 0) != 0) return std::nullopt;
  // Each axis by where a step along it leads: the slowest of the result leads farthest.
  std::vector<std::pair<std::uint64_t, int>> steps;
  std::uint64_t stride = 1;
  for (std::size_t axis = array.size(); axis-- > 0;) {
    steps.emplace_back(faro::apply(permutation, stride), static_cast<int>(axis));
    stride *= array[axis];
  }
  std::sort(steps.rbegin(), steps.rend());
  NamedAxes axes{.shape = array, .order = {}};
  for (const auto& [step, axis] : steps) axes.order.push_back(axis);
  if (normal_form(Axes(axes.shape, axes.order)) != normal_form(permutation)) return std::nullopt;
  return axes;
}

}  // namespace

std::vector<std::uint64_t> FileProblem::array_shape() const { return slice(cut.extents, *part); }

std::vector<std::uint64_t> FileProblem::with_array(const std::vector<std::uint64_t>& array) const {
  Shape result = replaced(cut.extents, *part, array);
  const auto join_at = [&](std::size_t axis) {
    result[axis - 1] *= result[axis];
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  };
  if (cut.is_element_cut) join_at(result.size() - (cut.extents.size() - part->end_axis));
  if (cut.is_batch_cut) join_at(part->first_axis);
  return result;
}

std::vector<std::uint64_t> FileProblem::shape_after(const Plan& plan) const {
  if (result_shape) return *result_shape;
  if (!part) return shape;
  if (regrouped) return with_array(regrouped->after);
  const Shape array = array_shape();
  if (shapes) return shapes->before == array ? with_array(shapes->after) : shape;
  std::optional<NamedAxes> moved;
  if (axes && axes->shape == array) moved = axes;
  const bool is_whole = plan.blocks() == Blocks{} && plan.exceptions().empty();
  if (!axes) moved = axes_moved((is_whole ? plan.problem() : plan.given()).permutation, array);
  if (!moved) return shape;
  return with_array(moved->target_shape());
}

FileProblem file_problem_of(const PermuteOptions& asked, const io::NpyHeader& header, Widths widths) {
  const Shape& shape = header.shape;
  PermuteOptions options = asked;
  if (const auto along_axis = axis_of_flip(asked, shape)) {
    options.spec = "flip";
    options.axis = *along_axis;
  }
  Division division = division_asked_for(options, header);
  const Direction direction = options.index.direction(options.spec);
  const bool is_empty = division.batch == 0;
  faro::detail::NotedPermutation read =
      parsed_spec(options, is_empty ? std::nullopt : std::optional(array_of(division)), direction);
  ParsedPermutation& parsed = read.parsed;
  if (const auto found = by_lengths(options, shape, read)) division = *found;
  if (division.group == 0) {  // rows without items: nothing is moved, however many there are
    division.batch = 0;
    division.group = 1;
  }
  check_count(options, header, division, element_count(parsed.permutation));
  FileProblem made{.problem = {.permutation = std::move(parsed.permutation),
                               .element_bytes = 0,
                               .batch = division.batch,
                               .placement = options.in_place ? Placement::in_place : Placement::out_of_place},
                   .shape = shape,
                   .cut = division.cut,
                   .part = division.part,
                   .axes = std::move(parsed.axes),
                   .regrouped = std::move(parsed.regrouped),
                   .shapes = std::move(read.shapes),
                   .result_shape = {},
                   .elements = elements_text(division, header.item_bytes, shape)};
  made.problem.element_bytes = division.group * header.item_bytes;
  check_axes(options, made, division);
  fit_width(options, made, division, header.item_bytes, widths);
  return made;
}

FileRecords file_records_of(const PermuteOptions& options, const io::NpyHeader& header, std::uint64_t count) {
  Division division = division_asked_for(options, header);
  if (const auto found = by_rows(options, header.shape, count)) division = *found;
  check_count(options, header, division, count);
  return {.batch = division.batch,
          .count = division.elements,
          .record_bytes = division.group * header.item_bytes,
          .elements = elements_text(division, header.item_bytes, header.shape),
          .shape = array_of(division)};
}

namespace {

// The axes of a file in Fortran order put into C order. `parts` are the file's, some of them taken apart: the
// parts of an axis stay together, its axes go from the last to the first. Nothing where they are others.
std::optional<NamedAxes> from_fortran(const Shape& shape, const Shape& parts) {
  std::vector<std::size_t> ends;  // of each axis's parts
  std::size_t part = 0;
  for (const std::uint64_t extent : shape) {
    std::uint64_t product = 1;
    while (product != extent && part < parts.size()) product *= parts[part++];
    if (product != extent) return std::nullopt;
    ends.push_back(part);
  }
  for (; part < parts.size(); ++part)
    if (parts[part] != 1) return std::nullopt;
  if (ends.empty()) return std::nullopt;
  ends.back() = parts.size();
  NamedAxes turned{.shape = {}, .order = std::vector<int>(parts.size())};
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    for (std::size_t p = axis == 0 ? 0 : ends[axis - 1]; p < ends[axis]; ++p) {
      turned.order[p] = static_cast<int>(turned.shape.size());
      turned.shape.push_back(parts[p]);
    }
  }
  return turned;
}

}  // namespace

std::optional<Permutation> on_fortran_data(const io::NpyHeader& header, const FileProblem& asked) {
  const bool is_whole = asked.problem.batch == 1 && asked.problem.element_bytes == header.item_bytes;
  if (!is_whole) return std::nullopt;
  if (asked.axes) {
    const auto turned = from_fortran(header.shape, asked.axes->shape);
    if (!turned) return std::nullopt;
    const NamedAxes both = asked.axes->after(*turned);
    return Axes(both.shape, both.order);
  }
  const auto turned = from_fortran(header.shape, header.shape);
  if (!turned) return std::nullopt;
  const auto before = affine_form(Axes(turned->shape, turned->order));
  const auto map = affine_form(asked.problem.permutation);
  if (before && map) return compose(*map, *before);
  return std::nullopt;
}

std::optional<Problem> within_fortran_data(const io::NpyHeader& header, const FileProblem& asked) {
  if (!asked.part || asked.problem.batch == 0) return std::nullopt;
  const auto [first, end] = *asked.part;
  const Shape& shape = header.shape;
  // From the first axis on: what is an element, the array from its last axis to its first, the batch.
  Problem made = asked.problem;
  made.element_bytes = product(shape, 0, first) * header.item_bytes;
  made.batch = product(shape, end, shape.size());
  if (made.element_bytes > kMaxElementBytes && !std::holds_alternative<Affine>(made.permutation))
    return std::nullopt;
  const Shape array = slice(shape, *asked.part);
  if (product(array, 0, array.size()) != element_count(asked.problem.permutation)) return std::nullopt;
  const auto is_long = [](std::uint64_t extent) { return extent != 1; };
  if (std::count_if(array.begin(), array.end(), is_long) <= 1) return made;
  const Permutation form = normal_form(asked.problem.permutation);
  const auto* const cyclic = std::get_if<Cyclic>(&form);
  const bool is_flip = cyclic != nullptr && cyclic->reversed && cyclic->shift + 1 == cyclic->count;
  const auto map = affine_form(form);
  if (is_flip || (map && *map == affine_form(maps::flip(element_count(form))))) return made;
  std::vector<int> order(array.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const auto turned = affine_form(Axes(array, order));
  if (!map || !turned) return std::nullopt;
  made.permutation = compose(*turned, compose(*map, turned->inverse()));
  return made;
}

FileProblem in_fortran_order(const PermuteOptions& options, const io::NpyHeader& header, FileProblem made) {
  const auto fail_order = [&](const std::string& got) {
    fail(ErrorCode::unsupported, permuting(options), "--order F with " + got,
         "that option with a permutation of axes",
         "written in C order first, `axes(0 1 ...)` with --order F then changes its order");
  };
  if (!made.part || made.cut.is_batch_cut || made.cut.is_element_cut) fail_order("an axis cut in two");
  if (made.shapes) fail_order(options.label());
  const Shape array = made.array_shape();
  NamedAxes moved{.shape = array, .order = std::vector<int>(array.size())};
  std::iota(moved.order.begin(), moved.order.end(), 0);
  if (made.axes && (made.regrouped || made.axes->shape == array)) {
    moved = *made.axes;
  } else if (const auto found = axes_moved(made.problem.permutation, array)) {
    moved = *found;
  } else if (!std::holds_alternative<Axes>(made.problem.permutation) ||
             !std::get<Axes>(made.problem.permutation).is_identity()) {
    const auto form = normal_form(made.problem.permutation);
    const auto* const map = std::get_if<Affine>(&form);
    if (map == nullptr || !map->is_identity()) fail_order(options.label());
  }
  const Shape result = made.regrouped ? made.regrouped->after : moved.target_shape();
  // The axes of the whole file, those before and behind the array's in their places.
  const auto first = static_cast<std::ptrdiff_t>(made.part->first_axis);
  const auto end = static_cast<std::ptrdiff_t>(made.part->end_axis);
  Shape whole(made.shape.begin(), made.shape.begin() + first);
  std::vector<std::vector<int>> groups(made.part->first_axis);
  for (int axis = 0; axis < static_cast<int>(first); ++axis) groups[static_cast<std::size_t>(axis)] = {axis};
  for (std::vector<int>& group : joined_axes(moved, result)) {
    for (int& axis : group) axis += static_cast<int>(first);
    groups.push_back(std::move(group));
  }
  whole.insert(whole.end(), moved.shape.begin(), moved.shape.end());
  for (auto extent = made.shape.begin() + end; extent != made.shape.end(); ++extent) {
    groups.push_back({static_cast<int>(whole.size())});
    whole.push_back(*extent);
  }
  made.result_shape = replaced(made.shape, *made.part, result);
  if (std::find(whole.begin(), whole.end(), 0) != whole.end()) return made;
  std::vector<int> order;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    order.insert(order.end(), group->begin(), group->end());
  made.problem.permutation = Axes(whole, order);
  made.problem.element_bytes = header.item_bytes;
  made.problem.batch = 1;
  made.axes = NamedAxes{.shape = std::move(whole), .order = std::move(order)};
  return made;
}

}  // namespace faro::cli
