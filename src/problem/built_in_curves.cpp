// The curves that faro plans by where `faro tune` has not measured any: one table a machine.
//
//     microseconds for 2^10, 2^12, … 2^30 elements of so many bytes; runs and chunks as powers of two; where
//     a larger array took less, which is noise, its time stands for the smaller one too
#include "problem/built_in_curves.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>

#include "faro/problem/target.hpp"

namespace faro {
namespace {

using detail::CpuSizes;

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
  // kernel              width chunk run  2^10    2^12    2^14    2^16    2^18    2^20    2^22    2^24    2^26    2^28    2^30
  {IndexKernel::gather,    1,  0,  0, { 3.966,  3.966,  4.016,   4.02,  4.316,   9.48,  32.34,  121.3,   1041,   6590,  28982}},
  {IndexKernel::gather,    2,  0,  0, {  4.07,   4.07,   4.07,  4.372,  4.372,  9.728,  33.06,  155.7,   1472,   7194,  30103}},
  {IndexKernel::gather,    4,  0,  0, {  4.12,   4.12,  4.142,  4.194,  4.464,  9.964,  36.46,  282.5,   1710,   7494,  30652}},
  {IndexKernel::gather,    8,  0,  0, { 4.184,  4.184,  4.184,  4.256,   4.51,  10.37,  50.18,  396.4,   1862,   7731,  31218}},
  {IndexKernel::gather,   16,  0,  0, {  4.08,   4.08,   4.08,  4.134,  4.822,  12.54,  95.55,  482.4,   2030,   8234,      0}},
  {IndexKernel::scatter,   1,  0,  0, { 4.044,  4.044,  4.098,   4.39,    7.4,  17.55,  63.84,  227.8,   2953,  15936,  67084}},
  {IndexKernel::scatter,   2,  0,  0, { 4.098,  4.098,  4.104,   5.23,  6.668,  17.06,  63.39,    232,   3774,  16410,  68206}},
  {IndexKernel::scatter,   4,  0,  0, { 4.088,  4.092,  4.122,  4.322,   5.81,  20.54,  64.48,  788.7,   4033,  16930,  69104}},
  {IndexKernel::scatter,   8,  0,  0, { 4.188,  4.214,  4.214,  4.284,  5.674,  17.03,  71.52,  984.6,   4179,  17363,  70099}},
  {IndexKernel::scatter,  16,  0,  0, { 4.154,  4.154,  4.154,  4.174,  5.714,  17.54,  241.5,   1053,   4392,  17919,      0}},
  {IndexKernel::spread,    2, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  33.67,      0,      0,      0}},
  {IndexKernel::spread,    2, 15,  8, {     0,      0,      0,  8.724,  9.121,  9.121,  10.27,  31.63,  100.9,  385.4,   1550}},
  {IndexKernel::spread,    4, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  79.97,      0,      0,      0}},
  {IndexKernel::spread,    4, 14,  6, {     0,      0,      0,      0,      0,      0,  12.03,      0,      0,      0,   2718}},
  {IndexKernel::spread,    4, 14,  8, {     0,      0,      0,  3.612,  3.612,  6.094,  13.55,  45.23,  168.3,  659.2,   2865}},
  {IndexKernel::spread,    4, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  48.42,      0,      0,      0}},
  {IndexKernel::spread,    4, 15,  8, {     0,      0,      0,  13.46,  13.46,  13.46,  15.63,  49.22,    199,  847.4,   3465}},
  {IndexKernel::spread,    8, 13,  4, {     0,      0,      0,      0,      0,      0,  26.02,      0,      0,      0,   6190}},
  {IndexKernel::spread,    8, 13,  6, {     0,      0,      0,      0,      0,  6.181,      0,      0,  320.4,   1303,      0}},
  {IndexKernel::spread,    8, 13,  8, {     0,      0,  4.821,  5.124,  5.124,   6.05,  23.72,   81.1,  307.8,   1225,   5320}},
  {IndexKernel::spread,    8, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  105.4,      0,      0,      0}},
  {IndexKernel::spread,    8, 14,  6, {     0,      0,      0,      0,      0,      0,  20.78,      0,      0,      0,   6248}},
  {IndexKernel::spread,    8, 14,  8, {     0,      0,      0,  5.493,  5.493,  8.554,  22.55,   90.1,  359.3,   1494,   6291}},
  {IndexKernel::spread,   16, 12,  4, {     0,      0,      0,      0,      0,  10.13,  61.05,      0,      0,   2620,      0}},
  {IndexKernel::spread,   16, 12,  6, {     0,      0,      0,      0,  4.675,      0,      0,  154.8,  618.3,   2439,      0}},
  {IndexKernel::spread,   16, 12,  8, {     0,      0,  3.143,  3.143,  4.842,  11.05,  40.47,  151.8,  594.6,      0,      0}},
  {IndexKernel::spread,   16, 13,  4, {     0,      0,      0,      0,      0,      0,  44.09,      0,      0,      0,      0}},
  {IndexKernel::spread,   16, 13,  6, {     0,      0,      0,      0,      0,  9.143,      0,      0,  696.2,   2921,      0}},
  {IndexKernel::spread,   16, 13,  8, {     0,      0,  7.478,  7.651,  7.651,  11.74,  45.44,  176.1,  703.4,   2897,      0}},
  {IndexKernel::collect,   2, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  54.31,      0,      0,      0}},
  {IndexKernel::collect,   2, 15,  8, {     0,      0,      0,  27.52,  27.52,  27.52,  27.52,  54.33,  151.4,  496.4,   2006}},
  {IndexKernel::collect,   4, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  65.66,      0,      0,      0}},
  {IndexKernel::collect,   4, 14,  6, {     0,      0,      0,      0,      0,      0,  18.43,      0,      0,      0,   2679}},
  {IndexKernel::collect,   4, 14,  8, {     0,      0,      0,  3.523,  3.523,    5.5,  14.59,  46.06,    166,  648.6,   2810}},
  {IndexKernel::collect,   4, 15,  6, {     0,      0,      0,      0,      0,      0,      0,  50.08,      0,      0,      0}},
  {IndexKernel::collect,   4, 15,  8, {     0,      0,      0,  11.69,  11.69,  11.69,  15.91,  52.26,  196.1,  771.9,   3352}},
  {IndexKernel::collect,   8, 13,  4, {     0,      0,      0,      0,      0,      0,  28.13,      0,      0,      0,   5960}},
  {IndexKernel::collect,   8, 13,  6, {     0,      0,      0,      0,      0,  6.069,      0,      0,  308.1,   1229,      0}},
  {IndexKernel::collect,   8, 13,  8, {     0,      0,  4.613,  5.024,  5.024,  6.215,  24.29,  79.55,  303.1,   1181,   5211}},
  {IndexKernel::collect,   8, 14,  4, {     0,      0,      0,      0,      0,      0,      0,  105.5,      0,      0,      0}},
  {IndexKernel::collect,   8, 14,  6, {     0,      0,      0,      0,      0,      0,  25.31,      0,      0,      0,   5938}},
  {IndexKernel::collect,   8, 14,  8, {     0,      0,      0,   4.73,   4.73,   7.83,   23.9,  90.93,  345.9,   1344,   5673}},
  {IndexKernel::collect,  16, 12,  4, {     0,      0,      0,      0,      0,  15.67,  57.45,      0,      0,   2390,      0}},
  {IndexKernel::collect,  16, 12,  6, {     0,      0,      0,      0,  4.872,      0,      0,  152.1,    593,   2282,      0}},
  {IndexKernel::collect,  16, 12,  8, {     0,      0,  3.174,  3.174,  5.037,  11.85,  42.09,  151.9,  587.5,      0,      0}},
  {IndexKernel::collect,  16, 13,  4, {     0,      0,      0,      0,      0,      0,  53.87,      0,      0,      0,      0}},
  {IndexKernel::collect,  16, 13,  6, {     0,      0,      0,      0,      0,  12.93,      0,      0,  690.8,   2767,      0}},
  {IndexKernel::collect,  16, 13,  8, {     0,      0,   7.09,  7.372,  7.372,  13.34,  48.64,  175.3,  687.6,   2795,      0}},
  {IndexKernel::place,     2, 15,  0, {  4.14,   4.14,  4.546,  9.786,  9.786,  10.09,  11.89,  38.71,  127.6,    468,   1971}},
  {IndexKernel::place,     4, 14,  0, { 4.258,  4.258,  4.946,  6.528,  6.715,  7.045,  12.87,  50.46,  181.8,  693.4,   2962}},
  {IndexKernel::place,     4, 15,  0, { 4.166,   4.21,   4.94,  10.21,  10.29,  10.72,  13.16,     63,  221.4,  891.4,   3703}},
  {IndexKernel::place,     8, 13,  0, { 4.356,    4.9,  5.555,  5.677,  5.852,  7.515,  24.76,  86.04,  312.3,   1218,   5243}},
  {IndexKernel::place,     8, 14,  0, { 4.332,  4.332,  7.464,   8.96,  9.104,   9.41,  29.84,  101.6,  385.4,   1594,   6390}},
  {IndexKernel::place,    16, 12,  0, { 4.266,   4.62,  5.132,  5.234,  5.593,  9.992,   44.1,  151.8,  576.7,   2264,      0}},
  {IndexKernel::place,    16, 13,  0, { 4.282,   4.61,  7.858,  7.964,  8.262,  10.34,  51.24,  179.8,  724.3,   2957,      0}},
  {IndexKernel::pick,      2, 15,  0, { 4.142,  4.216,  5.376,  9.576,  9.576,  9.882,  11.25,  38.71,  122.8,  438.3,   1829}},
  {IndexKernel::pick,      4, 14,  0, { 4.322,  4.322,  4.738,   6.24,   6.35,  6.627,  12.02,  50.44,  178.7,  681.6,   2914}},
  {IndexKernel::pick,      4, 15,  0, { 4.198,  4.304,  4.724,   9.39,    9.6,   9.88,  11.97,  61.76,  219.3,  847.9,   3513}},
  {IndexKernel::pick,      8, 13,  0, {  4.31,  4.526,  5.443,  5.551,   5.72,  7.371,  26.05,  84.31,  307.9,   1249,   5160}},
  {IndexKernel::pick,      8, 14,  0, { 4.346,  4.648,  6.752,  8.208,  8.411,  8.734,  29.41,  100.5,  375.8,   1544,   6249}},
  {IndexKernel::pick,     16, 12,  0, { 4.272,    4.5,  4.992,  5.174,  5.544,   9.66,  41.75,  150.6,  572.4,   2447,      0}},
  {IndexKernel::pick,     16, 13,  0, { 4.252,  4.496,  7.246,  7.429,  7.612,  10.06,  49.23,  179.6,  717.4,   2889,      0}},
  {IndexKernel::copy,      1,  0,  0, { 3.976,  3.976,  3.976,  3.976,  3.976,  4.142,  5.194,  7.124,  36.42,  131.6,  565.8}},
  {IndexKernel::copy,      2,  0,  0, { 4.188,  4.188,   4.22,   4.24,   4.24,  4.296,  4.496,  19.68,  68.93,    260,   1120}},
  {IndexKernel::copy,      4,  0,  0, {  4.29,   4.29,   4.29,  4.312,  4.312,  4.628,  6.944,  36.45,  131.5,  507.6,   2249}},
  {IndexKernel::copy,      8,  0,  0, { 4.266,  4.266,  4.266,  4.278,  4.278,  4.498,  19.25,  68.77,    259,   1013,   4475}},
  {IndexKernel::copy,     16,  0,  0, { 4.176,  4.176,  4.176,   4.21,  4.292,  6.916,  36.18,  132.1,  508.4,   2016,      0}},
  {IndexKernel::schedule,  4, 12,  0, {    36,   41.9,  64.84,  65.66,  101.9,  194.2,  370.2,    940,   2602,   7684,      0}},
  {IndexKernel::schedule,  4, 13,  0, { 33.24,  41.32,  64.66,  64.66,  105.8,  192.4,  230.4,  612.2,   1692,   4915,  20135}},
  {IndexKernel::schedule,  4, 14,  0, {  39.7,   39.7,  48.65,  79.37,  141.7,  186.7,  296.3,  593.7,   1352,   4230,  15364}},
  {IndexKernel::schedule,  4, 15,  0, { 40.17,  41.12,  42.51,  98.53,  122.7,  291.5,  291.5,  443.4,   1316,   4390,  17595}},
  {IndexKernel::check,     4,  0,  0, { 49.81,  49.81,  58.15,  62.44,  62.44,  238.6,  307.1,  503.4,   1147,   4025,  51502}},
};

