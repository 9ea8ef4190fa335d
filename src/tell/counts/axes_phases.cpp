// Blocks of the kernels that permute axes, roll and flip.
#include <iterator>

#include "kernels/axes_box.hpp"
#include "kernels/axes_elements.hpp"
#include "kernels/axes_lines.hpp"
#include "kernels/axes_plane.hpp"
#include "kernels/axes_ragged_box.hpp"
#include "kernels/axes_registers.hpp"
#include "kernels/axes_view_rows.hpp"
#include "kernels/axes_whole.hpp"
#include "plan/gpu/sweep_phases.hpp"
#include "tell/counts/block_phases.hpp"

namespace faro::detail {
namespace {

using machine::CountingMemory;
using Thread = std::uint32_t;

// The counting memory as boxes see it, which copy past registers. `sat_out`: accesses that lanes sit out in
// the place of a copy.
template <int sat_out>
struct BoxCounted : CountedShared {
  std::uint64_t input_cursor(std::uint64_t offset) const { return offset; }
  template <int bytes>
  device::Packet<bytes> load_cursor(std::uint64_t from) const {
    return load_global<bytes>(device::kInput, from);
  }
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    return memory.load_global<bytes>(buffer, offset);
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    memory.store_global<bytes>(buffer, offset, packet);
  }
  template <int bytes>
  void copy_to_shared(std::uint64_t from, std::uint32_t address) const {
    memory.copy_past_registers<bytes, bytes != kernels::kMovedBytes>(device::kInput, from, address);
    for (int i = 1; i < sat_out; ++i) memory.idle();
  }
};

struct AxesBlock {
  const GpuKernel& kernel;
  CountingMemory& memory;
  std::uint64_t block;

  template <typename... Phases>
  void run(const Phases&... phases) const {
    memory.run({.blocks = 1, .threads = static_cast<std::uint32_t>(kernel.threads), .first_block = block},
               phases...);
  }
  template <typename Params>
  const Params& params() const {
    return std::get<Params>(kernel.params);
  }
  // Phases of a tile of a transpose.
  template <typename Load, typename Store>
  void run_lines(const Load& load, const Store& store) const {
    const auto& p = params<kernels::AxesLinesParams>();
    const kernels::AxesLinesTile tile = kernels::axes_lines_tile(p, block);
    run([&](CountingMemory& m, std::uint64_t, Thread thread) { load(m, p, tile, thread); },
        [&](CountingMemory& m, std::uint64_t, Thread thread) { store(m, p, tile, thread); });
  }

