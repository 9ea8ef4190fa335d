// What all parts of an emitted kernel share: names in C++, functions of holes, and what is true of each
// statement.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "faro/swizzle/emission_options.hpp"
#include "faro/swizzle/program.hpp"
#include "swizzle/register_permutation.hpp"

namespace faro::swizzle {

/// Identifiers, each given away once.
class Identifiers {
 public:
  Identifiers();
  /// The wish as an identifier; with a number where it is taken or C++'s own.
  std::string claim(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

/// True of a statement over all blocks, warps, lanes and iterations.
struct StatementFacts {
  bool ever = false;       // `when` holds somewhere
  bool always = true;      // `when` holds everywhere
  bool own_lane = true;    // a shuffle's lane is the receiver
  bool after_all = false;  // a store that needs the block to be here: it overwrites another thread's
  std::vector<std::set<std::int64_t>> reads;  // registers, by operand in the statement's order
  std::set<std::int64_t> writes;              // registers
};

class EmissionContext {
 public:
  /// Errors: as emit().
  EmissionContext(const Program& program, const Valuation& valuation, const EmissionOptions& options);

  const Program& program;
  const Valuation& valuation;
  const EmissionOptions& options;
  const std::string& type;  // of elements
  IndexRanges ranges;
  Identifiers identifiers;
  IndexNames names;                                          // lane, warp, block, loops in C++
  std::vector<std::string> arrays, registers, accumulators;  // in C++
  std::string problem, problems;                             // of a batch: which, how many
  std::string width, height, across, top, left;              // of an image; tiles a row; the tile's place

  std::int64_t warp() const { return program.launch().warp; }
  std::int64_t threads() const { return program.launch().warp * program.launch().warps; }  // of a problem
  // Problems a block; whether their number is told at launch.
  std::int64_t batch() const { return options.batch < 2 ? 1 : options.batch; }
  bool has_many() const { return options.batch > 0 || options.tiling.has_value(); }
  std::int64_t block_threads() const { return threads() * batch(); }
  /// Of an array's row in its tile; 0 where it is not of the image.
  std::int64_t tile_width(int array) const;
  /// What an image's `width` or `height` is for the array: "width + 2".
  std::string image_width(int array) const;
  std::string image_height(int array) const;
  std::int64_t size(int register_array) const {
    return program.register_arrays()[static_cast<std::size_t>(register_array)].size;
  }
  const StatementFacts& facts(const Statement& statement) const { return facts_.at(&statement); }

  /// With each hole's function in its place, simplified.
  Index resolved(const Index& index) const;
  /// In C++, of a resolved expression. Errors: ErrorCode::unsupported where an int may not hold it.
  std::string text(const Index& index) const;
  /// Whether the compiler knows its value once loops are unrolled.
  static bool known_when_unrolled(const Index& resolved);
  /// A register of an array as C++, `subscript` in C++; arrays of one register are plain variables.
  std::string element(int register_array, const std::string& subscript) const;

 private:
  std::vector<Index> functions_;
  std::unordered_map<const Statement*, StatementFacts> facts_;
};

/// Refuses a batch of several problems a block where a problem needs its block alone: its threads share
/// memory, or wait for each other.
void require_batch(const EmissionOptions& options, bool needs_block_alone);

/// By statement, for every statement but loops. Errors: ErrorCode::spec for a register or an address outside
/// its array.
std::unordered_map<const Statement*, StatementFacts> statement_facts(const Program& program,
                                                                     const Valuation& valuation);

/// The statements that something comes of: a store to an output, a demand, and what these need.
std::set<const Statement*> live_statements(const Program& program,
                                           const std::unordered_map<const Statement*, StatementFacts>& facts);

/// In brackets, unless it is one word or has them.
std::string as_operand(const std::string& text);

/// Lines, two spaces a level.
class Lines {
 public:
  void add(const std::string& line) { text_ += std::string(2 * depth_, ' ') + line + "\n"; }
  void open(const std::string& line) {
    add(line);
    ++depth_;
  }
  void close() {
    --depth_;
    add("}");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 1;
};

/// Registers chosen by an index that lanes differ in.
class RegisterText {
 public:
  explicit RegisterText(EmissionContext& context) : context_(context) {}

  /// An expression for register `index` of the array; `values` are those that the index may have. Lines that
  /// it needs go to `lines`. A choice is in brackets.
  std::string read(int registers, const Index& index, const std::set<std::int64_t>& values, Lines& lines);
  /// Statements that put `value` there.
  void write(int registers, const Index& index, const std::set<std::int64_t>& values,
             const std::string& value, Lines& lines);
  /// The permute statement; says in a note how.
  void permute(const PermuteStatement& statement, Lines& lines);

  /// How often what follows is executed.
  void set_times(std::uint64_t times) { times_ = times; }
  std::uint64_t selects() const { return selects_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string tree(int registers, const std::vector<std::int64_t>& values, const std::string& index);
  std::string chosen(int registers, const Index& choice);
  std::string index_variable(const Index& index, Lines& lines);
  void barrel(const PermuteStatement& statement, const RegisterPermutation& how, Lines& lines);
  void renamed(const PermuteStatement& statement, const std::vector<std::int64_t>& fixed, Lines& lines);
  void one_by_one(const PermuteStatement& statement, Lines& lines);

  EmissionContext& context_;
  std::uint64_t times_ = 1;
  std::uint64_t selects_ = 0;
  std::vector<std::string> notes_;
};

/// The statements as C++, and what is counted on the way.
struct StatementsText {
  std::string text;
  std::set<int> register_arrays, shared_arrays, accumulators;  // that occur
  std::set<int> demanded;                                      // register arrays that `present` names
  std::vector<int> parameters;                                 // register arrays of a device function
  std::vector<std::string> outside;                            // its loads and stores, in words
  bool uses_least = false, uses_greatest = false, uses_mask = false;
  std::uint64_t shuffles = 0, selects = 0, live_accumulates = 0;
  std::vector<std::string> notes;
};
StatementsText statements_text(EmissionContext& context);

/// The lanes of a shuffle, as C++.
std::string shuffle_mask(const EmissionContext& context);

}  // namespace faro::swizzle
