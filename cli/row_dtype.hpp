// What the verbs of rows know of a file's dtype: the numbers in it, and a value typed as one of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "faro/permutation/take.hpp"
#include "io/npy.hpp"

namespace faro::cli {

/// The numbers of an array.
struct ItemNumbers {
  Number number = Number::f32;
  bool swapped = false;  // of the other byte order
};

/// The numbers of a dtype of integers, floating-point and complex numbers (two numbers an item); `as_bf16`
/// reads items of 2 bytes as bfloat16, which numpy has no type for. Errors: ErrorCode::value for any other
/// dtype.
ItemNumbers numbers_of(const std::string& operation, const io::NpyHeader& header, bool as_bf16);

/// `text` as an item of the file's dtype: a number of its range, `nan`, `inf`, `true`, `false`; of dtypes
/// that hold no numbers 0 alone. Errors: ErrorCode::value.
std::vector<std::byte> item_of(const std::string& option, const std::string& text,
                               const io::NpyHeader& header, bool as_bf16);

/// Turns the bytes of each number round.
void swap_bytes(std::span<std::byte> data, std::uint64_t number_bytes);

}  // namespace faro::cli
