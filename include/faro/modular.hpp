// Multiplications modulo a number of elements, carried out on the host or a GPU: one sweep, no index array,
// any count to 2^40 (faro/permutation/modular.hpp has the maps and why).
//
//     faro::permute(faro::maps::multiply(1 << 16, 5), sizeof(double), in_bytes, out_bytes);
//     faro::permute(faro::maps::multiply(1 << 16, 5), sizeof(double), device_in, device_out,
//                   faro::OnDevice{.stream = stream});       // queued; nothing waits
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/modular.hpp"
#include "faro/permutation/take.hpp"
#include "faro/stream.hpp"

namespace faro {

/// out[b][map(x)] = in[b][x], for as many arrays b as the spans hold. Any alignment. `threads` 0: what OpenMP
/// would use. Errors: ErrorCode::value for elements of 0 or of more than 4096 bytes, for a map that the
/// functions of maps:: would not make, for spans that are no whole number of arrays, of different sizes, null
/// or overlapping; nothing is written then.
void permute(const Modular& map, std::uint64_t element_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, int threads = 0);

/// Where work on a device is queued.
struct OnDevice {
  Stream stream = {};
  int device = cuda::kCurrentDevice;
};

/// The same for arrays of a device, aligned to an element of 1, 2, 4, 8 or 16 bytes. Errors: also
/// ErrorCode::value for memory that is not the device's or not aligned, ErrorCode::unsupported for elements
/// of other widths, ErrorCode::device.
void permute(const Modular& map, std::uint64_t element_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, const OnDevice& where);

/// How a number is negated: floating-point ones by their sign, integers in two's complement, and unsigned
/// ones below a modulus as what is left of it.
struct Negation {
  Number number = Number::u64;
  std::uint64_t modulus = 0;  // 0: none
};

/// The automorphism X -> X^k of polynomials modulo X^n + 1, on their n coefficients: coefficient i goes to
/// k i mod n, and is negated where k i mod 2 n is n or more. As many polynomials as the spans hold.
/// Errors: as permute; also ErrorCode::value for a k that has a divisor with 2 n, naming the greatest, and
///         for a modulus with other numbers than unsigned integers.
void permute_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation,
                        std::span<const std::byte> in, std::span<std::byte> out, int threads = 0);

/// The same for arrays of a device. Errors: also as permute's there.
void permute_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation,
                        std::span<const std::byte> in, std::span<std::byte> out, const OnDevice& where);

/// The same automorphism on the values of polynomials, n = 2^m of each, in the bit-reversed order in which
/// transforms of number theory leave them: place p has the value at psi^(2 rev(p) + 1), psi a root of order 2
/// n. Nothing is negated, aligned blocks of 2^s values stay together, and no index is stored. The values are
/// elements of any width. As many polynomials as the spans hold. Law:    transformed and permuted is permuted
/// by permute_negacyclic() and transformed. Errors: as permute; also ErrorCode::value for an n that is no
/// power of two, and for an even k. Source: the automorphisms of cyclotomic rings; see docs/guide/rows.md.
void permute_evaluations(std::uint64_t n, std::int64_t k, std::uint64_t element_bytes,
                         std::span<const std::byte> in, std::span<std::byte> out, int threads = 0);

/// The same for arrays of a device. Errors: also as permute's there.
void permute_evaluations(std::uint64_t n, std::int64_t k, std::uint64_t element_bytes,
                         std::span<const std::byte> in, std::span<std::byte> out, const OnDevice& where);

}  // namespace faro
