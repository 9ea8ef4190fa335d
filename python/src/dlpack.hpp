// DLPack: tensors of other libraries, by capsule or by the functions that their types offer to C.
//
//     type(x).__dlpack_c_exchange_api__      reads x where it is, makes a tensor of its kind, knows the current stream:
//                                            tens of nanoseconds, no Python code (DLPack 1.2)
//     x.__dlpack__()                         a capsule with a tensor: microseconds
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

namespace faro::python {

namespace nb = nanobind;

using Tensor = nb::dlpack::dltensor;

inline constexpr std::int32_t kDeviceOfHost = 1;
inline constexpr std::int32_t kDeviceOfCuda = 2;

/// A tensor with its owner.
struct VersionedTensor {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(VersionedTensor*);
  std::uint64_t flags;
  Tensor tensor;
};

/// The functions of a library's tensors; those that are used here, at their places.
struct ExchangeFunctions {
  std::uint32_t major;
  std::uint32_t minor;
  ExchangeFunctions* previous;  // of an older version
  int (*allocate)(Tensor* prototype, VersionedTensor** out, void* context,
                  void (*fail)(void* context, const char* kind, const char* message));
  int (*export_owned)(void* object, VersionedTensor** out);
  int (*import_owned)(VersionedTensor* tensor, void** out_object);
  int (*borrow)(void* object, Tensor* out);  // may be null
  int (*current_stream)(int device_type, std::int32_t device, void** out);
};

/// What a type offers; kept for the life of the process.
struct ExchangeType {
  PyTypeObject* type = nullptr;
  const ExchangeFunctions* functions = nullptr;  // null: none
  bool has_gradients = false;                    // PyTorch's: tensors may be recorded, or lazily negated
};

/// The functions of exactly this type, no base's: a subclass may mean something else by its memory.
ExchangeType exchange_type(PyTypeObject* type);

/// Bytes of an element. Errors: FaroValueError for bits that are no whole bytes.
std::int64_t element_bytes(const Tensor& tensor);

/// What a capsule says; it stays the capsule's: (address, shape, strides in bytes, itemsize, read only, device type,
/// device, (code, bits, lanes)).
nb::tuple dlpack_facts(nb::handle capsule);

/// New memory of the host as an array without a library: (address, an object with __dlpack__ and a buffer).
nb::tuple new_array(const std::vector<std::size_t>& shape, int code, int bits, int lanes);

nb::tuple tuple_of(const Py_ssize_t* values, int count);

}  // namespace faro::python
