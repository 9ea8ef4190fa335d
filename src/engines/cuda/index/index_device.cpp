// Index arrays in a device's memory: brought there and back, checked, inverted, composed, drawn, recognised.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/index/index_cuda_device.hpp"
#include "engines/cuda/index/index_images.hpp"
#include "engines/cuda/index/index_recognise_work.hpp"
#include "engines/cuda/index/index_work.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_index.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

constexpr std::uint64_t kMost32BitCount = std::uint64_t{1} << 32;

void require_memory_of(const void* indices, int device) {
  constexpr const char* kOperation = "index array on a device";
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, indices), "cudaPointerGetAttributes", kOperation);
  if (attributes.type == cudaMemoryTypeManaged) return;
  const std::string wanted = "memory of device " + std::to_string(device);
  if (attributes.type != cudaMemoryTypeDevice) {
    fail(ErrorCode::value, kOperation, "a pointer to memory of the host", wanted,
         "cuda::to_device() copies an array there");
  }
  if (attributes.device != device) {
    fail(ErrorCode::value, kOperation, "a pointer to memory of device " + std::to_string(attributes.device),
         wanted);
  }
}

// An array of `count` entries that is being made; taken when all that writes it has been waited for.
class NewArray {
 public:
  NewArray(const CudaDevice& device, std::uint64_t count) : device_(device), count_(count) {
    device.require_memory(bytes(), "an index array of " + std::to_string(count) + " entries");
    array_ = std::make_shared<DeviceArray>(bytes(), device.ordinal());
  }
  bool is_wide() const { return count_ > kMost32BitCount; }
  template <typename Word>
  Word* data() const {
    return reinterpret_cast<Word*>(array_->data());
  }
  Indexed take(Direction direction) const {
    device_.wait();
    return Indexed::valid_on_device(array_->data(), count_, {.bytes = is_wide() ? 8 : 4, .is_signed = false},
                                    direction, device_.ordinal(), array_);
  }

 private:
  std::uint64_t bytes() const { return count_ * (is_wide() ? sizeof(std::uint64_t) : sizeof(std::uint32_t)); }

  const CudaDevice& device_;
  std::uint64_t count_;
  std::shared_ptr<DeviceArray> array_;
};

// Calls write(Word{}) with the type of the array's entries.
template <typename Write>
Indexed written(const CudaDevice& device, std::uint64_t count, Direction direction, const Write& write) {
  const NewArray array(device, count);
  if (array.is_wide()) {
    write(array.data<std::uint64_t>());
  } else {
    write(array.data<std::uint32_t>());
  }
  return array.take(direction);
}

template <typename Word>
std::vector<Word> fetched(const CudaDevice& device, const Indexed& indexed) {
  std::vector<Word> entries(indexed.count() * static_cast<unsigned>(indexed.index_type().bytes) /
                            sizeof(Word));
  device.fetch(entries.data(), indexed.device_entries(), entries.size() * sizeof(Word));
  return entries;
}

Indexed inverted(CudaDevice& device, const EntryView& entries, Direction direction) {
  return written(device, entries.count, direction, [&]<typename Word>(Word* out) {
    Invert<Word> invert;
    invert.entries = entries;
    invert.out = out;
    device.run(invert);
  });
}

}  // namespace

Indexed indexed_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                          int device) {
  const int ordinal = ordinal_of(device);
  Indexed indexed = Indexed::on_device(indices, count, type, direction, ordinal, nullptr);
  if (count == 0) return indexed;
  const DeviceGuard guard(ordinal);
  require_memory_of(indices, ordinal);
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(indices) % static_cast<unsigned>(type.bytes);
  if (past != 0) {
    fail(ErrorCode::value, "index array on a device",
         "an address " + std::to_string(past) + " bytes past an entry's alignment",
         "entries aligned to " + std::to_string(type.bytes) + " bytes");
  }
  return indexed;
}

