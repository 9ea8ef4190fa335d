#include "faro/plan/strided_plan.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "plan/box_lines.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/cpu/line_counts_json.hpp"
#include "plan/facts.hpp"
#include "plan/form_to_run.hpp"
#include "plan/gpu/counting.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "plan/margin_text.hpp"
#include "plan/planners.hpp"
#include "plan/svg_figures.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostStridedBytes = std::uint64_t{1} << 62;

void check_strided_width(const Strided& view, std::uint64_t element_bytes) {
  if (element_bytes == 0 || element_bytes > kMaxElementBytes) {
    fail(ErrorCode::value, "plan", fmt::format("elements of {} bytes", element_bytes),
         fmt::format("1 to {} bytes", kMaxElementBytes));
  }
  if (std::max(in_elements(view), out_elements(view)) > kMostStridedBytes / element_bytes) {
    fail(ErrorCode::value, "plan", fmt::format("{} on elements of {} bytes", to_text(view), element_bytes),
         "arrays of at most 2^62 bytes");
  }
}

// Kernels of affine maps take widths that are powers of two: a flip of one axis of two elements is no roll,
// flip or permutation of axes of the whole, and is moved in boxes where elements have, say, 3 bytes.
bool takes_width(const Permutation& permutation, std::uint64_t element_bytes) {
  const auto* const map = std::get_if<Affine>(&permutation);
  return map == nullptr || f2::is_power_of_two(element_bytes) || detail::form_of_any_width(*map);
}

// "an array of 4000 elements", "4000 elements of an array of 800 or more".
std::string elements_of_array(std::uint64_t needed, std::uint64_t moved) {
  if (needed == moved) return fmt::format("an array of {} element{}", needed, needed == 1 ? "" : "s");
  return fmt::format("{} element{} of an array of {} or more", moved, moved == 1 ? "" : "s", needed);
}

constexpr double kUsPerMs = 1e3;

nlohmann::ordered_json ms_json(std::optional<double> us) {
  return us ? nlohmann::ordered_json(*us / kUsPerMs) : nlohmann::ordered_json();
}

// What the kernel does to the memories, counted, and the time that this takes by the target's rates.
struct ViewCounts {
  detail::Counted counted;
  std::optional<double> us;
};
std::optional<ViewCounts> view_counts(const StridedPlan& plan, const Pass& pass) {
  const Target& target = plan.target();
  const std::uint64_t longer = std::max(plan.in_elements(), plan.out_elements());
  auto counted = detail::count_blocks(
      *pass.gpu, {.arrays = 1, .array_bytes = longer * plan.element_bytes(), .written = plan.moved_bytes()},
      detail::geometry_of(target));
  if (!counted) return std::nullopt;
  const auto us = detail::solver_of(pass.kind).cost(
      {.pass = pass, .counts = counted->counts, .rates = target.calibration});
  return ViewCounts{.counted = *std::move(counted), .us = us};
}

const std::string& rates_of_target(const Target& target) {
  return target.calibration ? target.calibration->source : target.name;
}

void add_view_counts(detail::MarginText& text, const StridedPlan& plan, const Pass& pass) {
  const std::optional<ViewCounts> found = view_counts(plan, pass);
  if (!found) return;
  const machine::AccessCounts& counts = found->counted.counts;
  const auto global = [&](const char* label, const machine::GlobalCounts& side) {
    text.line(label, fmt::format("{} requests, {} sectors of 32 bytes, {} lines of 128 bytes", side.requests,
                                 side.sectors, side.lines));
  };
  const auto shared = [&](const char* label, const machine::SharedCounts& side) {
    text.line(label, fmt::format("{} requests, {} wavefronts, congestion {}", side.requests, side.wavefronts,
                                 side.max_congestion()));
  };
  global("  loads", counts.global_loads);
  global("  stores", counts.global_stores);
  if (counts.shared_stores.requests + counts.shared_loads.requests > 0) {
    shared("  to shared", counts.shared_stores);
    shared("  from shared", counts.shared_loads);
  }
  text.line("  counted", detail::to_text(found->counted));
  if (found->us) {
    text.line("  time", fmt::format("{:.4g} ms predicted, by the rates of {}", *found->us / kUsPerMs,
                                    rates_of_target(plan.target())));
  }
}

