// A plan of shards beside a sweep over the rank's own part, which changes its numbers.
//
//     f32 to bf16    in --changed--> scratch --sent--> out          u8 to f32    in --sent--> scratch --changed--> out
//
// The scratch has the type that is sent. Which of the two it is follows from the arithmetic alone, so all
// ranks do the same.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/shards.hpp"
#include "shard/spread.hpp"

namespace faro {
namespace {

constexpr const char* kChangeShards = "change numbers of shards";

bool changes_first(const Arithmetic& of) {
  return bytes_of(of.to) < bytes_of(of.from) && !of.addend && !of.scale.axis && !of.offset.axis;
}

ShardProblem of_sent_type(ShardProblem problem, const Arithmetic& of) {
  problem.element_bytes = bytes_of(changes_first(of) ? of.to : of.from);
  return problem;
}

// What is done to the numbers of a rank's part, which has the axes of a slab where factors are along one.
Arithmetic of_part(Arithmetic of, const ShardPlan& plan) {
  const ShardProblem& problem = plan.problem();
  if (of.addend && !of.addend->strides.empty()) {
    fail(ErrorCode::unsupported, kChangeShards, "strides of an added array",
         "none: it lies as the rank's part of the output");
  }
  if (!of.scale.axis && !of.offset.axis) {
    of.shape.clear();
    return of;
  }
  const auto* const cut = std::get_if<ShardAxis>(&problem.shards.out);
  if (cut == nullptr) {
    fail(ErrorCode::unsupported, kChangeShards, "factors along an axis of parts that are no slabs",
         "one factor for all numbers, or an output in slabs");
  }
  std::vector<std::uint64_t> shape = problem.out_shape();
  if (!of.shape.empty() && of.shape != shape) {
    fail(ErrorCode::value, kChangeShards, fmt::format("an output of shape {}", fmt::join(of.shape, " x ")),
         fmt::format("{}, whose axes the cuts count", fmt::join(shape, " x ")));
  }
  check(of, shape);
  const auto axis = static_cast<std::size_t>(cut->axis);
  const detail::Spread slabs(*cut, shape, problem.shards.ranks, "out");
  const std::uint64_t first = slabs.start(problem.shards.rank);
  const std::uint64_t extent = slabs.start(problem.shards.rank + 1) - first;
  for (Coefficient* const factors : {&of.scale, &of.offset}) {
    if (factors->axis != axis) continue;
    const auto begin = factors->values.begin() + static_cast<std::ptrdiff_t>(first);
    factors->values = std::vector(begin, begin + static_cast<std::ptrdiff_t>(extent));
  }
  shape[axis] = extent;
  of.shape = shape;
  return of;
}

// The numbers of a part, in order.
ExecutableArithmetic sweep_of(const ShardPlan& plan, const Arithmetic& of, PlanOptions options,
                              Engine engine) {
  options.engine = engine;
  const Arithmetic mine = of_part(of, plan);
  const std::uint64_t numbers = changes_first(of) ? plan.in_elements() : plan.out_elements();
  Strided view;
  view.extents = mine.shape.empty() ? std::vector<std::uint64_t>{numbers} : mine.shape;
  // A rank without numbers has no factors.
  if (numbers == 0) return faro::plan(Strided{{0}, {1}, {1}}, {.from = of.from, .to = of.to}, options);
  std::int64_t stride = 1;
  view.in_strides.resize(view.extents.size());
  for (std::size_t i = view.extents.size(); i-- > 0;) {
    view.in_strides[i] = stride;
    stride *= static_cast<std::int64_t>(view.extents[i]);
  }
  view.out_strides = view.in_strides;
  return faro::plan(view, mine, options);
}

}  // namespace

struct ShardedArithmetic::State {
  Arithmetic arithmetic;
  bool first;
  ShardedPlan mover;
  std::optional<ExecutableArithmetic> changer = {};
  std::vector<std::byte> on_host = {};
  std::optional<cuda::DeviceArray> on_device = {};

