// Plans of shards: what one rank packs, sends, receives and unpacks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using ShardPlanHandle = Handle<faro_shard_plan, faro_shard_plan_destroy>;

// (ranks, rank, cut of the input, cut of the output), as Python has them.
using Cuts = std::tuple<int, int, std::string, std::string>;

using Messages = std::vector<std::tuple<int, std::uint64_t, std::uint64_t>>;

Messages messages_of(const ShardPlanHandle& self, bool received) {
  const faro_shard_message* messages = nullptr;
  std::uint64_t count = 0;
  check(faro_shard_plan_messages(self.plan.get(), received ? 1 : 0, &messages, &count));
  Messages made;
  for (std::uint64_t k = 0; k < count; ++k)
    made.emplace_back(messages[k].peer, messages[k].offset_bytes, messages[k].bytes);
  return made;
}

std::optional<PlanHandle> pass_of(const ShardPlanHandle& self, bool unpack, int engine, int threads,
                                  int device) {
  faro_options options{};
  options.engine = static_cast<faro_engine>(engine);
  options.threads = threads;
  options.device = device;
  PlanHandle pass = made_unlocked<PlanHandle>([&](faro_plan** plan) {
    return faro_shard_plan_pass(self.plan.get(), unpack ? 1 : 0, &options, plan);
  });
  if (pass.plan == nullptr) return std::nullopt;
  return pass;
}

}  // namespace

void bind_shards(nb::module_& module) {
  nb::class_<ShardPlanHandle>(module, "ShardPlan")
      .def("bytes",
           [](const ShardPlanHandle& self) {
             std::uint64_t in = 0;
             std::uint64_t out = 0;
             check(faro_shard_plan_bytes(self.plan.get(), &in, &out));
             return std::pair(in, out);
           })
      .def("messages", &messages_of)
      .def("make_pass", &pass_of)
      .def("pass_map",
           [](const ShardPlanHandle& self, bool unpack) -> std::optional<MapHandle> {
             faro_map* map = nullptr;
             check(faro_shard_plan_pass_map(self.plan.get(), unpack ? 1 : 0, &map));
             if (map == nullptr) return std::nullopt;
             MapHandle handle;
             handle.map.reset(map);
             return handle;
           })
      .def("explain",
           [](const ShardPlanHandle& self) {
             return told([&](char** text) { return faro_shard_plan_explain(self.plan.get(), text); });
           })
      .def("explain_json", [](const ShardPlanHandle& self) {
        return told([&](char** text) { return faro_shard_plan_explain_json(self.plan.get(), text); });
      });
  module.def("shard_plan_text", [](const std::string& text, const std::vector<std::uint64_t>& shape,
                                   std::uint64_t element_bytes, const Cuts& cuts) {
    const auto& [ranks, rank, in, out] = cuts;
    const char* const said = c_text(text);
    const char* const before = c_text(in);
    const char* const after = c_text(out);
    return made_unlocked<ShardPlanHandle>([&, ranks = ranks, rank = rank](faro_shard_plan** plan) {
      return faro_shard_plan_text(said, static_cast<int>(shape.size()), shape.data(), element_bytes, ranks,
                                  rank, before, after, plan);
    });
  });
  module.def("shard_plan_map", [](const MapHandle& map, std::uint64_t element_bytes, const Cuts& cuts) {
    const auto& [ranks, rank, in, out] = cuts;
    const char* const before = c_text(in);
    const char* const after = c_text(out);
    return made_unlocked<ShardPlanHandle>([&, ranks = ranks, rank = rank](faro_shard_plan** plan) {
      return faro_shard_plan_map(map.map.get(), element_bytes, ranks, rank, before, after, plan);
    });
  });
}

}  // namespace faro::python
