// A move of rows as a queue of kernels, for any device that can run them: a stream (row_executor in
// engines/cuda/run/rows.cpp), or the host's in tests.
//
//     Queue       fill(to, byte, bytes)     queued, like all that follows
//                 run(kernel)               a kernel value
//
// Which kernels, and how wide their vectors are, is the plan's to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engines/cuda_rows.hpp"
#include "faro/error.hpp"
#include "kernels/row_elements.hpp"
#include "kernels/row_move.hpp"
#include "kernels/row_staged.hpp"
#include "kernels/row_values.hpp"
#include "kernels/row_walk.hpp"
#include "plan/row_staged.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

/// Memory of the device that a plan's runs share.
struct RowMemory {
  kernels::RowFaults* faults = nullptr;
  const std::byte* fill_pattern = nullptr;  // aligned to 16
  std::uint64_t fill_bytes = 32;            // a multiple of 32
};

inline kernels::RowEntries entries_of(const RowMove& move) {
  const RowNumbers& numbers = row_numbers(move);
  const auto marker = absent_marker(move);
  return {.data = numbers.data,
          .count = numbers.count,
          .rows = numbered_rows(move),
          .marker = marker.value_or(0),
          .bytes = numbers.type.bytes,
          .is_signed = numbers.type.is_signed ? 1 : 0,
          .has_marker = marker ? 1 : 0,
          .is_big_endian = numbers.order == ByteOrder::big ? 1 : 0};
}

inline kernels::RowFill fill_of(const RowMove& move) {
  const auto* const take = std::get_if<Take>(&move);
  if (take == nullptr || take->fill.with == Fill::With::kept) return kernels::RowFill::kept;
  return take->fill.with == Fill::With::value ? kernels::RowFill::value : kernels::RowFill::zero;
}

/// The least whole number of the longest vectors that a fill repeats in.
inline std::uint64_t fill_pattern_bytes(std::uint64_t fill_bytes) {
  constexpr std::uint64_t kVectorBytes = kernels::kMostChangedBytes;
  std::uint64_t bytes = fill_bytes;
  while (bytes % kVectorBytes != 0) bytes += fill_bytes;
  return bytes;
}

/// A fill's bytes, repeated to whole vectors; at least one, for there is always a pattern.
inline std::vector<std::byte> fill_pattern(const RowMove& move) {
  const auto* const take = std::get_if<Take>(&move);
  if (take == nullptr || take->fill.value.empty()) return std::vector<std::byte>(fill_pattern_bytes(1));
  const std::vector<std::byte>& value = take->fill.value;
  std::vector<std::byte> pattern(fill_pattern_bytes(value.size()));
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = value[i % value.size()];
  return pattern;
}

template <typename Queue>
class RowMoveQueue {
 public:
  RowMoveQueue(Queue& queue, const RowMemory& memory, std::byte* workspace)
      : queue_(queue), memory_(memory), workspace_(workspace) {}

  /// For Put, once for all arrays: what follows moves nothing if two entries name one row. Where it is told
  /// whether this run has a fault; null for others.
  const std::uint32_t* mark(const RowPlan& plan) {
    if (!std::holds_alternative<Put>(plan.move()) || row_numbers(plan.move()).count == 0) return nullptr;
    auto* const faulty = reinterpret_cast<std::uint32_t*>(workspace_);
    queue_.fill(faulty, 0, plan.workspace_bytes());
    kernels::MarkRows kernel;
    kernel.entries = entries_of(plan.move());
    kernel.marks = faulty + 1;
    kernel.faulty = faulty;
    kernel.faults = memory_.faults;
    queue_.run(kernel);
    return faulty_ = faulty;
  }

  /// One launch for arrays of one width.
  void move(const RowPlan& plan, std::span<const RowGroup::Arrays> arrays) {
    FARO_CHECK(arrays.size() <= kernels::kMostRowArrays);
    if (arrays.size() == 1) return move_some<1>(plan, arrays);
    move_some<kernels::kMostRowArrays>(plan, arrays);
  }

