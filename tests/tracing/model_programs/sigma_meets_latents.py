"""A float32 sigma widens latents, and the convolution after it refuses them. The program fails."""

# goal: bfloat16
import torch
import torch.nn as nn

conv = nn.Conv3d(4, 4, 3, padding=1).to(torch.bfloat16)
latents = torch.randn(1, 4, 2, 4, 4, dtype=torch.bfloat16)
sigma = (torch.tensor([500]).float() / 1000).view(1, 1, 1, 1, 1)
noisy = (1 - sigma) * latents  # departs
out = conv(noisy)
