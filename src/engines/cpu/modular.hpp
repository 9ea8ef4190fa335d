// Multiplications modulo a number of elements, moved by their two matrices (faro/permutation/modular.hpp) in
// one sweep and without an index array.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/permutation/modular.hpp"
#include "faro/permutation/take.hpp"
#include "kernels/evaluation_order.hpp"

namespace faro::cpu {

struct ModularArrays {
  std::uint64_t element_bytes = 1;  // 1 to 4096
  std::uint64_t batch = 1;
};

/// out[b][map(x)] = in[b][x]. Any alignment. Requires: arrays of batch count element_bytes bytes that do not
/// overlap (unchecked). Cost: a sweep; 32 KiB of each thread's stack.
void permute(const Modular& map, const ModularArrays& arrays, const std::byte* in, std::byte* out,
             int threads = 0);

/// The same, negated where sign_factor x mod 2 count is count or more; elements are numbers. Requires:
/// sign_factor mod count is the map's factor, and is odd (unchecked).
struct ModularSigns {
  std::uint64_t sign_factor = 1;  // below 2 count
  Number number = Number::u64;
  std::uint64_t modulus = 0;
};
void permute_negated(const Modular& map, const ModularSigns& signs, std::uint64_t batch, const std::byte* in,
                     std::byte* out, int threads = 0);

/// Values of polynomials in bit-reversed order.
void permute_evaluations(const kernels::EvaluationOrder& order, const ModularArrays& arrays,
                         const std::byte* in, std::byte* out, int threads = 0);

}  // namespace faro::cpu
