// Moves of rows that are no permutations: rows that are repeated, left out, put somewhere, or added up.
//
//     Take   out[i]     = in[f(i)]      f = 2 0 2 -    in  a b c      out  c a c .     repeats and omissions
//     Put    out[f(i)]  = in[i]         f = 3 0 1      in  a b c      out  b c . a     the others stay
//     Add    out[f(i)] += in[i]         f = 1 0 1      in  a b c      out  b a+c .     on what was there
//
// A row is any number of bytes, and lies at any address. An entry of f that names no row, here `-`, is -1 of
// signed entries, or a marker of the user's: what Take writes there is the user's to say, and Put and Add
// leave such a row of the input out. Every other entry is checked against the number of rows.
//
// Add has one result whatever the threads and the engine: for each element, what was there, and to that the
// rows of the input in the order of i.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "faro/number.hpp"
#include "faro/permutation/indexed.hpp"

namespace faro {

enum class ByteOrder { little, big };

/// The entries of f, in memory of the caller's, of 1, 2, 4 or 8 bytes. They are not copied, and have to live
/// while anything made of them is used. For engine cpu in the host's memory, of any alignment, and they have
/// to stay as they are; for engine cuda in the device's, aligned to an entry, and each run reads what is
/// there then.
struct RowNumbers {
  const void* data = nullptr;
  std::uint64_t count = 0;
  IndexType type = {};
  ByteOrder order = ByteOrder::little;

  RowNumbers() = default;
  RowNumbers(const void* entries, std::uint64_t entry_count, IndexType entry_type,
             ByteOrder byte_order = ByteOrder::little)
      : data(entries), count(entry_count), type(entry_type), order(byte_order) {}
  /// Takes whole numbers: RowNumbers(std::span(vector)).
  template <typename Integer, std::size_t kExtent>
  requires std::integral<std::remove_const_t<Integer>>
  explicit RowNumbers(std::span<Integer, kExtent> entries)
      : data(entries.data()),
        count(entries.size()),
        type{.bytes = sizeof(Integer), .is_signed = std::is_signed_v<Integer>} {}
};

/// What Take writes where an entry names no row.
struct Fill {
  enum class With {
    nothing,  // such an entry is refused
    zero,     // bytes of 0
    value,    // `value`, again and again along the row
    kept,     // what was there
  };
  With with = With::nothing;
  std::vector<std::byte> value;  // a row is a multiple of its size

  static Fill zero() { return {.with = With::zero, .value = {}}; }
  static Fill kept() { return {.with = With::kept, .value = {}}; }
  static Fill of(std::vector<std::byte> bytes) { return {.with = With::value, .value = std::move(bytes)}; }
};

/// out[i] = in[from(i)], for `from.count` rows of the output.
struct Take {
  RowNumbers from = {};
  std::uint64_t rows = 0;  // of the input
  Fill fill = {};
  /// Entries that name no row, sign-extended to 64 bits. Without: -1 of signed entries, none of unsigned
  /// ones.
  std::optional<std::uint64_t> marker = {};
};

/// out[to(i)] = in[i], for `to.count` rows of the input. No two go to one row, which is checked.
struct Put {
  RowNumbers to = {};
  std::uint64_t rows = 0;  // of the output
  std::optional<std::uint64_t> marker = {};
};

/// What sums are kept in until they are written, rounded once.
enum class Sums {
  usual,        // fp32 for fp16 and bf16, else the type itself
  fp32,         // of fp16, bf16 and fp32
  fp64,         // of all floating-point types
  compensated,  // the usual type and beside it what it lost (Neumaier's summation)
};
/// "usual", "fp32", ….
const char* name(Sums sums) noexcept;

/// out[to(i)] += in[i], in the order of i. Integers wrap.
struct Add {
  RowNumbers to = {};
  std::uint64_t rows = 0;  // of the output
  Number number = Number::f32;
  Sums sums = Sums::usual;
  std::optional<std::uint64_t> marker = {};
};

using RowMove = std::variant<Take, Put, Add>;

/// "take", "put" or "add".
const char* name(const RowMove& move) noexcept;

/// The entries, and the rows that they number.
const RowNumbers& row_numbers(const RowMove& move) noexcept;
std::uint64_t numbered_rows(const RowMove& move);
/// The marker, or what stands for it; nothing where every entry has to name a row.
std::optional<std::uint64_t> absent_marker(const RowMove& move);

/// What the sweep that checks entries sees.
struct RowCensus {
  std::uint64_t absent = 0;  // entries that name no row
  std::uint64_t runs = 0;    // maximal runs f(i + 1) = f(i) + 1, or of absent entries
};

/// Checks every entry. Errors: ErrorCode::value naming the first entry, in the order of i, that names no row
/// there is; of Put, where all do, the first whose row was named before.   Cost: a sweep of the entries; of
/// Put a bit a row of memory beside it.
RowCensus check_rows(const RowMove& move, int threads = 0);

/// The same of a few thousand entries here and there, where that is all there is to know: of Take on entries
/// of the host that all have to name rows; nothing of others, or where one of these entries names no row.
/// Cost: microseconds.
std::optional<RowCensus> sample_rows(const RowMove& move);

/// Where rows lie in an array: it is `outer` arrays of rows, one after another. Rows along axis k of an array
/// of n axes: `outer` is the product of the extents before k, a row is everything after it.
struct RowLayout {
  std::uint64_t outer = 1;
  std::uint64_t row_bytes = 1;
};

}  // namespace faro
