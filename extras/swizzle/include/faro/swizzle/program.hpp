// SIMT programs: blocks of warps of lanes, each lane with registers, moving elements. A program with holes is
// a sketch; with a function for each hole it runs (below, Valuation).
//
//     Program p(spec, {.warp = 32, .warps = 2, .blocks = 2});
//     const Index t = lane_index();
//     const auto lane = p.xform("lane", {.n = 32, .m = 32, .asked = 3});
//     const auto index = p.part("index", 2, {{"t", 32}, {"i", 3}});
//     const auto rc = p.registers("rc", 2);
//     const auto x = p.registers("x", 1);
//     const auto sum = p.accumulator("sum", {.outer = Operator::add, .divisor = 3});
//     p.global_to_registers(rc, I, {.rounds = 2, .offset = 64 * block_index() + 32 * warp_index()});
//     p.loop("i", 3, [&](const Index& i) {
//       p.shuffle(x[0], rc[index(t, i)], lane(t, i));        // the sender evaluates index, the receiver lane
//       p.accumulate(sum, {x[0]});
//     });
//     p.store(O, …, sum);
//
// The body of a loop is recorded once, with its counter as an index; interpreters run it `count` times and
// the emitted kernel has it as a loop. So a program is data, small, and the same for every interpreter.
//
//     statement     what lane t of a warp does
//     load          to[a] = from[address]                    where `when`; from global or shared memory
//     store         to[address] = from[a]                    where `when`
//     shuffle       to[a] = what lane L(t) has in from[b(L(t))], L taken mod W: b is evaluated by the sender
//     permute       to[i] = from[f(i)] for every i at once
//     move          to[a] = from[b]
//     accumulate    appends a term of one or more registers, where `when`
//     start         the same of an accumulator that forgets what it had: an initial value, the next step of a tree
//     evaluate      to[a] = the accumulator's value
//     barrier       every warp of the block is here; what was stored to shared memory is visible
//     present       demands that the warp hold all that an output needs (load synthesis); does nothing
//
// Warps run in lockstep, statement by statement; blocks are independent. Statements outside `barrier` see of
// shared memory what their own lane stored or what was stored before the last barrier: anything else is an
// error.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "faro/swizzle/hole.hpp"
#include "faro/swizzle/specification.hpp"

namespace faro::swizzle {

struct Launch {
  std::int64_t warp = 32;  // lanes: W
  std::int64_t warps = 1;  // in a block
  std::int64_t blocks = 1;
  std::int64_t banks = 0;  // of shared memory, each an element a turn; 0: as many as lanes
};

/// One register of a register array.
struct Register {
  int registers = -1;
  Index index = 0;
};

/// A register array of every lane.
struct Registers {
  int number = -1;
  std::int64_t size = 0;
  Register operator[](const Index& index) const { return {number, index}; }
};

struct AccumulatorRef {
  int number = -1;
};

struct LoadStatement {
  Register to;
  Array from;
  Index address;
  Index when = 1;
};
struct StoreStatement {
  Array to;
  Index address;
  Register from;
  Index when = 1;
};
struct ShuffleStatement {
  Register to;
  Register from;  // its index is evaluated by the sender
  Index lane;     // by the receiver
};
struct PermuteStatement {
  int to = -1, from = -1;  // register arrays of one size
  int counter = -1;        // the loop number that stands for i in `source`
  Index source;
};
struct MoveStatement {
  Register to, from;
};
struct AccumulateStatement {
  int accumulator = -1;
  std::vector<Register> term;
  Index when = 1;
  bool starts = false;  // the term takes the place of all before it
};
struct EvaluateStatement {
  Register to;
  int accumulator = -1;
};
struct BarrierStatement {};
/// The inputs that wanted(output, address) depends on, over all lanes of the warp where `when`, are each in
/// some register of `registers` in some lane of the warp.
struct PresentStatement {
  int registers = -1;
  Array output;
  Index address;
  Index when = 1;
};
struct LoopStatement;

using Statement =
    std::variant<LoadStatement, StoreStatement, ShuffleStatement, PermuteStatement, MoveStatement,
                 AccumulateStatement, EvaluateStatement, BarrierStatement, PresentStatement, LoopStatement>;

struct LoopStatement {
  int number = -1;  // of the counter
  std::int64_t count = 0;
  std::vector<Statement> body;
};

/// A hole in a program: calling it gives the index expression of its value.
class Hole {
 public:
  int number() const { return number_; }
  template <typename... Arguments>
  Index operator()(const Arguments&... arguments) const {
    return call({Index(arguments)...});
  }

