import warnings

import neurokit2 as nk
import numpy as np

warnings.simplefilter("ignore")
heart = nk.ecg_simulate(duration=10, sampling_rate=250, heart_rate=70, random_state=1)
print(heart.dtype, heart.shape, heart[:4].round(4))
signals, info = nk.ecg_process(heart.astype(np.float32), sampling_rate=250)
print(signals.dtypes.astype(str).value_counts().to_dict(), signals.shape, info["ECG_R_Peaks"])
print(np.round(signals["ECG_Rate"].mean(), 3))
hrv = nk.hrv_time(info["ECG_R_Peaks"], sampling_rate=250)
print(hrv[["HRV_MeanNN", "HRV_SDNN", "HRV_RMSSD"]].round(3).to_string())
breath = nk.rsp_simulate(duration=20, sampling_rate=50, random_state=2)
print(nk.rsp_clean(breath, sampling_rate=50).round(4)[:4])
print(nk.signal_filter(breath, sampling_rate=50, lowcut=0.1, highcut=2).round(4)[:3])
print(np.round(nk.entropy_sample(breath[:200])[0], 4), np.round(nk.fractal_katz(breath)[0], 4))
print(
    nk.signal_findpeaks(breath, height_min=0.3)["Peaks"],
    np.round(nk.signal_power(breath, (0.1, 0.5), 50), 3).to_dict(),
)
print(nk.standardize(np.arange(6, dtype=np.float32)).dtype, nk.rescale([3, 1, 2, 4], to=[0, 1]))
