// A plan of shards, ready to run: its local passes as executable plans, its workspace, and its agreement with
// the other ranks.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/shards.hpp"
#include "io/buffer.hpp"
#include "shard/methods.hpp"

namespace faro {
namespace {

constexpr const char* kRunShards = "run shards";

// A local pass, from array to array. Nothing: no pass.
class LocalPass {
 public:
  LocalPass(const ShardPass& pass, std::uint64_t elements, std::uint64_t width, const PlanOptions& options)
      : elements_(elements), width_(width) {
    if (elements == 0 || pass.is_nothing()) return;
    if (pass.permutation) {
      whole_.emplace(faro::plan(*pass.permutation, width, options));
      return;
    }
    for (const Strided& view : pass.views) views_.push_back(faro::plan(view, width, options));
  }

  void run(const std::byte* in, std::byte* out, Stream stream) const {
    if (whole_) whole_->run(in, out, elements_ * width_, stream);
    for (const ExecutableStridedPlan& view : views_) view.run(in, elements_, out, elements_, stream);
  }

  std::string explain() const {
    if (whole_) return whole_->explain();
    return views_.empty() ? "" : views_.front().explain();
  }

 private:
  std::uint64_t elements_;
  std::uint64_t width_;
  std::optional<ExecutablePlan> whole_;
  std::vector<ExecutableStridedPlan> views_;
};

// Memory of the engine, or none.
class Staging {
 public:
  Staging(std::uint64_t bytes, Engine engine, int device) {
    if (bytes == 0) return;
    if (engine == Engine::cuda) {
      on_device_.emplace(bytes, device);
      data_ = on_device_->data();
      return;
    }
    detail::require_memory("make a plan of shards", "its workspace", bytes);
    on_host_ = std::make_unique<io::Buffer>(bytes);
    data_ = on_host_->data();
  }
  std::byte* data() const { return data_; }

