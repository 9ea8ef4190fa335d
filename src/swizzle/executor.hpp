// The one executor behind all interpreters: blocks one after another, in a block statement by statement, in a
// statement warp by warp and lane by lane.
//
// What an element is, and what an accumulator remembers, is the policy's affair:
//
//     Element                        a copyable value with a state "undefined", which Element() is
//     Accumulator                    what one lane has accumulated
//     bool defined(e)
//     bool same(a, b)                of defined elements
//     Element input(array, index)    what an input holds
//     void append(accumulation, accumulator, term)      a term may have undefined factors
//     Element evaluate(accumulation, accumulator)
//     void present(statement, warp registers, asked addresses)
//     bool watching()
//     void watch(step, statement, block, warp, registers, elements)
//
// Reads of all lanes of a warp come before its writes, so that shuffles and permutations in place are right.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "swizzle/statement_text.hpp"

namespace faro::swizzle {

template <typename Policy>
class Executor {
 public:
  using Element = typename Policy::Element;
  using Elements = std::vector<Element>;

  Executor(const Program& program, const HoleReader& holes, Policy& policy)
      : program_(program), holes_(holes), policy_(policy), lanes_(program.launch().warp) {
    for (const auto& array : program.arrays()) {
      const bool output = array.kind == ArrayKind::output;
      outputs_.emplace_back(output ? static_cast<std::size_t>(array.size) : 0);
      shared_.emplace_back();
    }
    place_.loops.assign(program.loops().size(), 0);
  }

  void run() {
    for (place_.block = 0; place_.block < program_.launch().blocks; ++place_.block) {
      start_block();
      step_ = 0;
      for (const Statement& statement : program_.statements()) {
        execute(statement);
        watch(statement);
      }
    }
  }

  /// What was stored, by array number; empty for arrays that are no outputs.
  std::vector<Elements> outputs() const {
    std::vector<Elements> all;
    for (const auto& array : outputs_) {
      auto& elements = all.emplace_back();
      for (const Cell& cell : array) elements.push_back(cell.element);
    }
    return all;
  }

 private:
  struct Cell {
    Element element = {};
    std::int64_t writer = -1;      // thread of the block; -1: none
    std::int64_t written = -1;     // in which statement (outputs) or since which barrier (shared)
    std::int64_t written_by = -1;  // in which block
    std::int64_t reader = -1;      // of shared memory
    std::int64_t read = -1;        // since which barrier
    bool many_readers = false;
  };
  struct Warp {
    std::vector<Elements> registers;                                      // [r * lanes + t]
    std::vector<std::vector<typename Policy::Accumulator>> accumulators;  // by lane
  };

  [[noreturn]] void refuse(const Statement& statement, std::string got, std::string wanted) const {
    throw Error({.code = ErrorCode::spec,
                 .operation = "`" + statement_text(program_, statement) + "` of " +
                              place_text(program_, place_, open_loops_),
                 .got = std::move(got),
                 .wanted = std::move(wanted),
                 .remedy = ""});
  }

