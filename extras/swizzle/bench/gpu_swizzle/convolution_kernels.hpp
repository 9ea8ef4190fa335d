// Convolutions of an image without its border: out(x, y) = sum of w[ky][kx] in(x + kx, y + ky).
//
//     direct   a thread an output, every tap from the first-level cache
//     shared   a block 128 x 32 outputs, its input in shared memory; a thread 4 columns of 8 rows
//     tiles    what `faro synth conv-2d` finds: a warp 8 columns x 4 rows of outputs, going down the image
//     lines    what `faro synth conv-1d` finds, of four columns a lane: a warp 128 columns, going down
//
// tiles: lane (col, row) keeps every 8th column and every 4th row of the input. For tap (ky, kx) all lanes
// shuffle once; the sender chooses the register:
//
//     lane 8 ((row + ky) mod 4) + (col + kx) mod 8     register row 0 where ky <= row, 1 where ky <= row + 4,
//                                                       else 2; column 0 where kx <= col, else 1
//
// lines: of an input row, lane t has columns 4 t .. 4 t + 3, and the first lanes the 4 (or 8) that come after
// the warp's 128. What it needs of the lanes after it, lane (t + k) mod 32 sends: its own where k <= t, else
// what it has for the end. A row goes into the sums of all output rows it belongs to, so that each value is
// shuffled once for all of them: K - 1 shuffles for 128 outputs.
#pragma once

#include <cstdint>

