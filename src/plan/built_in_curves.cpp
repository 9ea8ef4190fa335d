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
  {IndexKernel::gather,   1,  0,  0, { 3.972,  3.972,  3.972,  3.972,  4.396,   9.92,  32.13,    121,   1042,   6588,  28959}},
  {IndexKernel::gather,   2,  0,  0, {  3.83,   3.83,  3.872,  3.994,  4.474,  10.31,  33.65,    156,   1472,   7190,  30082}},
  {IndexKernel::gather,   4,  0,  0, { 3.928,  3.928,  3.928,  3.928,  4.402,  10.54,   36.3,  283.4,   1714,   7497,  30619}},
  {IndexKernel::gather,   8,  0,  0, { 3.822,  3.874,  3.962,  4.098,  4.692,   11.3,  50.82,  396.8,   1864,   7732,      0}},
  {IndexKernel::gather,  16,  0,  0, { 3.886,  4.048,  4.158,  5.002,   5.01,  12.85,  98.02,  479.8,   2029,   8230,      0}},
  {IndexKernel::spread,   2, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  34.23,      0,      0,      0}},
  {IndexKernel::spread,   2, 15,  8, {     0,      0,      0,  8.762,  9.224,  9.224,  10.27,  31.63,  101.4,  388.8,   1627}},
  {IndexKernel::spread,   4, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  80.53,      0,      0,      0}},
  {IndexKernel::spread,   4, 14,  6, {     0,      0,      0,      0,      0,      0,  11.92,      0,      0,      0,   2821}},
  {IndexKernel::spread,   4, 14,  8, {     0,      0,      0,  3.656,  3.656,  6.164,  13.53,  45.87,  167.1,  658.9,   2934}},
  {IndexKernel::spread,   4, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  50.44,      0,      0,      0}},
  {IndexKernel::spread,   4, 15,  8, {     0,      0,      0,   13.2,   13.2,   13.2,  15.63,   50.2,  210.5,  845.2,   3424}},
  {IndexKernel::spread,   8, 13,  4, {     0,      0,      0,      0,      0,      0,  25.43,      0,      0,      0,      0}},
  {IndexKernel::spread,   8, 13,  6, {     0,      0,      0,      0,      0,   6.22,      0,      0,  319.8,   1305,      0}},
  {IndexKernel::spread,   8, 13,  8, {     0,      0,  4.936,  5.545,  5.545,  6.457,  23.57,  81.49,  308.3,   1228,      0}},
  {IndexKernel::spread,   8, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  107.5,      0,      0,      0}},
  {IndexKernel::spread,   8, 14,  6, {     0,      0,      0,      0,      0,      0,  21.04,      0,      0,      0,      0}},
  {IndexKernel::spread,   8, 14,  8, {     0,      0,      0,   5.57,   5.57,  8.631,  22.56,  91.84,  371.5,   1525,      0}},
  {IndexKernel::spread,  16, 12,  4, {     0,      0,      0,      0,      0,  10.41,  61.62,      0,      0,   2595,      0}},
  {IndexKernel::spread,  16, 12,  6, {     0,      0,      0,      0,   4.79,      0,      0,  156.1,  618.6,   2417,      0}},
  {IndexKernel::spread,  16, 12,  8, {     0,      0,  3.344,  3.344,  5.076,  11.42,  41.15,  152.4,  595.3,      0,      0}},
  {IndexKernel::spread,  16, 13,  4, {     0,      0,      0,      0,      0,      0,  45.21,      0,      0,      0,      0}},
  {IndexKernel::spread,  16, 13,  6, {     0,      0,      0,      0,      0,  9.378,      0,      0,  720.7,   2996,      0}},
  {IndexKernel::spread,  16, 13,  8, {     0,      0,  7.563,  7.905,  7.905,  12.82,  45.96,    177,  731.8,   2987,      0}},
  {IndexKernel::collect,  2, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  54.01,      0,      0,      0}},
  {IndexKernel::collect,  2, 15,  8, {     0,      0,      0,  27.33,  27.33,  27.33,  27.33,  54.61,  151.3,  497.1,   1931}},
  {IndexKernel::collect,  4, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  66.06,      0,      0,      0}},
  {IndexKernel::collect,  4, 14,  6, {     0,      0,      0,      0,      0,      0,  18.06,      0,      0,      0,   2691}},
  {IndexKernel::collect,  4, 14,  8, {     0,      0,      0,  3.601,  3.601,  5.574,  14.56,  45.86,  166.3,    648,   2809}},
  {IndexKernel::collect,  4, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  51.26,      0,      0,      0}},
  {IndexKernel::collect,  4, 15,  8, {     0,      0,      0,  10.98,  10.98,  10.98,  16.02,  53.26,  196.2,  767.2,   3340}},
  {IndexKernel::collect,  8, 13,  4, {     0,      0,      0,      0,      0,      0,  28.74,      0,      0,      0,      0}},
  {IndexKernel::collect,  8, 13,  6, {     0,      0,      0,      0,      0,  6.189,      0,      0,  309.2,   1240,      0}},
  {IndexKernel::collect,  8, 13,  8, {     0,      0,  4.737,  5.135,  5.135,  6.412,  24.68,  79.45,  304.1,   1187,      0}},
  {IndexKernel::collect,  8, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  104.5,      0,      0,      0}},
  {IndexKernel::collect,  8, 14,  6, {     0,      0,      0,      0,      0,      0,   25.6,      0,      0,      0,      0}},
  {IndexKernel::collect,  8, 14,  8, {     0,      0,      0,  5.161,  5.161,  8.068,  23.89,  90.63,  344.4,   1347,      0}},
  {IndexKernel::collect, 16, 12,  4, {     0,      0,      0,      0,      0,  15.98,  58.37,      0,      0,   2392,      0}},
  {IndexKernel::collect, 16, 12,  6, {     0,      0,      0,      0,   4.87,      0,      0,  151.6,  594.4,   2333,      0}},
  {IndexKernel::collect, 16, 12,  8, {     0,      0,  3.276,  3.276,  5.034,  11.99,  42.49,  151.4,  588.9,      0,      0}},
  {IndexKernel::collect, 16, 13,  4, {     0,      0,      0,      0,      0,      0,  52.13,      0,      0,      0,      0}},
  {IndexKernel::collect, 16, 13,  6, {     0,      0,      0,      0,      0,  12.62,      0,      0,  680.3,   2785,      0}},
  {IndexKernel::collect, 16, 13,  8, {     0,      0,  7.112,  7.481,  7.481,  13.37,  48.46,  180.2,    682,   2757,      0}},
  {IndexKernel::place,    2, 15,  0, { 3.936,  3.936,  4.254,  9.846,   9.99,   10.1,  12.11,  38.18,  127.4,  467.4,   1821}},
  {IndexKernel::place,    4, 14,  0, {  4.56,  4.602,  5.166,  6.635,  6.862,   7.14,  13.02,  51.76,  183.2,  695.4,   2761}},
  {IndexKernel::place,    4, 15,  0, { 4.478,   4.59,  5.112,  10.31,  10.52,  10.56,  13.66,  61.02,  225.2,  912.5,   3763}},
  {IndexKernel::place,    8, 13,  0, { 3.854,   3.97,  5.688,  5.839,  5.942,  7.636,  25.32,  85.93,  313.7,   1220,      0}},
  {IndexKernel::place,    8, 14,  0, { 3.804,  4.086,  7.616,  9.157,  9.225,  9.468,  30.06,  104.4,  405.5,   1623,      0}},
  {IndexKernel::place,   16, 12,  0, { 4.014,  4.696,  5.293,  5.529,   5.67,  10.29,  44.81,  150.9,  574.9,   2313,      0}},
  {IndexKernel::place,   16, 13,  0, { 4.114,  4.698,  8.037,  8.254,  8.254,   10.7,   52.8,  182.8,  737.3,   2950,      0}},
  {IndexKernel::pick,     2, 15,  0, {  3.87,  3.946,  4.292,    9.6,  9.852,  10.03,   11.6,  38.76,  122.6,  440.4,   1829}},
  {IndexKernel::pick,     4, 14,  0, { 4.564,  4.616,  4.998,  6.448,  6.492,  6.815,  12.05,  51.28,  179.5,  681.9,   2915}},
  {IndexKernel::pick,     4, 15,  0, { 4.492,   4.54,  4.778,  9.415,   9.64,   9.79,  12.43,  59.88,  220.7,  866.1,   3515}},
  {IndexKernel::pick,     8, 13,  0, {  3.95,  4.098,  5.587,  5.706,  5.803,  7.771,  26.21,  84.64,  308.7,   1233,      0}},
  {IndexKernel::pick,     8, 14,  0, { 3.826,   4.13,  6.868,  8.397,  8.532,  8.852,  29.95,    102,    384,   1549,      0}},
  {IndexKernel::pick,    16, 12,  0, { 4.116,  4.524,  5.168,  5.508,  5.746,  9.987,  42.98,  149.6,  570.2,   2438,      0}},
  {IndexKernel::pick,    16, 13,  0, { 4.138,  4.522,  7.416,  7.688,  7.812,  10.54,   52.8,  180.2,  730.2,   2892,      0}},
  {IndexKernel::copy,     1,  0,  0, { 3.946,  3.946,  3.946,  3.946,  3.946,  4.092,  4.156,  7.212,  37.54,  131.8,  509.1}},
  {IndexKernel::copy,     2,  0,  0, {  4.02,   4.02,  4.064,   4.09,   4.09,  4.136,  4.586,  19.66,  68.83,  259.6,   1120}},
  {IndexKernel::copy,     4,  0,  0, { 3.916,  3.916,  3.916,  3.916,  3.968,  4.096,  7.216,  39.42,  132.1,  509.2,   2241}},
  {IndexKernel::copy,     8,  0,  0, { 3.922,  4.008,  4.118,  4.136,  4.176,  4.578,  19.68,  69.12,  259.9,   1014,      0}},
  {IndexKernel::copy,    16,  0,  0, { 4.026,  4.028,  4.028,  4.028,  4.028,   7.24,  39.14,  130.5,  511.7,   2005,      0}},
  {IndexKernel::schedule, 4, 12,  0, {     0,      0,      0,      0,      0,      0,      0,      0,      0,   7940,      0}},
  {IndexKernel::schedule, 4, 13,  0, {     0,      0,      0,      0,      0,      0,      0,    570,   1630,   5250,  18760}},
  {IndexKernel::schedule, 4, 14,  0, {   150,    150,    150,    150,    150,    240,    240,    380,   1290,   4100,  16360}},
  {IndexKernel::schedule, 4, 15,  0, {     0,      0,      0,      0,      0,      0,    230,    380,   1290,   4140,  15800}},
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
