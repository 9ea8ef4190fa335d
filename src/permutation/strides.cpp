#include "permutation/strides.hpp"

#include <algorithm>
#include <cstddef>

#include "permutation/axis_map.hpp"

namespace faro::detail {

std::vector<std::int64_t> fortran_strides(const std::vector<std::uint64_t>& extents) {
  std::vector<std::int64_t> strides = dense_strides({extents.rbegin(), extents.rend()});
  std::reverse(strides.begin(), strides.end());
  return strides;
}

std::vector<std::int64_t> finer_strides(const std::vector<std::uint64_t>& extents,
                                        const std::vector<std::int64_t>& strides,
                                        const std::vector<std::uint64_t>& finer) {
  std::vector<std::int64_t> made;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    // The finer axes whose product is this axis, the first the slowest; those of extent 1 go anywhere.
    const std::size_t begin = next;
    std::uint64_t reached = 1;
    while (next < finer.size() && reached < extents[axis]) reached *= finer[next++];
    std::int64_t stride = strides[axis];
    std::vector<std::int64_t> parts(next - begin);
    for (std::size_t k = next; k-- > begin;) {
      parts[k - begin] = stride;
      stride *= static_cast<std::int64_t>(finer[k]);
    }
    made.insert(made.end(), parts.begin(), parts.end());
  }
  made.resize(finer.size(), 0);  // axes of one element
  return made;
}

}  // namespace faro::detail
