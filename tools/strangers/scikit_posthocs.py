import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scikit_posthocs as sp

dice = np.random.default_rng(25)
groups = [dice.normal(mean, 1, 12).astype(np.float32) for mean in (0, 0.5, 2)]
for name in ("posthoc_dunn", "posthoc_conover", "posthoc_ttest", "posthoc_mannwhitney", "posthoc_tukey_hsd"):
    made = getattr(sp, name)(groups)
    print(name, made.dtypes.iloc[0], made.round(5).to_numpy().tolist())
table = pd.DataFrame(dice.random((8, 4)), columns=list("abcd"))
print(sp.posthoc_nemenyi_friedman(table).round(4).to_string())
print(sp.posthoc_dunn(groups, p_adjust="holm").shape)
print(
    sp.outliers_grubbs(np.array([1.0, 1.1, 0.9, 1.2, 9.0])),
    sp.outliers_iqr(np.array([4, 5, 6, 10, 12, 4, 3, 100])),
)
print(sp.outliers_gesd(np.array([-0.25, 0.68, 0.94, 1.15, 1.2, 1.26, 5.0, 6.0]), 2, report=True)[:120])
axes = sp.sign_plot(sp.posthoc_dunn(groups))
plt.savefig("signs.png", metadata={"Software": None})
print(type(axes).__name__)
