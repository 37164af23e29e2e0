# needs: networkx>=3.4 scipy>=1.14
import networkx as nx

g = nx.Graph()
g.add_weighted_edges_from([("a", "b", 4), ("b", "c", 1), ("a", "c", 2), ("c", "d", 7), ("e", "f", 1)])
print(g, nx.shortest_path(g, "a", "d"), nx.dijkstra_path_length(g, "a", "b"), sorted(map(sorted, nx.connected_components(g))), dict(g.degree), nx.density(g))
print(sorted(nx.minimum_spanning_edges(g, data=False)), sorted(g.neighbors("c")), nx.has_path(g, "a", "e"), nx.is_tree(nx.path_graph(4)), list(nx.bfs_edges(g, "a")), g["a"]["b"])
d = nx.DiGraph([(1, 2), (2, 3), (1, 3), (3, 4)])
print(list(nx.topological_sort(d)), nx.is_directed_acyclic_graph(d), list(d.successors(1)), {k: round(v, 6) for k, v in nx.pagerank(d).items()}, nx.to_numpy_array(d).tolist())
print({k: round(v, 4) for k, v in nx.betweenness_centrality(nx.karate_club_graph()).items() if v > 0.2}, nx.diameter(nx.cycle_graph(6)), nx.average_clustering(nx.complete_graph(4)))
try:
    nx.shortest_path(g, "a", "e")
except nx.NetworkXNoPath as error:
    print(error)
