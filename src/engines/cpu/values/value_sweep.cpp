#include "engines/cpu/values/value_sweep.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/values/box_move.hpp"
#include "engines/cpu/values/value_run.hpp"
#include "engines/cpu/values/value_side.hpp"
#include "io/buffer.hpp"

namespace faro::cpu {
namespace {

using detail::ValueAxis;
using detail::ValuePlan;
using detail::ValueStrides;
using Extents = BoxExtents;

constexpr std::int64_t kShortRunBytes = 4096;
constexpr std::int64_t kFetchedBytes = 4096;  // this far ahead
constexpr std::int64_t kLineBytes = 64;

// Forced inline: without it a build by GCC 12 took three times as long, as if nothing were fetched.
[[gnu::always_inline]] inline void fetch(const std::byte* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(from + at);
}

// Goes through the runs of a box.
class RunCursor {
 public:
  RunCursor(const std::vector<ValueAxis>& axes, const Extents& extents, std::size_t outer)
      : axes_(axes), extents_(extents), at_(outer, 0) {}

  const ValueStrides& place() const { return place_; }  // from the box's corner

  // False after the last run.
  bool next() {
    for (std::size_t i = at_.size(); i-- > 0;) {
      if (++at_[i] < extents_[i]) {
        advance(place_, axes_[i].strides, 1);
        return true;
      }
      at_[i] = 0;
      advance(place_, axes_[i].strides, -static_cast<std::int64_t>(extents_[i] - 1));
    }
    return false;
  }

 private:
  const std::vector<ValueAxis>& axes_;
  const Extents& extents_;
  Extents at_;
  ValueStrides place_;
};

// How boxes of some extents are carried out.
struct BoxWays {
  std::unique_ptr<BoxMove> in;
  std::unique_ptr<BoxMove> addend;
  std::unique_ptr<BoxMove> out;
};

// Values of a coefficient as they are computed with, and whether they differ along a run.
struct FactorTable {
  std::vector<std::byte> values;
  std::int64_t ValueStrides::*stride = nullptr;
  bool varies = false;
};

// What is turned in registers as plain numbers are, and changed as it is written.
class TurnedValues {
 public:
  explicit TurnedValues(const ValuePlan& plan)
      : values_(detail::of_whole_output(plan), true),
        passes_({*plan.turned}, nullptr),
        first_(static_cast<std::uint64_t>(plan.first.out)) {}

  void run(const ValueArrays& arrays) const {
    const auto workspace = std::make_unique_for_overwrite<std::byte[]>(passes_.workspace_bytes());
    const ValueSide side(values_, arrays, first_);
    passes_.run(arrays.in, as_wide_as_input(arrays.out), workspace.get(), {.written = &side});
  }

 private:
  // An output of numbers as wide as the input's, of which the first is as many of them past a line.
  std::byte* as_wide_as_input(std::byte* out) const {
    const std::uint64_t from = bytes_of(values_.program().from);
    const std::uint64_t to = bytes_of(values_.program().to);
    const auto past_line = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % kLine; };
    return out - past_line(out) + (past_line(out + first_ * to) / to - first_) * from % kLine;
  }
  static constexpr std::uint64_t kLine = kLineBytes;

  PlacedValues values_;
  PassSequence passes_;
  std::uint64_t first_;  // number of the output that index 0 is
};

// A thread's own.
struct Buffers {
  std::vector<std::byte> in;
  std::vector<std::byte> addend;
  std::vector<std::byte> out;
  std::vector<std::byte> workspace;
  std::vector<std::byte> scale;  // along a run
  std::vector<std::byte> offset;
};

}  // namespace

struct ValueSweep::State {
  ValuePlan plan;
  ValueProgram program;
  std::uint64_t computed_bytes;
  BoxGrid grid;
  std::map<Extents, BoxWays> ways;  // of boxes in the middle, and of those that are cut off at an end
  FactorTable scale;
  FactorTable offset;
  std::uint64_t workspace_bytes = 0;
  std::optional<TurnedValues> turned;

