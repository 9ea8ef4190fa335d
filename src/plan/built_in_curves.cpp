// The curves that faro plans by where `faro tune` has not measured any: one table a machine.
//
//     microseconds for 2^10, 2^12, … 2^30 elements of so many bytes; runs and chunks as powers of two
#include <array>
#include <span>

#include "faro/plan/index_calibration.hpp"

namespace faro {
namespace {

constexpr int kFirstBits = 10;
constexpr int kStepBits = 2;
constexpr std::size_t kPoints = 11;

struct Row {
  IndexKernel kernel;
  int element_bytes;
  int chunk_bits;
  int run_bits;
  std::array<double, kPoints> microseconds;  // 0: not measured, the last of the row
};

// clang-format off
constexpr Row kH200[] = {
  // kernel             width chunk run   2^10 2^12 2^14 2^16 2^18 2^20 2^22  2^24  2^26   2^28   2^30
  {IndexKernel::copy,    4,    0,    0, { 2.2, 2.2, 2.2, 2.3, 2.6, 4.0, 9.5,   35,  128,   508,  2003}},
  {IndexKernel::gather,  4,    0,    0, { 2.3, 2.3, 2.4, 2.5, 3.2, 6.5,  30,  238, 1510,  6810, 27640}},
  {IndexKernel::scatter, 4,    0,    0, { 2.3, 2.3, 2.4, 2.6, 3.6, 8.5,  70,  644, 3570, 15400, 62500}},
  {IndexKernel::spread,  4,   14,    6, { 3.0, 3.0, 4.5, 4.6, 5.0, 6.0,  15,   46,  205,   835,  3600}},
  {IndexKernel::place,   4,   14,    0, { 2.8, 2.8, 4.0, 4.1, 4.4, 5.2,  11,   34,  140,   565,  2615}},
};

constexpr Row kTwoCores[] = {
  // kernel             width chunk run   2^10 2^12 2^14 2^16 2^18 2^20  2^22   2^24    2^26     2^28     2^30
  {IndexKernel::copy,    4,    0,    0, { 0.2, 0.4,   1,   6,  30,  150,  800,  3440,  10000,   40000,  160000}},
  {IndexKernel::gather,  4,    0,    0, { 0.6, 2.0,   7,  25, 130,  600, 6300, 61200, 292000, 1300000, 5600000}},
  {IndexKernel::scatter, 4,    0,    0, { 0.6, 2.0,   7,  25, 140,  700, 8000, 72000, 335000, 1500000, 6500000}},
  {IndexKernel::spread,  4,   14,    8, { 4.0, 5.0,  12,  35, 120,  470, 1900,  7700,  28000,  112000,  450000}},
  {IndexKernel::spread,  4,   14,    6, { 4.0, 6.0,  16,  60, 230,  920, 3700, 15100,  60000,  240000,  960000}},
  {IndexKernel::spread,  4,   14,    4, { 4.0, 7.0,  20,  70, 280, 1100, 4400, 17900,  75000,  300000, 1200000}},
  {IndexKernel::spread,  4,   14,    2, { 4.0, 9.0,  35, 130, 530, 2100, 8500, 34000, 141000,  560000, 2250000}},
  {IndexKernel::spread,  4,   15,    8, { 4.0, 5.0,  12,  35, 125,  490, 1950,  7900,  29500,  118000,  470000}},
  {IndexKernel::spread,  4,   15,    6, { 4.0, 6.0,  16,  60, 230,  920, 3700, 15100,  60000,  240000,  960000}},
  {IndexKernel::spread,  4,   15,    4, { 4.0, 7.0,  20,  70, 290, 1150, 4600, 18500,  80000,  320000, 1280000}},
  {IndexKernel::place,   4,   14,    0, { 2.0, 3.5,   9,  30, 115,  450, 1850,  7500,  27000,  108000,  430000}},
};
// clang-format on

IndexCalibration make(const char* source, std::span<const Row> rows) {
  IndexCalibration calibration{.source = source, .curves = {}};
  for (const Row& row : rows) {
    TimeCurve curve;
    for (std::size_t i = 0; i < kPoints && row.microseconds.at(i) > 0; ++i) {
      curve.points.push_back({.elements = std::uint64_t{1} << (kFirstBits + kStepBits * static_cast<int>(i)),
                              .microseconds = row.microseconds.at(i)});
    }
    calibration.curves.push_back({.kernel = row.kernel,
                                  .element_bytes = row.element_bytes,
                                  .chunk_bits = row.chunk_bits,
                                  .run_bits = row.run_bits,
                                  .curve = std::move(curve)});
  }
  return calibration;
}

}  // namespace

const IndexCalibration& built_in_gpu_calibration() {
  static const IndexCalibration made = make("an NVIDIA H200, built in", kH200);
  return made;
}

const IndexCalibration& built_in_cpu_calibration() {
  static const IndexCalibration made = make("an AMD EPYC (Zen 4), 2 cores, built in", kTwoCores);
  return made;
}

}  // namespace faro
