// Compare-exchange on vector registers.
#include <cstdint>

#include "network/cpu_chunks.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu_exchange.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "network/cpu_registers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace faro::network::cpu {
namespace HWY_NAMESPACE {

#if FARO_HAVE_NETWORK_VECTORS

// Negative floats order downwards: all bits but the sign flip. Its own inverse.
template <class V>
HWY_INLINE V OrderFloats(V v) {
  using D = hn::DFromV<V>;
  const hn::RebindToSigned<D> ds;
  const auto bits = hn::BitCast(ds, v);
  const auto negative = hn::BroadcastSignBit(bits);
  const auto all_but_sign = hn::Set(ds, hwy::LimitsMax<hn::TFromD<decltype(ds)>>());
  return hn::BitCast(D(), hn::Xor(bits, hn::And(negative, all_but_sign)));
}

// The same for keys in the upper half of 64 bits.
template <class V>
HWY_INLINE V OrderUpperFloats(V v) {
  using D = hn::DFromV<V>;
  const hn::RebindToSigned<D> ds;
  const auto bits = hn::BitCast(ds, v);
  const auto all_but_sign = hn::Set(ds, std::int64_t{0x7fffffff00000000});
  return hn::BitCast(D(), hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), all_but_sign)));
}

// Both directions of every recoding, one vector.
template <Recoding kRecoding, class V>
HWY_INLINE V Recoded(bool loading, V v) {
  using D = hn::DFromV<V>;
  const D d;
  if constexpr (kRecoding == Recoding::f32 || kRecoding == Recoding::f64) {
    return OrderFloats(v);
  } else if constexpr (kRecoding == Recoding::u32 || kRecoding == Recoding::u64) {
    return hn::Xor(v, hn::Set(d, hwy::LimitsMin<hn::TFromD<D>>()));
  } else if constexpr (kRecoding == Recoding::key32) {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::RotateRight<32>(hn::BitCast(du, v)));
  } else if constexpr (kRecoding == Recoding::key32_u32 || kRecoding == Recoding::key32_f32) {
    const auto recoded_key = [](V key) HWY_ATTR {
      if constexpr (kRecoding == Recoding::key32_f32) return OrderUpperFloats(key);
      return Recoded<Recoding::u64>(true, key);
    };
    if (!loading) v = recoded_key(v);
    v = Recoded<Recoding::key32>(loading, v);
    return loading ? recoded_key(v) : v;
  } else if constexpr (kRecoding == Recoding::key64) {
    return hn::Shuffle01(v);
  } else {
    // The key is the odd lane while it is compared, as an unsigned number.
    static_assert(kRecoding == Recoding::key64_signed || kRecoding == Recoding::key64_f64);
    const auto sign = hn::Set(d, std::uint64_t{1} << 63);
    if (loading) v = hn::Shuffle01(v);
    auto key = loading ? v : hn::Xor(v, sign);
    if constexpr (kRecoding == Recoding::key64_f64) key = OrderFloats(key);
    if (loading) key = hn::Xor(key, sign);
    v = hn::OddEven(key, v);
    return loading ? v : hn::Shuffle01(v);
  }
}

template <Recoding kRecoding, class V, std::size_t... kI>
HWY_INLINE void RecodeAll(bool loading, V* r, std::index_sequence<kI...> /*registers*/) {
  ((r[kI] = Recoded<kRecoding>(loading, r[kI])), ...);
}

template <typename Lane>
struct ExchangeKernel : PlainKernel {
  using T = Lane;

