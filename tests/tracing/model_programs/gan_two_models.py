"""A generator and a discriminator in bfloat16, with clipped gradients and two optimizers. Clean."""

# goal: bfloat16
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8)).bfloat16()
critic = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)).bfloat16()
optimizers = [torch.optim.RMSprop(m.parameters(), lr=1e-3) for m in (generator, critic)]
for _ in range(2):
    real, noise = torch.randn(8, 8).bfloat16(), torch.randn(8, 4, dtype=torch.bfloat16)
    fake = generator(noise)
    scores = critic(real).float(), critic(fake.detach()).float()
    loss = F.softplus(-scores[0]).mean() + F.softplus(scores[1]).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    optimizers[1].step()
    optimizers[1].zero_grad()
    loss = F.softplus(-critic(fake).float()).mean()
    loss.backward()
    optimizers[0].step()
    optimizers[0].zero_grad()
