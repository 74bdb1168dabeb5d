"""A decoder layer with rotary positions in float32 and a cache in its own dtype. Clean."""

# goal: bfloat16
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, size=16, heads=2, length=16):
        super().__init__()
        self.heads, self.width = heads, size // heads
        self.q, self.k, self.v, self.o = (nn.Linear(size, size, bias=False) for _ in range(4))
        inverse = 1.0 / (10000 ** (torch.arange(0, self.width, 2).float() / self.width))
        self.register_buffer("inverse", inverse, persistent=False)
        self.length = length
        self.cache_k = self.cache_v = None

    def rotate(self, x, positions):
        angles = positions.float()[:, None] * self.inverse.float()
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        first, second = x.chunk(2, -1)
        cos, sin = cos.to(x.dtype), sin.to(x.dtype)
        return x * cos + torch.cat([-second, first], -1) * sin

    def forward(self, x, start):
        batch, count, _ = x.shape
        form = batch, count, self.heads, self.width
        q, k, v = (p(x).view(form).transpose(1, 2) for p in (self.q, self.k, self.v))
        positions = torch.arange(start, start + count)
        q, k = self.rotate(q, positions), self.rotate(k, positions)
        if self.cache_k is None:
            shape = batch, self.heads, self.length, self.width
            self.cache_k = torch.zeros(shape, dtype=x.dtype)
            self.cache_v = torch.zeros(shape, dtype=x.dtype)
        self.cache_k[:, :, start : start + count] = k
        self.cache_v[:, :, start : start + count] = v
        keys, values = self.cache_k[:, :, : start + count], self.cache_v[:, :, : start + count]
        scores = q @ keys.transpose(-1, -2) / self.width**0.5
        if count > 1:
            mask = torch.full((count, count), float("-inf"), dtype=scores.dtype).triu(1)
            scores = scores + mask
        weights = torch.softmax(scores, -1, dtype=torch.float32).to(q.dtype)
        return self.o((weights @ values).transpose(1, 2).reshape(batch, count, -1))


torch.manual_seed(0)
model = Attention().bfloat16().eval()
with torch.inference_mode():
    x = torch.randn(1, 4, 16, dtype=torch.bfloat16)
    out = model(x, 0)
    for i in range(4, 7):
        out = model(out[:, -1:], i)
