# SUNDIALS CVODE with serial vectors and dense matrices: target Sundials::Cvode.
#
# SUNDIALS' own CMake package is not used: Debian's asks for OpenMP and its MPI parts, of which
# CVODE on serial vectors needs nothing.
find_path(SundialsCvode_INCLUDE_DIR cvode/cvode.h)
set(libraries "")
foreach(part cvode sunlinsoldense sunmatrixdense nvecserial)
  find_library(SundialsCvode_${part}_LIBRARY sundials_${part})
  mark_as_advanced(SundialsCvode_${part}_LIBRARY)
  list(APPEND libraries SundialsCvode_${part}_LIBRARY)
endforeach()
mark_as_advanced(SundialsCvode_INCLUDE_DIR)

set(config "${SundialsCvode_INCLUDE_DIR}/sundials/sundials_config.h")
if(EXISTS "${config}")
  file(STRINGS "${config}" line REGEX "define SUNDIALS_VERSION \"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" SundialsCvode_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SundialsCvode
  REQUIRED_VARS SundialsCvode_cvode_LIBRARY SundialsCvode_INCLUDE_DIR ${libraries}
  VERSION_VAR SundialsCvode_VERSION)

if(SundialsCvode_FOUND AND NOT TARGET Sundials::Cvode)
  add_library(Sundials::Cvode INTERFACE IMPORTED GLOBAL)
  target_include_directories(Sundials::Cvode SYSTEM INTERFACE "${SundialsCvode_INCLUDE_DIR}")
  foreach(library IN LISTS libraries)
    target_link_libraries(Sundials::Cvode INTERFACE "${${library}}")
  endforeach()
endif()
