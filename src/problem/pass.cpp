#include "faro/problem/pass.hpp"

namespace faro {

const char* name(PassKind kind) noexcept {
  switch (kind) {
    case PassKind::copy:
      return "copy";
    case PassKind::segments:
      return "segments";
    case PassKind::tile:
      return "tile";
    case PassKind::direct:
      return "direct";
    case PassKind::axes:
      return "axes";
    case PassKind::cyclic:
      return "cyclic";
    case PassKind::window:
      return "window";
    case PassKind::runs:
      return "runs";
    case PassKind::indexed:
      return "indexed";
    case PassKind::spread:
      return "spread";
    case PassKind::collect:
      return "collect";
    case PassKind::place:
      return "place";
    case PassKind::pick:
      return "pick";
    case PassKind::columns:
      return "columns";
    case PassKind::sweep:
      return "sweep";
    case PassKind::modular:
      return "modular";
    case PassKind::computed:
      return "computed";
    case PassKind::patch:
      return "patch";
  }
  return "direct";
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
