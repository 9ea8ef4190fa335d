#include "bench/axes_peers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "faro/error.hpp"

namespace faro::bench {
namespace {

// The first of several names that is there, for as long as the program runs.
void* library(std::initializer_list<const char*> names, int flags = RTLD_NOW | RTLD_LOCAL) {
  for (const char* const name : names) {
    if (void* const found = dlopen(name, flags)) return found;
  }
  return nullptr;
}

template <typename Function>
Function* function(void* from, const char* name) {
  return from == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(from, name));
}

std::vector<std::uint64_t> dense_strides(const std::vector<std::uint64_t>& extents) {
  std::vector<std::uint64_t> strides(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * extents[axis];
  return strides;
}

// The axes of the output, slowest first: the extent of each, and its stride in the input.
struct OutputAxes {
  explicit OutputAxes(const AxesShape& shape) {
    const auto in = dense_strides(shape.shape);
    for (const int axis : shape.order) {
      extents.push_back(shape.shape[static_cast<std::size_t>(axis)]);
      in_strides.push_back(in[static_cast<std::size_t>(axis)]);
    }
  }
  std::vector<std::uint64_t> extents;
  std::vector<std::uint64_t> in_strides;
};

// Matrices that follow one another, each transposed.
struct Matrices {
  std::uint64_t count = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
};

// Axes in their order, then two groups that change places.
std::optional<Matrices> matrices_of(const AxesShape& shape) {
  const std::size_t rank = shape.order.size();
  std::size_t kept = 0;
  while (kept < rank && shape.order[kept] == static_cast<int>(kept)) ++kept;
  if (kept == rank) return {};
  const auto cut = static_cast<std::size_t>(shape.order[kept]);  // the first axis of the second group
  for (std::size_t k = kept; k < rank; ++k) {
    const std::size_t wanted = k < kept + rank - cut ? cut + k - kept : k - (rank - cut);
    if (static_cast<std::size_t>(shape.order[k]) != wanted) return {};
  }
  Matrices found;
  for (std::size_t axis = 0; axis < rank; ++axis)
    (axis < kept ? found.count : axis < cut ? found.rows : found.columns) *= shape.shape[axis];
  return found;
}

// A BLAS with copies of transposed matrices; what differs between two is told by `Calls`.
template <typename Calls>
class Blas final : public AxesPeer {
 public:
  Blas() : library_(library(Calls::kFiles)) {
    set_threads_ = function<void(int)>(library_, Calls::kSetThreads);
    float_ = function<typename Calls::template Copy<float>>(library_, Calls::kFloat);
    double_ = function<typename Calls::template Copy<double>>(library_, Calls::kDouble);
  }
  bool is_here() const { return set_threads_ != nullptr && float_ != nullptr && double_ != nullptr; }
  std::string name() const override { return Calls::kName; }
  std::function<void()> prepare(const AxesShape& shape, const PeerArrays& arrays) override {
    const auto of = matrices_of(shape);
    if (!of) return {};
    set_threads_(arrays.threads);
    if (shape.element_bytes == sizeof(float)) return each<float>(float_, *of, arrays);
    if (shape.element_bytes == sizeof(double)) return each<double>(double_, *of, arrays);
    return {};
  }

 private:
  template <typename T, typename Copy>
  static std::function<void()> each(Copy* copy, const Matrices& of, const PeerArrays& arrays) {
    return [=] {
      const auto* in = reinterpret_cast<const T*>(arrays.in);
      auto* out = reinterpret_cast<T*>(arrays.out);
      for (std::uint64_t k = 0; k < of.count; ++k) {
        Calls::transpose(copy, of, in, out);
        in += of.rows * of.columns;
        out += of.rows * of.columns;
      }
    };
  }

  void* library_;
  void (*set_threads_)(int) = nullptr;
  typename Calls::template Copy<float>* float_ = nullptr;
  typename Calls::template Copy<double>* double_ = nullptr;
};

struct OpenBlasCalls {
  static constexpr std::initializer_list<const char*> kFiles = {"libopenblas.so.0", "libopenblas.so"};
  static constexpr const char* kName = "OpenBLAS";
  static constexpr const char* kSetThreads = "openblas_set_num_threads";
  static constexpr const char* kFloat = "cblas_somatcopy";
  static constexpr const char* kDouble = "cblas_domatcopy";
  template <typename T>
  using Copy = void(int order, int transposed, int rows, int columns, T alpha, const T* a, int lda, T* b,
                    int ldb);

  template <typename T>
  static void transpose(Copy<T>* copy, const Matrices& of, const T* in, T* out) {
    constexpr int kRowMajor = 101;
    constexpr int kTransposed = 112;
    const auto rows = static_cast<int>(of.rows);
    const auto columns = static_cast<int>(of.columns);
    copy(kRowMajor, kTransposed, rows, columns, 1, in, columns, out, rows);
  }
};

struct MklCalls {
  static constexpr std::initializer_list<const char*> kFiles = {"libmkl_rt.so.2", "libmkl_rt.so"};
  static constexpr const char* kName = "MKL";
  static constexpr const char* kSetThreads = "MKL_Set_Num_Threads";
  static constexpr const char* kFloat = "MKL_Somatcopy";
  static constexpr const char* kDouble = "MKL_Domatcopy";
  template <typename T>
  using Copy = void(char order, char transposed, std::size_t rows, std::size_t columns, T alpha, const T* a,
                    std::size_t lda, T* b, std::size_t ldb);

  template <typename T>
  static void transpose(Copy<T>* copy, const Matrices& of, const T* in, T* out) {
    copy('R', 'T', of.rows, of.columns, 1, in, of.columns, out, of.rows);
  }
};

// One width of FFTW.
class FftwOfWidth {
 public:
  FftwOfWidth(std::initializer_list<const char*> names, const std::string& prefix)
      : library_(library(names)) {
    plan_ = function<PlanFunction>(library_, (prefix + "plan_guru64_r2r").c_str());
    execute_ = function<void(void*)>(library_, (prefix + "execute").c_str());
    destroy_ = function<void(void*)>(library_, (prefix + "destroy_plan").c_str());
  }
  bool is_here() const { return plan_ != nullptr && execute_ != nullptr && destroy_ != nullptr; }
  // A transform of rank 0 is a copy, by any strides.
  std::function<void()> prepare(const AxesShape& shape, const PeerArrays& arrays) const {
    const OutputAxes axes(shape);
    const auto out_strides = dense_strides(axes.extents);
    std::vector<Dimension> dimensions;
    for (std::size_t k = 0; k < axes.extents.size(); ++k)
      dimensions.push_back({static_cast<std::ptrdiff_t>(axes.extents[k]),
                            static_cast<std::ptrdiff_t>(axes.in_strides[k]),
                            static_cast<std::ptrdiff_t>(out_strides[k])});
    constexpr unsigned kMeasure = 0;
    void* const plan = plan_(0, nullptr, static_cast<int>(dimensions.size()), dimensions.data(),
                             const_cast<std::byte*>(arrays.in), arrays.out, nullptr, kMeasure);
    if (plan == nullptr) return {};
    const std::shared_ptr<void> kept(plan, destroy_);
    return [execute = execute_, kept] { execute(kept.get()); };
  }

 private:
  struct Dimension {
    std::ptrdiff_t extent, in_stride, out_stride;
  };
  using PlanFunction = void*(int rank, const Dimension* axes, int others, const Dimension* of_others,
                             void* in, void* out, const int* kinds, unsigned flags);
  void* library_;
  PlanFunction* plan_ = nullptr;
  void (*execute_)(void*) = nullptr;
  void (*destroy_)(void*) = nullptr;
};

class Fftw final : public AxesPeer {
 public:
  bool is_here() const { return float_.is_here() && double_.is_here(); }
  std::string name() const override { return "FFTW"; }
  std::function<void()> prepare(const AxesShape& shape, const PeerArrays& arrays) override {
    if (arrays.threads != 1) return {};  // its threads are another library
    if (shape.element_bytes == sizeof(float)) return float_.prepare(shape, arrays);
    if (shape.element_bytes == sizeof(double)) return double_.prepare(shape, arrays);
    return {};
  }

 private:
  FftwOfWidth float_{{"libfftw3f.so.3"}, "fftwf_"};
  FftwOfWidth double_{{"libfftw3.so.3"}, "fftw_"};
};

// Programs of Python, in this process.
class Python {
 public:
  static Python& get() {
    static Python python;
    return python;
  }
  bool has(const std::string& module) const {
    if (import_ == nullptr || forget_ == nullptr) return false;
    const bool is_here = import_(module.c_str()) != nullptr;
    forget_();
    return is_here;
  }
  /// Whether the program ended without an error.
  bool run(const std::string& program) const {
    return run_ != nullptr && run_(program.c_str(), nullptr) == 0;
  }

 private:
  Python() {
    // Its modules look for its functions among those of all libraries.
    void* const found = library({"libpython3.13.so.1.0", "libpython3.12.so.1.0", "libpython3.11.so.1.0"},
                                RTLD_NOW | RTLD_GLOBAL);
    auto* const begin = function<void(int)>(found, "Py_InitializeEx");
    run_ = function<int(const char*, void*)>(found, "PyRun_SimpleStringFlags");
    if (begin == nullptr || run_ == nullptr) return;
    begin(0);
    import_ = function<void*(const char*)>(found, "PyImport_ImportModule");
    forget_ = function<void()>(found, "PyErr_Clear");
  }
  int (*run_)(const char*, void*) = nullptr;
  void* (*import_)(const char*) = nullptr;
  void (*forget_)() = nullptr;
};

// A library of Python: what it imports, a tensor of memory, and the copy of a permuted view.
class OfPython final : public AxesPeer {
 public:
  OfPython(std::string name, std::string module, std::string copy)
      : name_(std::move(name)), module_(std::move(module)), copy_(std::move(copy)) {}
  bool is_here() const { return Python::get().has("numpy") && Python::get().has(module_); }
  std::string name() const override { return name_; }
  std::function<void()> prepare(const AxesShape& shape, const PeerArrays& arrays) override {
    const std::uint64_t width = shape.element_bytes;
    const char* const type = width == 1   ? "u1"
                             : width == 2 ? "i2"
                             : width == 4 ? "i4"
                             : width == 8 ? "i8"
                                          : "c16";
    if (width != 1 && width != 2 && width != 4 && width != 8 && width != 16) return {};
    const OutputAxes axes(shape);
    std::uint64_t bytes = width;
    for (const std::uint64_t extent : shape.shape) bytes *= extent;
    const std::string call = "permute_" + module_;
    const std::string program = fmt::format(
        R"(
def made():
    import ctypes, numpy, {module}
    array = lambda at: numpy.ctypeslib.as_array((ctypes.c_uint8 * {bytes}).from_address(at)).view("{type}")
    a, b = array({in}).reshape({shape}).transpose({order}), array({out}).reshape({after})
    {copy}
    return permute
{call} = made()
)",
        fmt::arg("module", module_), fmt::arg("bytes", bytes), fmt::arg("type", type),
        fmt::arg("in", reinterpret_cast<std::uintptr_t>(arrays.in)),
        fmt::arg("out", reinterpret_cast<std::uintptr_t>(arrays.out)),
        fmt::arg("shape", fmt::format("[{}]", fmt::join(shape.shape, ","))),
        fmt::arg("order", fmt::format("[{}]", fmt::join(shape.order, ","))),
        fmt::arg("after", fmt::format("[{}]", fmt::join(axes.extents, ","))),
        fmt::arg("copy", fmt::format(fmt::runtime(copy_), fmt::arg("threads", arrays.threads))),
        fmt::arg("call", call));
    if (!Python::get().run(program))
      fail(ErrorCode::internal, "axes_bench", name_ + " that does not take " + shape.text(),
           "a program that runs");
    return [call] { Python::get().run(call + "()"); };
  }

 private:
  std::string name_;
  std::string module_;
  std::string copy_;
};

template <typename Peer, typename... Arguments>
std::unique_ptr<AxesPeer> if_here(Arguments... arguments) {
  auto peer = std::make_unique<Peer>(arguments...);
  if (!peer->is_here()) return nullptr;
  return peer;
}

}  // namespace

