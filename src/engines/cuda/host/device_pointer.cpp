#include "engines/cuda/host/device_pointer.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace faro::cuda {
namespace {

// From CUDA's driver interface (cuda.h), which has kept it since CUDA 7.0. Of a pointer that the driver does
// not know it succeeds and says memory of no type; the call for one attribute fails there, and whatever
// watches the driver's errors, compute-sanitizer for one, would report every host array.
using PointerGetAttributes = int (*)(unsigned count, int* attributes, void** values, std::uint64_t pointer);

// What it is asked, by CUDA's numbers (since CUDA 4.0, 6.0, 9.2 and 11): those of CU_POINTER_ATTRIBUTE_….
enum Attribute : int {
  kMemoryType = 2,
  kBufferId = 7,
  kIsManaged = 8,
  kOrdinal = 9,
  kIsShareable = 10,  // IS_LEGACY_CUDA_IPC_CAPABLE
  kRangeStart = 11,
};
constexpr unsigned kDevice = 2;  // CU_MEMORYTYPE_DEVICE
constexpr int kSuccess = 0;      // CUDA_SUCCESS

struct Search {
  std::uint64_t loads_before;  // up to which nothing was found
  std::uint64_t loads = 0;
  bool found = false;
};

// Called for each library; ends at once where none was loaded since the last search.
int look_at(dl_phdr_info* library, std::size_t /*bytes*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  search.loads = library->dlpi_adds;
  if (search.loads == search.loads_before) return 1;
  const std::string_view path = library->dlpi_name;
  search.found = path.substr(path.rfind('/') + 1).starts_with("libcuda.so");
  return search.found ? 1 : 0;
}

// Null where the process has no driver. Once found, it stays loaded.
PointerGetAttributes loaded_driver() noexcept {
  static std::atomic<PointerGetAttributes> known{nullptr};
  static std::atomic<std::uint64_t> loads_before{0};
  if (const PointerGetAttributes function = known.load()) return function;
  Search search{.loads_before = loads_before.load()};
  dl_iterate_phdr(look_at, &search);
  if (search.found) {
    if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      known = reinterpret_cast<PointerGetAttributes>(dlsym(driver, "cuPointerGetAttributes"));
    }
  }
  loads_before = search.loads;
  return known.load();
}

// Whether it is memory of a device; then the value of the attribute as well.
template <typename Value>
bool ask(const void* pointer, Attribute attribute, Value& value) noexcept {
  const PointerGetAttributes driver = loaded_driver();
  if (driver == nullptr) return false;
  unsigned type = 0;
  int asked[] = {kMemoryType, attribute};
  void* values[] = {&type, &value};
  return driver(2, asked, values, reinterpret_cast<std::uintptr_t>(pointer)) == kSuccess && type == kDevice;
}

}  // namespace

bool is_device_memory(const void* pointer) noexcept {
  int managed = 0;
  return !is_memory_known() && ask(pointer, kIsManaged, managed) && managed == 0;
}

int device_of_memory(const void* pointer) noexcept {
  int device = -1;
  return ask(pointer, kOrdinal, device) ? device : -1;
}

std::optional<DeviceAllocation> allocation_of(const void* pointer) noexcept {
  DeviceAllocation made;
  if (!ask(pointer, kRangeStart, made.begin) || !ask(pointer, kBufferId, made.number)) return std::nullopt;
  int can_share = 0;  // the driver writes a word
  made.is_shareable = ask(pointer, kIsShareable, can_share) && can_share != 0;
  return made;
}

}  // namespace faro::cuda
