# The length of the report page as a C file: cmake -DPAGE=template.html -DOUT=page_length.c -P
# ...
file(SIZE "${PAGE}" length)
file(WRITE "${OUT}" "#include \"out/report/page.h\"

const size_t ns_page_length = ${length};
")
