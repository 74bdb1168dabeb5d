import geopandas as gpd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from shapely.geometry import Polygon

dice = np.random.default_rng(10)
table = pd.DataFrame({"name": list("abcdefgh"), "size": dice.random(8).astype(np.float32)})
places = gpd.GeoDataFrame(table, geometry=gpd.points_from_xy(*dice.random((2, 8)) * 10), crs="EPSG:4326")
print(places.dtypes, places.total_bounds.round(3), places.crs)
squares = gpd.GeoDataFrame(
    {"zone": [1, 2]},
    geometry=[Polygon([(x, 0), (x + 5, 0), (x + 5, 10), (x, 10)]) for x in (0, 5)],
    crs="EPSG:4326",
)
joined = gpd.sjoin(places, squares, predicate="within")
print(joined.groupby("zone")["size"].mean().round(4), joined.index.dtype)
flat = places.to_crs(3857)
print(flat.geometry.distance(flat.geometry.iloc[0]).round(0).tolist())
print(squares.dissolve().area.round(2).tolist(), squares.buffer(1).area.round(3).tolist())
places.to_file("places.geojson", driver="GeoJSON")
print(gpd.read_file("places.geojson")["size"].dtype, places.clip(squares.iloc[:1]).shape)
axes = places.plot(column="size", markersize=places["size"] * 50)
plt.savefig("places.png", metadata={"Software": None})
print(axes.get_xlim(), places.to_json()[:60])
