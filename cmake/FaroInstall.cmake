# cmake --install: the libraries, their headers, and a package for find_package(faro CONFIG). Every part but libfaro itself is a component
# of its own, faro_c, faro_swizzle, faro_mpi and faro_command: what was built of them is installed, and what is lacking is said.
include(CMakePackageConfigHelpers)

set(faro_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/faro)
install(CODE "
if(NOT EXISTS [[$<TARGET_FILE:faro_library>]])
  message(FATAL_ERROR [[Nothing to install: libfaro was not built; `make build`, or `cmake --build ${PROJECT_BINARY_DIR}`, builds it]])
endif()")
install(TARGETS faro_library EXPORT faroTargets FILE_SET HEADERS)
install(EXPORT faroTargets NAMESPACE faro:: DESTINATION ${faro_package_dir})
# What installs each part that was built, when all is installed (install_parts.cmake.in).
set(faro_parts "")
foreach(part IN ITEMS c swizzle mpi)
  if(NOT TARGET faro_${part})
    continue()
  endif()
  set(headers "")
  if(NOT part STREQUAL "c")  # whose header is one of libfaro's
    set(headers FILE_SET HEADERS COMPONENT faro_${part} EXCLUDE_FROM_ALL)
  endif()
  install(TARGETS faro_${part} EXPORT faro_${part}Targets LIBRARY COMPONENT faro_${part} EXCLUDE_FROM_ALL
    ARCHIVE COMPONENT faro_${part} EXCLUDE_FROM_ALL ${headers})
  install(EXPORT faro_${part}Targets NAMESPACE faro:: DESTINATION ${faro_package_dir} COMPONENT faro_${part} EXCLUDE_FROM_ALL)
  string(APPEND faro_parts "faro_install_part(faro_${part} [[$<TARGET_FILE:faro_${part}>]] faro_${part})\n")
endforeach()
if(TARGET faro)
  string(APPEND faro_parts "faro_install_part(faro_command [[$<TARGET_FILE:faro>]] faro)\n")
endif()
foreach(extra IN ITEMS network swizzle papers)
  if(NOT extra IN_LIST faro_extras)
    string(APPEND faro_parts "message(STATUS \"Not installed: extras/${extra}, for FARO_EXTRAS leaves it out\")\n")
  endif()
endforeach()
if(NOT TARGET faro_mpi)
  set(why "no MPI was found; where one was installed since, `make build` finds it")
  if(FARO_MPI STREQUAL "OFF")
    set(why "FARO_MPI is OFF")
  endif()
  string(APPEND faro_parts "message(STATUS \"Not installed: faro_mpi, for ${why}\")\n")
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/faroConfig.cmake.in ${PROJECT_BINARY_DIR}/faroConfig.cmake
  INSTALL_DESTINATION ${faro_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/faroConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/faroConfig.cmake ${PROJECT_BINARY_DIR}/faroConfigVersion.cmake
  DESTINATION ${faro_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Compiled by whoever uses it: a module file is for one compiler.
install(FILES ${PROJECT_SOURCE_DIR}/bindings/fortran/faro.f90 ${PROJECT_SOURCE_DIR}/bindings/fortran/faro_descriptors.c
  DESTINATION ${CMAKE_INSTALL_DATADIR}/faro/fortran)

# faro.pc, faro_swizzle.pc and faro_c.pc, for those who build without CMake: `g++ -std=c++20 main.cpp $(pkg-config --cflags --libs faro)`. A static
# libfaro must be linked with what it uses; a shared one is linked with it already. Paths are relative to the files, so that an
# installed folder may be moved.
set(faro_pc_uses "-Wl,--gc-sections,--as-needed -lhwy -lfmt")
set(faro_pc_cuda "")
if(FARO_HAVE_CUDA)
  # Elsewhere on another machine: `pkg-config --define-variable=cudadir=…`.
  set(faro_pc_cuda "cudadir=${CUDAToolkit_LIBRARY_DIR}")
  string(APPEND faro_pc_uses " -L\${cudadir} -lcudart_static -lrt")
endif()
if(FARO_URING_LIBRARY)
  string(APPEND faro_pc_uses " -luring")
endif()
foreach(library IN LISTS faro_codec_libraries CMAKE_DL_LIBS)
  string(APPEND faro_pc_uses " -l${library}")
endforeach()
string(APPEND faro_pc_uses " ${OpenMP_CXX_FLAGS} -pthread")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE faro_pc_up)

# One file: PACKAGE, how it is linked, what it is, the packages that it requires, what else it uses, and its component where it has one.
function(faro_install_pc package link description requires uses)
  set(uses_always "${uses}")
  set(uses_private "")
  if(BUILD_SHARED_LIBS)
    set(uses_always "")
    set(uses_private "${uses}")
  endif()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/faro.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  set(component "")
  if(ARGN)
    set(component COMPONENT ${ARGN} EXCLUDE_FROM_ALL)
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${component})
endfunction()
# -lfaro alone is libfaro.so, the C interface, wherever that lies beside libfaro.a.
set(faro_pc_link -l:libfaro.a)
if(BUILD_SHARED_LIBS)
  set(faro_pc_link -lfaro_cxx)
endif()
faro_install_pc(faro ${faro_pc_link} "${PROJECT_DESCRIPTION}" "" "${faro_pc_uses}")
if(TARGET faro_c)
  faro_install_pc(faro_c -lfaro "${PROJECT_DESCRIPTION}, from C and other languages" "" "" faro_c)
endif()
if(TARGET faro_swizzle)
  faro_install_pc(faro_swizzle -lfaro_swizzle "Sketches of kernels with holes, and the search that fills them" faro "" faro_swizzle)
endif()

configure_file(${CMAKE_CURRENT_LIST_DIR}/install_parts.cmake.in ${PROJECT_BINARY_DIR}/generated/install_parts.cmake @ONLY)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/install_parts.cmake INPUT ${PROJECT_BINARY_DIR}/generated/install_parts.cmake)
install(SCRIPT ${PROJECT_BINARY_DIR}/install_parts.cmake)
