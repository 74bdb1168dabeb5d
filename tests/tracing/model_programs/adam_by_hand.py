"""Adam written by hand, with float32 master weights and moments of bfloat16 parameters. Clean."""

# policy: params=bfloat16,compute=bfloat16
import torch
import torch.nn.functional as F

torch.manual_seed(0)
params = {
    "w1": torch.randn(8, 16).bfloat16().requires_grad_(),
    "w2": torch.randn(16, 4).bfloat16().requires_grad_(),
}
master = {k: p.detach().float() for k, p in params.items()}
m = {k: torch.zeros_like(p) for k, p in master.items()}
v = {k: torch.zeros_like(p) for k, p in master.items()}
for step in range(1, 4):
    x = torch.randn(32, 8).bfloat16()
    out = torch.relu(x @ params["w1"]) @ params["w2"]
    loss = F.mse_loss(out.float(), torch.ones(32, 4))
    loss.backward()
    with torch.no_grad():
        for k, p in params.items():
            g = p.grad.float()
            m[k].mul_(0.9).add_(g, alpha=0.1)
            v[k].mul_(0.999).addcmul_(g, g, value=0.001)
            mhat, vhat = m[k] / (1 - 0.9**step), v[k] / (1 - 0.999**step)
            master[k] -= 1e-2 * mhat / (vhat.sqrt() + 1e-8)
            p.copy_(master[k])
            p.grad = None
