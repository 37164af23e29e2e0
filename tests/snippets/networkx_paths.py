import networkx as nx

G = nx.Graph()
G.add_weighted_edges_from([("A", "B", 4), ("A", "C", 2), ("C", "B", 1), ("B", "D", 5), ("C", "D", 8)])
print(nx.dijkstra_path(G, "A", "D"), nx.dijkstra_path_length(G, "A", "D"))
print(dict(G.degree()))
print(nx.is_connected(G), sorted(sorted(e) for e in nx.minimum_spanning_edges(G, data=False)))
D = nx.DiGraph([(1, 2), (2, 3), (1, 4), (4, 3)])
print(list(nx.topological_sort(D)), nx.ancestors(D, 3) == {1, 2, 4})
print({k: round(v, 3) for k, v in nx.pagerank(D).items()}[3] > 0.3)
