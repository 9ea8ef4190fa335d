// The butterflies of Walsh, Hadamard and Fourier on vector registers.
#include <complex>
#include <cstdint>

#include "network/cpu_chunks.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu_butterflies.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "network/cpu_registers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace faro::network::cpu {
namespace HWY_NAMESPACE {

#if FARO_HAVE_NETWORK_VECTORS

template <typename Lane>
struct HadamardKernel : PlainKernel {
  using T = Lane;

  template <class V>
  static HWY_INLINE void Meet(V& first, V& second, Turn /*turn*/, std::size_t /*register*/) {
    const V sum = hn::Add(first, second);
    second = hn::Sub(first, second);
    first = sum;
  }
  template <class M, class V>
  static HWY_INLINE void MeetMasked(M is_second, V& x, V& y, Turn /*turn*/, std::size_t /*register*/) {
    const V sum = hn::Add(x, y);
    const V difference = hn::IfThenElse(is_second, hn::Sub(y, x), hn::Sub(x, y));
    x = hn::IfThenElse(is_second, difference, sum);
    y = hn::IfThenElse(is_second, sum, difference);
  }
  template <class M, class V>
  static HWY_INLINE V Within(M is_second, V x, V y, Turn /*turn*/, std::size_t /*register*/) {
    return hn::IfThenElse(is_second, hn::Sub(y, x), hn::Add(x, y));
  }
};

// Complex numbers, the real part in the even lane. A number w to be multiplied by is held as two vectors,
// (re, re) and (-im, im):
//
//     d w = d (re, re) + swapped(d) (-im, im)
//     w s = (re, re) (sr, sr) - (-im, im) (-si, si),   (re, re) (-si, si) + (-im, im) (sr, sr)
template <typename Lane>
struct FourierKernel {
  using T = Lane;
  using D = hn::CappedTag<T, kMaxVectorBytes / sizeof(T)>;
  using Vector = hn::Vec<D>;

  struct Turn {
    const std::byte* local;
    bool local_only;
    Vector re;  // of what all of the group's twiddles have in common
    Vector im;  // - and +
  };

  static HWY_INLINE Turn TurnOf(const Step& step, std::uint64_t group, std::complex<double> tile) {
    const D d;
    const Twiddles& t = step.twiddles;
    Turn turn{t.local.data(), t.local_only, hn::Zero(d), hn::Zero(d)};
    if (!t.local_only) {
      const std::complex<double> base = t.base[group];
      turn.re = hn::Set(d, static_cast<T>(base.real() * tile.real() - base.imag() * tile.imag()));
      const auto im = static_cast<T>(base.real() * tile.imag() + base.imag() * tile.real());
      turn.im = hn::OddEven(hn::Set(d, im), hn::Set(d, -im));
    }
    return turn;
  }

  static HWY_INLINE Vector Turned(Vector v, const Turn& turn, std::size_t register_number) {
    const D d;
    const std::byte* const local = turn.local + register_number * 2 * kMaxVectorBytes;
    Vector re = hn::LoadU(d, reinterpret_cast<const T*>(local));
    Vector im = hn::LoadU(d, reinterpret_cast<const T*>(local + kMaxVectorBytes));
    if (!turn.local_only) {
      const Vector product = hn::NegMulAdd(im, turn.im, hn::Mul(re, turn.re));
      im = hn::MulAdd(re, turn.im, hn::Mul(im, turn.re));
      re = product;
    }
    return hn::MulAdd(v, re, hn::Mul(hn::Reverse2(d, v), im));
  }

  static HWY_INLINE void Meet(Vector& first, Vector& second, const Turn& turn, std::size_t register_number) {
    const Vector sum = hn::Add(first, second);
    second = Turned(hn::Sub(first, second), turn, register_number);
    first = sum;
  }
  template <class M>
  static HWY_INLINE void MeetMasked(M is_second, Vector& x, Vector& y, const Turn& turn,
                                    std::size_t register_number) {
    const Vector sum = hn::Add(x, y);
    const Vector difference =
        Turned(hn::IfThenElse(is_second, hn::Sub(y, x), hn::Sub(x, y)), turn, register_number);
    x = hn::IfThenElse(is_second, difference, sum);
    y = hn::IfThenElse(is_second, sum, difference);
  }
  template <class M>
  static HWY_INLINE Vector Within(M is_second, Vector x, Vector y, const Turn& turn,
                                  std::size_t register_number) {
    return hn::IfThenElse(is_second, Turned(hn::Sub(y, x), turn, register_number), hn::Add(x, y));
  }
  template <std::size_t... kI>
  static HWY_INLINE void Recode(Recoding /*recoding*/, bool /*loading*/, Vector* /*r*/,
                                std::index_sequence<kI...> /*registers*/) {}
};

void RunHadamard(const Chunk& chunk, TileState tile, std::byte* buffer) {
  switch (chunk.kernel) {
    case Kernel::hadamard_u32:
      return RunGroups<HadamardKernel<std::uint32_t>>(chunk, tile, buffer);
    case Kernel::hadamard_u64:
      return RunGroups<HadamardKernel<std::uint64_t>>(chunk, tile, buffer);
    case Kernel::hadamard_f32:
      return RunGroups<HadamardKernel<float>>(chunk, tile, buffer);
    default:
      return RunGroups<HadamardKernel<double>>(chunk, tile, buffer);
  }
}

void RunFourier(const Chunk& chunk, TileState tile, std::byte* buffer) {
  if (chunk.kernel == Kernel::fourier_f32) {
    RunGroups<FourierKernel<float>>(chunk, tile, buffer);
  } else {
    RunGroups<FourierKernel<double>>(chunk, tile, buffer);
  }
}

#else  // no vectors: nothing is ever asked of the kernels

void RunHadamard(const Chunk& /*chunk*/, TileState /*tile*/, std::byte* /*buffer*/) {}
void RunFourier(const Chunk& /*chunk*/, TileState /*tile*/, std::byte* /*buffer*/) {}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::network::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::network::cpu {

HWY_EXPORT(RunHadamard);
HWY_EXPORT(RunFourier);

void run_hadamard(const Chunk& chunk, TileState tile, std::byte* buffer) {
  HWY_DYNAMIC_DISPATCH(RunHadamard)(chunk, tile, buffer);
}
void run_fourier(const Chunk& chunk, TileState tile, std::byte* buffer) {
  HWY_DYNAMIC_DISPATCH(RunFourier)(chunk, tile, buffer);
}

}  // namespace faro::network::cpu
#endif  // HWY_ONCE