void add_view_counts(nlohmann::ordered_json& json, const StridedPlan& plan, const Pass& pass) {
  const std::optional<ViewCounts> found = view_counts(plan, pass);
  if (!found) return;
  const machine::AccessCounts& counts = found->counted.counts;
  const auto global = [](const machine::GlobalCounts& side) -> nlohmann::ordered_json {
    return {
        {"requests", side.requests}, {"sectors", side.sectors}, {"lines", side.lines}, {"bytes", side.bytes}};
  };
  const auto shared = [](const machine::SharedCounts& side) -> nlohmann::ordered_json {
    return {{"requests", side.requests},
            {"wavefronts", side.wavefronts},
            {"bytes", side.bytes},
            {"congestion", side.max_congestion()}};
  };
  json["predicted"] = {{"global_loads", global(counts.global_loads)},
                       {"global_stores", global(counts.global_stores)},
                       {"shared_stores", shared(counts.shared_stores)},
                       {"shared_loads", shared(counts.shared_loads)}};
  json["counted"] = detail::to_text(found->counted);
  json["bounded"] = false;
  json["predicted_time"] = found->us ? nlohmann::ordered_json{{"ms", ms_json(found->us)},
                                                              {"rates", rates_of_target(plan.target())}}
                                     : nlohmann::ordered_json();
}

// Of a CPU; nothing where nothing moves.
std::optional<double> view_us(const StridedPlan& plan, const Pass& pass, const IndexCalibration& curves) {
  if (plan.moved_bytes() == 0) return std::nullopt;
  return detail::axes_us({*pass.cpu}, curves);
}

const IndexCalibration& curves_of(const Target& target) {
  return target.index_calibration ? *target.index_calibration : built_in_cpu_calibration();
}

// Axes of which some are flipped go as views. On a CPU boxes are faster than the tiles of an affine map where
// the caches hold neither array, and most of all where the output begins between lines; on a GPU, those of
// narrow elements whose rows stay, or are read backwards (docs/notes/axes-experiments.md).
bool goes_by_boxes(const StridedPlan& plan, const detail::AxisMap& normal, const Permutation& permutation) {
  if (std::holds_alternative<CyclicAxes>(permutation)) return true;
  constexpr std::size_t kMostAxes = 16;
  const std::size_t axes = normal.axes.size();
  // Halves that are flipped each.
  const auto* const cyclic = std::get_if<Cyclic>(&permutation);
  if (cyclic != nullptr && cyclic->reversed && axes > 1) return true;
  if (axes < 2 || axes > kMostAxes || !std::holds_alternative<Affine>(permutation)) return false;
  if (plan.target().engine == Engine::cuda) {
    if (plan.target().tile) return false;
    constexpr std::uint64_t large_bytes = 4 << 20;
    constexpr std::uint64_t row_bytes = 128;
    const detail::StridedAxis& row = normal.axes.front();
    const bool forwards = row.in == 1;
    if (!forwards && row.in != -1) return false;
    return plan.element_bytes() <= (forwards ? 1 : 2) && plan.moved_bytes() >= large_bytes &&
           row.extent * plan.element_bytes() >= row_bytes;
  }
  return plan.target().engine == Engine::cpu && plan.moved_bytes() > plan.target().streaming_bytes;
}

}  // namespace

StridedPlan::StridedPlan(const Strided& view, std::uint64_t element_bytes, Target target)
    : view_(view), element_bytes_(element_bytes), target_(std::move(target)) {
  check(view_);
  check_strided_width(view_, element_bytes_);
  in_elements_ = faro::in_elements(view_);
  out_elements_ = faro::out_elements(view_);
  moved_bytes_ = element_count(view_) * element_bytes_;
  const detail::AxisMap normal = detail::normal_form(detail::axis_map(view_));
  if (const auto permutation = detail::as_permutation(normal); permutation &&
                                                               takes_width(*permutation, element_bytes_) &&
                                                               !goes_by_boxes(*this, normal, *permutation)) {
    permutation_ = std::make_shared<const Plan>(
        Problem{.permutation = *permutation, .element_bytes = element_bytes_}, target_);
    return;
  }
  if (target_.engine == Engine::cuda) {
    if (moved_bytes_ > 0) passes_.push_back(detail::pass_of_view(normal, element_bytes_));
    return;
  }
  passes_.push_back(detail::cpu_pass_of(normal, element_bytes_, target_));
}

std::optional<double> predict_us(const StridedPlan& plan) {
  if (plan.permutation_plan() != nullptr) return predict_us(*plan.permutation_plan());
  if (plan.moved_bytes() == 0) return 0;
  const Pass& pass = plan.passes().front();
  if (!pass.launch) return view_us(plan, pass, curves_of(plan.target()));
  const std::optional<ViewCounts> counts = view_counts(plan, pass);
  return counts ? counts->us : std::nullopt;
}

