from contextlib import redirect_stderr
from io import StringIO

import numpy as np
import pandas as pd
from gluonts.dataset.common import ListDataset
from gluonts.dataset.pandas import PandasDataset
from gluonts.dataset.split import split
from gluonts.evaluation import Evaluator, make_evaluation_predictions
from gluonts.model.seasonal_naive import SeasonalNaivePredictor
from gluonts.model.trivial.mean import MeanPredictor
from gluonts.time_feature import time_features_from_frequency_str

dice = np.random.default_rng(28)
series = [
    {"start": "2024-01-01", "target": np.sin(np.arange(48) / 4) + dice.normal(0, 0.1, 48)} for _ in range(3)
]
data = ListDataset(series, freq="D")
print([(entry["target"].dtype, entry["target"].shape, str(entry["start"])) for entry in data])
for predictor in (
    SeasonalNaivePredictor(prediction_length=6, season_length=7),
    MeanPredictor(prediction_length=6),
):
    np.random.seed(0)
    made, truth = make_evaluation_predictions(data, predictor, num_samples=20)
    forecasts = list(made)
    print(type(forecasts[0]).__name__, forecasts[0].mean.dtype, forecasts[0].mean.round(3))
    with redirect_stderr(StringIO()):  # the bar of progress shows times
        total, each = Evaluator(quantiles=[0.1, 0.5, 0.9], num_workers=None)(truth, forecasts, num_series=3)
    print(
        {
            key: round(float(value), 4)
            for key, value in total.items()
            if key in ("MASE", "RMSE", "mean_wQuantileLoss")
        }
    )
    print(each.shape, forecasts[0].quantile(0.9).round(3)[:3])
index = pd.period_range("2024-01-01", periods=5, freq="h")
print([np.round(feature(index), 3).tolist() for feature in time_features_from_frequency_str("h")][:2])
frame = pd.DataFrame(
    {"target": dice.random(30).astype(np.float32)}, index=pd.period_range("2024", periods=30, freq="D")
)
train, test = split(PandasDataset(frame), offset=-6)
print(len(list(train)), len(list(test.generate_instances(3, windows=2))))
