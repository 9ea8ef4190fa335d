// Rows sent to their places: at once on the host, and as plans on a GPU.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "capi/row_entries.hpp"
#include "capi/status.hpp"
#include "faro/faro.h"
#include "faro/rows.hpp"

struct faro_dispatch_plan {
  faro::ExecutableDispatch dispatch;
  std::uint64_t in_bytes = 0;
  std::uint64_t out_bytes = 0;
};

namespace faro::capi {
namespace {

constexpr const char* kDispatching = "dispatch";

Dispatch dispatch_of(const faro_rows* places, std::uint64_t keys_per_row, const faro_rows* taken) {
  require_argument(places, kDispatching, "places");
  if (keys_per_row == 0 || places->count % keys_per_row != 0) {
    fail(ErrorCode::value, kDispatching,
         std::to_string(places->count) + " places, " + std::to_string(keys_per_row) + " of a row",
         "a whole number of rows");
  }
  return {.places = entries_in(*places),
          .rows = places->rows,
          .keys_per_row = keys_per_row,
          .taken = taken == nullptr ? RowNumbers() : entries_in(*taken)};
}

// Bytes of its input.
std::uint64_t sent_bytes(const faro_rows& places, std::uint64_t keys_per_row) {
  return bytes_of_rows(1, places.count / keys_per_row, places.row_bytes);
}

std::uint64_t dispatched_bytes(const faro_rows& places) {
  return bytes_of_rows(1, places.rows, places.row_bytes);
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::kDispatching;
using faro::capi::require_argument;

faro_status faro_dispatch(const faro_rows* places, uint64_t keys_per_row, const faro_rows* taken,
                          const void* in, void* out) {
  return guarded([&] {
    const faro::Dispatch of = faro::capi::dispatch_of(places, keys_per_row, taken);
    const std::span from(static_cast<const std::byte*>(in), faro::capi::sent_bytes(*places, keys_per_row));
    const std::span to(static_cast<std::byte*>(out), faro::capi::dispatched_bytes(*places));
    const faro::capi::Endable endable(std::max(from.size(), to.size()));
    faro::dispatch(of, places->row_bytes, from, to, places->threads);
  });
}

faro_status faro_dispatch_plan_make(const faro_rows* places, uint64_t keys_per_row, const faro_rows* taken,
                                    int device, faro_dispatch_plan** plan) {
  return guarded([&] {
    const faro::Dispatch of = faro::capi::dispatch_of(places, keys_per_row, taken);
    require_argument(plan, kDispatching, "plan");
    *plan = new faro_dispatch_plan{
        .dispatch =
            faro::plan_dispatch(of, places->row_bytes, device == 0 ? faro::cuda::kCurrentDevice : device - 1),
        .in_bytes = faro::capi::sent_bytes(*places, keys_per_row),
        .out_bytes = faro::capi::dispatched_bytes(*places)};
  });
}

void faro_dispatch_plan_destroy(faro_dispatch_plan* plan) { delete plan; }

faro_status faro_dispatch_plan_run(const faro_dispatch_plan* plan, const void* in, void* out, void* stream) {
  return guarded([&] {
    require_argument(plan, kDispatching, "plan");
    plan->dispatch.run({static_cast<const std::byte*>(in), plan->in_bytes},
                       {static_cast<std::byte*>(out), plan->out_bytes},
                       faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_dispatch_plan_check(const faro_dispatch_plan* plan, void* stream) {
  return guarded([&] {
    require_argument(plan, kDispatching, "plan");
    plan->dispatch.check(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}
