// The device's side of gpu_swizzle_bench. Host-only C++.
//
// Pixels and weights are small whole numbers, so that every order of summing is exact and outputs are
// compared bit for bit.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

enum class ConvolutionWay { direct, shared, tiles, lines };

struct Image {
  int width = 0, height = 0, pitch = 0;  // elements; rows begin at multiples of 128 bytes
};

struct Convolution {
  ConvolutionWay way = ConvolutionWay::direct;
  int taps = 3;  // a side: 3 or 7
  Image image = {};
  int rows = 0;  // of outputs a warp: of tiles a multiple of 4, of lines best a multiple of the taps plus 1
  const void* in = nullptr;
  void* out = nullptr;
};

/// Weight of tap (ky, kx) in the correlation out(x, y) = sum of w in(x + kx, y + ky).
float weight_of(int ky, int kx);

/// Errors: ErrorCode::device.
void queue(const Convolution& call, Stream stream);

void queue_image(void* in, const Image& image, Stream stream);
/// All outputs as no kernel leaves them.
void queue_poison(void* out, const Image& image, Stream stream);
/// Pixels of out that are not the convolution's or, outside it, not poison. Its `ring` outermost rows and
/// columns may be anything. Waits for the stream.
std::uint64_t wrong_pixels(const void* out, const Image& image, int taps, int ring, Stream stream);

inline constexpr std::uint64_t kFactorWords = 64, kProductWords = 128;

/// Words of both factors of `count` products.
void queue_factors(void* a, void* b, std::uint64_t count, Stream stream);
/// Words of the products that are wrong. Waits for the stream.
std::uint64_t wrong_products(const void* a, const void* b, const void* c, std::uint64_t count, Stream stream);

}  // namespace faro::bench::gpu
