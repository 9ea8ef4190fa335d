// The CUDA engine of a build without CUDA: it says so.
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/runtime/runtime_compiler.hpp"
#include "engines/cuda_index.hpp"
#include "engines/cuda_measure.hpp"
#include "engines/cuda_modular.hpp"
#include "engines/cuda_rows.hpp"
#include "engines/cuda_shared_permutation.hpp"
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
Executor::Executor(const Plan& /*plan*/, const schedule::IndexSchedule& /*made*/) { require_available(); }
Executor::Executor(const StridedPlan& /*plan*/) { require_available(); }
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

void Executor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/, void* /*workspace*/) const {
  require_available();
}
void Executor::run(void* /*data*/, Stream /*stream*/, void* /*workspace*/) const { require_available(); }

std::uint64_t Executor::workspace_bytes() const { return 0; }
std::uint64_t Executor::schedule_bytes() const { return 0; }
schedule::IndexSchedule Executor::schedule() const {
  require_available();
  return {.what = schedule::WindowSchedule{}, .count = 0, .applied = Direction::scatter, .fingerprint = 0};
}
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

// --- cuda_rows.hpp

struct RowExecutor::State {};

RowExecutor::RowExecutor(const RowPlan& /*plan*/) { require_available(); }
RowExecutor::RowExecutor(RowExecutor&&) noexcept = default;
RowExecutor& RowExecutor::operator=(RowExecutor&&) noexcept = default;
RowExecutor::~RowExecutor() = default;

void RowExecutor::run(std::span<const RowGroup> /*groups*/, Stream /*stream*/, void* /*workspace*/) const {
  require_available();
}
void RowExecutor::require_entries(const void* /*entries*/) const { require_available(); }
void RowExecutor::check(Stream /*stream*/) const { require_available(); }

std::optional<SortedRows> sorted_rows(const RowPlan& /*plan*/) {
  require_available();
  return std::nullopt;
}
void take_sorted(const RowPlan& /*plan*/, const SortedRows& /*sorted*/, const void* /*in*/, void* /*taken*/,
                 Stream /*stream*/) {
  require_available();
}
struct SegmentsExecutor::State {};
SegmentsExecutor::SegmentsExecutor(const Segments& /*segments*/, const RowNumbers& /*from*/, int /*device*/) {
  require_available();
}
SegmentsExecutor::~SegmentsExecutor() = default;
std::uint64_t SegmentsExecutor::workspace_bytes() const { return 0; }
void SegmentsExecutor::offsets(std::uint64_t /*in_elements*/, std::int64_t* /*to*/, Stream /*stream*/) const {
  require_available();
}
void SegmentsExecutor::run(std::span<const std::byte> /*in*/, std::span<std::byte> /*out*/,
                           std::int64_t* /*offsets*/, Stream /*stream*/, void* /*workspace*/) const {
  require_available();
}
void SegmentsExecutor::check(Stream /*stream*/) const { require_available(); }

struct TakePasses::State {};
TakePasses::TakePasses(std::unique_ptr<const State> state) : state_(std::move(state)) {}
TakePasses::~TakePasses() = default;
std::unique_ptr<const TakePasses> TakePasses::of(const RowPlan& /*plan*/, const SortedRows& /*sorted*/,
                                                 const Plan& /*permutation*/) {
  require_available();
  return nullptr;
}
std::uint64_t TakePasses::workspace_bytes() const { return 0; }
void TakePasses::run(const void* /*in*/, void* /*out*/, void* /*workspace*/, Stream /*stream*/) const {
  require_available();
}

void put_sorted(const RowPlan& /*plan*/, const SortedRows& /*sorted*/, const void* /*values*/, void* /*out*/,
                Stream /*stream*/) {
  require_available();
}
void add_sorted(const RowPlan& /*plan*/, const SortedRows& /*sorted*/, const void* /*values*/, void* /*out*/,
                Stream /*stream*/) {
  require_available();
}

