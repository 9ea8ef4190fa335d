#include "dlpack.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>

#include "status.hpp"

namespace faro::python {
namespace {

// Before versions.
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

constexpr std::uint64_t kReadOnly = 1;

const ExchangeFunctions* functions_of(PyTypeObject* type) {
  const nb::object own = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dict__"));
  if (!own.is_valid()) {
    PyErr_Clear();
    return nullptr;
  }
  const nb::object capsule = nb::steal(PyMapping_GetItemString(own.ptr(), "__dlpack_c_exchange_api__"));
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) {
    PyErr_Clear();
    return nullptr;
  }
  const auto* functions =
      static_cast<const ExchangeFunctions*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (functions != nullptr && functions->major > 1) functions = functions->previous;
  return functions != nullptr && functions->major == 1 && functions->borrow != nullptr ? functions : nullptr;
}

}  // namespace

ExchangeType exchange_type(PyTypeObject* type) {
  thread_local ExchangeType last;
  if (last.type == type) return last;
  static std::mutex mutex;
  static auto* const known = new std::vector<ExchangeType>;
  {
    const std::lock_guard lock(mutex);
    for (const ExchangeType& each : *known) {
      if (each.type == type) return last = each;
    }
  }
  ExchangeType made{.type = type, .functions = functions_of(type)};
  auto* const object = reinterpret_cast<PyObject*>(type);
  made.has_gradients = PyObject_HasAttrString(object, "requires_grad") == 1;
  constexpr std::size_t kMostTypes = 64;  // others are asked each time
  const std::lock_guard lock(mutex);
  if (known->size() < kMostTypes) {
    known->push_back(made);
    Py_INCREF(object);
    last = made;
  }
  return made;
}

std::int64_t element_bytes(const Tensor& tensor) {
  const int bits = tensor.dtype.bits * tensor.dtype.lanes;
  if (bits % 8 != 0)
    refuse("read an array", "elements of " + std::to_string(bits) + " bits", "elements of whole bytes");
  return bits / 8;
}

nb::tuple tuple_of(const Py_ssize_t* values, int count) {
  PyObject* const tuple = PyTuple_New(count);
  if (tuple == nullptr) nb::raise_python_error();
  for (int i = 0; i < count; ++i) PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(values[i]));
  return nb::steal<nb::tuple>(tuple);
}

nb::tuple dlpack_facts(nb::handle capsule) {
  const Tensor* tensor = nullptr;
  bool read_only = false;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    const auto* const managed =
        static_cast<const VersionedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->major > 1)
      refuse("read an array", "DLPack of version " + std::to_string(managed->major), "version 1");
    tensor = &managed->tensor;
    read_only = (managed->flags & kReadOnly) != 0;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) {
    tensor = &static_cast<const ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->tensor;
  } else {
    refuse("read an array", "a capsule that is no DLPack tensor", "what __dlpack__() gives");
  }
  const std::int64_t width = element_bytes(*tensor);
  std::vector<Py_ssize_t> shape(tensor->shape, tensor->shape + tensor->ndim);
  std::vector<Py_ssize_t> strides(shape.size());
  std::int64_t dense = width;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = tensor->strides != nullptr ? tensor->strides[axis] * width : dense;
    dense *= shape[axis];
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor->data) + tensor->byte_offset;
  return nb::make_tuple(address, tuple_of(shape.data(), tensor->ndim), tuple_of(strides.data(), tensor->ndim),
                        width, read_only, tensor->device.device_type, tensor->device.device_id,
                        nb::make_tuple(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes));
}

nb::tuple new_array(const std::vector<std::size_t>& shape, int code, int bits, int lanes) {
  std::size_t bytes = static_cast<std::size_t>(bits) * static_cast<std::size_t>(lanes) / 8;
  auto wanted = static_cast<double>(bytes);
  for (const std::size_t extent : shape) {
    bytes *= extent;
    wanted *= static_cast<double>(extent);
  }
  constexpr double kMostBytes = 0x1p62;
  if (wanted > kMostBytes) refuse_memory(wanted);
  constexpr std::size_t kAlignment = 64;
  void* const data =
      std::aligned_alloc(kAlignment, (std::max<std::size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1));
  if (data == nullptr) refuse_memory(wanted);
  const nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
  const nb::dlpack::dtype dtype{.code = static_cast<std::uint8_t>(code),
                                .bits = static_cast<std::uint8_t>(bits),
                                .lanes = static_cast<std::uint16_t>(lanes)};
  const nb::ndarray<nb::array_api> array(data, shape.size(), shape.data(), owner, nullptr, dtype);
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(data), nb::cast(array));
}

}  // namespace faro::python