  std::int64_t value(const Index& index) const { return evaluate(index, place_, holes_); }
  std::int64_t thread() const { return place_.warp * lanes_ + place_.lane; }

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
      const auto size = static_cast<std::size_t>(declared.kind == ArrayKind::shared ? declared.size : 0);
      shared_[i].assign(size, Cell());
    }
    barriers_ = 0;
  }

  template <typename Each>
  void each_warp(const Each& each) {
    for (place_.warp = 0; place_.warp < program_.launch().warps; ++place_.warp) {
      each(warps_[static_cast<std::size_t>(place_.warp)]);
    }
  }
  template <typename Each>
  void each_lane(const Each& each) {
    for (place_.lane = 0; place_.lane < lanes_; ++place_.lane) each();
  }

  /// Where the register that `wanted` names here is in a warp's registers.
  std::size_t slot(const Statement& statement, const Register& wanted) const {
    return slot(statement, wanted.registers, value(wanted.index));
  }
  std::size_t slot(const Statement& statement, int registers, std::int64_t index) const {
    const auto& declared = program_.register_arrays()[static_cast<std::size_t>(registers)];
    if (index < 0 || index >= declared.size)
      refuse(statement, declared.name + "[" + std::to_string(index) + "]",
             "a register in 0 .. " + std::to_string(declared.size - 1));
    return static_cast<std::size_t>(index * lanes_ + place_.lane);
  }
  static Elements& registers_of(Warp& warp, int number) {
    return warp.registers[static_cast<std::size_t>(number)];
  }
  std::size_t element_of(const Statement& statement, Array array, std::int64_t address) const {
    const auto& declared = program_.arrays()[static_cast<std::size_t>(array.number)];
    if (address < 0 || address >= declared.size)
      refuse(statement, declared.name + "[" + std::to_string(address) + "]",
             "an element in 0 .. " + std::to_string(declared.size - 1));
    return static_cast<std::size_t>(address);
  }

  void execute(const Statement& statement) {
    ++sequence_;
    std::visit([&](const auto& which) { execute(statement, which); }, statement);
  }

  void execute(const Statement& statement, const LoadStatement& s) {
    const auto& declared = program_.arrays()[static_cast<std::size_t>(s.from.number)];
    each_warp([&](Warp& warp) {
      each_lane([&] {
        if (value(s.when) == 0) return;
        const std::size_t to = slot(statement, s.to);
        const std::size_t address = element_of(statement, s.from, value(s.address));
        registers_of(warp, s.to.registers)[to] =
            declared.kind == ArrayKind::shared
                ? read_shared(statement, shared_[static_cast<std::size_t>(s.from.number)][address], address)
                : policy_.input(s.from.number, static_cast<std::int64_t>(address));
      });
    });
  }

  Element read_shared(const Statement& statement, Cell& cell, std::size_t address) {
    if (cell.writer >= 0 && cell.writer != thread() && cell.written == barriers_)
      refuse(statement,
             "element " + std::to_string(address) + ", stored by another lane since the last barrier",
             "a barrier between");
    cell.many_readers = cell.read == barriers_ && (cell.many_readers || cell.reader != thread());
    cell.reader = thread();
    cell.read = barriers_;
    return cell.element;
  }

  void execute(const Statement& statement, const StoreStatement& s) {
    const auto number = static_cast<std::size_t>(s.to.number);
    const bool is_shared = program_.arrays()[number].kind == ArrayKind::shared;
    each_warp([&](Warp& warp) {
      each_lane([&] {
        if (value(s.when) == 0) return;
        const Element element = registers_of(warp, s.from.registers)[slot(statement, s.from)];
        const std::size_t address = element_of(statement, s.to, value(s.address));
        if (is_shared) {
          write_shared(statement, shared_[number][address], address, element);
        } else {
          write_output(statement, outputs_[number][address], address, element);
        }
      });
    });
  }

  bool differ(const Element& a, const Element& b) const {
    if (!policy_.defined(a) || !policy_.defined(b)) return policy_.defined(a) != policy_.defined(b);
    return !policy_.same(a, b);
  }

  void write_shared(const Statement& statement, Cell& cell, std::size_t address, const Element& element) {
    const std::string which = "element " + std::to_string(address);
    if (cell.read == barriers_ && (cell.many_readers || cell.reader != thread()))
      refuse(statement, which + ", read by another lane since the last barrier", "a barrier between");
    if (cell.writer >= 0 && cell.writer != thread() && cell.written == barriers_ &&
        differ(cell.element, element))
      refuse(statement, which + ", stored otherwise by another lane since the last barrier",
             "one value, or a barrier between");
    cell.element = element;
    cell.writer = thread();
    cell.written = barriers_;
  }

  void write_output(const Statement& statement, Cell& cell, std::size_t address, const Element& element) {
    if (!policy_.defined(element))
      refuse(statement, "an undefined value for element " + std::to_string(address),
             "a register that was written before");
    const bool other_block = cell.written_by >= 0 && cell.written_by != place_.block;
    if ((other_block || cell.written == sequence_) && differ(cell.element, element))
      refuse(statement,
             "two values for element " + std::to_string(address) + " from two " +
                 (other_block ? "blocks" : "lanes"),
             "one");
    cell.element = element;
    cell.written = sequence_;
    cell.written_by = place_.block;
  }

  void execute(const Statement& statement, const ShuffleStatement& s) {
    each_warp([&](Warp& warp) {
      Elements received(static_cast<std::size_t>(lanes_));
      each_lane([&] {
        const std::int64_t receiver = place_.lane;
        const std::int64_t lane = value(s.lane) % lanes_;
        place_.lane = lane < 0 ? lane + lanes_ : lane;
        received[static_cast<std::size_t>(receiver)] =
            registers_of(warp, s.from.registers)[slot(statement, s.from)];
        place_.lane = receiver;
      });
      write(statement, warp, s.to, received);
    });
  }

  void execute(const Statement& statement, const MoveStatement& s) {
    each_warp([&](Warp& warp) {
      Elements moved(static_cast<std::size_t>(lanes_));
      each_lane([&] {
        moved[static_cast<std::size_t>(place_.lane)] =
            registers_of(warp, s.from.registers)[slot(statement, s.from)];
      });
      write(statement, warp, s.to, moved);
    });
  }

  void write(const Statement& statement, Warp& warp, const Register& to, const Elements& by_lane) {
    each_lane([&] {
      registers_of(warp, to.registers)[slot(statement, to)] = by_lane[static_cast<std::size_t>(place_.lane)];
    });
  }

  void execute(const Statement& statement, const PermuteStatement& s) {
    const auto counter = static_cast<std::size_t>(s.counter);
    const std::int64_t size = program_.register_arrays()[static_cast<std::size_t>(s.to)].size;
    open_loops_.push_back(s.counter);
    each_warp([&](Warp& warp) {
      Elements permuted(registers_of(warp, s.to).size());
      for (place_.loops[counter] = 0; place_.loops[counter] < size; ++place_.loops[counter]) {
        each_lane([&] {
          permuted[slot(statement, s.to, place_.loops[counter])] =
              registers_of(warp, s.from)[slot(statement, s.from, value(s.source))];
        });
      }
      registers_of(warp, s.to) = std::move(permuted);
    });
    open_loops_.pop_back();
  }

  void execute(const Statement& statement, const AccumulateStatement& s) {
    const auto number = static_cast<std::size_t>(s.accumulator);
    const Accumulation& accumulation = program_.accumulators()[number].accumulation;
    Elements term(s.term.size());
    each_warp([&](Warp& warp) {
      each_lane([&] {
        if (value(s.when) == 0) return;
        for (std::size_t i = 0; i < term.size(); ++i) {
          term[i] = registers_of(warp, s.term[i].registers)[slot(statement, s.term[i])];
        }
        policy_.append(accumulation, warp.accumulators[number][static_cast<std::size_t>(place_.lane)], term);
      });
    });
  }

  void execute(const Statement& statement, const EvaluateStatement& s) {
    const auto number = static_cast<std::size_t>(s.accumulator);
    const Accumulation& accumulation = program_.accumulators()[number].accumulation;
    each_warp([&](Warp& warp) {
      each_lane([&] {
        registers_of(warp, s.to.registers)[slot(statement, s.to)] =
            policy_.evaluate(accumulation, warp.accumulators[number][static_cast<std::size_t>(place_.lane)]);
      });
    });
  }

  void execute(const Statement& /*statement*/, const BarrierStatement&) { ++barriers_; }

  void execute(const Statement& statement, const PresentStatement& s) {
    each_warp([&](Warp& warp) {
      std::vector<std::int64_t> addresses;
      each_lane([&] {
        if (value(s.when) == 0) return;
        addresses.push_back(static_cast<std::int64_t>(element_of(statement, s.output, value(s.address))));
      });
      policy_.present(s, registers_of(warp, s.registers), addresses);
    });
  }

  void execute(const Statement& /*statement*/, const LoopStatement& s) {
    const auto counter = static_cast<std::size_t>(s.number);
    open_loops_.push_back(s.number);
    for (std::int64_t i = 0; i < s.count; ++i) {
      place_.loops[counter] = i;
      for (const Statement& inner : s.body) execute(inner);
    }
    open_loops_.pop_back();
  }

  static void written_by(const Statement& statement, std::vector<bool>& written) {
    const auto mark = [&written](int registers) { written[static_cast<std::size_t>(registers)] = true; };
    if (const auto* load = std::get_if<LoadStatement>(&statement)) mark(load->to.registers);
    if (const auto* shuffle = std::get_if<ShuffleStatement>(&statement)) mark(shuffle->to.registers);
    if (const auto* permute = std::get_if<PermuteStatement>(&statement)) mark(permute->to);
    if (const auto* move = std::get_if<MoveStatement>(&statement)) mark(move->to.registers);
    if (const auto* result = std::get_if<EvaluateStatement>(&statement)) mark(result->to.registers);
    if (const auto* loop = std::get_if<LoopStatement>(&statement))
      for (const Statement& inner : loop->body) written_by(inner, written);
  }

  void watch(const Statement& statement) {
    if (!policy_.watching()) return;
    std::vector<bool> written(program_.register_arrays().size(), false);
    written_by(statement, written);
    bool any = false;
    for (std::size_t number = 0; number < written.size(); ++number) {
      if (!written[number]) continue;
      any = true;
      each_warp([&](Warp& warp) {
        policy_.watch(step_, statement, place_.block, place_.warp, static_cast<int>(number),
                      warp.registers[number]);
      });
    }
    if (any) ++step_;
  }

  const Program& program_;
  const HoleReader& holes_;
  Policy& policy_;
  std::int64_t lanes_;
  Place place_;
  std::vector<int> open_loops_;
  std::vector<Warp> warps_;
  std::vector<std::vector<Cell>> outputs_, shared_;
  std::int64_t sequence_ = 0;  // statements executed
  std::int64_t barriers_ = 0;  // in this block
  int step_ = 0;
};

}  // namespace faro::swizzle
