// The tile kernel of a network: many layers in one pass over memory.
//
// A layer pairs element x with x ^ d and lets an operator work on the two. Layers whose directions d lie in
// the tile subspace T stay inside a tile, so a block loads a coset of T, carries out all of them, and writes
// it back (docs/theory/network-passes.md):
//
//     global input --load_tile--> shared memory                                 --store_tile--> global output
//                                   |     ^
//                                   v     |        one *group*: layers whose directions span at most R of
//                                 2^R registers    the tile's dimensions
//
// Within a group a thread owns a coset of W, the span of the group's directions: 2^R elements, fetched from
// shared memory once for all layers of the group, and put back where they came from. So a group has no
// hazard between threads, and one barrier separates two groups.
//
//     place of register i of thread t     combine(register_place, i) ^ combine(thread_place, t)
//
// Free of bank conflicts without moving anything: the tile sits where load_tile and store_tile want it, and
// the *lanes* are chosen so that their directions are a common complement of W and of the kernel of the bank
// map. Two subspaces of equal dimension always have one (docs/theory/one-pass.md, theorem 2).
//
// Example, R = 2, layers with d = 0b001, 0b010, 0b011 in a tile of 8: W = span(0b001, 0b010), register i is
// place i, one thread bit is place bit 2; the three layers pair registers (0 1)(2 3), (0 2)(1 3), (0 3)(1 2).
//
// What a thread looks up of a group, where its elements are, which of a pair is the first, and a power of w,
// it looks up before it reads them, all at once: tables lie in memory.
//
// Which of two elements is the first, and the number of the pair, are linear in the place and the block: an
// XOR of shares of the block, the thread and the register. See network_operators.hpp for the operators.
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"
#include "kernels/affine_tile.hpp"

namespace faro::kernels {

inline constexpr int kMaxRegisterBits = 5;

/// A thread's number is looked up in two halves.
inline constexpr int kLaneBits = 5;
inline constexpr std::uint32_t kLanes = 1U << kLaneBits;
static_assert(kMaxThreadBits <= 2 * kLaneBits);

/// The compile-time shape: the tile's, whose 2^thread_bits threads hold 2^register_bits elements each.
struct NetworkShape {
  AffineTileShape tile;
  int register_bits = 0;  // R

  constexpr int registers() const { return 1 << register_bits; }
};

/// Whether a kernel of this shape can be compiled: elements of 4, 8 or 16 bytes, and each element held once.
constexpr bool is_valid(const NetworkShape& shape) {
  return is_valid(shape.tile) && shape.tile.width_bits >= 2 && shape.register_bits >= 0 &&
         shape.register_bits <= kMaxRegisterBits &&
         shape.tile.thread_bits + shape.register_bits == shape.tile.tile_bits();
}

/// Consecutive layers of one visit to the registers.
struct NetworkGroup {
  // Shared addresses, to be XORed:
  std::uint32_t lane_address[kLanes];                // of the low 5 bits of the thread's number
  std::uint32_t warp_address[kLanes];                // of the bits above
  std::uint32_t register_address[kMaxRegisterBits];  // of register bit i
  std::uint32_t first_layer;
  std::uint32_t layer_count;
  std::uint32_t code;           // which of the compiled sequences of layers this is; see LayerCode
  std::uint32_t blocks_differ;  // whether block_address is other than 0 anywhere
  std::uint32_t block_address[kBlockDigits][kBlockDigitValues];  // of digit d of the block's number
};

/// One layer in the registers of its group.
struct NetworkLayer {
  std::uint64_t first_block;      // parity(first_block & block)
  std::uint32_t first_thread;     // ^ parity(first_thread & thread)
  std::uint32_t first_registers;  // ^ bit i, the constant included: 0 where register i is the first
  std::uint32_t delta;            // registers i and i ^ delta meet
  std::int32_t bits;              // k: the operator sees an array of 2^k elements, 2^(k-1) pairs
  std::uint32_t disjoint;         // 1 where each bit of a pair's number has one share at most: sums are XORs
  std::uint32_t number;           // the layer's own, within its pass
};

/// The number of a pair, for operators that ask for it: an XOR of shares, looked up a few bits at a time.
struct NetworkPairs {
  std::uint32_t block[kBlockDigits][kBlockDigitValues];  // of digit d of the block's number
  std::uint32_t lane[kLanes];                            // of the low 5 bits of the thread, constant included
  std::uint32_t warp[kLanes];                            // of the bits above
  std::uint32_t registers[1 << kMaxRegisterBits];        // of register i; equal for i and i ^ delta
};

/// The groups of a pass; arrays in memory that the kernel can read. `pairs`, one for each layer, may be null
/// for operators that do not ask.
struct NetworkTables {
  const NetworkGroup* groups;
  const NetworkLayer* layers;
  const NetworkPairs* pairs;
  std::uint32_t group_count;
  std::uint32_t zero = 0;  // which no compiler knows to be 0

