// Blocks of the kernels in place that exchange chunks and tiles.

#include "kernels/cyclic_in_place.hpp"
#include "kernels/squares_in_place.hpp"
#include "plan/gpu/sweep_phases.hpp"
#include "tell/counts/block_phases.hpp"

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
  template <int unit, MovedElements as, typename Params>
  void run_two() const {
    const auto& p = std::get<Params>(kernel.params);
    run([&](CountingMemory& m, std::uint64_t b,
            std::uint32_t t) { kernels::load_exchange<unit>(m, p, b, t); },
        [&](CountingMemory& m, std::uint64_t b, std::uint32_t t) {
          kernels::store_exchange<unit, as>(m, p, b, t);
        });
  }
  // One of those that there are.
  template <typename Params, MovedElements... choices>
  bool run_as(int unit_bytes, MovedElements as) const {
    by_unit_bytes(static_cast<std::uint64_t>(unit_bytes), [&](auto unit) {
      static_cast<void>(
          ((as == choices ? (run_two<decltype(unit)::value, choices, Params>(), true) : false) || ...));
    });
    return true;
  }

  bool operator()(const ReversalKernel& k) const {
    return run_as<kernels::ReversalParams, MovedElements::units, MovedElements::several>(k.unit_bytes, k.as);
  }
  bool operator()(const CyclicWholeKernel& k) const {
    return run_as<kernels::CyclicWholeParams, MovedElements::in_order, MovedElements::units,
                  MovedElements::several>(k.unit_bytes, k.as);
  }
  bool operator()(const SquaresKernel& k) const {
    return run_as<kernels::SquaresParams, MovedElements::units, MovedElements::several>(
        k.unit_bytes, k.several_units ? MovedElements::several : MovedElements::units);
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
