import ffn
import numpy as np
import pandas as pd

dice = np.random.default_rng(4)
days = pd.bdate_range("2022-01-03", periods=300)
steps = dice.normal(0.0004, 0.01, (300, 3))
prices = pd.DataFrame(100 * np.exp(steps.cumsum(axis=0)), index=days, columns=["aa", "bb", "cc"])
returns = prices.to_returns().dropna()
print(returns.dtypes.to_dict(), returns.shape)
print(returns.calc_inv_vol_weights().round(4).to_dict())
print(returns.calc_mean_var_weights().round(3).to_dict())
print(prices.calc_max_drawdown().round(5).to_dict(), prices.rebase().iloc[-1].round(3).to_dict())
print(prices.to_drawdown_series().tail(3).round(4))
print(
    np.round(ffn.calc_sharpe(returns["aa"], nperiods=252), 5), np.round(returns["bb"].calc_sortino_ratio(), 5)
)
stats = prices.calc_stats()
stats.display()
print(stats["aa"].stats.drop(["start", "end"]).astype(float).round(4).head(12))
