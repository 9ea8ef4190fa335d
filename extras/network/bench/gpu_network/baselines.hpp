// What networks are measured against: one launch for every layer, and CUB's radix sort.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

/// A layer on indices: x meets x ^ direction; x is the first where parity(first & x) == constant.
struct BareLayer {
  std::uint64_t direction;
  std::uint64_t first;
  bool constant;
};

enum class BareOperator { sort_u32, hadamard_f32 };

/// Queues one layer on 2^bits elements of 4 bytes, in place: a thread a pair, in the order of addresses, as
/// one writes it who launches a kernel for every layer. Errors: ErrorCode::device.
void queue_layer(BareOperator op, const BareLayer& layer, int bits, void* data, Stream stream);

/// CUB's radix sort of unsigned 4-byte keys. `workspace` null: only sets `workspace_bytes`.
void queue_radix_sort(void* workspace, std::uint64_t& workspace_bytes, const void* in, void* out,
                      std::uint64_t count, Stream stream);

}  // namespace faro::bench::gpu
