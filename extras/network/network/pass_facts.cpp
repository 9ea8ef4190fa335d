#include "network/pass_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "network/text.hpp"
#include "size_text.hpp"

namespace faro::network::detail {

std::string layers_text(const std::vector<Layer>& layers) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const Layer& layer : layers) {
    const std::string name =
        layer.op.kind == OperatorKind::elementwise ? operator_text(layer.op) : layer.op.name;
    const auto found =
        std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == name; });
    if (found == counts.end()) {
      counts.emplace_back(name, 1);
    } else {
      ++found->second;
    }
  }
  if (counts.empty()) return "no layers";
  const std::string all = count_text(layers.size(), "layer");
  if (counts.size() == 1) return fmt::format("{} of {}", all, counts.front().first);
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{} {} of {}", text.empty() ? ":" : ",", count, name);
  }
  return all + text;
}

std::string pass_layers_text(const Pass& pass) {
  const std::size_t first = pass.first_layer + 1;
  if (pass.layers.empty()) return pass.map.is_identity() ? "no layers: a copy" : "no layers: elements move";
  if (pass.layers.size() == 1) return fmt::format("layer {}", first);
  return fmt::format("layers {} to {}", first, pass.first_layer + pass.layers.size());
}

std::string writes_text(const Pass& pass) {
  if (pass.map.is_identity()) return "where it has read";
  if (pass.in_place) return "where it has read, in another order";
  return "elsewhere, in the order that the final map wants";
}

std::vector<f2::Word> distances(const Pass& pass) {
  std::vector<f2::Word> all;
  for (const LocalLayer& layer : pass.layers) {
    if (std::find(all.begin(), all.end(), layer.delta) == all.end()) all.push_back(layer.delta);
  }
  return all;
}

}  // namespace faro::network::detail
