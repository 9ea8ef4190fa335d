// The planner of the site: the part of faro that plans and explains, compiled to WebAssembly, without
// engines, files or threads.
//
// One function takes a request and gives a reply, both JSON, so that the page needs no bindings:
//
//     {"verb": "explain", "spec": "bit_reversal(24)", "capability": "9.0", "element_bytes": 4}
//     {"permutation": …, "elements": "16777216", "text": …, "json": …, "svg": …}
//
// Texts, JSON and drawings are those that the command prints, byte for byte (page/parity.js): "json" is a
// text, for 64-bit numbers do not fit a JavaScript number. Faults are replies, as `--json` has them:
// {"error": {"code", "operation", "got", "wanted", "remedy"}}.
#include <charconv>
#include <fstream>
#include <new>
#include <string>

#include "capi/author_requests.hpp"
#include "capi/simulation_json.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/permutation/strided.hpp"
#include "faro/plan/plan.hpp"
#include "layout/layout_svg.hpp"
#include "permutation/catalogue.hpp"
#include "permutation/text.hpp"

namespace faro::page {
namespace {

using capi::Json;
using capi::Request;

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

// The browser's files are those of the request: what `@circuit.qasm` names.
void write_files(const Json& files) {
  if (!files.is_object()) fail(ErrorCode::value, "read the files", files.dump(), "an object of texts");
  for (const auto& file : files.items()) {
    if (!file.value().is_string() || file.key().find('/') != std::string::npos)
      fail(ErrorCode::value, "read the files", "`" + file.key() + "`", "a name without / and a text");
    std::ofstream(file.key(), std::ios::binary) << file.value().get<std::string>();
  }
}

Permutation read_spec(const Request& request, const char* doing, detail::TypedNames& names,
                      std::vector<std::string>& notes) {
  if (request.has("files")) write_files(request.json().at("files"));
  const std::string spec = request.text("spec", "");
  if (spec.empty()) fail(ErrorCode::value, doing, "no permutation", "a map, such as `bit_reversal(24)`");
  detail::NotedPermutation read = detail::parse_with_notes(spec);
  notes = std::move(read.notes);
  names.remember(read.parsed.permutation, spec);
  return std::move(read.parsed.permutation);
}

// "9.0"
Target target_of(const std::string& capability) {
  int major = 0;
  int minor = 0;
  const char* const end = capability.data() + capability.size();
  const auto [dot, bad_major] = std::from_chars(capability.data(), end, major);
  const bool has_minor = bad_major == std::errc() && dot != end && *dot == '.';
  const bool is_read = has_minor && std::from_chars(dot + 1, end, minor).ptr == end && dot + 1 != end;
  if (!is_read || major < 8)
    fail(ErrorCode::value, "read the GPU", "`" + capability + "`", "a compute capability from 8.0 on");
  return cuda::target_of_capability(major, minor);
}

constexpr std::uint64_t kMost = std::uint64_t{1} << 40;

void trim(std::string& text) {
  while (text.ends_with('\n')) text.pop_back();
}

Json explain(const Request& request, detail::TypedNames& names) {
  if (is_strided_text(request.text("spec", "")))
    fail(ErrorCode::unsupported, "explain", "a strided view", "a permutation",
         "the command `faro explain` takes views");
  std::vector<std::string> notes;
  Permutation permutation = read_spec(request, "explain", names, notes);
  const Problem problem{
      .permutation = std::move(permutation),
      .element_bytes = request.number("element_bytes", 4, 1, kMaxElementBytes),
      .batch = request.number("batch", 1, 0, kMost),
      .placement = request.flag("in_place") ? Placement::in_place : Placement::out_of_place};
  const Plan plan(problem, target_of(request.text("capability", "9.0")));
  std::string text = names.in_explanation(plan.explain(), problem.permutation, request.text("spec", ""));
  trim(text);
  Json reply = {{"permutation", names.in(to_text(problem.permutation))},
                {"elements", std::to_string(element_count(problem.permutation))},
                {"text", text},
                {"json", plan.explain_json()},
                {"notes", notes},
                {"svg", nullptr}};
  try {
    reply["svg"] = names.in_drawing(plan.svg(), plan.problem().permutation, request.text("spec", ""));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    reply["no_svg"] = names.in(error.what());
  }
  return reply;
}

// Where an element goes, and which one comes to its place.
Json where(const Request& request, detail::TypedNames& names) {
  std::vector<std::string> notes;
  const Permutation permutation = read_spec(request, "find an element", names, notes);
  const std::string given = request.text("element", "");
  std::uint64_t x = 0;
  const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), x);
  const std::uint64_t count = element_count(permutation);
  if (fault != std::errc() || end != given.data() + given.size() || x >= count)
    fail(ErrorCode::value, "find an element", "`" + given + "`", "an index below " + std::to_string(count));
  return {{"to", std::to_string(apply(permutation, x))},
          {"from", std::to_string(apply(inverse(permutation), x))}};
}

