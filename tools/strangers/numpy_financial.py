import numpy as np
import numpy_financial as npf

print(
    npf.fv(0.05 / 12, 120, -100, -100).round(4), npf.pmt(np.array([0.05, 0.06]) / 12, 180, 200_000).round(3)
)
periods = np.arange(1, 13)
interest, part = npf.ipmt(0.0824 / 12, periods, 12, 2500), npf.ppmt(0.0824 / 12, periods, 12, 2500)
for period in periods[:3]:
    print(f"{period} {interest[period - 1]:.3f} {part[period - 1]:.3f}")
print(interest.dtype, (interest + part).round(4)[:2], npf.nper(0.07 / 12, -150, 8000).round(3))
flows = np.array([-100, 39, 59, 55, 20], dtype=np.float32)
print(
    round(float(npf.irr(flows)), 5),
    np.round(npf.npv(0.281, flows), 4),
    np.round(npf.mirr(flows, 0.1, 0.12), 4),
)
print(npf.rate(10, 0, -3500, 10000), npf.pv(0.05, [1, 2, 3], -100), repr(npf.irr([1.0, 2.0])))
print([npf.npv(rate, flows.astype(int)).round(3) for rate in (0.05, np.float32(0.1))])
