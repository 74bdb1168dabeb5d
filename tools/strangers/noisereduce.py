import noisereduce as nr
import numpy as np

dice = np.random.default_rng(6)
rate = 8000
time = np.arange(rate) / rate
clean = np.sin(2 * np.pi * 440 * time)
noise = 0.3 * dice.normal(size=rate)
for dtype in (np.float32, np.float64):
    heard = (clean + noise).astype(dtype)
    still = nr.reduce_noise(y=heard, sr=rate, y_noise=noise.astype(dtype), stationary=True)
    print(still.dtype, still.shape, np.round(np.std(still - clean), 3), np.round(still[1000:1004], 3))
moving = nr.reduce_noise(y=np.stack([clean + noise, clean - noise]), sr=rate, prop_decrease=0.8, n_fft=256)
print(moving.dtype, moving.shape, np.round(moving.std(), 4))
try:
    nr.reduce_noise(y=np.zeros((2, 2, 2)), sr=rate)
except ValueError as error:
    print(repr(error)[:80])
