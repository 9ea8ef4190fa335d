// An operator is applied where two elements of a network meet: it takes the pair (a, b) and gives a new pair.
// An elementwise function takes one element and gives another.
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
// `each(f)` applies an elementwise function to every element, wherever it is:
//
//     add C, multiply C, min C, max C      numbers; min and max take real ones; integers modulo 2^32 or 2^64
//     negate, absolute, conjugate          conjugate takes complex numbers
//     and C, or C, xor C, not              the bits of integers
//     user                                 what its text or its function says of one element
//
// C is a number such as 5, -3, 0xff, 2^20, 0.5 or 1e-3. `min C` keeps an element that is not above C: a NaN
// stays; the order is <, not the total one.
//
// A user's operator is CUDA C++ for the GPU, a function for the CPU, or both; a CPU also reads texts of
// simple statements (docs/guide/network.md). What a function takes says which elements the operator is for:
//
//     auto gcd_step = operators::user<std::uint32_t>(
//         "gcd_step", [](std::uint32_t& a, std::uint32_t& b) { ... }, "auto m = a % b; a = b; b = m;");
//     auto halved = operators::each<float>("halved", [](float v) { return v / 2; }, "a = a / 2;");
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// A key with a value of the same size behind it, as a user's function takes it.
template <typename Key>
struct KeyValue {
  Key key;
  Key value;
};

/// The element type that T is in memory: std::int32_t is i32, KeyValue<float> is f32+value.
template <typename T>
struct ElementOf;
template <>
struct ElementOf<std::int32_t> {
  static constexpr ElementType value{Scalar::i32, false};
};
template <>
struct ElementOf<std::uint32_t> {
  static constexpr ElementType value{Scalar::u32, false};
};
template <>
struct ElementOf<std::int64_t> {
  static constexpr ElementType value{Scalar::i64, false};
};
template <>
struct ElementOf<std::uint64_t> {
  static constexpr ElementType value{Scalar::u64, false};
};
template <>
struct ElementOf<float> {
  static constexpr ElementType value{Scalar::f32, false};
};
template <>
struct ElementOf<double> {
  static constexpr ElementType value{Scalar::f64, false};
};
template <>
struct ElementOf<std::complex<float>> {
  static constexpr ElementType value{Scalar::c64, false};
};
template <>
struct ElementOf<std::complex<double>> {
  static constexpr ElementType value{Scalar::c128, false};
};
template <typename Key>
struct ElementOf<KeyValue<Key>> {
  static constexpr ElementType value{ElementOf<Key>::value.scalar, true};
};

enum class OperatorKind {
  compare_exchange,
  hadamard,
  fourier,
  inverse_fourier,
  user,
  elementwise,       // a function of the table above, with its constant
  user_elementwise,  // a user's own
};

/// A user's operator on the host: elements a and b may be unaligned, p is the pair's number, k the bits. Of
/// an elementwise function b is null, and p and k are 0.
using HostFunction = std::function<void(void* a, void* b, std::uint64_t p, int k)>;

struct Operator {
  OperatorKind kind = OperatorKind::compare_exchange;
  std::string name = "min_max";  // as in the table above; a user's own for kind user
  bool reversed = false;         // max_min
  /// Kind user: CUDA C++ statements over a and b (references), p (the pair's number) and n (the bits k). Kind
  /// user_elementwise: over a. Kind elementwise: the constant as it was given, empty where there is none.
  std::string text = {};
  /// A user's: the same for the CPU. Null: the text is read there, where it is simple enough.
  std::shared_ptr<const HostFunction> host = nullptr;
  /// A user's: the only elements that `host` is for; nothing for any.
  std::optional<ElementType> element = {};

  /// Host functions are compared by identity.
  friend bool operator==(const Operator&, const Operator&) = default;
};

/// Fourier's operator or its inverse: those with roots of unity.
constexpr bool is_fourier(OperatorKind kind) {
  return kind == OperatorKind::fourier || kind == OperatorKind::inverse_fourier;
}

/// Whether it takes elements one by one: for `each`, not for `pairs`.
constexpr bool is_elementwise(OperatorKind kind) {
  return kind == OperatorKind::elementwise || kind == OperatorKind::user_elementwise;
}

/// Whether it is a user's own, which needs a function on a CPU and a text on a GPU.
constexpr bool is_users(OperatorKind kind) {
  return kind == OperatorKind::user || kind == OperatorKind::user_elementwise;
}

