# The report page: viewer/dist/template.html, made by node and npm (scripts/build-page), goes
# into the program as it is. All build folders share the one in viewer/dist. Gives page_sources.
option(NOSLIP_PAGE "compile the report page in (needs node and npm)" ON)
find_program(NOSLIP_NODE NAMES node nodejs)
find_program(NOSLIP_NPM npm)

set(page "${CMAKE_SOURCE_DIR}/viewer/dist/template.html")
set(page_source "${CMAKE_BINARY_DIR}/page.c")
if(NOSLIP_PAGE AND NOSLIP_NODE AND NOSLIP_NPM)
  file(GLOB_RECURSE page_inputs CONFIGURE_DEPENDS "viewer/src/*")
  add_custom_command(OUTPUT "${page}"
    COMMAND "${CMAKE_SOURCE_DIR}/scripts/build-page"
    DEPENDS ${page_inputs} scripts/build-page viewer/build.mjs viewer/package.json
            viewer/package-lock.json
    COMMENT "Building the report page" VERBATIM)
  # its bytes and their length, known when the page is
  add_custom_command(OUTPUT "${page_source}"
    COMMAND ${CMAKE_COMMAND} "-DPAGE=${page}" "-DOUT=${page_source}"
            -P "${CMAKE_SOURCE_DIR}/cmake/PageLength.cmake"
    DEPENDS "${page}" cmake/PageLength.cmake VERBATIM)
  set(page_sources "${page_source}")
else()
  if(NOSLIP_PAGE)
    message(WARNING "node and npm were not found: `noslip run --report` will not work. "
                    "scripts/setup installs them.")
  endif()
  file(CONFIGURE OUTPUT "${page_source}" @ONLY CONTENT [[
#include "out/report/page.h"

const char *const ns_page_bytes = 0;
const size_t ns_page_length = 0;
]])
  set(page_sources "${page_source}")
endif()
