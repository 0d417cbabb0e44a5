"""How a study is carried out: workers here or on a cluster, warm-up, replications."""
