// A store of several arrays as another, array by array.
//
//     a file      one header for all, each array swept into its place        a journal beside the output counts those
//     a folder    groups, then each array as a store within                  that are finished: resume begins behind
//
// Groups, attributes and names of dimensions are kept as far as both formats have them; what is not is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/relayout_work.hpp"

namespace faro::store {

struct WholeStore {
  std::string operation;
  Place in;
  Place out;
  const Format* format = nullptr;
  std::vector<Work> works = {};
  std::vector<Group> groups = {};
};

/// Nothing where the input is one array, or the output's format holds one. Errors: as relayout();
/// ErrorCode::unsupported for arrays that cannot be read, or whose names the output cannot have.
std::optional<WholeStore> whole_store(const std::string& in, const std::string& out, const Options& options);

/// Errors: as explain() and relayout().
Facts explain_whole(const WholeStore& store);
Report relayout_whole(const WholeStore& store, const Options& options);

}  // namespace faro::store
