#include "faro/permutation/computed.hpp"

#include <utility>

#include "faro/error.hpp"
#include "permutation/computed_map.hpp"

namespace faro {
Computed::Computed(std::shared_ptr<const detail::ComputedMap> map, Direction direction)
    : map_(std::move(map)), direction_(direction) {
  FARO_CHECK(map_ != nullptr);
}

std::uint64_t Computed::count() const { return map_->count(); }

std::uint64_t Computed::operator()(std::uint64_t x) const {
  return direction_ == Direction::scatter ? map_->image(x) : map_->preimage(x);
}

std::string Computed::text() const {
  return direction_ == Direction::scatter ? map_->text() : "inverse(" + map_->text() + ")";
}

bool operator==(const Computed& a, const Computed& b) {
  return a.direction_ == b.direction_ && (a.map_ == b.map_ || a.map_->text() == b.map_->text());
}

}  // namespace faro
