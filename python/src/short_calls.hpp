// What the short ways of calls (calls.cpp) share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace faro::python {

namespace nb = nanobind;

/// Plans that change numbers (changed_calls.cpp): forgotten, and how many are kept.
void clear_changed_plans();
std::size_t changed_plans();

void bind_changed_calls(nb::module_& module);
void bind_row_calls(nb::module_& module);

}  // namespace faro::python
