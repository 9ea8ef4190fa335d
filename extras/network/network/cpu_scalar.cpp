#include "network/cpu_scalar.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace faro::network::cpu {
namespace {

// The frame's value place by place: counting changes it by one precomputed word.
class FrameWalk {
 public:
  FrameWalk(const LocalLayer& layer, f2::Word block, int place_bits) {
    f2::Word sum = 0;
    for (int j = 0; j < place_bits; ++j) {
      sum ^= value(layer, f2::unit(j), 0) ^ value(layer, 0, 0);
      changes_.push_back(sum);
    }
    current_ = value(layer, 0, block);
  }
  f2::Word current() const { return current_; }
  /// To place `next`, from the one before.
  void advance(f2::Word next) { current_ ^= changes_[static_cast<std::size_t>(f2::trailing_bit(next))]; }

 private:
  static f2::Word value(const LocalLayer& layer, f2::Word place, f2::Word block) {
    f2::Word y = 0;
    for (std::size_t i = 0; i < layer.frame.size(); ++i) {
      if (layer.frame[i](place, block)) y |= f2::unit(static_cast<int>(i));
    }
    return y;
  }
  std::vector<f2::Word> changes_;
  f2::Word current_ = 0;
};

template <typename Real>
void butterfly(std::byte* a, std::byte* b, std::complex<double> w) {
  std::complex<Real> first;
  std::complex<Real> second;
  std::memcpy(&first, a, sizeof first);
  std::memcpy(&second, b, sizeof second);
  const auto re = static_cast<double>(first.real()) - static_cast<double>(second.real());
  const auto im = static_cast<double>(first.imag()) - static_cast<double>(second.imag());
  first += second;
  second = {static_cast<Real>(re * w.real() - im * w.imag()),
            static_cast<Real>(re * w.imag() + im * w.real())};
  std::memcpy(a, &first, sizeof first);
  std::memcpy(b, &second, sizeof second);
}

}  // namespace

TwiddleTable::TwiddleTable(int bits) : bits_(bits) {
  for (int done = 0; done < bits; done += kDigitBits) {
    const int width = std::min(kDigitBits, bits - done);
    std::vector<std::complex<double>> digit(std::size_t{1} << width);
    for (std::size_t i = 0; i < digit.size(); ++i) digit[i] = twiddle(i, bits - done);
    digits_.push_back(std::move(digit));
  }
}

std::complex<double> TwiddleTable::at(std::uint64_t p, int k) const {
  p <<= bits_ - k;
  std::complex<double> w = 1;
  for (const auto& digit : digits_) {
    const std::complex<double> factor = digit[p & (digit.size() - 1)];
    // Finite numbers: no need of the library's care for infinities.
    w = {w.real() * factor.real() - w.imag() * factor.imag(),
         w.real() * factor.imag() + w.imag() * factor.real()};
    p >>= kDigitBits;
  }
  return w;
}

void run_scalar(const LocalLayer& layer, const HostFunction* host, const ElementType& element,
                const TwiddleTable& twiddles, f2::Word block, int place_bits, std::byte* buffer) {
  const std::uint64_t width = element.bytes();
  if (layer.op.kind == OperatorKind::elementwise) {
    return apply_each(layer.op, element, buffer, f2::unit(place_bits));
  }
  if (layer.op.kind == OperatorKind::user_elementwise) {
    for (f2::Word j = 0; j < f2::unit(place_bits); ++j) (*host)(buffer + j * width, nullptr, 0, 0);
    return;
  }
  const bool inverse = layer.op.kind == OperatorKind::inverse_fourier;
  const bool turns = inverse || layer.op.kind == OperatorKind::fourier;
  FrameWalk frame(layer, block, place_bits);
  for (f2::Word j = 0; j < f2::unit(place_bits); ++j) {
    if (j != 0) frame.advance(j);
    if ((frame.current() & 1) != 0) continue;
    const f2::Word pair = frame.current() >> 1;
    std::byte* const a = buffer + j * width;
    std::byte* const b = buffer + (j ^ layer.delta) * width;
    if (host != nullptr) {
      (*host)(a, b, pair, layer.bits);
    } else if (turns) {
      const std::complex<double> w = twiddles.at(pair, layer.bits);
      if (element.scalar == Scalar::c64) {
        butterfly<float>(a, b, inverse ? std::conj(w) : w);
      } else {
        butterfly<double>(a, b, inverse ? std::conj(w) : w);
      }
    } else {
      apply(layer.op, element, a, b, pair, layer.bits);
    }
  }
}

}  // namespace faro::network::cpu
