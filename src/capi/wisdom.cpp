#include "faro/wisdom.hpp"

#include "capi/status.hpp"
#include "faro/faro.h"

using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_wisdom_export(char** json) {
  return guarded([&] {
    require_argument(json, "tell the wisdom", "json");
    *json = faro::capi::given_away(faro::wisdom::to_json());
  });
}

faro_status faro_wisdom_import(const char* json, uint64_t* changed) {
  return guarded([&] {
    require_argument(json, "take wisdom", "json");
    const std::size_t entries = faro::wisdom::merge(json, "the wisdom given");
    if (changed != nullptr) *changed = entries;
  });
}

faro_status faro_wisdom_forget(uint64_t* entries) {
  return guarded([&] {
    const std::size_t forgotten = faro::wisdom::forget();
    if (entries != nullptr) *entries = forgotten;
  });
}
