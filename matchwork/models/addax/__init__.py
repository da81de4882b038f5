"""ADDAX: transformer tokens, gated cross attention, a hashing denoiser and MaxSim."""
