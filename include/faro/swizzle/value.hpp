// Symbolic elements: what a program computed, up to the order of sums.
//
// Every element of an input is a symbol of its own. Moving never makes a new value; only accumulators do, and
// an accumulator remembers its terms as a multiset of multisets:
//
//     {x,y,x} under +                 is   {x,x,y} under +            x+y+x
//     {{w,x},{u,y}} under (+, *)      is   {{u,y},{x,w}}              w x + u y
//     {x,x} under +                   is not 2 x                      nothing is known of numbers
//
// Two values are equal when they have the same operators, the same finaliser and the same nested multisets.
// That is sound for every associative and commutative pair of operators, and incomplete: no distributive law,
// no a + a = 2 a. Values are interned, so that equal means the same number: comparing is comparing two ints,
// and a specification over 10,000 outputs compares in microseconds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace faro::swizzle {

/// Associative and commutative operations of elements.
enum class Operator : std::uint8_t { none, add, multiply, bit_xor, bit_and, bit_or, least, greatest };

/// "+", "*", "^", "&", "|", "min", "max"; "" for none.
const char* name(Operator op) noexcept;

/// What an accumulator does: outer over its terms, inner within a term; then divided by `divisor`.
struct Accumulation {
  Operator outer = Operator::add;
  Operator inner = Operator::none;  // none: every term is one value
  std::uint32_t divisor = 1;        // the finaliser; 1: none
  friend bool operator==(const Accumulation&, const Accumulation&) = default;
};

/// A value by number, in the table that made it. 0 is "undefined": read before it was written.
using ValueId = std::uint32_t;
inline constexpr ValueId kUndefined = 0;

class ValueTable {
 public:
  ValueTable();

  /// The element `index` of input array `array`.
  ValueId input(int array, std::int64_t index);
  /// The value of an accumulator. Requires: terms of one value where inner is none (checked).
  /// Law: the order of the terms, and of the values in a term, does not matter.
  ValueId sum(const Accumulation& accumulation, std::vector<std::vector<ValueId>> terms);

  bool is_input(ValueId value) const;
  int array_of(ValueId input) const;
  std::int64_t index_of(ValueId input) const;
  const Accumulation& accumulation_of(ValueId sum) const;
  /// Sorted, each term sorted.
  const std::vector<std::vector<ValueId>>& terms_of(ValueId sum) const;

  /// Every input that the value depends on, sorted.
  std::vector<ValueId> inputs_of(ValueId value) const;

  /// "I[3]", "(I[0] + I[1] + I[2]) / 3", "a[0]&b[1] ^ a[1]&b[0]"; `arrays` are their names.
  std::string to_text(ValueId value, std::span<const std::string> arrays) const;

  /// The number that the value is, for numbers of the inputs (by array, then index).
  /// T: std::uint32_t (wraps around), std::uint64_t, float. Errors: ErrorCode::value for a bit operation of
  /// floats.
  template <typename T>
  T number(ValueId value, std::span<const std::span<const T>> inputs) const;

 private:
  struct Entry {
    int array = -1;
    std::int64_t index = 0;
    Accumulation accumulation;
    std::vector<std::vector<ValueId>> terms;
  };
  std::vector<Entry> entries_;
  std::vector<std::vector<ValueId>> buckets_;  // by hash
  ValueId intern(Entry entry);
};

}  // namespace faro::swizzle
