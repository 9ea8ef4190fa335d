// What a caller in C sees of work on files: progress, by which it is ended, and what was done, as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "capi/status.hpp"

namespace faro::capi {

/// faro.h's progress: called by any thread, but by one at a time; what is not 0 ends the work. Null: nobody
/// is told.
template <typename Options>
void tell_progress(Options& options, int (*progress)(void*, std::uint64_t, std::uint64_t), void* context) {
  if (progress == nullptr) return;
  const auto stops = std::make_shared<bool>(false);
  options.progress = [stops, progress, context](const auto& now) {
    if (progress(context, now.done_bytes, now.total_bytes) != 0) *stops = true;
  };
  options.cancelled = [stops] { return *stops; };
}

/// On one line. Names of strangers may be no UTF-8, which is replaced.
inline char* line_given_away(const nlohmann::ordered_json& json) {
  return given_away(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace faro::capi
