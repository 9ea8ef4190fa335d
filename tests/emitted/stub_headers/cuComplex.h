// The types are in cuda_on_cpu.hpp.