  template <class V>
  static HWY_INLINE void Meet(V& first, V& second, Turn /*turn*/, std::size_t /*register*/) {
    const V least = hn::Min(first, second);
    second = hn::Max(first, second);
    first = least;
  }
  template <class M, class V>
  static HWY_INLINE V Within(M is_second, V x, V y, Turn /*turn*/, std::size_t /*register*/) {
    return hn::IfThenElse(is_second, hn::Max(x, y), hn::Min(x, y));
  }
  template <class M, class V>
  static HWY_INLINE void MeetMasked(M is_second, V& x, V& y, Turn /*turn*/, std::size_t /*register*/) {
    const V least = hn::Min(x, y);
    const V most = hn::Max(x, y);
    x = hn::IfThenElse(is_second, most, least);
    y = hn::IfThenElse(is_second, least, most);
  }
  template <class V, std::size_t... kI>
  static HWY_INLINE void Recode(Recoding recoding, bool loading, V* r, std::index_sequence<kI...> each) {
    if (recoding == Recoding::none) return;
    if constexpr (sizeof(T) == 4) {
      if (recoding == Recoding::u32) return RecodeAll<Recoding::u32>(loading, r, each);
      RecodeAll<Recoding::f32>(loading, r, each);
    } else {
      if (recoding == Recoding::u64) return RecodeAll<Recoding::u64>(loading, r, each);
      if (recoding == Recoding::f64) return RecodeAll<Recoding::f64>(loading, r, each);
      if (recoding == Recoding::key32) return RecodeAll<Recoding::key32>(loading, r, each);
      if (recoding == Recoding::key32_u32) return RecodeAll<Recoding::key32_u32>(loading, r, each);
      RecodeAll<Recoding::key32_f32>(loading, r, each);
    }
  }
};

// A key and a value of 8 bytes: two lanes that are one number, the key in the upper lane.
struct WideExchangeKernel : PlainKernel {
  using T = std::uint64_t;

  template <class V>
  static HWY_INLINE void Meet(V& first, V& second, Turn /*turn*/, std::size_t /*register*/) {
    const auto wrong = hn::Lt128(hn::DFromV<V>(), second, first);
    const V least = hn::IfThenElse(wrong, second, first);
    second = hn::IfThenElse(wrong, first, second);
    first = least;
  }
  template <class M, class V>
  static HWY_INLINE V Within(M is_second, V x, V y, Turn /*turn*/, std::size_t /*register*/) {
    const auto above = hn::Lt128(hn::DFromV<V>(), y, x);  // x is the larger one
    return hn::IfThenElse(hn::Xor(above, is_second), y, x);
  }
  template <class M, class V>
  static HWY_INLINE void MeetMasked(M is_second, V& x, V& y, Turn /*turn*/, std::size_t /*register*/) {
    const auto exchange = hn::Xor(hn::Lt128(hn::DFromV<V>(), y, x), is_second);
    const V old = x;
    x = hn::IfThenElse(exchange, y, old);
    y = hn::IfThenElse(exchange, old, y);
  }
  template <class V, std::size_t... kI>
  static HWY_INLINE void Recode(Recoding recoding, bool loading, V* r, std::index_sequence<kI...> each) {
    if (recoding == Recoding::key64) return RecodeAll<Recoding::key64>(loading, r, each);
    if (recoding == Recoding::key64_signed) return RecodeAll<Recoding::key64_signed>(loading, r, each);
    if (recoding == Recoding::key64_f64) return RecodeAll<Recoding::key64_f64>(loading, r, each);
  }
};

void RunExchange(const Chunk& chunk, TileState tile, std::byte* buffer) {
  switch (chunk.kernel) {
    case Kernel::exchange_i32:
      return RunGroups<ExchangeKernel<std::int32_t>>(chunk, tile, buffer);
    case Kernel::exchange_i64:
      return RunGroups<ExchangeKernel<std::int64_t>>(chunk, tile, buffer);
    default:
      return RunGroups<WideExchangeKernel>(chunk, tile, buffer);
  }
}

Vectors VectorsOfTarget() {
  return {.vector_bytes = hn::Lanes(TagOf<ExchangeKernel<std::int32_t>>()) * sizeof(std::int32_t),
          .register_bits = kRegisterBits};
}

#else  // no vectors: nothing is ever asked of the kernels

void RunExchange(const Chunk& /*chunk*/, TileState /*tile*/, std::byte* /*buffer*/) {}
Vectors VectorsOfTarget() { return {}; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::network::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::network::cpu {

HWY_EXPORT(RunExchange);
HWY_EXPORT(VectorsOfTarget);

Vectors vectors() { return HWY_DYNAMIC_DISPATCH(VectorsOfTarget)(); }

void run_exchange(const Chunk& chunk, TileState tile, std::byte* buffer) {
  HWY_DYNAMIC_DISPATCH(RunExchange)(chunk, tile, buffer);
}

}  // namespace faro::network::cpu
#endif  // HWY_ONCE
