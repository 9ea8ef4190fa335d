// What PyTorch has to be asked, and told, of a call that goes the short way (python/faro/_torch_modes.py says
// of what).
#pragma once

#include <nanobind/nanobind.h>

#include "dlpack.hpp"

namespace faro::python {

/// Whether a mode, a tracer, a transform or forward-mode derivatives may have to hear of a call with tensors
/// of this type: Python looks at it then. Some nanoseconds.
bool is_watched(const ExchangeType& type);

/// Whether a tensor of PyTorch has the type that DLPack tells: its integers of less than a byte are told as
/// those of eight bits, and a result would be one of these.
bool is_what_dlpack_says(nb::handle tensor, const Tensor& told);

/// Tensors were written: what autograd saved of them is no longer right.
void tell_written(const ExchangeType& type, const nb::tuple& tensors);

/// _arrays.py: meet_torch() -> (keys, questions, forward mode's module, is_active, written, bytes),
/// called when a tensor is first seen.
void set_meet_torch(nb::object meet);

void bind_pytorch(nb::module_& module);

}  // namespace faro::python
