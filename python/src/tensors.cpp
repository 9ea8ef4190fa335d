#include "tensors.hpp"

#include <algorithm>

#include "numpy_arrays.hpp"

namespace faro::python {
namespace {

// For the life of the process.
struct Words {
  PyObject* requires_grad = PyUnicode_InternFromString("requires_grad");
  PyObject* is_neg = PyUnicode_InternFromString("is_neg");
  PyObject* is_conj = PyUnicode_InternFromString("is_conj");
};

bool is_so(PyObject* object, PyObject* method) {
  const nb::object told = nb::steal(PyObject_CallMethodObjArgs(object, method, nullptr));
  if (!told.is_valid()) nb::raise_python_error();
  return told.ptr() == Py_True;
}

}  // namespace

bool is_plain(PyObject* tensor, const ExchangeType& type, const Tensor& told) {
  if (!type.has_gradients) return true;
  static const Words& s = *new Words;
  const nb::object recorded = nb::steal(PyObject_GetAttr(tensor, s.requires_grad));
  if (!recorded.is_valid()) nb::raise_python_error();
  if (recorded.ptr() != Py_False || is_so(tensor, s.is_neg) || !is_what_dlpack_says(tensor, told))
    return false;
  constexpr int kComplex = 5;
  return told.dtype.code != kComplex || !is_so(tensor, s.is_conj);
}

bool is_exchanged(const Tensor& tensor) {
  const std::int32_t device = tensor.device.device_type;
  const bool is_empty = std::find(tensor.shape, tensor.shape + tensor.ndim, 0) != tensor.shape + tensor.ndim;
  return (tensor.data != nullptr || is_empty) && (device == kDeviceOfHost || device == kDeviceOfCuda) &&
         tensor.dtype.bits * tensor.dtype.lanes % 8 == 0 && tensor.dtype.bits > 0 &&
         (tensor.strides != nullptr || tensor.ndim == 0);
}

bool is_like(const Tensor& a, const Tensor& b) {
  return a.device.device_type == b.device.device_type && a.device.device_id == b.device.device_id &&
         a.dtype.code == b.dtype.code && a.dtype.bits == b.dtype.bits && a.dtype.lanes == b.dtype.lanes;
}

bool is_shape(const std::vector<Py_ssize_t>& wanted, int ndim, const Py_ssize_t* shape) {
  return static_cast<std::size_t>(ndim) == wanted.size() && std::equal(wanted.begin(), wanted.end(), shape);
}

bool read_plainly(nb::handle tensor, const ExchangeType& type, Tensor& told) {
  if (type.functions->borrow(tensor.ptr(), &told) == 0)
    return is_exchanged(told) && is_plain(tensor.ptr(), type, told);
  PyErr_Clear();
  return false;
}

bool are_entries(const Tensor& entries, const Tensor& numbered) {
  constexpr int kUnsigned = 1;
  const int bits = entries.dtype.bits * entries.dtype.lanes;
  return entries.dtype.code <= kUnsigned && (bits == 32 || bits == 64) && is_exchanged(entries) &&
         is_dense(numbered, 1) && is_dense(entries, 1) &&
         numbered.device.device_type == entries.device.device_type &&
         numbered.device.device_id == entries.device.device_id;
}

NewTensor workspace_beside(const ExchangeFunctions& functions, const Tensor& in, std::uint64_t bytes) {
  constexpr int kUnsigned = 1;
  Tensor like = in;
  like.dtype = {.code = kUnsigned, .bits = 8, .lanes = 1};
  return {functions, like, {static_cast<Py_ssize_t>(bytes)}};
}

void* current_stream(const ExchangeFunctions& functions, int device) {
  void* stream = nullptr;
  if (device >= 0 && functions.current_stream(kDeviceOfCuda, device, &stream) != 0) nb::raise_python_error();
  return stream;
}

}  // namespace faro::python
