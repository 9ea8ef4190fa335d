// The peers of axes_bench: other libraries' permutations of axes, where they are installed.
//
//     HPTT       its plan by measuring, 4 and 8 bytes; where its header was found when this was compiled
//     oneDNN     a reorder, 1, 2 and 4 bytes, at most 12 axes; likewise
//     FFTW       a transform of rank 0, its plan by measuring, 4 and 8 bytes
//     OpenBLAS   omatcopy, matrices of 4 and 8 bytes, one after another
//     MKL        mkl_omatcopy, likewise
//     NumPy      numpy.copyto() of a transposed view, all widths, by the Python that is installed
//     torch      Tensor.copy_() likewise, by the same Python
//
// The last five are looked for when the program runs (dlopen).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/axes_suites.hpp"

namespace faro::bench {

struct PeerArrays {
  const std::byte* in;
  std::byte* out;
  int threads;
};

class AxesPeer {
 public:
  virtual ~AxesPeer() = default;
  virtual std::string name() const = 0;
  /// What permutes the arrays, planned before; empty where the peer does not take the shape. It may write to
  /// the output while it plans.
  virtual std::function<void()> prepare(const AxesShape& shape, const PeerArrays& arrays) = 0;
};

/// Those of these names that are there; of no name all that are. Errors: ErrorCode::usage for a name that
/// there is none of.
std::vector<std::unique_ptr<AxesPeer>> axes_peers(const std::vector<std::string>& names);

/// Of libraries that were found when this was compiled (axes_peers_compiled.cpp); null: not there.
std::unique_ptr<AxesPeer> hptt_peer();
std::unique_ptr<AxesPeer> onednn_peer();

}  // namespace faro::bench
