import imgviz
import numpy as np

dice = np.random.default_rng(5)
rgb = dice.integers(0, 256, (32, 48, 3), dtype=np.uint8)
depth = dice.random((32, 48), dtype=np.float32) * 5
depth[:3] = np.nan
label = dice.integers(0, 4, (32, 48), dtype=np.int32)
gray = imgviz.rgb2gray(rgb)
print(gray.dtype, gray.shape, int(gray.sum()))
shown = imgviz.depth2rgb(depth, min_value=0.3, max_value=4)
print(shown.dtype, shown.shape, shown[10, :2].tolist())
print(imgviz.normalize(np.nan_to_num(depth), 0, 5).dtype, imgviz.label_colormap()[:5].tolist())
painted = imgviz.label2rgb(label, image=gray, label_names=list("abcd"), loc="rb")
print(painted.dtype, painted.shape, int(painted.sum()))
boxes = imgviz.instances2rgb(
    rgb, labels=[1, 2], bboxes=np.array([[2, 2, 20, 20], [5, 10, 30, 40]]), captions=["one", "two"]
)
print(boxes.shape, int(boxes.sum()))
tiled = imgviz.tile([rgb, shown, painted], row=1, col=3, border=(255, 0, 0))
print(tiled.shape, imgviz.resize(rgb, height=0.5).shape, imgviz.centerize(rgb, 50, 50).shape)
imgviz.io.imsave("tiled.png", tiled)
print(np.array_equal(imgviz.io.imread("tiled.png")[..., :3], tiled))
