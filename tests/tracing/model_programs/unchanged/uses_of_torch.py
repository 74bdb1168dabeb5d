"""Uses of PyTorch that a trace must not change. The program prints tracebacks, and fails at its end."""

import threading
import traceback
import warnings

import torch
import torch.nn as nn
from torch.utils._python_dispatch import TorchDispatchMode


class Count(TorchDispatchMode):
    seen = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        Count.seen += 1
        return function(*args, **(kwargs or {}))


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("in backward")


class Own(torch.Tensor):
    pass


torch.manual_seed(0)
linear = nn.Linear(3, 3)
with Count():
    linear(torch.ones(2, 3)).sum().backward()
print("mode", Count.seen)
for wrong in (torch.ones(2, 4), torch.ones(2, 3, dtype=torch.bfloat16)):
    try:
        linear(wrong)
    except RuntimeError:
        print(traceback.format_exc())
try:
    Failing.apply(torch.ones(2, requires_grad=True)).sum().backward()
except ValueError:
    print(traceback.format_exc())
with torch.inference_mode():
    print(linear(torch.ones(2, 3)))
    try:
        linear(torch.ones(2, 4))
    except RuntimeError:
        print(traceback.format_exc())
compiled = torch.compile(lambda x: torch.relu(linear(x)) * 2, backend="eager")
print(compiled(torch.ones(2, 3)))
print(torch.func.vmap(torch.func.grad(lambda x: (x**2).sum()))(torch.ones(3, 2)))
own = torch.ones(3).as_subclass(Own)
print(type(own + 1), type(own @ own))
print(torch.jit.trace(linear, torch.ones(1, 3))(torch.ones(2, 3)).shape)
print(torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)).graph_module.code[:20])
batches = torch.utils.data.DataLoader(torch.arange(6.0).view(6, 1), batch_size=2, num_workers=1)
print([batch.sum().item() for batch in batches])
sparse = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
print((sparse @ torch.ones(2, 2)).sum().item())
shapes = []
thread = threading.Thread(target=lambda: shapes.append(linear(torch.ones(1, 3)).shape))
thread.start()
thread.join()
print(shapes, torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8).dequantize())
leaf = torch.ones(4, requires_grad=True)
copy = leaf.clone()
copy.mul_(2)
copy[0] = 3
copy.sum().backward()
print(leaf.grad, copy._version)
parameter = nn.Parameter(torch.ones(2))
parameter.data = parameter.data.bfloat16()
print(parameter, torch.rand(3), nn.Linear(2, 2).to("meta").weight.device)


def recurse(depth):
    return linear(torch.ones(1, 3)) if depth == 0 else recurse(depth - 1)


try:
    recurse(10**6)
except RecursionError:
    print("too deep")
warnings.warn("a warning", stacklevel=1)
raise RuntimeError("the end")
