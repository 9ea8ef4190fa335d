// Checkpoints changed by rules, for C. Rules, options and results are JSON.
#include "faro/checkpoint.hpp"

#include <nlohmann/json.hpp>

#include "capi/author_requests.hpp"
#include "capi/file_work.hpp"
#include "capi/status.hpp"

namespace faro::capi {
namespace {

constexpr const char* kCheckpoint = "change a checkpoint";

checkpoint::Options checkpoint_options_of(const Request& request) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
  constexpr std::uint64_t kMostThreadsAsked = 1 << 16;
  checkpoint::Options options;
  options.memory_bytes = request.number("memory_bytes", 0, 0, kMostBytes);
  options.threads = static_cast<int>(request.number("threads", 0, 0, kMostThreadsAsked));
  options.shard_bytes = request.number("shard_bytes", 0, 0, kMostBytes);
  options.verify = request.flag("verify");
  options.resume = request.flag("resume");
  return options;
}

}  // namespace
}  // namespace faro::capi

faro_status faro_checkpoint(const char* rules, const char* in, const char* out, const char* options,
                            int (*progress)(void* context, uint64_t done_bytes, uint64_t total_bytes),
                            void* context, char** json) {
  using faro::capi::Json;
  using faro::capi::require_argument;
  return faro::capi::guarded([&] {
    require_argument(rules, faro::capi::kCheckpoint, "rules");
    require_argument(in, faro::capi::kCheckpoint, "in");
    require_argument(out, faro::capi::kCheckpoint, "out");
    require_argument(json, faro::capi::kCheckpoint, "json");
    const faro::capi::Request request(
        options, faro::capi::kCheckpoint,
        {"memory_bytes", "threads", "shard_bytes", "verify", "resume", "explain"});
    faro::checkpoint::Options wanted = faro::capi::checkpoint_options_of(request);
    faro::capi::tell_progress(wanted, progress, context);
    if (request.flag("explain")) {
      *json = faro::capi::given_away(faro::checkpoint::explain(rules, in, out, wanted).json());
      return;
    }
    const faro::checkpoint::Report report = faro::checkpoint::run(rules, in, out, wanted);
    Json told = Json::parse(report.facts.json());
    told["finished"] = report.finished;
    told["verified"] = report.verified;
    told["resumed_tiles"] = report.resumed_tiles;
    told["seconds"] = report.seconds;
    *json = faro::capi::line_given_away(told);
  });
}
