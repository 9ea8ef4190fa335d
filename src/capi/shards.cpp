// Shards for C: the plan of a rank, its passes as plans, its messages; ranks on GPUs by NCCL, with the
// caller's words.
#include "faro/shards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/plans.hpp"
#include "capi/status.hpp"
#include "permutation/text.hpp"
#include "plan/form_to_run.hpp"
#include "shard/methods.hpp"

struct faro_shard_plan {
  explicit faro_shard_plan(faro::ShardPlan made) : plan(std::move(made)) {
    for (const faro::ShardMessage& each : plan.sends())
      sends.push_back({.peer = each.peer, .offset_bytes = each.offset_bytes, .bytes = each.bytes});
    for (const faro::ShardMessage& each : plan.receives())
      receives.push_back({.peer = each.peer, .offset_bytes = each.offset_bytes, .bytes = each.bytes});
  }

  faro::ShardPlan plan;
  std::vector<faro_shard_message> sends;
  std::vector<faro_shard_message> receives;
};

namespace faro::capi {
namespace {

constexpr const char* kPlanShards = "plan shards";

// How to say of the whole array what was asked of one axis, the last that has as many places: of rolls and
// flips, which have a text of their own. flip(K) is along axis K wherever there is one.
std::string whole_array_remedy(const Shape& shape, const Permutation& asked) {
  if (shape.size() < 2) return "";
  const std::uint64_t count = element_count(asked);
  const auto* const given = std::get_if<Cyclic>(&asked);
  const bool named = given != nullptr && count < shape.size() && *given == maps::flip(count);
  const auto found = std::find(shape.rbegin(), shape.rend(), count);
  Permutation simplest = normal_form(asked);
  if (const auto* const map = std::get_if<Affine>(&simplest)) {
    if (auto form = faro::detail::form_of_any_width(*map)) simplest = *std::move(form);
  }
  const auto* const cyclic = std::get_if<Cyclic>(&simplest);
  if (!named && (found == shape.rend() || cyclic == nullptr)) return "";
  const std::size_t axis = named ? count : static_cast<std::size_t>(shape.rend() - found) - 1;
  const Cyclic move = named ? maps::flip(shape[axis]) : *cyclic;
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // shift - x is count - 1 - x, moved on by shift + 1.
  std::vector<std::uint64_t> rolls(shape.size(), 0);
  rolls[axis] = move.reversed && move.count > 0 ? (move.shift + 1) % move.count : move.shift;
  return fmt::format("`axes({}; {}; {}{})` does that along axis {}", fmt::join(shape, " "),
                     fmt::join(order, " "), fmt::join(rolls, " "),
                     move.reversed ? fmt::format("; {}", axis) : std::string(), axis);
}

faro::Shards shards_of(int ranks, int rank, const char* cut_in, const char* cut_out) {
  const auto cut = [](const char* text) { return parse_cut(text == nullptr ? "" : text); };
  return {.ranks = ranks, .rank = rank, .in = cut(cut_in), .out = cut(cut_out)};
}

// An array of a shape is permuted whole: nothing is done along one of its axes unless the text says so.
void check_whole_array(const faro::detail::NotedPermutation& read, const Shape& shape, const char* text) {
  const std::uint64_t count = element_count(read.parsed.permutation);
  const std::uint64_t given = product(shape);
  if (count != given) {
    fail(ErrorCode::value, kPlanShards, fmt::format("`{}` of {} elements", text, count),
         fmt::format("a map of all {} of shape {}", given, fmt::join(shape, "x")),
         whole_array_remedy(shape, read.parsed.permutation));
  }
  require_named_shape(read, shape, kPlanShards);
}

const ShardPass& pass_of(const faro_shard_plan& plan, int unpack) {
  return unpack != 0 ? plan.plan.unpack() : plan.plan.pack();
}

faro_plan* new_pass(const faro_shard_plan& plan, int unpack, const PlanOptions& options) {
  const ShardPass& pass = pass_of(plan, unpack);
  const std::uint64_t width = plan.plan.problem().element_bytes;
  if (pass.permutation) {
    PlanOptions own = options;
    if (pass.keeps_order) own.index_choice.method = faro::IndexMethod::direct;
    return new_map_plan({.permutation = *pass.permutation, .element_bytes = width}, own);
  }
  std::vector<faro::detail::AxisMap> views;
  for (const Strided& view : pass.views) views.push_back(faro::detail::axis_map(view));
  return new_view_plan(views, width, options);
}

// --- ranks on GPUs

constexpr const char* kMakeRanks = "make a communicator of NCCL";

// What the caller's function carries.
class CallersWords : public Communicator {
 public:
  explicit CallersWords(const faro_words& words) : words_(words) {}

