"""Sampling from a model in bfloat16, with a temperature, top-k and a float32 softmax. Clean."""

# goal: bfloat16
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(1), nn.Linear(32, 20)).bfloat16().eval()
ids = torch.randint(0, 20, (2, 4))
with torch.inference_mode():
    for _ in range(3):
        logits = model(ids[:, -4:]) / 0.8
        top = torch.topk(logits, 5)
        logits = logits.masked_fill(logits < top.values[:, -1:], float("-inf"))
        weights = torch.softmax(logits.float(), -1)
        ids = torch.cat([ids, torch.multinomial(weights, 1)], 1)
