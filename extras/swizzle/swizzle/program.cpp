#include "faro/swizzle/program.hpp"

#include <algorithm>
#include <utility>

#include "faro/error.hpp"

namespace faro::swizzle {
namespace {

Index all_of(const std::vector<Index>& conditions) {
  Index all = 1;
  for (std::size_t i = 0; i < conditions.size(); ++i) all = i == 0 ? conditions[i] : all && conditions[i];
  return all;
}

/// Values that a hole of this declaration can have.
Interval values_of(const HoleDeclaration& hole) {
  switch (hole.kind) {
    case HoleKind::xform:
      return {.least = 0, .most = hole.n - 1};
    case HoleKind::part:
      return {.least = 0, .most = hole.choices - 1};
    case HoleKind::condition:
      return {.least = 0, .most = 1};
    case HoleKind::bits:
      return {.least = 0, .most = hole.n - 1};
    case HoleKind::formulas: {
      IndexRanges ranges;
      for (const Argument& argument : hole.arguments) ranges.arguments.push_back({0, argument.asked - 1});
      Interval all = bounds(hole.formulas.front(), ranges);
      for (const Index& formula : hole.formulas) {
        const Interval one = bounds(formula, ranges);
        all = {std::min(all.least, one.least), std::max(all.most, one.most)};
      }
      return all;
    }
    case HoleKind::warp_size:
      return {.least = 0, .most = hole.most_constant * (1 + hole.warp)};
    case HoleKind::warp_offset:
      break;
  }
  Interval values{.least = 0, .most = hole.most_constant};
  for (std::size_t k = 0; k < hole.arguments.size() && k < hole.units.size(); ++k) {
    const std::int64_t last = hole.most_constant * hole.units[k] * (hole.arguments[k].asked - 1);
    (last < 0 ? values.least : values.most) += last;
  }
  return values;
}

}  // namespace

Index Hole::call(std::vector<Index> arguments) const {
  return Index::node(IndexKind::hole, number_, std::move(arguments));
}

Program::Program(const Specification& specification, const Launch& launch)
    : launch_(launch), arrays_(specification.arrays().begin(), specification.arrays().end()) {
  const auto require = [](const char* what, std::int64_t count) {
    if (count < 1)
      fail(ErrorCode::spec, "program", std::string(what) + " = " + std::to_string(count), "at least 1");
  };
  require("warp", launch.warp);
  require("warps", launch.warps);
  require("blocks", launch.blocks);
  if (launch.banks != 0) require("banks", launch.banks);
}

std::string Program::claim(std::string name, const char* what) const {
  const auto taken = [&name](const auto& declared) { return declared.name == name; };
  const std::string operation = std::string("declare ") + what + " `" + name + "`";
  if (name.empty()) fail(ErrorCode::spec, operation, "an empty name", "a name");
  if (std::any_of(arrays_.begin(), arrays_.end(), taken) ||
      std::any_of(registers_.begin(), registers_.end(), taken) ||
      std::any_of(accumulators_.begin(), accumulators_.end(), taken) ||
      std::any_of(holes_.begin(), holes_.end(), taken))
    fail(ErrorCode::spec, operation, "a name that is taken", "another name");
  return name;
}

std::string Program::unused(const std::string& wish) const {
  for (int number = 0;; ++number) {
    std::string name = number == 0 ? wish : wish + std::to_string(number);
    const auto taken = [&name](const auto& declared) { return declared.name == name; };
    if (std::none_of(arrays_.begin(), arrays_.end(), taken) &&
        std::none_of(registers_.begin(), registers_.end(), taken) &&
        std::none_of(accumulators_.begin(), accumulators_.end(), taken) &&
        std::none_of(holes_.begin(), holes_.end(), taken))
      return name;
  }
}

Registers Program::registers(std::string name, std::int64_t size) {
  name = claim(std::move(name), "registers");
  if (size < 1)
    fail(ErrorCode::spec, "declare registers `" + name + "`", std::to_string(size) + " registers",
         "at least 1");
  registers_.push_back({.name = std::move(name), .size = size});
  return {.number = static_cast<int>(registers_.size()) - 1, .size = size};
}

Array Program::shared(std::string name, std::int64_t size) {
  name = claim(std::move(name), "shared array");
  if (size < 1)
    fail(ErrorCode::spec, "declare shared array `" + name + "`", std::to_string(size) + " elements",
         "at least 1");
  arrays_.push_back({.name = std::move(name), .kind = ArrayKind::shared, .size = size});
  return {.number = static_cast<int>(arrays_.size()) - 1};
}

AccumulatorRef Program::accumulator(std::string name, const Accumulation& accumulation) {
  name = claim(std::move(name), "accumulator");
  if (accumulation.outer == Operator::none)
    fail(ErrorCode::spec, "declare accumulator `" + name + "`", "no outer operator", "an outer operator");
  if (accumulation.divisor == 0)
    fail(ErrorCode::spec, "declare accumulator `" + name + "`", "divisor 0", "a divisor of at least 1");
  accumulators_.push_back({.name = std::move(name), .accumulation = accumulation});
  return {.number = static_cast<int>(accumulators_.size()) - 1};
}

Hole Program::add_hole(HoleDeclaration hole) {
  hole.name = claim(std::move(hole.name), "hole");
  hole.warp = launch_.warp;
  check(hole);
  holes_.push_back(std::move(hole));
  return Hole(static_cast<int>(holes_.size()) - 1);
}

Hole Program::xform(std::string name, const XformOptions& options) {
  HoleDeclaration hole;
  hole.name = std::move(name);
  hole.kind = HoleKind::xform;
  hole.arguments = {{.name = "i", .asked = options.n},
                    {.name = "k", .asked = options.asked == 0 ? options.m : options.asked}};
  hole.n = options.n;
  hole.m = options.m;
  hole.one_to_one = options.one_to_one;
  hole.most = options.most;
  hole.in_extra = options.in_extra;
  return add_hole(std::move(hole));
}

Hole Program::part(std::string name, std::int64_t choices, std::vector<Argument> arguments,
                   std::vector<std::int64_t> constants, ConditionFreedom most) {
  HoleDeclaration hole;
  hole.name = std::move(name);
  hole.kind = HoleKind::part;
  hole.arguments = std::move(arguments);
  hole.choices = choices;
  hole.constants = std::move(constants);
  hole.most_conditions = most;
  return add_hole(std::move(hole));
}

Hole Program::bits(std::string name, std::int64_t n, std::vector<Argument> arguments,
                   const BitsOptions& options) {
  HoleDeclaration hole;
  hole.name = std::move(name);
  hole.kind = HoleKind::bits;
  hole.n = n;
  hole.arguments = std::move(arguments);
  hole.one_to_one = options.one_to_one;
  hole.most = options.most;
  hole.in_extra = options.in_extra;
  return add_hole(std::move(hole));
}

Hole Program::family(std::string name, std::vector<Argument> arguments, std::vector<Index> formulas) {
  HoleDeclaration hole;
  hole.name = std::move(name);
  hole.kind = HoleKind::formulas;
  hole.arguments = std::move(arguments);
  hole.formulas = std::move(formulas);
  return add_hole(std::move(hole));
}

Hole Program::condition(std::string name, std::vector<Argument> arguments,
                        std::vector<std::int64_t> constants, ConditionFreedom most) {
  HoleDeclaration hole;
  hole.name = std::move(name);
  hole.kind = HoleKind::condition;
  hole.arguments = std::move(arguments);
  hole.constants = std::move(constants);
  hole.most_conditions = most;
  return add_hole(std::move(hole));
}

Hole Program::warp_offset(std::string name, std::vector<Argument> ids, std::vector<std::int64_t> units,
                          std::int64_t most_constant) {
  HoleDeclaration hole;
  hole.name = std::move(name);
  hole.kind = HoleKind::warp_offset;
  hole.arguments = std::move(ids);
  hole.units = std::move(units);
  hole.most_constant = most_constant;
  return add_hole(std::move(hole));
}

Hole Program::warp_size(std::string name, std::int64_t most_constant) {
  HoleDeclaration hole;
  hole.name = std::move(name);
  hole.kind = HoleKind::warp_size;
  hole.most_constant = most_constant;
  return add_hole(std::move(hole));
}

std::vector<Statement>& Program::here() { return open_.empty() ? statements_ : *open_.back(); }

void Program::load(const Register& to, Array from, const Index& address, const Index& when) {
  here().emplace_back(LoadStatement{.to = to, .from = from, .address = address, .when = when});
}

void Program::store(Array to, const Index& address, const Register& from, const Index& when) {
  here().emplace_back(StoreStatement{.to = to, .address = address, .from = from, .when = when});
}

void Program::store(Array to, const Index& address, AccumulatorRef accumulator, const Index& when) {
  const auto number = static_cast<std::size_t>(accumulator.number);
  if (accumulator.number < 0 || number >= accumulators_.size())
    fail(ErrorCode::spec, "store", "accumulator number " + std::to_string(accumulator.number),
         "one of this program");
  const Registers value = registers(unused(accumulators_[number].name + "_value"), 1);
  evaluate(value[0], accumulator);
  store(to, address, value[0], when);
}

void Program::shuffle(const Register& to, const Register& from, const Index& lane) {
  here().emplace_back(ShuffleStatement{.to = to, .from = from, .lane = lane});
}

void Program::permute(const Registers& to, const Registers& from,
                      const std::function<Index(const Index& i)>& source) {
  const int counter = static_cast<int>(loops_.size());
  loops_.push_back({.name = unused_counter("i"), .count = to.size});
  open_counters_.push_back(counter);
  const Index index = source(Index::node(IndexKind::loop, counter, {}));
  open_counters_.pop_back();
  here().emplace_back(
      PermuteStatement{.to = to.number, .from = from.number, .counter = counter, .source = index});
}

void Program::move(const Register& to, const Register& from) {
  here().emplace_back(MoveStatement{.to = to, .from = from});
}

void Program::accumulate(AccumulatorRef accumulator, std::vector<Register> term, const Index& when) {
  here().emplace_back(
      AccumulateStatement{.accumulator = accumulator.number, .term = std::move(term), .when = when});
}

void Program::start(AccumulatorRef accumulator, std::vector<Register> term) {
  here().emplace_back(AccumulateStatement{
      .accumulator = accumulator.number, .term = std::move(term), .when = 1, .starts = true});
}

void Program::evaluate(const Register& to, AccumulatorRef accumulator) {
  here().emplace_back(EvaluateStatement{.to = to, .accumulator = accumulator.number});
}

void Program::barrier() { here().emplace_back(BarrierStatement{}); }

void Program::present(const Registers& registers, Array output, const Index& address, const Index& when) {
  here().emplace_back(
      PresentStatement{.registers = registers.number, .output = output, .address = address, .when = when});
}

std::string Program::unused_counter(const std::string& wish) const {
  for (int number = 0;; ++number) {
    std::string name = number == 0 ? wish : wish + std::to_string(number);
    const auto is_open = [&](int counter) { return loops_[static_cast<std::size_t>(counter)].name == name; };
    if (std::none_of(open_counters_.begin(), open_counters_.end(), is_open)) return name;
  }
}

void Program::loop(std::string name, std::int64_t count,
                   const std::function<void(const Index& counter)>& body) {
  const std::string operation = "loop `" + name + "`";
  if (name.empty()) fail(ErrorCode::spec, "loop", "an empty name", "a name");
  if (unused_counter(name) != name)
    fail(ErrorCode::spec, operation, "the name of a loop around it", "another name");
  if (count < 1) fail(ErrorCode::spec, operation, std::to_string(count) + " iterations", "at least 1");
  const int number = static_cast<int>(loops_.size());
  loops_.push_back({.name = std::move(name), .count = count});
  std::vector<Statement> recorded;
  // Even where the body throws, the program is as it was before the loop, but for declarations.
  struct Recording {
    Program& program;
    ~Recording() {
      program.open_.pop_back();
      program.open_counters_.pop_back();
    }
  };
  {
    open_.push_back(&recorded);
    open_counters_.push_back(number);
    const Recording recording{.program = *this};
    body(Index::node(IndexKind::loop, number, {}));
  }
  here().emplace_back(LoopStatement{.number = number, .count = count, .body = std::move(recorded)});
}

namespace {

/// Addresses of a transfer, and where they are in the array: for each register.
template <typename Each>
void each_element(Program& program, const Transfer& transfer, Array array, const Each& each) {
  const Index t = lane_index();
  const std::int64_t size =
      array.number < 0 || static_cast<std::size_t>(array.number) >= program.arrays().size()
          ? 0
          : program.arrays()[static_cast<std::size_t>(array.number)].size;
  const auto round = [&](const Index& r) {
    const Index lane = transfer.lane ? transfer.lane(t, r) : t;
    const auto element = [&](const Index& s) {
      const IndexRanges ranges = program.ranges();
      const std::int64_t slice = transfer.slice;
      const Index place = r * (slice * program.launch().warp) + lane * slice + s;  // from the offset
      const Index address = simplify(transfer.offset + place, ranges);
      std::vector<Index> conditions{0 <= address, address < size};
      if (transfer.size) conditions.push_back(place < *transfer.size);
      each(simplify(r * slice + s, ranges), address, simplify(all_of(conditions), ranges));
    };
    if (transfer.slice == 1) return element(0);
    program.loop(program.unused_counter("s"), transfer.slice, element);
  };
  if (transfer.rounds == 1) return round(0);
  program.loop(program.unused_counter("round"), transfer.rounds, round);
}

void require_registers(const char* operation, const Registers& registers, const Transfer& transfer) {
  if (transfer.slice < 1 || transfer.rounds < 1)
    fail(ErrorCode::spec, operation,
         "slice " + std::to_string(transfer.slice) + ", rounds " + std::to_string(transfer.rounds),
         "at least 1 of both");
  if (registers.size < transfer.slice * transfer.rounds)
    fail(ErrorCode::spec, operation, std::to_string(registers.size) + " registers",
         "slice x rounds = " + std::to_string(transfer.slice * transfer.rounds) + " registers");
}

}  // namespace

void Program::global_to_registers(const Registers& to, Array from, const Transfer& transfer) {
  require_registers("global_to_registers", to, transfer);
  each_element(*this, transfer, from, [&](const Index& r, const Index& address, const Index& when) {
    load(to[r], from, address, when);
  });
}

void Program::registers_to_global(Array to, const Registers& from, const Transfer& transfer) {
  require_registers("registers_to_global", from, transfer);
  each_element(*this, transfer, to, [&](const Index& r, const Index& address, const Index& when) {
    store(to, address, from[r], when);
  });
}

IndexRanges Program::ranges() const {
  IndexRanges ranges;
  ranges.lane = {.least = 0, .most = launch_.warp - 1};
  ranges.warp = {.least = 0, .most = launch_.warps - 1};
  ranges.block = {.least = 0, .most = launch_.blocks - 1};
  for (const auto& loop : loops_) ranges.loops.push_back({.least = 0, .most = loop.count - 1});
  for (const auto& hole : holes_) ranges.holes.push_back(values_of(hole));
  return ranges;
}

IndexNames Program::names() const {
  IndexNames names;
  for (const auto& loop : loops_) names.loops.push_back(loop.name);
  for (const auto& hole : holes_) names.holes.push_back(hole.name);
  return names;
}

// A block's copies between global and shared memory: every thread takes each threads-th element of the box.

namespace {

void require_box(const char* operation, const BlockCopy& copy) {
  const std::size_t axes = copy.extents.size();
  if (axes < 1 || axes > 3) fail(ErrorCode::spec, operation, std::to_string(axes) + " extents", "1 to 3");
  if (copy.global_strides.size() != axes || copy.shared_strides.size() != axes)
    fail(ErrorCode::spec, operation,
         std::to_string(copy.global_strides.size()) + " global and " +
             std::to_string(copy.shared_strides.size()) + " shared strides",
         std::to_string(axes) + " of each, as there are extents");
  if (!copy.limits.empty() && copy.limits.size() != axes)
    fail(ErrorCode::spec, operation, std::to_string(copy.limits.size()) + " limits",
         "none, or " + std::to_string(axes) + ", as there are extents");
  for (const std::int64_t extent : copy.extents)
    if (extent < 1) fail(ErrorCode::spec, operation, "extent " + std::to_string(extent), "at least 1");
}

/// Calls each(global address, shared address, when) once for every round of the block's threads.
template <typename Each>
void each_element(Program& program, const BlockCopy& copy, const Each& each) {
  std::int64_t total = 1;
  for (const std::int64_t extent : copy.extents) total *= extent;
  const std::int64_t threads = program.launch().warp * program.launch().warps;
  const std::int64_t rounds = (total + threads - 1) / threads;
  const auto element = [&](const Index& round) {
    const IndexRanges ranges = program.ranges();
    const Index number = round * threads + warp_index() * program.launch().warp + lane_index();
    Index global = copy.offset;
    Index shared = 0;
    Index when = number < total;
    std::int64_t below = total;  // elements of the box for one step of this axis
    for (std::size_t axis = 0; axis < copy.extents.size(); ++axis) {
      below /= copy.extents[axis];
      const Index place = number / below % copy.extents[axis];
      global = global + place * copy.global_strides[axis];
      shared = shared + place * copy.shared_strides[axis];
      if (!copy.limits.empty()) when = when && place < copy.limits[axis];
    }
    each(simplify(global, ranges), simplify(shared, ranges), simplify(when, ranges));
  };
  if (rounds == 1) return element(0);
  program.loop(program.unused_counter("round"), rounds, element);
}

}  // namespace

void Program::global_to_shared(Array to, Array from, const BlockCopy& copy) {
  require_box("global_to_shared", copy);
  const Registers passing = registers(unused("copied"), 1);
  each_element(*this, copy, [&](const Index& global, const Index& shared, const Index& when) {
    load(passing[0], from, global, when);
    store(to, shared, passing[0], when);
  });
}

void Program::shared_to_global(Array to, Array from, const BlockCopy& copy) {
  require_box("shared_to_global", copy);
  const Registers passing = registers(unused("copied"), 1);
  each_element(*this, copy, [&](const Index& global, const Index& shared, const Index& when) {
    load(passing[0], from, shared, when);
    store(to, global, passing[0], when);
  });
}

}  // namespace faro::swizzle
