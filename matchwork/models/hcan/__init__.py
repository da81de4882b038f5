"""HCAN: relevance matching and semantic matching on a shared encoder."""
