#include "layout/access_trace.hpp"

#include <fmt/format.h>

#include "faro/error.hpp"
#include "faro/machine/memory_geometry.hpp"
#include "machine/trace.hpp"

namespace faro::layout {
namespace {}  // namespace

AccessSet recorded_access(const SharedArray& array, const std::string& path) {
  const machine::Trace trace = machine::read_trace(path);
  const auto warp_size = static_cast<std::size_t>(machine::MemoryGeometry{}.warp_size);
  AccessSet set{.text = "@" + path, .vector_elements = 1, .recorded = true, .warps = {}};
  set.warps.reserve(trace.accesses.size());
  for (const machine::TraceAccess& access : trace.accesses) {
    if (access.lanes > warp_size) {
      fail(ErrorCode::value, fmt::format("read the access: `{}`, line {}", trace.name, access.line),
           fmt::format("{} lanes", access.lanes), fmt::format("at most {}, a warp", warp_size),
           "a line is one access of a warp, each number an element: row * columns + column");
    }
    std::vector<Index>& warp = set.warps.emplace_back();
    for (const std::uint64_t element : trace.lanes_of(access)) {
      if (element != machine::kIdleLane && element >= array.elements()) {
        fail(ErrorCode::value, fmt::format("read the access: `{}`, line {}", trace.name, access.line),
             fmt::format("element {}", element),
             fmt::format("below {}, the elements of {} x {}", array.elements(), array.rows, array.columns),
             "a line is one access of a warp, each number an element: row * columns + column");
      }
      warp.push_back(element == machine::kIdleLane ? AccessSet::kIdle : static_cast<Index>(element));
    }
  }
  return set;
}

}  // namespace faro::layout
