"""Second implementations of a library's promotion: compilers, tracers and imitations; one file for each
library.
"""