  int ranks() const override { return words_.ranks; }
  int rank() const override { return words_.rank; }
  std::string name() const override { return "words"; }
  Engine memory() const override { return Engine::cpu; }
  Communicator* host() override { return nullptr; }
  void exchange(const void*, std::span<const ShardMessage>, void*, std::span<const ShardMessage>,
                Stream) override {
    fail(ErrorCode::unsupported, "exchange arrays", "a communicator of words", "one of arrays");
  }

  std::vector<std::string> all_gather(const std::string& mine) override {
    if (!ended_.empty()) fail(ErrorCode::device, "exchange words", ended_, "ranks that all go on");
    std::vector<std::string> all;
    const auto take = [](void* to, const char* text, std::uint64_t bytes) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(text, bytes);
    };
    const int failed = words_.all_gather(words_.context, mine.data(), mine.size(), &all, take);
    if (failed == 0 && all.size() == static_cast<std::size_t>(words_.ranks)) return all;
    ended_ = failed != 0 ? "a failed all_gather of the caller's"
                         : "words of " + std::to_string(all.size()) + " ranks";
    fail(ErrorCode::device, "exchange words", ended_,
         "words of all " + std::to_string(words_.ranks) + " ranks");
  }

  // The caller's own time limit ends the others' wait.
  void abort(const std::string& why) noexcept override {
    try {
      ended_ = why;
    } catch (const std::exception&) {
      return;
    }
  }

 private:
  faro_words words_;
  std::string ended_;
};

void check_words(const faro_words& words) {
  require_zeros(words.reserved, kMakeRanks);
  if (words.all_gather == nullptr)
    fail(ErrorCode::value, kMakeRanks, "words without all_gather", "a function that carries them");
  if (words.ranks < 1 || words.rank < 0 || words.rank >= words.ranks) {
    fail(ErrorCode::value, kMakeRanks,
         "rank " + std::to_string(words.rank) + " of " + std::to_string(words.ranks), "one of 1 or more");
  }
}

constexpr const char* kShardedPlan = "make a plan of shards";
constexpr const char* kShardedArithmetic = "change numbers of shards";

// What callers ask of the local passes, and of the plan over ranks.
PlanOptions local_options(const faro_options* options) {
  if (options == nullptr) return {};
  faro_options local = *options;
  local.memory_bytes = 0;
  return plan_options(&local);
}

ShardWays ways_of(const faro_options* options, int without_stores) {
  return {.stores = without_stores == 0, .memory_bytes = options == nullptr ? 0 : options->memory_bytes};
}

}  // namespace
}  // namespace faro::capi

struct faro_communicator {
  std::shared_ptr<faro::Communicator> ranks;
};

struct faro_sharded_plan {
  faro::ShardedPlan plan;
};

struct faro_sharded_arithmetic {
  faro::ShardedArithmetic plan;
  bool adds;
};

using faro::capi::given_away;
using faro::capi::guarded;
using faro::capi::kMakeRanks;
using faro::capi::kPlanShards;
using faro::capi::kShardedArithmetic;
using faro::capi::kShardedPlan;
using faro::capi::require_argument;

faro_status faro_shard_plan_text(const char* text, int axes, const uint64_t* shape, uint64_t element_bytes,
                                 int ranks, int rank, const char* cut_in, const char* cut_out,
                                 faro_shard_plan** plan) {
  return guarded([&] {
    require_argument(kPlanShards, {{text, "text"}, {plan, "plan"}});
    const std::size_t count = faro::capi::checked_rank(kPlanShards, axes);
    if (count > 0) require_argument(shape, kPlanShards, "shape");
    faro::ParseOptions options;
    if (count > 0) options.shape = std::vector<std::uint64_t>(shape, shape + count);
    const faro::detail::NotedPermutation read = faro::detail::parse_with_notes(text, options);
    if (options.shape) faro::capi::check_whole_array(read, *options.shape, text);
    faro::ShardProblem problem{.permutation = read.parsed.permutation,
                               .element_bytes = element_bytes,
                               .shards = faro::capi::shards_of(ranks, rank, cut_in, cut_out)};
    faro::detail::count_axes(problem, read);
    *plan = new faro_shard_plan(faro::ShardPlan(problem));
  });
}

