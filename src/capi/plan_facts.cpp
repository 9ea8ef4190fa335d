// What a plan tells of itself: where it runs, what it needs, its words, its picture and its time.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "capi/plans.hpp"
#include "capi/status.hpp"

namespace faro::capi {
namespace {

// NaN where the time is not known.
double predicted_us_of(const Plan& plan) {
  return predict_us(plan).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace
}  // namespace faro::capi

using faro::capi::given_away;
using faro::capi::guarded;
using faro::capi::of;
using faro::capi::require_argument;

faro_status faro_plan_facts(const faro_plan* plan, int* on_gpu, int* in_place) {
  return guarded([&] {
    constexpr const char* kDoing = "tell of a plan";
    const faro_plan& made = of(plan, kDoing);
    require_argument(kDoing, {{on_gpu, "on_gpu"}, {in_place, "in_place"}});
    const faro::capi::Step& last = made.steps.back();
    *on_gpu = last.plan.engine() == faro::Engine::cuda ? 1 : 0;
    *in_place = last.problem.placement == faro::Placement::in_place ? 1 : 0;
  });
}

faro_status faro_plan_out_bytes(const faro_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(bytes, "tell of a plan", "bytes");
    *bytes = 0;
    for (const auto& step : made.map() == nullptr ? made.views() : std::span(made.map(), 1))
      *bytes += step.bytes();
  });
}

faro_status faro_plan_out_shape(const faro_plan* plan, int* rank, uint64_t* shape) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument("tell of a plan", {{rank, "rank"}, {shape, "shape"}});
    std::copy(made.out_shape.begin(), made.out_shape.end(), shape);
    *rank = static_cast<int>(made.out_shape.size());
  });
}

faro_status faro_plan_workspace_bytes(const faro_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(bytes, "tell of a plan", "bytes");
    uint64_t most = 0;
    for (const auto& step : made.steps) most = std::max(most, step.plan.workspace_bytes());
    const bool collects = made.map() != nullptr && made.steps.size() > 1;
    *bytes = most + (collects ? made.map()->bytes() : 0);
  });
}

faro_status faro_plan_explain(const faro_plan* plan, char** text) {
  return guarded([&] {
    const faro_plan& made = of(plan, "explain a plan");
    require_argument(text, "explain a plan", "text");
    std::string words;
    for (const auto& step : made.steps) words += step.plan.explain();
    *text = given_away(words);
  });
}

faro_status faro_plan_explain_json(const faro_plan* plan, char** json) {
  return guarded([&] {
    const faro_plan& made = of(plan, "explain a plan");
    require_argument(json, "explain a plan", "json");
    using Json = nlohmann::ordered_json;
    Json steps = Json::array();
    for (const auto& step : made.steps) steps.push_back(Json::parse(step.plan.plan().explain_json()));
    const Json told = steps.size() == 1 ? steps.front() : Json{{"steps", steps}};
    *json = given_away(told.dump(2, ' ', false, Json::error_handler_t::replace));
  });
}

faro_status faro_plan_svg(const faro_plan* plan, char** svg) {
  return guarded([&] {
    const faro_plan& made = of(plan, "draw a plan");
    require_argument(svg, "draw a plan", "svg");
    if (made.map() != nullptr || made.steps.size() == 1) {
      *svg = given_away(made.steps.back().plan.plan().svg());
    } else {
      faro::fail(faro::ErrorCode::unsupported, "draw a plan", "a plan of several strided views",
                 "a plan of one view or of a permutation");
    }
  });
}

faro_status faro_plan_predicted_us(const faro_plan* plan, double* microseconds) {
  return guarded([&] {
    const faro_plan& made = of(plan, "predict a plan");
    require_argument(microseconds, "predict a plan", "microseconds");
    *microseconds = 0;
    for (const auto& step : made.steps) *microseconds += faro::capi::predicted_us_of(step.plan.plan());
  });
}
