"""The words of each protocol: requests, answers, errors and status codes."""
