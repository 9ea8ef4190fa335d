// For the authors of kernels: the layout adviser and emitted source. Requests and results
// are JSON.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "capi/author_json.hpp"
#include "capi/author_requests.hpp"
#include "capi/status.hpp"

namespace faro::capi {
namespace {

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

double emitted_real(const Request& request, const char* key, double otherwise) {
  if (!request.has(key)) return otherwise;
  const Json& value = request.json().at(key);
  if (!value.is_number()) fail(ErrorCode::value, "emit", std::string(key) + " = " + value.dump(), "a number");
  return value.get<double>();
}

Number emitted_number(const Request& request, const char* key, const std::string& otherwise) {
  const std::string word = request.text(key, otherwise);
  if (const auto number = number_named(word)) return *number;
  fail(ErrorCode::value, "emit", std::string(key) + " = " + word,
       "a type of numbers such as float32, uint8, bfloat16 or float8_e4m3fn");
}

// What is done to numbers, where "from" says what they are.
std::optional<Arithmetic> emitted_arithmetic(const Request& request) {
  constexpr const char* kOthers[] = {"to", "op", "scale", "offset", "add", "beta", "to_nearest", "saturate"};
  if (!request.has("from")) {
    for (const char* const key : kOthers) {
      if (request.has(key))
        fail(ErrorCode::value, "emit", std::string(key) + " without from",
             "the type of the input's numbers as from");
    }
    return std::nullopt;
  }
  const std::string from = request.text("from", "");
  Arithmetic made{.from = emitted_number(request, "from", from),
                  .to = emitted_number(request, "to", from),
                  .scale = {{emitted_real(request, "scale", 1)}, {}},
                  .offset = {{emitted_real(request, "offset", 0)}, {}},
                  .to_integer = request.flag("to_nearest") ? ToInteger::nearest : ToInteger::truncate,
                  .saturated = request.flag("saturate")};
  const std::string op = request.text("op", "identity");
  const auto function = function_named(op);
  if (!function) fail(ErrorCode::value, "emit", "op = " + op, "a function such as conj, neg, abs or exp");
  made.function = *function;
  if (request.has("add"))
    made.addend =
        Addend{.number = emitted_number(request, "add", ""), .beta = emitted_real(request, "beta", 1)};
  return made;
}

std::string emit_text(const faro_map& map, const char* text) {
  const Request request(
      text, "emit",
      {"kernel", "target", "element", "name", "n_tile", "n_iter", "map", "plain_rows", "factors", "launcher",
       "from", "to", "op", "scale", "offset", "add", "beta", "to_nearest", "saturate"});
  emit::Options options;
  options.language = emit::parse_language(request.text("target", "cuda"));
  options.rung = emit::parse_rung(request.text("kernel", emit::name(options.rung)));
  options.element = request.text("element", options.element);
  options.name = request.text("name", options.name);
  options.tile_bits = static_cast<int>(request.number("n_tile", 0, 0, emit::kMaxIndexBits));
  options.iteration_bits = static_cast<int>(request.number(
      "n_iter", static_cast<std::uint64_t>(options.iteration_bits), 0, emit::kMaxIterationBits));
  options.turned_rows = !request.flag("plain_rows");
  options.both_factors = request.flag("factors");
  options.launcher = request.flag("launcher");
  options.map = request.text("map", "");
  options.arithmetic = emitted_arithmetic(request);
  const Affine affine_map = affine(normal_form(map.permutation), "emit");
  return dumped(emit_json(affine_map, options, emit::emit(affine_map, options)));
}

}  // namespace
}  // namespace faro::capi

using faro::capi::dumped;
using faro::capi::given_away;
using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_layout(uint64_t rows, uint64_t columns, uint64_t element_bytes, const char* accesses,
                        uint64_t seed, char** json) {
  return guarded([&] {
    require_argument("layout", {{json, "json"}, {accesses, "accesses"}});
    const auto request = faro::capi::advice_request(rows, columns, element_bytes, accesses, seed);
    *json = given_away(dumped(faro::capi::layout_json(faro::layout::advise(request))));
  });
}

faro_status faro_emit(const faro_map* map, const char* options, char** json) {
  return guarded([&] {
    require_argument("emit", {{map, "map"}, {json, "json"}});
    *json = given_away(faro::capi::emit_text(*map, options));
  });
}
