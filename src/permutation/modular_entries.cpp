// Index arrays that multiplications modulo a count and of their kind become.
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/modular.hpp"
#include "faro/permutation/permutation.hpp"
#include "io/buffer.hpp"
#include "permutation/index_check.hpp"
#include "permutation/modular_arithmetic.hpp"

namespace faro {
namespace {

using detail::product_mod;

// Entries that fill(entries) writes, in words that hold the count.
template <typename Fill>
Indexed filled_entries(const char* operation, std::uint64_t count, const Fill& fill) {
  const bool wide = count > std::uint64_t{1} << 32;
  detail::require_memory(operation, std::to_string(count) + " entries", count * (wide ? 8 : 4) + count / 8);
  const auto filled = [&](auto word) {
    std::vector<decltype(word)> entries(count);
    fill(entries);
    return Indexed(std::move(entries), Direction::scatter);
  };
  return wide ? filled(std::uint64_t{0}) : filled(std::uint32_t{0});
}

std::uint64_t power_mod(std::uint64_t base, std::uint64_t exponent, std::uint64_t count) {
  std::uint64_t result = 1 % count;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = product_mod(result, base, count);
    base = product_mod(base, base, count);
  }
  return result;
}

std::vector<std::uint64_t> prime_divisors(std::uint64_t number) {
  std::vector<std::uint64_t> primes;
  for (std::uint64_t p = 2; p * p <= number; ++p) {
    if (number % p != 0) continue;
    primes.push_back(p);
    while (number % p == 0) number /= p;
  }
  if (number > 1) primes.push_back(number);
  return primes;
}

// Requires: a prime.
std::uint64_t primitive_root(std::uint64_t prime) {
  const std::vector<std::uint64_t> divisors = prime_divisors(prime - 1);
  const auto generates = [&](std::uint64_t g) {
    return std::all_of(divisors.begin(), divisors.end(),
                       [&](std::uint64_t p) { return power_mod(g, (prime - 1) / p, prime) != 1; });
  };
  std::uint64_t g = 1;
  while (!generates(g)) ++g;
  return g;
}

}  // namespace

Indexed as_index_array(const Modular& map) {
  const Indexed made = filled_entries("multiply", map.count, [&](auto& entries) {
    using Word = typename std::remove_reference_t<decltype(entries)>::value_type;
    detail::for_each_index(map.count, [&](std::uint64_t x) { entries[x] = static_cast<Word>(map(x)); });
  });
  return made.labelled(to_text(Permutation(map)));
}

namespace maps {

Indexed good_thomas(std::uint64_t rows, std::uint64_t columns) {
  const std::string asked = std::to_string(rows) + " rows and " + std::to_string(columns) + " columns";
  if (rows == 0 || columns == 0 || rows > Indexed::kMaxCount / columns)
    fail(ErrorCode::value, "good_thomas", asked, "from 1 to 2^40 elements");
  if (const std::uint64_t divisor = std::gcd(rows, columns); divisor != 1) {
    fail(ErrorCode::value, "good_thomas",
         asked + ", whose greatest common divisor is " + std::to_string(divisor),
         "numbers without a common divisor");
  }
  const Indexed made = filled_entries("good_thomas", rows * columns, [&](auto& entries) {
    using Word = typename std::remove_reference_t<decltype(entries)>::value_type;
    detail::for_each_index(entries.size(), [&](std::uint64_t x) {
      entries[x] = static_cast<Word>(x % rows * columns + x % columns);
    });
  });
  return made.labelled("good_thomas(" + std::to_string(rows) + ", " + std::to_string(columns) + ")");
}

Indexed rader(std::uint64_t prime) {
  if (prime < 2 || prime > Indexed::kMaxCount || prime_divisors(prime).front() != prime)
    fail(ErrorCode::value, "rader", std::to_string(prime) + " elements",
         "a prime number of them, below 2^40");
  const std::uint64_t g = primitive_root(prime);
  const Indexed made = filled_entries("rader", prime, [&](auto& entries) {
    using Word = typename std::remove_reference_t<decltype(entries)>::value_type;
    std::uint64_t at = 1;
    for (std::uint64_t k = 1; k < prime; ++k, at = product_mod(at, g, prime))
      entries[at] = static_cast<Word>(k);
  });
  return made.labelled("rader(" + std::to_string(prime) + ")");
}

}  // namespace maps
}  // namespace faro
