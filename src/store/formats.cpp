#include <array>

#include "store/store_formats.hpp"

namespace faro::store {

std::span<const Format* const> formats() {
  static const std::array kFormats{&zarr_v3_format(), &zarr_v2_format(),     &npy_format(),
                                   &npz_format(),     &hdf5_format(),        &gguf_format(),
                                   &fits_format(),    &tiff_format(),        &nifti_format(),
                                   &arrow_format(),   &safetensors_format(), &raw_format()};
  return kFormats;
}

}  // namespace faro::store
