// Problems of every family, drawn by a seed: shapes, widths, batches, maps and sizes that nobody chose.
//
//     affine         random maps, bit reversal, transpose        out of place
//     in place       the same                                    in place
//     axes           2 to 6 axes of any extents, in any order
//     cyclic         rolls and flips
//     direct         gather and scatter by a random index array
//     window         everything moves a little
//     runs           runs of any length that change places
//     partition      a random index array, both directions
//     row-column     the same by rows and columns, 3 or 5 passes
//     sweep          a transposition of any shape, in place
//     network        sorts, merges and transforms
//     small arrays   batches of arrays of 2 to 4 axes, some of which a block holds
//
// The same seed gives the same problems on every machine of one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/gpu_model/cases.hpp"
#include "faro/faro.hpp"
#include "faro/network/network.hpp"

namespace faro::bench::gpu_model {

struct DrawnPermutation {
  Problem problem;
  IndexChoice choice = {};
};

struct DrawnProblem {
  std::string family;
  std::string spec;  // the permutation and how it is asked for
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;  // of all arrays
  /// Makes the problem, which may take seconds: index arrays are long.
  std::function<std::variant<DrawnPermutation, network::Problem>()> make;
};

struct DrawOptions {
  std::uint64_t seed = 1;
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = 0;
  int of_family = 0;
};

/// Families one after another, in the order of the page.
std::vector<DrawnProblem> draw(const DrawOptions& options);

/// Axes that boxes move, of every width: rows at vectors and rows that begin anywhere; and small arrays of a
/// batch, which are moved whole. All of at most 16 MiB.
std::vector<DrawnProblem> listed_boxes();

/// A drawn problem made ready on the device, with what is predicted of it.
class ReadyProblem {
 public:
  /// Errors: those of faro::plan and network::compile.
  ReadyProblem(const DrawnProblem& drawn, const std::optional<Calibration>& calibration);
  ReadyProblem(ReadyProblem&&) noexcept;
  ReadyProblem& operator=(ReadyProblem&&) noexcept;
  ~ReadyProblem();

  /// In place in `out` where the problem is.
  void run(const std::byte* in, std::byte* out, Stream stream) const;
  /// "axes turned, …; …": the kernels in their order.
  std::string kernels() const;
  /// Microseconds; nothing where a pass has no prediction.
  std::optional<double> predicted_us() const;
  /// Nothing of a network.
  const Plan* plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The columns of counted_passes().
inline constexpr const char* kPassColumns =
    "kernel\tlaunches\tblocks\tshared_bytes\tbytes_read\tbytes_written\ttable_bytes\tload_requests\tload_"
    "sectors\t"
    "load_lines\tstore_requests\tstore_sectors\tstore_lines\tshared_requests\twavefronts\tpredicted_us";

/// What the cost of each launched pass is made of, by what `target` plans, a line a pass, as tab-separated
/// columns (kPassColumns); on the host alone.
std::vector<std::string> counted_passes(const DrawnProblem& drawn, const Target& target);

/// Of all launches, every block counted, on the host alone.
machine::AccessCounts count(const DrawnProblem& drawn, const Target& target);

/// Each as a case to profile: prepared, launched once. Errors: ErrorCode::device without a GPU.
std::vector<Case> drawn_cases(const std::vector<DrawnProblem>& problems);

}  // namespace faro::bench::gpu_model
