"""A vision transformer under autocast, with a moving average of its weights. Clean."""

# goal: bfloat16
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class ViT(nn.Module):
    def __init__(self, size=16, classes=5):
        super().__init__()
        self.patch = nn.Conv2d(3, size, 4, stride=4)
        self.cls = nn.Parameter(torch.zeros(1, 1, size))
        self.position = nn.Parameter(torch.randn(1, 5, size) * 0.02)
        layer = nn.TransformerEncoderLayer(size, 2, 32, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(size, classes)

    def forward(self, images):
        x = self.patch(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.position
        return self.head(self.encoder(x)[:, 0])


torch.manual_seed(0)
model = ViT()
average = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    images, labels = torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,))
    with torch.autocast("cpu", torch.bfloat16):
        loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        for kept, new in zip(average.parameters(), model.parameters(), strict=True):
            kept.lerp_(new, 0.1)
model.eval()
with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
    accuracy = (average(images).argmax(-1) == labels).float().mean().item()
