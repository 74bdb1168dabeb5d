import numpy as np
from bx.binned_array import BinnedArray
from bx.bitset import BinnedBitSet, BitSet
from bx.intervals.cluster import ClusterTree
from bx.intervals.intersection import Interval, IntervalTree

tree = IntervalTree()
for start in np.random.default_rng(24).integers(0, 1000, 30):
    tree.insert_interval(Interval(int(start), int(start) + 20, value=float(start) / 2))
print([(found.start, found.end, found.value) for found in tree.find(100, 200)])
print(len(tree.after(500, num_intervals=2, max_dist=2500)))
bits = BitSet(100)
bits.set_range(10, 20)
bits.invert()
print(bits.count_range(0, 100), bits.next_clear(0), bits[15])
binned = BinnedBitSet(1000)
binned.set_range(5, 600)
print(binned.count_range(0, 1000), binned.next_set(601))
values = BinnedArray(bin_size=16, default=np.nan, max_size=64, typecode="f")
for i in range(0, 40, 3):
    values[i] = i / 3
print(values.get_range(0, 10), values.get_range(0, 10).dtype)
clusters = ClusterTree(5, 2)
for start, end in ((1, 4), (6, 9), (30, 40), (42, 50)):
    clusters.insert(start, end, start)
print(clusters.getregions())