struct RouteExecutor::State {};

RouteExecutor::RouteExecutor(const RowNumbers& /*keys*/, const RouteOptions& /*options*/, int /*device*/) {
  require_available();
}
RouteExecutor::RouteExecutor(RouteExecutor&&) noexcept = default;
RouteExecutor& RouteExecutor::operator=(RouteExecutor&&) noexcept = default;
RouteExecutor::~RouteExecutor() = default;

std::uint64_t RouteExecutor::most_places() const { return 0; }
std::uint64_t RouteExecutor::workspace_bytes() const { return 0; }
void RouteExecutor::run(const DeviceRoute& /*to*/, Stream /*stream*/, void* /*workspace*/) const {
  require_available();
}
void RouteExecutor::check(Stream /*stream*/) const { require_available(); }

struct DispatchExecutor::State {};

DispatchExecutor::DispatchExecutor(const Dispatch& /*of*/, std::uint64_t /*row_bytes*/, int /*device*/) {
  require_available();
}
DispatchExecutor::DispatchExecutor(DispatchExecutor&&) noexcept = default;
DispatchExecutor& DispatchExecutor::operator=(DispatchExecutor&&) noexcept = default;
DispatchExecutor::~DispatchExecutor() = default;

void DispatchExecutor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const {
  require_available();
}
void DispatchExecutor::check(Stream /*stream*/) const { require_available(); }

struct CombineExecutor::State {};

CombineExecutor::CombineExecutor(const Combine& /*of*/, std::uint64_t /*row_bytes*/, int /*device*/) {
  require_available();
}
CombineExecutor::CombineExecutor(CombineExecutor&&) noexcept = default;
CombineExecutor& CombineExecutor::operator=(CombineExecutor&&) noexcept = default;
CombineExecutor::~CombineExecutor() = default;

void CombineExecutor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { require_available(); }
void CombineExecutor::check(Stream /*stream*/) const { require_available(); }

// --- cuda_modular.hpp

void permute_evaluations(const EvaluationMove& /*move*/, Stream /*stream*/, int /*device*/) {
  require_available();
}

void permute(const ModularMove& /*move*/, Stream /*stream*/, int /*device*/) { require_available(); }

// --- cuda_measure.hpp

Versions versions() { return {}; }

struct DeviceArray::State {};

DeviceArray::DeviceArray(std::uint64_t /*bytes*/, int /*device*/) { require_available(); }
DeviceArray::DeviceArray(DeviceArray&&) noexcept = default;
DeviceArray& DeviceArray::operator=(DeviceArray&&) noexcept = default;
DeviceArray::~DeviceArray() = default;

std::byte* DeviceArray::data() const { return nullptr; }
std::uint64_t DeviceArray::size() const { return 0; }
void DeviceArray::upload(const void* /*from*/, std::uint64_t /*bytes*/) { require_available(); }
void DeviceArray::download(void* /*to*/, std::uint64_t /*bytes*/) const { require_available(); }

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

// --- cuda_index.hpp: curves

IndexCalibration tune(int /*device*/, bool /*quick*/) {
  require_available();
  return {};
}

// --- device_arrays.hpp

void require_accessible(const void* /*array*/, const char* /*role*/, int /*device*/) { require_available(); }

int ordinal_of(int device) {
  require_available();
  return device;
}

StreamMemory::StreamMemory(std::uint64_t /*bytes*/, int device, Stream stream)
    : device_(device), stream_(stream) {
  require_available();
}

StreamMemory::~StreamMemory() { data_ = nullptr; }

// --- cuda_index.hpp: work on index arrays

Indexed indexed_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                          int device) {
  require_available();
  return Indexed::on_device(indices, count, type, direction, device, nullptr);
}

Indexed copied_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                         int device, Stream /*stream*/) {
  return indexed_on_device(indices, count, type, direction, device);
}

Indexed to_device(const Indexed& indexed, int /*device*/) {
  require_available();
  return indexed;
}