constexpr Row kTwoCores[] = {
  // kernel             width chunk run   2^10 2^12 2^14 2^16 2^18 2^20  2^22   2^24    2^26     2^28     2^30
  {IndexKernel::copy,    4,    0,    0, { 0.2, 0.4,   1,   6,  30,  150,  800,  3440,  10000,   40000,  160000}},
  {IndexKernel::gather,  4,    0,    0, { 0.6, 2.0,   7,  25, 130,  600, 4700, 39800, 190000,  845000, 3640000}},
  {IndexKernel::scatter, 4,    0,    0, { 0.6, 2.0,   7,  25, 140,  700, 8000, 72000, 335000, 1500000, 6500000}},
  {IndexKernel::spread,  4,   14,    8, { 4.0, 5.0,  12,  35, 120,  470, 1900,  7700,  28000,  112000,  450000}},
  {IndexKernel::spread,  4,   14,    6, { 4.0, 6.0,  16,  60, 230,  920, 3700, 15100,  60000,  240000,  960000}},
  {IndexKernel::spread,  4,   14,    4, { 4.0, 7.0,  20,  70, 280, 1100, 4400, 17900,  75000,  300000, 1200000}},
  {IndexKernel::spread,  4,   14,    2, { 4.0, 9.0,  35, 130, 530, 2100, 8500, 34000, 141000,  560000, 2250000}},
  {IndexKernel::spread,  4,   15,    8, { 4.0, 5.0,  12,  35, 125,  490, 1950,  7900,  29500,  118000,  470000}},
  {IndexKernel::spread,  4,   15,    6, { 4.0, 6.0,  16,  60, 230,  920, 3700, 15100,  60000,  240000,  960000}},
  {IndexKernel::spread,  4,   15,    4, { 4.0, 7.0,  20,  70, 290, 1150, 4600, 18500,  80000,  320000, 1280000}},
  {IndexKernel::place,   4,   14,    0, { 2.0, 3.5,   9,  30, 115,  450, 1850,  7500,  27000,  108000,  430000}},
  {IndexKernel::schedule, 4,  14,    0, {  10,  30,  90, 350,1300, 5000,20000, 70000, 450000, 2000000, 8500000}},
};
// An Intel Xeon with AVX-512, two cores of a virtual machine, 29 November 2026: copies, and the prices of axes
// as cpu::tune_axes() found them.
constexpr Row kXeonCopies[] = {
  // kernel            width chunk run   2^10 2^12 2^14 2^16 2^18 2^20  2^22   2^24     2^26     2^28     2^30
  {IndexKernel::copy,  16,    0,    0, {0.11, 1.2, 4.7,  33, 176,  594, 3458,  11560,   49900,       0,       0}},
};
const PriceFactor kXeonAxes[] = {
  {"groups", "ns read_beyond", 0.903}, {"groups", "ns written_beyond", 1.38}, {"groups", "ns reads", 1.49},
  {"groups", "ns parts", 1.69}, {"groups", "ns groups", 1.78}, {"groups", "ns squares", 2.54},
  {"groups", "ns blocks_1", 2.35}, {"groups", "ns blocks_2", 1.37}, {"groups", "ns blocks_4", 1.47},
  {"groups", "ns blocks_8", 0.88}, {"groups", "ns blocks_16", 0.524}, {"groups", "ns small_squares", 1.28},
  {"groups", "ns box_in_sets", 2.48}, {"groups", "ns box_in_full_sets", 3.7}, {"groups", "ns spilled", 4.65},
  {"groups", "lines lines_held", 0.94}, {"groups", "lines gap_lines", 1.31}, {"groups", "lines paged_rows", 0.844},
  {"groups", "lines paged_columns", 1.28},
  {"long elements", "ns lines", 0.598}, {"long elements", "ns reads", 0.703}, {"long elements", "ns writes", 0.693},
  {"long elements", "ns placed", 0.701}, {"long elements", "ns odd_lines", 0.705},
  {"long elements", "ns box_in_sets", 0.702}, {"long elements", "ns far_in", 0.702},
  {"long elements", "lines lines_written", 0.819},
  {"one by one", "ns placed", 0.945}, {"one by one", "lines lines", 1.05}, {"one by one", "lines lines_held", 1},
  {"one by one", "lines written_beyond", 1}, {"one by one", "lines gap_lines", 0.836},
  {"pieces", "ns placed", 0.702}, {"pieces", "lines lines", 1.02}, {"pieces", "lines lines_held", 1.01},
  {"pieces", "lines gap_lines", 1.02},
  {"planes", "ns reads", 8.27}, {"planes", "ns paged_writes", 2.14}, {"planes", "ns parts", 2.43},
  {"planes", "ns groups", 1.07}, {"planes", "ns squares", 2}, {"planes", "ns blocks_1", 2.51},
  {"planes", "ns blocks_2", 1.69}, {"planes", "ns blocks_4", 1.67}, {"planes", "ns blocks_8", 1.95},
  {"planes", "ns blocks_16", 1.6}, {"planes", "ns small_squares", 1.27}, {"planes", "ns single", 1.67},
  {"planes", "ns columns_in_sets", 1.54}, {"planes", "ns columns_in_full_sets", 1.67},
  {"planes", "ns box_in_sets", 1.56}, {"planes", "ns far_in", 1.32}, {"planes", "ns far_out", 2.25},
  {"planes", "lines lines_held", 0.602}, {"planes", "lines lines_written", 1.71},
  {"short elements", "ns lines", 0.527}, {"short elements", "ns reads", 0.652},
  {"short elements", "ns writes", 0.255}, {"short elements", "ns placed", 1.19},
  {"short elements", "ns stepped", 1.42}, {"short elements", "ns odd_placed", 0.546},
  {"short elements", "ns box_in_sets", 1.01}, {"short elements", "ns far_in", 1.21},
  {"short elements", "lines lines_held", 1.63}, {"short elements", "lines lines_written", 0.484},
  {"streamed long elements", "ns lines", 0.933}, {"streamed long elements", "ns reads", 0.948},
  {"streamed long elements", "ns writes", 0.936}, {"streamed long elements", "ns paged_writes", 0.947},
  {"streamed long elements", "ns spread_parts", 0.95}, {"streamed long elements", "ns placed", 0.928},
  {"streamed long elements", "ns odd_lines", 0.949}, {"streamed long elements", "ns spilled", 0.95},
  {"streamed long elements", "lines lines", 1.04}, {"streamed long elements", "lines lines_held", 0.908},
  {"streamed long elements", "lines written_beyond", 4.79}, {"streamed long elements", "lines gap_lines", 1.74},
  {"streamed short elements", "ns lines", 2.5}, {"streamed short elements", "ns read_beyond", 1.88},
  {"streamed short elements", "ns reads", 1.21}, {"streamed short elements", "ns far_reads", 1.22},
  {"streamed short elements", "ns writes", 1.13}, {"streamed short elements", "ns parts", 1.3},
  {"streamed short elements", "ns far_parts", 5.73}, {"streamed short elements", "ns spread_parts", 1.19},
  {"streamed short elements", "ns placed", 0.793}, {"streamed short elements", "ns stepped", 1.3},
  {"streamed short elements", "ns odd_placed", 0.777}, {"streamed short elements", "ns box_in_sets", 1.09},
  {"streamed short elements", "ns box_in_full_sets", 0.77}, {"streamed short elements", "lines lines", 0.837},
  {"streamed short elements", "lines lines_held", 0.86}, {"streamed short elements", "lines gap_lines", 0.886},
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

const IndexCalibration& zen4_curves() {
  static const IndexCalibration made = [] {
    IndexCalibration curves = make("an AMD EPYC (Zen 4), 2 cores, built in", kTwoCores);
    detail::add_built_in_tiles(curves, detail::BuiltInCpu::zen4);
    return curves;
  }();
  return made;
}

const IndexCalibration& xeon_curves() {
  static const IndexCalibration made = [] {
    IndexCalibration curves = make(
        "an Intel Xeon (caches of 48 KiB, 2 MiB and 480 MiB), 2 cores, index arrays as on a Zen 4, built in",
        kXeonCopies);
    for (const IndexCurve& each : zen4_curves().curves) {
      if (each.kernel < IndexKernel::tile && each.kernel != IndexKernel::copy) curves.curves.push_back(each);
    }
    curves.axes.assign(std::begin(kXeonAxes), std::end(kXeonAxes));
    detail::add_built_in_tiles(curves, detail::BuiltInCpu::xeon);
    return curves;
  }();
  return made;
}

struct BuiltInMachine {
  CpuSizes sizes;
  const IndexCalibration& (*curves)();
};
constexpr std::uint64_t kKib = 1024;
constexpr std::array kMachines{BuiltInMachine{.sizes = {.lines_in_registers = true,
                                                        .first_level_bytes = 32 * kKib,
                                                        .second_level_bytes = 1024 * kKib,
                                                        .last_level_bytes = 1024 * kKib * 32},
                                              .curves = zen4_curves},
                               BuiltInMachine{.sizes = {.lines_in_registers = true,
                                                        .first_level_bytes = 48 * kKib,
                                                        .second_level_bytes = 2048 * kKib,
                                                        .last_level_bytes = 1024 * kKib * 480},
                                              .curves = xeon_curves}};

// Doublings, all caches together; registers of another width are further off than any cache.
double distance(const CpuSizes& a, const CpuSizes& b) {
  constexpr double kOtherRegisters = 1000;
  double doublings = a.lines_in_registers == b.lines_in_registers ? 0 : kOtherRegisters;
  for (const auto level :
       {&CpuSizes::first_level_bytes, &CpuSizes::second_level_bytes, &CpuSizes::last_level_bytes}) {
    if (a.*level == 0 || b.*level == 0) continue;
    doublings += std::fabs(std::log2(static_cast<double>(a.*level) / static_cast<double>(b.*level)));
  }
  return doublings;
}

}  // namespace

const IndexCalibration& built_in_gpu_calibration() {
  static const IndexCalibration made = make("an NVIDIA H200, built in", kH200);
  return made;
}

const IndexCalibration& built_in_cpu_calibration() { return zen4_curves(); }

namespace detail {

const IndexCalibration& built_in_near(const CpuSizes& sizes) {
  const BuiltInMachine* nearest = kMachines.begin();
  for (const BuiltInMachine& each : kMachines) {
    if (distance(each.sizes, sizes) < distance(nearest->sizes, sizes)) nearest = &each;
  }
  return nearest->curves();
}

}  // namespace detail
}  // namespace faro
