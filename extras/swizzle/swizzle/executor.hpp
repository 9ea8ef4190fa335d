// The execution rules of programs, once for all that runs them: blocks one after another, in a block
// statement by statement, in a statement warp by warp and lane by lane. Reads of all lanes of a warp come
// before its writes, so that shuffles and permutations in place are right; a shuffle's sender evaluates which
// register it sends; of shared memory a lane sees what it stored itself and what was stored before the last
// barrier.
//
// What a register holds is the *domain's* affair (an abstract interpretation, as compilers call it):
//
//     numbers     7.0                    Element: a number                    interpret.cpp
//     symbols     I[3]                   a ValueId                            interpret.cpp
//     accesses    nothing                addresses are noted                  accesses.cpp
//     facts       nothing                registers and guards are noted       statement_facts.cpp
//     model       lane(5,1) ? I0 : I1    a node of a constraint model         model_builder.cpp
//
// So are indexes. Where every hole has a function an index is one number; where holes are variables it is a
// number for each assignment of the variables in its scope. `rows` stands for both:
//
//     rows.size()        assignments; 1 where the index is known
//     rows[c][k]         the k-th expression under assignment c
//     rows.is_known()    whether there is only one
//     rows.scope()       the variables
//
// An index outside its array is an error where it is known, and a forbidden assignment where it is not.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "swizzle/execution_domain.hpp"
#include "swizzle/statements.hpp"

namespace faro::swizzle::detail {

/// Refuses a sketch that no search does, however long. Errors: ErrorCode::unsupported.
[[noreturn]] inline void fail_sketch(std::string got, std::string wanted) {
  fail(ErrorCode::unsupported, "search the holes of a sketch", std::move(got), std::move(wanted),
       "change the sketch: more time does not help");
}

/// A domain provides
///     Element              copyable; Element() is undefined
///     Accumulator          what one lane has accumulated
///     Scope                of rows
///     rows(place, indexes), guarded(place, when, indexes)      rows; `when` is the first expression, and
///                          where it is 0 the others need not be evaluated
///     choose(rows, f)      the element that is f(c) under assignment c
///     forbid(scope, by assignment)
///     defined(e), differ(a, b), input(array, index), append(…), evaluate(…), store(…), present(…),
///     fail_at(…)
/// and what KnownHoles and Unobserved have.
template <typename Domain>
class Executor {
 public:
  using Element = typename Domain::Element;
  using Elements = std::vector<Element>;

  Executor(const Program& program, Domain& domain)
      : program_(program), domain_(domain), lanes_(program.launch().warp), shared_(program.arrays().size()) {
    place_.loops.assign(program.loops().size(), 0);
  }

  void run() {
    for (std::int64_t block = 0; block < program_.launch().blocks; ++block) run_block(block);
  }

  void run_block(std::int64_t block) {
    place_.block = block;
    start_block();
    int step = 0;
    for (const Statement& statement : program_.statements()) {
      execute(statement);
      if (domain_.watching() && watch(statement, step)) ++step;
    }
  }

 private:
  struct SharedCell {
    Element element = {};
    std::int64_t writer = -1;   // thread of the block; -1: none
    std::int64_t written = -1;  // since which barrier
    std::int64_t reader = -1;
    std::int64_t read = -1;
    bool many_readers = false;
  };
  struct Warp {
    std::vector<Elements> registers;                                      // [r * lanes + t]
    std::vector<std::vector<typename Domain::Accumulator>> accumulators;  // by lane
  };
  /// What a register may hold, and under which assignments its index leaves the registers.
  struct Read {
    Element content = {};
    typename Domain::Scope scope = {};
    std::vector<bool> outside;  // by assignment; empty: none
    std::int64_t index = 0;     // where there is one assignment
  };