Indexed to_host(const Indexed& indexed) {
  if (!indexed.on_host()) require_available();
  return indexed;
}

void validate(const Indexed& /*indexed*/) { require_available(); }

Recognition recognise(const Indexed& indexed, const RecogniseLimits& /*limits*/) {
  require_available();
  return {.family = Family::general, .permutation = indexed, .runs = {}, .displacement = {}, .findings = {}};
}

Indexed redirected(const Indexed& indexed, Direction /*direction*/) {
  require_available();
  return indexed;
}

Indexed compose(const Indexed& a, const Indexed& /*b*/) {
  require_available();
  return a;
}

Indexed compose(const Permutation& /*a*/, const Permutation& /*b*/) {
  require_available();
  return Indexed::random(0, 0);
}

Indexed random_on_device(std::uint64_t count, std::uint64_t seed, int /*device*/) {
  require_available();
  return Indexed::random(count, seed);
}

// --- runtime_compiler.hpp

struct RuntimeModule::State {};

RuntimeModule::RuntimeModule(const CompiledText& /*compiled*/, int /*device*/) { require_available(); }
RuntimeModule::~RuntimeModule() = default;
int RuntimeModule::device() const { return 0; }

RuntimeKernel RuntimeModule::kernel(const std::string& name_or_expression,
                                    bool /*uses_shared_memory*/) const {
  require_available();
  return {shared_from_this(), nullptr, name_or_expression};
}

RuntimeKernel::RuntimeKernel(std::shared_ptr<const RuntimeModule> module, void* function, std::string name)
    : module_(std::move(module)), function_(function), name_(std::move(name)) {}

void RuntimeKernel::launch(std::uint64_t /*blocks*/, int /*threads_x*/, int /*threads_y*/,
                           std::uint64_t /*dynamic_shared_bytes*/, void** /*arguments*/,
                           Stream /*stream*/) const {
  require_available();
}

int RuntimeKernel::registers() const { return 0; }
std::uint64_t RuntimeKernel::local_bytes() const { return 0; }
std::uint64_t RuntimeKernel::static_shared_bytes() const { return 0; }
int RuntimeKernel::threads_per_block_max() const { return 0; }
int RuntimeKernel::blocks_per_multiprocessor(int /*threads*/, std::uint64_t /*dynamic_shared_bytes*/) const {
  return 0;
}

std::shared_ptr<const RuntimeModule> compile(const RuntimeSource& /*source*/, int /*device*/) {
  require_available();
  return nullptr;
}

// --- cuda_shared_permutation.hpp

struct SharedPermutationBench::State {};

SharedPermutationBench::SharedPermutationBench(std::span<const std::uint32_t> /*permutation*/,
                                               kernels::PermuteWay /*way*/, int /*device*/) {
  require_available();
}
SharedPermutationBench::SharedPermutationBench(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench& SharedPermutationBench::operator=(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench::~SharedPermutationBench() = default;

void SharedPermutationBench::run(const void* /*in*/, void* /*out*/, std::uint32_t /*blocks*/,
                                 std::uint32_t /*repeats*/, Stream /*stream*/) const {
  require_available();
}

BlockRoom permutation_block_room(int /*device*/) {
  require_available();
  return {};
}

struct SharedPermuter::State {};

SharedPermuter::SharedPermuter(std::span<const std::uint32_t> /*permutation*/, int /*element_bytes*/,
                               int /*device*/) {
  require_available();
}
SharedPermuter::SharedPermuter(SharedPermuter&&) noexcept = default;
SharedPermuter& SharedPermuter::operator=(SharedPermuter&&) noexcept = default;
SharedPermuter::~SharedPermuter() = default;

void SharedPermuter::run(const void* /*in*/, void* /*out*/, std::uint64_t /*arrays*/,
                         Stream /*stream*/) const {
  require_available();
}

std::uint32_t SharedPermuter::teams() const { return 0; }

}  // namespace faro::cuda