Indexed copied_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                         int device, Stream stream) {
  const Indexed given = indexed_on_device(indices, count, type, direction, device);
  const CudaDevice target(*given.device(), "copy an index array");
  const std::uint64_t bytes = count * static_cast<unsigned>(type.bytes);
  target.require_memory(bytes, "an index array of " + std::to_string(count) + " entries");
  const auto array = std::make_shared<DeviceArray>(bytes, target.ordinal());
  if (bytes > 0) {
    check(cudaMemcpyAsync(array->data(), indices, bytes, cudaMemcpyDeviceToDevice, stream.handle()),
          "cudaMemcpyAsync", target.operation());
    check(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize", target.operation());
  }
  const int ordinal = target.ordinal();
  validate(Indexed::on_device(array->data(), count, type, direction, ordinal, array));
  return Indexed::valid_on_device(array->data(), count, type, direction, ordinal, array);
}

Indexed to_device(const Indexed& indexed, int device) {
  constexpr const char* kOperation = "copy an index array to a device";
  const int ordinal = ordinal_of(device);
  if (!indexed.on_host() && *indexed.device() == ordinal) return indexed;
  const CudaDevice target(ordinal, kOperation);
  const auto entry_bytes = static_cast<unsigned>(indexed.index_type().bytes);
  const std::uint64_t bytes = indexed.count() * entry_bytes;
  target.require_memory(bytes, "an index array of " + std::to_string(indexed.count()) + " entries");
  const auto array = std::make_shared<DeviceArray>(bytes, ordinal);
  if (bytes > 0 && !indexed.on_host()) {
    check(cudaMemcpyPeer(array->data(), ordinal, indexed.device_entries(), *indexed.device(), bytes),
          "cudaMemcpyPeer", kOperation);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", kOperation);
  } else if (bytes > 0) {
    const bool is_wide = !indexed.entries64().empty();
    array->upload(is_wide ? static_cast<const void*>(indexed.entries64().data())
                          : indexed.entries32().data());
  }
  // A copy of unchecked entries of another device stays unchecked.
  const auto as_there = indexed.is_checked() ? &Indexed::valid_on_device : &Indexed::on_device;
  return as_there(array->data(), indexed.count(), indexed.index_type(), indexed.direction(), ordinal, array)
      .labelled(indexed.label());
}

Indexed to_host(const Indexed& indexed) {
  if (indexed.on_host()) return indexed;
  const CudaDevice device(*indexed.device(), "copy an index array to the host");
  const IndexType type = indexed.index_type();
  const Direction direction = indexed.direction();
  if (type.is_signed) {
    return Indexed::from_bytes(fetched<std::byte>(device, indexed), type, direction)
        .labelled(indexed.label());
  }
  if (type.bytes == 4)
    return Indexed(fetched<std::uint32_t>(device, indexed), direction).labelled(indexed.label());
  return Indexed(fetched<std::uint64_t>(device, indexed), direction).labelled(indexed.label());
}

void validate(const Indexed& indexed) {
  constexpr const char* kOperation = "check an index array";
  const EntryView entries = entries_on_device(indexed, kOperation);
  CudaDevice device(*indexed.device(), kOperation);
  validate_entries(device, entries);
}

Recognition recognise(const Indexed& indexed, const RecogniseLimits& limits) {
  constexpr const char* kOperation = "recognise an index array";
  const EntryView entries = entries_on_device(indexed, kOperation);
  CudaDevice device(*indexed.device(), kOperation);
  DeviceReader<CudaDevice> reader(device, entries);
  return faro::recognise(reader, indexed, limits);
}

Indexed redirected(const Indexed& indexed, Direction direction) {
  constexpr const char* kOperation = "invert an index array";
  const EntryView entries = entries_on_device(indexed, kOperation);
  if (direction == indexed.direction()) return indexed;
  CudaDevice device(*indexed.device(), kOperation);
  if (!indexed.is_checked()) validate_entries(device, entries);
  return inverted(device, entries, direction).labelled(indexed.label());
}

Indexed compose(const Indexed& a, const Indexed& b) {
  constexpr const char* kOperation = "compose index arrays";
  EntryView outer = entries_on_device(a, kOperation);
  const EntryView inner = entries_on_device(b, kOperation);
  if (a.count() != b.count()) {
    fail(ErrorCode::value, kOperation,
         std::to_string(a.count()) + " and " + std::to_string(b.count()) + " elements", "the same number");
  }
  if (*a.device() != *b.device()) {
    fail(ErrorCode::value, kOperation,
         "arrays of devices " + std::to_string(*a.device()) + " and " + std::to_string(*b.device()),
         "one device's", "cuda::to_device() copies one of them");
  }
  CudaDevice device(*a.device(), kOperation);
  if (!a.is_checked()) validate_entries(device, outer);
  if (!b.is_checked()) validate_entries(device, inner);
  ChainForm form = a.direction() == Direction::gather ? ChainForm::both : ChainForm::store;
  Indexed turned = a;
  if (b.direction() == Direction::scatter) {
    form = ChainForm::load;
    if (a.direction() == Direction::gather) {
      turned = inverted(device, outer, Direction::scatter);
      outer = entries_on_device(turned, kOperation);
    }
  }
  return written(device, a.count(), Direction::scatter, [&]<typename Word>(Word* out) {
    Chain<Word> chain;
    chain.a = outer;
    chain.b = inner;
    chain.form = form;
    chain.out = out;
    device.run(chain);
  });
}

namespace {

// An array of a device, known to be a permutation, and a map of the host.
Indexed composed_with(const Indexed& indexed, const Permutation& map, bool map_first) {
  constexpr const char* kOperation = "compose an index array and a map";
  const EntryView entries = entries_on_device(indexed, kOperation);
  CudaDevice device(*indexed.device(), kOperation);
  if (!indexed.is_checked()) validate_entries(device, entries);
  return written(device, entries.count, indexed.direction(), [&]<typename Word>(Word* out) {
    if (entries.count > 0) chain_entries<Word>(device, entries, indexed.direction(), map, map_first, out);
  });
}

}  // namespace

Indexed compose(const Permutation& a, const Permutation& b) {
  constexpr const char* kOperation = "compose on a device";
  const auto* const outer = std::get_if<Indexed>(&a);
  const auto* const inner = std::get_if<Indexed>(&b);
  const auto device_of = [](const Indexed* indexed) {
    return indexed == nullptr ? std::optional<int>() : indexed->device();
  };
  const std::optional<int> device = device_of(outer) ? device_of(outer) : device_of(inner);
  if (!device) fail(ErrorCode::value, kOperation, "two maps of the host", "an index array of a device");
  if (element_count(a) != element_count(b)) {
    fail(ErrorCode::value, kOperation,
         std::to_string(element_count(a)) + " and " + std::to_string(element_count(b)) + " elements",
         "the same number");
  }
  if (outer != nullptr && inner != nullptr) {
    return compose(outer->on_host() ? to_device(*outer, *device) : *outer,
                   inner->on_host() ? to_device(*inner, *device) : *inner);
  }
  // Kernels have no formula of a computed map.
  if (const auto* const map = std::get_if<Computed>(&a))
    return cuda::compose(Permutation(as_index_array(*map)), b);
  if (const auto* const map = std::get_if<Computed>(&b))
    return cuda::compose(a, Permutation(as_index_array(*map)));
  return outer != nullptr ? composed_with(*outer, b, true) : composed_with(*inner, a, false);
}

Indexed random_on_device(std::uint64_t count, std::uint64_t seed, int device) {
  constexpr const char* kOperation = "draw an index array";
  const int ordinal = ordinal_of(device);
  if (count > Indexed::kMaxCount)
    fail(ErrorCode::value, kOperation, std::to_string(count) + " entries", "at most 2^40");
  const CudaDevice target(ordinal, kOperation);
  return written(target, count, Direction::scatter, [&]<typename Word>(Word* out) {
    Draw<Word> draw;
    draw.permutation = FeistelPermutation::of(count, seed);
    draw.out = out;
    target.run(draw);
  });
}

}  // namespace faro::cuda
