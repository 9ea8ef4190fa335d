// Packed elements on a device (faro/packed.hpp): kernels queued on a stream.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/stream.hpp"
#include "kernels/packed_launch.hpp"
#include "permutation/axis_map.hpp"

namespace faro::cuda {

/// Parts of axes in bits, or an affine map: of places where arrays are dense, of elements where they are
/// rows. Or a gather's index array, on the device before it is queued there.
struct PackedMove {
  kernels::PackedWork work = {};  // without arrays
  std::vector<faro::detail::AxisMap> parts = {};
  std::optional<Affine> places = {};
  std::optional<Affine> map = {};
  kernels::PackedTiles tiles = {};  // of the parts or of `places`
  std::optional<Indexed> indices = {};
  kernels::PackedRowsOfBoth rows = {};  // of `map` and `indices`
  std::uint64_t batch = 1;              // of them and `places`,
  std::uint64_t in_skipped = 0;         // and bytes before their arrays
  std::uint64_t out_skipped = 0;
  std::optional<kernels::PackedRows> cleared = {};  // where pads become zero
};

/// By the kernels of any queue. `work` is move.work with the arrays.
template <typename Queue>
void move_packed(Queue& queue, const PackedMove& move, const kernels::PackedWork& work) {
  if (move.cleared) kernels::clear_packed_pads(queue, work, *move.cleared);
  if (move.indices) {
    const Indexed& indices = *move.indices;
    const auto entries = [&]<typename Entry>(std::span<const Entry> on_host) {
      const auto* from =
          indices.on_host() ? on_host.data() : static_cast<const Entry*>(indices.device_entries());
      kernels::move_packed_entries(queue, work, from, indices.count(), move.batch, move.rows);
    };
    const bool is_wide = indices.index_type().bytes == sizeof(std::uint64_t);
    if (is_wide) return entries(indices.on_host() ? indices.entries64() : std::span<const std::uint64_t>());
    return entries(indices.on_host() ? indices.entries32() : std::span<const std::uint32_t>());
  }
  if (move.map) return kernels::move_packed_map(queue, work, *move.map, move.batch, move.rows);
  if (!move.places) return kernels::move_packed_axes(queue, work, move.parts, move.tiles);
  kernels::PackedWork arrays = work;
  arrays.in += move.in_skipped;
  arrays.in_bytes -= move.in_skipped;
  arrays.out += move.out_skipped;
  arrays.out_bytes -= move.out_skipped;
  kernels::move_packed_affine(queue, arrays, *move.places, move.batch, move.tiles);
}

/// Queues it. Errors: ErrorCode::value for memory that is not the device's or managed; ErrorCode::unsupported
/// as move_packed_axes() and move_packed_affine(); ErrorCode::device.
void permute(const PackedMove& move, const kernels::PackedWork& work, Stream stream, int device);

/// In place, where work.in is work.out. By `passes`; without, or for arrays that are not aligned to 16 bytes,
/// by way of a second array in the stream's order. Errors: as permute().
void permute_in_place(const PackedMove& move, const std::optional<kernels::PackedInPlacePasses>& passes,
                      const kernels::PackedWork& work, Stream stream, int device);

/// The gather's index array of an index array, on the device, checked. Errors: as to_device() and validate().
Indexed entries_on_device(const Indexed& indices, int device);

}  // namespace faro::cuda
