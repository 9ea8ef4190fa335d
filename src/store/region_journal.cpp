#include "store/region_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "file/checksums.hpp"

namespace faro::store {

RegionJournal::RegionJournal(const std::filesystem::path& path, const std::string& work,
                             double checkpoint_seconds)
    : journal_(path, fmt::format("{:016x} store", file::checksum(std::as_bytes(std::span(work)), 1))),
      checkpoint_seconds_(checkpoint_seconds) {}

std::span<const std::uint64_t> RegionJournal::begin_sweep(std::uint64_t regions, std::function<void()> sync) {
  checkpoint();
  stored_.clear();
  before_ += regions_;
  regions_ = regions;
  sync_ = std::move(sync);
  const std::span<const std::uint64_t> all(journal_.finished());
  const std::span<const std::uint64_t> left = all.subspan(std::min(before_, all.size()));
  return left.first(std::min<std::size_t>(regions, left.size()));
}

void RegionJournal::add(std::uint64_t checksum, bool is_settled) {
  stored_.push_back(checksum);
  if (is_settled) settled_ = stored_.size();
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - noted_;
  if (since.count() >= checkpoint_seconds_) checkpoint();
}

void RegionJournal::checkpoint() {
  if (settled_ == 0) return;
  sync_();
  for (std::size_t region = 0; region < settled_; ++region) journal_.add(stored_[region]);
  stored_.erase(stored_.begin(), stored_.begin() + static_cast<std::ptrdiff_t>(settled_));
  settled_ = 0;
  journal_.sync();
  noted_ = std::chrono::steady_clock::now();
}

}  // namespace faro::store