  std::byte* scratch() { return on_device ? on_device->data() : on_host.data(); }
  std::uint64_t scratch_bytes() const { return first ? mover.plan().in_bytes() : mover.plan().out_bytes(); }
};

ShardedArithmetic::ShardedArithmetic(ShardProblem problem, const Arithmetic& arithmetic,
                                     std::shared_ptr<Communicator> communicator, const PlanOptions& options,
                                     const ShardWays& ways)
    : state_(std::make_unique<State>(
          State{.arithmetic = arithmetic,
                .first = changes_first(arithmetic),
                .mover = ShardedPlan(ShardPlan(of_sent_type(std::move(problem), arithmetic)), communicator,
                                     options, ways)})) {
  detail::agree(*communicator, kChangeShards, [&] {
    if (ways.in_place)
      fail(ErrorCode::unsupported, kChangeShards, "numbers in place over ranks", "two arrays");
    state_->changer = sweep_of(plan(), arithmetic, options, communicator->memory());
    const std::uint64_t bytes = std::max<std::uint64_t>(state_->scratch_bytes(), 1);
    if (communicator->memory() == Engine::cuda) {
      state_->on_device.emplace(bytes, communicator->device());
    } else {
      state_->on_host.resize(bytes);
    }
    return to_text(arithmetic);
  });
}

ShardedArithmetic::ShardedArithmetic(ShardedArithmetic&&) noexcept = default;
ShardedArithmetic& ShardedArithmetic::operator=(ShardedArithmetic&&) noexcept = default;
ShardedArithmetic::~ShardedArithmetic() = default;

void ShardedArithmetic::run(const NumberArray& in, void* out, std::uint64_t out_count,
                            const NumberArray& addend, Stream stream) {
  State& of = *state_;
  const ShardPlan& moved = of.mover.plan();
  detail::agree(of.mover.communicator(), "run shards", [&] {
    const auto require = [](const char* role, const NumberArray& array, std::uint64_t wanted) {
      if (array.count == wanted && (array.data != nullptr || wanted == 0)) return;
      fail(ErrorCode::value, "run shards",
           fmt::format("{} {} of {} numbers", array.data == nullptr ? "a null" : "an", role, array.count),
           fmt::format("{}, this rank's part", wanted));
    };
    require("input", in, moved.in_elements());
    require("output", {out, out_count}, moved.out_elements());
    const bool adds = of.arithmetic.addend.has_value();
    require("added array", addend, adds ? moved.out_elements() : 0);
    return std::string();
  });
  std::byte* const scratch = of.scratch();
  const auto read = [&](const void* data, std::uint64_t count) {
    return NumberArray{count == 0 ? scratch : data, count};
  };
  if (of.first) {
    of.changer->run(read(in.data, in.count), scratch, in.count, {}, stream);
    of.mover.run(scratch, moved.in_bytes(), out, moved.out_bytes(), stream);
  } else {
    of.mover.run(in.data, moved.in_bytes(), scratch, moved.out_bytes(), stream);
    of.changer->run(read(scratch, out_count), out_count == 0 ? scratch : out, out_count,
                    out_count == 0 ? NumberArray{} : addend, stream);
  }
}

void ShardedArithmetic::wait(Stream stream) { state_->mover.wait(stream); }

bool ShardedArithmetic::converts_first() const { return state_->first; }
const ShardedPlan& ShardedArithmetic::mover() const { return state_->mover; }
const ShardPlan& ShardedArithmetic::plan() const { return state_->mover.plan(); }

std::string ShardedArithmetic::explain() const {
  return fmt::format("numbers         changed {}: {} to {}\n",
                     converts_first() ? "before they are sent" : "after they are received",
                     name(state_->arithmetic.from), name(state_->arithmetic.to)) +
         state_->changer->explain() + state_->mover.explain();
}

}  // namespace faro