faro_status faro_shard_plan_map(const faro_map* map, uint64_t element_bytes, int ranks, int rank,
                                const char* cut_in, const char* cut_out, faro_shard_plan** plan) {
  return guarded([&] {
    require_argument(kPlanShards, {{map, "map"}, {plan, "plan"}});
    *plan =
        new faro_shard_plan(faro::ShardPlan({.permutation = map->permutation,
                                             .element_bytes = element_bytes,
                                             .shards = faro::capi::shards_of(ranks, rank, cut_in, cut_out)}));
  });
}

void faro_shard_plan_destroy(faro_shard_plan* plan) { delete plan; }

faro_status faro_shard_plan_bytes(const faro_shard_plan* plan, uint64_t* in_bytes, uint64_t* out_bytes) {
  return guarded([&] {
    require_argument(kPlanShards, {{plan, "plan"}, {in_bytes, "in_bytes"}, {out_bytes, "out_bytes"}});
    *in_bytes = plan->plan.in_bytes();
    *out_bytes = plan->plan.out_bytes();
  });
}

faro_status faro_shard_plan_messages(const faro_shard_plan* plan, int received,
                                     const faro_shard_message** messages, uint64_t* count) {
  return guarded([&] {
    require_argument(kPlanShards, {{plan, "plan"}, {messages, "messages"}, {count, "count"}});
    const auto& asked = received != 0 ? plan->receives : plan->sends;
    *messages = asked.data();
    *count = asked.size();
  });
}

faro_status faro_shard_plan_pass(const faro_shard_plan* plan, int unpack, const faro_options* options,
                                 faro_plan** pass) {
  return guarded([&] {
    require_argument(kPlanShards, {{plan, "plan"}, {pass, "pass"}});
    const faro::PlanOptions planned = faro::capi::plan_options(options);
    const bool is_empty = (unpack != 0 ? plan->plan.out_elements() : plan->plan.in_elements()) == 0;
    *pass = is_empty || faro::capi::pass_of(*plan, unpack).is_nothing()
                ? nullptr
                : faro::capi::new_pass(*plan, unpack, planned);
  });
}

faro_status faro_shard_plan_pass_map(const faro_shard_plan* plan, int unpack, faro_map** map) {
  return guarded([&] {
    require_argument(kPlanShards, {{plan, "plan"}, {map, "map"}});
    const faro::ShardPass& pass = faro::capi::pass_of(*plan, unpack);
    if (!pass.permutation && !pass.is_nothing()) {
      faro::fail(faro::ErrorCode::unsupported, kPlanShards, "a pass of boxes",
                 "a permutation of the whole part", "faro_shard_plan_pass plans boxes");
    }
    *map = pass.permutation ? new faro_map{*pass.permutation} : nullptr;
  });
}

faro_status faro_shard_plan_explain(const faro_shard_plan* plan, char** text) {
  return guarded([&] {
    require_argument(kPlanShards, {{plan, "plan"}, {text, "text"}});
    *text = given_away(plan->plan.explain());
  });
}

faro_status faro_shard_plan_explain_json(const faro_shard_plan* plan, char** json) {
  return guarded([&] {
    require_argument(kPlanShards, {{plan, "plan"}, {json, "json"}});
    *json = given_away(plan->plan.explain_json());
  });
}

faro_status faro_communicator_nccl(const faro_words* words, int device, double seconds,
                                   faro_communicator** communicator) {
  return guarded([&] {
    require_argument(kMakeRanks, {{words, "words"}, {communicator, "communicator"}});
    faro::capi::check_words(*words);
    if (!(seconds >= 0) || seconds > 1e6) {
      fail(faro::ErrorCode::value, kMakeRanks, "a time limit of " + std::to_string(seconds) + " s",
           "0, which is five minutes, to 1e6");
    }
    const auto limit = seconds == 0 ? faro::kShardTimeLimit
                                    : std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
    *communicator = new faro_communicator{
        faro::nccl_communicator(device, std::make_shared<faro::capi::CallersWords>(*words), limit)};
  });
}

void faro_communicator_destroy(faro_communicator* communicator) { delete communicator; }

