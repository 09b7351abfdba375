# Sweeps over several processes and machines: noslip-mpi.so, a module that the program loads
# when mpirun or srun has started it (src/base/exchange.h). Without MPI everything else is
# built.
option(NOSLIP_MPI "build the module for mpirun, if MPI is there" ON)
if(NOSLIP_MPI AND NOT NOSLIP_FUZZ)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    add_library(noslip_mpi MODULE src/base/exchange_mpi.c)
    target_link_libraries(noslip_mpi PRIVATE noslip_flags MPI::MPI_C)
    set_target_properties(noslip_mpi PROPERTIES PREFIX "" OUTPUT_NAME noslip-mpi
      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
    set(mpi_dir "${CMAKE_INSTALL_LIBDIR}/noslip")
    install(TARGETS noslip_mpi DESTINATION "${mpi_dir}")
    # from the program to the module where both are installed
    file(RELATIVE_PATH mpi_place "/${CMAKE_INSTALL_BINDIR}" "/${mpi_dir}/noslip-mpi.so")
    set_property(SOURCE src/base/exchange.c APPEND PROPERTY COMPILE_DEFINITIONS
      NS_EXCHANGE_MODULE="${mpi_place}")
  else()
    message(STATUS "no MPI: `mpirun noslip sweep` will not work. scripts/setup installs it.")
  endif()
endif()
