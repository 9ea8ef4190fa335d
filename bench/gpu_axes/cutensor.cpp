#include "bench/gpu_axes/cutensor.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "faro/error.hpp"

namespace faro::bench::gpu {
namespace {

// What is called of the interface that its reference documents, version 2.
using Status = int;  // 0: success
using Object = void*;
constexpr int kIdentity = 1;
constexpr int kDefaultAlgorithm = -1;
constexpr int kNoJit = 0;
constexpr std::uint32_t kAlignment = 128;

// Types by width: of 16-bit, 32-bit, 64-bit and 64-bit complex numbers.
struct DataType {
  int number;
  const char* compute;  // the exported descriptor that goes with it
  int scalar_bytes;
};

DataType type_of(std::uint64_t bytes) {
  switch (bytes) {
    case 2:
      return {.number = 2, .compute = "CUTENSOR_COMPUTE_DESC_32F", .scalar_bytes = 4};
    case 4:
      return {.number = 0, .compute = "CUTENSOR_COMPUTE_DESC_32F", .scalar_bytes = 4};
    case 8:
      return {.number = 1, .compute = "CUTENSOR_COMPUTE_DESC_64F", .scalar_bytes = 8};
    case 16:
      return {.number = 5, .compute = "CUTENSOR_COMPUTE_DESC_64F", .scalar_bytes = 16};
    default:
      fail(ErrorCode::unsupported, "cuTENSOR", fmt::format("elements of {} bytes", bytes), "2, 4, 8 or 16");
  }
}

// A function of the library. Called, it fails by its name unless its status is success.
template <typename Signature>
class Entry;
template <typename... Arguments>
class Entry<Status(Arguments...)> {
 public:
  Entry(void* library, const char* name)
      : name_(name), function_(reinterpret_cast<Status (*)(Arguments...)>(dlsym(library, name))) {
    if (function_ == nullptr)
      fail(ErrorCode::unsupported, "cuTENSOR", fmt::format("no {}", name), "version 2");
  }
  void operator()(Arguments... arguments) const {
    const Status status = function_(arguments...);
    if (status == 0) return;
    fail(ErrorCode::unsupported, "cuTENSOR", fmt::format("{}: status {}", name_, status), "success");
  }
  // For destructors, which can do nothing about a failure.
  void quietly(Arguments... arguments) const { static_cast<void>(function_(arguments...)); }

 private:
  const char* name_;
  Status (*function_)(Arguments...);
};

void* opened_library() {
  const char* const named = std::getenv("FARO_CUTENSOR");
  void* const library = dlopen(named != nullptr ? named : "libcutensor.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail(ErrorCode::unsupported, "cuTENSOR", dlerror(), "libcutensor.so.2", "name it by FARO_CUTENSOR");
  }
  return library;
}

}  // namespace

struct Cutensor::State {
  void* library = opened_library();
  Object handle = nullptr;
  Entry<Status(Object*)> create{library, "cutensorCreate"};
  Entry<Status(Object)> destroy{library, "cutensorDestroy"};
  Entry<Status(Object, Object*, std::uint32_t, const std::int64_t*, const std::int64_t*, int, std::uint32_t)>
      create_tensor{library, "cutensorCreateTensorDescriptor"};
  Entry<Status(Object)> destroy_tensor{library, "cutensorDestroyTensorDescriptor"};
  Entry<Status(Object, Object*, Object, const std::int32_t*, int, Object, const std::int32_t*, Object)>
      create_permutation{library, "cutensorCreatePermutation"};
  Entry<Status(Object)> destroy_operation{library, "cutensorDestroyOperationDescriptor"};
  Entry<Status(Object, Object*, int, int)> create_preference{library, "cutensorCreatePlanPreference"};
  Entry<Status(Object)> destroy_preference{library, "cutensorDestroyPlanPreference"};
  Entry<Status(Object, Object*, Object, Object, std::uint64_t)> create_plan{library, "cutensorCreatePlan"};
  Entry<Status(Object)> destroy_plan{library, "cutensorDestroyPlan"};
  Entry<Status(Object, Object, const void*, const void*, void*, void*)> permute{library, "cutensorPermute"};

