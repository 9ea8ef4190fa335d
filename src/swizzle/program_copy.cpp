// A block's copies between global and shared memory: every thread takes each threads-th element of the box.

#include <algorithm>
#include <utility>

#include "faro/swizzle/program.hpp"
#include "swizzle/refuse.hpp"

namespace faro::swizzle {
namespace {

void require_box(const char* operation, const BlockCopy& copy) {
  const std::size_t axes = copy.extents.size();
  if (axes < 1 || axes > 3) detail::refuse_spec(operation, std::to_string(axes) + " extents", "1 to 3");
  if (copy.global_strides.size() != axes || copy.shared_strides.size() != axes)
    detail::refuse_spec(operation,
                        std::to_string(copy.global_strides.size()) + " global and " +
                            std::to_string(copy.shared_strides.size()) + " shared strides",
                        std::to_string(axes) + " of each, as there are extents");
  if (!copy.limits.empty() && copy.limits.size() != axes)
    detail::refuse_spec(operation, std::to_string(copy.limits.size()) + " limits",
                        "none, or " + std::to_string(axes) + ", as there are extents");
  for (const std::int64_t extent : copy.extents)
    if (extent < 1) detail::refuse_spec(operation, "extent " + std::to_string(extent), "at least 1");
}

/// Calls each(global address, shared address, when) once for every round of the block's threads.
template <typename Each>
void each_element(Program& program, const BlockCopy& copy, const Each& each) {
  std::int64_t total = 1;
  for (const std::int64_t extent : copy.extents) total *= extent;
  const std::int64_t threads = program.launch().warp * program.launch().warps;
  const std::int64_t rounds = (total + threads - 1) / threads;
  const auto element = [&](const Index& round) {
    const IndexRanges ranges = program.ranges();
    const Index number = round * threads + warp_index() * program.launch().warp + lane_index();
    Index global = copy.offset;
    Index shared = 0;
    Index when = number < total;
    std::int64_t below = total;  // elements of the box for one step of this axis
    for (std::size_t axis = 0; axis < copy.extents.size(); ++axis) {
      below /= copy.extents[axis];
      const Index place = number / below % copy.extents[axis];
      global = global + place * copy.global_strides[axis];
      shared = shared + place * copy.shared_strides[axis];
      if (!copy.limits.empty()) when = when && place < copy.limits[axis];
    }
    each(simplify(global, ranges), simplify(shared, ranges), simplify(when, ranges));
  };
  if (rounds == 1) return element(0);
  program.loop(program.unused_counter("round"), rounds, element);
}

}  // namespace

void Program::global_to_shared(Array to, Array from, const BlockCopy& copy) {
  require_box("global_to_shared", copy);
  const Registers passing = registers(unused("copied"), 1);
  each_element(*this, copy, [&](const Index& global, const Index& shared, const Index& when) {
    load(passing[0], from, global, when);
    store(to, shared, passing[0], when);
  });
}

void Program::shared_to_global(Array to, Array from, const BlockCopy& copy) {
  require_box("shared_to_global", copy);
  const Registers passing = registers(unused("copied"), 1);
  each_element(*this, copy, [&](const Index& global, const Index& shared, const Index& when) {
    load(passing[0], from, shared, when);
    store(to, global, passing[0], when);
  });
}

}  // namespace faro::swizzle
