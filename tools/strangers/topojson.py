import numpy as np
import topojson
from shapely.geometry import LineString, Polygon, mapping

dice = np.random.default_rng(23)
angles = np.linspace(0, 2 * np.pi, 40)
wave = np.column_stack([np.cos(angles), np.sin(angles)]) * (1 + 0.05 * dice.random((40, 1)))
shapes = [Polygon(wave[:-1]), Polygon([(1, -1), (3, -1), (3, 1), (1, 1)]), LineString([(0, 0), (2, 2)])]
topology = topojson.Topology(shapes, prequantize=1000, topology=True)
found = topology.to_dict()
print(found["type"], len(found["arcs"]), found["bbox"], found["transform"])
for tolerance in (0.01, 0.1):
    less = topology.toposimplify(tolerance)
    print(tolerance, sum(len(arc) for arc in less.to_dict()["arcs"]))
shared = topojson.Topology(
    {"a": mapping(shapes[1]), "b": mapping(Polygon([(3, -1), (5, -1), (5, 1), (3, 1)]))}
)
print(shared.to_json()[:200])
print(shared.to_geojson()[:120], repr(shared)[:20])
