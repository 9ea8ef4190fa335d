// Checkpoints changed by rules, for C. Rules, options and results are JSON.
#include "faro/checkpoint.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "capi/author_requests.hpp"
#include "capi/status.hpp"

namespace faro::capi {
namespace {

constexpr const char* kCheckpoint = "change a checkpoint";

Json json_of(const checkpoint::Tensor& tensor) {
  return {{"name", tensor.name},      {"dtype", tensor.dtype}, {"shape", tensor.shape},
          {"bytes", tensor.bytes},    {"file", tensor.file},   {"sources", tensor.sources},
          {"changes", tensor.changes}};
}

Json json_of(const checkpoint::Facts& facts) {
  Json rules = Json::array();
  for (const checkpoint::RuleFacts& rule : facts.rules)
    rules.push_back({{"patterns", rule.text}, {"matched", rule.matched}});
  Json tensors = Json::array();
  for (const checkpoint::Tensor& tensor : facts.tensors) tensors.push_back(json_of(tensor));
  return {{"plan", facts.text()},
          {"in_files", facts.in_files},
          {"in_tensors", facts.in_tensors},
          {"dropped", facts.dropped},
          {"rules", std::move(rules)},
          {"tensors", std::move(tensors)},
          {"files", facts.files},
          {"tiles", facts.tiles},
          {"read_bytes", facts.read_bytes},
          {"written_bytes", facts.written_bytes},
          {"memory_bytes", facts.memory_bytes}};
}

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
    bool stops = false;
    if (progress != nullptr) {
      wanted.progress = [&](const faro::file::Progress& now) {
        if (progress(context, now.done_bytes, now.total_bytes) != 0) stops = true;
      };
      wanted.cancelled = [&] { return stops; };
    }
    const auto given = [&](const Json& told) {
      *json = faro::capi::given_away(told.dump(-1, ' ', false, Json::error_handler_t::replace));
    };
    if (request.flag("explain"))
      return given(faro::capi::json_of(faro::checkpoint::explain(rules, in, out, wanted)));
    const faro::checkpoint::Report report = faro::checkpoint::run(rules, in, out, wanted);
    Json told = faro::capi::json_of(report.facts);
    told["finished"] = report.finished;
    told["verified"] = report.verified;
    told["resumed_tiles"] = report.resumed_tiles;
    told["seconds"] = report.seconds;
    given(told);
  });
}
