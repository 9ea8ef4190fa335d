// The formats, each in a file of its own.
#pragma once

#include "store/format.hpp"

namespace faro::store {

const Format& arrow_format();
const Format& fits_format();
const Format& gguf_format();
const Format& hdf5_format();
const Format& nifti_format();
const Format& npy_format();
const Format& npz_format();
const Format& raw_format();
const Format& safetensors_format();
const Format& tiff_format();
const Format& zarr_v2_format();
const Format& zarr_v3_format();

}  // namespace faro::store
