#include "permutation/catalogue.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "circuit.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/suggest.hpp"
#include "permutation/parser.hpp"

namespace faro {
namespace {

using detail::SpecReader;

[[noreturn]] void wrong_count(const SpecReader& r, std::size_t got, int n, const std::string& things) {
  r.fail(ErrorCode::spec, (got > 64 ? "more than 64" : std::to_string(got)) + " " + things,
         std::to_string(n) + " " + things + ", one for each bit");
}

// n and the semicolon behind it; where there is an array at hand and so many semicolons, n may be left out.
std::optional<int> bits_before_semicolon(SpecReader& r, std::size_t semicolons_without) {
  if (r.bits_at_hand() && r.count_ahead(';') == semicolons_without) return std::nullopt;
  const int n = r.bits();
  r.semicolon();
  return n;
}

Permutation read_bits(SpecReader& r) {
  const std::optional<int> given = bits_before_semicolon(r, 0);
  const std::vector<std::uint64_t> positions = r.numbers();
  const int n = given.value_or(static_cast<int>(positions.size()));
  if (positions.size() != static_cast<std::size_t>(n)) wrong_count(r, positions.size(), n, "positions");
  std::vector<int> to;
  for (const std::uint64_t position : positions) {
    if (position >= static_cast<std::uint64_t>(n)) {
      r.fail(ErrorCode::value, "position " + std::to_string(position),
             "each of 0.." + std::to_string(n - 1) + " exactly once");
    }
    to.push_back(static_cast<int>(position));
  }
  return maps::permute_bits(to);
}

Permutation read_affine(SpecReader& r) {
  const std::optional<int> given = bits_before_semicolon(r, 1);
  const std::vector<std::uint64_t> columns = r.numbers();
  const int n = given.value_or(static_cast<int>(columns.size()));
  if (columns.size() != static_cast<std::size_t>(n)) wrong_count(r, columns.size(), n, "columns");
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if ((columns[j] & ~f2::low_mask(n)) == 0) continue;
    r.fail(
        ErrorCode::value,
        "column " + std::to_string(j) + " with bit " + std::to_string(f2::leading_bit(columns[j])) + " set",
        "bits below n = " + std::to_string(n));
  }
  r.semicolon();
  return Affine(f2::Matrix::from_columns(n, columns), r.number("the complement"));
}

template <Affine (*Map)(int, std::uint64_t)>
Permutation read_seeded(SpecReader& r) {
  const int n = r.bits_of(2);
  return Map(n, r.number("the seed"));
}

// A count of elements that packed words or blocks of so many take whole. `what` names it.
std::uint64_t whole_words(SpecReader& r, const char* what, std::uint64_t word) {
  const std::uint64_t count = r.number(what);
  if (count % word != 0) {
    r.fail(ErrorCode::value, std::to_string(count) + " for " + what, "a multiple of " + std::to_string(word));
  }
  return count;
}

// The axes of three extents with the last two exchanged, of a matrix or blocks in packed words.
Permutation last_two_exchanged(std::uint64_t outer, std::uint64_t middle, std::uint64_t inner) {
  return Axes({outer, middle, inner}, {0, 2, 1});
}

constexpr std::uint64_t kWordNibbles = 8;  // of 32 bits

Permutation read_awq(SpecReader& r) {
  return last_two_exchanged(whole_words(r, "the count", kWordNibbles) / kWordNibbles, kWordNibbles / 2, 2);
}

Permutation read_gptq(SpecReader& r) {
  const std::uint64_t rows = whole_words(r, "the rows", kWordNibbles);
  r.comma();
  return last_two_exchanged(rows / kWordNibbles, kWordNibbles, r.number("the columns"));
}

Permutation read_gguf(SpecReader& r) {
  constexpr std::uint64_t kHalves = 2;
  const std::uint64_t block = whole_words(r, "the block", kHalves);
  r.comma();
  if (block == 0) r.fail(ErrorCode::value, "a block of 0", "an even number of elements");
  return last_two_exchanged(whole_words(r, "the count", block) / block, kHalves, block / kHalves);
}

// Tiles of 16 x 16 weights of K x N, four side by side along N: of the 8 weights of a word, whose thread of
// the 32 has row pair `middle` and column `column`, one half of rows 8 apart.
Permutation read_marlin(SpecReader& r) {
  constexpr std::uint64_t kTileRows = 16;
  constexpr std::uint64_t kTilesColumns = 64;
  const std::uint64_t rows = whole_words(r, "the rows", kTileRows);
  r.comma();
  const std::uint64_t columns = whole_words(r, "the columns", kTilesColumns);
  return Axes({rows / kTileRows, 2, 4, 2, columns / kTilesColumns, 4, 2, 8}, {0, 4, 7, 2, 5, 3, 6, 1});
}

// Tiles of 8 rows by 16 columns of N x K, `tiles` of them side by side along K.
Permutation read_tinygemm(SpecReader& r) {
  constexpr std::uint64_t kTileRows = 8;
  constexpr std::uint64_t kTileColumns = 16;
  const std::uint64_t rows = whole_words(r, "the rows", kTileRows);
  r.comma();
  const std::uint64_t columns = r.number("the columns");
  r.comma();
  const std::uint64_t tiles = whole_words(r, "the tiles", 2);
  if (tiles == 0 || columns % kTileColumns != 0 || columns / kTileColumns % tiles != 0) {
    r.fail(ErrorCode::value,
           std::to_string(columns) + " columns in " + std::to_string(tiles) + " tiles of 16",
           "an even number of tiles, and a multiple of so many for the columns");
  }
  return Axes({rows / kTileRows, kTileRows, columns / kTileColumns / tiles, tiles / 2, 2, 2, 4, 2},
              {0, 2, 1, 6, 3, 7, 4, 5});
}

Permutation read_int4_pack(SpecReader& r) {
  constexpr std::uint64_t kHalves = 2;
  const std::uint64_t rows = r.number("the rows");
  r.comma();
  const std::uint64_t columns = r.number("the columns");
  r.comma();
  const std::uint64_t block = whole_words(r, "the block", kHalves);
  if (block == 0 || rows % block != 0) {
    r.fail(ErrorCode::value, std::to_string(rows) + " rows in blocks of " + std::to_string(block),
           "a multiple of the block, which is even");
  }
  return Axes({rows / block, kHalves, block / kHalves, columns}, {0, 3, 2, 1});
}

Permutation read_byte_bits(SpecReader& r) {
  constexpr std::uint64_t kBits = 8;
  const std::uint64_t bytes = whole_words(r, "the count", kBits) / kBits;
  return CyclicAxes({bytes, kBits}, {0, 1},
                    {{.count = bytes}, {.count = kBits, .shift = kBits - 1, .reversed = true}});
}

constexpr std::array kCatalogue{
    MapEntry{.name = "identity",
             .syntax = "identity(n)",
             .meaning = "every element stays where it is",
             .example = "identity(4)",
             .command = "faro explain 'identity(20)'",
             .of_bits = maps::identity},
    MapEntry{.name = "bit_reversal",
             .syntax = "bit_reversal(n)",
             .meaning = "bit i goes to bit n - 1 - i, as a fast Fourier transform wants it",
             .example = "bit_reversal(4)",
             .command = "faro explain 'bit_reversal(20)'",
             .of_bits = maps::bit_reversal},
    MapEntry{.name = "reverse",
             .syntax = "reverse(n)",
             .meaning = "x goes to 2^n - 1 - x: the array backwards",
             .example = "reverse(4)",
             .command = "faro explain 'reverse(20)'",
             .of_bits = maps::reverse},
    MapEntry{.name = "xor",
             .syntax = "xor(n, mask)",
             .meaning = "x goes to x ^ mask",
             .example = "xor(4, 0xa)",
             .command = "faro explain 'xor(20, 0x80000)'",
             .read = [](SpecReader& r) -> Permutation {
               const int n = r.bits_of(2);
               return maps::xor_mask(n, r.number("the mask"));
             }},
    MapEntry{.name = "rotate_bits",
             .syntax = "rotate_bits(n, k)",
             .meaning = "bit i goes to bit (i + k) mod n; k may be negative",
             .example = "rotate_bits(4, -1)",
             .command = "faro explain 'rotate_bits(20, 7)'",
             .read = [](SpecReader& r) -> Permutation {
               const int n = r.bits_of(2);
               return maps::rotate_bits(n, r.integer("the distance k"));
             }},
    MapEntry{
        .name = "shuffle",
        .syntax = "shuffle(n)",
        .meaning = "rotate_bits(n, 1): the perfect shuffle, which takes cards from the two halves in turn",
        .example = "shuffle(4)",
        .command = "faro explain 'shuffle(20)'",
        .of_bits = maps::shuffle},
    MapEntry{.name = "swap_bits",
             .syntax = "swap_bits(n, i, j)",
             .meaning = "bits i and j change places",
             .example = "swap_bits(4, 0, 3)",
             .command = "faro explain 'swap_bits(20, 0, 19)'",
             .read = [](SpecReader& r) -> Permutation {
               const int n = r.bits_of(3);
               const int i = r.small_number("the bit i");
               r.comma();
               return maps::swap_bits(n, i, r.small_number("the bit j"));
             }},
    MapEntry{.name = "bits",
             .syntax = "bits(n; p0 p1 ...)",
             .meaning = "bit i goes to bit p_i: any permutation of the bits",
             .example = "bits(4; 2 0 3 1)",
             .command = "faro explain 'bits(6; 2 0 5 1 4 3)'",
             .read = read_bits},
    MapEntry{.name = "gray",
             .syntax = "gray(n)",
             .meaning = "x goes to x ^ (x >> 1), its Gray code",
             .example = "gray(4)",
             .command = "faro explain 'gray(20)'",
             .of_bits = maps::gray},
    MapEntry{.name = "sequency",
             .syntax = "sequency(n, order)",
             .meaning = "rows of a Walsh-Hadamard transform by sign changes, from order hadamard or dyadic",
             .example = "sequency(4, hadamard)",
             .command = "faro explain 'sequency(20)'",
             .of_bits = maps::sequency,
             .read = detail::read_sequency},
    MapEntry{
        .name = "transpose",
        .syntax = "transpose(rows, columns)",
        .meaning = "row-major rows x columns becomes columns x rows; affine where both are powers of two",
        .example = "transpose(2, 8)",
        .command = "faro explain 'transpose(4096, 1024)'",
        .of_shape = detail::transpose_of_shape,
        .read = detail::read_transpose},
    MapEntry{.name = "morton",
             .syntax = "morton(d, b)",
             .meaning = "a row-major array of d axes of 2^b elements becomes Morton (Z) order",
             .example = "morton(2, 2)",
             .command = "faro explain 'morton(3, 7)'",
             .of_shape = detail::morton_of_shape,
             .read = detail::read_morton},
    MapEntry{.name = "hilbert",
             .syntax = "hilbert(d, b)",
             .meaning = "a row-major array of d axes of 2^b elements becomes Hilbert order, computed",
             .example = "hilbert(2, 2)",
             .command = "faro explain 'hilbert(3, 7)'",
             .of_shape = detail::hilbert_of_shape,
             .read = detail::read_hilbert},
    MapEntry{.name = "healpix",
             .syntax = "healpix(k)",
             .meaning = "12 4^k pixels of a sphere, nested, become rings (nside is 2^k), computed",
             .example = "healpix(1)",
             .command = "faro explain 'healpix(9)'",
             .of_shape = detail::healpix_of_shape,
             .read = detail::read_healpix},
    MapEntry{
        .name = "parm",
        .syntax = "parm(n, mask)",
        .meaning = "elements with even parity of x & mask to the low half, odd to the high half, in order",
        .example = "parm(4, 0x3)",
        .command = "faro explain 'parm(20, 0x11)'",
        .read = [](SpecReader& r) -> Permutation {
          const int n = r.bits_of(2);
          return maps::parm(n, r.number("the mask"));
        }},
    MapEntry{.name = "affine",
             .syntax = "affine(n; c0 c1 ...; complement)",
             .meaning = "x goes to the sum of the columns c_j over its set bits j, plus the complement",
             .example = "affine(4; 0x8 0x4 0x6 0x1; 0x2)",
             .command = "faro explain 'affine(4; 0x8 0x4 0x6 0x1; 0x2)'",
             .read = read_affine},
    MapEntry{.name = "random_bp",
             .syntax = "random_bp(n, seed)",
             .meaning = "a random permutation of the bits, the same on every machine",
             .example = "random_bp(4, 1)",
             .command = "faro explain 'random_bp(20, 1)'",
             .read = read_seeded<maps::random_bp>},
    MapEntry{.name = "random_bpc",
             .syntax = "random_bpc(n, seed)",
             .meaning = "random_bp with a random complement",
             .example = "random_bpc(4, 1)",
             .command = "faro explain 'random_bpc(20, 1)'",
             .read = read_seeded<maps::random_bpc>},
    MapEntry{.name = "random_bmmc",
             .syntax = "random_bmmc(n, seed)",
             .meaning = "a random invertible matrix with a random complement",
             .example = "random_bmmc(4, 1)",
             .command = "faro explain 'random_bmmc(20, 1)'",
             .read = read_seeded<maps::random_bmmc>},
    MapEntry{.name = "axes",
             .syntax = "axes(extents; order)",
             .meaning = "a row-major array of any shape, axis order[a] of it as axis a: numpy.transpose",
             .example = "axes(2 3 2; 2 0 1)",
             .command = "faro explain 'axes(120 45 77; 2 0 1)'",
             .read = detail::read_axes},
    MapEntry{.name = "aos_to_soa",
             .syntax = "aos_to_soa(count, words)",
             .meaning = "count structs of so many elements each become arrays: transpose(count, words)",
             .example = "aos_to_soa(4, 3)",
             .command = "faro explain 'aos_to_soa(1000000, 5)'",
             .of_shape = detail::aos_to_soa_of_shape,
             .read = detail::read_aos_to_soa},
    MapEntry{.name = "soa_to_aos",
             .syntax = "soa_to_aos(count, words)",
             .meaning = "so many arrays of count elements become structs: inverse(aos_to_soa(count, words))",
             .example = "soa_to_aos(4, 3)",
             .command = "faro explain 'soa_to_aos(1000000, 5)'",
             .of_shape = detail::soa_to_aos_of_shape,
             .read = detail::read_soa_to_aos},
    MapEntry{.name = "aosoa",
             .syntax = "aosoa(count, words, tile)",
             .meaning = "aos_to_soa of every `tile` structs by themselves; the last tile may have fewer",
             .example = "aosoa(4, 3, 2)",
             .command = "faro explain 'aosoa(1000000, 5, 32)'",
             .read = detail::read_aosoa},
    MapEntry{.name = "awq",
             .syntax = "awq(count)",
             .meaning = "AWQ's order of 4-bit weights in each word of eight: 0 2 4 6 1 3 5 7",
             .example = "awq(16)",
             .command = "faro explain 'awq(2^20)'",
             .read = read_awq},
    MapEntry{.name = "gptq",
             .syntax = "gptq(rows, columns)",
             .meaning = "a matrix becomes GPTQ's words: eight rows of one column, columns side by side",
             .example = "gptq(8, 2)",
             .command = "faro explain 'gptq(4096, 11008)'",
             .read = read_gptq},
    MapEntry{
        .name = "gguf_halves",
        .syntax = "gguf_halves(block, count)",
        .meaning =
            "GGUF's order of 4-bit weights: each byte has one of a block's first half, one of its second",
        .example = "gguf_halves(8, 16)",
        .command = "faro explain 'gguf_halves(32, 2^20)'",
        .read = read_gguf},
    MapEntry{.name = "marlin",
             .syntax = "marlin(rows, columns)",
             .meaning = "a matrix of 4-bit weights becomes Marlin's tiles of 16 x 64",
             .example = "marlin(16, 64)",
             .command = "faro explain 'marlin(4096, 11008)'",
             .read = read_marlin},
    MapEntry{.name = "tinygemm",
             .syntax = "tinygemm(rows, columns, tiles)",
             .meaning = "a matrix of 4-bit weights as torch's _convert_weight_to_int4pack has it on a GPU",
             .example = "tinygemm(8, 32, 2)",
             .command = "faro explain 'tinygemm(4096, 4096, 8)'",
             .read = read_tinygemm},
    MapEntry{.name = "int4_pack",
             .syntax = "int4_pack(rows, columns, block)",
             .meaning = "the same on a CPU: row r of a block and row r + block / 2 share bytes",
             .example = "int4_pack(4, 2, 4)",
             .command = "faro explain 'int4_pack(4096, 4096, 64)'",
             .read = read_int4_pack},
    MapEntry{.name = "byte_bits",
             .syntax = "byte_bits(count)",
             .meaning = "bits of each byte the other way round: elements of 1 bit, or of more",
             .example = "byte_bits(16)",
             .command = "faro explain 'byte_bits(2^20)'",
             .read = read_byte_bits},
    MapEntry{.name = "roll",
             .syntax = "roll(count, shift)",
             .meaning = "any number of elements, `shift` places up and around; shift may be negative",
             .example = "roll(5, 2)",
             .command = "faro explain 'roll(1000000, 7)'",
             .read = detail::read_roll},
    MapEntry{.name = "flip",
             .syntax = "flip(count)",
             .meaning = "any number of elements, backwards",
             .example = "flip(5)",
             .command = "faro explain 'flip(1000000)'",
             .of_shape = detail::flip_of_shape,
             .read = detail::read_flip},
    MapEntry{.name = "multiply",
             .syntax = "multiply(count, factor)",
             .meaning = "x goes to factor x mod count: any count, and a factor that has no divisor with it",
             .example = "multiply(8, 3)",
             .command = "faro explain 'multiply(65536, 5)'",
             .read = detail::read_multiply},
    MapEntry{.name = "affine_mod",
             .syntax = "affine_mod(count, factor, shift)",
             .meaning = "x goes to factor x + shift mod count: multiply, then roll",
             .example = "affine_mod(8, 3, 2)",
             .command = "faro explain 'affine_mod(1000003, 5, -1)'",
             .read = detail::read_affine_mod},
    MapEntry{.name = "good_thomas",
             .syntax = "good_thomas(rows, columns)",
             .meaning = "x goes to row x mod rows, column x mod columns; the two have no common divisor",
             .example = "good_thomas(2, 3)",
             .command = "faro explain 'good_thomas(63, 64)'",
             .read = detail::read_good_thomas},
    MapEntry{.name = "rader",
             .syntax = "rader(prime)",
             .meaning = "g^k mod prime goes to 1 + k, 0 stays; g is the smallest primitive root",
             .example = "rader(7)",
             .command = "faro explain 'rader(65537)'",
             .of_shape = detail::rader_of_shape,
             .read = detail::read_rader},
    MapEntry{.name = "random",
             .syntax = "random(count, seed)",
             .meaning = "a random permutation of any number of elements, as an index array",
             .example = "random(8, 1)",
             .command = "faro explain 'random(1000000, 1)'",
             .read = detail::read_random},
    MapEntry{.name = "indices",
             .syntax = "indices(p0 p1 ...)",
             .meaning = "element i goes to p_i: an index array of at most 64 entries",
             .example = "indices(2 0 1)",
             .command = "faro explain 'indices(3 1 4 0 2)'",
             .read = detail::read_indices},
    MapEntry{.name = "compose",
             .syntax = "compose(f, g)",
             .meaning = "g, then f: x goes to f(g(x))",
             .example = "compose(xor(4, 0x8), gray(4))",
             .command = "faro explain 'compose(bit_reversal(20), gray(20))'",
             .read = detail::read_compose},
    MapEntry{.name = "inverse",
             .syntax = "inverse(f)",
             .meaning = "f undone: the gather form of f",
             .example = "inverse(gray(4))",
             .command = "faro explain 'inverse(gray(20))'",
             .read = detail::read_inverse},
    MapEntry{.name = "power",
             .syntax = "power(f, k)",
             .meaning = "f applied k times; a negative k applies its inverse",
             .example = "power(gray(4), 2)",
             .command = "faro explain 'power(gray(20), 3)'",
             .read = detail::read_power},
    MapEntry{.name = "circuit",
             .syntax = "circuit(n; x 3; cx 0 5; swap 1 2)",
             .meaning = "gates x, cx (control first), swap and id from left to right; qubit k is bit k",
             .example = "circuit(4; x 0; cx 0 1; swap 2 3)",
             .command = "faro explain 'circuit(20; x 3; cx 0 5; swap 1 2)'",
             .read = [](SpecReader& r) -> Permutation { return detail::read_circuit(r); }},
    MapEntry{
        .name = "@file.qasm",
        .syntax = "@file.qasm",
        .meaning =
            "a circuit in OpenQASM 2 or 3: x, cx, swap, id and gates defined by them; qubits in order of "
            "declaration",
        .content = "OPENQASM 2.0;\nqreg q[4];\nx q[0];\ncx q[0],q[1];\nswap q[2],q[3];",
        .example = "circuit(4; x 0; cx 0 1; swap 2 3)",
        .command = "faro explain @circuit.qasm"},
    MapEntry{.name = "@file.json",
             .syntax = "@file.json",
             .meaning = "a matrix by its columns, with an optional complement",
             .content = R"({"n": 4, "columns": ["0x8", "0x4", "0x6", "0x1"], "complement": "0x2"})",
             .example = "affine(4; 0x8 0x4 0x6 0x1; 0x2)",
             .command = "faro explain @matrix.json"},
    MapEntry{.name = "@file.npy",
             .syntax = "@file.npy",
             .meaning = "an index array of NumPy, of any integers: element i goes to index[i]",
             .content = R"(numpy.save("index.npy", numpy.array([2, 0, 1], dtype="u4")))",
             .example = "indices(2 0 1)",
             .command = "faro explain @index.npy"},
    MapEntry{.name = "scatter",
             .syntax = "scatter(@file.npy)",
             .meaning = "the same, stated in full: out[index[i]] = in[i]",
             .content = R"(numpy.save("index.npy", numpy.array([2, 0, 1], dtype="u4")))",
             .example = "indices(2 0 1)",
             .command = "faro explain 'scatter(@index.npy)'",
             .read = [](SpecReader& r) { return r.index_file(Direction::scatter); }},
    MapEntry{.name = "gather",
             .syntax = "gather(@file.npy)",
             .meaning = "an index array read the other way: out[i] = in[index[i]]",
             .content = R"(numpy.save("index.npy", numpy.array([1, 2, 0], dtype="u4")))",
             .example = "indices(2 0 1)",
             .command = "faro explain 'gather(@index.npy)'",
             .read = [](SpecReader& r) { return r.index_file(Direction::gather); }},
};

}  // namespace

std::span<const MapEntry> catalogue() { return kCatalogue; }

const MapEntry* find_map(std::string_view name) {
  const auto* const found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                         [name](const MapEntry& entry) { return entry.name == name; });
  return found == kCatalogue.end() ? nullptr : found;
}

std::string suggest_map(std::string_view misspelt) {
  std::vector<std::string_view> names;
  for (const MapEntry& entry : kCatalogue) {
    if (!entry.name.starts_with('@')) names.push_back(entry.name);
  }
  const std::string suggestion = did_you_mean(misspelt, names);
  return suggestion.empty() ? "`faro maps` lists every map" : suggestion;
}

}  // namespace faro
