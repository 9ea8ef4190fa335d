#include "bench/gpu_model/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "bench/maps.hpp"
#include "cuda/shared_transpose.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/affine_naive.hpp"
#include "kernels/affine_params.hpp"
#include "tell/prediction.hpp"

namespace faro::bench::gpu_model {
namespace {

using kernels::CompiledTile;
using kernels::TransposeOrder;
using machine::AccessCounts;
using machine::CountingMemory;

constexpr int kArrayBits = 24;
static_assert(kArrayBytes == std::uint64_t{1} << kArrayBits);
constexpr int kWidths = 5;

std::vector<NamedMap> maps_of_width(int width_bits) {
  return make_maps({.random_bpc = 1, .random_bmmc = 1}, kArrayBits - width_bits);
}

// --- plans

std::string kernel_text(const Pass& pass) {
  const Launch& launch = *pass.launch;
  if (!launch.tile) return fmt::format("{}, {}-byte vectors", name(pass.kind), launch.vector_bytes);
  const kernels::AffineTileShape& shape = launch.tile->shape;
  return fmt::format("tile {} x {} bytes, {}-byte vectors, {} threads{}", 1 << shape.row_bits,
                     shape.element_bytes() << shape.segment_bits, shape.vector_bytes(), shape.threads(),
                     launch.tile->blocked ? ", blocked" : "");
}

Case case_of(const NamedMap& map, std::uint64_t width, const Target& target) {
  const Plan plan({.permutation = map.map, .element_bytes = width}, target);
  const Pass& pass = plan.passes().front();
  return {.family = pass.launch->tile ? "affine tile" : "affine " + std::string(name(pass.kind)),
          .kernel = kernel_text(pass),
          .spec = map.spec,
          .element_bytes = width,
          .predicted = predict(plan, 0),
          .launch = [plan](const std::byte* in, std::byte* out) {
            const cuda::Executor executor(plan);
            static_cast<void>(cuda::StreamClock(plan.target().device).milliseconds(1, [&](Stream stream) {
              executor.run(in, out, stream);
            }));
          }};
}

void add_tiles(std::vector<Case>& cases, const Target& target) {
  for (const CompiledTile& tile : target.tiles) {
    Target only = target;
    only.tile = tile;
    const int width_bits = tile.shape.width_bits;
    for (const NamedMap& map : maps_of_width(width_bits)) {
      cases.push_back(case_of(map, f2::unit(width_bits), only));
    }
  }
}

void add_vectors(std::vector<Case>& cases, const Target& target) {
  for (const std::string& spec :
       {fmt::format("bits({}; 0 1 2 3 4 5 6 7 8 9 10 11 23 22 21 20 19 18 17 16 15 14 13 12)", kArrayBits),
        fmt::format("xor({}, 0x800000)", kArrayBits)}) {
    cases.push_back(case_of({.spec = spec, .map = std::get<Affine>(parse_permutation(spec))}, 1, target));
  }
  Target without_tiles = target;
  without_tiles.tiles.clear();
  for (int width_bits = 0; width_bits < kWidths; ++width_bits) {
    for (const NamedMap& map : maps_of_width(width_bits)) {
      cases.push_back(case_of(map, f2::unit(width_bits), without_tiles));
    }
  }
}

// --- the naive kernel

// One block stands for all, since addresses are XORs (tell/prediction.hpp).
AccessCounts predict_naive(const Affine& map, int width_bits) {
  constexpr int thread_bits = 8;  // any number of whole warps counts alike
  const kernels::AffineNaiveParams params = kernels::make_affine_naive_params(map, 1, thread_bits);
  CountingMemory memory({});
  memory.add_virtual_input(kArrayBytes);
  memory.add_virtual_output(kArrayBytes);
  const auto run = [&]<int bytes>(std::integral_constant<int, bytes>) {
    memory.run({.blocks = 1, .threads = 1U << thread_bits}, [&](auto& m, auto block, auto thread) {
      kernels::move_element<bytes>(m, params, block, thread);
    });
  };
  switch (width_bits) {
    case 0:
      run(std::integral_constant<int, 1>());
      break;
    case 1:
      run(std::integral_constant<int, 2>());
      break;
    case 2:
      run(std::integral_constant<int, 4>());
      break;
    case 3:
      run(std::integral_constant<int, 8>());
      break;
    default:
      run(std::integral_constant<int, 16>());
  }
  AccessCounts counts = memory.counts();
  counts *= params.blocks();
  return counts;
}

void add_naive(std::vector<Case>& cases) {
  for (int width_bits = 0; width_bits < kWidths; ++width_bits) {
    for (const NamedMap& map : maps_of_width(width_bits)) {
      const Problem problem{.permutation = map.map, .element_bytes = f2::unit(width_bits)};
      cases.push_back({.family = "naive",
                       .kernel = "naive",
                       .spec = map.spec,
                       .element_bytes = problem.element_bytes,
                       .predicted = predict_naive(map.map, width_bits),
                       .launch = [problem](const std::byte* in, std::byte* out) {
                         const cuda::NaiveExecutor executor(problem);
                         static_cast<void>(cuda::StreamClock().milliseconds(
                             1, [&](Stream stream) { executor.run(in, out, stream); }));
                       }});
    }
  }
}

// --- transposes in shared memory

constexpr std::uint32_t w = cuda::kTransposeWidth;
constexpr std::uint32_t kBlocks = 8;
constexpr std::uint32_t kRepeats = 10;
constexpr std::uint64_t kSeed = 1;

template <TransposeOrder order, int bytes, typename Layout>
AccessCounts predict_transpose(const Layout& layout) {
  using kernels::transpose_shared_bytes;
  CountingMemory memory({.shared_bytes = transpose_shared_bytes<Layout, w, bytes>()});
  memory.add_virtual_input(kArrayBytes);
  memory.add_virtual_output(kArrayBytes);
  const auto transpose = [&](auto& m, auto /*block*/, auto thread) {
    kernels::transpose_shared<order, w, bytes>(m, layout, thread);
  };
  // All but the repeats; then one repeat more, whose difference is what a repeat costs.
  const auto run = [&](auto&&... repeats) {
    CountingMemory fresh = memory;
    fresh.run(
        {.blocks = 1, .threads = w * w},
        [&](auto& m, auto block, auto thread) { kernels::fill_shared<w, bytes>(m, layout, block, thread); },
        repeats...,
        [&](auto& m, auto block, auto thread) { kernels::drain_shared<w, bytes>(m, layout, block, thread); });
    return fresh.counts();
  };
  AccessCounts total;
  const AccessCounts once = run(transpose);
  const AccessCounts twice = run(transpose, transpose);
  // once + (repeats - 1) (twice - once), without subtracting: counts have no minus.
  const auto extrapolate = [](std::uint64_t first, std::uint64_t second) {
    return first + (kRepeats - 1) * (second - first);
  };
  const auto shared = [&](const machine::SharedCounts& first, const machine::SharedCounts& second) {
    machine::SharedCounts counts = second;
    counts.requests = extrapolate(first.requests, second.requests);
    counts.bytes = extrapolate(first.bytes, second.bytes);
    counts.phases = extrapolate(first.phases, second.phases);
    counts.wavefronts = extrapolate(first.wavefronts, second.wavefronts);
    return counts;
  };
  total.global_loads = once.global_loads;
  total.global_stores = once.global_stores;
  total.shared_loads = shared(once.shared_loads, twice.shared_loads);
  total.shared_stores = shared(once.shared_stores, twice.shared_stores);
  total *= kBlocks;
  return total;
}

template <TransposeOrder order, int bytes>
AccessCounts predict_layout(cuda::SharedLayout layout) {
  switch (layout) {
    case cuda::SharedLayout::raw:
      return predict_transpose<order, bytes>(layout::Raw<w>{});
    case cuda::SharedLayout::ras:
      return predict_transpose<order, bytes>(layout::Ras<w>::random(kSeed));
    default:
      return predict_transpose<order, bytes>(layout::Rap<w>::random(kSeed));
  }
}

template <TransposeOrder order, int bytes>
void add_transpose(std::vector<Case>& cases, const char* order_name) {
  constexpr std::array<std::pair<cuda::SharedLayout, const char*>, 3> layouts{
      {{cuda::SharedLayout::raw, "RAW"}, {cuda::SharedLayout::ras, "RAS"}, {cuda::SharedLayout::rap, "RAP"}}};
  for (const auto& [layout, layout_name] : layouts) {
    const cuda::SharedTranspose transpose{
        .order = order, .layout = layout, .element_bytes = bytes, .seed = kSeed};
    cases.push_back({.family = "shared memory",
                     .kernel = "transpose in shared memory",
                     .spec = fmt::format("{} {}", layout_name, order_name),
                     .element_bytes = bytes,
                     .predicted = predict_layout<order, bytes>(layout),
                     .launch = [transpose](const std::byte* in, std::byte* out) {
                       static_cast<void>(cuda::StreamClock().milliseconds(1, [&](Stream stream) {
                         cuda::run(transpose, in, out, kBlocks, kRepeats, stream);
                       }));
                     }});
  }
}

template <int bytes>
void add_transposes(std::vector<Case>& cases) {
  add_transpose<TransposeOrder::crsw, bytes>(cases, "CRSW");
  add_transpose<TransposeOrder::srcw, bytes>(cases, "SRCW");
  add_transpose<TransposeOrder::drdw, bytes>(cases, "DRDW");
  add_transpose<TransposeOrder::crsw_as_printed, bytes>(cases, "CRSW as printed");
}

}  // namespace

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  const Target target = cuda::target();
  add_tiles(cases, target);
  add_vectors(cases, target);
  add_naive(cases);
  add_transposes<4>(cases);
  add_transposes<8>(cases);
  return cases;
}

void predict_all(std::vector<Case>& cases) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      if (!cases[i].predict) continue;
      try {
        cases[i].predicted = cases[i].predict();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace faro::bench::gpu_model
