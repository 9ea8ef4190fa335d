#include "faro/permutation/modular.hpp"

#include <numeric>
#include <string>

#include "faro/error.hpp"
#include "permutation/modular_arithmetic.hpp"

namespace faro {
namespace {

using detail::inverse_mod;
using detail::product_mod;
using detail::residue;

}  // namespace

std::uint64_t Modular::operator()(std::uint64_t x) const {
  const std::uint64_t product = product_mod(factor, x, count);
  return product >= count - shift ? product - (count - shift) : product + shift;
}

Modular Modular::inverse() const {
  const std::uint64_t undone = inverse_mod(factor, count);
  const std::uint64_t moved = product_mod(undone, shift, count);
  return {.count = count, .factor = undone, .shift = moved == 0 ? 0 : count - moved};
}

Modular compose(const Modular& a, const Modular& b) {
  if (a.count != b.count) {
    fail(ErrorCode::value, "compose",
         "permutations of " + std::to_string(a.count) + " and " + std::to_string(b.count) + " elements",
         "permutations of one size");
  }
  return {.count = a.count, .factor = product_mod(a.factor, b.factor, a.count), .shift = a(b.shift)};
}

Modular Modular::power(std::int64_t k) const {
  Modular base = k < 0 ? inverse() : *this;
  auto left = k < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(k) : static_cast<std::uint64_t>(k);
  Modular result{.count = count, .factor = 1 % count, .shift = 0};
  for (; left != 0; left >>= 1) {
    if ((left & 1) != 0) result = compose(base, result);
    base = compose(base, base);
  }
  return result;
}

}  // namespace faro

namespace faro::maps {

namespace {

// `of` is the map that the error is about.
Modular modular_map(const char* of, std::uint64_t count, std::int64_t factor, std::int64_t shift) {
  if (count == 0 || count > Indexed::kMaxCount)
    fail(ErrorCode::value, of, std::to_string(count) + " elements", "from 1 to 2^40 elements");
  const std::uint64_t reduced = residue(factor, count);
  const std::uint64_t divisor = std::gcd(reduced, count);
  if (divisor != 1) {
    fail(ErrorCode::value, of,
         "factor " + std::to_string(factor) + " modulo " + std::to_string(count) +
             ", whose greatest common divisor is " + std::to_string(divisor),
         "a factor without a common divisor: others move several elements to one place");
  }
  return {.count = count, .factor = reduced, .shift = residue(shift, count)};
}

}  // namespace

Modular affine_mod(std::uint64_t count, std::int64_t factor, std::int64_t shift) {
  return modular_map("affine_mod", count, factor, shift);
}

Modular multiply(std::uint64_t count, std::int64_t factor) {
  return modular_map("multiply", count, factor, 0);
}

}  // namespace faro::maps
