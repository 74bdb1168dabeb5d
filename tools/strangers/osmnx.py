import networkx as nx
import numpy as np
import osmnx as ox

graph = nx.MultiDiGraph(crs="epsg:4326")
for node, (x, y) in enumerate(
    [(11.50, 48.10), (11.51, 48.10), (11.52, 48.11), (11.51, 48.12), (11.50, 48.11)]
):
    graph.add_node(node, x=x, y=y, street_count=2)
for u in range(5):
    v = (u + 1) % 5
    graph.add_edge(u, v, 0, osmid=u, highway="residential", oneway=False)
    graph.add_edge(v, u, 0, osmid=u, highway="residential", oneway=False)
graph = ox.distance.add_edge_lengths(graph)
graph = ox.add_edge_speeds(graph, fallback=30)
graph = ox.add_edge_travel_times(graph)
graph = ox.bearing.add_edge_bearings(graph)
print([round(data["length"], 2) for *_, data in graph.edges(data=True)][:4])
print(ox.distance.great_circle(np.array([48.1, 48.2]), np.array([11.5, 11.6]), 48.0, 11.0).round(2))
print(ox.bearing.calculate_bearing(48.1, 11.5, np.array([48.2, 48.0]), np.array([11.6, 11.6])).round(3))
print(ox.shortest_path(graph, 0, 2, weight="travel_time"), ox.shortest_path(graph, [0, 1], [3, 4], cpus=1))
nodes, edges = ox.graph_to_gdfs(graph)
print(nodes.dtypes, edges["length"].describe().round(3))
flat = ox.project_graph(graph)
print(flat.graph["crs"].to_epsg(), ox.stats.basic_stats(flat)["edge_length_avg"].__round__(2))
found, away = ox.distance.nearest_nodes(flat, [688000.0], [5330000.0], return_dist=True)
print(found, np.round(away, 1), ox.bearing.orientation_entropy(ox.convert.to_undirected(graph)).round(4))
