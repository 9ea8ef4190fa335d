#include <numeric>
#include <string>

#include "disjoint.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda_modular.hpp"
#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/faro.hpp"
#include "faro/plan/plan.hpp"

namespace faro {
namespace {

void require_modular(const Modular& map) {
  const bool fits = map.count > 0 && map.count <= Indexed::kMaxCount && map.shift < map.count &&
                    map.factor < map.count + (map.count == 1 ? 1 : 0) && std::gcd(map.factor, map.count) == 1;
  if (!fits) {
    fail(ErrorCode::value, "permute",
         "x to " + std::to_string(map.factor) + " x + " + std::to_string(map.shift) + " mod " +
             std::to_string(map.count),
         "a unit and a shift below the count, which is at most 2^40");
  }
}

void require_modular_arrays(std::uint64_t array_bytes, std::span<const std::byte> in,
                            std::span<const std::byte> out) {
  if (in.size() != out.size() || in.size() % array_bytes != 0) {
    fail(ErrorCode::value, "permute",
         "arrays of " + std::to_string(in.size()) + " and " + std::to_string(out.size()) + " bytes",
         "two of one size, a multiple of " + std::to_string(array_bytes) + " bytes");
  }
  if (in.empty()) return;
  if (in.data() == nullptr || out.data() == nullptr)
    fail(ErrorCode::value, "permute", "a null pointer", "two arrays");
  detail::check_disjoint("permute", detail::RunArray{"output", detail::laid(out)},
                         {{"input", detail::laid(in)}});
}

// Arrays of a map, and how many of them there are.
std::uint64_t require_permutable(const Modular& map, std::uint64_t element_bytes,
                                 std::span<const std::byte> in, std::span<const std::byte> out) {
  require_modular(map);
  if (element_bytes == 0 || element_bytes > kMaxElementBytes)
    fail(ErrorCode::value, "permute", "elements of " + std::to_string(element_bytes) + " bytes",
         "from 1 to 4096 bytes");
  const std::uint64_t array_bytes = map.count * element_bytes;
  require_modular_arrays(array_bytes, in, out);
  return in.size() / array_bytes;
}

// As a list, for all polynomials or for each.
std::span<const std::uint64_t> moduli_of(const Negation& negation) {
  return negation.moduli.empty() ? std::span(&negation.modulus, 1) : negation.moduli;
}

// Moduli that the numbers may have; `arrays` of them are there.
void require_moduli(const Negation& negation, std::uint64_t arrays) {
  const bool is_unsigned = negation.number == Number::u8 || negation.number == Number::u16 ||
                           negation.number == Number::u32 || negation.number == Number::u64;
  const std::uint64_t width = bytes_of(negation.number);
  for (const std::uint64_t modulus : moduli_of(negation)) {
    if (modulus == 0 || (is_unsigned && (width == 8 || modulus <= std::uint64_t{1} << (8 * width)))) continue;
    fail(ErrorCode::value, "permute",
         "a modulus of " + std::to_string(modulus) + " with numbers " + name(negation.number),
         "unsigned integers below it");
  }
  if (!negation.moduli.empty() && negation.modulus != 0)
    fail(ErrorCode::value, "permute", "one modulus for all polynomials, and one for each", "either");
  if (!negation.moduli.empty() && arrays % negation.moduli.size() != 0) {
    fail(ErrorCode::value, "permute",
         std::to_string(negation.moduli.size()) + " moduli for " + std::to_string(arrays) + " polynomials",
         "a number of moduli that divides that of the polynomials");
  }
}

// The same of polynomials; the automorphism's factor modulo 2 n.
std::uint64_t require_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation,
                                 std::span<const std::byte> in, std::span<const std::byte> out) {
  if (n == 0 || n > Indexed::kMaxCount / 2)
    fail(ErrorCode::value, "permute", "polynomials of " + std::to_string(n) + " coefficients",
         "from 1 to 2^39 coefficients");
  const Modular doubled = maps::multiply(2 * n, k);  // refuses what has a divisor with 2 n
  const std::uint64_t array_bytes = n * bytes_of(negation.number);
  require_modular_arrays(array_bytes, in, out);
  require_moduli(negation, in.size() / array_bytes);
  return doubled.factor;
}

// For values in bit-reversed order: how many polynomials there are, and the order.
std::uint64_t require_evaluations(std::uint64_t n, std::uint64_t element_bytes, std::span<const std::byte> in,
                                  std::span<const std::byte> out) {
  if (!f2::is_power_of_two(n) || n > Indexed::kMaxCount / 2)
    fail(ErrorCode::value, "permute", "polynomials of " + std::to_string(n) + " values",
         "a power of two of them, up to 2^39");
  return require_permutable({.count = n, .factor = 1 % n, .shift = 0}, element_bytes, in, out);
}

kernels::EvaluationOrder evaluation_order(std::uint64_t n, std::int64_t k) {
  const Modular doubled = maps::multiply(2 * n, k);  // refuses what has a divisor with 2 n
  return {.bits = f2::trailing_bit(n), .factor = doubled.factor};
}

// A multiplication by 1 or -1 is a roll or a flip, whose kernel joins vectors and needs no tiles. Making its
// plan takes longer than a small array.
bool goes_as_cyclic(const Modular& map, std::uint64_t element_bytes, std::uint64_t bytes) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{4} << 20;
  constexpr std::uint64_t kWidest = 16;  // as the kernel for other factors takes them
  return bytes >= kLeastBytes && element_bytes <= kWidest && f2::is_power_of_two(element_bytes) &&
         (map.factor == 1 % map.count || map.factor == map.count - 1);
}

