// The forms that a permutation of axes takes on a GPU: which kernel, with which parameters, for arrays that
// are aligned so far. axes_choice.hpp chooses between them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/axes_params.hpp"
#include "layout/strided_box.hpp"

namespace faro::detail {

struct AxesCopy {
  std::uint64_t bytes = 0;
};

struct AxesBoxes {
  struct Variant {
    kernels::AxesBoxParams params;
    kernels::BoxShape shape;
    std::uint64_t in_run_bytes = 0;
    std::uint64_t out_run_bytes = 0;
    std::uint64_t alignment = 1;                              // of the arrays, in bytes
    std::shared_ptr<const layout::StridedBox> box = nullptr;  // as explanations tell of it
  };
  std::vector<Variant> variants;  // vectors, then single units
};

/// Kernels of one form, that of the widest unit first.
template <typename Params>
struct AxesVariants {
  struct Variant {
    Params params;
    std::uint64_t unit_bytes = 1;  // arrays are aligned to it
  };
  std::vector<Variant> variants;
};
using AxesElements = AxesVariants<kernels::AxesElementsParams>;  // small arrays
using AxesWhole = AxesVariants<kernels::AxesWholeParams>;        // small arrays of a batch
using AxesRows = AxesVariants<kernels::AxesRowsParams>;

struct AxesLines {
  struct Variant {
    kernels::AxesLinesChoice choice;
    std::uint64_t unit_bytes = 1;
    bool anywhere = false;  // arrays aligned to the unit; else to 16 and 32 bytes
  };
  std::vector<Variant> variants;
};

/// Tiles turned in registers, for aligned arrays; others go as the form beside them has it.
struct AxesRegisters {
  kernels::AxesRegistersParams params;
  kernels::AxesRegistersShape shape;
  double price = 1;  // in a copy's time
};

}  // namespace faro::detail