  State(const ValuePlan& of, const Target& one_thread)
      : plan(of), program(of.arithmetic), computed_bytes(bytes_of(program.computed)), grid(plan) {
    if (plan.turned != nullptr) {
      turned.emplace(plan);
      return;
    }
    program.streamed = plan.streamed && plan.out_direct;
    scale = table_of(plan.arithmetic.scale, &ValueStrides::scale);
    offset = table_of(plan.arithmetic.offset, &ValueStrides::offset);
    if (plan.count > 0) add_ways(one_thread);
  }

  FactorTable table_of(const Coefficient& of, std::int64_t ValueStrides::*stride) const {
    FactorTable table{.values = std::vector<std::byte>(of.values.size() * computed_bytes), .stride = stride};
    for (std::size_t i = 0; i < of.values.size(); ++i)
      store_factor(program.computed, of.values[i], table.values.data() + i * computed_bytes);
    for (std::size_t i = plan.axes.size() - plan.run_axes; i < plan.axes.size(); ++i)
      table.varies |= plan.box[i] > 1 && plan.axes[i].strides.*stride != 0;
    return table;
  }

  void add_ways(const Target& target) {
    Target past_caches = target;
    if (plan.streamed) past_caches.streaming_bytes = 0;
    grid.for_each_kind([&](const Extents& extents) {
      BoxWays& way = ways[extents];
      const auto move = [&](bool direct, std::int64_t ValueStrides::*side, Number number, bool to_box) {
        if (direct) return std::unique_ptr<BoxMove>();
        auto made = std::make_unique<BoxMove>(plan, extents, side, bytes_of(number), to_box,
                                              to_box ? target : past_caches);
        workspace_bytes = std::max(workspace_bytes, made->workspace_bytes());
        return made;
      };
      way.in = move(plan.in_direct, &ValueStrides::in, program.from, true);
      way.addend =
          move(plan.addend_direct || !program.has_addend, &ValueStrides::addend, program.addend, true);
      way.out = move(plan.out_direct, &ValueStrides::out, program.to, false);
    });
  }

  Buffers make_buffers() const {
    const std::uint64_t count = plan.box_count();
    Buffers buffers;
    if (!plan.in_direct) buffers.in.resize(count * bytes_of(program.from));
    if (program.has_addend && !plan.addend_direct) buffers.addend.resize(count * bytes_of(program.addend));
    if (!plan.out_direct) buffers.out.resize(count * bytes_of(program.to));
    buffers.workspace.resize(workspace_bytes);
    if (scale.varies) buffers.scale.resize(plan.run_count() * computed_bytes);
    if (offset.varies) buffers.offset.resize(plan.run_count() * computed_bytes);
    return buffers;
  }

  // A coefficient's values along a run of a box that begins at value `first`.
  void expand(const FactorTable& table, const Extents& extents, std::int64_t first,
              std::vector<std::byte>& to) const {
    if (!table.varies) return;
    const std::size_t outer = plan.axes.size() - plan.run_axes;
    Extents run(extents.begin() + static_cast<std::ptrdiff_t>(outer), extents.end());
    Extents at(run.size(), 0);
    std::byte* next = to.data();
    do {
      std::int64_t value = first;
      for (std::size_t i = 0; i < at.size(); ++i)
        value += static_cast<std::int64_t>(at[i]) * (plan.axes[outer + i].strides.*(table.stride));
      std::copy_n(table.values.data() + static_cast<std::uint64_t>(value) * computed_bytes, computed_bytes,
                  next);
      next += computed_bytes;
    } while (step(at, run, run.size()));
  }

  struct Arrays {
    const std::byte* in;
    const std::byte* addend;
    std::byte* out;
  };

