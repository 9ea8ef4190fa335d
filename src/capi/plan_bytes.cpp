// A plan as bytes: what was asked for, so that it can be made again anywhere.
//
//     {"faro_plan":2,"element_bytes":4,"out_shape":[16],"views":[],"map":"bit_reversal(4)",…,"sum":"…"}
//     \n
//     {"faro_plan":2,…,"indices":{"count":3,"entry_bytes":4,"direction":"scatter"},…} \n  02 00 00 00 00 …
//
// Nothing that is read is trusted: sizes are compared with what is there, entries are checked to be a
// permutation, and a text may name no file. `sum` is XXH3 of the header without it and of the entries: a
// digit that changed in a file would make another plan. Version 1 had none, and is still read.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capi/plans.hpp"
#include "capi/status.hpp"
#include "io/output_file.hpp"

namespace faro::capi {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPlanBytesVersion = 2;
constexpr int kVersionWithoutSum = 1;
constexpr const char* kReading = "read a plan";
constexpr const char* kPlanBytes = "a plan as faro_plan_to_bytes or faro_plan_save wrote it";
constexpr std::uint64_t kMostPlanBytes = std::uint64_t{1} << 44;

std::span<const std::byte> entries_of(const Indexed& indexed) {
  const auto narrow = std::as_bytes(indexed.entries32());
  return narrow.empty() ? std::as_bytes(indexed.entries64()) : narrow;
}

Json view_json(const faro::detail::AxisMap& view) {
  const Strided lists = faro::detail::as_strided(view);
  return {{"extents", lists.extents},
          {"in_strides", lists.in_strides},
          {"out_strides", lists.out_strides},
          {"in_corner", view.in_first},
          {"out_corner", view.out_first}};
}

std::string sum_of(const Json& header_without_it, std::span<const std::byte> entries) {
  const std::string text = header_without_it.dump();
  return std::to_string(
      XXH3_64bits_withSeed(entries.data(), entries.size(), XXH3_64bits(text.data(), text.size())));
}

std::string header_of(const faro_plan& plan, std::span<const std::byte> entries) {
  Json json = {
      {"faro_plan", kPlanBytesVersion}, {"element_bytes", plan.element_bytes}, {"out_shape", plan.out_shape}};
  json["views"] = Json::array();
  for (const Step& step : plan.views()) json["views"].push_back(view_json(step.view()));
  if (const Step* const map = plan.map()) {
    const Permutation& permutation = map->problem.permutation;
    if (const auto* const indexed = std::get_if<Indexed>(&permutation)) {
      json["indices"] = {{"count", indexed->count()},
                         {"entry_bytes", indexed->entries32().empty() ? 8 : 4},
                         {"direction", name(indexed->direction())}};
    } else {
      json["map"] = to_text(permutation);
    }
    json["batch"] = map->problem.batch;
    json["in_place"] = map->problem.placement == Placement::in_place;
  }
  json["sum"] = sum_of(json, entries);
  return json.dump() + "\n";
}

std::vector<std::byte> bytes_of(const faro_plan& plan) {
  std::span<const std::byte> entries;
  const Step* const map = plan.map();
  const auto* const indexed = map == nullptr ? nullptr : std::get_if<Indexed>(&map->problem.permutation);
  if (indexed != nullptr) entries = entries_of(*indexed);
  const std::string header = header_of(plan, entries);
  std::vector<std::byte> bytes(header.size() + entries.size());
  std::memcpy(bytes.data(), header.data(), header.size());
  if (!entries.empty()) std::memcpy(bytes.data() + header.size(), entries.data(), entries.size());
  return bytes;
}

Permutation permutation_of(const Json& json, std::span<const std::byte> entries) {
  if (!json.contains("indices")) {
    const auto text = json.at("map").get<std::string>();
    if (text.find('@') != std::string::npos)
      fail(ErrorCode::file, kReading, "a map that names a file, `" + text + "`", kPlanBytes);
    if (!entries.empty())
      fail(ErrorCode::file, kReading, std::to_string(entries.size()) + " bytes too many", kPlanBytes);
    return parse_permutation(text,
                             {.bare_bits = {}, .direction = Direction::scatter, .most_index_elements = 64});
  }
  const Json& indices = json.at("indices");
  const auto count = indices.at("count").get<std::uint64_t>();
  const auto width = indices.at("entry_bytes").get<std::uint64_t>();
  const auto direction = indices.at("direction").get<std::string>();
  if (width != 4 && width != 8)
    fail(ErrorCode::file, kReading, "entries of " + std::to_string(width) + " bytes", kPlanBytes);
  if (direction != "scatter" && direction != "gather")
    fail(ErrorCode::file, kReading, "direction `" + direction + "`", kPlanBytes);
  if (count > Indexed::kMaxCount || entries.size() != count * width)
    fail(ErrorCode::file, kReading,
         std::to_string(entries.size()) + " bytes of entries for an index array of " + std::to_string(count),
         kPlanBytes);
  return Indexed::from_bytes(entries, {.bytes = static_cast<int>(width), .is_signed = false},
                             direction == "gather" ? Direction::gather : Direction::scatter);
}

faro::detail::AxisMap view_of(const Json& json) {
  const Strided lists{.extents = json.at("extents").get<std::vector<std::uint64_t>>(),
                      .in_strides = json.at("in_strides").get<std::vector<std::int64_t>>(),
                      .out_strides = json.at("out_strides").get<std::vector<std::int64_t>>()};
  const std::size_t axes = lists.extents.size();
  if (axes > 64 || lists.in_strides.size() != axes || lists.out_strides.size() != axes)
    fail(ErrorCode::file, kReading, "a view of lists of different lengths", kPlanBytes);
  faro::detail::AxisMap view = faro::detail::axis_map(lists);
  view.in_first = json.at("in_corner").get<std::int64_t>();
  view.out_first = json.at("out_corner").get<std::int64_t>();
  return view;
}

faro_plan* plan_of(const Json& json, std::span<const std::byte> entries, const PlanOptions& options) {
  const int version = json.at("faro_plan").get<int>();
  if (version != kPlanBytesVersion && version != kVersionWithoutSum)
    fail(ErrorCode::file, kReading, "version " + std::to_string(version), kPlanBytes);
  if (version != kVersionWithoutSum) {
    Json without = json;
    without.erase("sum");
    if (json.at("sum").get<std::string>() != sum_of(without, entries))
      fail(ErrorCode::file, kReading, "a sum that differs: the bytes are damaged", kPlanBytes);
  }
  const auto width = json.at("element_bytes").get<std::uint64_t>();
  std::vector<faro::detail::AxisMap> views;
  for (const Json& view : json.at("views")) views.push_back(view_of(view));
  const bool has_map = json.contains("map") || json.contains("indices");
  if (!has_map && !entries.empty())
    fail(ErrorCode::file, kReading, std::to_string(entries.size()) + " bytes too many", kPlanBytes);
  if (!has_map && views.empty()) fail(ErrorCode::file, kReading, "neither a map nor a view", kPlanBytes);
  std::unique_ptr<faro_plan> made;
  if (has_map) {
    if (views.size() > 1) fail(ErrorCode::file, kReading, "a map with several views", kPlanBytes);
    const Problem problem{
        .permutation = permutation_of(json, entries),
        .element_bytes = width,
        .batch = json.at("batch").get<std::uint64_t>(),
        .placement = json.at("in_place").get<bool>() ? Placement::in_place : Placement::out_of_place};
    made.reset(new_map_plan(problem, options));
    for (const faro::detail::AxisMap& view : views)
      made->steps.insert(made->steps.begin(), make_view_step(view, width, options));
    if (made->steps.front().bytes() != made->steps.back().bytes())
      fail(ErrorCode::file, kReading, "a map and a view of different sizes", kPlanBytes);
  } else {
    made.reset(new_view_plan(views, width, options));
  }
  made->out_shape = json.at("out_shape").get<std::vector<std::uint64_t>>();
  if (made->out_shape.size() > 64)
    fail(ErrorCode::file, kReading, "a shape of more than 64 axes", kPlanBytes);
  return made.release();
}

faro_plan* parsed_plan(std::span<const std::byte> bytes, const PlanOptions& options) {
  if (bytes.size() > kMostPlanBytes)
    fail(ErrorCode::file, kReading, std::to_string(bytes.size()) + " bytes", kPlanBytes);
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = all.find('\n');
  if (end == std::string_view::npos) fail(ErrorCode::file, kReading, "bytes without a header", kPlanBytes);
  const Json json = Json::parse(all.substr(0, end), nullptr, false);
  if (json.is_discarded() || !json.is_object())
    fail(ErrorCode::file, kReading, "a header that is no JSON", kPlanBytes);
  try {
    return plan_of(json, bytes.subspan(end + 1), options);
  } catch (const Json::exception& exception) {
    fail(ErrorCode::file, kReading, exception.what(), kPlanBytes);
  }
}

std::vector<std::byte> file_bytes(const std::filesystem::path& path) {
  const std::string reading = "read `" + path.string() + "`";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || std::filesystem::is_directory(path))
    fail(ErrorCode::file, reading, "no readable file", "a plan that faro_plan_save wrote");
  const auto size = static_cast<std::streamoff>(file.tellg());
  if (size < 0 || static_cast<std::uint64_t>(size) > kMostPlanBytes)
    fail(ErrorCode::file, reading, "a file of no size", "a plan that faro_plan_save wrote");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!file) fail(ErrorCode::file, reading, "a file that cannot be read to its end", "a readable file");
  return bytes;
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::plan_options;
using faro::capi::require_argument;

