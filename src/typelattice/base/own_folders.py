"""The folder of this package, and the folder from which Python imports it.

Whatever looks for a file of the package, or tells a process where the package is, takes them from here. So
does whatever asks whether code is ours: code objects name their files as Python found them, and a link in
such a path stays in it.
"""
from os import path

PACKAGE_FOLDER = path.dirname(path.dirname(__file__))
REAL_PACKAGE_FOLDER = path.realpath(PACKAGE_FOLDER)  # without links
IMPORT_FOLDER = path.dirname(REAL_PACKAGE_FOLDER)
