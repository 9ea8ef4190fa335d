// The network's kernel as the run-time compiler gets it: the very headers that the tests run on the CPU, and
// a few lines that make a __global__ function of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "faro/network/operator.hpp"
#include "kernels/network_tile.hpp"

namespace faro::network {

struct NetworkLaunch;

struct KernelSource {
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
};

/// The name of the function: (AffineTileParams, NetworkTables, operator, in, out), the operator being
/// kernels::Twiddles for those of Fourier and anything for the others.
inline constexpr const char* kKernelName = "faro_network_pass";

/// Shares of a turn are fractions of 2^32.
inline constexpr int kTurnBits = 32;

/// A layer, as far as it can be constants of the kernel.
struct KernelLayer {
  kernels::LayerCode code;
  /// Of Fourier's layers with disjoint shares: what fraction of a turn, in 2^-kTurnBits, each register's
  /// share is.
  std::vector<std::uint32_t> turns = {};
  /// Of these, whether the power of thread and block is the square of the layer's before.
  bool squares = false;

  friend bool operator==(const KernelLayer&, const KernelLayer&) = default;
};
using GroupCode = std::vector<KernelLayer>;

/// What a kernel may know of the layers of one of a launch's groups.
GroupCode group_code(const NetworkLaunch& launch, const kernels::NetworkGroup& group,
                     const kernels::NetworkShape& shape);

/// Groups of layers that a kernel has code of their own for, at most.
inline constexpr std::size_t kMostCodes = 64;

struct KernelGroups {
  std::vector<GroupCode> codes;  // [NetworkGroup::code]
  bool others = false;           // whether there are groups of none of these, whose layers are looked up
};

/// A kernel that carries out the groups of known codes with everything known to the compiler. Of arrays of at
/// most 2^32 elements these are numbered by 32 bits, which is half the instructions; not for Fourier's
/// layers, whose figures are no better for it.
///
/// Requires: check_fits(op, element) passes; is_valid(shape), of the element's width (checked).
/// Errors: ErrorCode::unsupported for a user's operator without text, and for elements wider than 16 bytes.
KernelSource kernel_source(const Operator& op, const ElementType& element, const kernels::NetworkShape& shape,
                           const KernelGroups& groups, std::uint64_t array_bytes);

}  // namespace faro::network
