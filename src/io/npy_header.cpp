#include <algorithm>
#include <cstring>
#include <string_view>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "io/python_literal.hpp"

namespace faro::io {
namespace {

using Kind = PythonLiteral::Kind;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionOffset = kMagic.size();
constexpr std::size_t kLengthOffset = kVersionOffset + 2;
constexpr std::uint64_t kMaxDataBytes = std::uint64_t{1} << 63;
constexpr std::size_t kAlignment = 64;

// What is parsed takes some 75 times its size of memory.
constexpr std::size_t kMostHeaderBytes = std::size_t{256} << 10;
constexpr std::size_t kMostAxes = 64;  // as NumPy

std::size_t length_bytes(unsigned version) { return version == 1 ? 2 : 4; }

std::string count_text(std::uint64_t count, const char* unit) {
  return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
}

// The parts before the dictionary.
struct Preamble {
  unsigned version = 0;
  std::size_t dictionary_offset = 0;
  std::size_t dictionary_bytes = 0;
};

Preamble read_preamble(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) fail(ErrorCode::file, "read `" + name + "`", "an empty file", "a .npy file");
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, std::min(bytes.size(), kMagic.size()))) {
    fail(ErrorCode::file, "read `" + name + "`", "a file that does not start with \\x93NUMPY", "a .npy file",
         "numpy.save writes one");
  }
  const auto truncated = [&](std::size_t wanted) {
    fail(ErrorCode::file, "read `" + name + "`", count_text(bytes.size(), "byte") + ", a truncated header",
         "a header of at least " + count_text(wanted, "byte"));
  };
  if (bytes.size() < kLengthOffset) truncated(kLengthOffset + 2);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  Preamble preamble{.version = byte(kVersionOffset)};
  if (preamble.version < 1 || preamble.version > 3 || byte(kVersionOffset + 1) != 0) {
    fail(ErrorCode::file, "read `" + name + "`",
         "version " + std::to_string(preamble.version) + "." + std::to_string(byte(kVersionOffset + 1)),
         "version 1.0, 2.0 or 3.0");
  }
  preamble.dictionary_offset = kLengthOffset + length_bytes(preamble.version);
  if (bytes.size() < preamble.dictionary_offset) truncated(preamble.dictionary_offset);
  for (std::size_t i = preamble.dictionary_offset; i-- > kLengthOffset;) {
    preamble.dictionary_bytes = preamble.dictionary_bytes << 8 | byte(i);
  }
  if (preamble.dictionary_bytes > kMostHeaderBytes) {
    fail(ErrorCode::file, "read `" + name + "`",
         "a header of " + count_text(preamble.dictionary_bytes, "byte"),
         "at most " + std::to_string(kMostHeaderBytes) + " of them", "NumPy itself stops at 10000");
  }
  if (bytes.size() - preamble.dictionary_offset < preamble.dictionary_bytes) {
    truncated(preamble.dictionary_offset + preamble.dictionary_bytes);
  }
  return preamble;
}

std::string latin1_to_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xc0 | code >> 6);
      result += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return result;
}

// Shortest form only, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int followers = lead < 0x80   ? 0
                          : lead < 0xc2 ? -1
                          : lead < 0xe0 ? 1
                          : lead < 0xf0 ? 2
                          : lead < 0xf5 ? 3
                                        : -1;
    if (followers < 0 || text.size() - i < static_cast<std::size_t>(followers)) return false;
    std::uint32_t code = followers == 0 ? lead : lead & (0x3fU >> followers);
    for (int k = 0; k < followers; ++k) {
      const auto follower = static_cast<unsigned char>(text[i++]);
      if ((follower & 0xc0) != 0x80) return false;
      code = code << 6 | (follower & 0x3f);
    }
    if (followers == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) return false;
    if (followers == 3 && (code < 0x10000 || code > 0x10ffff)) return false;
  }
  return true;
}

struct Entries {
  const PythonLiteral* descr = nullptr;
  const PythonLiteral* fortran_order = nullptr;
  const PythonLiteral* shape = nullptr;
};

Entries read_entries(const PythonLiteral& dictionary, const std::string& name) {
  const std::string wanted = "a dictionary with exactly 'descr', 'fortran_order' and 'shape'";
  if (dictionary.kind != Kind::dictionary)
    fail(ErrorCode::file, "read `" + name + "`", "header " + excerpt(dictionary.source), wanted);
  Entries entries;
  for (std::size_t i = 0; i < dictionary.items.size(); i += 2) {
    const PythonLiteral& key = dictionary.items[i];
    const PythonLiteral** entry = key.kind != Kind::string      ? nullptr
                                  : key.text == "descr"         ? &entries.descr
                                  : key.text == "fortran_order" ? &entries.fortran_order
                                  : key.text == "shape"         ? &entries.shape
                                                                : nullptr;
    if (entry == nullptr)
      fail(ErrorCode::file, "read `" + name + "`", "header key " + excerpt(key.source), wanted);
    if (*entry != nullptr)
      fail(ErrorCode::file, "read `" + name + "`", "header key " + excerpt(key.source) + " twice", wanted);
    *entry = &dictionary.items[i + 1];
  }
  for (const auto& [entry, key] : {std::pair(entries.descr, "descr"),
                                   {entries.fortran_order, "fortran_order"},
                                   {entries.shape, "shape"}}) {
    if (entry == nullptr)
      fail(ErrorCode::file, "read `" + name + "`", "a header without '" + std::string(key) + "'", wanted);
  }
  return entries;
}

