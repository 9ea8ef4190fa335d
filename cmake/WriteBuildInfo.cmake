# Writes OUTPUT, leaving it untouched where nothing changed. A tree without git is of an unknown commit.
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(READ ${CUDA_STATUS_FILE} cuda_status)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [=[
// Written by the build.
#pragma once
#define FARO_VERSION "@VERSION@"
#define FARO_COMMIT "@commit@"
#define FARO_CUDA_STATUS "@cuda_status@"
]=])
