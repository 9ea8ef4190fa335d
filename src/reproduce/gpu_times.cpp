#include "reproduce/gpu_times.hpp"

#include "engines/cuda_shared_transpose.hpp"
#include "faro/engines/cuda.hpp"
#include "reproduce/monte_carlo.hpp"

namespace faro::reproduce {
namespace {

constexpr std::array kSharedLayouts{cuda::SharedLayout::raw, cuda::SharedLayout::ras,
                                    cuda::SharedLayout::rap};
static_assert(kSharedLayouts.size() == kLayouts2.size());

// A time depends on the congestion of the layout's own random numbers: as in the table, the mean over some.
constexpr std::uint64_t kLayoutsTimed = 8;

double mean_ns(const cuda::SharedTranspose& transpose, const CellSeeds& seeds) {
  const std::uint64_t layouts = transpose.layout == cuda::SharedLayout::raw ? 1 : kLayoutsTimed;
  double sum = 0;
  for (std::uint64_t i = 0; i < layouts; ++i) {
    cuda::SharedTranspose timed = transpose;
    timed.seed = seeds.of(i).layout;
    sum += cuda::time_ns(timed);
  }
  return sum / static_cast<double>(layouts);
}

}  // namespace

std::optional<SharedTransposeTimes> measure_shared_transposes(std::uint64_t seed) {
  if (!cuda::status().available) return std::nullopt;
  const CellSeeds seeds(seed, "rap-table3, times");
  SharedTransposeTimes times{.device = cuda::target().name, .ns = {}};
  for (std::size_t order = 0; order < kTransposeOrders.size(); ++order) {
    for (std::size_t layout = 0; layout < kSharedLayouts.size(); ++layout) {
      times.ns[order][layout] = mean_ns(
          {.order = kTransposeOrders[order], .layout = kSharedLayouts[layout], .element_bytes = 4, .seed = 0},
          seeds);
    }
  }
  return times;
}

}  // namespace faro::reproduce
