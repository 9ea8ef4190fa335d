// The CUDA engine of a build without CUDA: it says so.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_family.hpp"
#include "engines/cuda_index.hpp"
#include "engines/cuda_modular.hpp"
#include "engines/cuda_packed.hpp"
#include "engines/cuda_rows.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"
#include "faro_build_info.hpp"

namespace faro::cuda {

Status status() { return {.available = false, .reason = FARO_CUDA_STATUS}; }

std::vector<Device> devices() { return {}; }

Target target(int /*device*/) { refuse(); }

FARO_NOT_BUILT(Executor);
Executor::Executor(const Plan& /*plan*/) { refuse(); }
Executor::Executor(const Plan& /*plan*/, const schedule::IndexSchedule& /*made*/) { refuse(); }

void Executor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/, void* /*workspace*/) const {
  refuse();
}
void Executor::run(void* /*data*/, Stream /*stream*/, void* /*workspace*/) const { refuse(); }

std::uint64_t Executor::workspace_bytes() const { return 0; }
std::uint64_t Executor::schedule_bytes() const { return 0; }
schedule::IndexSchedule Executor::schedule() const { refuse(); }
std::vector<KernelResources> Executor::resources() const { refuse(); }

FARO_NOT_BUILT(StagedExecutor);
StagedExecutor::StagedExecutor(const Plan& /*plan*/, const StagingOptions& /*options*/) { refuse(); }

void StagedExecutor::run(const void* /*in*/, void* /*out*/) const { refuse(); }
std::uint64_t StagedExecutor::pieces() const { return 0; }
std::uint64_t StagedExecutor::piece_bytes() const { return 0; }
std::uint64_t StagedExecutor::segment_bytes() const { return 0; }
int StagedExecutor::pieces_in_flight() const { return 0; }

void run_staged(const Plan& /*plan*/, const void* /*in*/, void* /*out*/, const StagingOptions& /*options*/) {
  refuse();
}

// --- cuda_rows.hpp

FARO_NOT_BUILT(RowExecutor);
RowExecutor::RowExecutor(const RowPlan& /*plan*/) { refuse(); }

void RowExecutor::run(std::span<const RowGroup> /*groups*/, Stream /*stream*/, void* /*workspace*/) const {
  refuse();
}
void RowExecutor::require_entries(const void* /*entries*/) const { refuse(); }
void RowExecutor::check(Stream /*stream*/) const { refuse(); }

std::optional<SortedRows> sorted_rows(const RowPlan& /*plan*/) { refuse(); }
void take_sorted(const RowPlan& /*plan*/, const SortedRows& /*sorted*/, const void* /*in*/, void* /*taken*/,
                 Stream /*stream*/) {
  refuse();
}
FARO_NOT_BUILT(CacheExecutor);
CacheExecutor::CacheExecutor(const CacheMove& /*move*/, std::span<const CacheArrays> /*arrays*/,
                             int /*device*/) {
  refuse();
}
std::uint64_t CacheExecutor::piece_bytes() const { return 0; }
void CacheExecutor::run(const CacheTables& /*tables*/, Stream /*stream*/) const { refuse(); }
void CacheExecutor::check(Stream /*stream*/) const { refuse(); }

struct SegmentsExecutor::State {};
SegmentsExecutor::SegmentsExecutor(const Segments& /*segments*/, const RowNumbers& /*from*/, int /*device*/) {
  refuse();
}
SegmentsExecutor::~SegmentsExecutor() = default;
std::uint64_t SegmentsExecutor::workspace_bytes() const { return 0; }
void SegmentsExecutor::offsets(std::uint64_t /*in_elements*/, std::int64_t* /*to*/, Stream /*stream*/) const {
  refuse();
}
void SegmentsExecutor::run(std::span<const std::byte> /*in*/, std::span<std::byte> /*out*/,
                           std::int64_t* /*offsets*/, Stream /*stream*/, void* /*workspace*/) const {
  refuse();
}
void SegmentsExecutor::check(Stream /*stream*/) const { refuse(); }

