import numpy as np
import qoi

dice = np.random.default_rng(9)
for channels in (3, 4):
    picture = np.repeat(dice.integers(0, 256, (12, 5, channels), dtype=np.uint8), 4, axis=1)
    coded = qoi.encode(picture)
    back = qoi.decode(coded)
    print(channels, len(coded), coded[:4], back.dtype, back.shape, np.array_equal(back, picture))
    qoi.write(f"picture{channels}.qoi", picture)
    print(int(qoi.read(f"picture{channels}.qoi").astype(np.float32).sum()))
print(np.mean(back.astype(np.float32) / 255, axis=(0, 1)).round(4))
for wrong in (np.zeros((4, 4, 2), np.uint8), np.zeros((4, 4), np.uint8)):
    try:
        qoi.encode(wrong)
    except Exception as error:
        print(repr(error))
