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
  file(CONFIGURE OUTPUT "${page_source}" @ONLY CONTENT [[
#include "out/report/page.h"

extern const char ns_page_begin[], ns_page_end[];
__asm__(".pushsection .rodata\n"
        ".hidden ns_page_begin\n.globl ns_page_begin\nns_page_begin:\n"
        ".incbin \"@page@\"\n"
        ".hidden ns_page_end\n.globl ns_page_end\nns_page_end:\n"
        ".byte 0\n.popsection\n");
const char *const ns_page_bytes = ns_page_begin;
]])
  # the length is known when the page is: page_length.c
  set(page_length "${CMAKE_BINARY_DIR}/page_length.c")
  add_custom_command(OUTPUT "${page_length}"
    COMMAND ${CMAKE_COMMAND} "-DPAGE=${page}" "-DOUT=${page_length}"
            -P "${CMAKE_SOURCE_DIR}/cmake/PageLength.cmake"
    DEPENDS "${page}" cmake/PageLength.cmake VERBATIM)
  set_source_files_properties("${page_source}" PROPERTIES OBJECT_DEPENDS "${page}")
  set(page_sources "${page_source}" "${page_length}")
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
