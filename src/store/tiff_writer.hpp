// Headers of TIFF and BigTIFF files that are written: a directory a page, then the elements.
//
//     header | directory of page 0 | … | description | places of tiles | page 0 | page 1 | …
//
// An array's last two axes are rows and columns, the others pages; its shape is in the first page's
// description as tifffile keeps it. A page is one strip, or tiles. BigTIFF where 32 bits do not hold the
// places.
#pragma once

#include "store/format.hpp"

namespace faro::store {

/// Errors: ErrorCode::unsupported for elements and shapes that TIFF has not; ErrorCode::value for tiles that
/// it has not.
RunOutput tiff_output(const WantedArray& wanted);

}  // namespace faro::store