  constexpr const NetworkPairs* pairs_of(std::uint32_t layer) const {
    return pairs == nullptr ? nullptr : pairs + layer;
  }
};

/// What of a layer a compiler may know, so that neither comparisons nor selects are left to do: the same as
/// in NetworkLayer.
struct LayerCode {
  std::uint32_t delta = 0;
  std::uint32_t first_registers = 0;
  bool flips = false;  // whether the block or the thread has a say in which is first
  bool disjoint = false;

  friend constexpr bool operator==(const LayerCode&, const LayerCode&) = default;
};

namespace detail {

constexpr bool odd(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return (__popcll(static_cast<long long>(x)) & 1) != 0;
#else
  return (__builtin_popcountll(x) & 1) != 0;
#endif
}

constexpr int top_bit(int x) {
  int top = 1;
  while (top * 2 <= x) top *= 2;
  return top;
}

}  // namespace detail

/// One layer of one thread.
struct LayerContext {
  const NetworkLayer& layer;
  const NetworkPairs* pairs;  // of the layer
  std::uint64_t array_block;  // the block's number within its array
  int block_bits;
  std::uint32_t thread;
  std::uint32_t zero = 0;  // NetworkTables::zero

  /// Whether block and thread turn every pair round.
  constexpr bool flip() const {
    return detail::odd(layer.first_block & array_block) != detail::odd(layer.first_thread & thread);
  }

