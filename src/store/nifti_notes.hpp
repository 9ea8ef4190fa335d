// What NIfTI says of an image beside its elements, as attributes that other formats may hold.
//
//     nifti_affine        16 numbers, row by row: from the index of a voxel to its place
//     nifti_xform_code    what space that place is in
//     nifti_pixdim        the distance of elements along each axis
//     nifti_xyzt_units, nifti_descrip
//     scl_slope, scl_inter
#pragma once

#include <string>
#include <vector>

#include "store/json.hpp"
#include "store/sweep.hpp"

namespace faro::store {

/// Numbers of an attribute. Empty: it is no list of so many.
std::vector<double> nifti_numbers(const Json& attributes, const char* name, std::size_t count);

/// Turns those that follow the axes of an array of `shape`; null: the elements are permuted otherwise. What
/// cannot be said any more goes, and is told.
void turn_nifti_notes(Json& attributes, const AxisChoice* axes, const Shape& shape,
                      std::vector<std::string>& left_out);

}  // namespace faro::store