  bool operator()(const AxesBoxKernel& k) const {
    return any_index<std::size(kernels::kBoxShapes)>([&](auto index) {
      static constexpr auto shape = kernels::kBoxShapes[index];
      if (k.shape != shape) return false;
      const auto& p = params<kernels::AxesBoxParams>();
      run([&](CountingMemory& m, std::uint64_t b, Thread t) { kernels::prepare_box<shape>(m, p, b, t); },
          [&](CountingMemory& m, std::uint64_t, Thread t) {
            BoxCounted<shape.ragged ? 2 : 1> copying{{m}};
            kernels::read_box<shape>(copying, p, t);
          },
          [&](CountingMemory& m, std::uint64_t, Thread t) { kernels::write_box<shape>(m, p, t); });
      return true;
    });
  }
  bool operator()(const AxesWholeKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto constant) {
      constexpr int unit = decltype(constant)::value;
      const auto& p = params<kernels::AxesWholeParams>();
      run(
          [&](CountingMemory& m, std::uint64_t b, Thread t) {
            BoxCounted<2> copying{{m}};
            kernels::load_axes_whole<unit>(copying, p, b, t);
          },
          [&](CountingMemory& m, std::uint64_t b, Thread t) { kernels::store_axes_whole<unit>(m, p, b, t); });
    });
    return true;
  }
  bool operator()(const AxesLinesKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto constant) {
      [[maybe_unused]] constexpr int unit = decltype(constant)::value;
      run_lines([](auto&... all) { kernels::load_axes_lines<unit>(all...); },
                [](auto&... all) { kernels::store_axes_lines<unit>(all...); });
    });
    return true;
  }
  bool operator()(const AxesPlaneKernel& k) const {
    return any_index<std::size(kernels::kAxesPlaneShapes)>([&](auto index) {
      static constexpr auto shape = kernels::kAxesPlaneShapes[index];
      if (k.shape != shape) return false;
      const auto store = [](auto&... all) { kernels::store_axes_plane<shape>(all...); };
      if (k.aligned) {
        run_lines([](auto&... all) { kernels::load_axes_plane<shape, true>(all...); }, store);
      } else {
        run_lines([](auto&... all) { kernels::load_axes_plane<shape, false>(all...); }, store);
      }
      return true;
    });
  }
  bool operator()(const AxesTurnedKernel& k) const {
    return any_index<std::size(kernels::kAxesTurnedShapes)>([&](auto index) {
      static constexpr auto shape = kernels::kAxesTurnedShapes[index];
      if (k.shape != shape) return false;
      const auto store = [](auto&... all) { kernels::store_axes_turned<shape>(all...); };
      if (k.words) {
        run_lines([](auto&... all) { kernels::load_axes_turned<shape, true>(all...); }, store);
        return true;
      }
      if constexpr (shape.unit_bytes < 4) {
        run_lines([](auto&... all) { kernels::load_axes_turned<shape, false>(all...); }, store);
        return true;
      }
      return false;
    });
  }
  bool operator()(const AxesSkinnyKernel& k) const {
    return any_index<kernels::kAxesSkinnyShapes>([&](auto index) {
      static constexpr auto shape = kernels::axes_skinny_shape(static_cast<int>(index()));
      if (k.shape != shape) return false;
      const auto& p = params<kernels::AxesLinesParams>();
      const kernels::AxesLinesTile tile = kernels::axes_lines_tile(p, block);
      run(
          [&](CountingMemory& m, std::uint64_t, Thread thread) {
            BoxCounted<1> copying{{m}};
            kernels::load_axes_skinny<shape>(copying, p, tile, thread);
          },
          [&](CountingMemory& m, std::uint64_t, Thread thread) {
            BoxCounted<1> copying{{m}};
            kernels::spread_axes_skinny<shape>(copying, p, tile, thread);
          },
          [&](CountingMemory& m, std::uint64_t, Thread thread) {
            kernels::store_axes_skinny<shape>(m, p, tile, thread);
          });
      return true;
    });
  }
  bool operator()(const AxesRowsKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto constant) {
      const auto& p = params<kernels::AxesRowsParams>();
      run([&](CountingMemory& m, std::uint64_t b, Thread t) {
        kernels::move_axes_rows<decltype(constant)::value>(m, p, b, t);
      });
    });
    return true;
  }
  bool operator()(const AxesElementsKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto constant) {
      constexpr int unit = decltype(constant)::value;
      kernels::by_elements_units<unit>(k.units, [&](auto most) {
        const auto& p = params<kernels::AxesElementsParams>();
        run([&](CountingMemory& m, std::uint64_t b, Thread t) {
          kernels::move_axes_elements<unit, decltype(most)::value>(m, p, b, t);
        });
      });
    });
    return true;
  }
  bool operator()(const AxesRegistersKernel& k) const {
    return any_index<kernels::kAxesRegistersShapes>([&](auto index) {
      static constexpr auto shape = kernels::axes_registers_shape(static_cast<int>(index()));
      if (k.shape != shape) return false;
      const auto& p = params<kernels::AxesRegistersParams>();
      run([&](CountingMemory& m, std::uint64_t b, Thread t) {
        kernels::move_axes_registers<shape>(m, p, b, t);
      });
      return true;
    });
  }
  bool operator()(const ViewRowsKernel& k) const {
    return any_index<std::size(kernels::kViewRowsShapes)>([&](auto index) {
      static constexpr auto shape = kernels::kViewRowsShapes[index];
      if (k.shape != shape) return false;
      const auto& p = params<kernels::ViewRowsParams>();
      run([&](CountingMemory& m, std::uint64_t b, Thread t) { kernels::move_view_rows<shape>(m, p, b, t); });
      return true;
    });
  }
  template <int unit, bool reversed, bool several>
  void run_cyclic() const {
    const auto& p = params<kernels::CyclicParams>();
    run([&](CountingMemory& m, std::uint64_t b, Thread t) {
      kernels::move_cyclic<unit, reversed, several>(m, p, b, t);
    });
  }
  bool operator()(const CyclicKernel& k) const {
    by_unit_bytes(static_cast<std::uint64_t>(k.unit_bytes), [&](auto constant) {
      [[maybe_unused]] constexpr int unit = decltype(constant)::value;
      if (!k.reversed) return run_cyclic<unit, false, false>();
      if (k.several_units) return run_cyclic<unit, true, true>();
      return run_cyclic<unit, true, false>();
    });
    return true;
  }
  template <typename Other>
  bool operator()(const Other& /*of another family*/) const {
    return false;
  }
};

}  // namespace

bool run_axes_phases(const GpuKernel& kernel, CountingMemory& memory, std::uint64_t block) {
  return std::visit(AxesBlock{kernel, memory, block}, kernel.id);
}

}  // namespace faro::detail
