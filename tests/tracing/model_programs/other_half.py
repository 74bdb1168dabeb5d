"""A cast to float16 by hand, under autocast in bfloat16."""

# goal: bfloat16
import torch
import torch.nn as nn

torch.manual_seed(0)
first, second = nn.Linear(8, 16), nn.Linear(16, 4)
x = torch.randn(4, 8)
with torch.autocast("cpu", torch.bfloat16):
    h = first(x).half()  # departs
    out = second(h)
