// The curves that faro plans by where `faro tune` has not measured any: one table a machine.
//
//     microseconds for 2^10, 2^12, … 2^30 elements of so many bytes; runs and chunks as powers of two; where
//     a larger array took less, which is noise, its time stands for the smaller one too
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
  std::array<double, kPoints> microseconds;  // 0: not measured
};

// clang-format off
constexpr Row kH200[] = {
  // kernel            width chunk run  2^10    2^12    2^14    2^16    2^18    2^20    2^22    2^24    2^26    2^28    2^30
  {IndexKernel::gather,   1,  0,  0, { 3.564,  3.628,  3.628,  3.638,  4.378,   9.54,  32.34,  120.2,   1018,   6571,  28933}},
  {IndexKernel::gather,   2,  0,  0, { 3.604,   3.63,   3.63,   3.63,  4.498,    9.9,  33.04,  146.8,   1467,   7192,  30112}},
  {IndexKernel::gather,   4,  0,  0, { 3.792,  3.792,  3.792,  3.932,  5.006,  10.14,  36.24,  277.5,   1712,   7486,  30622}},
  {IndexKernel::gather,   8,  0,  0, { 3.688,  3.688,  4.222,   4.72,   4.72,  10.72,  48.77,  394.2,   1874,   7729,      0}},
  {IndexKernel::gather,  16,  0,  0, { 3.928,  3.928,  3.928,  4.296,  5.092,  12.68,  94.72,  479.4,   2029,   8231,      0}},
  {IndexKernel::spread,   2, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  35.02,      0,      0,      0}},
  {IndexKernel::spread,   2, 15,  8, {     0,      0,      0,   8.82,  9.131,  9.131,  9.495,  26.26,  108.7,  433.6,   1810}},
  {IndexKernel::spread,   4, 14,  4, {     0,      0,      0,      0,      0,      0,      0,   75.9,      0,      0,      0}},
  {IndexKernel::spread,   4, 14,  6, {     0,      0,      0,      0,      0,      0,  14.33,      0,      0,      0,   3193}},
  {IndexKernel::spread,   4, 14,  8, {     0,      0,      0,  3.682,  3.682,  6.306,  11.84,  44.36,  181.7,  728.2,   3053}},
  {IndexKernel::spread,   4, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  45.14,      0,      0,      0}},
  {IndexKernel::spread,   4, 15,  8, {     0,      0,      0,   15.1,   15.1,   15.1,   15.1,  47.44,  188.1,  750.1,   3233}},
  {IndexKernel::spread,   8, 13,  4, {     0,      0,      0,      0,      0,      0,  26.03,      0,      0,      0,      0}},
  {IndexKernel::spread,   8, 13,  6, {     0,      0,      0,      0,      0,  5.933,      0,      0,  352.7,   1460,      0}},
  {IndexKernel::spread,   8, 13,  8, {     0,      0,    4.9,  5.137,  5.137,   6.18,  18.57,     83,  333.5,   1325,      0}},
  {IndexKernel::spread,   8, 14,  4, {     0,      0,      0,      0,      0,      0,      0,    109,      0,      0,      0}},
  {IndexKernel::spread,   8, 14,  6, {     0,      0,      0,      0,      0,      0,  16.41,      0,      0,      0,      0}},
  {IndexKernel::spread,   8, 14,  8, {     0,      0,      0,   5.96,   5.96,  9.583,  17.82,  85.72,  346.2,   1369,      0}},
  {IndexKernel::spread,  16, 12,  4, {     0,      0,      0,      0,      0,  10.06,  60.01,      0,      0,   2894,      0}},
  {IndexKernel::spread,  16, 12,  6, {     0,      0,      0,      0,  4.769,      0,      0,  166.8,  693.4,   2667,      0}},
  {IndexKernel::spread,  16, 12,  8, {     0,      0,  3.169,  3.169,  4.887,  10.08,  39.22,  160.7,  644.9,      0,      0}},
  {IndexKernel::spread,  16, 13,  4, {     0,      0,      0,      0,      0,      0,  40.25,      0,      0,      0,      0}},
  {IndexKernel::spread,  16, 13,  6, {     0,      0,      0,      0,      0,  10.35,      0,      0,  678.1,   2691,      0}},
  {IndexKernel::spread,  16, 13,  8, {     0,      0,  7.969,  7.969,  7.969,  11.39,  40.08,  165.7,  657.9,   2793,      0}},
  {IndexKernel::collect,  2, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  50.15,      0,      0,      0}},
  {IndexKernel::collect,  2, 15,  8, {     0,      0,      0,  20.26,  20.26,  20.26,  20.26,  48.96,  140.3,  484.7,   1963}},
  {IndexKernel::collect,  4, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  88.92,      0,      0,      0}},
  {IndexKernel::collect,  4, 14,  6, {     0,      0,      0,      0,      0,      0,  18.42,      0,      0,      0,   3409}},
  {IndexKernel::collect,  4, 14,  8, {     0,      0,      0,  8.211,  8.211,  13.43,  16.43,  57.63,  187.2,  755.2,   3314}},
  {IndexKernel::collect,  4, 15,  6, {     0,      0,      0,      0,      0,      0,      0,   65.7,      0,      0,      0}},
  {IndexKernel::collect,  4, 15,  8, {     0,      0,      0,  39.19,  39.19,  39.19,  39.19,    157,  459.9,   1361,   4266}},
  {IndexKernel::collect,  8, 13,  4, {     0,      0,      0,      0,      0,      0,  35.41,      0,      0,      0,      0}},
  {IndexKernel::collect,  8, 13,  6, {     0,      0,      0,      0,      0,  7.528,      0,      0,  354.3,   1511,      0}},
  {IndexKernel::collect,  8, 13,  8, {     0,      0,  8.936,  8.936,  8.936,  8.936,   24.7,  86.28,  333.4,   1308,      0}},
  {IndexKernel::collect,  8, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  166.9,      0,      0,      0}},
  {IndexKernel::collect,  8, 14,  6, {     0,      0,      0,      0,      0,      0,  24.31,      0,      0,      0,      0}},
  {IndexKernel::collect,  8, 14,  8, {     0,      0,      0,  17.59,  17.59,  26.72,  60.29,  174.9,  526.9,   1751,      0}},
  {IndexKernel::collect, 16, 12,  4, {     0,      0,      0,      0,      0,   14.5,  69.87,      0,      0,   2753,      0}},
  {IndexKernel::collect, 16, 12,  6, {     0,      0,      0,      0,  5.569,      0,      0,  165.6,  654.6,   2595,      0}},
  {IndexKernel::collect, 16, 12,  8, {     0,      0,  4.377,  4.377,    7.1,  11.15,  44.47,  156.1,  629.6,      0,      0}},
  {IndexKernel::collect, 16, 13,  4, {     0,      0,      0,      0,      0,      0,  51.37,      0,      0,      0,      0}},
  {IndexKernel::collect, 16, 13,  6, {     0,      0,      0,      0,      0,  14.58,      0,      0,  715.7,   2769,      0}},
  {IndexKernel::collect, 16, 13,  8, {     0,      0,  17.67,  17.67,  17.67,  17.67,  70.37,  225.7,  767.5,   2944,      0}},
  {IndexKernel::place,    2, 15,  0, { 3.582,  3.582,  4.112,  9.516,  9.654,   9.87,  11.56,  37.94,  128.3,  472.9,   1840}},
  {IndexKernel::place,    4, 14,  0, { 3.716,  3.716,    4.9,  6.455,  6.835,  6.985,  12.89,  51.46,  183.2,  694.9,   2881}},
  {IndexKernel::place,    4, 15,  0, { 3.608,  3.608,  4.906,  10.14,  10.26,  10.63,  13.18,   59.6,  216.2,  834.2,   3433}},
  {IndexKernel::place,    8, 13,  0, { 3.812,  3.812,  5.544,  5.845,  5.845,  7.443,  25.55,  85.93,  315.9,   1224,      0}},
  {IndexKernel::place,    8, 14,  0, { 3.866,  3.896,  7.496,  8.941,  9.031,  9.378,  29.02,  101.2,  378.6,   1536,      0}},
  {IndexKernel::place,   16, 12,  0, { 4.348,  4.562,   5.07,  5.221,  5.483,  9.953,  43.38,  150.8,  573.7,   2341,      0}},
  {IndexKernel::place,   16, 13,  0, { 4.254,  4.552,  7.794,  7.977,  8.236,  10.34,  48.48,  175.5,  711.6,   2780,      0}},
  {IndexKernel::pick,     2, 15,  0, { 3.668,  3.762,   4.19,  9.003,  9.123,  9.702,  11.21,  38.23,  123.5,    443,   1855}},
  {IndexKernel::pick,     4, 14,  0, { 3.598,  3.598,  4.668,   6.19,   6.61,   6.61,  12.05,   50.7,    180,  690.2,   2947}},
  {IndexKernel::pick,     4, 15,  0, {  3.73,   3.73,  4.686,   9.27,   9.51,   9.75,     12,     59,  214.8,  852.8,   3446}},
  {IndexKernel::pick,     8, 13,  0, { 3.794,  3.794,  5.454,  5.524,  5.679,  7.416,  27.05,  85.82,  313.1,   1313,      0}},
  {IndexKernel::pick,     8, 14,  0, { 3.772,  3.888,  6.764,  8.176,  8.357,  8.676,  28.71,  101.1,  372.1,   1565,      0}},
  {IndexKernel::pick,    16, 12,  0, { 4.258,  4.412,  4.951,  5.174,  5.451,  10.52,  41.65,  150.8,  576.2,   2460,      0}},
  {IndexKernel::pick,    16, 13,  0, {  4.25,  4.446,  7.178,  7.378,  7.578,  10.33,  49.11,  176.3,  714.3,   2952,      0}},
  {IndexKernel::copy,     1,  0,  0, { 3.566,  3.566,  3.586,  3.586,  3.662,  3.662,   3.78,  6.968,  35.87,  130.1,  506.9}},
  {IndexKernel::copy,     2,  0,  0, { 3.602,  3.602,  3.602,  3.602,  3.602,  3.704,  4.426,  19.16,  69.57,  258.3,   1122}},
  {IndexKernel::copy,     4,  0,  0, { 3.812,  3.812,  3.812,  3.954,  3.954,  3.954,   7.02,  38.46,  131.8,    506,   2238}},
  {IndexKernel::copy,     8,  0,  0, { 3.736,  3.736,  4.184,  4.184,  4.184,   4.46,  19.59,  68.64,  259.9,   1012,      0}},
  {IndexKernel::copy,    16,  0,  0, { 3.962,  3.962,  3.962,  3.962,  3.962,  6.988,  38.14,  130.7,  506.2,   2009,      0}},
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
    for (std::size_t i = 0; i < kPoints; ++i) {
      if (row.microseconds.at(i) <= 0) continue;
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
