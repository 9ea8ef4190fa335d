// faro_synth(): the search for swizzles, for other languages.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capi/sketch_json.hpp"
#include "capi/status.hpp"
#include "faro/error.hpp"
#include "faro/suggest.hpp"
#include "faro/swizzle/emission.hpp"
#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/synthesise.hpp"

namespace faro::capi {
namespace {

constexpr double kUsualSeconds = 600;
constexpr std::uint64_t kMostShown = 10'000;

// Thrown out of the search, which leaves nothing behind.
struct Stopped {};

swizzle::Space space_of(const std::string& word) {
  std::vector<std::string_view> names;
  for (const auto space :
       {swizzle::Space::easy, swizzle::Space::easy_conditions, swizzle::Space::full, swizzle::Space::extra}) {
    if (word == swizzle::name(space)) return space;
    names.emplace_back(swizzle::name(space));
  }
  fail(ErrorCode::value, "synth", "space " + word, "easy, easy-conditions, full or extra",
       did_you_mean(word, names));
}

swizzle::Example example_of(const Json& request) {
  if (request.contains("sketch")) return sketch_of(request);
  swizzle::ExampleOptions options;
  if (request.contains("struct")) options.struct_words = request.at("struct").get<std::int64_t>();
  if (request.contains("warp")) options.warp = request.at("warp").get<std::int64_t>();
  return swizzle::make_example(request.at("example").get<std::string>(), options);
}

std::optional<swizzle::EmissionOptions> emission_of(const Json& request, const swizzle::Example& example) {
  if (!request.contains("emit")) return std::nullopt;
  const Json& asked = request.at("emit");
  swizzle::EmissionOptions options;
  options.name = asked.at("name").get<std::string>();
  options.element_type = asked.at("element").get<std::string>();
  options.batch = asked.at("batch").get<std::uint32_t>();
  options.device_function = asked.at("device_function").get<bool>();
  if (asked.at("image").get<bool>()) {
    if (!example.tiling)
      fail(ErrorCode::value, "synth", "image of " + example.name, "stencil-1d, conv-1d or conv-2d");
    options.tiling = example.tiling;
  }
  swizzle::require_emittable(example, options);
  return options;
}

Json emitted_json(const swizzle::Example& example, const swizzle::EmissionOptions& options,
                  const swizzle::SynthesisResult& result) {
  const swizzle::Valuation* chosen = result.best ? &result.best->valuation : nullptr;
  for (const swizzle::KnownSolution& known : example.known) {
    if (chosen == nullptr && known.source == "closed form") chosen = &known.valuation;
  }
  if (chosen == nullptr) return nullptr;
  const swizzle::EmittedKernel kernel = swizzle::emit(example.sketch, *chosen, options);
  return {{"text", kernel.text},
          {"name", kernel.name},
          {"solution", result.best ? "best" : "closed form"},
          {"blocks", kernel.blocks},
          {"threads", kernel.threads},
          {"batch", kernel.batch},
          {"shared_bytes", kernel.shared_bytes},
          {"shuffles", kernel.shuffles},
          {"selects", kernel.selects},
          {"live_accumulates", kernel.live_accumulates},
          {"notes", kernel.notes}};
}

std::string synth_text(const Json& request, int (*keep_on)(void*), void* context) {
  const swizzle::Example example = example_of(request);
  const auto emission = emission_of(request, example);
  swizzle::SynthesisOptions options;
  options.space = space_of(request.value("space", "full"));
  options.time_limit_seconds = request.value("time_limit", kUsualSeconds);
  if (keep_on != nullptr) {
    options.progress = [&](const swizzle::Progress&) {
      if (keep_on(context) == 0) throw Stopped{};
    };
  }
  const swizzle::SynthesisResult result = swizzle::synthesise(example.specification, example.sketch, options);
  Json json = Json::parse(swizzle::to_json(example, result, request.value("all", false) ? kMostShown : 0));
  json["sketch"] = swizzle::to_text(example.sketch);
  json["emitted"] = emission ? emitted_json(example, *emission, result) : Json(nullptr);
  return json.dump();
}

}  // namespace
}  // namespace faro::capi

faro_status faro_synth(const char* request, int (*keep_on)(void*), void* context, char** json) {
  using faro::ErrorCode;
  using faro::fail;
  return faro::capi::guarded([&] {
    faro::capi::require_argument("synth", {{request, "request"}, {json, "json"}});
    try {
      *json =
          faro::capi::given_away(faro::capi::synth_text(faro::capi::Json::parse(request), keep_on, context));
    } catch (const nlohmann::json::exception& exception) {
      fail(ErrorCode::spec, "synth", std::string("a request that cannot be read: ") + exception.what(),
           "the JSON that faro.h tells of");
    } catch (const faro::capi::Stopped&) {
      fail(ErrorCode::usage, "synth", "a search that was stopped", "one that is let go on");
    }
  });
}