  State() { create(&handle); }
  ~State() {
    destroy.quietly(handle);
    static_cast<void>(dlclose(library));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Cutensor::Cutensor() : state_(std::make_shared<State>()) {}
Cutensor::~Cutensor() = default;

std::string Cutensor::version() const {
  const auto get_version = reinterpret_cast<std::size_t (*)()>(dlsym(state_->library, "cutensorGetVersion"));
  if (get_version == nullptr) return "cuTENSOR";
  const std::size_t number = get_version();
  return fmt::format("cuTENSOR {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

struct Cutensor::Permutation::State {
  std::shared_ptr<Cutensor::State> library;
  Object from = nullptr;
  Object to = nullptr;
  Object operation = nullptr;
  Object preference = nullptr;
  Object plan = nullptr;
  alignas(16) unsigned char one[16] = {};  // the factor, in the compute type

  ~State() {
    if (plan != nullptr) library->destroy_plan.quietly(plan);
    if (preference != nullptr) library->destroy_preference.quietly(preference);
    if (operation != nullptr) library->destroy_operation.quietly(operation);
    for (Object tensor : {from, to}) {
      if (tensor != nullptr) library->destroy_tensor.quietly(tensor);
    }
  }
};
Cutensor::Permutation::Permutation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cutensor::Permutation::Permutation(Permutation&&) noexcept = default;
Cutensor::Permutation& Cutensor::Permutation::operator=(Permutation&&) noexcept = default;
Cutensor::Permutation::~Permutation() = default;

void Cutensor::Permutation::run(const void* in, void* out, Stream stream) const {
  const Cutensor::State& library = *state_->library;
  library.permute(library.handle, state_->plan, state_->one, in, out, stream.handle());
}

// Its modes count from the fastest axis.
Cutensor::Permutation Cutensor::prepare(const AxesShape& shape) const {
  auto made = std::make_unique<Permutation::State>();
  made->library = state_;
  const Cutensor::State& s = *state_;
  const DataType type = type_of(shape.element_bytes);
  const std::size_t rank = shape.shape.size();
  std::vector<std::int32_t> in_modes;
  std::vector<std::int32_t> out_modes;
  std::vector<std::int64_t> in_extents;
  std::vector<std::int64_t> out_extents;
  for (std::size_t a = rank; a-- > 0;) {
    in_modes.push_back(static_cast<std::int32_t>(a));
    out_modes.push_back(shape.order[a]);
    in_extents.push_back(static_cast<std::int64_t>(shape.shape[a]));
    out_extents.push_back(static_cast<std::int64_t>(shape.shape[static_cast<std::size_t>(shape.order[a])]));
  }
  const auto count = static_cast<std::uint32_t>(rank);
  s.create_tensor(s.handle, &made->from, count, in_extents.data(), nullptr, type.number, kAlignment);
  s.create_tensor(s.handle, &made->to, count, out_extents.data(), nullptr, type.number, kAlignment);
  auto* const compute = static_cast<const Object*>(dlsym(s.library, type.compute));
  if (compute == nullptr) fail(ErrorCode::unsupported, "cuTENSOR", type.compute, "exported");
  s.create_permutation(s.handle, &made->operation, made->from, in_modes.data(), kIdentity, made->to,
                       out_modes.data(), *compute);
  s.create_preference(s.handle, &made->preference, kDefaultAlgorithm, kNoJit);
  s.create_plan(s.handle, &made->plan, made->operation, made->preference, 0);
  if (type.scalar_bytes == 4) {
    *reinterpret_cast<float*>(made->one) = 1;
  } else {
    *reinterpret_cast<double*>(made->one) = 1;
  }
  return Permutation(std::move(made));
}

}  // namespace faro::bench::gpu