Json lay_out(const Request& request) {
  const layout::Advice advice = layout::advise(
      capi::advice_request(request.number("rows", 0, 0, kMost), request.number("columns", 0, 0, kMost),
                           request.number("element_bytes", 4, 0, kMost), request.text("accesses", ""),
                           request.number("seed", 0, 0, kMost)));
  return {{"json", dumped(capi::layout_json(advice))}, {"svg", layout::layout_svg(advice)}};
}

Json simulate(const Request& request) {
  const capi::Simulated simulated = capi::simulate_asked(request.json().at("request").dump().c_str());
  return {{"json", dumped(capi::simulation_json(simulated.result, simulated.asked))},
          {"svg", machine::timeline_svg(simulated.result.timeline, simulated.asked.program)}};
}

Json maps() {
  Json all = Json::array();
  for (const MapEntry& map : catalogue())
    all.push_back(
        {{"name", map.name}, {"syntax", map.syntax}, {"meaning", map.meaning}, {"example", map.example}});
  return {{"maps", all}};
}

Json reply_to(const Request& request, detail::TypedNames& names) {
  const std::string verb = request.text("verb", "");
  if (verb == "explain") return explain(request, names);
  if (verb == "where") return where(request, names);
  if (verb == "layout") return lay_out(request);
  if (verb == "simulate") return simulate(request);
  if (verb == "maps") return maps();
  fail(ErrorCode::usage, "read a request", "the verb `" + verb + "`",
       "explain, where, layout, simulate or maps");
}

Json error_json(const ErrorReport& report, const detail::TypedNames& names) {
  return {{"error",
           {{"code", name(report.code)},
            {"operation", names.in(report.operation)},
            {"got", names.in(report.got)},
            {"wanted", names.in(report.wanted)},
            {"remedy", names.in(report.remedy)}}}};
}

// What a tab of a browser should not be asked for is refused as on a machine with so little memory: the
// library asks this file of Linux.
void state_the_memory() { std::ofstream("/proc/meminfo") << "MemAvailable: 262144 kB\n"; }

std::string answered(const char* text) {
  static const bool stated = [] {
    state_the_memory();
    return true;
  }();
  static_cast<void>(stated);
  detail::TypedNames names;
  try {
    const Request request(text, "read a request",
                          {"verb", "spec", "files", "element_bytes", "batch", "capability", "in_place",
                           "element", "rows", "columns", "accesses", "seed", "request"});
    return dumped(reply_to(request, names));
  } catch (const Error& error) {
    return dumped(error_json(error.report(), names));
  } catch (const std::bad_alloc&) {
    return dumped(error_json({.code = ErrorCode::value,
                              .operation = "plan",
                              .got = "an array too large for a browser's tab",
                              .wanted = "a smaller one",
                              .remedy = "the command `faro` takes it"},
                             names));
  }
}

}  // namespace
}  // namespace faro::page

extern "C" {

/// Valid until the next call.
const char* faro_page(const char* request);

const char* faro_page(const char* request) {
  static std::string reply;
  reply = faro::page::answered(request);
  return reply.c_str();
}
}
