import numpy as np
import tensorstore as ts

spec = {"driver": "zarr", "kvstore": {"driver": "memory"}}
store = ts.open(spec, create=True, dtype=ts.float32, shape=[8, 10]).result()
print(store.dtype, store.domain, store.rank)
store[2:4, 3:6].write(np.arange(6, dtype=np.int16).reshape(2, 3)).result()
values = store.read().result()
print(values.dtype, values.shape, values.sum(), store[2, 3:6].read().result())
print(np.asarray(store.T[3]), store[ts.d[0].translate_to[5]].domain)
view = ts.array(np.linspace(0, 1, 5))
print(view.dtype.numpy_dtype, np.round(ts.cast(view, ts.uint8).read().result(), 3))


def fill(domain, chunk, parameters):
    chunk[...] = np.arange(*(domain[0].inclusive_min, domain[0].exclusive_max), dtype=np.float64) * 2


made = ts.virtual_chunked(fill, dtype=ts.float64, domain=ts.IndexDomain(shape=[4]))
print(made.domain, made.read().result())
half = np.ones(3, dtype=ts.bfloat16.numpy_dtype)
print((half * 1.5).dtype, ts.concat([ts.array(half), ts.array(half)], axis=0).read().result().shape)
disk = {"driver": "n5", "kvstore": {"driver": "file", "path": "data"}}
ts.open(disk, create=True, dtype=ts.uint16, shape=[4, 4]).result().write(7).result()
print(ts.open(disk).result().read().result())
try:
    store[100].read().result()
except (IndexError, ValueError) as error:
    print(repr(error)[:70])