faro_status faro_sharded_plan_create(const faro_shard_plan* plan, faro_communicator* communicator,
                                     const faro_options* options, int without_stores,
                                     faro_sharded_plan** sharded) {
  return guarded([&] {
    require_argument(kShardedPlan, {{plan, "plan"}, {communicator, "communicator"}, {sharded, "sharded"}});
    *sharded = new faro_sharded_plan{faro::ShardedPlan(plan->plan, communicator->ranks,
                                                       faro::capi::local_options(options),
                                                       faro::capi::ways_of(options, without_stores))};
  });
}

void faro_sharded_plan_destroy(faro_sharded_plan* sharded) { delete sharded; }

faro_status faro_sharded_plan_run(faro_sharded_plan* sharded, const void* in, uint64_t in_bytes, void* out,
                                  uint64_t out_bytes, void* stream) {
  return guarded([&] {
    require_argument(sharded, "run shards", "sharded");
    sharded->plan.run(in, in_bytes, out, out_bytes, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_sharded_plans_run(const faro_sharded_run* runs, uint64_t count, void* stream) {
  return guarded([&] {
    faro::capi::require_structures(runs, count, "run shards", "runs");
    std::vector<faro::ShardedRun> all;
    for (const faro_sharded_run& each : std::span(runs, count)) {
      require_argument(each.sharded, "run shards", "sharded");
      all.push_back({.plan = &each.sharded->plan,
                     .in = each.in,
                     .in_bytes = each.in_bytes,
                     .out = each.out,
                     .out_bytes = each.out_bytes});
    }
    faro::ShardedPlan::run_all(all, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_sharded_plan_wait(faro_sharded_plan* sharded, void* stream) {
  return guarded([&] {
    require_argument(sharded, "run shards", "sharded");
    sharded->plan.wait(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_sharded_plan_explain(const faro_sharded_plan* sharded, char** text) {
  return guarded([&] {
    require_argument(kShardedPlan, {{sharded, "sharded"}, {text, "text"}});
    *text = given_away(sharded->plan.explain());
  });
}

faro_status faro_sharded_arithmetic_create(const faro_shard_plan* plan, const faro_arithmetic* arithmetic,
                                           faro_communicator* communicator, const faro_options* options,
                                           int without_stores, faro_sharded_arithmetic** sharded) {
  return guarded([&] {
    require_argument(
        kShardedArithmetic,
        {{plan, "plan"}, {arithmetic, "arithmetic"}, {communicator, "communicator"}, {sharded, "sharded"}});
    const faro::Arithmetic made = faro::capi::arithmetic_in(*arithmetic);
    faro::capi::require_dense_addend(*arithmetic);
    *sharded = new faro_sharded_arithmetic{
        .plan = faro::ShardedArithmetic(plan->plan.problem(), made, communicator->ranks,
                                        faro::capi::local_options(options),
                                        faro::capi::ways_of(options, without_stores)),
        .adds = made.addend.has_value()};
  });
}

void faro_sharded_arithmetic_destroy(faro_sharded_arithmetic* sharded) { delete sharded; }

faro_status faro_sharded_arithmetic_counts(const faro_sharded_arithmetic* sharded, uint64_t* in_count,
                                           uint64_t* out_count) {
  return guarded([&] {
    require_argument(kShardedArithmetic,
                     {{sharded, "sharded"}, {in_count, "in_count"}, {out_count, "out_count"}});
    *in_count = sharded->plan.plan().in_elements();
    *out_count = sharded->plan.plan().out_elements();
  });
}

faro_status faro_sharded_arithmetic_run(faro_sharded_arithmetic* sharded, const void* in, const void* addend,
                                        void* out, void* stream) {
  return guarded([&] {
    require_argument(sharded, "run shards", "sharded");
    const faro::ShardPlan& plan = sharded->plan.plan();
    sharded->plan.run({in, plan.in_elements()}, out, plan.out_elements(),
                      {addend, sharded->adds ? plan.out_elements() : 0},
                      faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_sharded_arithmetic_wait(faro_sharded_arithmetic* sharded, void* stream) {
  return guarded([&] {
    require_argument(sharded, "run shards", "sharded");
    sharded->plan.wait(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_sharded_arithmetic_explain(const faro_sharded_arithmetic* sharded, char** text) {
  return guarded([&] {
    require_argument(kShardedArithmetic, {{sharded, "sharded"}, {text, "text"}});
    *text = given_away(sharded->plan.explain());
  });
}
