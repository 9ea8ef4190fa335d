// Work on index arrays that live on a device: they are checked, recognised, inverted and composed there. How
// they come in, compositions with maps, and plans of them, which run as all others do, are in
// faro/engines/cuda.hpp.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
// docs/notes/index-experiments.md tells what it costs and what was measured.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/problem/target.hpp"

namespace faro::cuda {

/// A copy on the device, of an array of the host; an array that is there already is returned as it is.
Indexed to_device(const Indexed& indexed, int device = kCurrentDevice);
/// A copy on the host, checked as Indexed's constructors do.
Indexed to_host(const Indexed& indexed);

/// All of the following take arrays on a device and do their work there. Errors: ErrorCode::value for an
/// array of the host; ErrorCode::device for failed calls and too little memory, saying how much is needed.

/// Errors: ErrorCode::value as Indexed's constructors say it, the first offending positions named.
/// Cost: one sweep; where it fails, a few more.
void validate(const Indexed& indexed);
Recognition recognise(const Indexed& indexed, const RecogniseLimits& limits = {});
/// The same permutation by the other direction's array.   Cost: a random store an element.
Indexed redirected(const Indexed& indexed, Direction direction);
/// a o b, as a scatter array on a's device. Errors: ErrorCode::value for other counts or devices.
Indexed compose(const Indexed& a, const Indexed& b);
/// The permutation drawn from `seed` of Indexed::random is a host's; this one is drawn on the device, is a
/// scatter, and is for tests and benchmarks: a Feistel network with cycle walking.
Indexed random_on_device(std::uint64_t count, std::uint64_t seed, int device = kCurrentDevice);

/// The schedule of a partition made on the device, timed there: for tests and benchmarks.
struct SchedulingTimes {
  double milliseconds = 0;    // of the whole
  std::vector<double> steps;  // histogram, scan, partition, … of each level
};

/// Measures the device's curves. `quick`: fewer sizes and widths.   Cost: some seconds; memory as needed, all
/// returned. Errors: ErrorCode::device.
IndexCalibration tune(int device = kCurrentDevice, bool quick = false);

}  // namespace faro::cuda
