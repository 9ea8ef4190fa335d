// faro_layout_convert() and faro_layout_check(): layouts of registers, for other languages.
#include <string>
#include <vector>

#include "capi/author_requests.hpp"
#include "capi/status.hpp"
#include "faro/error.hpp"
#include "faro/exchange/conversion.hpp"
#include "faro/exchange/index_check.hpp"

namespace faro::capi {
namespace {

constexpr std::uint64_t kUsualElement = 32;

int element_bits(std::uint64_t bits, const char* operation) {
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    fail(ErrorCode::value, operation, "element = " + std::to_string(bits), "8, 16, 32 or 64 bits");
  return static_cast<int>(bits);
}

exchange::Way way_of(const std::string& word) {
  if (word == "registers") return exchange::Way::registers;
  if (word == "shared") return exchange::Way::shared;
  if (word == "cheapest") return exchange::Way::cheapest;
  fail(ErrorCode::value, "layout convert", "way = " + word, "registers, shared or cheapest");
}

std::string conversion_text(const char* from, const char* to, const char* text) {
  const Request options(text, "layout convert", {"element", "capability", "name", "way"});
  constexpr std::uint64_t kMostCapability = 999;
  const int element = element_bits(options.number("element", kUsualElement, 0, 64), "layout convert");
  const auto capability = static_cast<int>(
      options.number("capability", exchange::ConversionOptions{}.capability, 1, kMostCapability));
  const exchange::Way way = way_of(options.text("way", "registers"));
  const exchange::Conversion c =
      exchange::convert(exchange::parse_layout(from, element), exchange::parse_layout(to, element),
                        {.element = element, .capability = capability});
  Json json = Json::parse(exchange::to_json(c));
  json["explanation"] = exchange::to_text(c);
  json["code"] = nullptr;
  if (options.has("name")) {
    const std::string name = exchange::function_name(options.text("name", ""));
    json["code"] = exchange::emit_conversion(c, {.name = name, .command = "", .way = way}).text;
  }
  return json.dump();
}

std::string check_text(const char* layout, const char* indices, std::uint64_t element) {
  const exchange::Layout parsed = exchange::parse_layout(layout, element_bits(element, "layout check"));
  std::vector<exchange::IndexExpression> expressions;
  for (const std::string& text : Json::parse(indices).get<std::vector<std::string>>())
    expressions.emplace_back(text);
  return exchange::to_json(parsed, expressions, exchange::check_indices(parsed, expressions));
}

}  // namespace
}  // namespace faro::capi

using faro::capi::given_away;
using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_layout_convert(const char* from, const char* to, const char* options, char** json) {
  return guarded([&] {
    require_argument("layout convert", {{from, "from"}, {to, "to"}, {json, "json"}});
    *json = given_away(faro::capi::conversion_text(from, to, options));
  });
}

faro_status faro_layout_check(const char* layout, const char* indices, uint64_t element_bits, char** json) {
  return guarded([&] {
    require_argument("layout check", {{layout, "layout"}, {indices, "indices"}, {json, "json"}});
    try {
      *json = given_away(faro::capi::check_text(layout, indices, element_bits));
    } catch (const nlohmann::json::exception&) {
      faro::fail(faro::ErrorCode::spec, "layout check", "indices that are no list of texts",
                 "JSON such as [\"4 * lane + i\"]");
    }
  });
}