std::vector<std::uint64_t> read_shape(const PythonLiteral& shape, const std::string& name) {
  const auto is_integer = [](const PythonLiteral& extent) { return extent.kind == Kind::integer; };
  if (shape.kind != Kind::tuple || !std::all_of(shape.items.begin(), shape.items.end(), is_integer)) {
    fail(ErrorCode::file, "read `" + name + "`", "shape " + excerpt(shape.source),
         "a tuple of integers such as (4, 8), (4,) or ()");
  }
  if (shape.items.size() > kMostAxes) {
    fail(ErrorCode::file, "read `" + name + "`", "a shape of " + std::to_string(shape.items.size()) + " axes",
         "at most " + std::to_string(kMostAxes));
  }
  std::vector<std::uint64_t> extents;
  extents.reserve(shape.items.size());
  for (const PythonLiteral& extent : shape.items) extents.push_back(extent.integer);
  return extents;
}

// Refuses a product of shape and item size past 2^63; a zero anywhere makes the array empty, as in numpy.
void check_size(const NpyHeader& header, const PythonLiteral& shape, const std::string& name) {
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end()) return;
  std::uint64_t bytes = header.item_bytes;
  for (const std::uint64_t extent : header.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes >= kMaxDataBytes) {
      fail(ErrorCode::file, "read `" + name + "`",
           "shape " + excerpt(shape.source) + " of " + count_text(header.item_bytes, "byte") + " an item",
           "less than 2^63 bytes");
    }
  }
}

void check_against_file(const NpyHeader& header, std::uint64_t file_bytes, const std::string& name) {
  const std::uint64_t present = file_bytes - header.data_offset;
  const std::uint64_t wanted = header.data_bytes();
  if (present == wanted) return;
  const std::string difference =
      present < wanted ? count_text(wanted - present, "byte") + " missing, the file is truncated"
                       : count_text(present - wanted, "byte") + " too many";
  fail(ErrorCode::file, "read `" + name + "`", count_text(present, "byte") + " of data (" + difference + ")",
       count_text(wanted, "byte") + " as the header says");
}

}  // namespace

std::uint64_t NpyHeader::item_count() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                           const std::string& name) {
  NpyHeader header = parse_npy_stream_header(bytes, name);
  check_against_file(header, std::max<std::uint64_t>(file_bytes, bytes.size()), name);
  return header;
}

NpyHeader parse_npy_stream_header(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Preamble preamble = read_preamble(text, name);
  std::string dictionary_text(text.substr(preamble.dictionary_offset, preamble.dictionary_bytes));
  if (preamble.version < 3) dictionary_text = latin1_to_utf8(dictionary_text);
  if (!is_utf8(dictionary_text))
    fail(ErrorCode::file, "read `" + name + "`", "a header that is not UTF-8",
         "UTF-8, as version 3 requires");

  PythonLiteral dictionary;
  try {
    dictionary = parse_python_literal(dictionary_text);
  } catch (const PythonLiteralError& error) {
    const std::string unpadded = dictionary_text.substr(0, dictionary_text.find_last_not_of(" \n") + 1);
    fail(ErrorCode::file, "read `" + name + "`", "header " + excerpt(unpadded),
         error.what() + std::string(" at its byte ") + std::to_string(error.position()));
  }
  const Entries entries = read_entries(dictionary, name);
  NpyHeader header{.descr = std::string(entries.descr->source),
                   .item_bytes = dtype_item_bytes(*entries.descr, name),
                   .shape = read_shape(*entries.shape, name),
                   .data_offset = preamble.dictionary_offset + preamble.dictionary_bytes};
  if (entries.fortran_order->kind != Kind::boolean) {
    fail(ErrorCode::file, "read `" + name + "`", "fortran_order " + excerpt(entries.fortran_order->source),
         "True or False");
  }
  // With one long axis both orders are the same.
  const auto is_long = [](std::uint64_t extent) { return extent > 1; };
  header.fortran_order = entries.fortran_order->integer != 0 &&
                         std::count_if(header.shape.begin(), header.shape.end(), is_long) > 1;
  check_size(header, *entries.shape, name);
  return header;
}

std::vector<std::byte> npy_header_bytes(const std::string& descr, std::span<const std::uint64_t> shape,
                                        MemoryOrder order, std::size_t alignment) {
  const std::string is_fortran = order == MemoryOrder::fortran ? "True" : "False";
  std::string dictionary = "{'descr': " + descr + ", 'fortran_order': " + is_fortran + ", 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    dictionary +=
        (i == 0 ? "" : " ") + std::to_string(shape[i]) + (i + 1 < shape.size() || i == 0 ? "," : "");
  }
  dictionary += "), }";

  const bool is_ascii =
      std::all_of(descr.begin(), descr.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const auto padded = [&](unsigned version) {
    const std::size_t offset = kLengthOffset + length_bytes(version);
    return (offset + dictionary.size() + 1 + alignment - 1) / alignment * alignment - offset;
  };
  const unsigned version = !is_ascii ? 3 : padded(1) <= 0xffff ? 1 : 2;
  const std::size_t dictionary_bytes = padded(version);
  dictionary.resize(dictionary_bytes - 1, ' ');
  dictionary += '\n';

  std::string header(kMagic);
  header += static_cast<char>(version);
  header += '\0';
  for (std::size_t i = 0; i < length_bytes(version); ++i) {
    header += static_cast<char>(dictionary_bytes >> (8 * i) & 0xff);
  }
  header += dictionary;
  std::vector<std::byte> bytes(header.size());
  std::memcpy(bytes.data(), header.data(), header.size());
  return bytes;
}

}  // namespace faro::io
