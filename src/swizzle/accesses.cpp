#include <algorithm>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "faro/swizzle/interpret.hpp"
#include "swizzle/statement_text.hpp"
#include "swizzle/symbolic_policy.hpp"

namespace faro::swizzle {
namespace {

constexpr std::uint64_t kAlignment = 256;  // of every array, in bytes

/// Walks one block and writes a round for each load and store.
class Recorder {
 public:
  Recorder(const Program& program, const Valuation& valuation, std::int64_t block,
           std::uint32_t element_bytes)
      : program_(program),
        holes_([&valuation](int hole, std::span<const std::int64_t> a) { return valuation(hole, a); }),
        element_bytes_(element_bytes) {
    place_.block = block;
    place_.loops.assign(program.loops().size(), 0);
    std::uint64_t global = 0;
    std::uint64_t shared = 0;
    for (const auto& array : program.arrays()) {
      std::uint64_t& next = array.kind == ArrayKind::shared ? shared : global;
      first_.push_back(next);
      const std::uint64_t bytes = static_cast<std::uint64_t>(array.size) * element_bytes;
      next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    trace_.name = "swizzle program";
  }

  machine::Trace record() {
    walk(program_.statements());
    return std::move(trace_);
  }

 private:
  void walk(std::span<const Statement> statements) {
    for (const Statement& statement : statements) {
      if (const auto* load = std::get_if<LoadStatement>(&statement))
        round(statement, load->from, load->address, load->when, machine::TraceOperation::load);
      if (const auto* store = std::get_if<StoreStatement>(&statement))
        round(statement, store->to, store->address, store->when, machine::TraceOperation::store);
      if (const auto* loop = std::get_if<LoopStatement>(&statement)) {
        open_loops_.push_back(loop->number);
        auto& counter = place_.loops[static_cast<std::size_t>(loop->number)];
        for (counter = 0; counter < loop->count; ++counter) walk(loop->body);
        open_loops_.pop_back();
      }
    }
  }

  void round(const Statement& statement, Array array, const Index& address, const Index& when,
             machine::TraceOperation operation) {
    const auto& declared = program_.arrays()[static_cast<std::size_t>(array.number)];
    const auto lanes = static_cast<std::uint32_t>(program_.launch().warp);
    if (!trace_.rounds.empty()) ++line_;  // the blank line between
    trace_.rounds.push_back(trace_.accesses.size());
    for (place_.warp = 0; place_.warp < program_.launch().warps; ++place_.warp) {
      trace_.accesses.push_back({.first_lane = trace_.lanes.size(),
                                 .lanes = lanes,
                                 .space = declared.kind == ArrayKind::shared ? machine::TraceSpace::shared
                                                                             : machine::TraceSpace::global,
                                 .operation = operation,
                                 .line = ++line_});
      for (place_.lane = 0; place_.lane < program_.launch().warp; ++place_.lane) {
        if (evaluate(when, place_, holes_) == 0) {
          trace_.lanes.push_back(machine::kIdleLane);
          continue;
        }
        const std::int64_t element = evaluate(address, place_, holes_);
        if (element < 0 || element >= declared.size) refuse(statement, declared, element);
        trace_.lanes.push_back(first_[static_cast<std::size_t>(array.number)] +
                               static_cast<std::uint64_t>(element) * element_bytes_);
      }
    }
    trace_.longest_round = static_cast<std::uint64_t>(program_.launch().warps);
    trace_.longest_line = lanes;
  }

  [[noreturn]] void refuse(const Statement& statement, const ArrayDeclaration& array,
                           std::int64_t element) const {
    throw Error({.code = ErrorCode::spec,
                 .operation = "`" + statement_text(program_, statement) + "` of " +
                              place_text(program_, place_, open_loops_),
                 .got = array.name + "[" + std::to_string(element) + "]",
                 .wanted = "an element in 0 .. " + std::to_string(array.size - 1),
                 .remedy = ""});
  }

  const Program& program_;
  HoleReader holes_;
  std::uint64_t element_bytes_;
  Place place_;
  std::vector<int> open_loops_;
  std::vector<std::uint64_t> first_;  // byte of each array
  machine::Trace trace_;
  std::uint64_t line_ = 0;
};

}  // namespace

machine::Trace accesses(const Program& program, const Valuation& valuation, std::int64_t block,
                        std::uint32_t element_bytes) {
  require_runnable(program, valuation);
  const auto require = [](bool good, std::string got, std::string wanted) {
    if (good) return;
    throw Error({.code = ErrorCode::value,
                 .operation = "accesses of a swizzle program",
                 .got = std::move(got),
                 .wanted = std::move(wanted),
                 .remedy = ""});
  };
  const std::int64_t blocks = program.launch().blocks;
  require(block >= 0 && block < blocks, "block " + std::to_string(block),
          "a block in 0 .. " + std::to_string(blocks - 1));
  require(element_bytes > 0, "elements of 0 bytes", "at least 1");
  return Recorder(program, valuation, block, element_bytes).record();
}

}  // namespace faro::swizzle
