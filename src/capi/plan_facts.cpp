// What a plan tells of itself: where it runs, what it needs, its words, its picture and its time.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "capi/plans.hpp"
#include "capi/status.hpp"
#include "plan/prediction.hpp"

namespace faro::capi {
namespace {

// Sweeps of the CPU that no curve was measured for take a copy's time, over the share of its speed that they
// reach: affine maps 69 to 86%, views about half (bench/results).
constexpr double kShareOfMaps = 0.77;
constexpr double kShareOfViews = 0.5;

double swept_us(const Target& target, std::uint64_t bytes, double share) {
  constexpr std::uint64_t kWidth = 4;
  const auto curves = target.index_calibration ? target.index_calibration
                                               : calibration_for(target.name, built_in_cpu_calibration());
  const auto copy = curves->predict_us(IndexKernel::copy, kWidth, (bytes + kWidth - 1) / kWidth);
  return copy ? *copy / share : std::numeric_limits<double>::quiet_NaN();
}

// Microseconds of all passes; NaN where one is not known.
double predicted_us_of(const Plan& plan) {
  if (plan.passes().empty()) return 0;
  if (const IndexPlan* const index = plan.index_plan()) {
    if (index->chosen().predicted_us) return *index->chosen().predicted_us;
  }
  double sum = 0;
  for (std::size_t pass = 0; pass < plan.passes().size(); ++pass) {
    const auto microseconds = predict_us(plan, pass);
    if (!microseconds && plan.target().engine == Engine::cuda)
      return std::numeric_limits<double>::quiet_NaN();
    sum += microseconds ? *microseconds : swept_us(plan.target(), plan.array_bytes(), kShareOfMaps);
  }
  return sum;
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
    require_argument(on_gpu, kDoing, "on_gpu");
    require_argument(in_place, kDoing, "in_place");
    const faro::Engine engine = made.map ? made.map->plan.engine() : made.views.front().plan.engine();
    *on_gpu = engine == faro::Engine::cuda ? 1 : 0;
    *in_place = made.map && made.map->problem.placement == faro::Placement::in_place ? 1 : 0;
  });
}

faro_status faro_plan_out_bytes(const faro_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(bytes, "tell of a plan", "bytes");
    uint64_t sum = 0;
    for (const auto& step : made.views) sum += step.plan.plan().moved_bytes();
    *bytes = made.map ? made.map->plan.plan().array_bytes() : sum;
  });
}

faro_status faro_plan_out_shape(const faro_plan* plan, int* rank, uint64_t* shape) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(rank, "tell of a plan", "rank");
    require_argument(shape, "tell of a plan", "shape");
    std::copy(made.out_shape.begin(), made.out_shape.end(), shape);
    *rank = static_cast<int>(made.out_shape.size());
  });
}

faro_status faro_plan_workspace_bytes(const faro_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(bytes, "tell of a plan", "bytes");
    uint64_t most = 0;
    for (const auto& step : made.views) most = std::max(most, step.plan.workspace_bytes());
    if (made.map) {
      most = std::max(most, made.map->plan.workspace_bytes());
      if (!made.views.empty()) most += made.map->plan.plan().array_bytes();
    }
    *bytes = most;
  });
}

faro_status faro_plan_explain(const faro_plan* plan, char** text) {
  return guarded([&] {
    const faro_plan& made = of(plan, "explain a plan");
    require_argument(text, "explain a plan", "text");
    std::string words;
    for (const auto& step : made.views) words += step.plan.explain();
    if (made.map) words += made.map->plan.explain();
    *text = given_away(words);
  });
}

faro_status faro_plan_explain_json(const faro_plan* plan, char** json) {
  return guarded([&] {
    const faro_plan& made = of(plan, "explain a plan");
    require_argument(json, "explain a plan", "json");
    using Json = nlohmann::ordered_json;
    Json steps = Json::array();
    for (const auto& step : made.views) steps.push_back(Json::parse(step.plan.plan().explain_json()));
    if (made.map) steps.push_back(Json::parse(made.map->plan.plan().explain_json()));
    const Json told = steps.size() == 1 ? steps.front() : Json{{"steps", steps}};
    *json = given_away(told.dump(2, ' ', false, Json::error_handler_t::replace));
  });
}

faro_status faro_plan_svg(const faro_plan* plan, char** svg) {
  return guarded([&] {
    const faro_plan& made = of(plan, "draw a plan");
    require_argument(svg, "draw a plan", "svg");
    const faro::Plan* drawn = made.map ? &made.map->plan.plan() : nullptr;
    if (drawn == nullptr && made.views.size() == 1) drawn = made.views.front().plan.plan().permutation_plan();
    if (drawn == nullptr) {
      faro::fail(faro::ErrorCode::unsupported, "draw a plan", "a plan of strided views",
                 "a plan of a permutation");
    }
    *svg = given_away(drawn->svg());
  });
}

faro_status faro_plan_predicted_us(const faro_plan* plan, double* microseconds) {
  return guarded([&] {
    const faro_plan& made = of(plan, "predict a plan");
    require_argument(microseconds, "predict a plan", "microseconds");
    double sum = made.map ? faro::capi::predicted_us_of(made.map->plan.plan()) : 0;
    for (const auto& step : made.views) {
      const faro::StridedPlan& view = step.plan.plan();
      if (view.moved_bytes() == 0) continue;
      if (view.permutation_plan() != nullptr) {
        sum += faro::capi::predicted_us_of(*view.permutation_plan());
      } else if (view.target().engine == faro::Engine::cuda) {
        sum += std::numeric_limits<double>::quiet_NaN();
      } else {
        sum += faro::capi::swept_us(view.target(), view.moved_bytes(), faro::capi::kShareOfViews);
      }
    }
    *microseconds = sum;
  });
}
