// Elements smaller than a byte, for C. Options are JSON.
#include "faro/packed.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "api/plan_cache.hpp"
#include "capi/author_requests.hpp"
#include "capi/status.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/threads.hpp"

namespace faro::capi {
namespace {

constexpr const char* kPacked = "permute packed elements";
constexpr std::uint64_t kMostBits = std::uint64_t{1} << 56;
constexpr std::uint64_t kMostElementBits = 32768;
constexpr std::uint64_t kMostPackedThreads = 1 << 16;
constexpr std::uint64_t kMostDevices = 1 << 16;

BitOrder bit_order(const Request& request, const char* key) {
  const std::string order = request.text(key, "low");
  if (order != "low" && order != "high")
    fail(ErrorCode::value, kPacked, std::string(key) + " = " + order, "low or high");
  return order == "low" ? BitOrder::low_first : BitOrder::high_first;
}

PackedLayout packed_layout(const Request& request, const std::string& side) {
  return {.row_elements = request.number((side + "_row").c_str(), 0, 0, kMostBits),
          .pitch_bits = request.number((side + "_pitch_bits").c_str(), 0, 0, kMostBits),
          .first_bit = request.number((side + "_first_bit").c_str(), 0, 0, kMostBits),
          .order = bit_order(request, (side + "_order").c_str())};
}

Request packed_request(const char* options) {
  return {options,
          kPacked,
          {"bits", "batch", "in_row", "in_pitch_bits", "in_first_bit", "in_order", "out_row",
           "out_pitch_bits", "out_first_bit", "out_order", "zero_pads", "threads", "engine", "device"}};
}

Engine packed_engine(const Request& request, const void* in) {
  const std::string engine = request.text("engine", "auto");
  for (const Engine each : {Engine::automatic, Engine::cpu, Engine::cuda}) {
    if (engine != name(each)) continue;
    return each == Engine::automatic && cuda::is_device_memory(in) ? Engine::cuda : each;
  }
  fail(ErrorCode::value, kPacked, "engine = " + engine, "auto, cpu or cuda");
}

PackedProblem packed_problem(const faro_map* map, const Request& request) {
  return {.permutation = map->permutation,
          .element_bits = static_cast<std::uint32_t>(request.number("bits", 4, 1, kMostElementBits)),
          .batch = request.number("batch", 1, 1, kMostBits),
          .in = packed_layout(request, "in"),
          .out = packed_layout(request, "out"),
          .pads = request.flag("zero_pads") ? PadBits::zero : PadBits::keep};
}

struct PackedKey {
  std::string options;
  Engine engine = Engine::cpu;
  int device = cuda::kCurrentDevice;
  int threads = 0;
  Permutation permutation;
  bool operator==(const PackedKey&) const = default;
};

// Those with index arrays are not kept.
std::shared_ptr<const PackedPlan> packed_plan(const faro_map* map, const char* options, const void* in) {
  // Outlives whatever calls it while the process ends.
  static auto& plans = *new detail::RecentPlans<PackedKey, std::shared_ptr<const PackedPlan>, 64>;
  const Request request = packed_request(options);
  const auto threads = static_cast<int>(request.number("threads", 0, 0, kMostPackedThreads));
  PackedKey key{.options = options == nullptr ? "" : options,
                .engine = packed_engine(request, in),
                .permutation = map->permutation};
  if (key.engine != Engine::cuda) key.threads = detail::thread_count(threads);
  if (request.has("device")) {
    key.device = static_cast<int>(request.number("device", 0, 0, kMostDevices));
  } else if (key.engine == Engine::cuda) {
    key.device = cuda::ordinal_of(cuda::kCurrentDevice);
  }
  if (auto kept = plans.find(key)) return *kept;
  auto plan = std::make_shared<const PackedPlan>(
      packed_problem(map, request),
      PackedOptions{.threads = threads, .engine = key.engine, .device = key.device});
  if (!plan->has_index_array()) plans.keep(key, plan);
  return plan;
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::kPacked;
using faro::capi::packed_plan;
using faro::capi::require_argument;

faro_status faro_packed_bytes(const faro_map* map, const char* options, uint64_t* in_bytes,
                              uint64_t* out_bytes) {
  return guarded([&] {
    require_argument(kPacked, {{map, "map"}, {in_bytes, "in_bytes"}, {out_bytes, "out_bytes"}});
    const faro::PackedProblem problem = faro::capi::packed_problem(map, faro::capi::packed_request(options));
    faro::check(problem);
    const std::uint64_t elements = element_count(problem.permutation) * problem.batch;
    *in_bytes = packed_bytes(problem.in, problem.element_bits, elements);
    *out_bytes = packed_bytes(problem.out, problem.element_bits, elements);
  });
}

faro_status faro_packed_permute(const faro_map* map, const char* options, const void* in, uint64_t in_bytes,
                                void* out, uint64_t out_bytes, void* stream) {
  return guarded([&] {
    require_argument(map, kPacked, "map");
    const auto plan = packed_plan(map, options, in);
    const std::span<std::byte> to(static_cast<std::byte*>(out), out_bytes);
    if (in == out && in != nullptr && in_bytes == out_bytes)
      return plan->run(to, static_cast<CUstream_st*>(stream));
    plan->run(std::span(static_cast<const std::byte*>(in), in_bytes), to, static_cast<CUstream_st*>(stream));
  });
}

faro_status faro_transpose_bed(const char* in, const char* out, uint64_t samples, uint64_t variants,
                               const char* options) {
  return guarded([&] {
    constexpr const char* kBed = "transpose a .bed";
    require_argument(kBed, {{in, "in"}, {out, "out"}});
    const faro::capi::Request request(options, kBed, {"memory_bytes", "threads", "verify"});
    faro::transpose_bed(
        in, out, {.samples = samples, .variants = variants},
        {.memory_bytes = request.number("memory_bytes", 0, 0, std::uint64_t{1} << 62),
         .threads = static_cast<int>(request.number("threads", 0, 0, faro::capi::kMostPackedThreads)),
         .verify = request.flag("verify")});
  });
}
