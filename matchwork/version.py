"""The version, where every module can read it without importing the package's front door."""

VERSION = "0.1.0"
