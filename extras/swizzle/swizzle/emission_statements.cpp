// Statements as C++, live ones only.

#include <algorithm>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "faro/swizzle/emission.hpp"
#include "swizzle/emission_context.hpp"
#include "swizzle/statements.hpp"

namespace faro::swizzle {
namespace {

class Writer {
 public:
  explicit Writer(EmissionContext& context) : context_(context), registers_(context) {
    std::unordered_map<const Statement*, StatementFacts> facts;
    note_facts(context.program.statements(), facts);
    live_ = live_statements(context.program, facts);
  }

  StatementsText written() && {
    if (context_.options.device_function) {
      write_between(context_.program.statements());
    } else {
      write(context_.program.statements());
    }
    text_.text = lines_.text();
    text_.selects = registers_.selects();
    text_.notes = registers_.notes();
    return std::move(text_);
  }

 private:
  void note_facts(std::span<const Statement> statements,
                  std::unordered_map<const Statement*, StatementFacts>& facts) const {
    for (const Statement& statement : statements) {
      if (const auto* loop = std::get_if<LoopStatement>(&statement)) {
        note_facts(loop->body, facts);
      } else {
        facts.emplace(&statement, context_.facts(statement));
      }
    }
  }

  void write(std::span<const Statement> statements) {
    for (const Statement& statement : statements) {
      if (!live_.contains(&statement)) continue;
      registers_.set_times(times_);
      if (const auto* loop = std::get_if<LoopStatement>(&statement)) {
        write(*loop);
      } else {
        std::visit([&](const auto& which) { write(which, context_.facts(statement)); }, statement);
      }
    }
  }

  // Device functions: the loads before all others and the stores behind them are told, not written.

  enum class Side { load, between, store };

  void write_between(std::span<const Statement> statements) {
    Side side = Side::load;
    for (const Statement& statement : statements) {
      if (!live_.contains(&statement)) continue;
      const Side own = side_of(statement);
      require_ordered(own >= side);
      side = own;
      if (own == Side::between) {
        write(std::span(&statement, 1));
      } else {
        tell(statement, "");
      }
    }
  }

  Side side_of(const Statement& statement) const {
    if (std::holds_alternative<LoadStatement>(statement)) return Side::load;
    if (std::holds_alternative<StoreStatement>(statement)) return Side::store;
    const auto* const loop = std::get_if<LoopStatement>(&statement);
    if (loop == nullptr) return Side::between;
    std::set<Side> sides;
    for (const Statement& inner : loop->body) {
      if (live_.contains(&inner)) sides.insert(side_of(inner));
    }
    require_ordered(sides.size() <= 1);  // a loop of its own may hold what is between only
    return sides.empty() ? Side::between : *sides.begin();
  }

  static void require_ordered(bool is_ordered) {
    if (is_ordered) return;
    fail(ErrorCode::unsupported, "emit a device function", "loads or stores among the other statements",
         "loads, then what is between registers, then stores", "emit the kernel");
  }

  // "x[round] = I[32 * round + t], round below 4"
  void tell(const Statement& statement, const std::string& loops) {
    if (const auto* const loop = std::get_if<LoopStatement>(&statement)) {
      const std::string& counter = context_.names.loops[static_cast<std::size_t>(loop->number)];
      const std::string within = loops + ", " + counter + " below " + std::to_string(loop->count);
      for (const Statement& inner : loop->body) {
        if (live_.contains(&inner)) tell(inner, within);
      }
      return;
    }
    const StatementFacts& facts = context_.facts(statement);
    const auto* const load = std::get_if<LoadStatement>(&statement);
    const auto* const store = std::get_if<StoreStatement>(&statement);
    const Register& place = load != nullptr ? load->to : store->from;
    const Index& when = load != nullptr ? load->when : store->when;
    const std::string own = register_text(place);
    const std::string element =
        load != nullptr ? array_element(load->from, load->address) : array_element(store->to, store->address);
    std::string line =
        load != nullptr ? "before: " + own + " = " + element : "after: " + element + " = " + own;
    line += loops;
    if (!facts.always) line += ", where " + context_.text(context_.resolved(when));
    text_.outside.push_back(line);
    if (std::find(text_.parameters.begin(), text_.parameters.end(), place.registers) ==
        text_.parameters.end())
      text_.parameters.push_back(place.registers);
  }

  std::string register_text(const Register& place) {
    const Index index = context_.resolved(place.index);
    if (!EmissionContext::known_when_unrolled(index)) {
      fail(ErrorCode::unsupported, "emit a device function",
           "`" + context_.registers[static_cast<std::size_t>(place.registers)] +
               "`, of which each lane loads or stores another register",
           "registers that all lanes have in common", "emit the kernel");
    }
    return context_.element(place.registers, context_.text(index));
  }

  // Loops.

