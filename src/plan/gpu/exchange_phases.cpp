// Blocks of the kernels in place that exchange chunks and tiles.
#include <type_traits>

#include "kernels/cyclic_in_place.hpp"
#include "kernels/squares_in_place.hpp"
#include "plan/gpu/block_phases.hpp"
#include "plan/gpu/sweep_phases.hpp"

namespace faro::detail {
namespace {

using kernels::MovedElements;
using machine::CountingMemory;

struct ExchangeBlock {
  const GpuKernel& kernel;
  CountingMemory& memory;
  std::uint64_t block;

  template <typename... Phases>
  void run(const Phases&... phases) const {
    memory.run({.blocks = 1, .threads = static_cast<std::uint32_t>(kernel.threads), .first_block = block},
               phases...);
  }
  template <int unit, MovedElements as>
  void run_chunks() const {
    const auto& p = std::get<kernels::ReversalParams>(kernel.params);
    run([&](CountingMemory& m, std::uint64_t b, std::uint32_t t) { kernels::load_chunks<unit>(m, p, b, t); },
        [&](CountingMemory& m, std::uint64_t b, std::uint32_t t) {
          kernels::store_chunks<unit, as>(m, p, b, t);
        });
  }
  template <int unit, MovedElements as>
  void run_whole() const {
    const auto& p = std::get<kernels::CyclicWholeParams>(kernel.params);
    run([&](CountingMemory& m, std::uint64_t b,
            std::uint32_t t) { kernels::load_whole_cyclic<unit>(m, p, b, t); },
        [&](CountingMemory& m, std::uint64_t b, std::uint32_t t) {
          kernels::store_whole_cyclic<unit, as>(m, p, b, t);
        });
  }
  template <int unit, bool several>
  void run_squares() const {
    const auto& p = std::get<kernels::SquaresParams>(kernel.params);
    run([&](CountingMemory& m, std::uint64_t b, std::uint32_t t) { kernels::load_squares<unit>(m, p, b, t); },
        [&](CountingMemory& m, std::uint64_t b, std::uint32_t t) {
          kernels::store_squares<unit, several>(m, p, b, t);
        });
  }

  bool operator()(const ReversalKernel& k) const {
    with_unit(static_cast<std::uint64_t>(k.unit_bytes), [&](auto unit) {
      constexpr int bytes = decltype(unit)::value;
      if (k.as == MovedElements::units) return run_chunks<bytes, MovedElements::units>();
      run_chunks<bytes, MovedElements::several>();
    });
    return true;
  }
  bool operator()(const CyclicWholeKernel& k) const {
    with_unit(static_cast<std::uint64_t>(k.unit_bytes), [&](auto unit) {
      constexpr int bytes = decltype(unit)::value;
      if (k.as == MovedElements::in_order) return run_whole<bytes, MovedElements::in_order>();
      if (k.as == MovedElements::units) return run_whole<bytes, MovedElements::units>();
      run_whole<bytes, MovedElements::several>();
    });
    return true;
  }
  bool operator()(const SquaresKernel& k) const {
    with_unit(static_cast<std::uint64_t>(k.unit_bytes), [&](auto unit) {
      constexpr int bytes = decltype(unit)::value;
      if (k.several_units) return run_squares<bytes, true>();
      run_squares<bytes, false>();
    });
    return true;
  }
  template <typename Other>
  bool operator()(const Other& /*of another family*/) const {
    return false;
  }
};

}  // namespace

bool run_exchange_phases(const GpuKernel& kernel, CountingMemory& memory, std::uint64_t block) {
  return std::visit(ExchangeBlock{kernel, memory, block}, kernel.id);
}

}  // namespace faro::detail
