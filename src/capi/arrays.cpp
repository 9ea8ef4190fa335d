// Arrays with strides, and whether an output shares memory with another of them.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capi/status.hpp"
#include "capi/view_shapes.hpp"
#include "disjoint.hpp"
#include "faro/error.hpp"
#include "faro/faro.h"

namespace faro::capi {
namespace {

__extension__ using Wide = __int128;

// A caller's array with strides of its own, and where it reaches: within 2^62 bytes.
struct GivenArray {
  explicit GivenArray(const faro_laid_array& given, const char* operation)
      : extents(given_shape(given.rank, given.extents)) {
    Wide reach = static_cast<Wide>(given.element_bytes);
    if (given.stride_bytes != nullptr)
      strides = given_strides(extents.size(), given.stride_bytes, "stride_bytes");
    if (given.stride_bytes == nullptr) strides.resize(extents.size());
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      if (given.stride_bytes == nullptr) strides[axis] = static_cast<std::int64_t>(reach);
      if (extents[axis] == 0) continue;
      const Wide stride =
          strides[axis] < 0 ? -static_cast<Wide>(strides[axis]) : static_cast<Wide>(strides[axis]);
      constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
      if (extents[axis] <= kMost) reach += stride * static_cast<Wide>(extents[axis] - 1);
      if (extents[axis] > kMost || reach > static_cast<Wide>(kMost))
        fail(ErrorCode::value, operation, std::string(given.name) + " that reaches past 2^62 bytes",
             "strides within an array");
    }
  }

  Shape extents;
  Strides strides;
};

}  // namespace
}  // namespace faro::capi

faro_status faro_check_disjoint(const char* operation, const faro_laid_array* arrays, uint64_t count) {
  return faro::capi::guarded([&] {
    constexpr const char* kChecking = "check arrays";
    faro::capi::require_argument(operation, kChecking, "operation");
    faro::capi::require_structures(arrays, count, kChecking, "arrays");
    std::vector<faro::capi::GivenArray> given;
    given.reserve(count);
    std::vector<faro::detail::RunArray> inputs;
    std::vector<faro::detail::RunArray> outputs;
    for (const faro_laid_array& array : std::span(arrays, count)) {
      faro::capi::require_argument(array.name, kChecking, "name");
      const auto& sides = given.emplace_back(array, operation);
      (array.is_output != 0 ? outputs : inputs)
          .push_back({array.name, {array.address, array.element_bytes, sides.extents, sides.strides}});
    }
    faro::detail::check_disjoint(operation, outputs, inputs);
  });
}