std::vector<std::unique_ptr<AxesPeer>> axes_peers(const std::vector<std::string>& names) {
  struct Entry {
    const char* name;
    std::unique_ptr<AxesPeer> (*find)();
  };
  const Entry entries[] = {
      {"hptt", hptt_peer},
      {"onednn", onednn_peer},
      {"fftw", [] { return if_here<Fftw>(); }},
      {"openblas", [] { return if_here<Blas<OpenBlasCalls>>(); }},
      {"mkl", [] { return if_here<Blas<MklCalls>>(); }},
      {"numpy", [] { return if_here<OfPython>("NumPy", "numpy", "permute = lambda: numpy.copyto(b, a)"); }},
      {"torch",
       [] {
         return if_here<OfPython>(
             "torch", "torch",
             "torch.set_num_threads({threads}); x, y = torch.from_numpy(a), torch.from_numpy(b); "
             "permute = lambda: y.copy_(x)");
       }},
  };
  for (const std::string& name : names) {
    if (std::none_of(std::begin(entries), std::end(entries), [&](const Entry& e) { return name == e.name; }))
      fail(ErrorCode::usage, "axes_bench", "--peers " + name,
           "hptt, onednn, fftw, openblas, mkl, numpy or torch");
  }
  std::vector<std::unique_ptr<AxesPeer>> found;
  for (const Entry& entry : entries) {
    if (!names.empty() && std::find(names.begin(), names.end(), entry.name) == names.end()) continue;
    if (auto peer = entry.find()) found.push_back(std::move(peer));
  }
  return found;
}

}  // namespace faro::bench
