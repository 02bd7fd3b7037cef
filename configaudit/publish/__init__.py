"""Where an agent's reports go: HTTP for Prometheus, a file for node_exporter, objects in the cluster."""
