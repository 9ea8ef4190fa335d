#include "engines/cuda/host/device_pointer.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace faro::cuda {
namespace {

// From CUDA's driver interface (cuda.h), which has kept them since CUDA 4.0, 6.0, 9.2 and 11.
using PointerGetAttribute = int (*)(void* value, int attribute, std::uint64_t pointer);
constexpr int kMemoryType = 2;    // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr int kBufferId = 7;      // CU_POINTER_ATTRIBUTE_BUFFER_ID
constexpr int kIsManaged = 8;     // CU_POINTER_ATTRIBUTE_IS_MANAGED
constexpr int kOrdinal = 9;       // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr int kIsShareable = 10;  // CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
constexpr int kRangeStart = 11;   // CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
constexpr unsigned kDevice = 2;   // CU_MEMORYTYPE_DEVICE
constexpr int kSuccess = 0;       // CUDA_SUCCESS

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
PointerGetAttribute loaded_driver() noexcept {
  static std::atomic<PointerGetAttribute> known{nullptr};
  static std::atomic<std::uint64_t> loads_before{0};
  if (const PointerGetAttribute function = known.load()) return function;
  Search search{.loads_before = loads_before.load()};
  dl_iterate_phdr(look_at, &search);
  if (search.found) {
    if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      known = reinterpret_cast<PointerGetAttribute>(dlsym(driver, "cuPointerGetAttribute"));
    }
  }
  loads_before = search.loads;
  return known.load();
}

}  // namespace

bool is_device_memory(const void* pointer) noexcept {
  if (is_memory_known()) return false;
  const PointerGetAttribute ask = loaded_driver();
  if (ask == nullptr) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  unsigned type = 0;
  int managed = 0;
  if (ask(&type, kMemoryType, address) != kSuccess || type != kDevice) return false;
  return ask(&managed, kIsManaged, address) == kSuccess && managed == 0;
}

int device_of_memory(const void* pointer) noexcept {
  const PointerGetAttribute ask = loaded_driver();
  if (ask == nullptr) return -1;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  unsigned type = 0;
  int device = -1;
  if (ask(&type, kMemoryType, address) != kSuccess || type != kDevice) return -1;
  return ask(&device, kOrdinal, address) == kSuccess ? device : -1;
}

std::optional<DeviceAllocation> allocation_of(const void* pointer) noexcept {
  const PointerGetAttribute ask = loaded_driver();
  if (ask == nullptr) return std::nullopt;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  unsigned type = 0;
  if (ask(&type, kMemoryType, address) != kSuccess || type != kDevice) return std::nullopt;
  DeviceAllocation made;
  if (ask(&made.begin, kRangeStart, address) != kSuccess || ask(&made.number, kBufferId, address) != kSuccess)
    return std::nullopt;
  int can_share = 0;  // the driver writes a word
  made.is_shareable = ask(&can_share, kIsShareable, address) == kSuccess && can_share != 0;
  return made;
}

}  // namespace faro::cuda
