// A family's functions as they are found: rows once each, functions once each as lists of row numbers.
//
//     row(values)              the number of this row; equal rows, equal numbers
//     add(rows, score, source) a function, or a better source of one that is known
//
// Equal functions compete: the least score stays, and among equal scores the source that came first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/swizzle/hole.hpp"
#include "swizzle/function_limits.hpp"
#include "swizzle/hash_slots.hpp"
#include "swizzle/search_clock.hpp"

namespace faro::swizzle {
class FunctionSet;
}  // namespace faro::swizzle

namespace faro::swizzle::detail {

/// What turns a source, a number that the family chose, back into parameters.
class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;
  virtual Parameters parameters(std::uint64_t source) const = 0;
};

/// What row number `row` in column `column` adds to a function's hash.
constexpr std::uint64_t hash_part(std::size_t column, std::uint32_t row) {
  return mixed((std::uint64_t{column} << 32) | row);
}

/// Distinct rows of one length.
class RowTable {
 public:
  explicit RowTable(std::int64_t row_length) : length_(static_cast<std::size_t>(row_length)) {}

  std::uint32_t number(std::span<const std::int32_t> row);
  std::optional<std::uint32_t> find(std::span<const std::int32_t> row) const;
  std::span<const std::int32_t> row(std::uint32_t number) const {
    return std::span(values_).subspan(number * length_, length_);
  }
  std::size_t size() const { return count_; }
  std::size_t length() const { return length_; }

 private:
  static std::uint64_t hash(std::span<const std::int32_t> row);
  std::size_t length_;
  std::size_t count_ = 0;
  std::vector<std::int32_t> values_;
  HashSlots slots_;
};

class FunctionBuilder {
 public:
  FunctionBuilder(const HoleDeclaration& hole, const FunctionLimits& limits);

  RowTable& rows() { return rows_; }
  std::size_t columns() const { return columns_; }

  /// `hash` is the sum of hash_part over the columns. Errors: ErrorCode::unsupported past a limit.
  void add(std::span<const std::uint32_t> rows, std::uint64_t hash, std::int32_t score, std::uint64_t source);
  /// The same for a table of all cells.
  void add_table(std::span<const std::int32_t> table, std::int32_t score, std::uint64_t source);
  /// Asked now and then by families that try much and find little.
  void check_limits() const;
  /// `clause` of the functions: "are more than 1000". Errors: CutOff.
  [[noreturn]] void cut_off(Limit limit, const std::string& clause, const std::string& wanted) const;

 private:
  friend class swizzle::FunctionSet;

  const HoleDeclaration& hole_;
  FunctionLimits limits_;
  SearchClock clock_;
  std::size_t columns_;
  RowTable rows_;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> row_numbers_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::int32_t> scores_;
  std::vector<std::uint64_t> sources_;
  HashSlots slots_;
  std::vector<std::uint32_t> scratch_;
};

std::shared_ptr<const Family> build_xforms(const HoleDeclaration& hole, Space space,
                                           FunctionBuilder& builder);
std::shared_ptr<const Family> build_conditions(const HoleDeclaration& hole, Space space,
                                               FunctionBuilder& builder);
std::shared_ptr<const Family> build_parts(const HoleDeclaration& hole, Space space, FunctionBuilder& builder);
std::shared_ptr<const Family> build_linear(const HoleDeclaration& hole, FunctionBuilder& builder);

std::shared_ptr<const Family> build_bits(const HoleDeclaration& hole, Space space, FunctionBuilder& builder);
std::shared_ptr<const Family> build_formulas(const HoleDeclaration& hole, FunctionBuilder& builder);

std::uint64_t count_bits(const HoleDeclaration& hole, Space space);
std::uint64_t count_xforms(const HoleDeclaration& hole, Space space);
std::uint64_t count_conditions(const HoleDeclaration& hole, Space space);
std::uint64_t count_linear(const HoleDeclaration& hole);

std::int64_t value_of(const XformParameters& p, std::int64_t i, std::int64_t k);
bool holds(const ConditionParameters& p, std::span<const std::int64_t> arguments);

/// a cmp b, of numbers or of expressions.
template <typename Truth, typename Value>
Truth compared(Comparison comparison, const Value& a, const Value& b) {
  switch (comparison) {
    case Comparison::equal:
      return a == b;
    case Comparison::greater_equal:
      return a >= b;
    case Comparison::greater:
      return a > b;
    case Comparison::less_equal:
      return a <= b;
    case Comparison::less:
      return a < b;
    case Comparison::not_equal:
      return a != b;
  }
  return Truth(0);
}

/// Divisors of n, rising.
std::vector<std::int64_t> divisors(std::int64_t n);

/// Calls `visit` with the arguments of every cell, in order of cells.
template <typename Visit>
void for_each_cell(const HoleDeclaration& hole, const Visit& visit) {
  std::vector<std::int64_t> arguments(hole.arguments.size(), 0);
  const std::int64_t count = cells(hole);
  for (std::int64_t cell = 0; cell < count; ++cell) {
    visit(static_cast<std::size_t>(cell), std::span<const std::int64_t>(arguments));
    for (std::size_t j = 0; j < arguments.size() && ++arguments[j] == hole.arguments[j].asked; ++j)
      arguments[j] = 0;
  }
}

}  // namespace faro::swizzle::detail
