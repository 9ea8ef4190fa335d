// faro new SHAPE DTYPE OUT.npy: an array to try things on, the same on every machine.
//
//     i, u, f, c, M, m   the item's index, wrapped to the width; of a complex number the real part
//     b1                 the parity of the index's bits
//     S, U               the index in decimal, with leading zeros, its last digits where it is longer
//     V                  bytes of SplitMix64 seeded by the index
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

struct NewOptions {
  CommonOptions common;
  std::string shape;
  std::string dtype;
  std::string out;
};

// A type code in its parts: "<f4" is little-endian, kind 'f', 4 bytes.
struct NewDtype {
  std::string code;  // as numpy writes it, with its byte order
  char kind = 'u';
  std::uint64_t item_bytes = 0;
  bool big_endian = false;
};

NewDtype parse_dtype(std::string text) {
  if (text == "?") text = "b1";
  const bool has_order =
      text.starts_with('<') || text.starts_with('>') || text.starts_with('=') || text.starts_with('|');
  const std::string code = has_order ? text.substr(1) : text;
  const auto bytes = io::npy_type_code_bytes(code);
  const bool is_wide_float =
      bytes && ((code.starts_with('f') && *bytes > 8) || (code.starts_with('c') && *bytes > 16));
  if (!bytes || *bytes == 0 || is_wide_float) {
    fail(ErrorCode::value, "read DTYPE", "`" + text + "`",
         "b1, i1 to i8, u1 to u8, f2 to f8, c8, c16, S<n>, U<n>, V<n>, M8 or m8, with < or > before "
         "it if need be");
  }
  NewDtype dtype{.code = {}, .kind = code.front(), .item_bytes = *bytes, .big_endian = text.starts_with('>')};
  const bool is_bytes = *bytes == 1 || dtype.kind == 'S' || dtype.kind == 'V';
  dtype.code = (is_bytes ? '|' : dtype.big_endian ? '>' : '<') + code;
  return dtype;
}

// IEEE half precision of index mod 2048, the integers that it holds exactly.
std::uint16_t half_bits(std::uint64_t index) {
  const std::uint64_t value = index % 2048;
  if (value == 0) return 0;
  constexpr unsigned kBias = 15;
  constexpr unsigned kMantissaBits = 10;
  const auto exponent = static_cast<unsigned>(std::bit_width(value) - 1);
  const auto mantissa =
      static_cast<unsigned>(value << (kMantissaBits - exponent)) & ((1U << kMantissaBits) - 1);
  return static_cast<std::uint16_t>((exponent + kBias) << kMantissaBits | mantissa);
}

// The bits of a number of at most 8 bytes.
std::uint64_t number_bits(char kind, std::uint64_t bytes, std::uint64_t index) {
  if (kind == 'b') return static_cast<std::uint64_t>(std::popcount(index) & 1);
  if (kind != 'f') return index;
  if (bytes == 2) return half_bits(index);
  if (bytes == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(index));
  return std::bit_cast<std::uint64_t>(static_cast<double>(index));
}

void put_number(std::byte* item, std::uint64_t bytes, bool big_endian, std::uint64_t bits) {
  for (std::uint64_t i = 0; i < bytes; ++i) {
    item[big_endian ? bytes - 1 - i : i] = static_cast<std::byte>(bits >> (8 * i) & 0xff);
  }
}

void put_digits(std::byte* item, const NewDtype& dtype, std::uint64_t character_bytes, std::uint64_t index) {
  for (std::uint64_t i = dtype.item_bytes / character_bytes; i-- > 0; index /= 10) {
    put_number(item + i * character_bytes, character_bytes, dtype.big_endian, '0' + index % 10);
  }
}

void put_random_bytes(std::byte* item, std::uint64_t bytes, std::uint64_t index) {
  std::uint64_t state = index * 0xd1342543de82ef95;  // odd, so that items begin apart
  for (std::uint64_t i = 0; i < bytes; i += sizeof(state)) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    put_number(item + i, std::min<std::uint64_t>(sizeof(z), bytes - i), false, z ^ (z >> 31));
  }
}

void put_item(std::byte* item, const NewDtype& dtype, std::uint64_t index) {
  switch (dtype.kind) {
    case 'S':
      return put_digits(item, dtype, 1, index);
    case 'U':
      return put_digits(item, dtype, 4, index);
    case 'V':
      return put_random_bytes(item, dtype.item_bytes, index);
    case 'c': {
      const std::uint64_t part_bytes = dtype.item_bytes / 2;
      put_number(item, part_bytes, dtype.big_endian, number_bits('f', part_bytes, index));
      return put_number(item + part_bytes, part_bytes, dtype.big_endian, 0);
    }
    default:
      return put_number(item, dtype.item_bytes, dtype.big_endian,
                        number_bits(dtype.kind, dtype.item_bytes, index));
  }
}

void make_array(const NewOptions& options) {
  const std::vector<std::uint64_t> shape = parse_shape(options.shape);
  const NewDtype dtype = parse_dtype(options.dtype);
  std::uint64_t bytes = dtype.item_bytes;
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (const std::uint64_t extent : shape) {
    if (is_empty) break;
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > std::uint64_t{1} << 62) {
      fail(ErrorCode::value, "new `" + options.out + "`", "SHAPE " + options.shape + " of " + dtype.code,
           "at most 2^62 bytes");
    }
  }
  if (is_empty) bytes = 0;
  {
    Progress progress(Verbosity::normal);
    progress.step("filling " + size_text(bytes));
    io::NpyOutput output(options.out, "'" + dtype.code + "'", shape, dtype.item_bytes);
    const std::span<std::byte> data = output.data();
    const auto items = static_cast<std::int64_t>(bytes / dtype.item_bytes);
#pragma omp parallel for schedule(static) if (items > 65536)
    for (std::int64_t i = 0; i < items; ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      put_item(data.data() + index * dtype.item_bytes, dtype, index);
    }
    progress.step("writing " + options.out);
    output.commit();
  }
  if (!options.common.json) {
    note(fmt::format("{}: {} of {}, {}", options.out, options.shape, dtype.code, size_text(bytes)));
    return;
  }
  Json json = new_json();
  json["out"] = options.out;
  json["dtype"] = dtype.code;
  json["shape"] = shape;
  json["bytes"] = bytes;
  print(json);
}

}  // namespace

Verb new_verb(CLI::App& app) {
  const auto options = std::make_shared<NewOptions>();
  CLI::App* const command = app.add_subcommand("new", "Write an array to try things on");
  command->add_option("SHAPE", options->shape, "Sizes joined by x: 1024x1024, 2^20, 4096; () is a scalar")
      ->required()
      ->type_name("");
  command->add_option("DTYPE", options->dtype, "A numpy type code: u4, >f8, c16, S32, V32")
      ->required()
      ->type_name("");
  command->add_option("OUT.npy", options->out, "The file to write")->required()->type_name("");
  options->common.add_json(*command);
  return {command, [options] { make_array(*options); }};
}

}  // namespace faro::cli
