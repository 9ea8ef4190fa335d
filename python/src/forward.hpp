// Functions of faro.h as methods of handles, where Python has the same arguments: what are pointers there are
// addresses here, whole numbers as array_memory.hpp and dlpack.hpp find them.
//
//     .def("run", runs<GroupHandle>(faro_group_run))             check(faro_group_run(self.plan.get(), stream))
//     .def("count", gives<MapHandle>(faro_map_count))            its last argument's value
//     .def("explain", tells<GroupHandle>(faro_group_explain))    its last argument's text
#pragma once

#include <cstdint>
#include <type_traits>

#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {

template <typename Argument>
using InPython = std::conditional_t<std::is_pointer_v<Argument>, std::uintptr_t, Argument>;

template <typename Argument>
Argument from_python(InPython<Argument> given) {
  if constexpr (std::is_pointer_v<Argument>)
    return reinterpret_cast<Argument>(given);  // NOLINT(performance-no-int-to-ptr)
  else
    return given;
}

template <typename OfHandle>
auto* object_of(const OfHandle& self) {
  if constexpr (requires { self.map; })
    return self.map.get();
  else
    return self.plan.get();
}

template <typename OfHandle, typename Object, typename... Arguments>
auto runs(faro_status (*function)(Object*, Arguments...)) {
  return [function](const OfHandle& self, InPython<Arguments>... given) {
    check(function(object_of(self), from_python<Arguments>(given)...));
  };
}

/// The same without the interpreter's lock.
template <typename OfHandle, typename Object, typename... Arguments>
auto runs_unlocked(faro_status (*function)(Object*, Arguments...)) {
  return [function](const OfHandle& self, InPython<Arguments>... given) {
    do_unlocked([&] { return function(object_of(self), from_python<Arguments>(given)...); });
  };
}

template <typename OfHandle, typename Object, typename Value>
auto gives(faro_status (*function)(Object*, Value*)) {
  return [function](const OfHandle& self) {
    Value value{};
    check(function(object_of(self), &value));
    return value;
  };
}

template <typename OfHandle, typename Object>
auto tells(faro_status (*function)(Object*, char**)) {
  return [function](const OfHandle& self) {
    return told([&](char** text) { return function(object_of(self), text); });
  };
}

}  // namespace faro::python
