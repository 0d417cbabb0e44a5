"""The least memory that meets a target: search, evidence, prices, what if, page."""
