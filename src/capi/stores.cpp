// Stores of arrays, for C. Options and results are JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capi/author_json.hpp"
#include "capi/author_requests.hpp"
#include "capi/file_work.hpp"
#include "capi/status.hpp"
#include "faro/store.hpp"

namespace faro::capi {
namespace {

constexpr const char* kRelayout = "lay a store out anew";

std::vector<std::uint64_t> extents_of(const Json& value, const char* key) {
  if (value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& each) {
        return each.is_number_integer() && (each.is_number_unsigned() || each.get<std::int64_t>() >= 0);
      }))
    return value.get<std::vector<std::uint64_t>>();
  fail(ErrorCode::value, kRelayout, std::string(key) + " = " + value.dump(), "a list of whole numbers");
}

std::vector<std::uint64_t> extents_of(const Request& request, const char* key) {
  return request.has(key) ? extents_of(request.json().at(key), key) : std::vector<std::uint64_t>();
}

std::vector<std::vector<std::uint64_t>> inner_shards_of(const Request& request) {
  std::vector<std::vector<std::uint64_t>> shards;
  if (!request.has("inner_shards")) return shards;
  const Json& levels = request.json().at("inner_shards");
  if (!levels.is_array())
    fail(ErrorCode::value, kRelayout, "inner_shards = " + levels.dump(), "a list of lists of whole numbers");
  for (const Json& each : levels) shards.push_back(extents_of(each, "inner_shards"));
  return shards;
}

std::vector<int> axes_of(const Request& request) {
  if (!request.has("axes")) return {};
  const Json& value = request.json().at("axes");
  const auto is_axis = [](const Json& each) {
    constexpr std::int64_t kMost = 64;
    return each.is_number_integer() && each.get<std::int64_t>() >= -kMost &&
           each.get<std::int64_t>() <= kMost;
  };
  if (value.is_array() && std::all_of(value.begin(), value.end(), is_axis))
    return value.get<std::vector<int>>();
  fail(ErrorCode::value, kRelayout, "axes = " + value.dump(), "a list of whole numbers");
}

store::Options options_of(const Request& request) {
  constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 62;
  constexpr std::uint64_t kMostThreads = 1 << 16;
  return {.axes = axes_of(request),
          .chunks = extents_of(request, "chunks"),
          .shards = extents_of(request, "shards"),
          .inner_shards = inner_shards_of(request),
          .codec = request.text("codec", ""),
          .dtype = request.text("dtype", ""),
          .fortran_order = request.flag("fortran_order"),
          .format = request.text("format", ""),
          .memory_bytes = request.number("memory_bytes", 0, 0, kMostMemory),
          .threads = static_cast<int>(request.number("threads", 0, 0, kMostThreads)),
          .verify = request.flag("verify"),
          .resume = request.flag("resume"),
          .raw_dtype = request.text("raw_dtype", ""),
          .raw_shape = extents_of(request, "raw_shape"),
          .raw_offset = request.has("raw_offset")
                            ? std::optional(request.number("raw_offset", 0, 0, kMostMemory))
                            : std::nullopt};
}

// The map of all elements of the one array that is named.
store::ElementMap map_of(const std::string& text, const std::string& in, const store::Options& options) {
  const std::vector<std::uint64_t> shape =
      options.raw_dtype.empty() ? store::arrays(in).front().shape : options.raw_shape;
  const ParsedPermutation parsed = parse_with_axes(text, {.bare_bits = {}, .shape = shape});
  std::vector<std::uint64_t> after = shape;
  if (parsed.axes && parsed.axes->shape == shape) after = parsed.axes->target_shape();
  if (parsed.regrouped && parsed.regrouped->before == shape) after = parsed.regrouped->after;
  return {.permutation = parsed.permutation, .shape = after};
}

}  // namespace

Json store_json(const store::ArrayFacts& array, const char* path) {
  Json json = Json::object();
  if (path != nullptr) json["path"] = path;
  json.update({{"name", array.name},
               {"format", array.format},
               {"shape", array.shape},
               {"dtype", array.dtype},
               {"big_endian", array.big_endian},
               {"bytes", array.bytes},
               {"chunks", array.chunks},
               {"shards", array.shards},
               {"codec", array.codec},
               {"dimensions", array.dimensions},
               {"attributes", array.attributes.empty() ? Json::object() : Json::parse(array.attributes)},
               {"refusal", array.refusal}});
  return json;
}

Json store_json(const store::Facts& facts, const std::string& in, const std::string& out) {
  return {{"in", store_json(facts.in, in.c_str())},
          {"out", store_json(facts.out, out.c_str())},
          {"plan", facts.text()},
          {"region", facts.region},
          {"sweeps", facts.sweeps},
          {"scratch", facts.uses_scratch},
          {"decoded", facts.decoded},
          {"read_bytes", facts.read_bytes},
          {"written_bytes", facts.written_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"threads", facts.threads},
          {"arrays", facts.arrays},
          {"predicted_ms", facts.predicted_seconds ? Json(*facts.predicted_seconds * 1e3) : Json()},
          {"prediction_source", facts.prediction_source}};
}

Json store_json(const store::Report& report, const std::string& in, const std::string& out) {
  Json json = store_json(report.facts, in, out);
  json["finished"] = report.finished;
  json["verified"] = report.verified;
  json["resumed_regions"] = report.resumed_regions;
  json["left_out"] = report.left_out;
  const double ms = report.seconds * 1e3;
  json["ms"] = ms;
  json["gb_per_s"] = ms > 0 ? 2.0 * static_cast<double>(report.facts.out.bytes) / (ms * 1e6) : 0;
  return json;
}

}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::Json;
using faro::capi::require_argument;

faro_status faro_store_arrays(const char* path, char** json) {
  return guarded([&] {
    require_argument("read a store", {{path, "path"}, {json, "json"}});
    Json list = Json::array();
    for (const faro::store::ArrayFacts& array : faro::store::arrays(path))
      list.push_back(faro::capi::store_json(array));
    *json = faro::capi::line_given_away(list);
  });
}

faro_status faro_store_relayout(const char* in, const char* out, const char* options,
                                int (*progress)(void* context, uint64_t done_bytes, uint64_t total_bytes),
                                void* context, char** json) {
  return guarded([&] {
    require_argument(in, faro::capi::kRelayout, "in");
    require_argument(out, faro::capi::kRelayout, "out");
    require_argument(json, faro::capi::kRelayout, "json");
    const faro::capi::Request request(
        options, faro::capi::kRelayout,
        {"axes", "map", "chunks", "shards", "inner_shards", "codec", "dtype", "fortran_order", "format",
         "memory_bytes", "threads", "verify", "resume", "raw_dtype", "raw_shape", "raw_offset", "explain"});
    faro::store::Options wanted = faro::capi::options_of(request);
    if (request.has("map")) wanted.map = faro::capi::map_of(request.text("map", ""), in, wanted);
    faro::capi::tell_progress(wanted, progress, context);
    *json = faro::capi::line_given_away(
        request.flag("explain") ? faro::capi::store_json(faro::store::explain(in, out, wanted), in, out)
                                : faro::capi::store_json(faro::store::relayout(in, out, wanted), in, out));
  });
}
