// A plan of shards in words and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "faro/shards.hpp"
#include "io/buffer.hpp"
#include "size_text.hpp"

namespace faro {
namespace {

std::string cut_text(const ShardCut& cut) {
  if (const auto* const bits = std::get_if<ShardBits>(&cut))
    return fmt::format("index bits {}", fmt::join(bits->bits, " "));
  if (const auto* const distribution = std::get_if<Distribution>(&cut)) return to_text(*distribution);
  const auto& axis = std::get<ShardAxis>(cut);
  if (axis.extents.empty()) return fmt::format("slabs of axis {}, even", axis.axis);
  return fmt::format("slabs of axis {}, of {}", axis.axis, fmt::join(axis.extents, " "));
}

std::string pass_text(const ShardPass& pass, const char* none) {
  if (pass.is_nothing()) return none;
  if (!pass.permutation) return fmt::format("{} boxes, copied", pass.views.size());
  return to_text(*pass.permutation);
}

// What GPUs that reach each other's memory do instead.
std::string stores_text(const ShardStores& stores) {
  if (!stores.is_possible())
    return "none: messages alone carry an index array, and pass on what an island wants";
  return stores.to_output ? "one pass, straight into the peers' outputs, where kernels reach them"
                          : "two passes, the first into the peers' workspace, where kernels reach it";
}

ShardLocalPlan local_plan_of(const char* step, const Plan& plan) {
  return {.step = step, .text = plan.explain(), .json = plan.explain_json(), .us = predict_us(plan)};
}

ShardLocalPlan local_plan_of(const char* step, const std::vector<Strided>& views, std::uint64_t width,
                             const Target& target) {
  constexpr std::size_t kMostCounted = 256;
  const Plan first({.element_bytes = width, .view = views.front()}, target);
  ShardLocalPlan made{.step = step,
                      .boxes = views.size(),
                      .text = first.explain(),
                      .json = first.explain_json(),
                      .us = std::nullopt};
  if (views.size() > kMostCounted) return made;
  double sum = 0;
  for (const Strided& view : views) {
    const std::optional<double> us = predict_us(Plan({.element_bytes = width, .view = view}, target));
    if (!us) return made;
    sum += *us;
  }
  made.us = sum;
  return made;
}

}  // namespace

std::vector<ShardLocalPlan> ShardPlan::local_plans(const Target& target) const {
  std::vector<ShardLocalPlan> plans;
  const std::uint64_t width = problem_.element_bytes;
  const auto add = [&](const char* step, const ShardPass& pass, std::uint64_t elements) {
    if (elements == 0 || pass.is_nothing()) return;
    if (!pass.permutation) return plans.push_back(local_plan_of(step, pass.views, width, target));
    const Problem local{.permutation = *pass.permutation, .element_bytes = width};
    const auto* const indexed = std::get_if<Indexed>(&local.permutation);
    if (indexed == nullptr || !pass.keeps_order)
      return plans.push_back(local_plan_of(step, Plan(local, target)));
    IndexChoice in_order;
    in_order.method = IndexMethod::direct;
    plans.push_back(local_plan_of(step, Plan(local, target, recognise(*indexed), in_order)));
  };
  add("pack", pack_, in_elements_);
  add("unpack", unpack_, out_elements_);
  return plans;
}

std::optional<double> ShardPlan::copy_gb_per_s(const std::vector<ShardLocalPlan>& plans) const {
  constexpr double kBytesPerUs = 1e3;  // of a gigabyte a second
  double us = 0;
  double bytes = 0;
  for (const ShardLocalPlan& each : plans) {
    if (!each.us) return std::nullopt;
    us += *each.us;
    bytes += 2 * static_cast<double>(each.step == "pack" ? in_bytes() : out_bytes());
  }
  if (us <= 0) return std::nullopt;
  return bytes / us / kBytesPerUs;
}

std::string ShardPlan::explain(const ShardRates& rates) const {
  std::string text;
  const auto line = [&text](const char* what, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<14}{}\n", what, value);
  };
  const Shards& shards = problem_.shards;
  line("shards", fmt::format("rank {} of {}: {} in, {} out", shards.rank, shards.ranks, size_text(in_bytes()),
                             size_text(out_bytes())));
  line("cuts", fmt::format("{} -> {}", cut_text(shards.in), cut_text(shards.out)));
  line("method", fmt::format("{}: {}", name(method_), reason_));
  line("pack", pass_text(pack_, "nothing, sent from where it lies"));
  line("exchange", fmt::format("{} to {} other ranks, {} from them{}", size_text(sent_bytes()), ranks_met(),
                               size_text(received_bytes()),
                               rho_ ? fmt::format("; rho = {}, messages of {}", *rho_,
                                                  size_text(sends_.empty() ? 0 : sends_[0].bytes))
                                    : ""));
  line("links", fmt::format("{} at most between two ranks, in {} rounds of pairs; slices: {}",
                            size_text(most_link_bytes()), rounds(),
                            slice_bits_ == 0 ? "none" : fmt::format("up to {} a message", 1 << slice_bits_)));
  line("stores", stores_text(stores_));
  line("bound", fmt::format("{}, what changes its rank: no schedule sends less", size_text(sent_bytes())));
  line("unpack", pass_text(unpack_, "nothing, received where it lies"));
  line("workspace", size_text(workspace_bytes()));
  line("predicted", fmt::format("{:.3g} ms at {:g} GB/s a link and a copy of {:g} GB/s",
                                predicted_seconds(rates) * 1e3, rates.link_gb_per_s, rates.copy_gb_per_s));
  return text;
}

std::string ShardPlan::explain_json(const ShardRates& rates) const {
  nlohmann::ordered_json json;
  json["ranks"] = problem_.shards.ranks;
  json["rank"] = problem_.shards.rank;
  json["in_cut"] = cut_text(problem_.shards.in);
  json["out_cut"] = cut_text(problem_.shards.out);
  json["in_shape"] = problem_.in_shape();
  json["out_shape"] = problem_.out_shape();
  json["in_bytes"] = in_bytes();
  json["out_bytes"] = out_bytes();
  json["method"] = name(method_);
  json["method_reason"] = reason_;
  json["pack"] = pass_text(pack_, "");
  json["unpack"] = pass_text(unpack_, "");
  json["rho"] = rho_ ? nlohmann::ordered_json(*rho_) : nullptr;
  json["messages"] = sends_.size();
  json["ranks_met"] = ranks_met();
  json["sent_bytes"] = sent_bytes();
  json["received_bytes"] = received_bytes();
  json["rounds"] = rounds();
  json["most_link_bytes"] = most_link_bytes();
  json["most_slices"] = std::uint64_t{1} << slice_bits_;
  json["store_passes"] = !stores_.is_possible() ? 0 : stores_.to_output ? 1 : 2;
  json["bound_bytes"] = sent_bytes();
  json["workspace_bytes"] = workspace_bytes();
  json["predicted_ms"] = predicted_seconds(rates) * 1e3;
  return json.dump();
}

}  // namespace faro
