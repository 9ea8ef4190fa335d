// Ragged rows: at once on the host, and as plans of both engines.
#include <algorithm>
#include <cstddef>
#include <span>

#include "capi/plans.hpp"
#include "capi/row_entries.hpp"
#include "capi/status.hpp"
#include "faro/faro.h"
#include "faro/rows.hpp"

struct faro_segments_plan {
  faro::ExecutableSegments segments;
};

namespace faro::capi {
namespace {

constexpr const char* kTakeSegments = "take segments";

Segments segments_of(const faro_rows* offsets, const faro_rows* from, std::uint64_t element_bytes) {
  require_argument(kTakeSegments, {{offsets, "offsets"}, {from, "from"}});
  return {.offsets = entries_in(*offsets), .element_bytes = element_bytes};
}

SegmentOptions segment_options(const faro_rows& offsets, const faro_options* options) {
  const PlanOptions given = plan_options(options);
  return {.threads = offsets.threads != 0 ? offsets.threads : given.threads,
          .engine = given.engine,
          .device = given.device};
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::kTakeSegments;
using faro::capi::require_argument;

faro_status faro_taken_offsets(const faro_rows* offsets, const faro_rows* from, uint64_t element_bytes,
                               int64_t* out_offsets) {
  return guarded([&] {
    const faro::Segments segments = faro::capi::segments_of(offsets, from, element_bytes);
    require_argument(out_offsets, kTakeSegments, "out_offsets");
    const auto made = faro::taken_offsets(segments, faro::capi::entries_in(*from));
    std::copy(made.begin(), made.end(), out_offsets);
  });
}

faro_status faro_take_segments(const faro_rows* offsets, const faro_rows* from, uint64_t element_bytes,
                               const void* in, uint64_t in_bytes, void* out, uint64_t out_bytes) {
  return guarded([&] {
    const faro::Segments segments = faro::capi::segments_of(offsets, from, element_bytes);
    const faro::capi::Endable endable(std::max(in_bytes, out_bytes));
    faro::take_segments(segments, faro::capi::entries_in(*from),
                        {static_cast<const std::byte*>(in), in_bytes},
                        {static_cast<std::byte*>(out), out_bytes}, offsets->threads);
  });
}

faro_status faro_segments_plan_make(const faro_rows* offsets, const faro_rows* from, uint64_t element_bytes,
                                    const faro_options* options, faro_segments_plan** plan) {
  return guarded([&] {
    const faro::Segments segments = faro::capi::segments_of(offsets, from, element_bytes);
    require_argument(plan, kTakeSegments, "plan");
    *plan = new faro_segments_plan{faro::plan_segments(segments, faro::capi::entries_in(*from),
                                                       faro::capi::segment_options(*offsets, options))};
  });
}

void faro_segments_plan_destroy(faro_segments_plan* plan) { delete plan; }

faro_status faro_segments_plan_elements(const faro_segments_plan* plan, uint64_t* elements) {
  return guarded([&] {
    require_argument(kTakeSegments, {{plan, "plan"}, {elements, "elements"}});
    *elements = plan->segments.elements();
  });
}

faro_status faro_segments_plan_offsets(const faro_segments_plan* plan, uint64_t in_bytes,
                                       int64_t* out_offsets, void* stream) {
  return guarded([&] {
    require_argument(plan, kTakeSegments, "plan");
    plan->segments.offsets(in_bytes, out_offsets, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_segments_plan_run(const faro_segments_plan* plan, const void* in, uint64_t in_bytes,
                                   void* out, uint64_t out_bytes, int64_t* out_offsets, void* workspace,
                                   uint64_t workspace_bytes, void* stream) {
  return guarded([&] {
    require_argument(plan, kTakeSegments, "plan");
    const std::span from(static_cast<const std::byte*>(in), in_bytes);
    const std::span to(static_cast<std::byte*>(out), out_bytes);
    const faro::Stream queue(static_cast<CUstream_st*>(stream));
    const faro::capi::Endable endable(std::max(in_bytes, out_bytes));
    if (workspace == nullptr) return plan->segments.run(from, to, out_offsets, queue);
    plan->segments.run(from, to, out_offsets, {.data = workspace, .bytes = workspace_bytes}, queue);
  });
}

faro_status faro_segments_plan_workspace_bytes(const faro_segments_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    require_argument(kTakeSegments, {{plan, "plan"}, {bytes, "bytes"}});
    *bytes = plan->segments.workspace_bytes();
  });
}

faro_status faro_segments_plan_check(const faro_segments_plan* plan, void* stream) {
  return guarded([&] {
    require_argument(plan, kTakeSegments, "plan");
    plan->segments.check(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}