  void write(const LoopStatement& loop) {
    const std::string& counter = context_.names.loops[static_cast<std::size_t>(loop.number)];
    const std::string count = std::to_string(loop.count);
    constexpr std::int64_t kFewStatements = 512;
    const bool unrolled = chooses_registers(loop.body, loop.number) || size_of(loop) <= kFewStatements;
    lines_.add(unrolled ? "#pragma unroll" : "#pragma unroll 1");
    lines_.open("for (int " + counter + " = 0; " + counter + " < " + count + "; ++" + counter + ") {");
    times_ *= static_cast<std::uint64_t>(loop.count);
    write(loop.body);
    times_ /= static_cast<std::uint64_t>(loop.count);
    lines_.close();
  }

  std::int64_t size_of(const LoopStatement& loop) const {
    std::int64_t size = 0;
    for (const Statement& inner : loop.body) {
      if (!live_.contains(&inner)) continue;
      const auto* nested = std::get_if<LoopStatement>(&inner);
      size += nested != nullptr ? size_of(*nested) : 1;
    }
    return size * loop.count;
  }

  /// Whether a register's number depends on the counter: then the compiler must know it.
  bool chooses_registers(std::span<const Statement> body, int counter) const {
    return std::any_of(body.begin(), body.end(), [&](const Statement& statement) {
      if (const auto* loop = std::get_if<LoopStatement>(&statement))
        return chooses_registers(loop->body, counter);
      if (!live_.contains(&statement)) return false;
      return std::visit([&](const auto& which) { return chooses(which, counter); }, statement);
    });
  }
  bool depends(const Register& value, int counter) const {
    const auto has = [&](const auto& self, const Index& index) -> bool {
      if (index.kind() == IndexKind::loop) return index.number() == counter;
      const auto operands = index.operands();
      return std::any_of(operands.begin(), operands.end(), [&](const Index& o) { return self(self, o); });
    };
    return context_.size(value.registers) > 1 && has(has, value.index);
  }
  bool chooses(const LoadStatement& s, int i) const { return depends(s.to, i); }
  bool chooses(const StoreStatement& s, int i) const { return depends(s.from, i); }
  bool chooses(const ShuffleStatement& s, int i) const { return depends(s.to, i) || depends(s.from, i); }
  bool chooses(const MoveStatement& s, int i) const { return depends(s.to, i) || depends(s.from, i); }
  bool chooses(const AccumulateStatement& s, int i) const {
    return std::any_of(s.term.begin(), s.term.end(),
                       [&](const Register& value) { return depends(value, i); });
  }
  bool chooses(const EvaluateStatement& s, int i) const { return depends(s.to, i); }
  template <typename Other>
  bool chooses(const Other&, int) const {
    return false;
  }

  // Statements.

  std::string read(const Register& from, const std::set<std::int64_t>& values) {
    text_.register_arrays.insert(from.registers);
    return registers_.read(from.registers, context_.resolved(from.index), values, lines_);
  }
  void write(const Register& to, const std::set<std::int64_t>& values, const std::string& value) {
    text_.register_arrays.insert(to.registers);
    registers_.write(to.registers, context_.resolved(to.index), values, value, lines_);
  }
  std::string array_element(Array array, const Index& address) {
    const auto number = static_cast<std::size_t>(array.number);
    if (context_.program.arrays()[number].kind == ArrayKind::shared) text_.shared_arrays.insert(array.number);
    const std::string& name = context_.arrays[number];
    const std::int64_t width = context_.tile_width(array.number);
    if (width == 0) return name + "[" + context_.text(context_.resolved(address)) + "]";
    const std::string place = context_.text(context_.resolved(address % width));
    const Index row = context_.resolved(address / width);
    if (is_zero(row)) return name + "[" + place + "]";
    return name + "[static_cast<uint64_t>(" + context_.text(row) + ") * " +
           as_operand(context_.image_width(array.number)) + " + " + as_operand(place) + "]";
  }
  /// Whether an element of a tile is in the image; empty where the array has no tiles.
  std::string inside(Array array, const Index& address) const {
    const std::int64_t width = context_.tile_width(array.number);
    if (width == 0) return "";
    std::string place = context_.left + " + " +
                        as_operand(context_.text(context_.resolved(address % width))) + " < " +
                        context_.image_width(array.number);
    const Index row = context_.resolved(address / width);
    if (is_zero(row)) return place;  // a tile's first row is there
    return context_.top + " + " + as_operand(context_.text(row)) + " < " +
           context_.image_height(array.number) + " && " + place;
  }
  static bool is_zero(const Index& index) {
    return index.kind() == IndexKind::constant && index.value() == 0;
  }
  /// Calls body() inside an `if` where the condition does not always hold; `also` is a further one, or empty.
  template <typename Body>
  void guarded(const Index& when, const std::string& also, const StatementFacts& facts, const Body& body) {
    std::string condition = facts.always ? "" : context_.text(context_.resolved(when));
    if (!also.empty()) condition = condition.empty() ? also : as_operand(condition) + " && " + also;
    if (!condition.empty()) lines_.open("if (" + condition + ") {");
    body();
    if (!condition.empty()) lines_.close();
  }

