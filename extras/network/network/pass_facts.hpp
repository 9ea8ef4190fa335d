// What a network's plan says about its layers and passes, in words that its text and its JSON share.
#pragma once

#include <string>
#include <vector>

#include "faro/network/plan.hpp"

namespace faro::network::detail {

/// "300 layers of min_max", "2 layers: 1 of min_max, 1 of hadamard", "no layers".
std::string layers_text(const std::vector<Layer>& layers);

/// "layers 1 to 9", "layer 4", "no layers: elements move".
std::string pass_layers_text(const Pass& pass);

/// Where the pass writes: "in place", "in place, in another order", "out of place: ...".
std::string writes_text(const Pass& pass);

/// The deltas of the pass's layers, each once, in order of appearance.
std::vector<f2::Word> distances(const Pass& pass);

}  // namespace faro::network::detail
