# Loading shared libraries takes most of the time of a start. Debian's shared HDF5 brings some thirty others (for a
# driver that reads from web storage), LAPACKE four; their archives, in the same packages, bring two and none.
# The program takes an archive where there is one that links; the libraries of noslip take the shared ones.
# Sets NOSLIP_PROGRAM_DEPENDENCIES.
option(NOSLIP_ARCHIVES "link the program with archives of HDF5 and LAPACKE, if there are any: a faster start" ON)
include(CheckCSourceCompiles)

# Sets `result` to 1 if `source` can be linked with these libraries.
function(noslip_archive_links result source)
  set(CMAKE_REQUIRED_INCLUDES ${NOSLIP_HDF5_INCLUDE_DIRS} ${NOSLIP_LAPACK_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${ARGN} Threads::Threads ${CMAKE_DL_LIBS} m)
  check_c_source_compiles("${source}" ${result})
endfunction()

set(NOSLIP_PROGRAM_DEPENDENCIES ${NOSLIP_DEPENDENCIES})
if(NOSLIP_ARCHIVES)
  # from the folders that pkg-config names: the headers must belong to them
  pkg_get_variable(lapacke_dir lapacke libdir)
  find_library(NOSLIP_HDF5_A NAMES libhdf5.a HINTS ${NOSLIP_HDF5_LIBRARY_DIRS} ${NOSLIP_HDF5_LIBDIR} NO_DEFAULT_PATH)
  find_library(NOSLIP_LAPACKE_A NAMES liblapacke.a HINTS ${lapacke_dir} NO_DEFAULT_PATH)
  find_library(NOSLIP_SZ sz)
  find_library(NOSLIP_Z z)
  mark_as_advanced(NOSLIP_HDF5_A NOSLIP_LAPACKE_A NOSLIP_SZ NOSLIP_Z)
  if(NOSLIP_HDF5_A)
    set(archive "${NOSLIP_HDF5_A}")
    foreach(library IN ITEMS "${NOSLIP_SZ}" "${NOSLIP_Z}") # filters, if it was built with them
      if(library)
        list(APPEND archive "${library}")
      endif()
    endforeach()
    noslip_archive_links(NOSLIP_HDF5_A_LINKS "
      #include <hdf5.h>
      int main(void)
      {
          hid_t file = H5Fcreate(\"a\", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
          return H5Fclose(file) < 0 || H5Tget_size(H5T_NATIVE_DOUBLE) != 8;
      }" ${archive})
    if(NOSLIP_HDF5_A_LINKS)
      list(TRANSFORM NOSLIP_PROGRAM_DEPENDENCIES REPLACE "^PkgConfig::NOSLIP_HDF5$" "${archive}")
    endif()
  endif()
  if(NOSLIP_LAPACKE_A)
    noslip_archive_links(NOSLIP_LAPACKE_A_LINKS "
      #include <lapacke.h>
      int main(void)
      {
          double a = 1, s, u, v, w;
          return LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'A', 1, 1, &a, 1, &s, &u, 1, &v, 1, &w) != 0;
      }" "${NOSLIP_LAPACKE_A}" PkgConfig::NOSLIP_LAPACK)
    if(NOSLIP_LAPACKE_A_LINKS)  # in front of the shared one, which then is not needed
      list(PREPEND NOSLIP_PROGRAM_DEPENDENCIES "${NOSLIP_LAPACKE_A}")
    endif()
  endif()
endif()
