import antimeridian
import numpy as np
from shapely.geometry import LineString, MultiPolygon, Polygon, mapping

across = Polygon([(170, 10), (-170, 10), (-170, -10), (170, -10), (170, 10)])
parts = antimeridian.fix_polygon(across)
print(parts.geom_type, [np.asarray(each.exterior.coords).round(3).tolist() for each in parts.geoms])
line = antimeridian.fix_line_string(LineString([(170, 0), (-170, 5), (-160, 9)]), great_circle=True)
print(line.wkt[:80])
box = antimeridian.bbox(parts)
print(box, antimeridian.centroid(parts))
pole = Polygon([(lon, 80) for lon in np.linspace(-180, 150, 12)])
print(
    antimeridian.fix_polygon(pole).area, repr(antimeridian.fix_multi_polygon(MultiPolygon([across])).bounds)
)
print(
    antimeridian.fix_geojson({"type": "Feature", "properties": {}, "geometry": mapping(across)})["geometry"][
        "type"
    ]
)
try:
    antimeridian.fix_shape({"type": "Nothing"})
except Exception as error:
    print(repr(error)[:80])
