// Which map most entries of an index array follow, by a few samples.
#pragma once

#include <string>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

struct SampledMaps {
  std::vector<Permutation> candidates;  // an Affine, a Modular
  std::string why;                      // there is none
};

/// Cost: a thousand entries.
SampledMaps sample_maps(IndexReader& reader);

}  // namespace faro::detail
