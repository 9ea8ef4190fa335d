#include "cli/file_division.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report.hpp"

namespace faro::cli {
namespace {

using Shape = std::vector<std::uint64_t>;

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
  division.cut = file::cut_shape(header.shape, batch, group);
  const std::vector<file::AxesPart> parts = file::parts_of(division.cut.extents, batch, group);
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
      if (file::product(shape, k, shape.size()) == wanted)
        ways.push_back(fmt::format("--batch {}{} permutes that many arrays alike", items / wanted, alone));
      if (file::product(shape, 0, k) == wanted && bytes <= kMaxElementBytes)
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

std::string permuting(const PermuteOptions& options) { return "permute `" + options.in + "`"; }

bool says_division(const PermuteOptions& options) {
  return options.rows || !options.axis.empty() || !options.common.batch.empty() ||
         !options.common.element_bytes.empty();
}

Division division_asked_for(const PermuteOptions& options, const io::NpyHeader& header) {
  const std::optional<std::size_t> axis = axis_given(options, header.shape);
  if (!axis) return divided(options, header);
  return file::along(header.shape, *axis, *axis + 1);
}

std::optional<Division> by_rows(const PermuteOptions& options, const Shape& shape, std::uint64_t wanted) {
  const bool is_one = !says_division(options) && shape.size() >= 2 && wanted == shape.front() &&
                      wanted != file::product(shape, 0, shape.size());
  return is_one ? std::optional(file::along(shape, 0, 1)) : std::nullopt;
}

std::optional<Division> by_lengths(const PermuteOptions& options, const Shape& shape,
                                   const faro::detail::NotedPermutation& read) {
  const ParsedPermutation& parsed = read.parsed;
  const std::uint64_t wanted = element_count(parsed.permutation);
  if (says_division(options) || shape.size() < 2 || wanted == file::product(shape, 0, shape.size()))
    return std::nullopt;
  if (auto rows = by_rows(options, shape, wanted)) return rows;
  const Shape* const names = parsed.axes ? &parsed.axes->shape : read.shapes ? &read.shapes->before : nullptr;
  if (names == nullptr || names->size() >= shape.size()) return std::nullopt;
  const Shape& named = *names;
  if (!std::equal(named.begin(), named.end(), shape.begin())) return std::nullopt;
  return file::along(shape, 0, named.size());
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