  void start_block() {
    warps_.assign(static_cast<std::size_t>(program_.launch().warps), Warp());
    for (Warp& warp : warps_) {
      for (const auto& declared : program_.register_arrays())
        warp.registers.emplace_back(static_cast<std::size_t>(declared.size * lanes_));
      for (std::size_t i = 0; i < program_.accumulators().size(); ++i)
        warp.accumulators.emplace_back(static_cast<std::size_t>(lanes_));
    }
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      const auto& declared = program_.arrays()[i];
      const std::int64_t size = declared.kind == ArrayKind::shared ? declared.size : 0;
      shared_[i].assign(static_cast<std::size_t>(size), SharedCell());
    }
    barriers_ = 0;
  }

  [[noreturn]] void fail_here(std::string got, std::string wanted) const {
    domain_.fail_at(statement_text(program_, *statement_), place_text(program_, place_, open_loops_),
                    std::move(got), std::move(wanted));
  }
  std::string in_statement() const { return ", in `" + statement_text(program_, *statement_) + "`"; }

  template <typename Each>
  void each_warp(const Each& each) {
    for (place_.warp = 0; place_.warp < program_.launch().warps; ++place_.warp)
      each(warps_[static_cast<std::size_t>(place_.warp)]);
  }
  template <typename Each>
  void each_lane(const Each& each) {
    each_warp([&](Warp& warp) {
      for (place_.lane = 0; place_.lane < lanes_; ++place_.lane) each(warp);
    });
  }
  std::int64_t thread() const { return place_.warp * lanes_ + place_.lane; }

  // Rows.

  /// Whether some assignment has the guard, the first expression.
  template <typename Rows>
  bool may_hold(const Rows& rows) {
    bool any = false;
    for (std::size_t c = 0; c < rows.size(); ++c) any = any || rows[c][0] != 0;
    domain_.guard(any);
    return any;
  }
  template <typename Rows>
  static bool must_hold(const Rows& rows) {
    for (std::size_t c = 0; c < rows.size(); ++c)
      if (rows[c][0] == 0) return false;
    return true;
  }
  /// Refuses what variables decide.
  template <typename Rows>
  void require_known(const Rows& rows, const char* what) const {
    if (!rows.is_known())
      fail_sketch(std::string(what) + " that a hole decides" + in_statement(),
                  "sketches where the place alone decides it");
  }
  /// Forbids the assignments that are not inside; where there is only one, that is an error.
  template <typename Rows, typename Inside, typename Fail>
  void require(const Rows& rows, const Inside& inside, const Fail& fail_index) {
    if (rows.is_known()) {
      if (!inside(0)) fail_index();
      return;
    }
    std::vector<bool> outside;
    for (std::size_t c = 0; c < rows.size(); ++c) outside.push_back(!inside(c));
    domain_.forbid(rows.scope(), outside);
  }

  // Registers.

  std::int64_t size_of(int registers) const {
    return program_.register_arrays()[static_cast<std::size_t>(registers)].size;
  }
  bool is_register(int registers, std::int64_t index) const {
    return index >= 0 && index < size_of(registers);
  }
  [[noreturn]] void fail_register(int registers, std::int64_t index) const {
    fail_here(program_.register_arrays()[static_cast<std::size_t>(registers)].name + "[" +
                  std::to_string(index) + "]",
              "a register in 0 .. " + std::to_string(size_of(registers) - 1));
  }
  Element& content(Warp& warp, int registers, std::int64_t index) const {
    return warp.registers[static_cast<std::size_t>(registers)]
                         [static_cast<std::size_t>(index * lanes_ + place_.lane)];
  }

  Read read(Warp& warp, int registers, const Index& index, std::size_t operand) {
    const auto rows = domain_.rows(place_, std::array{&index});
    Read result;
    std::vector<bool> outside;
    if (rows.is_known()) {
      result.index = rows[0][0];
      if (!is_register(registers, result.index)) {
        result.outside = {true};
        return result;
      }
      domain_.read(operand, result.index);
      result.content = content(warp, registers, result.index);
      return result;
    }
    bool any = false;
    for (std::size_t c = 0; c < rows.size(); ++c) {
      outside.push_back(!is_register(registers, rows[c][0]));
      any = any || outside.back();
    }
    result.content = domain_.choose(
        rows, [&](std::size_t c) { return outside[c] ? Element() : content(warp, registers, rows[c][0]); });
    if (any) {
      result.scope = rows.scope();
      result.outside = std::move(outside);
    }
    return result;
  }

