// A view's plan with arithmetic, together with the engine that runs it.
#include <string>
#include <utility>
#include <vector>

#include "api/array_checks.hpp"
#include "disjoint.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/values/value_sweep.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "plan/value_plan.hpp"

namespace faro {
namespace {

// One array as the view has it: from index 0 on, strides in bytes.
struct Side {
  std::vector<std::int64_t> stride_bytes;
  std::int64_t first = 0;  // elements
  std::uint64_t width = 1;

  Side(const std::vector<std::int64_t>& strides, std::int64_t at, std::uint64_t bytes)
      : stride_bytes(strides), first(at), width(bytes) {
    for (std::int64_t& stride : stride_bytes) stride *= static_cast<std::int64_t>(width);
  }

  detail::LaidArray at(const void* array, const std::vector<std::uint64_t>& extents) const {
    const auto* const begin = static_cast<const std::byte*>(array);
    return {begin + first * static_cast<std::int64_t>(width), width, extents, stride_bytes};
  }
};

}  // namespace

struct ExecutableArithmetic::State {
  Strided view;
  Arithmetic arithmetic;
  detail::ValuePlan plan;
  cpu::ValueSweep sweep;
  std::uint64_t in_count;
  std::uint64_t out_count;
  std::uint64_t addend_count;
  Side in;
  Side out;
  Side addend;
};

ExecutableArithmetic::ExecutableArithmetic(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutableArithmetic::ExecutableArithmetic(ExecutableArithmetic&&) noexcept = default;
ExecutableArithmetic& ExecutableArithmetic::operator=(ExecutableArithmetic&&) noexcept = default;
ExecutableArithmetic::~ExecutableArithmetic() = default;

const ExecutableArithmetic::State& ExecutableArithmetic::state() const {
  if (state_ != nullptr) return *state_;
  fail(ErrorCode::value, "use a plan", "one that was moved from", "the plan that it was moved to");
}

std::uint64_t ExecutableArithmetic::in_count() const { return state().in_count; }
std::uint64_t ExecutableArithmetic::out_count() const { return state().out_count; }
std::uint64_t ExecutableArithmetic::addend_count() const { return state().addend_count; }
std::uint64_t ExecutableArithmetic::moved_bytes() const {
  return state().plan.read_bytes() + state().plan.written_bytes();
}
std::string ExecutableArithmetic::explain() const { return state().plan.explain(); }

void ExecutableArithmetic::run(const NumberArray& in, void* out, std::uint64_t out_count,
                               const NumberArray& addend) const {
  const State& of = state();
  const bool adds = of.arithmetic.addend.has_value();
  if (!adds && addend.data != nullptr)
    fail(ErrorCode::value, "run", "an array to add", "none", "plan with an addend");
  const auto require = [](const char* what, const void* data, std::uint64_t got, std::uint64_t wanted) {
    if (got < wanted) {
      fail(ErrorCode::value, "run", std::string(what) + " of " + std::to_string(got) + " numbers",
           "at least " + std::to_string(wanted) + ", which the strides reach");
    }
    if (wanted > 0 && data == nullptr)
      fail(ErrorCode::value, "run", std::string(what) + " that is null", "an array");
  };
  require("an input", in.data, in.count, of.in_count);
  require("an output", out, out_count, of.out_count);
  if (adds) require("an added array", addend.data, addend.count, of.addend_count);
  if (of.plan.count == 0) return;
  const auto& extents = of.view.extents;
  const detail::LaidArray to = of.out.at(out, extents);
  constexpr const char* kOutOfPlace = "numbers are changed out of place";
  detail::check_disjoint("run", detail::RunArray{"output", to}, {{"input", of.in.at(in.data, extents)}},
                         kOutOfPlace);
  if (adds) {
    const detail::LaidArray from = of.addend.at(addend.data, extents);
    const bool accumulates = from.address == to.address && of.addend.width == of.out.width &&
                             of.addend.stride_bytes == of.out.stride_bytes;
    if (!accumulates) {
      detail::check_disjoint("run", detail::RunArray{"output", to}, {{"added array", from}},
                             "it may be the output itself, number by number");
    }
  }
  detail::check_on_host(in.data, out, "copy it to the host");
  of.sweep.run(static_cast<const std::byte*>(in.data), static_cast<const std::byte*>(addend.data),
               static_cast<std::byte*>(out));
}

ExecutableArithmetic plan(const Strided& view, const Arithmetic& arithmetic, const PlanOptions& options) {
  using State = ExecutableArithmetic::State;
  if (options.engine == Engine::cuda) {
    fail(ErrorCode::unsupported, "plan", "arithmetic with engine cuda", "engine cpu",
         "permute there first, and change the numbers in a kernel of your own, or with with_map()");
  }
  const detail::ValuePlan made = detail::make_value_plan(view, arithmetic, cpu::target(options.threads));
  Side addend({}, 0, 1);
  std::uint64_t addend_count = 0;
  if (arithmetic.addend) {
    const Addend& of = *arithmetic.addend;
    const bool as_output = of.strides.empty();
    addend = Side(as_output ? view.out_strides : of.strides,
                  static_cast<std::int64_t>(as_output ? view.out_offset : of.first), bytes_of(of.number));
    // As a view reads it.
    Strided reads = view;
    reads.in_strides = of.strides;
    reads.in_offset = of.first;
    addend_count = as_output ? out_elements(view) : in_elements(reads);
  }
  cpu::ValueSweep sweep(made, cpu::target(1));
  return ExecutableArithmetic(std::make_unique<State>(State{
      .view = view,
      .arithmetic = arithmetic,
      .plan = made,
      .sweep = std::move(sweep),
      .in_count = in_elements(view),
      .out_count = out_elements(view),
      .addend_count = addend_count,
      .in = Side(view.in_strides, static_cast<std::int64_t>(view.in_offset), bytes_of(arithmetic.from)),
      .out = Side(view.out_strides, static_cast<std::int64_t>(view.out_offset), bytes_of(arithmetic.to)),
      .addend = std::move(addend)}));
}

}  // namespace faro
