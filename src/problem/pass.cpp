#include "faro/problem/pass.hpp"

#include <iterator>

namespace faro {

const char* name(PassKind kind) noexcept {
  static constexpr const char* kNames[] = {"copy",   "segments", "tile",    "direct",  "axes",     "cyclic",
                                           "window", "runs",     "indexed", "spread",  "collect",  "place",
                                           "pick",   "columns",  "sweep",   "modular", "computed", "patch"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(PassKind::patch) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name(PassBuffer buffer) noexcept {
  switch (buffer) {
    case PassBuffer::input:
      return "input";
    case PassBuffer::output:
      return "output";
    case PassBuffer::workspace:
      return "workspace";
    case PassBuffer::data:
      return "data";
  }
  return "data";
}

}  // namespace faro