 private:
  friend class Program;
  explicit Hole(int number) : number_(number) {}
  Index call(std::vector<Index> arguments) const;
  int number_;
};

/// sw_xform(i, n; k, m). `asked`: how many k are asked for (m if 0).
struct XformOptions {
  std::int64_t n = 0, m = 0;
  std::int64_t asked = 0;
  bool one_to_one = false;
  Freedom most = Freedom::full;
  Freedom in_extra = Freedom::gcd;
};

/// sw_bits(v, …), of values below a power of two.
struct BitsOptions {
  bool one_to_one = false;  // of the first argument, for all that the others are
  Freedom most = Freedom::full;
  Freedom in_extra = Freedom::gcd;
};

/// A coalesced transfer of rounds x slice registers a lane. Round r, lane t, element s is
///     I[offset + r slice W + slice lane(t, r) + s]     <->     register r slice + s,
/// where it is inside the array and, if a size is given, below offset + size.
struct Transfer {
  std::int64_t slice = 1;
  std::int64_t rounds = 1;
  Index offset = 0;
  std::optional<Index> size = {};
  std::function<Index(const Index& t, const Index& round)> lane = {};  // t if empty
};

/// A block's copy between a box of a global array and shared memory, extents from the outermost, at most
/// three. Element (x0, x1, x2) of the box is global[offset + x0 global_strides[0] + …] and shared[x0
/// shared_strides[0] + …]: strides in another order transpose, larger ones pad. `limits`: elements outside
/// are skipped.
struct BlockCopy {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> global_strides, shared_strides;
  Index offset = 0;
  std::vector<Index> limits = {};  // none, or one for each extent
};

class Program {
 public:
  /// A program for the arrays of the specification.
  Program(const Specification& specification, const Launch& launch);

  // Declarations. Errors: ErrorCode::spec for a name taken or a size below 1; those of
  // check(HoleDeclaration).
  Registers registers(std::string name, std::int64_t size);
  Array shared(std::string name, std::int64_t size);  // one for each block
  AccumulatorRef accumulator(std::string name,
                             const Accumulation& accumulation);  // starts empty in every lane
  Hole xform(std::string name, const XformOptions& options);
  Hole part(std::string name, std::int64_t choices, std::vector<Argument> arguments,
            std::vector<std::int64_t> constants = {}, ConditionFreedom most = ConditionFreedom::full);
  Hole condition(std::string name, std::vector<Argument> arguments, std::vector<std::int64_t> constants = {},
                 ConditionFreedom most = ConditionFreedom::full);
  Hole bits(std::string name, std::int64_t n, std::vector<Argument> arguments,
            const BitsOptions& options = {});
  /// One of these, expressions of argument_index(0), argument_index(1), …
  Hole family(std::string name, std::vector<Argument> arguments, std::vector<Index> formulas);
  Hole warp_offset(std::string name, std::vector<Argument> ids, std::vector<std::int64_t> units,
                   std::int64_t most_constant = 4);
  Hole warp_size(std::string name, std::int64_t most_constant = 4);

  // Statements, appended where the recording stands.
  void load(const Register& to, Array from, const Index& address, const Index& when = 1);
  void store(Array to, const Index& address, const Register& from, const Index& when = 1);
  void shuffle(const Register& to, const Register& from, const Index& lane);
  void permute(const Registers& to, const Registers& from,
               const std::function<Index(const Index& i)>& source);
  void move(const Register& to, const Register& from);
  void accumulate(AccumulatorRef accumulator, std::vector<Register> term, const Index& when = 1);
  void start(AccumulatorRef accumulator, std::vector<Register> term);
  void evaluate(const Register& to, AccumulatorRef accumulator);
  void barrier();
  void present(const Registers& registers, Array output, const Index& address, const Index& when = 1);
  void loop(std::string name, std::int64_t count, const std::function<void(const Index& counter)>& body);

