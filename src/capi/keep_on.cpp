#include "capi/keep_on.hpp"

#include "faro/faro.h"

namespace faro::capi {
namespace {

struct KeepOn {
  int (*ask)(void* context) = nullptr;
  void* context = nullptr;
};

KeepOn& keep_on_of_this_thread() {
  static thread_local KeepOn keep_on;
  return keep_on;
}

}  // namespace

Endable::Endable(std::uint64_t bytes) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 20;  // less is over in a blink
  const KeepOn keep_on = keep_on_of_this_thread();
  if (keep_on.ask == nullptr || bytes < kLeastBytes) return;
  watch_.emplace([keep_on] { return keep_on.ask(keep_on.context) != 0; });
}

}  // namespace faro::capi

void faro_set_keep_on(int (*keep_on)(void* context), void* context) {
  faro::capi::keep_on_of_this_thread() = {.ask = keep_on, .context = context};
}
