// What a plan of shards has once it is ready to run: its way, its local passes, its memory. How a way is
// chosen and prepared is in sharded_state.cpp, how one array goes in sharded_plan.cpp, and how several do in
// sharded_lists.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda_parts.hpp"
#include "faro/shards.hpp"
#include "shard/device_shards.hpp"
#include "shard/local_pass.hpp"
#include "shard/rounds.hpp"

namespace faro {

/// A round and its passes.
struct RunRound {
  detail::ShardRound round;
  detail::LocalPass packing;
  detail::LocalPass unpacking;
};

struct ShardedPlan::State {
  ShardPlan plan;
  std::shared_ptr<Communicator> communicator;
  ShardWays ways;
  PlanOptions local;
  std::optional<detail::LocalPass> packing = {};
  std::optional<detail::LocalPass> unpacking = {};
  std::optional<detail::Staging> to_send = {};
  std::optional<detail::Staging> received = {};
  std::optional<detail::StoredShards> stores = {};
  std::optional<detail::SlicedShards> slices = {};
  std::optional<detail::SlicedShards> stored_slices = {};  // beside `stores`
  std::vector<RunRound> rounds = {};                       // where there are several
  std::optional<cuda::SideStream> links = {};              // for messages of several arrays,
  std::optional<cuda::SideStream> passes = {};             // and their passes, on what is not the links'
  std::string no_stores = {};                              // why
  std::string reason = {};

  std::uint64_t number_of_rounds = 1;
  bool may_register = true;  // memory_bytes hold all that is sent and all that is received, on every rank
  bool a_view_each = true;   // messages of all ranks, which slices need
  bool wants_two_passes = false;  // for slices between registered arrays
  bool crosses = true;            // any rank sends anything to another

  bool packs() const { return !plan.pack().is_nothing(); }
  bool unpacks() const { return !plan.unpack().is_nothing(); }
  /// Without a packing what is sent would be written over while it is read.
  bool copies_to_send() const { return ways.in_place && !packs() && !unpacks(); }
  /// What run() writes to first, by stores.
  void* stored_into(void* out) const { return plan.stores().to_output ? out : received->data(); }
  detail::SlicedShards::Buffers buffers() const {
    return {.to_send = to_send->data(), .received = received->data()};
  }

  /// What the ranks agree on first; then come, collectively and in this order, their memory, whether anything
  /// crosses, their arrays for messages, and the rest.
  void choose();
  void agree_on_memory();
  void agree_on_crossing();
  void agree_on_messages();
  void prepare();

  void run_rounds(const void* in, void* out, Stream stream);
  /// For the passes by themselves.
  void make_passes();

 private:
  static constexpr int kEightSlicesFromBits = 27;  // 128 MiB

  std::string choose_stores();
  void choose_slices();
  void prepare_rounds();
  void agree_on_views();
  void take_message_arrays();
  void make_buffers(bool sends, bool receives);
};

namespace detail {

inline constexpr const char* kRunShards = "run shards";

/// A rank's part as run() is given it. Errors: ErrorCode::value, with its `role`, for another size and for
/// null.
struct GivenPart {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};
void check_part(const GivenPart& part, std::uint64_t wanted, const char* role);

}  // namespace detail
}  // namespace faro
