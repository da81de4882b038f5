"""Wire protocols, one per file: requests, responses, errors and status codes.

A protocol registers its routes in `PROTOCOLS`. Other packages do the same in a module that
they declare as an entry point of the group `matchwork.plugins`.
"""

from matchwork.serve.protocols import cohere as cohere
from matchwork.serve.protocols import jina as jina
from matchwork.serve.protocols import own as own
from matchwork.serve.protocols import search as search
from matchwork.serve.protocols import status as status
from matchwork.serve.protocols import tei as tei
from matchwork.serve.protocols.base import PROTOCOLS as PROTOCOLS
from matchwork.serve.protocols.base import ErrorFormat as ErrorFormat
from matchwork.serve.protocols.base import Protocol as Protocol
