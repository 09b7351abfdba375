# The report page as a C file: cmake -DPAGE=template.html -DOUT=page.c -P ...
# The hash is there for compiler caches, which do not see what .incbin reads.
file(SIZE "${PAGE}" length)
file(SHA256 "${PAGE}" hash)
file(WRITE "${OUT}" "#include \"out/report/page.h\"

extern const char ns_page_begin[];
__asm__(\".pushsection .rodata\\n\"
        \".hidden ns_page_begin\\n.globl ns_page_begin\\nns_page_begin:\\n\"
        \".incbin \\\"${PAGE}\\\"\\n\" /* ${hash} */
        \".byte 0\\n.popsection\\n\");
const char *const ns_page_bytes = ns_page_begin;
const size_t ns_page_length = ${length};
")
