// The plan of a strided view in words, JSON and a drawing, and its predicted time.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "faro/plan/strided_plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "plan/planners.hpp"
#include "tell/box_lines.hpp"
#include "tell/counts/counting.hpp"
#include "tell/counts/line_counts_json.hpp"
#include "tell/facts.hpp"
#include "tell/margin_text.hpp"
#include "tell/svg_figures.hpp"

namespace faro {
namespace {

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

}  // namespace

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
  text.whole_line("normal form", to_text(normal_));
  text.line("elements", size_text(element_bytes_) + " wide");
  text.line("target", std::string(name(target_.engine)) + (target_.name.empty() ? "" : ", " + target_.name));
  for (const Pass& pass : passes_) {
    text.line("pass 1", fmt::format("{}: {}", name(pass.kind), pass.what));
    text.line("  moves", fmt::format("reads {} and writes as much", size_text(moved_bytes_)));
    detail::add_box(text, pass);
    if (pass.launch) {
      text.line("  kernel", pass.launch->kernel);
      text.line("  launch",
                fmt::format("{} blocks of {} threads, {} of shared memory each", pass.launch->blocks,
                            pass.launch->threads, size_text(pass.launch->shared_bytes)));
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
                                  size_text(element_bytes_));
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
      {"normal_form", to_text(normal_)},
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
