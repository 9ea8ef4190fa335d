// Running a program with a function for each hole, on symbols and on numbers.
//
//     symbols    {I0,I1,I2}/3 …     equal to the specification's values: right for all inputs
//     numbers    7.0  9.5 …         the oracle's numbers: tests of emitted kernels
//
// Both go through one executor, warp by warp in lockstep, with elements of another kind. The state between
// two statements can be watched: the grids of a struct's transposition are the registers after each step, a
// row for each register and a column for each lane.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/swizzle/hole.hpp"
#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

/// A function for each hole of a program, by hole number.
class Valuation {
 public:
  explicit Valuation(const Program& program);

  /// Errors: ErrorCode::spec, naming the hole, where a value is outside the hole's values.
  void set(const Hole& hole, const Parameters& parameters) { set(hole.number(), parameters); }
  void set(int hole, const Parameters& parameters);
  /// By the hole's name. Errors: ErrorCode::spec where there is none.
  void set(const std::string& hole, const Parameters& parameters);

  /// Errors: ErrorCode::spec: the hole has no function; an argument that may not be asked.
  std::int64_t operator()(int hole, std::span<const std::int64_t> arguments) const;
  const Parameters& parameters(int hole) const;
  bool complete() const;
  std::span<const std::int32_t> table(int hole) const;

 private:
  std::size_t require(int hole) const;
  std::vector<HoleDeclaration> holes_;
  std::vector<Interval> values_;  // that each hole may have
  std::vector<std::optional<Parameters>> parameters_;
  std::vector<std::vector<std::int32_t>> tables_;
};

/// Registers of one warp: value of register r in lane t is at [r * W + t].
struct WarpState {
  std::int64_t block = 0, warp = 0;
  int registers = -1;  // which array
  std::span<const ValueId> values;
};
/// Called after each statement that wrote registers; `step` counts them, loops as one (their last iteration).
using Watcher = std::function<void(int step, const Statement& statement, const WarpState& state)>;

/// What every array holds at the end, by array number; kUndefined where nothing was written.
/// What was never written is undefined, and so is every move and every sum of it: lanes past an array's end
/// may carry it along, but none may store it in an output.
/// Errors: ErrorCode::spec for an undefined value stored in an output, an address outside an array where
/// `when` holds (loads of Transfer skip those), two lanes storing different values to one element, a shared
/// element read that is not visible; those of check(program).
std::vector<std::vector<ValueId>> run_symbolic(const Program& program, const Valuation& valuation,
                                               ValueTable& values, const Watcher& watcher = {});

/// The same on numbers. `inputs` and `outputs` by array number, empty spans for arrays of the other kind.
/// T: std::uint32_t, std::uint64_t, float. Errors: as run_symbolic; ErrorCode::value for spans of the wrong
/// size.
template <typename T>
void run(const Program& program, const Valuation& valuation, std::span<const std::span<const T>> inputs,
         std::span<const std::span<T>> outputs);

/// Where a program differs from its specification.
struct Mismatch {
  Array array;  // number -1: a demand of `present` that is not met
  std::int64_t index = 0;
  ValueId got = kUndefined;
  ValueId wanted = kUndefined;
  std::string text;  // "O[3]: got {I4,I4,I5}, wanted {I3,I4,I5}"
};
/// The first difference, or none: then the program computes the specification for all inputs. An output that
/// the program never stores but names in `present` is not compared: what it needs must be present.
/// What an execution error says counts as a mismatch with its text.
std::optional<Mismatch> first_mismatch(const Specification& specification, const Program& program,
                                       const Valuation& valuation);

/// The cost that solutions are compared by, in this order.
struct Cost {
  /// Accumulate statements of the text whose `when` is true somewhere.
  std::int64_t live_accumulates = 0;
  /// Shuffles that a warp executes, but for those whose lane is always the own.
  std::int64_t shuffles = 0;
  /// Of a warp, over all iterations: operations of the hole expressions that are read, simplified; a select
  /// for each register beyond the first that an index chooses from; and the elements loaded.
  std::int64_t instructions = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};
Cost cost_of(const Program& program, const Valuation& valuation);

}  // namespace faro::swizzle
