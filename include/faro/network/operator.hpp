// An operator is applied where two elements of a network meet: it takes the pair (a, b) and gives a new pair.
//
// `pairs(op)` on 2^k elements applies it to the neighbours 2p and 2p + 1, for every pair number p:
//
//     (a, b) = (in[2p], in[2p + 1]);   op(a, b, p, k);   out[2p] = a, out[2p + 1] = b
//
//     min_max           a' = min(a, b)    b' = max(a, b)       the comparator of a sorting network
//     max_min           a' = max(a, b)    b' = min(a, b)       the same, upside down
//     hadamard          a' = a + b        b' = a - b           integers modulo 2^32 or 2^64
//     fourier           a' = a + b        b' = (a - b) w^p     w = exp(-2 pi i / 2^k)
//     inverse_fourier   a' = a + b        b' = (a - b) w^-p    not scaled: inverse after forward is 2^k
//     user              what its text or its function says
//
// Example: fourier on k = 2 bits has the pairs p = 0 with w^0 = 1 and p = 1 with w^1 = -i.
//
// The order of compare-exchange is total, whatever the type. Integers: as they are. Floats: IEEE 754's
// totalOrder, -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN, NaNs by their bits. An element with a value is a
// key and, behind it, a value of the same size: ordered by key, then by the value's bits as an unsigned
// number. So any two networks that sort give the same bits.
//
// A user's operator is CUDA C++ for the GPU, a host function for the CPU, or both:
//
//     auto gcd_step = operators::user("gcd_step", "auto m = a % b; a = b; b = m;", function);
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace faro::network {

enum class Scalar { i32, u32, i64, u64, f32, f64, c64 /* two floats */, c128 /* two doubles */ };

/// "i32", "u32", "i64", "u64", "f32", "f64", "c64" or "c128".
const char* name(Scalar scalar) noexcept;
/// Of one scalar: 4, 8 or 16.
std::uint64_t bytes(Scalar scalar) noexcept;
bool is_complex(Scalar scalar) noexcept;
bool is_float(Scalar scalar) noexcept;  // f32 or f64

/// What an array's elements are: a scalar, or a scalar as key with a value of the same size behind it.
struct ElementType {
  Scalar scalar = Scalar::u32;
  bool with_value = false;

  /// Of one element, key and value together: 4 to 32, a power of two.
  std::uint64_t bytes() const noexcept;
  friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// "u32", or "u32+value".   Law: parse_element_type(to_text(t)) == t.
std::string to_text(const ElementType& type);
/// Errors: ErrorCode::value for an unknown name, with the nearest known one.
ElementType parse_element_type(std::string_view text);

enum class OperatorKind { compare_exchange, hadamard, fourier, inverse_fourier, user };

/// A user's operator on the host: elements a and b may be unaligned, p is the pair's number, k the bits.
using HostFunction = std::function<void(void* a, void* b, std::uint64_t p, int k)>;

struct Operator {
  OperatorKind kind = OperatorKind::compare_exchange;
  std::string name = "min_max";  // as in the table above; a user's own for kind user
  bool reversed = false;         // max_min
  /// Kind user: CUDA C++ statements over a and b (references), p (the pair's number) and n (the bits k).
  std::string text = {};
  /// Kind user: the same for the CPU. Null: there is none.
  std::shared_ptr<const HostFunction> host = nullptr;

  /// Host functions are compared by identity.
  friend bool operator==(const Operator&, const Operator&) = default;
};

/// Fourier's operator or its inverse: those with roots of unity.
constexpr bool is_fourier(OperatorKind kind) {
  return kind == OperatorKind::fourier || kind == OperatorKind::inverse_fourier;
}

namespace operators {

Operator min_max();
Operator max_min();
Operator hadamard();
Operator fourier();
Operator inverse_fourier();
/// Errors: ErrorCode::value for a name that is no identifier or is taken by a built-in operator, and for an
/// operator that has neither text nor function.
Operator user(std::string name, std::string text, HostFunction host = nullptr);

}  // namespace operators

/// The names that parse_operator knows: those of the table above, without `user`.
const std::vector<std::string>& operator_names();
/// Errors: ErrorCode::value for an unknown name, with the nearest known one.
Operator parse_operator(std::string_view name);

/// Whether `op` means anything for elements of `type`: compare-exchange wants real scalars, with or without
/// value; hadamard any scalar without value; the two of Fourier complex scalars; a user's operator anything.
/// Errors: ErrorCode::value, naming operator and type.
void check_fits(const Operator& op, const ElementType& type);

/// The reference semantics: replaces the elements that a and b point to, of any alignment.
/// Requires: check_fits(op, type) passes, 1 <= k <= 63, p < 2^(k-1) (unchecked).
/// Errors: ErrorCode::unsupported for a user's operator without host function.
void apply(const Operator& op, const ElementType& type, void* a, void* b, std::uint64_t p, int k);

/// exp(-2 pi i p / 2^k), each part correct to half a unit in the last place of a double (computed in more
/// than that); exact at multiples of a quarter turn, conjugate values bit for bit conjugate. Requires: 0 <= k
/// <= 63 (unchecked); p counts modulo 2^k.
std::complex<double> twiddle(std::uint64_t p, int k);

}  // namespace faro::network
