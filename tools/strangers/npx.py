import npx
import numpy as np

dice = np.random.default_rng(19)
a, b = dice.random((4, 3)).astype(np.float32), dice.random((3, 5))
print(npx.dot(a, b).dtype, npx.dot(a, b).round(4)[0])
matrix = np.eye(3) * 2 + 0.1
print(npx.solve(matrix, b).shape, npx.solve(matrix, b).round(4)[1])
total = np.zeros(4, dtype=np.float32)
npx.sum_at(a, [0, 1, 1, 3], minlength=4)
print(npx.sum_at(a, [0, 1, 1, 3], minlength=4).round(4), npx.sum_at(a, [0, 1, 1, 3], minlength=4).dtype)
npx.add_at(total, [0, 0, 2], np.array([1.0, 2.0, 3.0]))
npx.subtract_at(total, [1], np.array([0.5]))
print(total.dtype, total)
print(npx.unique_rows(np.array([[1, 2], [1, 2], [3, 4]])), npx.isin_rows([[1, 2], [7, 8]], [[1, 2], [3, 4]]))
print(npx.mean([1.0, 2.0, 4.0], p=0), npx.mean(np.array([1.0, 2.0, 4.0]), p=-1), npx.mean([1.0, 3.0]))
print(npx.unique(np.array([0.1, 0.1 + 1e-13, 0.7]), tol=1e-8))
try:
    npx.mean(np.array([-1.0, 1.0]), p=0.5)
except Exception as error:
    print(repr(error)[:70])
