// Affine permutations as standalone CUDA C++ (or C++): one file, no library, nothing decided at run time.
//
//     pi(x) = A x ^ c   --emit-->   extern "C" __global__ void faro_kernel(const T* in, T* out)
//
// A kernel is a rung of the published ladder (Bouverot-Dupuis and Sheeran, 2023), or ours above it:
//
//     rung       what it adds                                                     maps
//     naive      a thread an element; reads coalesced, writes anywhere            all
//     tile       a tile in shared memory, so that writes are coalesced, too       BP, BPC, tiled BMMC
//     banks      rows of the tile rotated, so that no two lanes meet in a bank     the same
//     iters      2^n_iter tiles a block: indices once, accesses many times        the same
//     two-pass   A = (U R)(R L P), each factor a kernel with coordinate tiles     all
//     one-pass   theorem 1: one tile along any subspace                           all
//
// Every one of them is four functions of the thread's numbers, each of them affine over F2: where an element
// is read, where it is put into shared memory, where it is taken from and where it is written. So the text is
// ands, shifts and XORs, and bits that move equally far move in one step:
//
//     bit_reversal(15), tile:   source = thread ^ block << 5 ^ warp << 10      bits 14-10 warp, 9-5 block
//                               target = (thread & 0x1) << 4 ^ (thread & 0x2) << 2 ^ thread & 0x4 ^ ...
//
// The prediction beside a kernel is counted, not modelled: one block of the same four functions is run on
// the counting memory, and multiplied by the number of blocks (tell/prediction.hpp tells why that is exact).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/emit/options.hpp"
#include "faro/emit/source.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::emit {

/// The text of a kernel, or two, that carries out out[pi(x)] = f(in[x]); `in` and `out` do not overlap.
/// Law:    the map in the text's first lines parses back to `map`.
/// Errors: ErrorCode::unsupported for a rung that cannot do the map or has no room for it, saying why;
///         ErrorCode::value for an element, a name, sizes or an expression that cannot be; those of check()
///         for arithmetic.
/// Cost:   one block of every kernel on the CPU, some milliseconds.
Source emit(const Affine& map, const Options& options = {});

/// Instructions of the addresses of a published rung's kernel: where it reads, where it puts and takes in
/// shared memory, where it writes.
struct AddressInstructions {
  std::uint64_t one_by_one = 0;  // a move an entry of the matrices
  std::uint64_t merged = 0;      // as they are emitted: bits that move equally far move in one step
};
/// Requires: options.rung naive, tile, banks or iters. Errors: as emit().
AddressInstructions address_instructions(const Affine& map, const Options& options);

}  // namespace faro::emit