  /// What was read, where `certain` says that the statement takes place under every assignment: then those
  /// with an index outside are forbidden. Where a variable decides whether, it would take both to say.
  Element settled(const Read& read, int registers, bool certain) {
    if (read.outside.empty()) return read.content;
    if (!certain)
      fail_sketch(
          "a register index that may be outside where a hole decides whether it is read" + in_statement(),
          "sketches whose register indexes stay inside");
    if (read.outside.size() == 1) fail_register(registers, read.index);
    domain_.forbid(read.scope, read.outside);
    return read.content;
  }
  Element read_settled(Warp& warp, const Register& from, bool certain = true, std::size_t operand = 0) {
    return settled(read(warp, from.registers, from.index, operand), from.registers, certain);
  }

  /// By assignment: whether, where and what is written.
  template <typename Rows, typename Writes, typename IndexOf, typename What>
  void write(Warp& warp, int registers, const Rows& rows, const Writes& writes, const IndexOf& index_of,
             const What& what) {
    require(
        rows, [&](std::size_t c) { return !writes(c) || is_register(registers, index_of(c)); },
        [&] { fail_register(registers, index_of(0)); });
    if (rows.is_known()) {
      if (!writes(0)) return;
      content(warp, registers, index_of(0)) = what(0);
      domain_.wrote(index_of(0));
      return;
    }
    for (std::int64_t r = 0; r < size_of(registers); ++r) {
      content(warp, registers, r) = domain_.choose(rows, [&](std::size_t c) {
        return writes(c) && index_of(c) == r ? what(c) : content(warp, registers, r);
      });
    }
  }
  void write(Warp& warp, const Register& to, const Element& what) {
    const auto rows = domain_.rows(place_, std::array{&to.index});
    write(
        warp, to.registers, rows, [](std::size_t) { return true; }, [&](std::size_t c) { return rows[c][0]; },
        [&](std::size_t) { return what; });
  }

  // Arrays.

  const ArrayDeclaration& declared(Array array) const {
    return program_.arrays()[static_cast<std::size_t>(array.number)];
  }
  static bool is_element(const ArrayDeclaration& array, std::int64_t address) {
    return address >= 0 && address < array.size;
  }
  [[noreturn]] void fail_element(const ArrayDeclaration& array, std::int64_t address) const {
    fail_here(array.name + "[" + std::to_string(address) + "]",
              "an element in 0 .. " + std::to_string(array.size - 1));
  }
  void require_element(Array array, std::int64_t address) {
    if (!is_element(declared(array), address)) fail_element(declared(array), address);
    domain_.element(array, address);
  }

  Element read_shared(SharedCell& cell, std::int64_t address) {
    if (cell.writer >= 0 && cell.writer != thread() && cell.written == barriers_)
      fail_here("element " + std::to_string(address) + ", stored by another lane since the last barrier",
                "a barrier between");
    cell.many_readers = cell.read == barriers_ && (cell.many_readers || cell.reader != thread());
    cell.reader = thread();
    cell.read = barriers_;
    return cell.element;
  }
  void write_shared(SharedCell& cell, std::int64_t address, const Element& element) {
    const std::string which = "element " + std::to_string(address);
    if (cell.read == barriers_ && (cell.many_readers || cell.reader != thread()))
      fail_here(which + ", read by another lane since the last barrier", "a barrier between");
    if (cell.writer >= 0 && cell.writer != thread() && cell.written == barriers_ &&
        domain_.differ(cell.element, element))
      fail_here(which + ", stored otherwise by another lane since the last barrier",
                "one value, or a barrier between");
    cell.element = element;
    cell.writer = thread();
    cell.written = barriers_;
  }
  SharedCell& shared_cell(Array array, std::int64_t address) {
    require_element(array, address);
    return shared_[static_cast<std::size_t>(array.number)][static_cast<std::size_t>(address)];
  }