namespace faro::bench::gpu {

/// Rows begin at multiples of 128 bytes: `pitch` is a multiple of 32 elements, at least `width`.
struct Picture {
  const float* in = nullptr;
  float* out = nullptr;
  int width = 0, height = 0, pitch = 0;
};

template <int taps>
struct Weights {
  float of[taps][taps];
};

inline constexpr int kConvolutionThreads = 128;  // of a block
inline constexpr int kWarpLanes = 32;
inline constexpr int kColumnsOfLane = 4;
inline constexpr int kColumnsOfLine = kWarpLanes * kColumnsOfLane;
inline constexpr int kTileColumns = 8, kTileRows = 4;  // of a warp in `tiles`
inline constexpr int kSharedRowsOfThread = 8;
inline constexpr int kSharedRows = kSharedRowsOfThread * kConvolutionThreads / kWarpLanes;

struct Four {
  float of[kColumnsOfLane];
};

/// A block's place among `across` blocks a row of blocks.
struct BlockPlace {
  int x, y;
};
__device__ __forceinline__ BlockPlace block_place(int across) {
  const int block = static_cast<int>(blockIdx.x);
  return {block % across, block / across};
}

/// Zeros outside the image, four whole columns at a time: a row's end is filled up to its pitch.
__device__ __forceinline__ Four load_four(const Picture& p, int x, int y) {
  Four four = {};
  if (x < p.width && y < p.height) {
    const float4 value = *reinterpret_cast<const float4*>(p.in + static_cast<std::int64_t>(y) * p.pitch + x);
    four = {{value.x, value.y, value.z, value.w}};
  }
  return four;
}

__device__ __forceinline__ void store_four(const Picture& p, int x, int y, int out_width, const Four& four) {
  float* const to = p.out + static_cast<std::int64_t>(y) * p.pitch + x;
  if (x + kColumnsOfLane <= out_width) {
    *reinterpret_cast<float4*>(to) = make_float4(four.of[0], four.of[1], four.of[2], four.of[3]);
    return;
  }
#pragma unroll
  for (int m = 0; m < kColumnsOfLane; ++m)
    if (x + m < out_width) to[m] = four.of[m];
}

template <int taps>
__global__ void __launch_bounds__(kConvolutionThreads)
    convolve_direct(Picture p, Weights<taps> weights, int across, int /*rows*/) {
  const BlockPlace at = block_place(across);
  const int x = at.x * kWarpLanes + static_cast<int>(threadIdx.x) % kWarpLanes;
  const int y = at.y * (kConvolutionThreads / kWarpLanes) + static_cast<int>(threadIdx.x) / kWarpLanes;
  if (x > p.width - taps || y > p.height - taps) return;
  float sum = 0;
#pragma unroll
  for (int ky = 0; ky < taps; ++ky) {
#pragma unroll
    for (int kx = 0; kx < taps; ++kx)
      sum += weights.of[ky][kx] * p.in[static_cast<std::int64_t>(y + ky) * p.pitch + x + kx];
  }
  p.out[static_cast<std::int64_t>(y) * p.pitch + x] = sum;
}

template <int taps>
__global__ void __launch_bounds__(kConvolutionThreads)
    convolve_shared(Picture p, Weights<taps> weights, int across, int /*rows*/) {
  constexpr int fours = (kColumnsOfLine + taps - 1 + kColumnsOfLane - 1) / kColumnsOfLane;  // of a tile's row
  constexpr int rows = kSharedRows + taps - 1;
  constexpr int read = (kColumnsOfLane + taps - 1 + kColumnsOfLane - 1) / kColumnsOfLane;  // a thread and row
  __shared__ float4 tile[rows * fours];
  const BlockPlace at = block_place(across);
  const int x0 = at.x * kColumnsOfLine, y0 = at.y * kSharedRows;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < (rows * fours + kConvolutionThreads - 1) / kConvolutionThreads; ++i) {
    const int k = i * kConvolutionThreads + thread;
    if (k < rows * fours) {
      const Four four = load_four(p, x0 + kColumnsOfLane * (k % fours), y0 + k / fours);
      tile[k] = make_float4(four.of[0], four.of[1], four.of[2], four.of[3]);
    }
  }
  __syncthreads();
  const int t = thread % kWarpLanes, first = thread / kWarpLanes * kSharedRowsOfThread;
  Four sum[kSharedRowsOfThread] = {};
#pragma unroll
  for (int r = 0; r < kSharedRowsOfThread + taps - 1; ++r) {
    float v[read * kColumnsOfLane];
#pragma unroll
    for (int i = 0; i < read; ++i) {
      const float4 value = tile[(first + r) * fours + t + i];
      v[4 * i] = value.x;
      v[4 * i + 1] = value.y;
      v[4 * i + 2] = value.z;
      v[4 * i + 3] = value.w;
    }
#pragma unroll
    for (int ky = 0; ky < taps; ++ky) {
      const int o = r - ky;
      if (o < 0 || o >= kSharedRowsOfThread) continue;
#pragma unroll
      for (int kx = 0; kx < taps; ++kx) {
#pragma unroll
        for (int m = 0; m < kColumnsOfLane; ++m) sum[o].of[m] += weights.of[ky][kx] * v[m + kx];
      }
    }
  }
#pragma unroll
  for (int o = 0; o < kSharedRowsOfThread; ++o) {
    const int y = y0 + first + o;
    if (y <= p.height - taps) store_four(p, x0 + kColumnsOfLane * t, y, p.width - taps + 1, sum[o]);
  }
}

/// `rows` of outputs a warp, a multiple of kTileRows.
template <int taps>
__global__ void __launch_bounds__(kConvolutionThreads)
    convolve_tiles(Picture p, Weights<taps> weights, int across, int rows) {
  constexpr int down = (kTileRows + taps - 1 + kTileRows - 1) / kTileRows;
  static_assert((kTileColumns + taps - 1 + kTileColumns - 1) / kTileColumns == 2 && (down == 2 || down == 3));
  const BlockPlace at = block_place(across);
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int strip = at.x * (kConvolutionThreads / kWarpLanes) + static_cast<int>(threadIdx.x) / kWarpLanes;
  const int col = lane % kTileColumns, row = lane / kTileColumns;
  const int x = strip * kTileColumns + col, y0 = at.y * rows;
  if (strip * kTileColumns > p.width - taps) return;  // the whole warp
  const int end = y0 + rows < p.height - taps + 1 ? y0 + rows : p.height - taps + 1;
  float rc[down][2];
  const auto load = [&](int y, float* to) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int from = x + kTileColumns * i;
      to[i] = from < p.width && y < p.height ? p.in[static_cast<std::int64_t>(y) * p.pitch + from] : 0;
    }
  };
