// Kernels of poly-64 with 6, 8 and 10 live accumulates, as the library emits them, compiled at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "faro/stream.hpp"
#include "faro/swizzle/emission.hpp"

namespace faro::bench::gpu {

/// Many products of two polynomials over GF(2), 64 coefficients each, 32 products at a time in a word's bits.
struct ProductKernel {
  swizzle::EmittedKernel emitted;
  std::string solution;  // of the sketch, in words
};

/// `batch` products a block. Host only.
std::vector<ProductKernel> product_kernels(std::uint32_t batch);

class ProductModule {
 public:
  /// Errors: ErrorCode::device, "NVRTC not found", without that compiler.
  explicit ProductModule(std::vector<ProductKernel> kernels);
  ProductModule(ProductModule&&) noexcept;
  ProductModule& operator=(ProductModule&&) noexcept;
  ~ProductModule();

  const std::vector<ProductKernel>& kernels() const;
  int registers(std::size_t kernel) const;              // a thread
  std::uint64_t local_bytes(std::size_t kernel) const;  // a thread
  void queue(std::size_t kernel, const void* a, const void* b, void* c, std::uint32_t products,
             Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::bench::gpu