  void run_box(const Extents& box_at, const Arrays& arrays, Buffers& buffers) const {
    const Extents extents = grid.extents_at(box_at);
    const BoxWays& way = ways.at(extents);
    const ValueStrides corner = grid.corner_at(box_at);
    const auto width = [](Number number) { return static_cast<std::int64_t>(bytes_of(number)); };
    const std::int64_t in_width = width(program.from);
    const std::int64_t addend_width = program.has_addend ? width(program.addend) : 0;
    const std::int64_t out_width = width(program.to);
    const std::byte* const in = arrays.in + corner.in * in_width;
    const std::byte* const addend = arrays.addend + corner.addend * addend_width;
    std::byte* const out = arrays.out + corner.out * out_width;
    if (way.in) way.in->collect(in, buffers.in.data(), buffers.workspace.data());
    if (way.addend) way.addend->collect(addend, buffers.addend.data(), buffers.workspace.data());
    expand(scale, extents, corner.scale, buffers.scale);
    expand(offset, extents, corner.offset, buffers.offset);

    const std::size_t outer = extents.size() - plan.run_axes;
    ValueRun run;
    run.count = count_of(Extents(extents.begin() + static_cast<std::ptrdiff_t>(outer), extents.end()));
    const auto factors = [&](const FactorTable& table, const std::vector<std::byte>& expanded,
                             std::int64_t value) {
      if (table.varies) return Factors{.data = expanded.data(), .varies = true};
      return Factors{.data = table.values.data() + static_cast<std::uint64_t>(value) * computed_bytes};
    };
    RunCursor cursor(plan.axes, extents, outer);
    RunCursor ahead = cursor;
    // Runs that begin anywhere are fetched ahead; the processor follows those that go on.
    const auto count = static_cast<std::int64_t>(run.count);
    const std::int64_t in_bytes = plan.in_direct ? count * in_width : 0;
    const std::int64_t addend_bytes = plan.addend_direct ? count * addend_width : 0;
    const std::int64_t fetched_bytes = in_bytes + addend_bytes;
    bool more_ahead = fetched_bytes > 0 && fetched_bytes <= kShortRunBytes;
    const auto fetch_next = [&] {
      fetch(in + ahead.place().in * in_width, in_bytes);
      fetch(addend + ahead.place().addend * addend_width, addend_bytes);
      more_ahead = ahead.next();
    };
    for (std::int64_t bytes = 0; more_ahead && bytes < kFetchedBytes; bytes += fetched_bytes) fetch_next();
    std::int64_t done = 0;
    do {
      if (more_ahead) fetch_next();
      const ValueStrides& at = cursor.place();
      run.from = plan.in_direct ? in + at.in * in_width : buffers.in.data() + done * in_width;
      run.addend = plan.addend_direct ? addend + at.addend * addend_width
                                      : buffers.addend.data() + done * addend_width;
      run.to = plan.out_direct ? out + at.out * out_width : buffers.out.data() + done * out_width;
      run.scale = factors(scale, buffers.scale, corner.scale + at.scale);
      run.offset = factors(offset, buffers.offset, corner.offset + at.offset);
      convert_run(program, run);
      done += count;
    } while (cursor.next());
    if (way.out) way.out->spread(buffers.out.data(), out, buffers.workspace.data());
  }
};

ValueSweep::ValueSweep(const ValuePlan& plan, const Target& one_thread)
    : state_(std::make_unique<State>(plan, one_thread)) {}
ValueSweep::ValueSweep(ValueSweep&&) noexcept = default;
ValueSweep& ValueSweep::operator=(ValueSweep&&) noexcept = default;
ValueSweep::~ValueSweep() = default;

void ValueSweep::run(const std::byte* in, const std::byte* addend, std::byte* out) const {
  const State& state = *state_;
  if (state.plan.count == 0) return;
  if (state.turned) return state.turned->run({.in = in, .addend = addend, .out = out});
  std::vector<std::optional<Buffers>> of_ranks(static_cast<std::size_t>(std::max(state.plan.threads, 1)));
  share_out_by_rank(state.grid.count(), state.plan.threads, [&](const Share& share) {
    std::optional<Buffers>& own = of_ranks[share.rank];
    if (!own) own = state.make_buffers();  // by the thread that uses it
    for (std::uint64_t box = share.begin; box < share.end; ++box)
      state.run_box(state.grid.at(box), {.in = in, .addend = addend, .out = out}, *own);
    if (state.plan.streamed) finish_streams();
  });
}

}  // namespace faro::cpu
