#include "index_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "faro/error.hpp"
#include "text.hpp"

namespace faro::detail {
namespace {

constexpr std::string_view kWantedTypes = "one of '<u4', '<i4', '<u8' and '<i8'";
IndexType type_of(const io::NpyHeader& header, const std::string& path) {
  struct Named {
    std::string_view descr;
    IndexType type;
  };
  constexpr std::array kTypes{
      Named{.descr = "<u4", .type = {.bytes = 4, .is_signed = false}},
      Named{.descr = "<i4", .type = {.bytes = 4, .is_signed = true}},
      Named{.descr = "<u8", .type = {.bytes = 8, .is_signed = false}},
      Named{.descr = "<i8", .type = {.bytes = 8, .is_signed = true}},
  };
  // Without its quotes, which may be single or double.
  std::string_view descr = header.descr;
  if (descr.size() >= 2 && descr.front() == descr.back()) descr = descr.substr(1, descr.size() - 2);
  for (const Named& named : kTypes) {
    if (descr == named.descr) return named.type;
  }
  const bool is_swapped = std::any_of(kTypes.begin(), kTypes.end(), [&](const Named& named) {
    return descr.starts_with('>') && descr.substr(1) == named.descr.substr(1);
  });
  fail(ErrorCode::value, reading(path), "an index array of dtype " + printable(header.descr),
       std::string(kWantedTypes),
       is_swapped ? "index.astype(index.dtype.newbyteorder('<')) changes the byte order"
                  : "index.astype('u8') makes whole numbers of it");
}

std::string text_of(const std::vector<std::uint64_t>& shape) {
  if (shape.empty()) return "a single number";
  std::string text = "an array of shape (";
  constexpr std::size_t kMostShown = 8;
  for (std::size_t axis = 0; axis < std::min(shape.size(), kMostShown); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  }
  return text + (shape.size() > kMostShown ? ", ...)" : ")");
}

// `@path`, in quotes where the grammar needs them.
std::string spec_of(const std::string& path) {
  const bool needs_quotes = path.find_first_of(" ,;)") != std::string::npos;
  return needs_quotes ? "@\"" + path + "\"" : "@" + path;
}

}  // namespace

Indexed index_array(const io::NpyHeader& header, std::span<const std::byte> data, Direction direction,
                    const std::string& path) {
  const IndexType type = type_of(header, path);
  if (header.shape.size() != 1) {
    fail(ErrorCode::value, reading(path), text_of(header.shape), "an index array of one axis",
         "index.reshape(-1) flattens it");
  }
  try {
    return Indexed::from_bytes(data, type, direction);
  } catch (const Error& error) {
    ErrorReport report = error.report();
    report.operation = reading(path);
    throw Error(report);
  }
}

Indexed read_index_file(const std::string& path, Direction direction) {
  const io::NpyInput file(path);
  const std::string spec = spec_of(path);
  return index_array(file.header(), file.data(), direction, path)
      .labelled(direction == Direction::scatter ? spec : "gather(" + spec + ")");
}

}  // namespace faro::detail
