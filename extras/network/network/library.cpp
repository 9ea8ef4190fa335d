#include <algorithm>
#include <array>

#include "faro/network/program.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::network {
namespace {

using f2::unit;

// A layer of a Fourier transform: x meets x + 2^(n-1), and the pair's number is x.
Program fourier_layer(int n, const Operator& op) {
  const Affine shuffle = maps::shuffle(n);  // the halves, element by element in turn
  return bmmc(shuffle.inverse()) * pairs(op, n) * bmmc(shuffle);
}

Program decimate(int n, const Operator& op) {
  if (n == 0) return identity(0);
  if (n == 1) return pairs(op, 1);
  return two(decimate(n - 1, op)) * fourier_layer(n, op);
}

Program in_natural_order(const Program& transform) {
  if (transform.bits() < 2) return transform;
  return bmmc(maps::bit_reversal(transform.bits())) * transform;
}

}  // namespace

Program vcolumn(int n, const Operator& comparator) {
  if (n == 0) return identity(0);
  if (n == 1) return pairs(comparator, 1);
  return parm(3, vcolumn(n - 1, comparator));
}

Program merge(int n, const Operator& comparator) {
  if (n <= 1) return vcolumn(n, comparator);
  return parm(unit(n - 1), merge(n - 1, comparator)) * vcolumn(n, comparator);
}

Program sort(int n, const Operator& comparator) {
  if (n <= 1) return vcolumn(n, comparator);
  return merge(n, comparator) * parm(1, sort(n - 1, comparator));
}

Program butterfly(int n, const Operator& op) {
  if (n == 0) return identity(0);
  if (n == 1) return pairs(op, 1);
  return parm(1, butterfly(n - 1, op));
}

namespace {

Program butterflies(int n, const Operator& op) {
  if (n <= 1) return butterfly(n, op);
  return two(butterflies(n - 1, op)) * butterfly(n, op);
}

}  // namespace

Program bitonic_merge(int n, const Operator& comparator) {
  if (n <= 1) return vcolumn(n, comparator);
  return two(butterflies(n - 1, comparator)) * vcolumn(n, comparator);
}

Program bitonic_sort(int n, const Operator& comparator) {
  if (n <= 1) return vcolumn(n, comparator);
  return bitonic_merge(n, comparator) * two(bitonic_sort(n - 1, comparator));
}

Program wht(int n) { return butterflies(n, operators::hadamard()); }

Program fft(int n) { return in_natural_order(fft_reversed(n)); }

Program fft_reversed(int n) { return decimate(n, operators::fourier()); }

Program inverse_fft(int n) { return in_natural_order(inverse_fft_reversed(n)); }

Program inverse_fft_reversed(int n) { return decimate(n, operators::inverse_fourier()); }

std::span<const LibraryEntry> library() {
  static constexpr std::array kLibrary{
      LibraryEntry{"vcolumn", "x meets 2^n - 1 - x", [](int n) { return vcolumn(n); }},
      LibraryEntry{"merge", "sorts where even and odd places are sorted: the balanced merger",
                   [](int n) { return merge(n); }},
      LibraryEntry{"sort", "sorts, by balanced mergers", [](int n) { return sort(n); }},
      LibraryEntry{"bitonic_merge", "sorts where the halves are sorted",
                   [](int n) { return bitonic_merge(n); }},
      LibraryEntry{"bitonic_sort", "sorts, by bitonic mergers", [](int n) { return bitonic_sort(n); }},
      LibraryEntry{"bitonic", "bitonic_sort", [](int n) { return bitonic_sort(n); }},
      LibraryEntry{"wht", "the Walsh-Hadamard transform, unscaled", [](int n) { return wht(n); }},
      LibraryEntry{"fft", "the Fourier transform", [](int n) { return fft(n); }},
      LibraryEntry{"fft_reversed", "the Fourier transform, its result in bit-reversed order",
                   [](int n) { return fft_reversed(n); }},
      LibraryEntry{"inverse_fft", "the inverse transform, unscaled", [](int n) { return inverse_fft(n); }},
      LibraryEntry{"inverse_fft_reversed", "the same, its result in bit-reversed order",
                   [](int n) { return inverse_fft_reversed(n); }}};
  return kLibrary;
}

const LibraryEntry* find_program(std::string_view name) {
  const std::span<const LibraryEntry> all = library();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const LibraryEntry& entry) { return entry.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace faro::network
