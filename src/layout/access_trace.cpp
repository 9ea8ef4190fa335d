#include "layout/access_trace.hpp"

#include <fmt/format.h>

#include "faro/error.hpp"
#include "faro/machine/memory_geometry.hpp"
#include "machine/trace.hpp"

namespace faro::layout {
namespace {

[[noreturn]] void refuse(const machine::Trace& trace, const machine::TraceAccess& access, std::string got,
                         std::string wanted) {
  throw Error({.code = ErrorCode::value,
               .operation = fmt::format("read the access: `{}`, line {}", trace.name, access.line),
               .got = std::move(got),
               .wanted = std::move(wanted),
               .remedy = "a line is one access of a warp, each number an element: row * columns + column"});
}

}  // namespace

AccessSet recorded_access(const SharedArray& array, const std::string& path) {
  const machine::Trace trace = machine::read_trace(path);
  const auto warp_size = static_cast<std::size_t>(machine::MemoryGeometry{}.warp_size);
  AccessSet set{.text = "@" + path, .vector_elements = 1, .recorded = true, .warps = {}};
  set.warps.reserve(trace.accesses.size());
  for (const machine::TraceAccess& access : trace.accesses) {
    if (access.lanes > warp_size) {
      refuse(trace, access, fmt::format("{} lanes", access.lanes),
             fmt::format("at most {}, a warp", warp_size));
    }
    std::vector<Index>& warp = set.warps.emplace_back();
    for (const std::uint64_t element : trace.lanes_of(access)) {
      if (element != machine::kIdleLane && element >= array.elements()) {
        refuse(trace, access, fmt::format("element {}", element),
               fmt::format("below {}, the elements of {} x {}", array.elements(), array.rows, array.columns));
      }
      warp.push_back(element == machine::kIdleLane ? AccessSet::kIdle : static_cast<Index>(element));
    }
  }
  return set;
}

}  // namespace faro::layout
