// HDF5 files that are written: groups, datasets, attributes and dimension scales, made by the library without
// elements. What it puts before, between and behind the datasets' places are the headers and the tail.
//
//     contiguous            a run of bytes at its place
//     chunks, not coded     one behind another in C order, as files of HDF5 1.10 have them: a place, too
//     chunks that are coded wait in slots behind all that the file will hold, which takes no room where nothing
//                           is; when all are there the library puts them into the file, and cuts it to its end
#pragma once

#include <string>
#include <vector>

#include "store/format.hpp"

namespace faro::store {

/// Errors: ErrorCode::unsupported for types and codecs that HDF5 files have not here; ErrorCode::value for a
/// name or chunks that the library does not take; ErrorCode::file.
std::vector<RunOutput> hdf5_outputs(const WantedStore& wanted, std::vector<std::string>& left_out);

}  // namespace faro::store
