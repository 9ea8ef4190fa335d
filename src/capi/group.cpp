// Groups, for C.
#include "faro/group.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/group_parts.hpp"
#include "capi/plans.hpp"
#include "capi/status.hpp"
#include "capi/view_shapes.hpp"
#include "faro/error.hpp"
#include "faro/faro.h"
#include "permutation/axis_map.hpp"
#include "permutation/text.hpp"

struct faro_group {
  faro::Group group;
};

namespace faro::capi {
namespace {

using faro::detail::GroupPart;

constexpr const char* kGrouping = "plan a group";

// Texts that were read, and arithmetic: members that say the same share them.
class SharedMembers {
 public:
  const Problem& problem_of(const faro_group_member& of) {
    const Shape shape = given_shape(of.rank, of.shape);
    std::string key = of.text;
    for (const std::uint64_t extent : shape) key += "," + std::to_string(extent);
    const auto [found, is_new] = texts_.try_emplace(std::move(key));
    if (is_new) found->second = read(of.text, shape);
    return found->second;
  }

  std::shared_ptr<const Arithmetic> arithmetic_of(const faro_arithmetic* of) {
    if (of == nullptr) return nullptr;
    auto& shared = arithmetic_[of];
    if (shared == nullptr) shared = std::make_shared<const Arithmetic>(arithmetic_in(*of));
    return shared;
  }

 private:
  static Problem read(const char* text, const Shape& shape) {
    if (is_strided_text(text)) return {.view = parse_strided(text)};
    ParseOptions options;
    if (!shape.empty()) options.shape = shape;
    const faro::detail::NotedPermutation named = faro::detail::parse_with_notes(text, options);
    require_named_shape(named, shape, kGrouping);
    return {.permutation = named.parsed.permutation};
  }

  std::unordered_map<std::string, Problem> texts_;
  std::unordered_map<const faro_arithmetic*, std::shared_ptr<const Arithmetic>> arithmetic_;
};

class GroupParts {
 public:
  void add(const faro_group_member& of, std::size_t member) {
    require_zeros(of.reserved, kGrouping);
    const int given = (of.plan != nullptr ? 1 : 0) + (of.view != nullptr ? 1 : 0) +
                      (of.text != nullptr ? 1 : 0) + (of.rows != nullptr ? 1 : 0);
    if (given != 1) {
      fail(ErrorCode::value, kGrouping, std::to_string(given) + " of plan, view, text and rows",
           "one of them");
    }
    if (of.plan != nullptr) return add_plan(*of.plan, of, member);
    GroupMember what{.in = of.in, .out = of.out};
    if (of.rows != nullptr) {
      what.rows = &rows_of(*of.rows);
      return push(what, member);
    }
    what.arithmetic = shared_.arithmetic_of(of.arithmetic);
    if (of.text != nullptr) {
      what.problem = shared_.problem_of(of);
      if (of.batch > 0) what.problem.batch = of.batch;
      if (of.in_place != 0) what.problem.placement = Placement::in_place;
      what.problem.element_bytes = of.element_bytes;
      if (what.arithmetic == nullptr) what.problem = of_any_width(std::move(what.problem));
      return push(what, member);
    }
    add_view(*of.view, of.element_bytes, what, member);
  }

  const std::vector<GroupPart>& all() const { return parts_; }

 private:
  void push(const GroupMember& what, std::size_t member) {
    parts_.push_back({.what = what, .member = member});
  }

  // Views are counted from the addresses that a run is given, to which negative strides may lead back.
  void add_view(const faro_view& view, std::uint64_t element_bytes, GroupMember what, std::size_t member) {
    Strided strided = given_view(view);
    const auto in_lowest = -static_cast<std::int64_t>(strided.in_offset);
    const auto out_lowest = -static_cast<std::int64_t>(strided.out_offset);
    const auto width_of = [&](std::optional<Number> number) {
      return static_cast<std::int64_t>(number ? bytes_of(*number) : element_bytes);
    };
    const auto& changed = what.arithmetic;
    what.in_offset_bytes =
        (view.in_corner + in_lowest) * width_of(changed ? std::optional(changed->from) : std::nullopt);
    what.out_offset_bytes =
        (view.out_corner + out_lowest) * width_of(changed ? std::optional(changed->to) : std::nullopt);
    what.problem = {.element_bytes = element_bytes, .view = std::move(strided)};
    push(what, member);
  }

  // What is no index array, and not in place, is planned with the group.
  void add_plan(const faro_plan& plan, const faro_group_member& of, std::size_t member) {
    if (of.arithmetic != nullptr)
      fail(ErrorCode::value, kGrouping, "arithmetic with a plan", "a view or a text with arithmetic");
    if (plan.map() != nullptr && plan.steps.size() > 1) {
      fail(ErrorCode::unsupported, kGrouping, "a map of an array with strides", "a plan of one sweep",
           "make it dense first");
    }
    const auto width = static_cast<std::int64_t>(plan.element_bytes);
    for (const Step& step : plan.steps) {
      GroupMember what{.in = of.in,
                       .out = of.out,
                       .in_offset_bytes = step.in_first * width,
                       .out_offset_bytes = step.out_first * width};
      const bool is_kept = std::holds_alternative<Indexed>(step.plan.plan().given().permutation) ||
                           step.problem.placement == Placement::in_place;
      if (is_kept) {
        what.plan = &step.plan;
      } else {
        what.problem = step.problem;
      }
      push(what, member);
    }
  }

