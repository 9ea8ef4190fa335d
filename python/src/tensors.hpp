// Tensors of a library whose type offers DLPack's functions (dlpack.hpp), as the short ways of calls read and
// make them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "array_memory.hpp"
#include "dlpack.hpp"
#include "faro/faro.h"
#include "pytorch.hpp"
#include "status.hpp"

namespace faro::python {

/// Libraries know where their arrays lie: while one of these lives, nobody asks the driver.
struct KnownMemory {
  KnownMemory() { faro_set_memory_known(1); }
  ~KnownMemory() { faro_set_memory_known(0); }
  KnownMemory(const KnownMemory&) = delete;
  KnownMemory& operator=(const KnownMemory&) = delete;
};

/// Whether the memory is what the tensor means, and nobody has to hear of what is done with it.
bool is_plain(PyObject* tensor, const ExchangeType& type, const Tensor& told);

/// Whether it has memory, of a type that is moved. A tensor without stands for another, in a transformation.
bool is_exchanged(const Tensor& tensor);

inline char* address_of(const Tensor& tensor) { return static_cast<char*>(tensor.data) + tensor.byte_offset; }
inline Py_ssize_t width_of(const Tensor& tensor) { return tensor.dtype.bits * tensor.dtype.lanes / 8; }
/// The GPU's number; -1: the host.
inline int device_of(const Tensor& tensor) {
  return tensor.device.device_type == kDeviceOfHost ? -1 : tensor.device.device_id;
}

/// Whether both have one type and lie on one device.
bool is_like(const Tensor& a, const Tensor& b);

bool is_shape(const std::vector<Py_ssize_t>& wanted, int ndim, const Py_ssize_t* shape);

/// A new tensor, freed unless it is given away.
class NewTensor {
 public:
  NewTensor(const ExchangeFunctions& functions, const Tensor& like, const std::vector<Py_ssize_t>& shape)
      : functions_(functions) {
    std::vector<std::int64_t> extents(shape.begin(), shape.end());
    Tensor prototype = like;
    prototype.data = nullptr;
    prototype.byte_offset = 0;
    prototype.ndim = static_cast<std::int32_t>(extents.size());
    prototype.shape = extents.data();
    prototype.strides = nullptr;
    const auto fail = [](void*, const char*, const char*) {};  // what it says is refused here
    if (functions.allocate(&prototype, &made_, nullptr, fail) != 0) {
      auto bytes = static_cast<double>(like.dtype.bits) * like.dtype.lanes / 8;
      for (const std::int64_t extent : extents) bytes *= static_cast<double>(extent);
      refuse_memory(bytes);
    }
  }
  ~NewTensor() {
    if (made_ != nullptr && made_->deleter != nullptr) made_->deleter(made_);
  }
  NewTensor(const NewTensor&) = delete;
  NewTensor& operator=(const NewTensor&) = delete;

  char* data() const { return address_of(made_->tensor); }

  nb::object given_away() {
    VersionedTensor* const tensor = made_;
    made_ = nullptr;
    void* object = nullptr;
    if (functions_.import_owned(tensor, &object) != 0) nb::raise_python_error();
    return nb::steal(static_cast<PyObject*>(object));
  }

 private:
  const ExchangeFunctions& functions_;
  VersionedTensor* made_ = nullptr;
};

/// Whether it is told plainly what the tensor holds.
bool read_plainly(nb::handle tensor, const ExchangeType& type, Tensor& told);

/// Whether a tensor is of entries for rows of another, which lies beside it; both dense.
bool are_entries(const Tensor& entries, const Tensor& numbered);

/// So many bytes on a tensor's device.
NewTensor workspace_beside(const ExchangeFunctions& functions, const Tensor& in, std::uint64_t bytes);

/// The stream on which the library queues work of the GPU; null: the host's.
void* current_stream(const ExchangeFunctions& functions, int device);

}  // namespace faro::python
