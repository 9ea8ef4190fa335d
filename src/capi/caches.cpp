// Paged caches, for C.
#include "faro/caches.hpp"

#include <string>
#include <vector>

#include "capi/plans.hpp"
#include "capi/row_entries.hpp"
#include "capi/status.hpp"
#include "faro/error.hpp"
#include "faro/faro.h"

struct faro_cache_plan {
  faro::ExecutableCacheMove move;
};

namespace faro::capi {
namespace {

constexpr const char* kMoveCache = "move a cache";

CacheLayout cache_layout_of(const faro_cache_layout& of) {
  if (of.number < FARO_I8 || of.number > FARO_F8_E5M2FNUZ)
    fail(ErrorCode::value, kMoveCache, "numbers of type " + std::to_string(static_cast<int>(of.number)),
         "a faro_number");
  return {.number = static_cast<Number>(of.number),
          .blocks = of.blocks,
          .block_tokens = of.block_tokens,
          .block_stride = of.block_stride,
          .token_stride = of.token_stride,
          .head_stride = of.head_stride,
          .part = of.part,
          .part_stride = of.part_stride,
          .element_stride = of.element_stride == 0 ? 1 : of.element_stride};
}

std::vector<CacheArrays> cache_arrays_of(std::span<const faro_cache_arrays> arrays) {
  const auto scale = [](float given) { return given == 0 ? 1.0F : given; };
  std::vector<CacheArrays> made;
  for (const faro_cache_arrays& each : arrays) {
    made.push_back({.in = each.in,
                    .out = each.out,
                    .in_scale = scale(each.in_scale),
                    .out_scale = scale(each.out_scale)});
  }
  return made;
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::kMoveCache;
using faro::capi::require_argument;

faro_status faro_cache_plan_make(uint64_t heads, uint64_t width, const faro_cache_layout* from,
                                 const faro_cache_layout* to, const faro_cache_arrays* arrays, uint64_t count,
                                 const faro_options* options, faro_cache_plan** plan) {
  return guarded([&] {
    require_argument(kMoveCache, {{from, "from"}, {to, "to"}, {plan, "plan"}});
    faro::capi::require_structures(arrays, count, kMoveCache, "arrays");
    const faro::PlanOptions given = faro::capi::plan_options(options);
    *plan = new faro_cache_plan{
        faro::plan_cache_move({.of = {.heads = heads, .width = width},
                               .from = faro::capi::cache_layout_of(*from),
                               .to = faro::capi::cache_layout_of(*to)},
                              faro::capi::cache_arrays_of({arrays, count}),
                              {.threads = given.threads, .engine = given.engine, .device = given.device})};
  });
}

void faro_cache_plan_destroy(faro_cache_plan* plan) { delete plan; }

faro_status faro_cache_plan_run(const faro_cache_plan* plan, const faro_rows* from, const faro_rows* to,
                                uint64_t sequences, uint64_t tokens, const faro_rows* lengths, void* stream) {
  return guarded([&] {
    require_argument(kMoveCache, {{plan, "plan"}, {from, "from"}, {to, "to"}});
    const faro::CacheTables tables{
        .from = faro::capi::entries_in(*from),
        .to = faro::capi::entries_in(*to),
        .sequences = sequences,
        .tokens = tokens,
        .lengths = lengths == nullptr ? faro::RowNumbers() : faro::capi::entries_in(*lengths)};
    plan->move.run(tables, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_cache_plan_check(const faro_cache_plan* plan, void* stream) {
  return guarded([&] {
    require_argument(plan, kMoveCache, "plan");
    plan->move.check(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_cache_plan_explain(const faro_cache_plan* plan, char** text) {
  return guarded([&] {
    require_argument(kMoveCache, {{plan, "plan"}, {text, "text"}});
    *text = faro::capi::given_away(plan->move.explain());
  });
}
