#include "gpu/gpu_support.hpp"

#include <exception>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace faro::testing {

Settings& settings() {
  static Settings values;
  return values;
}

void check_cuda(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}

void GpuTest::SetUp() {
  const cuda::Status status = cuda::status();
  if (status.available) return;
  GTEST_SKIP() << "no GPU: " << status.reason;
}

OwnStream::OwnStream() {
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}
OwnStream::~OwnStream() { static_cast<void>(cudaStreamDestroy(stream_)); }
void OwnStream::wait() const { check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

std::uint64_t free_device_bytes() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  return free_bytes;
}

// --- arrays

GpuArrays::GpuArrays(std::uint64_t bytes, std::uint64_t in_offset, std::uint64_t out_offset)
    : bytes_(bytes),
      in_offset_(in_offset),
      out_offset_(out_offset),
      in_(in_offset + bytes + (bytes == 0 ? 1 : 0)),
      out_(out_offset + bytes + 2 * kDeviceGuardBytes),
      findings_(sizeof(Findings)) {}

void GpuArrays::prepare(std::uint64_t seed, Stream stream) {
  seed_ = seed;
  fill(in(), bytes_, seed_, stream);
  check_cuda(cudaMemsetAsync(out_.data(), static_cast<int>(kDevicePoison), out_.size(), stream.handle()),
             "cudaMemsetAsync");
  check_cuda(cudaMemsetAsync(findings_.data(), 0xff, sizeof(Findings), stream.handle()), "cudaMemsetAsync");
}

std::string GpuArrays::wrong(const Problem& problem, Stream stream) const {
  examine(oracle_problem(problem),
          {.in = in(), .out = out(), .guard_bytes = kDeviceGuardBytes, .seed = seed_},
          reinterpret_cast<Findings*>(findings_.data()), stream);
  Findings found{};
  check_cuda(
      cudaMemcpyAsync(&found, findings_.data(), sizeof(found), cudaMemcpyDeviceToHost, stream.handle()),
      "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  if (found.misplaced != kNothing) {
    const auto& map = std::get<Affine>(problem.permutation);
    const std::uint64_t array = found.misplaced >> map.bits();
    const std::uint64_t x = found.misplaced & f2::low_mask(map.bits());
    return "array " + std::to_string(array) + ": in[" + std::to_string(x) + "] is not at out[" +
           std::to_string(map(x)) + "]";
  }
  if (found.guard != kNothing) {
    const bool before = found.guard < kDeviceGuardBytes;
    const std::uint64_t distance =
        before ? kDeviceGuardBytes - found.guard : found.guard - kDeviceGuardBytes - bytes_;
    return "written " + std::to_string(distance) + " bytes " + (before ? "before" : "past") + " the output";
  }
  if (found.input != kNothing) return "byte " + std::to_string(found.input) + " of the input changed";
  return {};
}

bool GpuArrays::untouched(Stream stream) const {
  check_cuda(cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
  std::vector<std::byte> all(out_.size());
  out_.download(all.data());
  return std::all_of(all.begin(), all.end(), [](std::byte b) { return b == kDevicePoison; });
}

// --- kernels

std::string tile_name(const kernels::CompiledTile& tile) {
  const auto* const place =
      std::find(std::begin(kernels::kCompiledTiles), std::end(kernels::kCompiledTiles), tile);
  return "tile " + std::to_string(place - std::begin(kernels::kCompiledTiles));
}

void note_kernels(const Plan& plan, std::uint64_t addresses, Reached& reached) {
  std::uint64_t offset = 0;
  for (const Pass& pass : plan.passes()) {
    const std::uint64_t alignment = addresses | offset;
    offset += pass.bytes_read;
    if (!pass.launch) {
      reached.insert("copy");
      continue;
    }
    const bool aligned = alignment % static_cast<std::uint64_t>(pass.launch->vector_bytes) == 0;
    const auto& tile = aligned ? pass.launch->tile : pass.launch->unaligned_tile;
    if (tile) {
      reached.insert(tile_name(*tile));
      if (pass.arrays > 1) reached.insert(tile_name(*tile) + " of several arrays");
    } else if (!aligned) {
      reached.insert(pass.kind == PassKind::segments ? "unaligned segments" : "unaligned units");
    } else if (pass.kind == PassKind::segments) {
      reached.insert("segments");
    } else {
      reached.insert(&pass == &plan.passes().front() ? "direct" : "tail");
    }
  }
}

Target with_only(const Target& device, const kernels::CompiledTile& tile) {
  Target result = device;
  result.tiles = {tile};
  for (const kernels::CompiledTile& other : device.tiles) {
    if (other.shape.width_bits == tile.shape.width_bits && other.shape.vector_bits == 0 && !(other == tile)) {
      result.tiles.push_back(other);
    }
  }
  return result;
}

// --- cases

std::string describe(const GpuCase& c) {
  std::string tiles;
  for (const kernels::CompiledTile& tile : c.target.tiles) {
    tiles += " " + tile_name(tile).substr(sizeof("tile"));
  }
  return describe(c.problem) + " --engine cuda\n  " + c.target.name + ", tiles" + tiles + ", in + " +
         std::to_string(c.in_offset) + ", out + " + std::to_string(c.out_offset) + ", seed " +
         std::to_string(c.seed);
}

void check(const GpuCase& c, Reached* reached) {
  try {
    const Plan plan(c.problem, c.target);
    const cuda::Executor executor(plan);
    const OwnStream stream;
    GpuArrays arrays(plan.array_bytes(), c.in_offset, c.out_offset);
    arrays.prepare(c.seed, stream);
    executor.run(arrays.in(), arrays.out(), stream);
    const std::string wrong = arrays.wrong(c.problem, stream);
    if (!wrong.empty()) ADD_FAILURE() << wrong << "\n  " << describe(c);
    const auto addresses =
        reinterpret_cast<std::uintptr_t>(arrays.in()) | reinterpret_cast<std::uintptr_t>(arrays.out());
    if (reached != nullptr) note_kernels(plan, addresses, *reached);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n  " << describe(c);
  }
}

}  // namespace faro::testing