  void write(const LoadStatement& s, const StatementFacts& facts) {
    guarded(s.when, inside(s.from, s.address), facts,
            [&] { write(s.to, facts.writes, array_element(s.from, s.address)); });
  }

  void write(const StoreStatement& s, const StatementFacts& facts) {
    if (facts.after_all) lines_.add("__syncthreads();");
    guarded(s.when, inside(s.to, s.address), facts, [&] {
      const std::string value = read(s.from, facts.reads[0]);
      lines_.add(array_element(s.to, s.address) + " = " + value + ";");
    });
  }

  void write(const ShuffleStatement& s, const StatementFacts& facts) {
    std::string value = read(s.from, facts.reads[0]);
    if (!facts.own_lane) {
      require_shuffles(context_.program);
      const std::int64_t lanes = context_.warp();
      Index lane = context_.resolved(s.lane);
      // The instruction takes the remainder itself.
      if (lane.kind() == IndexKind::remainder && lane.operands()[1].kind() == IndexKind::constant &&
          lane.operands()[1].value() > 0 && lane.operands()[1].value() % lanes == 0)
        lane = lane.operands()[0];
      value = "__shfl_sync(" + shuffle_mask(context_) + ", " + value + ", " + context_.text(lane) + ", " +
              std::to_string(lanes) + ")";
      text_.shuffles += times_;
      text_.uses_mask = true;
    }
    write(s.to, facts.writes, value);
  }

  void write(const PermuteStatement& s, const StatementFacts&) {
    text_.register_arrays.insert(s.to);
    text_.register_arrays.insert(s.from);
    registers_.permute(s, lines_);
  }

  void write(const MoveStatement& s, const StatementFacts& facts) {
    write(s.to, facts.writes, read(s.from, facts.reads[0]));
  }

  std::string combined(Operator op, const std::string& a, const std::string& b) {
    if (op == Operator::least || op == Operator::greatest) {
      (op == Operator::least ? text_.uses_least : text_.uses_greatest) = true;
      return context_.options.name + (op == Operator::least ? "_least(" : "_greatest(") + a + ", " + b + ")";
    }
    return a + " " + name(op) + " " + b;
  }

  void write(const AccumulateStatement& s, const StatementFacts& facts) {
    const auto number = static_cast<std::size_t>(s.accumulator);
    const Accumulation& how = context_.program.accumulators()[number].accumulation;
    const std::string& sum = context_.accumulators[number];
    text_.accumulators.insert(s.accumulator);
    ++text_.live_accumulates;
    guarded(s.when, "", facts, [&] {
      std::string term = read(s.term[0], facts.reads[0]);
      for (std::size_t k = 1; k < s.term.size(); ++k)
        term = combined(how.inner, term, read(s.term[k], facts.reads[k]));
      const bool named = how.outer == Operator::least || how.outer == Operator::greatest;
      lines_.add(s.starts ? sum + " = " + term + ";"
                 : named  ? sum + " = " + combined(how.outer, sum, term) + ";"
                          : sum + " " + name(how.outer) + "= " + term + ";");
    });
  }

  void write(const EvaluateStatement& s, const StatementFacts& facts) {
    const auto number = static_cast<std::size_t>(s.accumulator);
    const std::uint32_t divisor = context_.program.accumulators()[number].accumulation.divisor;
    text_.accumulators.insert(s.accumulator);
    write(s.to, facts.writes,
          context_.accumulators[number] + (divisor == 1 ? "" : " / " + std::to_string(divisor) + "u"));
  }

  void write(const BarrierStatement&, const StatementFacts&) { lines_.add("__syncthreads();"); }

  void write(const PresentStatement& s, const StatementFacts&) {
    text_.register_arrays.insert(s.registers);
    text_.demanded.insert(s.registers);
    lines_.add("// Here the warp's `" + context_.registers[static_cast<std::size_t>(s.registers)] +
               "` hold all that it needs for `" + context_.arrays[static_cast<std::size_t>(s.output.number)] +
               "`.");
  }

  void write(const LoopStatement&, const StatementFacts&) {}

  EmissionContext& context_;
  RegisterText registers_;
  std::set<const Statement*> live_;
  Lines lines_;
  std::uint64_t times_ = 1;
  StatementsText text_;
};

}  // namespace

StatementsText statements_text(EmissionContext& context) { return Writer(context).written(); }

std::string shuffle_mask(const EmissionContext& context) {
  if (context.options.device_function) return "0xffffffffu";  // a whole warp calls it
  const std::int64_t threads = context.threads();
  // The problems of a batch that one warp works on may be there in part.
  if (context.options.batch > 1 && threads % 32 != 0) return "lanes";
  if (threads % 32 == 0) return "0xffffffffu";
  if (threads < 32) return std::to_string((std::uint64_t{1} << threads) - 1) + "u";
  return "lanes";
}

}  // namespace faro::swizzle
