// Groups whose members are carried out in parts, as the C interface's plans are: a roll as views side by
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "faro/group.hpp"

namespace faro::detail {

/// What is done to an array of a group, by the pointers of its member: parts of one have the same.
struct GroupPart {
  GroupMember what;
  std::size_t member = 0;
};

/// Errors: as plan_group, by the members' numbers.
Group plan_group(std::span<const GroupPart> parts, std::size_t members, const GroupOptions& options);

}  // namespace faro::detail
