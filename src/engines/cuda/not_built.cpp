// The CUDA engine of a build without CUDA: it says so.
#include "engines/cuda/absent.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_blocks.hpp"
#include "engines/cuda_family.hpp"
#include "engines/cuda_group.hpp"
#include "engines/cuda_index.hpp"
#include "engines/cuda_modular.hpp"
#include "engines/cuda_nccl.hpp"
#include "engines/cuda_packed.hpp"
#include "engines/cuda_parts.hpp"
#include "engines/cuda_rows.hpp"
#include "engines/cuda_values.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"
#include "faro_build_info.hpp"

namespace faro::cuda {

using faro::detail::BlockPlan;
using faro::detail::FamilyCall;
using faro::detail::GroupLaunches;
using faro::detail::PartPass;
using faro::detail::ValueAlignment;
using faro::detail::ValuePlan;

// --- cuda.hpp

Status status() { return {.available = false, .reason = FARO_CUDA_STATUS}; }
std::vector<Device> devices() { return {}; }
FARO_ABSENT(Target target(int));

FARO_ABSENT_MOVABLE(Executor);
FARO_ABSENT(Executor::Executor(const Plan&));
FARO_ABSENT(Executor::Executor(const Plan&, const schedule::IndexSchedule&));
FARO_ABSENT(void Executor::run(const void*, void*, Stream, void*) const);
FARO_ABSENT(void Executor::run(void*, Stream, void*) const);
FARO_ABSENT(std::uint64_t Executor::workspace_bytes() const);
FARO_ABSENT(std::uint64_t Executor::schedule_bytes() const);
FARO_ABSENT(schedule::IndexSchedule Executor::schedule() const);
FARO_ABSENT(std::vector<KernelResources> Executor::resources() const);

FARO_ABSENT_MOVABLE(StagedExecutor);
FARO_ABSENT(StagedExecutor::StagedExecutor(const Plan&, const StagingOptions&));
FARO_ABSENT(void StagedExecutor::run(const void*, void*) const);
FARO_ABSENT(std::uint64_t StagedExecutor::pieces() const);
FARO_ABSENT(std::uint64_t StagedExecutor::piece_bytes() const);
FARO_ABSENT(std::uint64_t StagedExecutor::segment_bytes() const);
FARO_ABSENT(int StagedExecutor::pieces_in_flight() const);
FARO_ABSENT(void run_staged(const Plan&, const void*, void*, const StagingOptions&));

// --- cuda_rows.hpp

FARO_ABSENT_MOVABLE(RowExecutor);
FARO_ABSENT(RowExecutor::RowExecutor(const RowPlan&));
FARO_ABSENT(void RowExecutor::run(std::span<const RowGroup>, Stream, void*) const);
FARO_ABSENT(void RowExecutor::require_entries(const void*) const);
FARO_ABSENT(void RowExecutor::check(Stream) const);
FARO_ABSENT(std::optional<SortedRows> sorted_rows(const RowPlan&));
FARO_ABSENT(void take_sorted(const RowPlan&, const SortedRows&, const void*, void*, Stream));
FARO_ABSENT(void put_sorted(const RowPlan&, const SortedRows&, const void*, void*, Stream));
FARO_ABSENT(void add_sorted(const RowPlan&, const SortedRows&, const void*, void*, Stream));

FARO_ABSENT_MOVABLE(CacheExecutor);
FARO_ABSENT(CacheExecutor::CacheExecutor(const CacheMove&, std::span<const CacheArrays>, int));
FARO_ABSENT(std::uint64_t CacheExecutor::piece_bytes() const);
FARO_ABSENT(void CacheExecutor::run(const CacheTables&, Stream) const);
FARO_ABSENT(void CacheExecutor::check(Stream) const);

FARO_ABSENT_CLASS(SegmentsExecutor);
FARO_ABSENT(SegmentsExecutor::SegmentsExecutor(const Segments&, const RowNumbers&, int));
FARO_ABSENT(std::uint64_t SegmentsExecutor::workspace_bytes() const);
FARO_ABSENT(void SegmentsExecutor::offsets(std::uint64_t, std::int64_t*, Stream) const);
FARO_ABSENT(void SegmentsExecutor::run(std::span<const std::byte>, std::span<std::byte>, std::int64_t*,
                                       Stream, void*) const);
FARO_ABSENT(void SegmentsExecutor::check(Stream) const);

FARO_ABSENT_CLASS(TakePasses);
FARO_ABSENT(std::unique_ptr<const TakePasses> TakePasses::of(const RowPlan&, const SortedRows&, const Plan&));
FARO_ABSENT(std::uint64_t TakePasses::workspace_bytes() const);
FARO_ABSENT(void TakePasses::run(const void*, void*, void*, Stream) const);

FARO_ABSENT_MOVABLE(RouteExecutor);
FARO_ABSENT(RouteExecutor::RouteExecutor(const RowNumbers&, const RouteOptions&, int));
FARO_ABSENT(std::uint64_t RouteExecutor::most_places() const);
FARO_ABSENT(std::uint64_t RouteExecutor::workspace_bytes() const);
FARO_ABSENT(void RouteExecutor::run(const DeviceRoute&, const SentRows&, Stream, void*) const);
FARO_ABSENT(void RouteExecutor::check(Stream) const);

FARO_ABSENT_MOVABLE(DispatchExecutor);
FARO_ABSENT(DispatchExecutor::DispatchExecutor(const Dispatch&, std::uint64_t, int));
FARO_ABSENT(void DispatchExecutor::run(const void*, void*, Stream) const);
FARO_ABSENT(void DispatchExecutor::check(Stream) const);

FARO_ABSENT_MOVABLE(CombineExecutor);
FARO_ABSENT(CombineExecutor::CombineExecutor(const Combine&, std::uint64_t, int));
FARO_ABSENT(void CombineExecutor::run(const void*, void*, Stream) const);
FARO_ABSENT(void CombineExecutor::check(Stream) const);

// --- cuda_modular.hpp, cuda_packed.hpp

FARO_ABSENT(void permute_evaluations(const EvaluationMove&, Stream, int));
FARO_ABSENT(void permute(const ModularMove&, Stream, int));
FARO_ABSENT(void permute(const PackedMove&, const kernels::PackedWork&, Stream, int));
FARO_ABSENT(void permute_in_place(const PackedMove&, const std::optional<kernels::PackedInPlacePasses>&,
                                  const kernels::PackedWork&, Stream, int));
FARO_ABSENT(Indexed entries_on_device(const Indexed&, int));

// --- cuda_blocks.hpp, cuda_values.hpp

FARO_ABSENT_MOVABLE(BlockExecutor);
FARO_ABSENT(BlockExecutor::BlockExecutor(const BlockPlan&, int));
FARO_ABSENT(void BlockExecutor::quantize(const void*, void*, void*, Stream) const);
FARO_ABSENT(void BlockExecutor::dequantize(const void*, const void*, void*, Stream) const);
FARO_ABSENT(std::string BlockExecutor::explain() const);

FARO_ABSENT_MOVABLE(ValueExecutor);
FARO_ABSENT(ValueExecutor::ValueExecutor(const ValuePlan&, int));
FARO_ABSENT(void ValueExecutor::run(const void*, const void*, void*, Stream,
                                    const faro::detail::ValueStrides&) const);
FARO_ABSENT(GroupedValues ValueExecutor::grouped(const ValueAlignment&) const);
FARO_ABSENT(RuntimeKernel ValueExecutor::group_kernel(const ValueAlignment&) const);
FARO_ABSENT(std::string ValueExecutor::explain() const);

FARO_ABSENT_MOVABLE(ValueTileExecutor);
FARO_ABSENT(ValueTileExecutor::ValueTileExecutor(const faro::detail::ValueTilePlan&, int));
FARO_ABSENT(void ValueTileExecutor::run(const void*, const void*, void*, Stream) const);
FARO_ABSENT(std::string ValueTileExecutor::explain() const);
FARO_ABSENT_MOVABLE(AddedRowExecutor);
FARO_ABSENT(bool AddedRowExecutor::takes(const faro::detail::RowValues&));
FARO_ABSENT(AddedRowExecutor::AddedRowExecutor(const faro::detail::RowValues&));
FARO_ABSENT(void AddedRowExecutor::run(const void*, const void*, void*, Stream) const);
FARO_ABSENT(void AddedRowExecutor::check(Stream) const);
FARO_ABSENT(std::string AddedRowExecutor::explain() const);

FARO_ABSENT_MOVABLE(ValuePassExecutor);
FARO_ABSENT(bool ValuePassExecutor::takes(const Plan&, bool));
FARO_ABSENT(ValuePassExecutor::ValuePassExecutor(const Plan&, const schedule::IndexSchedule*,
                                                 const Arithmetic&, bool));
FARO_ABSENT(void ValuePassExecutor::run(const void*, const void*, void*, Stream) const);
FARO_ABSENT(std::uint64_t ValuePassExecutor::moved_bytes() const);
FARO_ABSENT(std::string ValuePassExecutor::explain() const);

FARO_ABSENT_MOVABLE(RowValueExecutor);
FARO_ABSENT(RowValueExecutor::RowValueExecutor(const faro::detail::RowValues&));
FARO_ABSENT(void RowValueExecutor::run(const void*, const void*, const void*, void*, Stream) const);
FARO_ABSENT(void RowValueExecutor::check(Stream) const);
FARO_ABSENT(std::string RowValueExecutor::explain() const);
FARO_ABSENT(void run_staged_values(const ValuePlan&, const HostValues&, const StagingOptions&, int));

// --- cuda_group.hpp, cuda_family.hpp

FARO_ABSENT_MOVABLE(GroupExecutor);
FARO_ABSENT(GroupExecutor::GroupExecutor(const GroupLaunches&, std::uint64_t, std::span<const void* const>,
                                         const std::vector<RuntimeKernel>&, int));
FARO_ABSENT(void GroupExecutor::run(Stream) const);
FARO_ABSENT(void GroupExecutor::run(std::span<const void* const>, const void**, Stream) const);
FARO_ABSENT(void GroupExecutor::run_table(const void* const*, Stream) const);
FARO_ABSENT(std::uint64_t GroupExecutor::table_bytes() const);

FARO_ABSENT_CLASS(FamilyExecutor);
FARO_ABSENT(FamilyExecutor::FamilyExecutor(int));
FARO_ABSENT(void FamilyExecutor::run(const FamilyCall&, const void*, void*, Stream) const);
FARO_ABSENT(void FamilyExecutor::run_on_device(const faro::detail::FamilyPlan&, const DeviceExtents&,
                                               const void*, void*, Stream) const);
FARO_ABSENT(std::string explain_family(const FamilyCall&));

// --- cuda_parts.hpp

FARO_ABSENT_MOVABLE(PartExecutor);
FARO_ABSENT(PartExecutor::PartExecutor(const PartPass&, int, int));
FARO_ABSENT(const PartPass& PartExecutor::pass() const);
FARO_ABSENT(void PartExecutor::run(const void*, std::span<std::byte* const>, const Slices&, Stream) const);

FARO_ABSENT_MOVABLE(PeerView);
FARO_ABSENT(PeerView::PeerView(const Plan&, ViewShare));
FARO_ABSENT(void PeerView::run(const void*, void*, Stream) const);

FARO_ABSENT_MOVABLE(SideStream);
FARO_ABSENT(SideStream::SideStream(int));
std::optional<SideStream> SideStream::on_few(int /*device*/, int /*multiprocessors*/) { return std::nullopt; }
FARO_ABSENT(Stream SideStream::stream() const);
FARO_ABSENT(void SideStream::follow(Stream));
FARO_ABSENT(void SideStream::mark(std::size_t));
FARO_ABSENT(void SideStream::lead(Stream, std::size_t));

FARO_ABSENT(void copy_between(const void*, void*, std::uint64_t, int, Stream));
FARO_ABSENT(void copy_rows_between(const void*, void*, const CopiedRows&, int, Stream));
PinnedArray::~PinnedArray() { static_cast<void>(data_); }
FARO_ABSENT(std::byte* PinnedArray::of_bytes(std::uint64_t));
FARO_ABSENT(void finish(int, Stream));
FARO_ABSENT(bool is_done(int, Stream));

FARO_ABSENT_CLASS(PeerEnd);
FARO_ABSENT(PeerEnd::PeerEnd(int, const std::vector<int>&));
FARO_ABSENT(int PeerEnd::device() const);
FARO_ABSENT(bool PeerEnd::reaches_all() const);
FARO_ABSENT(void PeerEnd::mark_ready(Stream));
FARO_ABSENT(void PeerEnd::mark_copied(Stream));
FARO_ABSENT(void PeerEnd::wait_until_ready(const PeerEnd&, Stream) const);
FARO_ABSENT(void PeerEnd::wait_until_copied(const PeerEnd&, Stream) const);
FARO_ABSENT(void PeerEnd::copy(const std::byte*, int, std::byte*, std::uint64_t, Stream) const);

FARO_ABSENT_CLASS(PeerArrays);
FARO_ABSENT(PeerArrays::PeerArrays(int));
FARO_ABSENT(std::string PeerArrays::address_of(void*));
FARO_ABSENT(std::vector<std::byte*> PeerArrays::open(std::span<const std::string>));
FARO_ABSENT(void PeerArrays::close());

// --- cuda_nccl.hpp

FARO_ABSENT(std::string nccl_unique_id());
[[gnu::weak]] NcclLink::NcclLink(ncclComm* comm) : comm_(comm) { refuse(); }
FARO_ABSENT(NcclLink::NcclLink(int, const std::string&, const Ranks&));
[[gnu::weak]] NcclLink::~NcclLink() = default;
FARO_ABSENT(void NcclLink::begin() const);
FARO_ABSENT(void NcclLink::send(const std::byte*, std::uint64_t, int, Stream) const);
FARO_ABSENT(void NcclLink::receive(std::byte*, std::uint64_t, int, Stream) const);
FARO_ABSENT(void NcclLink::keep(const std::byte*, std::byte*, std::uint64_t, Stream) const);
[[gnu::weak]] NcclLink::Memory::Memory(const NcclLink& link, std::uint64_t /*bytes*/) : link_(link) {
  refuse();
}
[[gnu::weak]] NcclLink::Memory::~Memory() { static_cast<void>(link_); }
FARO_ABSENT(void NcclLink::look() const);
FARO_ABSENT(void NcclLink::end() const);
[[gnu::weak]] void NcclLink::abort() noexcept { owned_ = false; }

// --- cuda_measure.hpp

Versions versions() { return {}; }

FARO_ABSENT_MOVABLE(DeviceArray);
FARO_ABSENT(DeviceArray::DeviceArray(std::uint64_t, int));
FARO_ABSENT(std::byte* DeviceArray::data() const);
FARO_ABSENT(std::uint64_t DeviceArray::size() const);
FARO_ABSENT(void DeviceArray::upload(const void*, std::uint64_t));
FARO_ABSENT(void DeviceArray::download(void*, std::uint64_t) const);
FARO_ABSENT(void copy(const void*, void*, std::uint64_t, Stream));

FARO_ABSENT_MOVABLE(NaiveExecutor);
FARO_ABSENT(NaiveExecutor::NaiveExecutor(const Problem&, int));
FARO_ABSENT(void NaiveExecutor::run(const void*, void*, Stream) const);

FARO_ABSENT_MOVABLE(StreamClock);
FARO_ABSENT(StreamClock::StreamClock(int));
FARO_ABSENT(double StreamClock::milliseconds(int, const std::function<void(Stream)>&) const);

// --- device_arrays.hpp

FARO_ABSENT(void require_accessible(const void*, const char*, int));
FARO_ABSENT(int ordinal_of(int));
StreamMemory::StreamMemory(std::uint64_t /*bytes*/, int device, Stream stream)
    : device_(device), stream_(stream) {
  refuse();
}
StreamMemory::~StreamMemory() { data_ = nullptr; }

// --- cuda_index.hpp

FARO_ABSENT(IndexCalibration tune(int, bool));
FARO_ABSENT(Indexed indexed_on_device(const void*, std::uint64_t, IndexType, Direction, int));
FARO_ABSENT(Indexed copied_on_device(const void*, std::uint64_t, IndexType, Direction, int, Stream));
FARO_ABSENT(Indexed to_device(const Indexed&, int));
Indexed to_host(const Indexed& indexed) {
  if (!indexed.on_host()) refuse();
  return indexed;
}
FARO_ABSENT(void validate(const Indexed&));
FARO_ABSENT(Recognition recognise(const Indexed&, const RecogniseLimits&));
FARO_ABSENT(Indexed redirected(const Indexed&, Direction));
FARO_ABSENT(Indexed compose(const Indexed&, const Indexed&));
FARO_ABSENT(Indexed compose(const Permutation&, const Permutation&));
FARO_ABSENT(Indexed random_on_device(std::uint64_t, std::uint64_t, int));

// --- runtime_compiler.hpp

FARO_ABSENT_CLASS(RuntimeModule);
FARO_ABSENT(RuntimeModule::RuntimeModule(const CompiledText&, int));
FARO_ABSENT(int RuntimeModule::device() const);
FARO_ABSENT(RuntimeKernel RuntimeModule::kernel(const std::string&, bool) const);
RuntimeKernel::RuntimeKernel(std::shared_ptr<const RuntimeModule> module, void* function, std::string name)
    : module_(std::move(module)), function_(function), name_(std::move(name)) {}
FARO_ABSENT(void RuntimeKernel::launch(std::uint64_t, int, int, std::uint64_t, void**, Stream) const);
FARO_ABSENT(int RuntimeKernel::registers() const);
FARO_ABSENT(std::uint64_t RuntimeKernel::local_bytes() const);
FARO_ABSENT(std::uint64_t RuntimeKernel::static_shared_bytes() const);
FARO_ABSENT(int RuntimeKernel::threads_per_block_max() const);
FARO_ABSENT(int RuntimeKernel::blocks_per_multiprocessor(int, std::uint64_t) const);
FARO_ABSENT(std::shared_ptr<const RuntimeModule> compile(const RuntimeSource&, int));

}  // namespace faro::cuda