  SharedMembers shared_;
  std::vector<GroupPart> parts_;
};

// The first kept plan's engine, where nothing else is said.
Engine engine_of_members(const faro_group_member* members, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (members[i].plan != nullptr) return members[i].plan->steps.front().plan.engine();
    if (members[i].rows != nullptr) return rows_of(*members[i].rows).plan().target().engine;
  }
  return Engine::cpu;
}

void require_engine(const faro_group_member& of, Engine engine) {
  if (of.plan == nullptr || of.plan->steps.front().plan.engine() == engine) return;
  fail(ErrorCode::value, kGrouping,
       std::string("a plan of engine ") + name(of.plan->steps.front().plan.engine()),
       std::string("one of the group's, ") + name(engine));
}

faro_group* new_group(const faro_group_member* members, std::uint64_t count, const faro_options* options) {
  const PlanOptions asked = plan_options(options);
  GroupOptions made{.engine = asked.engine, .threads = asked.threads, .device = asked.device};
  if (made.engine == Engine::automatic) made.engine = engine_of_members(members, count);
  GroupParts parts;
  for (std::uint64_t i = 0; i < count; ++i) {
    try {
      require_engine(members[i], made.engine);
      parts.add(members[i], i);
    } catch (const Error& error) {
      ErrorReport report = error.report();
      report.got = "member " + std::to_string(i) + ": " + report.got;
      throw Error(std::move(report));
    }
  }
  return new faro_group{faro::detail::plan_group(parts.all(), count, made)};
}

const Group& ready_group(const faro_group* group, const char* operation) {
  require_argument(group, operation, "group");
  return group->group;
}

void run_group(const Group& group, const void* const* ins, void* const* outs, Workspace workspace,
               void* stream) {
  const Endable endable(group.moved_bytes() / 2);
  const Stream queue(static_cast<CUstream_st*>(stream));
  if (ins == nullptr && outs == nullptr) return group.run({}, {}, workspace, queue);
  require_argument("run a group", {{ins, "ins"}, {outs, "outs"}});
  group.run(std::span(ins, group.size()), std::span(outs, group.size()), workspace, queue);
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_group_create(const faro_group_member* members, uint64_t count, const faro_options* options,
                              faro_group** group) {
  return guarded([&] {
    faro::capi::require_structures(members, count, "plan a group", "members");
    require_argument(group, "plan a group", "group");
    *group = faro::capi::new_group(members, count, options);
  });
}

void faro_group_destroy(faro_group* group) { delete group; }

faro_status faro_group_run(const faro_group* group, void* stream) {
  return guarded([&] {
    faro::capi::run_group(faro::capi::ready_group(group, "run a group"), nullptr, nullptr, {}, stream);
  });
}

faro_status faro_group_run_arrays(const faro_group* group, const void* const* ins, void* const* outs,
                                  void* stream) {
  return guarded([&] {
    const faro::Group& ready = faro::capi::ready_group(group, "run a group");
    if (ready.size() == 0) return;
    require_argument("run a group", {{ins, "ins"}, {outs, "outs"}});
    faro::capi::run_group(ready, ins, outs, {}, stream);
  });
}

faro_status faro_group_run_in_workspace(const faro_group* group, const void* const* ins, void* const* outs,
                                        void* workspace, uint64_t workspace_bytes, void* stream) {
  return guarded([&] {
    faro::capi::run_group(faro::capi::ready_group(group, "run a group"), ins, outs,
                          {.data = workspace, .bytes = workspace_bytes}, stream);
  });
}

faro_status faro_group_run_table(const faro_group* group, const void* const* device_pointers, void* stream) {
  return guarded([&] {
    faro::capi::ready_group(group, "run a group")
        .run_table(device_pointers, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_group_workspace_bytes(const faro_group* group, uint64_t* bytes) {
  return guarded([&] {
    require_argument(bytes, "measure a group", "bytes");
    *bytes = faro::capi::ready_group(group, "measure a group").workspace_bytes();
  });
}

faro_status faro_group_facts(const faro_group* group, uint64_t* members, uint64_t* launches,
                             uint64_t* moved_bytes, int* on_gpu) {
  return guarded([&] {
    const faro::Group& ready = faro::capi::ready_group(group, "tell of a group");
    if (members != nullptr) *members = ready.size();
    if (launches != nullptr) *launches = ready.launches();
    if (moved_bytes != nullptr) *moved_bytes = ready.moved_bytes();
    if (on_gpu != nullptr) *on_gpu = ready.engine() == faro::Engine::cuda ? 1 : 0;
  });
}

faro_status faro_group_predicted_us(const faro_group* group, double* microseconds) {
  return guarded([&] {
    require_argument(microseconds, "tell of a group", "microseconds");
    *microseconds = faro::capi::ready_group(group, "tell of a group")
                        .predicted_us()
                        .value_or(std::numeric_limits<double>::quiet_NaN());
  });
}

faro_status faro_group_explain(const faro_group* group, char** text) {
  return guarded([&] {
    require_argument(text, "tell of a group", "text");
    *text = faro::capi::given_away(faro::capi::ready_group(group, "tell of a group").explain());
  });
}
