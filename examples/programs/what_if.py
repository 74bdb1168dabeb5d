"""Functions as people write them, against the array API standard: what dtype would each give elsewhere?

    typelattice explain what_if.py:layer_norm "x=float16[4,8]" "gain=float32[8]" eps=1e-5
"""


def softmax(x, axis=-1):
    xp = x.__array_namespace__()
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


def logsumexp(x, axis=-1):
    xp = x.__array_namespace__()
    top = xp.max(x, axis=axis, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True)) + top


def layer_norm(x, gain, eps=1e-5):
    xp = x.__array_namespace__()
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(centred * centred, axis=-1, keepdims=True)
    return gain * centred / xp.sqrt(variance + eps)


def normalise(x, eps=1e-8):
    xp = x.__array_namespace__()
    return x / (xp.sqrt(xp.sum(x * x, axis=-1, keepdims=True)) + eps)


def robust_loss(x, y, delta=1.0):
    xp = x.__array_namespace__()
    error = xp.abs(x - y)
    near = xp.clip(error, 0, delta)
    return xp.mean(xp.where(error <= delta, error**2 / 2, delta * (near - delta / 2)))


def attention(query, key, value, scale=0.125):
    xp = query.__array_namespace__()
    scores = (query @ xp.matrix_transpose(key)) * scale
    weights = softmax(scores)
    return weights @ value
