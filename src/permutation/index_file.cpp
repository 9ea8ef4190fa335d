#include "index_file.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "index_check.hpp"
#include "io/buffer.hpp"
#include "text.hpp"

namespace faro::detail {
namespace {

// Integers as a file has them: '<u4', '>i8', '|u1'.
struct FileType {
  std::uint64_t bytes = 4;
  bool is_signed = false;
  bool is_swapped = false;  // of the other byte order
};

FileType type_of(const io::NpyHeader& header, const std::string& path) {
  const io::NpyTypeCode code = header.type_code().value_or(io::NpyTypeCode{});
  if (code.kind != 'i' && code.kind != 'u') {
    fail(ErrorCode::value, reading(path), "an index array of dtype " + printable(header.descr),
         "whole numbers: 'u1' to 'u8' or 'i1' to 'i8', of any byte order",
         code.kind == 'b' ? "of a mask, numpy.flatnonzero(mask) gives the rows that it keeps"
                          : "index.astype('u8') makes whole numbers of it");
  }
  return {.bytes = code.item_bytes, .is_signed = code.kind == 'i', .is_swapped = code.big_endian};
}

// The entries as one of the types that Indexed takes, little-endian words of 4 or 8 bytes.
std::vector<std::byte> converted(std::span<const std::byte> data, FileType type) {
  const std::uint64_t count = data.size() / type.bytes;
  const std::uint64_t width = std::max<std::uint64_t>(type.bytes, 4);
  require_memory("index array", std::to_string(count) + " entries", count * width);
  std::vector<std::byte> words(count * width);
  for_each_index(count, [&](std::uint64_t i) {
    const std::byte* const from = data.data() + i * type.bytes;
    std::byte* const to = words.data() + i * width;
    for (std::uint64_t k = 0; k < type.bytes; ++k) to[k] = from[type.is_swapped ? type.bytes - 1 - k : k];
    const bool is_negative = type.is_signed && (to[type.bytes - 1] & std::byte{0x80}) != std::byte{0};
    for (std::uint64_t k = type.bytes; k < width; ++k) to[k] = is_negative ? std::byte{0xff} : std::byte{0};
  });
  return words;
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

FileEntries file_entries(const io::NpyHeader& header, std::span<const std::byte> data,
                         const std::string& path) {
  const FileType type = type_of(header, path);
  FileEntries entries{.bytes = data,
                      .type = {.bytes = type.bytes == 8 ? 8 : 4, .is_signed = type.is_signed},
                      .converted = {}};
  if (type.bytes < 4 || type.is_swapped) {
    entries.converted = converted(data, type);
    entries.bytes = entries.converted;
  }
  return entries;
}

Indexed index_array(const io::NpyHeader& header, std::span<const std::byte> data, Direction direction,
                    const std::string& path) {
  static_cast<void>(type_of(header, path));  // refuses before the shape does
  const auto is_long = [](std::uint64_t extent) { return extent != 1; };
  if (header.shape.empty() || std::count_if(header.shape.begin(), header.shape.end(), is_long) > 1) {
    fail(ErrorCode::value, reading(path), text_of(header.shape), "an index array of one axis",
         "index.reshape(-1) flattens it");
  }
  try {
    const FileEntries entries = file_entries(header, data, path);
    return Indexed::from_bytes(entries.bytes, entries.type, direction);
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