  // What the statements above make up.
  void global_to_registers(const Registers& to, Array from, const Transfer& transfer);
  void registers_to_global(Array to, const Registers& from, const Transfer& transfer);
  void global_to_shared(Array to, Array from, const BlockCopy& copy);
  void shared_to_global(Array to, Array from, const BlockCopy& copy);
  /// evaluate to a register of its own, then store.
  void store(Array to, const Index& address, AccumulatorRef accumulator, const Index& when = 1);

  // What was recorded.
  struct RegistersDeclaration {
    std::string name;
    std::int64_t size = 0;
  };
  struct AccumulatorDeclaration {
    std::string name;
    Accumulation accumulation;
  };
  struct LoopDeclaration {
    std::string name;
    std::int64_t count = 0;
  };
  const Launch& launch() const { return launch_; }
  std::span<const ArrayDeclaration> arrays() const {
    return arrays_;
  }  // the specification's, then shared ones
  std::span<const RegistersDeclaration> register_arrays() const { return registers_; }
  std::span<const AccumulatorDeclaration> accumulators() const { return accumulators_; }
  std::span<const LoopDeclaration> loops() const { return loops_; }
  std::span<const HoleDeclaration> holes() const { return holes_; }
  std::span<const Statement> statements() const { return statements_; }
  /// Ranges of lane, warp, block and loops, and of each hole's values.
  IndexRanges ranges() const;
  /// Names for to_text and to_cpp.
  IndexNames names() const;
  /// A name for a loop here: the wish, or with a number where a loop around has it.
  std::string unused_counter(const std::string& wish) const;

 private:
  Launch launch_;
  std::vector<ArrayDeclaration> arrays_;
  std::vector<RegistersDeclaration> registers_;
  std::vector<AccumulatorDeclaration> accumulators_;
  std::vector<LoopDeclaration> loops_;
  std::vector<HoleDeclaration> holes_;
  std::vector<Statement> statements_;
  std::vector<std::vector<Statement>*> open_;  // where statements go: bodies of the loops being recorded
  std::vector<int> open_counters_;             // of those loops
  std::vector<Statement>& here();
  std::string claim(std::string name, const char* what) const;
  std::string unused(const std::string& wish) const;
  Hole add_hole(HoleDeclaration hole);
};

/// Refuses sketches that cannot be right whatever the holes are, from the ranges of the expressions alone: a
/// hole asked outside its declared arguments, with the wrong number of them, or inside another hole's
/// arguments; a register index or a warp-uniform lane that is always outside; a `when` that is no truth
/// value; arrays of another specification; a one-to-one hole whose values cannot be a permutation. Errors:
/// ErrorCode::spec, naming the hole or statement, its range, and the wanted one.
void check(const Program& program);

/// The program as readable text, one statement a line, holes by name.
std::string to_text(const Program& program);

// Running a program with a function for each hole, on symbols and on numbers.
//
//     symbols    {I0,I1,I2}/3 …     equal to the specification's values: right for all inputs
//     numbers    7.0  9.5 …         the oracle's numbers: tests of emitted kernels
//
// Both go through one executor, warp by warp in lockstep, with elements of another kind. The state between
// two statements can be watched: the grids of a struct's transposition are the registers after each step, a
// row for each register and a column for each lane.

/// A function for each hole of a program, by hole number.
class Valuation {
 public:
  explicit Valuation(const Program& program);

  /// Errors: ErrorCode::spec, naming the hole, where a value is outside the hole's values.
  void set(const Hole& hole, const Parameters& parameters) { set(hole.number(), parameters); }
  void set(int hole, const Parameters& parameters);
  /// By the hole's name. Errors: ErrorCode::spec where there is none.
  void set(const std::string& hole, const Parameters& parameters);
  /// A value for each cell, of a function that has no parameters: it runs, and has no cost and no kernel.
  void set_table(int hole, std::vector<std::int32_t> table);

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
  std::int64_t block = -1, warp = -1, lane = -1;  // whose store was the last; -1: nobody's
  std::string text;                               // "O[3]: got {I4,I4,I5}, wanted {I3,I4,I5}"
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
  /// Turns of shared memory that a warp waits beyond one for each access: the most different elements that
  /// lie in one of Launch::banks, less one.
  std::int64_t conflicts = 0;
  /// Of a warp, over all iterations: operations of the hole expressions that are read, simplified; a select
  /// for each register beyond the first that an index chooses from; and the elements loaded.
  std::int64_t instructions = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};
Cost cost_of(const Program& program, const Valuation& valuation);

}  // namespace faro::swizzle