  // Statements.

  void execute(const Statement& statement) {
    ++sequence_;
    if (const auto* loop = std::get_if<LoopStatement>(&statement)) {
      auto& counter = place_.loops[static_cast<std::size_t>(loop->number)];
      open_loops_.push_back(loop->number);
      for (counter = 0; counter < loop->count; ++counter)
        for (const Statement& inner : loop->body) execute(inner);
      open_loops_.pop_back();
      return;
    }
    statement_ = &statement;
    domain_.begin(statement, place_);
    std::visit([&](const auto& which) { execute(which); }, statement);
    domain_.end();
  }

  void execute(const LoadStatement& s) {
    const ArrayDeclaration& array = declared(s.from);
    each_lane([&](Warp& warp) {
      if (array.kind == ArrayKind::shared) return load_shared(warp, s);
      const auto rows = domain_.guarded(place_, s.when, std::array{&s.address, &s.to.index});
      if (!may_hold(rows)) return;
      const auto loads = [&](std::size_t c) { return rows[c][0] != 0 && is_element(array, rows[c][1]); };
      require(
          rows, [&](std::size_t c) { return rows[c][0] == 0 || loads(c); },
          [&] { fail_element(array, rows[0][1]); });
      if (rows.is_known()) domain_.element(s.from, rows[0][1]);
      write(
          warp, s.to.registers, rows, loads, [&](std::size_t c) { return rows[c][2]; },
          [&](std::size_t c) { return domain_.input(s.from, rows[c][1]); });
    });
  }
  void load_shared(Warp& warp, const LoadStatement& s) {
    const auto rows = domain_.guarded(place_, s.when, std::array{&s.address});
    require_known(rows, "a shared-memory address");
    if (may_hold(rows)) write(warp, s.to, read_shared(shared_cell(s.from, rows[0][1]), rows[0][1]));
  }

  void execute(const StoreStatement& s) {
    each_lane([&](Warp& warp) {
      const auto rows = domain_.guarded(place_, s.when, std::array{&s.address});
      const bool is_shared = declared(s.to).kind == ArrayKind::shared;
      if (is_shared) require_known(rows, "a shared-memory address");
      if (!may_hold(rows)) return;
      const Element stored = read_settled(warp, s.from, must_hold(rows));
      if (is_shared) return write_shared(shared_cell(s.to, rows[0][1]), rows[0][1], stored);
      if (rows.is_known()) {
        require_element(s.to, rows[0][1]);
        if (!domain_.defined(stored))
          fail_here("an undefined value for element " + std::to_string(rows[0][1]),
                    "a register that was written before");
      }
      const StoreOrder order{
          .block = place_.block, .statement = sequence_, .warp = place_.warp, .lane = place_.lane};
      if (const char* const others = domain_.store(order, s.to, rows, stored))
        fail_here("two values for element " + std::to_string(rows[0][1]) + " from two " + others, "one");
    });
  }

  void execute(const ShuffleStatement& s) {
    each_warp([&](Warp& warp) {
      Elements received(static_cast<std::size_t>(lanes_));
      std::vector<std::optional<Read>> sent(
          static_cast<std::size_t>(lanes_));  // several receivers may have one sender
      for (std::int64_t receiver = 0; receiver < lanes_; ++receiver) {
        place_.lane = receiver;
        const auto rows = domain_.rows(place_, std::array{&s.lane});
        domain_.guard(true);
        received[static_cast<std::size_t>(receiver)] = domain_.choose(rows, [&](std::size_t c) {
          place_.lane = (rows[c][0] % lanes_ + lanes_) % lanes_;
          domain_.shuffled(receiver, place_.lane);
          auto& read = sent[static_cast<std::size_t>(place_.lane)];
          if (!read) read = this->read(warp, s.from.registers, s.from.index, 0);
          return settled(*read, s.from.registers, rows.is_known());
        });
      }
      for (place_.lane = 0; place_.lane < lanes_; ++place_.lane)
        write(warp, s.to, received[static_cast<std::size_t>(place_.lane)]);
    });
  }

