// faro new SHAPE DTYPE OUT.npy: an array to try things on, the same on every machine.
//
//     i, u, f, c, M, m   the item's index, wrapped to the width; of a complex number the real part
//     b1                 the parity of the index's bits
//     S, U               the index in decimal, with leading zeros, its last digits where it is longer
//     V                  bytes of SplitMix64 seeded by the index
//
// With --fill random numbers of the whole range (floats of 0 to 1, strings of digits) from --seed; with
// --fill zeros what it says; with --fill pattern the bytes 0, 1, ... 255, 0, ... through the whole array.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "faro/suggest.hpp"
#include "faro/threads.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

struct NewOptions {
  CommonOptions common;
  std::string shape;
  std::string dtype;
  std::string out;
  std::string fill = "index";
  std::string seed;
};

std::string suggest_type(const std::string& misspelt) {
  if (misspelt.starts_with("bfloat") || misspelt.starts_with("float8"))
    return "NumPy itself has no such dtype: u2 holds the bits of a bfloat16, u1 those of 8 bits";
  return misspelt.size() > 3 ? did_you_mean(misspelt, io::npy_type_names()) : std::string();
}

// A type code in its parts: "<f4" is little-endian, kind 'f', 4 bytes.
struct NewDtype {
  std::string code;  // as numpy writes it, with its byte order
  char kind = 'u';
  std::uint64_t item_bytes = 0;
  bool big_endian = false;
};

NewDtype parse_dtype(const std::string& text) {
  const auto type = io::npy_type_code(text);
  const auto is_one_of = [&](std::initializer_list<std::uint64_t> widths) {
    return std::find(widths.begin(), widths.end(), type->item_bytes) != widths.end();
  };
  const bool is_taken =
      type && type->item_bytes > 0 && type->kind != 'W' && (type->kind != 'f' || is_one_of({2, 4, 8})) &&
      (type->kind != 'c' || is_one_of({8, 16})) && (type->kind != 'V' || text.find('V') != std::string::npos);
  if (!is_taken) {
    fail(ErrorCode::value, "read DTYPE", "`" + text + "`",
         "b1, i1 to i8, u1 to u8, f2 to f8, c8, c16, S<n>, U<n>, V<n>, M8 or m8, with < or > before "
         "it if need be, or a name such as float32",
         suggest_type(text));
  }
  const bool is_bytes = type->item_bytes == 1 || type->kind == 'S' || type->kind == 'V';
  return {.code = (is_bytes           ? '|'
                   : type->big_endian ? '>'
                                      : '<') +
                  type->text(),
          .kind = type->kind,
          .item_bytes = type->item_bytes,
          .big_endian = type->big_endian};
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

// SplitMix64: the number after `state`, which moves on.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t state_of(std::uint64_t index) {
  return index * 0xd1342543de82ef95;  // odd, so that items begin apart
}

void put_random_bytes(std::byte* item, std::uint64_t bytes, std::uint64_t state) {
  for (std::uint64_t i = 0; i < bytes; i += sizeof(state)) {
    put_number(item + i, std::min<std::uint64_t>(sizeof(state), bytes - i), false, next_random(state));
  }
}

// A number from 0 to 1, in steps that the width holds exactly.
std::uint64_t random_float_bits(std::uint64_t bytes, std::uint64_t random) {
  if (bytes == 2) {
    constexpr std::uint64_t kOneBits = 0x3c00;  // 1 in half precision; below it every number is one of 0 to 1
    return random % kOneBits;
  }
  if (bytes == 4) {
    constexpr int kMantissaBits = 24;
    return std::bit_cast<std::uint32_t>(
        std::ldexp(static_cast<float>(random >> (64 - kMantissaBits)), -kMantissaBits));
  }
  constexpr int kMantissaBits = 53;
  return std::bit_cast<std::uint64_t>(
      std::ldexp(static_cast<double>(random >> (64 - kMantissaBits)), -kMantissaBits));
}