 private:
  template <int kArrays>
  void move_some(const RowPlan& plan, std::span<const RowGroup::Arrays> arrays) {
    RowLaunch launch{.addresses = 0, .arrays = arrays.size()};
    for (const RowGroup::Arrays& each : arrays)
      launch.addresses |=
          reinterpret_cast<std::uintptr_t>(each.in) | reinterpret_cast<std::uintptr_t>(each.out);
    if (row_numbers(plan.move()).count == 0 || plan.layout().outer == 0 || arrays.empty()) return;
    const RowPass pass = plan.moving_pass(launch);
    kernels::RowMoveShape<kArrays> shape;
    shape.entries = entries_of(plan.move());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      shape.arrays.in[i] = static_cast<const std::byte*>(arrays[i].in);
      shape.arrays.out[i] = static_cast<std::byte*>(arrays[i].out);
    }
    shape.count = device::Division64(shape.entries.count);
    shape.blocks_of_array = device::Division64(pass.blocks / arrays.size());
    shape.outer = plan.layout().outer;
    shape.number = arrays.size();
    shape.row_bytes = plan.layout().row_bytes;
    shape.fill = fill_of(plan.move());
    shape.fill_bytes = memory_.fill_bytes;
    shape.fill_pattern = memory_.fill_pattern;
    shape.faults = memory_.faults;
    shape.faulty = faulty_;
    if (std::holds_alternative<Take>(plan.move())) {
      move_by<kernels::RowDirection::take, kArrays>(plan, pass, shape);
    } else {
      move_by<kernels::RowDirection::put, kArrays>(plan, pass, shape);
    }
  }

  template <kernels::RowDirection kDirection, int kArrays>
  void move_by(const RowPlan& plan, const RowPass& pass, const kernels::RowMoveShape<kArrays>& shape) {
    if constexpr (kDirection == kernels::RowDirection::take) {
      if (pass.kernel == RowKernel::take_vectors) {
        kernels::TakeRowVectors<kArrays> kernel;
        kernel.shape = shape;
        kernel.row_bytes = device::Division64(shape.row_bytes);
        kernel.in_bytes = plan.in_bytes();
        return run(kernel, pass);
      }
    }
    if (pass.kernel == RowKernel::move_bytes) {
      using Kernel = kernels::MoveRowBytes<kDirection, kArrays>;
      Kernel kernel;
      kernel.shape = shape;
      kernel.pieces = device::Division64(Kernel::pieces_of(shape.row_bytes));
      kernel.in_bytes = plan.in_bytes();
      return run(kernel, pass);
    }
    if constexpr (kArrays == 1) {
      if (pass.kernel == RowKernel::staged) return move_staged<kDirection>(plan, pass, shape);
      if (pass.kernel == RowKernel::move_elements) return move_elements<kDirection>(pass, shape);
    }
    faro::detail::by_unit_bytes(pass.vector_bytes, [&](auto bytes) {
      kernels::MoveRowVectors<kDirection, bytes(), kArrays> kernel;
      kernel.shape = shape;
      kernel.set_vectors(shape.row_bytes / bytes());
      if constexpr (requires { kernel.sliced; }) {
        kernel.sliced = pass.slice_bytes > 0;
        if (kernel.sliced) {
          kernel.slice = device::Division64(pass.slice_bytes / bytes());
          kernel.all_slices = device::Division64(shape.rows_in_order() * kernel.slice.divisor());
        }
      }
      run(kernel, pass);
    });
  }

  template <kernels::RowDirection kDirection>
  void move_staged(const RowPlan& plan, const RowPass& pass, const kernels::RowMoveShape<1>& shape) {
    faro::detail::by_unit_bytes(pass.vector_bytes, [&](auto bytes) {
      if constexpr (bytes() <= 8) {
        kernels::MoveStaged<kDirection, bytes()> kernel;
        kernel.shape = shape;
        const faro::detail::StagedRows staged{.unit = bytes(), .arrays = pass.arrays};
        kernel.staged = staged.shape(plan.move(), plan.layout());
        run(kernel, pass);
      }
    });
  }

  template <kernels::RowDirection kDirection>
  void move_elements(const RowPass& pass, const kernels::RowMoveShape<1>& shape) {
    faro::detail::by_unit_bytes(pass.vector_bytes, [&](auto bytes) {
      const auto move = [&](auto kernel) {
        kernel.shape = shape;
        kernel.chunks = pass.chunks;
        kernel.parts = device::Division64(kernel.parts_of(shape.entries.count, pass.chunks));
        run(kernel, pass);
      };
      if (pass.arrays == 1) return move(kernels::MoveRowElements<kDirection, bytes(), 1>());
      move(kernels::MoveRowElements<kDirection, bytes(), kernels::kElementArrays>());
    });
  }

  template <typename Kernel>
  void run(const Kernel& kernel, const RowPass& pass) {
    FARO_CHECK(kernel.blocks() == pass.blocks);
    queue_.run(kernel);
  }

  Queue& queue_;
  RowMemory memory_;
  std::byte* workspace_;
  const std::uint32_t* faulty_ = nullptr;
};

}  // namespace faro::cuda
