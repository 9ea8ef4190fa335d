// Peers whose interface is a header: compiled where it was found (FARO_HAVE_HPTT, FARO_HAVE_ONEDNN).
#include "bench/axes_peers.hpp"

#if FARO_HAVE_HPTT
#include <hptt.h>
#endif
#if FARO_HAVE_ONEDNN
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace faro::bench {
namespace {

#if FARO_HAVE_HPTT
class Hptt final : public AxesPeer {
 public:
  std::string name() const override { return "HPTT"; }
  std::function<void()> prepare(const AxesShape& shape, const PeerArrays& arrays) override {
    if (shape.element_bytes == sizeof(float)) return with<float>(shape, arrays);
    if (shape.element_bytes == sizeof(double)) return with<double>(shape, arrays);
    return {};
  }

 private:
  template <typename T>
  static std::function<void()> with(const AxesShape& shape, const PeerArrays& arrays) {
    const std::vector<int> extents(shape.shape.begin(), shape.shape.end());
    constexpr bool kRowMajor = true;
    auto plan = hptt::create_plan(shape.order.data(), static_cast<int>(extents.size()), T{1},
                                  reinterpret_cast<const T*>(arrays.in), extents.data(), nullptr, T{0},
                                  reinterpret_cast<T*>(arrays.out), nullptr, hptt::MEASURE, arrays.threads,
                                  nullptr, kRowMajor);
    return [plan] { plan->execute(); };
  }
};
#endif

#if FARO_HAVE_ONEDNN
class OneDnn final : public AxesPeer {
 public:
  std::string name() const override { return "oneDNN"; }
  std::function<void()> prepare(const AxesShape& shape, const PeerArrays& arrays) override {
    using Type = dnnl::memory::data_type;
    const Type type = shape.element_bytes == 1   ? Type::u8
                      : shape.element_bytes == 2 ? Type::bf16
                      : shape.element_bytes == 4 ? Type::f32
                                                 : Type::undef;
    constexpr std::size_t kMostAxes = 12;
    if (type == Type::undef || shape.shape.size() > kMostAxes) return {};
    omp_set_num_threads(arrays.threads);
    const std::size_t rank = shape.shape.size();
    const dnnl::memory::dims extents(shape.shape.begin(), shape.shape.end());
    dnnl::memory::dims before(rank, 1);
    dnnl::memory::dims after(rank, 1);
    for (std::size_t axis = rank; axis-- > 1;) before[axis - 1] = before[axis] * extents[axis];
    dnnl::memory::dim stride = 1;
    for (std::size_t k = rank; k-- > 0;) {
      const auto axis = static_cast<std::size_t>(shape.order[k]);
      after[axis] = stride;
      stride *= extents[axis];
    }
    const dnnl::memory from({extents, type, before}, engine_, const_cast<std::byte*>(arrays.in));
    const dnnl::memory to({extents, type, after}, engine_, arrays.out);
    return [reorder = dnnl::reorder(from, to), from, to, stream = dnnl::stream(engine_)]() mutable {
      reorder.execute(stream, const_cast<dnnl::memory&>(from), const_cast<dnnl::memory&>(to));
      stream.wait();
    };
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
};
#endif

}  // namespace

std::unique_ptr<AxesPeer> hptt_peer() {
#if FARO_HAVE_HPTT
  return std::make_unique<Hptt>();
#else
  return nullptr;
#endif
}

std::unique_ptr<AxesPeer> onednn_peer() {
#if FARO_HAVE_ONEDNN
  return std::make_unique<OneDnn>();
#else
  return nullptr;
#endif
}

}  // namespace faro::bench
