#include "network/cpu_kernel_choice.hpp"

namespace faro::network::cpu {
namespace {

KernelChoice exchange_of(const ElementType& element) {
  const bool keyed = element.with_value;
  switch (element.scalar) {
    case Scalar::i32:
      return keyed ? KernelChoice{Kernel::exchange_i64, Recoding::key32}
                   : KernelChoice{Kernel::exchange_i32, Recoding::none};
    case Scalar::u32:
      return keyed ? KernelChoice{Kernel::exchange_i64, Recoding::key32_u32}
                   : KernelChoice{Kernel::exchange_i32, Recoding::u32};
    case Scalar::f32:
      return keyed ? KernelChoice{Kernel::exchange_i64, Recoding::key32_f32}
                   : KernelChoice{Kernel::exchange_i32, Recoding::f32};
    case Scalar::i64:
      return keyed ? KernelChoice{Kernel::exchange_u128, Recoding::key64_signed}
                   : KernelChoice{Kernel::exchange_i64, Recoding::none};
    case Scalar::u64:
      return keyed ? KernelChoice{Kernel::exchange_u128, Recoding::key64}
                   : KernelChoice{Kernel::exchange_i64, Recoding::u64};
    case Scalar::f64:
      return keyed ? KernelChoice{Kernel::exchange_u128, Recoding::key64_f64}
                   : KernelChoice{Kernel::exchange_i64, Recoding::f64};
    default:
      return {};
  }
}

Kernel hadamard_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::i32:
    case Scalar::u32:
      return Kernel::hadamard_u32;
    case Scalar::i64:
    case Scalar::u64:
      return Kernel::hadamard_u64;
    case Scalar::f32:
    case Scalar::c64:
      return Kernel::hadamard_f32;
    default:
      return Kernel::hadamard_f64;
  }
}

}  // namespace

KernelChoice kernel_for(const Operator& op, const ElementType& element) {
  switch (op.kind) {
    case OperatorKind::compare_exchange:
      return exchange_of(element);
    case OperatorKind::hadamard:
      return {hadamard_of(element.scalar), Recoding::none};
    case OperatorKind::fourier:
    case OperatorKind::inverse_fourier:
      return {element.scalar == Scalar::c64 ? Kernel::fourier_f32 : Kernel::fourier_f64, Recoding::none};
    default:
      return {};
  }
}

std::uint64_t lane_bytes(Kernel kernel) {
  switch (kernel) {
    case Kernel::exchange_i32:
    case Kernel::hadamard_u32:
    case Kernel::hadamard_f32:
    case Kernel::fourier_f32:
      return 4;
    default:
      return 8;
  }
}

}  // namespace faro::network::cpu