struct TakePasses::State {};
TakePasses::TakePasses(std::unique_ptr<const State> state) : state_(std::move(state)) {}
TakePasses::~TakePasses() = default;
std::unique_ptr<const TakePasses> TakePasses::of(const RowPlan& /*plan*/, const SortedRows& /*sorted*/,
                                                 const Plan& /*permutation*/) {
  refuse();
}
std::uint64_t TakePasses::workspace_bytes() const { return 0; }
void TakePasses::run(const void* /*in*/, void* /*out*/, void* /*workspace*/, Stream /*stream*/) const {
  refuse();
}

void put_sorted(const RowPlan& /*plan*/, const SortedRows& /*sorted*/, const void* /*values*/, void* /*out*/,
                Stream /*stream*/) {
  refuse();
}
void add_sorted(const RowPlan& /*plan*/, const SortedRows& /*sorted*/, const void* /*values*/, void* /*out*/,
                Stream /*stream*/) {
  refuse();
}

FARO_NOT_BUILT(RouteExecutor);
RouteExecutor::RouteExecutor(const RowNumbers& /*keys*/, const RouteOptions& /*options*/, int /*device*/) {
  refuse();
}

std::uint64_t RouteExecutor::most_places() const { return 0; }
std::uint64_t RouteExecutor::workspace_bytes() const { return 0; }
void RouteExecutor::run(const DeviceRoute& /*to*/, const SentRows& /*sent*/, Stream /*stream*/,
                        void* /*workspace*/) const {
  refuse();
}
void RouteExecutor::check(Stream /*stream*/) const { refuse(); }

FARO_NOT_BUILT(DispatchExecutor);
DispatchExecutor::DispatchExecutor(const Dispatch& /*of*/, std::uint64_t /*row_bytes*/, int /*device*/) {
  refuse();
}

void DispatchExecutor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { refuse(); }
void DispatchExecutor::check(Stream /*stream*/) const { refuse(); }

FARO_NOT_BUILT(CombineExecutor);
CombineExecutor::CombineExecutor(const Combine& /*of*/, std::uint64_t /*row_bytes*/, int /*device*/) {
  refuse();
}

void CombineExecutor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { refuse(); }
void CombineExecutor::check(Stream /*stream*/) const { refuse(); }

// --- cuda_modular.hpp

void permute_evaluations(const EvaluationMove& /*move*/, Stream /*stream*/, int /*device*/) { refuse(); }

void permute(const ModularMove& /*move*/, Stream /*stream*/, int /*device*/) { refuse(); }

// --- cuda_packed.hpp

void permute(const PackedMove& /*move*/, const kernels::PackedWork& /*work*/, Stream /*stream*/,
             int /*device*/) {
  refuse();
}
void permute_in_place(const PackedMove& /*move*/,
                      const std::optional<kernels::PackedInPlacePasses>& /*passes*/,
                      const kernels::PackedWork& /*work*/, Stream /*stream*/, int /*device*/) {
  refuse();
}
Indexed entries_on_device(const Indexed& /*indices*/, int /*device*/) { refuse(); }

// --- cuda_measure.hpp

Versions versions() { return {}; }

FARO_NOT_BUILT(DeviceArray);
DeviceArray::DeviceArray(std::uint64_t /*bytes*/, int /*device*/) { refuse(); }

std::byte* DeviceArray::data() const { return nullptr; }
std::uint64_t DeviceArray::size() const { return 0; }
void DeviceArray::upload(const void* /*from*/, std::uint64_t /*bytes*/) { refuse(); }
void DeviceArray::download(void* /*to*/, std::uint64_t /*bytes*/) const { refuse(); }

void copy(const void* /*in*/, void* /*out*/, std::uint64_t /*bytes*/, Stream /*stream*/) { refuse(); }

FARO_NOT_BUILT(NaiveExecutor);
NaiveExecutor::NaiveExecutor(const Problem& /*problem*/, int /*device*/) { refuse(); }

void NaiveExecutor::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { refuse(); }

FARO_NOT_BUILT(StreamClock);
StreamClock::StreamClock(int /*device*/) { refuse(); }

