// Rows sent to buckets and brought back on a GPU: plans of routings and of their ways back.

#include "capi/row_entries.hpp"
#include "capi/status.hpp"
#include "faro/faro.h"
#include "faro/rows.hpp"

struct faro_route_plan {
  faro::ExecutableRoute route;
  std::uint64_t rows = 0;  // that keys are of
};

struct faro_combine_plan {
  faro::ExecutableCombine combine;
  std::uint64_t in_bytes = 0;
  std::uint64_t out_bytes = 0;
};

namespace faro::capi {
namespace {

DeviceRoute device_route_of(const faro_device_route& to) {
  return {.places = to.places,
          .inverse = to.inverse,
          .rows = to.rows,
          .offsets = to.offsets,
          .counts = to.counts};
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_route_plan_make(const void* keys, uint64_t count, int key_bytes, int is_signed,
                                 const faro_route_options* options, int device, faro_route_plan** plan) {
  return guarded([&] {
    require_argument("route keys", {{options, "options"}, {plan, "plan"}});
    const faro::RouteOptions wanted = faro::capi::route_options(*options);
    *plan = new faro_route_plan{
        .route = faro::plan_route(faro::capi::numbers_of(keys, count, key_bytes, is_signed), wanted,
                                  device == 0 ? faro::cuda::kCurrentDevice : device - 1),
        .rows = count / wanted.keys_per_row};
  });
}

void faro_route_plan_destroy(faro_route_plan* plan) { delete plan; }

faro_status faro_route_plan_most_places(const faro_route_plan* plan, uint64_t* places) {
  return guarded([&] {
    require_argument("tell of a routing", {{plan, "plan"}, {places, "places"}});
    *places = plan->route.most_places();
  });
}

faro_status faro_route_plan_run(const faro_route_plan* plan, const faro_device_route* to, void* stream) {
  return faro_route_plan_run_in_workspace(plan, to, nullptr, 0, stream);
}

faro_status faro_route_plan_run_in_workspace(const faro_route_plan* plan, const faro_device_route* to,
                                             void* workspace, uint64_t workspace_bytes, void* stream) {
  return guarded([&] {
    require_argument("route keys", {{plan, "plan"}, {to, "the arrays"}});
    const faro::DeviceRoute wanted = faro::capi::device_route_of(*to);
    const faro::Stream queue(static_cast<CUstream_st*>(stream));
    if (workspace == nullptr) return plan->route.run(wanted, queue);
    plan->route.run(wanted, {.data = workspace, .bytes = workspace_bytes}, queue);
  });
}

faro_status faro_route_plan_send(const faro_route_plan* plan, const faro_device_route* to, uint64_t row_bytes,
                                 const void* in, void* out, void* stream) {
  return guarded([&] {
    require_argument("route and dispatch", {{plan, "plan"}, {to, "the arrays"}});
    const std::uint64_t in_bytes = faro::capi::bytes_of_rows(1, plan->rows, row_bytes);
    const std::uint64_t out_bytes = faro::capi::bytes_of_rows(1, plan->route.most_places(), row_bytes);
    plan->route.run_and_send(
        faro::capi::device_route_of(*to), row_bytes, {static_cast<const std::byte*>(in), in_bytes},
        {static_cast<std::byte*>(out), out_bytes}, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_route_plan_workspace_bytes(const faro_route_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    require_argument("tell of a routing", {{plan, "plan"}, {bytes, "bytes"}});
    *bytes = plan->route.workspace_bytes();
  });
}

faro_status faro_route_plan_check(const faro_route_plan* plan, void* stream) {
  return guarded([&] {
    require_argument(plan, "route keys", "plan");
    plan->route.check(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_combine_plan_make(const faro_rows* rows, uint64_t keys_per_row, const float* weights,
                                   faro_number number, faro_sums sums, int device, faro_combine_plan** plan) {
  return guarded([&] {
    require_argument("combine rows", {{rows, "rows"}, {plan, "plan"}});
    const faro::Combine of = faro::capi::combine_of(*rows, keys_per_row, weights, number, sums);
    *plan = new faro_combine_plan{
        .combine =
            faro::plan_combine(of, rows->row_bytes, device == 0 ? faro::cuda::kCurrentDevice : device - 1),
        .in_bytes = faro::capi::bytes_of_rows(1, rows->rows, rows->row_bytes),
        .out_bytes = faro::capi::bytes_of_rows(1, rows->count / keys_per_row, rows->row_bytes)};
  });
}

void faro_combine_plan_destroy(faro_combine_plan* plan) { delete plan; }

faro_status faro_combine_plan_run(const faro_combine_plan* plan, const void* in, void* out, void* stream) {
  return guarded([&] {
    require_argument(plan, "combine rows", "plan");
    plan->combine.run({static_cast<const std::byte*>(in), plan->in_bytes},
                      {static_cast<std::byte*>(out), plan->out_bytes},
                      faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_combine_plan_check(const faro_combine_plan* plan, void* stream) {
  return guarded([&] {
    require_argument(plan, "combine rows", "plan");
    plan->combine.check(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}