faro_status faro_plan_to_bytes(const faro_plan* plan, void** data, uint64_t* size) {
  return guarded([&] {
    require_argument("write a plan", {{plan, "plan"}, {data, "data"}, {size, "size"}});
    const std::vector<std::byte> bytes = faro::capi::bytes_of(*plan);
    void* const copy = std::malloc(bytes.size());
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, bytes.data(), bytes.size());
    *data = copy;
    *size = bytes.size();
  });
}

faro_status faro_plan_from_bytes(const void* data, uint64_t size, const faro_options* options,
                                 faro_plan** plan) {
  return guarded([&] {
    require_argument(data, faro::capi::kReading, "data");
    require_argument(plan, faro::capi::kReading, "plan");
    *plan = faro::capi::parsed_plan({static_cast<const std::byte*>(data), size}, plan_options(options));
  });
}

faro_status faro_plan_save(const faro_plan* plan, const char* path) {
  return guarded([&] {
    require_argument("write a plan", {{plan, "plan"}, {path, "path"}});
    const std::vector<std::byte> bytes = faro::capi::bytes_of(*plan);
    faro::io::OutputFile file{std::filesystem::path(path)};
    file.reserve(bytes.size());
    file.write(bytes, 0);
    file.commit();
  });
}

faro_status faro_plan_load(const char* path, const faro_options* options, faro_plan** plan) {
  return guarded([&] {
    require_argument(path, faro::capi::kReading, "path");
    require_argument(plan, faro::capi::kReading, "plan");
    *plan = faro::capi::parsed_plan(faro::capi::file_bytes(path), plan_options(options));
  });
}
