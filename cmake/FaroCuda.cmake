# The CUDA engine: whether it is built, and the one line that says so.
#
#     FARO_CUDA=AUTO    built where there is a GPU and a CUDA compiler works; the library is whole without it
#     FARO_CUDA=ON      built, GPU or not; an error where no compiler works
#     FARO_CUDA=OFF     not built
#
# The compiler is CUDACXX or CMAKE_CUDA_COMPILER where one is set, else nvcc of CUDA_HOME, PATH, /usr/local/cuda or
# build/cuda-toolkit (tools/install_dependencies.sh). Sets FARO_HAVE_CUDA. The runtime is linked statically and loads the driver when it is first used, so what is built here
# runs, without a GPU, on machines that have none.
set(FARO_HAVE_CUDA OFF)
set(faro_least_cuda 12.0)  # the first with C++20

# Sets faro_cuda_missing to what is wanting; empty where CUDA can be compiled and linked.
macro(faro_look_for_cuda)
  set(faro_cuda_missing "")
  find_program(FARO_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda ${PROJECT_SOURCE_DIR}/build/cuda-toolkit
    PATH_SUFFIXES bin)
  mark_as_advanced(FARO_NVCC)
  # The environment reaches the trial of check_language, too.
  if(FARO_NVCC AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${FARO_NVCC})
  endif()
  if(NOT DEFINED ENV{CUDAHOSTCXX})
    set(ENV{CUDAHOSTCXX} ${CMAKE_CXX_COMPILER})
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND faro_has_gpu AND FARO_CPU_TARGETS STREQUAL "NATIVE")
    set(CMAKE_CUDA_ARCHITECTURES native)  # of this machine's GPUs
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # 8.x runs the first; 10 and later compile the last when they load it.
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE)  # what a former trial did not find may be there now
    if(DEFINED ENV{CUDACXX})
      include(CheckLanguage)
      check_language(CUDA)
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # linked by name, so that the installed package can do the same
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    find_package(CUDAToolkit QUIET)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS faro_least_cuda)
      set(faro_cuda_missing "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is older than ${faro_least_cuda}")
    elseif(NOT TARGET CUDA::cudart_static)
      set(faro_cuda_missing "no static CUDA runtime beside ${CMAKE_CUDA_COMPILER}")
    endif()
  elseif(DEFINED ENV{CUDACXX})
    set(faro_cuda_missing "$ENV{CUDACXX} does not compile CUDA")
  else()
    set(faro_cuda_missing "no nvcc in CUDA_HOME, PATH or /usr/local/cuda")
  endif()
endmacro()

# "80-real;90-real;90-virtual" is "sm_80 sm_90 and PTX for compute_90".
function(faro_describe_architectures result)
  set(words "")
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^([0-9]+[a-z]?)-real$")
      string(APPEND words " sm_${CMAKE_MATCH_1}")
    elseif(architecture MATCHES "^([0-9]+[a-z]?)-virtual$")
      string(APPEND words " and PTX for compute_${CMAKE_MATCH_1}")
    else()
      string(APPEND words " ${architecture}")
    endif()
  endforeach()
  string(STRIP "${words}" words)
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

# Whether this machine has a GPU that CUDA could use.
function(faro_look_for_gpu result)
  set(found OFF)
  if(EXISTS /dev/nvidiactl)
    set(found ON)
  else()
    execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(found ON)
    endif()
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

set(faro_has_gpu OFF)
if(FARO_CUDA STREQUAL "AUTO")
  faro_look_for_gpu(faro_has_gpu)
endif()

if(FARO_CUDA STREQUAL "OFF")
  set(faro_cuda_status "not built: FARO_CUDA=OFF")
elseif(FARO_CUDA STREQUAL "AUTO" AND NOT faro_has_gpu)
  set(faro_cuda_status "not built: no GPU where faro was built; FARO_CUDA=ON builds it all the same")
elseif(FARO_CUDA STREQUAL "AUTO" OR FARO_CUDA STREQUAL "ON")
  faro_look_for_cuda()
  if(faro_cuda_missing STREQUAL "")
    set(FARO_HAVE_CUDA ON)
    faro_describe_architectures(faro_architectures)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" faro_cuda_version ${CMAKE_CUDA_COMPILER_VERSION})
    set(faro_cuda_status "built: CUDA ${faro_cuda_version}, ${faro_architectures}")
  elseif(FARO_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FARO_CUDA=ON, but ${faro_cuda_missing}")
  else()
    set(faro_cuda_status "not built: ${faro_cuda_missing}")
  endif()
else()
  message(FATAL_ERROR "FARO_CUDA is `${FARO_CUDA}`; wanted AUTO, ON or OFF")
endif()
# Where tests only compile kernels, for there is no GPU to run them: two fifths less time. `make build`, `make wheel` and what is made for
# machines with a GPU compile them again (FARO_CHECKS=OFF).
set(faro_cuda_level "")
if(FARO_HAVE_CUDA AND FARO_CHECKS STREQUAL "quick" AND NOT CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13.0)
  faro_look_for_gpu(faro_has_gpu)
  if(NOT faro_has_gpu)
    set(faro_cuda_level -Ofc=max)
    string(APPEND faro_cuda_status ", not optimised: for `make test` without a GPU")
  endif()
endif()
# Code for many generations of GPUs, of which a machine loads one, is compressed: to a fifteenth of its size, a half of what a wheel's own
# compression leaves. The driver expands it when the first of a file's kernels is called.
set(faro_cuda_compression "")
list(LENGTH CMAKE_CUDA_ARCHITECTURES faro_generations)
if(FARO_HAVE_CUDA AND faro_generations GREATER 3 AND NOT CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
  set(faro_cuda_compression --compress-mode=size)
endif()
message(STATUS "cuda: ${faro_cuda_status}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cuda_status.txt CONTENT "${faro_cuda_status}")


# How the kernels of `target` are compiled, and the CUDA runtime linked to it.
function(faro_use_cuda target)
  if(NOT FARO_HAVE_CUDA)
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>
    $<$<COMPILE_LANGUAGE:CUDA>:${faro_cuda_level}> $<$<COMPILE_LANGUAGE:CUDA>:${faro_cuda_compression}>)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  # A program that has a CUDA runtime of its own must not find ours in the shared library.
  target_link_options(${target} PRIVATE $<$<BOOL:${BUILD_SHARED_LIBS}>:LINKER:--exclude-libs,libcudart_static.a>)
endfunction()

# build/bench/NAME of these sources, a benchmark on a GPU. It is carried to other machines with its libraries beside it
# (tools/gpu_folder.sh).
function(faro_gpu_bench name)
  set(sources ${ARGN} ${PROJECT_SOURCE_DIR}/bench/arguments.cpp ${PROJECT_SOURCE_DIR}/bench/gpu/setting.cpp)
  list(REMOVE_DUPLICATES sources)
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE faro::faro fmt::fmt faro_build_info)
  faro_use_cuda(${name})
  faro_own_target(${name})
  set_target_properties(${name} PROPERTIES BUILD_RPATH $ORIGIN RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
endfunction()
