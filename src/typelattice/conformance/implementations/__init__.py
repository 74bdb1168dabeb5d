"""Second implementations of a library's promotion: compilers, tracers and imitations; a file a library."""
