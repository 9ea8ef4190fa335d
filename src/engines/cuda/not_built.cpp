// The CUDA engine of a build without CUDA: it says so.
#include "engines/cuda/availability.hpp"
#include "engines/cuda_measure.hpp"
#include "engines/cuda_shared_transpose.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro_build_info.hpp"

namespace faro::cuda {

Status status() { return {.available = false, .reason = FARO_CUDA_STATUS}; }

std::vector<Device> devices() { return {}; }

Target target(int /*device*/) {
  require_available();
  return {};
}

struct Executor::State {};

Executor::Executor(const Plan& /*plan*/) { require_available(); }
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

void Executor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { require_available(); }
void Executor::run(void* /*data*/, Stream /*stream*/) const { require_available(); }

std::vector<KernelResources> Executor::resources() const {
  require_available();
  return {};
}

struct StagedExecutor::State {};

StagedExecutor::StagedExecutor(const Plan& /*plan*/, const StagingOptions& /*options*/) {
  require_available();
}
StagedExecutor::StagedExecutor(StagedExecutor&&) noexcept = default;
StagedExecutor& StagedExecutor::operator=(StagedExecutor&&) noexcept = default;
StagedExecutor::~StagedExecutor() = default;

void StagedExecutor::run(const void* /*in*/, void* /*out*/) const { require_available(); }
std::uint64_t StagedExecutor::pieces() const { return 0; }
std::uint64_t StagedExecutor::piece_bytes() const { return 0; }
std::uint64_t StagedExecutor::segment_bytes() const { return 0; }
int StagedExecutor::pieces_in_flight() const { return 0; }

void run_staged(const Plan& /*plan*/, const void* /*in*/, void* /*out*/, const StagingOptions& /*options*/) {
  require_available();
}

// --- cuda_measure.hpp

Versions versions() { return {}; }

struct DeviceArray::State {};

DeviceArray::DeviceArray(std::uint64_t /*bytes*/, int /*device*/) { require_available(); }
DeviceArray::DeviceArray(DeviceArray&&) noexcept = default;
DeviceArray& DeviceArray::operator=(DeviceArray&&) noexcept = default;
DeviceArray::~DeviceArray() = default;

std::byte* DeviceArray::data() const { return nullptr; }
std::uint64_t DeviceArray::size() const { return 0; }
void DeviceArray::upload(const void* /*from*/) { require_available(); }
void DeviceArray::download(void* /*to*/) const { require_available(); }

void copy(const void* /*in*/, void* /*out*/, std::uint64_t /*bytes*/, Stream /*stream*/) {
  require_available();
}

struct NaiveExecutor::State {};

NaiveExecutor::NaiveExecutor(const Problem& /*problem*/, int /*device*/) { require_available(); }
NaiveExecutor::NaiveExecutor(NaiveExecutor&&) noexcept = default;
NaiveExecutor& NaiveExecutor::operator=(NaiveExecutor&&) noexcept = default;
NaiveExecutor::~NaiveExecutor() = default;

void NaiveExecutor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { require_available(); }

struct StreamClock::State {};

StreamClock::StreamClock(int /*device*/) { require_available(); }
StreamClock::StreamClock(StreamClock&&) noexcept = default;
StreamClock& StreamClock::operator=(StreamClock&&) noexcept = default;
StreamClock::~StreamClock() = default;

double StreamClock::milliseconds(int /*calls*/, const std::function<void(Stream)>& /*queue*/) const {
  require_available();
  return 0;
}

// --- cuda_shared_transpose.hpp

void run(const SharedTranspose& /*transpose*/, const void* /*in*/, void* /*out*/, std::uint32_t /*blocks*/,
         std::uint32_t /*repeats*/, Stream /*stream*/) {
  require_available();
}

double time_ns(const SharedTranspose& /*transpose*/, int /*device*/) {
  require_available();
  return 0;
}

}  // namespace faro::cuda
