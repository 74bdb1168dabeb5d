"""Repair: changes of the user's source, each of which ran in a copy.

`copies` runs a program in a copy of its folder, and reads what it gave. `proof` compares values, and calls
the changed functions as other callers would. `patch` searches for the changes that keep a program narrow.
`port` compares a program under two releases of NumPy. `survey` calls the public functions of packages.
Repair imports all but `show`. Begin with `patch/patch_search.py`.
"""
