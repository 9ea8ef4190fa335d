#include "cli/file_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>
#include <utility>

#include "cli/report.hpp"
#include "permutation/pattern.hpp"
#include "permutation/rows.hpp"
#include "permutation/strides.hpp"
#include "plan/form_to_run.hpp"

namespace faro::cli {
namespace {

using Shape = std::vector<std::uint64_t>;

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
  for (const file::AxesPart& part : file::parts_of(made.cut.extents, division.batch, division.group)) {
    if (axes_of_part(made.cut.extents, part) != named) continue;
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

// `flip(1)` of an array with an axis 1: along it, as numpy's flip(a, 1). A number that is no axis is a count.
std::optional<std::string> axis_of_flip(const PermuteOptions& options, const Shape& shape) {
  if (says_division(options) || shape.empty()) return std::nullopt;
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
  if (number != digits) {
    if (value >= 1 && value <= shape.size()) return number;
    fail(ErrorCode::value, permuting(options), "flip(" + number + ") of shape " + shape_text(shape),
         fmt::format("an axis from -{} to {}, or the number of elements", shape.size(), shape.size() - 1));
  }
  return value < shape.size() ? std::optional(number) : std::nullopt;
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

// Elements that are wider than any plan takes, as smaller ones that move together.
void narrow(Problem& problem) {
  if (problem.element_bytes <= kMaxElementBytes) return;
  const std::uint64_t units = widening_for(problem.element_bytes, kMaxElementBytes);
  problem.permutation = widened(problem.permutation, units);
  problem.element_bytes /= units;
}

void check_view_options(const PermuteOptions& options) {
  const std::pair<bool, const char*> others[] = {
      {options.inverse, "--inverse"},
      {options.rows, "--rows"},
      {!options.axis.empty(), "--axis"},
      {!options.common.batch.empty(), "--batch"},
      {!options.common.element_bytes.empty(), "--element-bytes"},
      {!options.map.empty() || !options.element.empty(), "--map"},
      {!options.plan_cache.empty(), "--plan-cache"},
      {options.index.gather || options.index.scatter, "--gather or --scatter"},
  };
  for (const auto& [given, name] : others) {
    if (given) {
      fail(ErrorCode::value, permuting(options), std::string(name) + " with a strided view", "a view alone",
           "its strides say all");
    }
  }
}

}  // namespace

const Strided& view_of(const PermuteOptions& options, const io::NpyHeader& header) {
  check_view_options(options);
  const Strided& view = *options.view;
  if (header.item_count() < in_elements(view)) {
    fail(ErrorCode::value, permuting(options), fmt::format("a file of {} items", header.item_count()),
         fmt::format("at least {}, which the strides of {} reach", in_elements(view), options.label()));
  }
  return view;
}

FileProblem view_problem_of(const PermuteOptions& options, const io::NpyHeader& header) {
  Strided view = view_of(options, header);
  Shape shape = faro::detail::result_shape(view);
  // Where elements make one axis, that is in both orders.
  if (options.order == "F" && shape == view.extents) view.out_strides = faro::detail::fortran_strides(shape);
  return file::viewed(header, view, std::move(shape));
}

void require_view_in_place(const PermuteOptions& options, const io::NpyHeader& header) {
  const Strided& view = *options.view;
  if (header.fortran_order || element_count(view) != header.item_count() || !as_permutation(view)) {
    fail(ErrorCode::unsupported, permuting(options), "--in-place with a strided view",
         "OUT, a second array of " + size_text(out_elements(view) * header.item_bytes),
         "views that are permutations of axes, flips of all elements or affine maps run in place");
  }
  check_view_options(options);
}

FileProblem for_kernels(const PermuteOptions& options, FileProblem asked) {
  Problem& problem = asked.problem;
  narrow(problem);
  // Nothing but an index array moves what is affine and no more by elements of such a width.
  const std::uint64_t width = problem.element_bytes;
  const auto* const map = std::get_if<Affine>(&problem.permutation);
  const bool is_only_affine =
      map != nullptr && width > 0 && !std::has_single_bit(width) && !detail::form_of_any_width(*map);
  if (!is_only_affine) return asked;
  if (options.in_place) {
    fail(
        ErrorCode::unsupported, permuting(options), fmt::format("elements of {} bytes in place", width),
        "elements whose width is a power of two",
        "`--memory` of less than twice the file permutes any width where it lies, and so does a second file");
  }
  if (asked.is_along_axis) problem.permutation = as_index_array(*map);
  return asked;
}

void fail_order(const PermuteOptions& options, const std::string& got) {
  const bool has_map = !options.map.empty();
  fail(ErrorCode::unsupported, permuting(options), "--order F with " + got,
       has_map ? "both with axes in another order" : "that option with axes in another order or flipped",
       "written in C order first, `axes(0 1 ...)` with --order F then changes its order");
}

const FileProblem& FileRequest::problem() {
  if (!problem_)
    problem_ =
        options.view ? view_problem_of(options, header) : file_problem_of(options, header, Widths::any);
  return *problem_;
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
  const bool is_empty = division.batch == 0 && !division.axis;  // along an axis its length is known
  faro::detail::NotedPermutation read =
      parsed_spec(options, is_empty ? std::nullopt : std::optional(division.array_shape()), direction);
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
                   .is_flip = false,
                   .is_along_axis = division.axis.has_value(),
                   .elements = division.elements_text(header.item_bytes, shape)};
  made.is_flip = file::is_flip(made.problem.permutation);
  if (options.view) made.result_shape = faro::detail::result_shape(*options.view);
  made.problem.element_bytes = division.group * header.item_bytes;
  check_axes(options, made, division);
  if (widths == Widths::of_kernels) return for_kernels(options, std::move(made));
  if (!std::holds_alternative<Affine>(made.problem.permutation)) narrow(made.problem);
  return made;
}

FileRecords file_records_of(const PermuteOptions& options, const io::NpyHeader& header, std::uint64_t count) {
  Division division = division_asked_for(options, header);
  if (const auto found = by_rows(options, header.shape, count)) division = *found;
  check_count(options, header, division, count);
  return {.batch = division.batch,
          .count = division.elements,
          .record_bytes = division.group * header.item_bytes,
          .elements = division.elements_text(header.item_bytes, header.shape),
          .shape = division.array_shape()};
}
}  // namespace faro::cli
