// Plans of shards: what one rank packs, sends, receives and unpacks; ranks on GPUs by NCCL, with words that
// Python carries.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forward.hpp"
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

// A communicator, and how its words go: a function of Python that gives a list of all ranks' bytes.
struct NcclRanks {
  nb::object all_gather;
  std::unique_ptr<faro_communicator, Destroyer<faro_communicator_destroy>> communicator = nullptr;
};

int gather_words(void* context, const char* mine, std::uint64_t bytes, void* taker,
                 void (*take)(void* taker, const char* text, std::uint64_t bytes)) {
  const nb::gil_scoped_acquire held;
  if (PyErr_Occurred() != nullptr) return 1;
  try {
    const nb::object all = static_cast<NcclRanks*>(context)->all_gather(nb::bytes(mine, bytes));
    for (const nb::handle each : all) {
      const auto theirs = nb::cast<nb::bytes>(each);
      take(taker, theirs.c_str(), theirs.size());
    }
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return 1;
}

std::unique_ptr<NcclRanks> nccl_ranks(int ranks, int rank, int device, nb::object all_gather) {
  auto made = std::make_unique<NcclRanks>(NcclRanks{.all_gather = std::move(all_gather)});
  faro_words words{};
  words.context = made.get();
  words.ranks = ranks;
  words.rank = rank;
  words.all_gather = gather_words;
  faro_communicator* communicator = nullptr;
  do_unlocked([&] { return faro_communicator_nccl(&words, device, 0, &communicator); });
  made->communicator.reset(communicator);
  return made;
}

using ShardedHandle = Handle<faro_sharded_plan, faro_sharded_plan_destroy>;
// An input and an output: address and bytes of each.
using Ends = std::pair<std::pair<std::uintptr_t, std::uint64_t>, std::pair<std::uintptr_t, std::uint64_t>>;

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
      .def("explain", tells<ShardPlanHandle>(faro_shard_plan_explain))
      .def("explain_json", tells<ShardPlanHandle>(faro_shard_plan_explain_json));
  nb::class_<NcclRanks>(module, "NcclRanks")
      .def(
          "plan",
          [](const NcclRanks& self, const ShardPlanHandle& plan, std::uint64_t memory_bytes) {
            return made_unlocked<ShardedHandle>([&](faro_sharded_plan** sharded) {
              faro_options options{};
              options.memory_bytes = memory_bytes;
              return faro_sharded_plan_create(plan.plan.get(), self.communicator.get(), &options, 0, sharded);
            });
          },
          nb::keep_alive<0, 1>());
  nb::class_<ShardedHandle>(module, "ShardedPlan")
      .def("run",
           [](const ShardedHandle& self, const std::pair<std::uintptr_t, std::uint64_t>& in,
              const std::pair<std::uintptr_t, std::uint64_t>& out, std::uintptr_t stream) {
             // NOLINTBEGIN(performance-no-int-to-ptr)
             do_unlocked([&] {
               return faro_sharded_plan_run(self.plan.get(), reinterpret_cast<const void*>(in.first),
                                            in.second, reinterpret_cast<void*>(out.first), out.second,
                                            reinterpret_cast<void*>(stream));
             });
             // NOLINTEND(performance-no-int-to-ptr)
           })
      .def("explain", tells<ShardedHandle>(faro_sharded_plan_explain));
  module.def("run_sharded_plans", [](const std::vector<const ShardedHandle*>& plans,
                                     const std::vector<Ends>& ends, std::uintptr_t stream) {
    std::vector<faro_sharded_run> runs;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto& [in, out] = ends.at(i);
      // NOLINTBEGIN(performance-no-int-to-ptr)
      runs.push_back({.sharded = plans[i]->plan.get(),
                      .in = reinterpret_cast<const void*>(in.first),
                      .in_bytes = in.second,
                      .out = reinterpret_cast<void*>(out.first),
                      .out_bytes = out.second});
      // NOLINTEND(performance-no-int-to-ptr)
    }
    do_unlocked([&] {
      return faro_sharded_plans_run(runs.data(), runs.size(),
                                    reinterpret_cast<void*>(stream));  // NOLINT(performance-no-int-to-ptr)
    });
  });
  module.def("nccl_ranks", &nccl_ranks);
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
