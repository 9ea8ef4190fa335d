// HDF5 files that are written: groups, contiguous datasets, attributes and dimension scales, made by the
// library without elements. What it puts before, between and behind the datasets' places are the headers and
// the tail.
#pragma once

#include <string>
#include <vector>

#include "store/format.hpp"

namespace faro::store {

/// Errors: ErrorCode::unsupported for types that HDF5 files have not here; ErrorCode::value for a name that
/// the library does not take; ErrorCode::file.
std::vector<RunOutput> hdf5_outputs(const WantedStore& wanted, std::vector<std::string>& left_out);

}  // namespace faro::store
