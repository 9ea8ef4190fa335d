// What HDF5 files say beside elements: attributes of datasets and groups, and the names of dimensions.
//
//     dimension scale       a dataset that is an axis's coordinates; DIMENSION_LIST of others refers to it, its name is
//                           the axis's. netCDF-4 has one for each dimension, without elements where there are none
//     attributes            texts, numbers, bools and lists of them: as JSON has them. Others are told
//
// Callers hold library_mutex().
#pragma once

#include <string>
#include <vector>

#include "store/format.hpp"
#include "store/hdf5_library.hpp"

namespace faro::store {

/// How netCDF begins the title of a dimension that is no variable.
inline constexpr const char* kBareDimension = "This is a netCDF dimension but not a netCDF variable.";

/// The type of h5py's bool.
Handle hdf5_bool();

/// Whether a dataset is such a dimension.
bool is_bare_dimension(hid_t dataset);

/// Attributes and names of dimensions of a dataset of so many axes.
void add_hdf5_notes(hid_t dataset, std::size_t rank, Notes& notes);

/// All groups of a file, with their attributes.
std::vector<Group> hdf5_groups(hid_t file);

/// Writes those that HDF5 can say; the others' names are told in `left_out`, with `of`.
void write_hdf5_attributes(hid_t object, const Json& attributes, const std::string& of,
                           std::vector<std::string>& left_out);

}  // namespace faro::store
