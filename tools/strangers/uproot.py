from pathlib import Path

import awkward as ak
import numpy as np
import uproot

dice = np.random.default_rng(13)
with uproot.recreate("events.root") as file:
    file["tree"] = {"x": dice.normal(size=50).astype(np.float32), "n": np.arange(50, dtype=np.int16)}
    file["heights"] = np.histogram(dice.normal(size=100), bins=5, range=(-2, 2))
    file.mktree("jagged", {"v": "var * float64"}).extend({"v": ak.Array([[1.1, 2.2], [], [3.3]])})
with uproot.open("events.root") as file:
    print(file.classnames())
    tree = file["tree"]
    arrays = tree.arrays(library="np")
    print({name: (array.dtype, array.shape) for name, array in arrays.items()}, tree.num_entries)
    print(tree.arrays(["x", "n"], "n > 40", library="ak")["x"].to_list()[:3])
    heights, edges = file["heights"].to_numpy()
    print(heights.dtype, heights, edges)
    jagged = file["jagged"]["v"].array()
    print(jagged.type, ak.sum(jagged, axis=1).to_list(), (jagged * np.float32(2)).type)
    for batch in tree.iterate(step_size=20, library="np"):
        print(len(batch["x"]), batch["x"].sum().round(4))
    try:
        file["nothing"]
    except KeyError as error:
        print(type(error).__name__, str(error)[:30])
Path("events.root").unlink()  # it holds the time and a random number
