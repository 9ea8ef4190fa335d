// Symbolic elements: what a program computed, up to the order of sums.
//
// Every element of an input is a symbol of its own. Moving never makes a new value; only accumulators do, and
// an accumulator remembers its terms as a multiset of multisets:
//
//     {x,y,x} under +                 is   {x,x,y} under +            x+y+x
//     {{w,x},{u,y}} under (+, *)      is   {{u,y},{x,w}}              w x + u y
//     {{w,x},{u,y}} under +           is   {w,x,u,y} under +          sums in trees, however they branch
//     {x,x} under +                   is not 2 x                      nothing is known of numbers
//
// Two values are equal when they have the same operators, the same finaliser and the same nested multisets.
// That is sound for every associative and commutative pair of operators, and incomplete: no distributive law,
// no a + a = 2 a. Values are interned, so that equal means the same number: comparing is comparing two ints,
// and a specification over 10,000 outputs compares in microseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/swizzle/accumulation.hpp"

namespace faro::swizzle {

/// A value by number, in the table that made it. 0 is "undefined": read before it was written.
using ValueId = std::uint32_t;
inline constexpr ValueId kUndefined = 0;

class ValueTable {
 public:
  ValueTable();

  /// The element `index` of input array `array`.
  ValueId input(int array, std::int64_t index);
  /// The value of an accumulator. Requires: terms of one value where inner is none (checked).
  /// Law: the order of the terms, and of the values in a term, does not matter; a term that is a sum by the
  /// same operator, undivided, is its terms.
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
  bool is_part(const Accumulation& whole, const std::vector<ValueId>& term) const;
};

// What a kernel must compute, as a sequential program over symbolic elements.
//
// A specification is ordinary C++: loops over elements of named arrays, accumulators, and assignments. It
// runs once, and what it leaves is a table: for every element of every output the value that must be there.
//
//     Specification spec;
//     const auto I = spec.input("I", n + 2);
//     const auto O = spec.output("O", n);
//     for (int i = 0; i < n; ++i) {
//       auto sum = spec.accumulator({.outer = Operator::add, .divisor = 3});
//       for (int k = 0; k < 3; ++k) sum.add({spec.at(I, i + k)});
//       spec.set(O, i, sum);
//     }
//
//     O   {I0,I1,I2}/3   {I1,I2,I3}/3   {I2,I3,I4}/3   …
//
// The same table answers in numbers: `ValueTable::number` is the oracle of every kernel that comes of it.
// Outputs may be set again; the last counts. An output element that was never set may hold anything.

enum class ArrayKind : std::uint8_t { input, output, shared };

struct ArrayDeclaration {
  std::string name;
  ArrayKind kind = ArrayKind::input;
  std::int64_t size = 0;  // elements
};

/// An array by number, in its specification and in every program for it.
struct Array {
  int number = -1;
};

class Specification {
 public:
  Specification();

  /// Errors, as below: ErrorCode::spec for a name that is empty or taken, a size below 1, an element outside
  /// its array, an array of the wrong kind.
  Array input(std::string name, std::int64_t size);
  Array output(std::string name, std::int64_t size);

  ValueId at(Array input, std::int64_t index);

  class Accumulator {
   public:
    /// Appends a term where `when` holds. Errors: ErrorCode::spec for more than one value where there is no
    /// inner operator, and for a term of none.
    void add(std::vector<ValueId> term, bool when = true);

   private:
    friend class Specification;
    Accumulation accumulation_;
    std::vector<std::vector<ValueId>> terms_;
  };
  Accumulator accumulator(const Accumulation& accumulation) const;

  /// The accumulator's value so far.
  ValueId value(const Accumulator& accumulator);
  void set(Array output, std::int64_t index, ValueId value);
  void set(Array output, std::int64_t index, const Accumulator& accumulator);

  std::span<const ArrayDeclaration> arrays() const { return arrays_; }
  /// What element `index` of the output must be; kUndefined: anything.
  ValueId wanted(Array output, std::int64_t index) const;
  /// Shared with the interpreters, which intern what they compute in it.
  ValueTable& values() const { return *values_; }

 private:
  std::vector<ArrayDeclaration> arrays_;
  std::vector<std::vector<ValueId>> wanted_;  // by array
  std::shared_ptr<ValueTable> values_;
};

}  // namespace faro::swizzle
