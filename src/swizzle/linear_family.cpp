#include "swizzle/function_builder.hpp"

// The offset and size of a warp's load: constant + sum of factor * unit * id, all constants from 0 on.
namespace faro::swizzle::detail {
namespace {

std::vector<std::int64_t> units_of(const HoleDeclaration& hole) {
  return hole.kind == HoleKind::warp_size ? std::vector<std::int64_t>{hole.warp} : hole.units;
}

class LinearFamily final : public Family {
 public:
  explicit LinearFamily(const HoleDeclaration& hole)
      : base_(hole.most_constant + 1), units_(units_of(hole)) {}

  void build(const HoleDeclaration& hole, FunctionBuilder& builder) const {
    std::vector<std::int32_t> table(static_cast<std::size_t>(cells(hole)));
    const std::uint64_t count = count_linear(hole);
    for (std::uint64_t source = 0; source < count; ++source) {
      if (source % 1024 == 0) builder.check_limits();
      const LinearParameters p = linear(source);
      for_each_cell(hole, [&](std::size_t cell, std::span<const std::int64_t> arguments) {
        table[cell] = static_cast<std::int32_t>(value_of(Parameters(p), arguments));
      });
      std::int32_t score = p.constant != 0 ? 1 : 0;
      for (const std::int64_t factor : p.factors) score += factor != 0 ? 2 : 0;
      builder.add_table(table, score, source);
    }
  }

  Parameters parameters(std::uint64_t source) const override { return linear(source); }

 private:
  // The constant is the lowest digit, then the factors.
  LinearParameters linear(std::uint64_t source) const {
    const auto base = static_cast<std::uint64_t>(base_);
    LinearParameters p;
    p.constant = static_cast<std::int64_t>(source % base);
    p.units = units_;
    for (std::size_t j = 0; j < units_.size(); ++j) {
      source /= base;
      p.factors.push_back(static_cast<std::int64_t>(source % base));
    }
    return p;
  }

  std::int64_t base_;
  std::vector<std::int64_t> units_;
};

}  // namespace

std::shared_ptr<const Family> build_linear(const HoleDeclaration& hole, FunctionBuilder& builder) {
  auto family = std::make_shared<LinearFamily>(hole);
  family->build(hole, builder);
  return family;
}

std::uint64_t count_linear(const HoleDeclaration& hole) {
  std::uint64_t count = 1;
  for (std::size_t j = 0; j <= units_of(hole).size(); ++j)
    count *= static_cast<std::uint64_t>(hole.most_constant) + 1;
  return count;
}

}  // namespace faro::swizzle::detail
