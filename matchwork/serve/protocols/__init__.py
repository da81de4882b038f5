"""Wire protocols, one per file: requests, responses, errors and status codes.

A protocol registers its routes in `PROTOCOLS`. Other packages do the same in a module that
they declare as an entry point of the group `matchwork.plugins`.
"""

from matchwork.serve.protocols import cohere, jina, own, search, status, tei
from matchwork.serve.protocols.base import PROTOCOLS, ErrorFormat, Protocol

__all__ = [
    "PROTOCOLS",
    "ErrorFormat",
    "Protocol",
    "cohere",
    "jina",
    "own",
    "search",
    "status",
    "tei",
]
