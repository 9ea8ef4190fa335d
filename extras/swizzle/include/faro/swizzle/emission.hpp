// A completed sketch as CUDA C++: one kernel, and nothing else needed to compile it.
//
// The statements become what a careful author would write. Loops stay loops, with `#pragma unroll`, so that
// every register index is a constant when the compiler is done and arrays of registers stay in registers:
//
//     rc[idx] with idx = i <= t ? 0 : 1            i <= t ? rc[0] : rc[1]
//     y[r] = x[(r + t) mod 6] for all r            a barrel: steps by 1, 2 and 4 for the bits of t mod 6
//                                                      z[r] = s ? x[(r + 1) % 6] : x[r];
//                                                      s = (0xaaaaaaaau >> t & 1u) != 0: one bit a lane
//     accumulate(sum, {a, b}, false)               nothing; and what only it needed goes with it
//     accumulate(sum, {a, b}, true)                sum ^= a & b;
//     shuffle whose lane is the own                no shuffle
//
// The barrel: y = permute(x, f) is, for every lane, a static permutation G and rotations around it. The
// emitter finds them from the table of f alone, digit by digit of r (groups rotate by one amount, places in a
// group by another): closed forms and every sw_xform come out as rotations in ceil(log2 n) conditional steps
// with G folded into one of them. A permutation that is no such product goes through a tree of selects on the
// bits of f, n - 1 for each register: longer, still in registers.
//
// Launch: <<<blocks, warps * W>>>. With `batch` the kernel does many problems, each the sketch's own, one
// behind another in every array: <<<blocks * ceil(problems / batch), batch * warps * W>>>, and the number of
// problems is the kernel's last parameter. With `tiling` the problems are the tiles of an image, whose width
// and height are the last parameters; the last tiles of a row or column may be there in part. W below 32 uses
// sub-warps of W lanes by shuffle width; W must then be a power of two. Element type by name: arithmetic
// operators need a number, bit operators an integer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/swizzle/emission_options.hpp"
#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

struct EmittedKernel {
  std::string name;
  std::string text;            // a translation unit; parameters: arrays in order of declaration, inputs const
  std::uint32_t blocks = 1;    // of one problem, or of `batch`
  std::uint32_t threads = 32;  // of a block
  // As asked, with a tiling at least 1. Of 1 or more, `uint32_t problems` is the last parameter, or with a
  // tiling `uint32_t width, uint32_t height`, of the image.
  std::uint32_t batch = 0;
  std::uint32_t shared_bytes = 0;  // static
  // What is in it, for comparisons. Of one lane, loops unrolled.
  std::uint64_t shuffles = 0;
  std::uint64_t selects = 0;
  std::uint64_t live_accumulates = 0;  // statements
  std::vector<std::string> notes;      // "`y`: a barrel of 3 steps", "`y`: a select tree"
};

/// The arrays of a kernel must not overlap. Where a store goes over what another thread of the block stored,
/// the threads wait for each other first, so that the later statement counts, as in the interpreters.
/// Errors: ErrorCode::spec: a name that is no identifier, another element type, a bit operator on float, a
/// hole without a function, a register or an address outside its array; ErrorCode::unsupported: a warp that
/// is no power of two up to 32 in a program with shuffles, more than 1024 threads a block or 48 KiB of shared
/// memory, an index that an int may not hold, a batch of 2 or more where a block's threads wait for each
/// other or the program has shared memory. ErrorCode::spec, too: a tiling that is not of the program's
/// arrays. Of a device function ErrorCode::unsupported, too: shared memory, a batch or a tiling, loads and
/// stores among the other statements or of a register that lanes choose. Cost: that of a run.
EmittedKernel emit(const Program& program, const Valuation& valuation, const EmissionOptions& options);

/// Refuses what emit() refuses whatever the holes are, before a search that may take minutes: names, types,
/// threads, shared memory, batches, tilings. Errors: as emit().
void require_emittable(const Program& sketch, const EmissionOptions& options);

/// Refuses a program whose shuffles a GPU does not have. emit() asks only where a shuffle is not from the
/// receiver's own lane. Errors: ErrorCode::unsupported where the warp is no power of two up to 32.
void require_shuffles(const Program& program);

}  // namespace faro::swizzle