#pragma unroll
  for (int j = 0; j < down; ++j) load(y0 + kTileRows * j + row, rc[j]);
  for (int y = y0; y < end; y += kTileRows) {
    float next[2];
    load(y + kTileRows * down + row, next);
    float sum = 0;
#pragma unroll
    for (int ky = 0; ky < taps; ++ky) {
      float of_row[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float below = down == 2 || ky <= row + kTileRows ? rc[1][i] : rc[down - 1][i];
        of_row[i] = ky <= row ? rc[0][i] : below;
      }
#pragma unroll
      for (int kx = 0; kx < taps; ++kx) {
        const int from = kTileColumns * ((row + ky) % kTileRows) + (col + kx) % kTileColumns;
        const float value = __shfl_sync(0xffffffffU, kx <= col ? of_row[0] : of_row[1], from, kWarpLanes);
        sum += weights.of[ky][kx] * value;
      }
    }
    if (x <= p.width - taps && y + row < end) p.out[static_cast<std::int64_t>(y + row) * p.pitch + x] = sum;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j + 1 < down; ++j) rc[j][i] = rc[j + 1][i];
      rc[down - 1][i] = next[i];
    }
  }
}

/// `rows` of outputs a warp, best taps k + 1: it then has taps (k + 1) rows of inputs.
template <int taps>
__global__ void __launch_bounds__(kConvolutionThreads)
    convolve_lines(Picture p, Weights<taps> weights, int across, int rows) {
  constexpr int more = taps - 1;  // values of the lanes after it
  constexpr int ends = (more + kColumnsOfLane - 1) / kColumnsOfLane;
  struct Line {
    Four own, end;
  };
  const BlockPlace at = block_place(across);
  const int t = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int strip = at.x * (kConvolutionThreads / kWarpLanes) + static_cast<int>(threadIdx.x) / kWarpLanes;
  const int out_width = p.width - taps + 1;
  const int x = strip * kColumnsOfLine + kColumnsOfLane * t, y0 = at.y * rows;
  if (strip * kColumnsOfLine >= out_width) return;  // the whole warp
  const int end = y0 + rows < p.height - taps + 1 ? y0 + rows : p.height - taps + 1;
  const auto load = [&](int y) {
    Line line = {};
    if (y >= end + taps - 1) return line;
    line.own = load_four(p, x, y);
    if (t < ends) line.end = load_four(p, x + kColumnsOfLine, y);
    return line;
  };
  Four sum[taps] = {};  // of output row o: sum[(o - y0) mod taps]
  Line now = load(y0), next = load(y0 + 1);
  for (int y = y0; y < end + taps - 1; y += taps) {
#pragma unroll
    for (int u = 0; u < taps; ++u) {
      const Line after = load(y + u + 2);
      float v[kColumnsOfLane + more];
#pragma unroll
      for (int m = 0; m < kColumnsOfLane; ++m) v[m] = now.own.of[m];
#pragma unroll
      for (int c = 0; c < more; ++c) {
        const int k = c / kColumnsOfLane + 1, m = c % kColumnsOfLane;
        const float sent = k <= t ? now.own.of[m] : now.end.of[m];
        v[kColumnsOfLane + c] = __shfl_sync(0xffffffffU, sent, (t + k) % kWarpLanes, kWarpLanes);
      }
#pragma unroll
      for (int ky = 0; ky < taps; ++ky) {
        Four& into = sum[(u - ky + taps) % taps];
#pragma unroll
        for (int kx = 0; kx < taps; ++kx) {
#pragma unroll
          for (int m = 0; m < kColumnsOfLane; ++m) into.of[m] += weights.of[ky][kx] * v[m + kx];
        }
      }
      Four& done = sum[(u + 1) % taps];
      const int o = y + u - more;
      if (o >= y0 && o < end && x < out_width) store_four(p, x, o, out_width, done);
      done = {};
      now = next;
      next = after;
    }
  }
}

}  // namespace faro::bench::gpu