  /// The share of block and thread in a pair's number.
  constexpr std::uint32_t number() const {
    std::uint32_t sum = pairs->lane[thread % kLanes] ^ pairs->warp[thread / kLanes];
    for (int d = 0; d * kBlockDigitBits < block_bits; ++d) {
      sum ^= pairs->block[d][array_block >> d * kBlockDigitBits & (kBlockDigitValues - 1)];
    }
    return sum;
  }
};

/// Lets the operator work on the registers i and i ^ delta, for all i. `first`: bit i is 0 where register i
/// is the first of its two. `start`: what the operator has prepared for the layer.
template <int delta, int registers, typename Operator, typename Start>
constexpr void pair_registers(typename Operator::Value (&value)[registers], const LayerContext& context,
                              std::uint32_t first, bool flip, const Start& start, const Operator& apply) {
  FARO_UNROLL
  for (int i = 0; i < registers; ++i) {
    if ((i & detail::top_bit(delta)) != 0) continue;
    const bool swapped = ((first >> i & 1) != 0) != flip;
    apply(value[i], value[i ^ delta], swapped, start, context, i);
  }
}

/// What an operator is not given.
struct Nothing {};

/// A layer that the compiler knows. `flip`: whether block and thread turn every pair round.
template <LayerCode code, int registers, typename Operator, typename Start>
constexpr void apply_code(typename Operator::Value (&value)[registers], const LayerContext& context,
                          bool flip, const Operator& apply, const Start& start) {
  pair_registers<static_cast<int>(code.delta)>(value, context, code.first_registers, code.flips && flip,
                                               start, apply);
}

/// A layer as the tables have it, one branch for each delta.
template <int registers, typename Operator, int delta = 1>
constexpr void apply_layer(typename Operator::Value (&value)[registers], const LayerContext& context,
                           const Operator& apply) {
  if constexpr (delta < registers) {
    if (context.layer.delta == delta) {
      pair_registers<delta>(value, context, context.layer.first_registers, context.flip(),
                            apply.start(context, context.layer.disjoint != 0), apply);
    } else {
      apply_layer<registers, Operator, delta + 1>(value, context, apply);
    }
  }
}

/// Layers that are looked up one by one: any network, with one kernel. An engine that compiles a kernel for
/// the network at hand puts in its place a type that calls apply_code for the sequences that occur. ahead()
/// gives what run() would else look up.
struct AnyLayers {
  template <typename Operator>
  static constexpr Nothing ahead(const NetworkGroup& /*group*/, const NetworkTables& /*tables*/,
                                 int /*block_bits*/, std::uint64_t /*array_block*/, std::uint32_t /*thread*/,
                                 const Operator& /*apply*/) {
    return {};
  }
  template <int registers, typename Operator>
  static constexpr void run(typename Operator::Value (&value)[registers], const NetworkGroup& group,
                            const NetworkTables& tables, int block_bits, std::uint64_t array_block,
                            std::uint32_t thread, const Operator& apply, Nothing /*ahead*/) {
    FARO_NO_UNROLL
    for (std::uint32_t i = group.first_layer; i < group.first_layer + group.layer_count; ++i) {
      const LayerContext context{tables.layers[i], tables.pairs_of(i), array_block, block_bits,
                                 thread,           tables.zero};
      apply_layer<registers>(value, context, apply);
    }
  }
};

/// What a thread looks up of a group.
template <typename OfLayers>
struct GroupAhead {
  std::uint32_t base;  // shared addresses
  std::uint32_t register_address[kMaxRegisterBits];
  OfLayers layers;
};
template <NetworkShape shape, typename Layers = AnyLayers, typename Operator>
constexpr auto group_ahead(const AffineTileParams& params, const NetworkTables& tables,
                           std::uint32_t group_number, std::uint64_t block, std::uint32_t thread,
                           const Operator& apply) {
  const NetworkGroup& group = tables.groups[group_number];
  const std::uint64_t array_block = block & ((std::uint64_t{1} << params.block_bits) - 1);
  const auto layers = Layers::ahead(group, tables, params.block_bits, array_block, thread, apply);
  std::uint32_t base = group.lane_address[thread % kLanes] ^ group.warp_address[thread / kLanes];
  if constexpr (!Operator::kNeedsPairs) {  // where they do, all blocks begin alike
    if (group.blocks_differ != 0) {
      for (int d = 0; d * kBlockDigitBits < params.block_bits; ++d) {
        base ^= group.block_address[d][array_block >> d * kBlockDigitBits & (kBlockDigitValues - 1)];
      }
    }
  }
  GroupAhead<std::remove_const_t<decltype(layers)>> ahead{base, {}, layers};
  FARO_UNROLL
  for (int bit = 0; bit < shape.register_bits; ++bit)
    ahead.register_address[bit] = group.register_address[bit];
  return ahead;
}

/// One group: the phase between two barriers. Operators that keep another form of their values in between
/// change it in the first and the last group.
/// Requires: thread < shape.tile.threads(), shape.tile.tile_bytes() of shared memory (unchecked).
template <NetworkShape shape, typename Layers = AnyLayers, typename Operator, device::Memory Memory,
          typename OfLayers>
constexpr void apply_group(Memory& memory, const AffineTileParams& params, const NetworkTables& tables,
                           std::uint32_t group_number, std::uint64_t block, std::uint32_t thread,
                           const Operator& apply, const GroupAhead<OfLayers>& ahead) {
  static_assert(is_valid(shape));
  using Value = typename Operator::Value;
  constexpr int bytes = shape.tile.element_bytes();
  static_assert(sizeof(Value) == bytes);

  const NetworkGroup& group = tables.groups[group_number];
  const auto address = [&](std::uint32_t base, int i) {
    return base ^ select_xor<shape.register_bits>(ahead.register_address, static_cast<std::uint32_t>(i));
  };
  Value value[shape.registers()];
  FARO_UNROLL
  for (int i = 0; i < shape.registers(); ++i) {
    value[i] = __builtin_bit_cast(Value, memory.template load_shared<bytes>(address(ahead.base, i)));
  }
  if (group_number == 0) {
    FARO_UNROLL
    for (int i = 0; i < shape.registers(); ++i) value[i] = Operator::decode(value[i]);
  }
  const std::uint64_t array_block = block & ((std::uint64_t{1} << params.block_bits) - 1);
  Layers::run(value, group, tables, params.block_bits, array_block, thread, apply, ahead.layers);
  if (group_number + 1 == tables.group_count) {
    FARO_UNROLL
    for (int i = 0; i < shape.registers(); ++i) value[i] = Operator::encode(value[i]);
  }
  // Addresses are worked out again, and need no registers meanwhile; not where pairs' numbers keep the units
  // for integers busy.
  const std::uint32_t base = Operator::kNeedsPairs ? ahead.base : ahead.base ^ tables.zero;
  FARO_UNROLL
  for (int i = 0; i < shape.registers(); ++i) {
    memory.template store_shared<bytes>(address(base, i),
                                        __builtin_bit_cast(device::Packet<bytes>, value[i]));
  }
}

}  // namespace faro::kernels
