import numpy as np
import scipy.sparse as sparse
from sparse_dot_topn import sp_matmul, sp_matmul_topn, zip_sp_matmul_topn

for dtype in (np.float32, np.float64):
    a = sparse.random(30, 20, density=0.3, random_state=1, format="csr")
    b = sparse.random(20, 25, density=0.3, random_state=2, format="csr")
    a, b = (10 * a).astype(dtype), (10 * b).astype(dtype)
    whole, best = sp_matmul(a, b), sp_matmul_topn(a, b, top_n=3, sort=True)
    print(whole.dtype, whole.shape, whole.nnz, best.dtype, best.nnz, best.indices.dtype)
    print(np.round(best.data[:6], 4), best.indices[:6])
    print(abs(whole - a @ b).max() < 1e-3, sp_matmul_topn(a, b, top_n=3, threshold=20).nnz)
left, right = (sp_matmul_topn(a, half, top_n=2, sort=True) for half in (b[:, :10], b[:, 10:]))
joined = zip_sp_matmul_topn(top_n=2, C_mats=[left, right])
print(joined.shape, joined.data[:5])