void permute_cyclic(const Modular& map, std::uint64_t element_bytes, std::span<const std::byte> in,
                    std::span<std::byte> out, const OnDevice& where) {
  const Cyclic cyclic{.count = map.count, .shift = map.shift, .reversed = map.factor != 1 % map.count};
  const Problem problem{.permutation = cyclic,
                        .element_bytes = element_bytes,
                        .batch = in.size() / (map.count * element_bytes)};
  plan(problem, {.engine = Engine::cuda, .device = where.device})
      .run(in.data(), out.data(), in.size(), where.stream);
}

}  // namespace

void permute_evaluations(std::uint64_t n, std::int64_t k, std::uint64_t element_bytes,
                         std::span<const std::byte> in, std::span<std::byte> out, int threads) {
  const std::uint64_t batch = require_evaluations(n, element_bytes, in, out);
  cpu::permute_evaluations(evaluation_order(n, k), {.element_bytes = element_bytes, .batch = batch},
                           in.data(), out.data(), threads);
}

void permute_evaluations(std::uint64_t n, std::int64_t k, std::uint64_t element_bytes,
                         std::span<const std::byte> in, std::span<std::byte> out, const OnDevice& where) {
  const std::uint64_t batch = require_evaluations(n, element_bytes, in, out);
  const kernels::EvaluationOrder order = evaluation_order(n, k);
  cuda::permute_evaluations({.bits = order.bits,
                             .factor = order.factor,
                             .element_bytes = element_bytes,
                             .batch = batch,
                             .in = in.data(),
                             .out = out.data()},
                            where.stream, where.device);
}

void permute(const Modular& map, std::uint64_t element_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, int threads) {
  const std::uint64_t batch = require_permutable(map, element_bytes, in, out);
  cpu::permute(map, {.element_bytes = element_bytes, .batch = batch}, in.data(), out.data(), threads);
}

void permute(const Modular& map, std::uint64_t element_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, const OnDevice& where) {
  cuda::ModularMove move{.map = map, .element_bytes = element_bytes, .in = in.data(), .out = out.data()};
  move.batch = require_permutable(map, element_bytes, in, out);
  if (goes_as_cyclic(map, element_bytes, in.size()))
    return permute_cyclic(map, element_bytes, in, out, where);
  cuda::permute(move, where.stream, where.device);
}

void permute_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation,
                        std::span<const std::byte> in, std::span<std::byte> out, int threads) {
  const std::uint64_t factor = require_negacyclic(n, k, negation, in, out);
  cpu::permute_negated({.count = n, .factor = factor % n, .shift = 0},
                       {.sign_factor = factor, .number = negation.number, .moduli = moduli_of(negation)},
                       in.size() / (n * bytes_of(negation.number)), in.data(), out.data(), threads);
}

void permute_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation,
                        std::span<const std::byte> in, std::span<std::byte> out, const OnDevice& where) {
  const std::uint64_t factor = require_negacyclic(n, k, negation, in, out);
  const std::uint64_t width = bytes_of(negation.number);
  cuda::permute({.map = {.count = n, .factor = factor % n, .shift = 0},
                 .element_bytes = width,
                 .batch = in.size() / (n * width),
                 .in = in.data(),
                 .out = out.data(),
                 .negated = true,
                 .sign_factor = factor,
                 .number = negation.number,
                 .moduli = moduli_of(negation)},
                where.stream, where.device);
}

}  // namespace faro