double StreamClock::milliseconds(int /*calls*/, const std::function<void(Stream)>& /*queue*/) const {
  refuse();
}

// --- cuda_index.hpp: curves

IndexCalibration tune(int /*device*/, bool /*quick*/) { refuse(); }

// --- device_arrays.hpp

void require_accessible(const void* /*array*/, const char* /*role*/, int /*device*/) { refuse(); }

int ordinal_of(int /*device*/) { refuse(); }

StreamMemory::StreamMemory(std::uint64_t /*bytes*/, int device, Stream stream)
    : device_(device), stream_(stream) {
  refuse();
}

StreamMemory::~StreamMemory() { data_ = nullptr; }

// --- cuda_index.hpp: work on index arrays

Indexed indexed_on_device(const void* /*indices*/, std::uint64_t /*count*/, IndexType /*type*/,
                          Direction /*direction*/, int /*device*/) {
  refuse();
}

Indexed copied_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                         int device, Stream /*stream*/) {
  return indexed_on_device(indices, count, type, direction, device);
}

Indexed to_device(const Indexed& /*indexed*/, int /*device*/) { refuse(); }

Indexed to_host(const Indexed& indexed) {
  if (!indexed.on_host()) require_available();
  return indexed;
}

void validate(const Indexed& /*indexed*/) { refuse(); }

Recognition recognise(const Indexed& /*indexed*/, const RecogniseLimits& /*limits*/) { refuse(); }

Indexed redirected(const Indexed& /*indexed*/, Direction /*direction*/) { refuse(); }

Indexed compose(const Indexed& /*a*/, const Indexed& /*b*/) { refuse(); }

Indexed compose(const Permutation& /*a*/, const Permutation& /*b*/) { refuse(); }

Indexed random_on_device(std::uint64_t /*count*/, std::uint64_t /*seed*/, int /*device*/) { refuse(); }

// --- runtime_compiler.hpp

struct RuntimeModule::State {};

RuntimeModule::RuntimeModule(const CompiledText& /*compiled*/, int /*device*/) { refuse(); }
RuntimeModule::~RuntimeModule() = default;
int RuntimeModule::device() const { return 0; }

RuntimeKernel RuntimeModule::kernel(const std::string& /*name_or_expression*/,
                                    bool /*uses_shared_memory*/) const {
  refuse();
}

RuntimeKernel::RuntimeKernel(std::shared_ptr<const RuntimeModule> module, void* function, std::string name)
    : module_(std::move(module)), function_(function), name_(std::move(name)) {}

void RuntimeKernel::launch(std::uint64_t /*blocks*/, int /*threads_x*/, int /*threads_y*/,
                           std::uint64_t /*dynamic_shared_bytes*/, void** /*arguments*/,
                           Stream /*stream*/) const {
  refuse();
}

int RuntimeKernel::registers() const { return 0; }
std::uint64_t RuntimeKernel::local_bytes() const { return 0; }
std::uint64_t RuntimeKernel::static_shared_bytes() const { return 0; }
int RuntimeKernel::threads_per_block_max() const { return 0; }
int RuntimeKernel::blocks_per_multiprocessor(int /*threads*/, std::uint64_t /*dynamic_shared_bytes*/) const {
  return 0;
}

std::shared_ptr<const RuntimeModule> compile(const RuntimeSource& /*source*/, int /*device*/) { refuse(); }

// --- cuda_family.hpp

struct FamilyExecutor::State {};
FamilyExecutor::FamilyExecutor(int /*device*/) { refuse(); }
FamilyExecutor::~FamilyExecutor() = default;
void FamilyExecutor::run(const faro::detail::FamilyCall& /*call*/, const void* /*in*/, void* /*out*/,
                         Stream /*stream*/) const {
  refuse();
}
void FamilyExecutor::run_on_device(const faro::detail::FamilyPlan& /*plan*/, const DeviceExtents& /*extents*/,
                                   const void* /*in*/, void* /*out*/, Stream /*stream*/) const {
  refuse();
}
std::string explain_family(const faro::detail::FamilyCall& /*call*/) { refuse(); }

}  // namespace faro::cuda
