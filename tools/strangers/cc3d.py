import cc3d
import numpy as np

dice = np.random.default_rng(26)
labels = (dice.random((16, 18, 20)) > 0.8).astype(np.int32)
for connectivity in (6, 18, 26):
    made, count = cc3d.connected_components(labels, connectivity=connectivity, return_N=True)
    print(connectivity, made.dtype, made.shape, count)
stats = cc3d.statistics(made)
print(
    stats["voxel_counts"].dtype,
    stats["voxel_counts"][:4],
    stats["centroids"].dtype,
    stats["centroids"][1].round(3),
)
print(cc3d.dust(labels, threshold=5, connectivity=6).sum(), cc3d.largest_k(labels, k=2, connectivity=6).dtype)
for label, image in list(cc3d.each(made, binary=True, in_place=False))[:2]:
    print(label, image.dtype, int(image.sum()))
print(sorted(cc3d.contacts(made[:4, :4, :4]).items())[:2], cc3d.voxel_connectivity_graph(labels[0]).dtype)
smooth = cc3d.connected_components(dice.random((6, 6)).astype(np.float32), delta=0.2, connectivity=8)
print(smooth.dtype, smooth.max(), (smooth * 0.5).dtype)
try:
    cc3d.connected_components(labels, connectivity=5)
except ValueError as error:
    print(repr(error)[:60])