  void execute(const MoveStatement& s) {
    each_lane([&](Warp& warp) {
      domain_.guard(true);
      write(warp, s.to, read_settled(warp, s.from));
    });
  }

  void execute(const PermuteStatement& s) {
    auto& counter = place_.loops[static_cast<std::size_t>(s.counter)];
    Elements permuted(static_cast<std::size_t>(size_of(s.to)));
    open_loops_.push_back(s.counter);
    each_lane([&](Warp& warp) {
      domain_.guard(true);
      for (counter = 0; counter < size_of(s.to); ++counter)
        permuted[static_cast<std::size_t>(counter)] =
            read_settled(warp, {.registers = s.from, .index = s.source});
      for (std::int64_t r = 0; r < size_of(s.to); ++r) {
        content(warp, s.to, r) = permuted[static_cast<std::size_t>(r)];
        domain_.wrote(r);
      }
    });
    open_loops_.pop_back();
  }

  void execute(const AccumulateStatement& s) {
    const auto number = static_cast<std::size_t>(s.accumulator);
    const Accumulation& accumulation = program_.accumulators()[number].accumulation;
    Elements term(s.term.size());
    each_lane([&](Warp& warp) {
      const auto rows = domain_.guarded(place_, s.when, std::array<const Index*, 0>{});
      if (!may_hold(rows)) return;
      auto& accumulator = warp.accumulators[number][static_cast<std::size_t>(place_.lane)];
      if (s.starts) accumulator = {};
      for (std::size_t k = 0; k < term.size(); ++k)
        term[k] = read_settled(warp, s.term[k], must_hold(rows), k);
      domain_.append(accumulation, accumulator, rows, term);
    });
  }

  void execute(const EvaluateStatement& s) {
    const auto number = static_cast<std::size_t>(s.accumulator);
    const Accumulation& accumulation = program_.accumulators()[number].accumulation;
    each_lane([&](Warp& warp) {
      domain_.guard(true);
      write(warp, s.to,
            domain_.evaluate(accumulation, warp.accumulators[number][static_cast<std::size_t>(place_.lane)]));
    });
  }

  void execute(const BarrierStatement&) {
    domain_.guard(true);
    ++barriers_;
  }

  void execute(const PresentStatement& s) {
    std::vector<std::int64_t> addresses;
    each_warp([&](Warp& warp) {
      addresses.clear();
      for (place_.lane = 0; place_.lane < lanes_; ++place_.lane) {
        const auto rows = domain_.guarded(place_, s.when, std::array{&s.address});
        require_known(rows, "a demand");
        if (!may_hold(rows)) continue;
        require_element(s.output, rows[0][1]);
        addresses.push_back(rows[0][1]);
      }
      domain_.present(s, warp.registers[static_cast<std::size_t>(s.registers)], addresses);
    });
  }

  void execute(const LoopStatement&) {}

  /// Whether the statement wrote registers.
  bool watch(const Statement& statement, int step) {
    std::vector<bool> written(program_.register_arrays().size(), false);
    mark_written(statement, written);
    for (std::size_t number = 0; number < written.size(); ++number) {
      if (!written[number]) continue;
      each_warp([&](Warp& warp) {
        domain_.watch(step, statement, place_, static_cast<int>(number), warp.registers[number]);
      });
    }
    return std::find(written.begin(), written.end(), true) != written.end();
  }

  const Program& program_;
  Domain& domain_;
  std::int64_t lanes_;
  Place place_;
  const Statement* statement_ = nullptr;
  std::vector<int> open_loops_;
  std::vector<Warp> warps_;
  std::vector<std::vector<SharedCell>> shared_;
  std::int64_t sequence_ = 0;  // statements executed
  std::int64_t barriers_ = 0;  // in this block
};

}  // namespace faro::swizzle::detail
