#include "swizzle/function_builder.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::swizzle::detail {

std::uint64_t RowTable::hash(std::span<const std::int32_t> row) {
  std::uint64_t h = 0;
  for (const std::int32_t value : row) h = mixed(h ^ static_cast<std::uint32_t>(value));
  return h;
}

std::optional<std::uint32_t> RowTable::find(std::span<const std::int32_t> wanted) const {
  const std::uint32_t found =
      slots_.find(hash(wanted), [&](std::uint32_t known) { return std::ranges::equal(row(known), wanted); });
  if (found == HashSlots::kEmpty) return std::nullopt;
  return found;
}

std::uint32_t RowTable::number(std::span<const std::int32_t> row_values) {
  if (const std::optional<std::uint32_t> known = find(row_values)) return *known;
  const auto fresh = static_cast<std::uint32_t>(count_++);
  values_.insert(values_.end(), row_values.begin(), row_values.end());
  slots_.insert(hash(row_values), fresh, [this](std::uint32_t known) { return hash(row(known)); });
  return fresh;
}

namespace {

// Numbers of rows and of functions that memory holds.
constexpr std::size_t kMostNumbers = std::size_t{1} << 28;

std::int64_t row_length_of(const HoleDeclaration& hole) {
  return hole.arguments.empty() ? 1 : hole.arguments[0].asked;
}

}  // namespace

FunctionBuilder::FunctionBuilder(const HoleDeclaration& hole, const FunctionLimits& limits)
    : hole_(hole),
      limits_(limits),
      clock_(limits.processor_time),
      columns_(static_cast<std::size_t>(cells(hole) / row_length_of(hole))),
      rows_(row_length_of(hole)) {}

void FunctionBuilder::cut_off(Limit limit, const std::string& clause, const std::string& wanted) const {
  const std::string functions = "the functions of `" + hole_.name + "`";
  throw CutOff(limit, functions + " " + clause,
               {.code = ErrorCode::unsupported,
                .operation = "list " + functions,
                .got = "not finished: " + std::to_string(count_) + " functions so far",
                .wanted = wanted,
                .remedy = std::string(limit == Limit::time ? "a longer time limit, " : "") +
                          "an easier space or smaller ranges"});
}

void FunctionBuilder::check_limits() const {
  if (rows_.size() * rows_.length() > kMostNumbers || count_ * columns_ > kMostNumbers) {
    cut_off(Limit::size, "take tables of more than 2^28 numbers", "tables of at most 2^28 numbers");
  }
  if (limits_.seconds > 0 && clock_.seconds() > limits_.seconds) {
    cut_off(Limit::time, "were not all listed", "an end within the time limit");
  }
}

void FunctionBuilder::add(std::span<const std::uint32_t> rows, std::uint64_t hash, std::int32_t score,
                          std::uint64_t source) {
  const std::uint32_t known = slots_.find(hash, [&](std::uint32_t f) {
    return hashes_[f] == hash && std::equal(rows.begin(), rows.end(),
                                            row_numbers_.begin() + static_cast<std::ptrdiff_t>(f * columns_));
  });
  if (known != HashSlots::kEmpty) {
    if (score < scores_[known]) {
      scores_[known] = score;
      sources_[known] = source;
    }
    return;
  }
  if (count_ >= limits_.most_functions) {
    const std::string most = std::to_string(limits_.most_functions);
    cut_off(Limit::size, "are more than " + most, "at most " + most + " functions");
  }
  if (count_ % 1024 == 0) check_limits();
  row_numbers_.insert(row_numbers_.end(), rows.begin(), rows.end());
  hashes_.push_back(hash);
  scores_.push_back(score);
  sources_.push_back(source);
  slots_.insert(hash, static_cast<std::uint32_t>(count_), [this](std::uint32_t f) { return hashes_[f]; });
  ++count_;
}

void FunctionBuilder::add_table(std::span<const std::int32_t> table, std::int32_t score,
                                std::uint64_t source) {
  scratch_.resize(columns_);
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < columns_; ++k) {
    scratch_[k] = rows_.number(table.subspan(k * rows_.length(), rows_.length()));
    hash += hash_part(k, scratch_[k]);
  }
  add(scratch_, hash, score, source);
}

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) result.push_back(d);
  }
  return result;
}

}  // namespace faro::swizzle::detail
