// What operators do: the reference that every engine is held against.
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include "faro/network/operator.hpp"
#include "network/operator_script.hpp"
#include "network/scalar_types.hpp"

namespace faro::network {
namespace {

// --- compare-exchange: one order for every type

// An unsigned number that orders as the key does.
template <typename Key>
auto order_of(Key key) {
  using Bits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kSign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);
  Bits bits = 0;
  std::memcpy(&bits, &key, sizeof bits);
  if constexpr (std::is_floating_point_v<Key>) {
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<Key>) {
    return bits ^ kSign;
  } else {
    return bits;
  }
}

template <typename Key>
struct Keyed {
  Key key;
  std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t> value;
};

template <typename Key>
bool precedes(Key a, Key b) {
  return order_of(a) < order_of(b);
}

template <typename Key>
bool precedes(const Keyed<Key>& a, const Keyed<Key>& b) {
  return order_of(a.key) != order_of(b.key) ? order_of(a.key) < order_of(b.key) : a.value < b.value;
}

// --- the pair itself; memory of any alignment

template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(void* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
void compare_exchange(bool reversed, void* a, void* b) {
  const auto first = load<T>(a);
  const auto second = load<T>(b);
  if (reversed ? precedes(first, second) : precedes(second, first)) {
    store(a, second);
    store(b, first);
  }
}

template <typename T>
void hadamard(void* a, void* b) {
  const auto first = load<T>(a);
  const auto second = load<T>(b);
  store<T>(a, first + second);
  store<T>(b, first - second);
}

// The difference is turned in double, so that floats are rounded once.
template <typename Real>
void fourier(bool inverse, void* a, void* b, std::uint64_t p, int k) {
  const auto first = load<std::complex<Real>>(a);
  const auto second = load<std::complex<Real>>(b);
  const std::complex<double> w = inverse ? std::conj(twiddle(p, k)) : twiddle(p, k);
  const auto re = static_cast<double>(first.real()) - static_cast<double>(second.real());
  const auto im = static_cast<double>(first.imag()) - static_cast<double>(second.imag());
  store(a, first + second);
  store(b, std::complex<Real>(static_cast<Real>(re * w.real() - im * w.imag()),
                              static_cast<Real>(re * w.imag() + im * w.real())));
}

}  // namespace

void apply(const Operator& op, const ElementType& type, void* a, void* b, std::uint64_t p, int k) {
  switch (op.kind) {
    case OperatorKind::compare_exchange:
      return with_real(type.scalar, [&](auto key) {
        using Key = decltype(key);
        if (type.with_value) {
          compare_exchange<Keyed<Key>>(op.reversed, a, b);
        } else {
          compare_exchange<Key>(op.reversed, a, b);
        }
      });
    case OperatorKind::hadamard:
      return with_scalar(type.scalar, [&](auto number) {
        using T = decltype(number);
        if constexpr (std::is_integral_v<T>) {
          hadamard<std::make_unsigned_t<T>>(a, b);  // sums that wrap
        } else {
          hadamard<T>(a, b);
        }
      });
    case OperatorKind::fourier:
    case OperatorKind::inverse_fourier: {
      const bool inverse = op.kind == OperatorKind::inverse_fourier;
      return type.scalar == Scalar::c64 ? fourier<float>(inverse, a, b, p, k)
                                        : fourier<double>(inverse, a, b, p, k);
    }
    case OperatorKind::user:
      return remembered_host_function(op, type)(a, b, p, k);
    case OperatorKind::elementwise:
    case OperatorKind::user_elementwise:
      apply_each(op, type, a, 1);
      if (b != nullptr) apply_each(op, type, b, 1);
      return;
  }
}

// --- twiddles

// Turned into the first eighth of the circle, where sine and cosine are small and exact in their symmetries.
std::complex<double> twiddle(std::uint64_t p, int k) {
  const std::uint64_t turn = std::uint64_t{1} << k;
  std::uint64_t t = p & (turn - 1);
  const bool below = t > turn / 2;
  if (below) t = turn - t;
  const bool left = t > turn / 4;
  if (left) t = turn / 2 - t;
  const bool steep = t > turn / 8;
  if (steep) t = turn / 4 - t;
  const long double angle =
      2 * std::numbers::pi_v<long double> * (static_cast<long double>(t) / static_cast<long double>(turn));
  auto re = static_cast<double>(std::cos(angle));
  auto im = static_cast<double>(std::sin(angle));
  if (steep) std::swap(re, im);
  if (left) re = -re;
  return {re, below ? im : 0 - im};  // never -0: 0 - 0 is +0
}

}  // namespace faro::network