void put_item(std::byte* item, const NewDtype& dtype, std::uint64_t index) {
  switch (dtype.kind) {
    case 'S':
      return put_digits(item, dtype, 1, index);
    case 'U':
      return put_digits(item, dtype, 4, index);
    case 'V':
      return put_random_bytes(item, dtype.item_bytes, state_of(index));
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

void put_random_item(std::byte* item, const NewDtype& dtype, std::uint64_t state) {
  switch (dtype.kind) {
    case 'b':
      return put_number(item, 1, false, next_random(state) & 1);
    case 'S':
    case 'U': {
      const std::uint64_t character_bytes = dtype.kind == 'S' ? 1 : 4;
      for (std::uint64_t i = 0; i < dtype.item_bytes; i += character_bytes)
        put_number(item + i, character_bytes, dtype.big_endian, '0' + next_random(state) % 10);
      return;
    }
    case 'f':
    case 'c': {
      const std::uint64_t part_bytes = dtype.kind == 'c' ? dtype.item_bytes / 2 : dtype.item_bytes;
      for (std::uint64_t i = 0; i < dtype.item_bytes; i += part_bytes)
        put_number(item + i, part_bytes, dtype.big_endian, random_float_bits(part_bytes, next_random(state)));
      return;
    }
    default:
      return put_random_bytes(item, dtype.item_bytes, state);
  }
}

enum class Fill { index, random, zeros, pattern };

Fill parse_fill(const NewOptions& options) {
  constexpr std::array<std::string_view, 4> kNames{"index", "random", "zeros", "pattern"};
  const auto* const found = std::find(kNames.begin(), kNames.end(), options.fill);
  if (found == kNames.end()) {
    fail(ErrorCode::value, "read --fill", "`" + options.fill + "`", "index, random, zeros or pattern",
         did_you_mean(options.fill, kNames));
  }
  const auto fill = static_cast<Fill>(found - kNames.begin());
  if (!options.seed.empty() && fill != Fill::random)
    fail(ErrorCode::value, "new `" + options.out + "`", "--seed without --fill random",
         "it with --fill random");
  return fill;
}

void fill_item(std::byte* item, const NewDtype& dtype, std::uint64_t index, Fill fill, std::uint64_t seed) {
  switch (fill) {
    case Fill::index:
      return put_item(item, dtype, index);
    case Fill::random: {
      std::uint64_t mixed = seed;
      return put_random_item(item, dtype, state_of(index) ^ next_random(mixed));
    }
    case Fill::zeros:
      std::memset(item, 0, dtype.item_bytes);
      return;
    case Fill::pattern:
      for (std::uint64_t i = 0; i < dtype.item_bytes; ++i)
        item[i] = static_cast<std::byte>(index * dtype.item_bytes + i);
      return;
  }
}

void print_json(const NewOptions& options, const NewDtype& dtype, const std::vector<std::uint64_t>& shape,
                std::uint64_t bytes) {
  Json json = new_json();
  json["out"] = options.out;
  json["dtype"] = dtype.code;
  json["shape"] = shape;
  json["bytes"] = bytes;
  print(json);
}

void make_array(const NewOptions& options) {
  const std::vector<std::uint64_t> shape = parse_shape(options.shape);
  const NewDtype dtype = parse_dtype(options.dtype);
  const Fill fill = parse_fill(options);
  const std::uint64_t seed = options.seed.empty() ? 0 : parse_number("--seed", options.seed, 0);
  require_npy_name("new `" + options.out + "`", options.out);
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
    const InterruptNote interrupted("nothing was written, `" + options.out + "` is as it was");
    Progress progress(Verbosity::normal);
    progress.step("filling " + size_text(bytes));
    io::NpyOutput output(options.out, "'" + dtype.code + "'", shape, dtype.item_bytes);
    const std::span<std::byte> data = output.data();
    const auto items = static_cast<std::int64_t>(bytes / dtype.item_bytes);
#pragma omp parallel for schedule(static) num_threads(detail::thread_count()) if (items > 65536)
    for (std::int64_t i = 0; i < items; ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      fill_item(data.data() + index * dtype.item_bytes, dtype, index, fill, seed);
    }
    progress.step("writing " + options.out, bytes);
    output.finish(progress.advance());
    progress.end();
    if (options.common.json) {
      print_json(options, dtype, shape, bytes);
    } else {
      note(fmt::format("{}: {} of {}, {}", options.out, options.shape, dtype.code, size_text(bytes)));
    }
    output.commit();
  }
}

}  // namespace

Verb new_verb(CLI::App& app) {
  const auto options = std::make_shared<NewOptions>();
  CLI::App* const command = app.add_subcommand("new", "Write an array to try things on");
  add_argument(*command, "SHAPE", options->shape, "Sizes joined by x: 1024x1024, 2^20, 4096; () is a scalar");
  add_argument(*command, "DTYPE", options->dtype,
               "A NumPy type, such as u4, >f8, c16, S32 or V32, or its name, such as float32");
  add_argument(*command, "OUT.npy", options->out, "The file to write");
  add_text(*command, "--fill", options->fill, "F",
           "index (the default), random (the same on every machine), zeros, or pattern: bytes 0, 1, 2, ...");
  add_text(*command, "--seed", options->seed, "N", "Seed of --fill random; the default is 0");
  add_no_sync(*command);
  options->common.add_json(*command);
  return {command, [options] { make_array(*options); }};
}

}  // namespace faro::cli