std::string StridedPlan::explain() const {
  detail::MarginText text;
  const std::uint64_t moved = element_count(view_);
  text.whole_line("view", to_text(view_));
  text.line("", "reads " + elements_of_array(in_elements_, moved));
  text.line("", "writes " + elements_of_array(out_elements_, moved));
  if (permutation_) return text.take() + permutation_->explain();
  text.whole_line("normal form", to_text(normal()));
  text.line("elements", detail::size_text(element_bytes_) + " wide");
  text.line("target", std::string(name(target_.engine)) + (target_.name.empty() ? "" : ", " + target_.name));
  for (const Pass& pass : passes_) {
    text.line("pass 1", fmt::format("{}: {}", name(pass.kind), pass.what));
    text.line("  moves", fmt::format("reads {} and writes as much", detail::size_text(moved_bytes_)));
    detail::add_box(text, pass);
    if (pass.launch) {
      text.line("  kernel", pass.launch->kernel);
      text.line("  launch",
                fmt::format("{} blocks of {} threads, {} of shared memory each", pass.launch->blocks,
                            pass.launch->threads, detail::size_text(pass.launch->shared_bytes)));
      add_view_counts(text, *this, pass);
      continue;
    }
    text.line("  kernel", pass.team->kernel);
    text.line("  threads", fmt::format("{}{}", pass.team->threads,
                                       pass.team->streamed ? ", written past the caches" : ""));
    if (const auto lines = detail::count_lines(pass, nullptr)) {
      text.line("  lines", detail::lines_text(*lines, pass.bytes_read, pass.bytes_written));
      text.line("  counted", lines->counted);
    }
    const IndexCalibration& curves = curves_of(target_);
    if (const auto us = view_us(*this, pass, curves)) {
      text.line("  time",
                fmt::format("{:.4g} ms predicted, by the curves of {}", *us / kUsPerMs, curves.source));
    }
  }
  return text.take();
}

std::string StridedPlan::svg() const {
  if (permutation_) return permutation_->svg();
  const std::string text = to_text(view_);
  std::string words = fmt::format("{} elements of {}, one sweep, tile by tile", element_count(view_),
                                  detail::size_text(element_bytes_));
  if (const auto us = predict_us(*this); us && *us > 0)
    words += fmt::format("; {:.4g} ms predicted", *us / kUsPerMs);
  const Pass none;
  return svg::box_svg(text, words, passes_.empty() ? none : passes_.front());
}

std::string StridedPlan::explain_json() const {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"schema", detail::kJsonSchema},
      {"view", to_text(view_)},
      {"normal_form", to_text(normal())},
      {"elements", element_count(view_)},
      {"element_bytes", element_bytes_},
      {"in_elements", in_elements_},
      {"out_elements", out_elements_},
      {"bytes", moved_bytes_},
      {"target", {{"engine", name(target_.engine)}, {"name", target_.name}, {"threads", target_.threads}}}};
  json["predicted_ms"] = ms_json(predict_us(*this));
  json["permutation"] = permutation_ ? Json::parse(permutation_->explain_json()) : Json();
  json["passes"] = Json::array();
  for (const Pass& pass : passes_) {
    Json shown = {{"kind", name(pass.kind)},
                  {"reason", pass.what},
                  {"bytes_read", pass.bytes_read},
                  {"bytes_written", pass.bytes_written}};
    detail::add_box_json(shown, pass);
    if (pass.launch) {
      shown["launch"] = {{"kernel", pass.launch->kernel},
                         {"blocks", pass.launch->blocks},
                         {"threads", pass.launch->threads},
                         {"shared_bytes", pass.launch->shared_bytes}};
      add_view_counts(shown, *this, pass);
    } else {
      shown["team"] = {{"kernel", pass.team->kernel},
                       {"threads", pass.team->threads},
                       {"streamed", pass.team->streamed},
                       {"thread_bytes", pass.team->thread_bytes}};
      if (const auto lines = detail::count_lines(pass, nullptr)) {
        detail::add_lines(shown, *lines, pass.bytes_read, pass.bytes_written);
      }
      const IndexCalibration& curves = curves_of(target_);
      const auto us = view_us(*this, pass, curves);
      shown["predicted_time"] = us ? Json{{"ms", *us / kUsPerMs}, {"rates", curves.source}} : Json();
    }
    json["passes"].push_back(std::move(shown));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace faro
