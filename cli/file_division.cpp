#include "cli/file_division.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "cli/report.hpp"

namespace faro::cli {
namespace {

using Shape = std::vector<std::uint64_t>;

Division along(const Shape& shape, std::size_t first, std::size_t end) {
  return {.batch = product(shape, 0, first),
          .elements = product(shape, first, end),
          .group = product(shape, end, shape.size()),
          .cut = {.extents = shape},
          .part = AxesPart{.first_axis = first, .end_axis = end},
          .axis = end - first == 1 ? std::optional(first) : std::nullopt};
}

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
  return parse_axis(options.axis, shape.size());
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
  const std::vector<AxesPart> parts = parts_of(division.cut.extents, batch, group);
  if (!parts.empty()) division.part = parts.front();
  return division;
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
    const char* const alone = says_division(options) ? " alone" : "";
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
    const bool may_be_wide = !says_division(options) && bytes <= kMaxElementBytes;
    if (!may_be_wide) return batch;
    return fmt::format("{}, --element-bytes {} moves {} items at a time as one element", batch, bytes, times);
  }
  if (items % wanted == 0 && items / wanted * header.item_bytes <= kMaxElementBytes)
    return fmt::format("--element-bytes {} makes elements that fit", items / wanted * header.item_bytes);
  return "";
}

}  // namespace

std::string Division::elements_text(std::uint64_t item_bytes, const std::vector<std::uint64_t>& shape) const {
  const std::string of = " of " + size_text(group * item_bytes);
  const std::string along_axis = axis && *axis > 0 ? fmt::format(" along axis {}", *axis) : std::string();
  const bool is_rows = axis == std::size_t{0} && shape.size() > 1;
  return faro::count_text(elements) + (is_rows ? " row" : " element") + (elements == 1 ? "" : "s") + of +
         along_axis;
}

std::vector<std::uint64_t> Division::array_shape() const {
  return part ? axes_of_part(cut.extents, *part) : std::vector<std::uint64_t>{elements};
}

std::uint64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{1},
                         std::multiplies<>());
}

Shape axes_of_part(const Shape& shape, const AxesPart& part) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(part.first_axis),
          shape.begin() + static_cast<std::ptrdiff_t>(part.end_axis)};
}

Shape with_part(const Shape& shape, const AxesPart& part, const Shape& other) {
  Shape result(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(part.first_axis));
  result.insert(result.end(), other.begin(), other.end());
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(part.end_axis), shape.end());
  return result;
}

std::vector<AxesPart> parts_of(const Shape& shape, std::uint64_t batch, std::uint64_t group) {
  std::vector<AxesPart> parts;
  for (std::size_t first = 0; first <= shape.size(); ++first) {
    if (product(shape, 0, first) != batch) continue;
    for (std::size_t end = shape.size() + 1; end-- > first;) {
      if (product(shape, end, shape.size()) == group) parts.push_back({.first_axis = first, .end_axis = end});
    }
  }
  return parts;
}

std::string permuting(const PermuteOptions& options) { return "permute `" + options.in + "`"; }

bool says_division(const PermuteOptions& options) {
  return options.rows || !options.axis.empty() || !options.common.batch.empty() ||
         !options.common.element_bytes.empty();
}

Division division_asked_for(const PermuteOptions& options, const io::NpyHeader& header) {
  const std::optional<std::size_t> axis = axis_given(options, header.shape);
  if (!axis) return divided(options, header);
  return along(header.shape, *axis, *axis + 1);
}

std::optional<Division> by_rows(const PermuteOptions& options, const Shape& shape, std::uint64_t wanted) {
  const bool is_one = !says_division(options) && shape.size() >= 2 && wanted == shape.front() &&
                      wanted != product(shape, 0, shape.size());
  return is_one ? std::optional(along(shape, 0, 1)) : std::nullopt;
}

std::optional<Division> by_lengths(const PermuteOptions& options, const Shape& shape,
                                   const faro::detail::NotedPermutation& read) {
  const ParsedPermutation& parsed = read.parsed;
  const std::uint64_t wanted = element_count(parsed.permutation);
  if (says_division(options) || shape.size() < 2 || wanted == product(shape, 0, shape.size()))
    return std::nullopt;
  if (auto rows = by_rows(options, shape, wanted)) return rows;
  const Shape* const names = parsed.axes ? &parsed.axes->shape : read.shapes ? &read.shapes->before : nullptr;
  if (names == nullptr || names->size() >= shape.size()) return std::nullopt;
  const Shape& named = *names;
  if (!std::equal(named.begin(), named.end(), shape.begin())) return std::nullopt;
  return along(shape, 0, named.size());
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

}  // namespace faro::cli