/// Whether what it does to a pair depends on the pair's number.
constexpr bool needs_pair_number(OperatorKind kind) { return is_fourier(kind) || kind == OperatorKind::user; }

namespace operators {

Operator min_max();
Operator max_min();
Operator hadamard();
Operator fourier();
Operator inverse_fourier();
/// Errors: ErrorCode::value for a name that is no identifier or is taken by a built-in operator, and for an
/// operator that has neither text nor function.
Operator user(std::string name, std::string text, HostFunction host = nullptr);

/// An elementwise function by its text: "add 5", "negate", "xor 0xff".
/// Errors: ErrorCode::value for an unknown name, with the nearest known one, and for a constant that is
/// missing, superfluous or no number.
Operator each(std::string_view function);

/// A user's elementwise function: `host` is called as host(a, nullptr, 0, 0), `text` is over `a`.
/// Errors: those of user; the names of elementwise functions are taken.
Operator each(std::string name, std::string text, HostFunction host);

/// A user's operator for pairs of elements T: `function` is called as function(T& a, T& b), or as function(T&
/// a, T& b, p, k) where it takes the pair's number and the bits. It may be called from many threads at once.
/// Errors: those of user.
template <typename T, typename Function>
Operator user(std::string name, Function function, std::string text = {}) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are bytes to faro");
  HostFunction host = [function = std::move(function)](void* a, void* b, std::uint64_t p, int k) {
    T first;
    T second;
    std::memcpy(&first, a, sizeof first);
    std::memcpy(&second, b, sizeof second);
    if constexpr (std::is_invocable_v<const Function&, T&, T&, std::uint64_t, int>) {
      function(first, second, p, k);
    } else {
      function(first, second);
    }
    std::memcpy(a, &first, sizeof first);
    std::memcpy(b, &second, sizeof second);
  };
  Operator result = user(std::move(name), std::move(text), std::move(host));
  result.element = ElementOf<T>::value;
  return result;
}

/// A user's elementwise function on elements T: `function` is called as T function(T), from many threads at
/// once. Errors: those of user.
template <typename T, typename Function>
Operator each(std::string name, Function function, std::string text = {}) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are bytes to faro");
  HostFunction host = [function = std::move(function)](void* a, void*, std::uint64_t, int) {
    T value;
    std::memcpy(&value, a, sizeof value);
    value = function(value);
    std::memcpy(a, &value, sizeof value);
  };
  Operator result = each(std::move(name), std::move(text), std::move(host));
  result.element = ElementOf<T>::value;
  return result;
}

}  // namespace operators

/// The names that parse_operator knows: those of the table above, without `user`.
const std::vector<std::string>& operator_names();
/// The names of elementwise functions, `user` left off.
const std::vector<std::string>& elementwise_names();
/// Errors: ErrorCode::value for an unknown name, with the nearest known one.
Operator parse_operator(std::string_view name);

/// Whether `op` means anything for elements of `type`: compare-exchange wants real scalars, with or without
/// value; hadamard any scalar without value; the two of Fourier complex scalars; elementwise functions what
/// the table says, without value, and a constant that the type holds exactly or, of a float, to its
/// precision; a user's operator the type of its function, anything where it has none. Errors:
/// ErrorCode::value, naming operator and type.
void check_fits(const Operator& op, const ElementType& type);

/// The reference semantics: replaces the elements that a and b point to, of any alignment. An elementwise
/// function replaces both, each by itself; there b may be null.
/// Requires: check_fits(op, type) passes, 1 <= k <= 63, p < 2^(k-1) (unchecked).
/// Errors: ErrorCode::unsupported for a user's operator without host function whose text is more than a CPU
/// reads.
void apply(const Operator& op, const ElementType& type, void* a, void* b, std::uint64_t p, int k);

/// An elementwise function on `count` elements one after another, of any alignment.
/// Requires: is_elementwise(op.kind) (checked), check_fits(op, type) passes (unchecked).
/// Errors: those of apply.
void apply_each(const Operator& op, const ElementType& type, void* elements, std::uint64_t count);

/// exp(-2 pi i p / 2^k), each part correct to half a unit in the last place of a double (computed in more
/// than that); exact at multiples of a quarter turn, conjugate values bit for bit conjugate. Requires: 0 <= k
/// <= 63 (unchecked); p counts modulo 2^k.
std::complex<double> twiddle(std::uint64_t p, int k);

}  // namespace faro::network
