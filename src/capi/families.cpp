// Families of shapes: planned once, and run with other extents at each call.
#include <algorithm>
#include <span>

#include "capi/plans.hpp"
#include "capi/status.hpp"
#include "faro/family.hpp"
#include "faro/faro.h"

struct faro_family {
  faro::ShapeFamily family;
};

namespace faro::capi {
namespace {

constexpr const char* kPlanFamily = "plan a family";
constexpr const char* kRunFamily = "run a family";

template <typename T>
std::vector<T> listed(const T* given, std::size_t count) {
  return given == nullptr ? std::vector<T>() : std::vector<T>(given, given + count);
}

FamilyMap map_of(const faro_family_map* given) {
  require_argument(given, kPlanFamily, "map");
  require_zeros(given->reserved, kPlanFamily);
  const std::size_t rank = checked_rank(kPlanFamily, given->rank);
  if (rank > 0) require_argument(given->extents, kPlanFamily, "extents");
  FamilyMap map{.extents = {},
                .order = listed(given->order, rank),
                .flipped = {},
                .shifts = listed(given->shifts, rank),
                .in_strides = listed(given->in_strides, rank),
                .out_strides = listed(given->out_strides, rank),
                .element_bytes = given->element_bytes};
  for (std::size_t a = 0; a < rank; ++a) {
    const bool is_free = given->is_free == nullptr || given->is_free[a] != 0;
    map.extents.push_back({.most = given->extents[a], .is_free = is_free});
    if (given->flipped != nullptr && given->flipped[a] != 0) map.flipped.push_back(static_cast<int>(a));
  }
  return map;
}

PlanOptions options_of(const faro_options* given) {
  if (given != nullptr &&
      (given->in_place != 0 || given->batch > 1 || given->repeats != 0 || given->measure != 0))
    fail(ErrorCode::value, kPlanFamily, "options of another plan", "engine, threads and device",
         "a batch is one more axis");
  return plan_options(given);
}

const ShapeFamily& family_of(const faro_family* family) {
  require_argument(family, kRunFamily, "family");
  return family->family;
}

std::span<const std::uint64_t> extents_of(const faro_family_call* call) {
  require_argument(call, kRunFamily, "call");
  const std::size_t count = checked_rank(kRunFamily, call->count);
  if (count > 0) require_argument(call->extents, kRunFamily, "extents");
  return {call->extents, count};
}

}  // namespace
}  // namespace faro::capi

using faro::capi::extents_of;
using faro::capi::family_of;
using faro::capi::guarded;
using faro::capi::kPlanFamily;
using faro::capi::kRunFamily;
using faro::capi::require_argument;

faro_status faro_family_make(const faro_family_map* map, const faro_options* options, faro_family** family) {
  return guarded([&] {
    require_argument(family, kPlanFamily, "family");
    *family = new faro_family{faro::ShapeFamily(faro::capi::map_of(map), faro::capi::options_of(options))};
  });
}

void faro_family_destroy(faro_family* family) { delete family; }

faro_status faro_family_run(const faro_family* family, const faro_family_call* call, const void* in,
                            void* out, void* stream) {
  return guarded([&] {
    const faro::ShapeFamily& made = family_of(family);
    const std::span<const std::uint64_t> extents = extents_of(call);
    const std::size_t rank = made.map().extents.size();
    faro::FamilyStrides strides;
    if (call->in_strides != nullptr) strides.in = {call->in_strides, rank};
    if (call->out_strides != nullptr) strides.out = {call->out_strides, rank};
    const faro::capi::Endable endable(made.engine() == faro::Engine::cpu ? made.out_bytes(extents) : 0);
    made.run(extents, in, out, faro::Stream(static_cast<CUstream_st*>(stream)), strides);
  });
}

faro_status faro_family_run_on_device(const faro_family* family, const void* extents, int extent_bytes,
                                      const void* in, void* out, void* stream) {
  return guarded([&] {
    family_of(family).run_on_device({.data = extents, .bytes = extent_bytes}, in, out,
                                    faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_family_sizes(const faro_family* family, const faro_family_call* call, uint64_t* in_bytes,
                              uint64_t* out_bytes, uint64_t* out_shape) {
  return guarded([&] {
    const faro::ShapeFamily& made = family_of(family);
    const std::span<const std::uint64_t> extents = extents_of(call);
    if (in_bytes != nullptr) *in_bytes = made.in_bytes(extents);
    if (out_bytes != nullptr) *out_bytes = made.out_bytes(extents);
    if (out_shape != nullptr) std::ranges::copy(made.out_shape(extents), out_shape);
  });
}

faro_status faro_family_explain(const faro_family* family, const faro_family_call* call, char** text) {
  return guarded([&] {
    require_argument(text, kRunFamily, "text");
    *text = faro::capi::given_away(family_of(family).explain(extents_of(call)));
  });
}
