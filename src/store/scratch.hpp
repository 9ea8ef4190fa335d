// A distribution's scratch file: written in regions of one grid, read in regions of another, both in long
// runs.
//
//     regions that are written      |---------|---------|---------|
//     regions that are read         |------|------|------|------|
//     pieces                        |------|--|---|-----|-|------|     where both grids cut: each is a run of bytes
//
// The pieces of a region that is read lie one behind another, so that it is read as one run; of a region that
// is written each piece is one request. Nothing is encoded.
#pragma once

#include <memory>

#include "store/box.hpp"
#include "store/sides.hpp"

namespace faro::store {

struct ScratchForm {
  Shape shape;
  std::uint64_t element_bytes = 1;
  Shape written;  // extents of the regions that are written
  Shape read;     // likewise that are read
};

/// Both over a descriptor that stays open, of a file of volume(shape) elements.
std::unique_ptr<Sink> scratch_sink(int descriptor, ScratchForm form);
std::unique_ptr<Source> scratch_source(int descriptor, ScratchForm form);

/// What writing and reading them costs.
Cost scratch_cost(const ScratchForm& form);

}  // namespace faro::store