 private:
  std::unique_ptr<io::Buffer> on_host_;
  std::optional<cuda::DeviceArray> on_device_;
  std::byte* data_ = nullptr;
};

struct Array {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

void check_part(const Array& array, std::uint64_t wanted, const char* role) {
  if (array.bytes != wanted) {
    fail(ErrorCode::value, kRunShards, fmt::format("an {} of {} bytes", role, array.bytes),
         fmt::format("{}, this rank's part", wanted));
  }
  if (array.data == nullptr && wanted > 0)
    fail(ErrorCode::value, kRunShards, fmt::format("a null {}", role), fmt::format("{} bytes", wanted));
}

void check_apart(const Array& in, const Array& out) {
  const auto a = reinterpret_cast<std::uintptr_t>(in.data);
  const auto b = reinterpret_cast<std::uintptr_t>(out.data);
  if (in.bytes == 0 || out.bytes == 0 || a + in.bytes <= b || b + out.bytes <= a) return;
  fail(ErrorCode::value, kRunShards, "an input and an output that overlap", "two arrays");
}

// What all ranks have to have in common.
std::string digest_of(const ShardPlan& plan) {
  const ShardProblem& problem = plan.problem();
  std::string text = fmt::format("{} in {} ranks, elements of {} bytes, {}", to_text(problem.permutation),
                                 problem.shards.ranks, problem.element_bytes, name(plan.method()));
  if (const auto* const indexed = std::get_if<Indexed>(&problem.permutation); indexed != nullptr)
    text += fmt::format(", indices {:016x}", schedule::fingerprint(*indexed));
  const auto add = [&text](const char* what, const ShardCut& cut) {
    text += what;
    if (const auto* const bits = std::get_if<ShardBits>(&cut)) {
      for (const int bit : bits->bits) text += fmt::format(" bit {}", bit);
      return;
    }
    text += fmt::format(" axis {}", std::get<ShardAxis>(cut).axis);
    for (const std::uint64_t extent : std::get<ShardAxis>(cut).extents) text += fmt::format(" {}", extent);
  };
  add(", in by", problem.shards.in);
  add(", out by", problem.shards.out);
  return text;
}

void check_place(const ShardPlan& plan, const Communicator& communicator, const PlanOptions& options) {
  const Shards& shards = plan.problem().shards;
  if (shards.ranks != communicator.ranks() || shards.rank != communicator.rank()) {
    fail(ErrorCode::value, "make a plan of shards",
         fmt::format("the plan of rank {} of {}", shards.rank, shards.ranks),
         fmt::format("that of rank {} of {}", communicator.rank(), communicator.ranks()));
  }
  if (options.engine != Engine::automatic && options.engine != communicator.memory()) {
    fail(ErrorCode::value, "make a plan of shards", fmt::format("engine {}", name(options.engine)),
         fmt::format("{}, whose memory {} takes", name(communicator.memory()), communicator.name()));
  }
}

}  // namespace

struct ShardedPlan::State {
  ShardPlan plan;
  std::shared_ptr<Communicator> communicator;
  std::optional<LocalPass> packing;
  std::optional<LocalPass> unpacking;
  std::optional<Staging> to_send;
  std::optional<Staging> received;
};

ShardedPlan::ShardedPlan(ShardPlan plan, std::shared_ptr<Communicator> communicator,
                         const PlanOptions& options)
    : state_(std::make_unique<State>(State{.plan = std::move(plan),
                                           .communicator = std::move(communicator),
                                           .packing = {},
                                           .unpacking = {},
                                           .to_send = {},
                                           .received = {}})) {
  State& state = *state_;
  if (state.communicator == nullptr)
    fail(ErrorCode::value, "make a plan of shards", "no communicator", "one for each rank");
  detail::agree(*state.communicator, "make a plan of shards", [&] {
    const ShardPlan& made = state.plan;
    check_place(made, *state.communicator, options);
    PlanOptions local = options;
    local.engine = state.communicator->memory();
    if (local.engine == Engine::cuda) local.device = state.communicator->device();
    const std::uint64_t width = made.problem().element_bytes;
    state.packing.emplace(made.pack(), made.in_elements(), width, local);
    state.unpacking.emplace(made.unpack(), made.out_elements(), width, local);
    state.to_send.emplace(made.pack().is_nothing() ? 0 : made.in_bytes(), local.engine, local.device);
    state.received.emplace(made.unpack().is_nothing() ? 0 : made.out_bytes(), local.engine, local.device);
    return digest_of(made);
  });
}

ShardedPlan::ShardedPlan(ShardedPlan&&) noexcept = default;
ShardedPlan& ShardedPlan::operator=(ShardedPlan&&) noexcept = default;
ShardedPlan::~ShardedPlan() = default;

const ShardPlan& ShardedPlan::plan() const { return state_->plan; }
Communicator& ShardedPlan::communicator() const { return *state_->communicator; }

void ShardedPlan::pack(const void* in, Stream stream) {
  state_->packing->run(static_cast<const std::byte*>(in), state_->to_send->data(), stream);
}

void ShardedPlan::exchange(const void* in, void* out, Stream stream) {
  const ShardPlan& plan = state_->plan;
  const void* const from = plan.pack().is_nothing() ? in : state_->to_send->data();
  void* const to = plan.unpack().is_nothing() ? out : state_->received->data();
  state_->communicator->exchange(from, plan.sends(), to, plan.receives(), stream);
}

void ShardedPlan::unpack(void* out, Stream stream) {
  state_->unpacking->run(state_->received->data(), static_cast<std::byte*>(out), stream);
}

void ShardedPlan::run(const void* in, std::uint64_t in_bytes, void* out, std::uint64_t out_bytes,
                      Stream stream) {
  const ShardPlan& plan = state_->plan;
  detail::agree(*state_->communicator, kRunShards, [&] {
    const Array input{.data = in, .bytes = in_bytes};
    const Array output{.data = out, .bytes = out_bytes};
    check_part(input, plan.in_bytes(), "input");
    check_part(output, plan.out_bytes(), "output");
    check_apart(input, output);
    return std::string();
  });
  try {
    pack(in, stream);
    exchange(in, out, stream);
    unpack(out, stream);
  } catch (const std::exception& error) {
    state_->communicator->abort(error.what());
    throw;
  }
}

std::string ShardedPlan::explain() const {
  std::string text = state_->plan.explain();
  text += fmt::format("{:<14}{}\n", "exchange by", state_->communicator->name());
  for (const auto& [what, pass] :
       {std::pair("pack", &state_->packing), std::pair("unpack", &state_->unpacking)}) {
    const std::string local = (*pass)->explain();
    if (!local.empty()) text += fmt::format("\n{}, a plan of the rank's own part:\n{}", what, local);
  }
  return text;
}

}  // namespace faro
