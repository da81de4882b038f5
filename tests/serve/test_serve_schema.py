"""Schemathesis, from the OpenAPI document: no answer is a server error or undocumented."""

import subprocess
import sys
from pathlib import Path

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"


def test_schemathesis_finds_nothing(server, tmp_path):
    program = Path(sys.executable).with_name("schemathesis")
    command = [program, "run", f"{server.url}/openapi.json", "--no-color", "--seed", "1"]
    command += ["--checks", f"{CHECKS},response_schema_conformance", "--max-examples", "8"]
    command += ["--phases", "examples,coverage,fuzzing"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "/v2/rerank" in server.get("/openapi.json").text
    assert server.metric("matchwork_requests_total") > 200
