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

}  // namespace

struct Cutensor::State {
  void* library = nullptr;
  Object handle = nullptr;
  std::size_t (*get_version)() = nullptr;
  Status (*create)(Object*) = nullptr;
  Status (*destroy)(Object) = nullptr;
  Status (*create_tensor)(Object, Object*, std::uint32_t, const std::int64_t*, const std::int64_t*, int,
                          std::uint32_t) = nullptr;
  Status (*destroy_tensor)(Object) = nullptr;
  Status (*create_permutation)(Object, Object*, Object, const std::int32_t*, int, Object, const std::int32_t*,
                               Object) = nullptr;
  Status (*destroy_operation)(Object) = nullptr;
  Status (*create_preference)(Object, Object*, int, int) = nullptr;
  Status (*destroy_preference)(Object) = nullptr;
  Status (*create_plan)(Object, Object*, Object, Object, std::uint64_t) = nullptr;
  Status (*destroy_plan)(Object) = nullptr;
  Status (*permute)(Object, Object, const void*, const void*, void*, void*) = nullptr;

  ~State() {
    if (handle != nullptr) static_cast<void>(destroy(handle));
    if (library != nullptr) static_cast<void>(dlclose(library));
  }
  template <typename Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr)
      fail(ErrorCode::unsupported, "cuTENSOR", "a library without " + std::string(name), "2.x");
  }
  static void require(Status status, const char* call) {
    if (status == 0) return;
    fail(ErrorCode::unsupported, "cuTENSOR", fmt::format("{}: status {}", call, status), "success");
  }
};

Cutensor::Cutensor() : state_(std::make_shared<State>()) {
  const char* const named = std::getenv("FARO_CUTENSOR");
  state_->library = dlopen(named != nullptr ? named : "libcutensor.so.2", RTLD_NOW | RTLD_LOCAL);
  if (state_->library == nullptr) {
    fail(ErrorCode::unsupported, "cuTENSOR", dlerror(), "libcutensor.so.2", "name it by FARO_CUTENSOR");
  }
  State& s = *state_;
  s.find(s.get_version, "cutensorGetVersion");
  s.find(s.create, "cutensorCreate");
  s.find(s.destroy, "cutensorDestroy");
  s.find(s.create_tensor, "cutensorCreateTensorDescriptor");
  s.find(s.destroy_tensor, "cutensorDestroyTensorDescriptor");
  s.find(s.create_permutation, "cutensorCreatePermutation");
  s.find(s.destroy_operation, "cutensorDestroyOperationDescriptor");
  s.find(s.create_preference, "cutensorCreatePlanPreference");
  s.find(s.destroy_preference, "cutensorDestroyPlanPreference");
  s.find(s.create_plan, "cutensorCreatePlan");
  s.find(s.destroy_plan, "cutensorDestroyPlan");
  s.find(s.permute, "cutensorPermute");
  State::require(s.create(&s.handle), "cutensorCreate");
}
Cutensor::~Cutensor() = default;

std::string Cutensor::version() const {
  const std::size_t number = state_->get_version();
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
    if (plan != nullptr) static_cast<void>(library->destroy_plan(plan));
    if (preference != nullptr) static_cast<void>(library->destroy_preference(preference));
    if (operation != nullptr) static_cast<void>(library->destroy_operation(operation));
    for (Object tensor : {from, to}) {
      if (tensor != nullptr) static_cast<void>(library->destroy_tensor(tensor));
    }
  }
};
Cutensor::Permutation::Permutation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cutensor::Permutation::Permutation(Permutation&&) noexcept = default;
Cutensor::Permutation& Cutensor::Permutation::operator=(Permutation&&) noexcept = default;
Cutensor::Permutation::~Permutation() = default;

void Cutensor::Permutation::run(const void* in, void* out, Stream stream) const {
  const Cutensor::State& library = *state_->library;
  Cutensor::State::require(
      library.permute(library.handle, state_->plan, state_->one, in, out, stream.handle()),
      "cutensorPermute");
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
  State::require(
      s.create_tensor(s.handle, &made->from, count, in_extents.data(), nullptr, type.number, kAlignment),
      "cutensorCreateTensorDescriptor");
  State::require(
      s.create_tensor(s.handle, &made->to, count, out_extents.data(), nullptr, type.number, kAlignment),
      "cutensorCreateTensorDescriptor");
  auto* const compute = static_cast<const Object*>(dlsym(s.library, type.compute));
  if (compute == nullptr) fail(ErrorCode::unsupported, "cuTENSOR", type.compute, "exported");
  State::require(s.create_permutation(s.handle, &made->operation, made->from, in_modes.data(), kIdentity,
                                      made->to, out_modes.data(), *compute),
                 "cutensorCreatePermutation");
  State::require(s.create_preference(s.handle, &made->preference, kDefaultAlgorithm, kNoJit),
                 "cutensorCreatePlanPreference");
  State::require(s.create_plan(s.handle, &made->plan, made->operation, made->preference, 0),
                 "cutensorCreatePlan");
  if (type.scalar_bytes == 4) {
    *reinterpret_cast<float*>(made->one) = 1;
  } else {
    *reinterpret_cast<double*>(made->one) = 1;
  }
  return Permutation(std::move(made));
}

}  // namespace faro::bench::gpu
