// The programs that have a name, each a function of its size and, where it sorts, of its comparator.
//
//     sort(n)     merge after sorting the elements at even and at odd places
//     merge(n)    a column of mirror images, then the same on each half: the balanced merger
//     vcolumn(n)  x meets 2^n - 1 - x
//
// The bodies, in src/network/library.cpp, read like the recurrences of the literature. All of them work for
// n = 0, where they do nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "faro/network/program.hpp"

namespace faro::network {

/// Compares x with 2^n - 1 - x; the smaller comes first. Source: Bouverot-Dupuis and Sheeran, section 7.1.
Program vcolumn(int n, const Operator& comparator = operators::min_max());

/// Sorts an array whose elements at even places are sorted, and those at odd places.
/// Source: Dowd, Perl, Saks and Rudolph 1983 (balanced merger); Bouverot-Dupuis and Sheeran, section 7.1.
Program merge(int n, const Operator& comparator = operators::min_max());

/// Sorts: n (n + 1) / 2 layers.
Program sort(int n, const Operator& comparator = operators::min_max());

/// x meets x ^ 2^(n-1), on n bits: the first layer of a butterfly.
Program butterfly(int n, const Operator& op);

/// Sorts an array whose halves are sorted: mirror images first, then butterflies on ever smaller halves.
/// Source: Batcher 1968, every comparator the same way up.
Program bitonic_merge(int n, const Operator& comparator = operators::min_max());

/// Sorts: n (n + 1) / 2 layers.
Program bitonic_sort(int n, const Operator& comparator = operators::min_max());

/// The Walsh-Hadamard transform in natural order: out[y] = sum over x of (-1)^parity(x & y) in[x], unscaled.
Program wht(int n);

/// The discrete Fourier transform: out[y] = sum over x of in[x] exp(-2 pi i x y / 2^n). Radix 2, decimation
/// in frequency, natural order on both sides. Source: Gentleman and Sande 1966.
Program fft(int n);

/// The same without its last step: out[reversed bits of y].
Program fft_reversed(int n);

/// out[y] = sum over x of in[x] exp(+2 pi i x y / 2^n), unscaled: after fft, 2^n times the input.
Program inverse_fft(int n);

/// The same without its last step.
Program inverse_fft_reversed(int n);

/// A program of the library, as text knows it.
struct LibraryEntry {
  std::string_view name;
  std::string_view meaning;
  Program (*make)(int n);
};

/// Every named program, in the order of this page.
std::span<const LibraryEntry> library();

/// Nothing where the name is unknown.
const LibraryEntry* find_program(std::string_view name);

}  // namespace faro::network
