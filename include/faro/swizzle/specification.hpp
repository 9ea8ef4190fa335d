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
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/swizzle/value.hpp"

namespace faro::swizzle {

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
