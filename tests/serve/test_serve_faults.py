"""Overload, deadlines, clients that leave, signals and faults, on real processes."""

import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
from server_process import KEY, PROGRAM, SLOW, running

TEI = "/rerank"


def slowly(milliseconds, texts=("a",)):
    return {"query": str(milliseconds), "texts": list(texts)}


def test_keys(slow):
    for header in (None, "second-key", "Bearer", "Bearer wrong", "Basic second-key", "Bearer é"):
        headers = {} if header is None else {"Authorization": header.encode()}
        for path, field in (("/v2/rerank", "message"), ("/v1/rerank", "detail"), (TEI, "error")):
            answer = slow.post(path, slowly(0), headers=headers)
            assert answer.status_code == 401 and field in answer.json()
            assert answer.headers["www-authenticate"] == "Bearer"
    for key in ("Bearer first-key", "bearer second-key"):
        assert slow.post(TEI, slowly(0), headers={"Authorization": key}).status_code == 200
    assert slow.get("/models").status_code == slow.get("/metrics").status_code == 401
    assert slow.get("/health").status_code == slow.get("/openapi.json").status_code == 200
    assert "second-key" not in slow.log()


def test_overload_is_answered_at_once(slow):
    with ThreadPoolExecutor(16) as pool:
        waits = [pool.submit(timed, slow, slowly(600)) for _ in range(16)]
        answers = [each.result() for each in waits]
    refused = [each for each in answers if each[0].status_code == 429]
    accepted = [each for each in answers if each[0].status_code == 200]
    assert len(refused) + len(accepted) == 16 and len(accepted) >= 5 and len(refused) >= 6
    for answer, seconds in refused:
        assert seconds < 0.6
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json()["error_type"] == "Overloaded"
    assert slow.post(TEI, slowly(0), headers=KEY).status_code == 200


def timed(server, body):
    began = time.monotonic()
    answer = server.post(TEI, body, headers=KEY)
    return answer, time.monotonic() - began


def test_a_deadline_in_every_protocol(slow):
    tables = {
        "/v2/rerank": {"model": "slow", "query": "3500", "documents": ["a"]},
        TEI: slowly(3500),
    }
    with ThreadPoolExecutor(2) as pool:
        waits = {path: pool.submit(slow.post, path, tables[path], headers=KEY) for path in tables}
    answers = {path: wait.result() for path, wait in waits.items()}
    assert {each.status_code for each in answers.values()} == {504}
    assert answers["/v2/rerank"].json() == {"message": "no answer within 3000 ms"}
    assert answers[TEI].json()["error_type"] == "Overloaded"
    slow.wait_for("matchwork_queue_pairs", 0, **KEY)


def test_clients_that_leave_drop_their_work(slow):
    slow.post(TEI, slowly(0), headers=KEY)  # after whatever may still be running
    before = slow.metric("matchwork_requests_abandoned_total", **KEY)
    batches = slow.metric("matchwork_batch_pairs_sum", **KEY)
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(slow.post, TEI, slowly(1500), headers=KEY)
        slow.wait_for("matchwork_requests_in_flight", 2, **KEY)  # this question is one, too
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(slow.url + TEI, json=slowly(9, "abc"), headers=KEY, timeout=0.3)
        slow.wait_for("matchwork_queue_pairs", 0, **KEY)
        slow.wait_for("matchwork_requests_abandoned_total", before + 1, **KEY)
        assert not holding.done()
        assert holding.result().status_code == 200
    slow.wait_for("matchwork_batch_pairs_sum", batches + 1, **KEY)


HALF_A_REQUEST = (
    "POST /v1/rerank HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
    f"Authorization: {KEY['Authorization']}\r\nContent-Type: application/json\r\n\r\n{{"
).encode()


def connected(server):
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def test_half_a_body_is_not_waited_for(slow):
    with connected(slow) as client:
        client.sendall(HALF_A_REQUEST)
        assert client.recv(1000).startswith(b"HTTP/1.1 504")


def test_a_fault_is_not_explained_to_strangers(slow):
    answer = slow.post(TEI, slowly(0, ["explode zanzibar"]), headers=KEY)
    assert answer.status_code == 424
    assert answer.json() == {"error": "internal error", "error_type": "Backend"}
    answer = slow.post("/score", {"pairs": [{"query": "0", "document": "explode"}]}, headers=KEY)
    assert (answer.status_code, answer.json()) == (500, {"detail": "internal error"})
    log = slow.wait_for_log("ValueError", "slow_server.py")
    assert "zanzibar" not in log


def test_a_stopped_server_finishes_what_it_accepted():
    with running(*SLOW, '{"max_batch": 1, "deadline_ms": 20000}') as server:
        with ThreadPoolExecutor(12) as pool:
            waits = [pool.submit(server.post, TEI, slowly(2000))]  # which the others wait for
            server.wait_for("matchwork_requests_in_flight", 2)
            waits += [pool.submit(server.post, TEI, slowly(10)) for _ in range(11)]
            server.wait_for("matchwork_requests_in_flight", 13)
            with connected(server) as late:
                server.process.send_signal(signal.SIGTERM)
                server.wait_for_log("Shutting down")
                late.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")  # as it was on its way
                assert late.recv(1000).startswith(b"HTTP/1.1 200")
            answers = [each.result() for each in waits]
        assert [answer.status_code for answer in answers] == [200] * 12
        assert server.process.wait(20) == 0
        with pytest.raises(httpx.ConnectError):
            server.get("/health")


def test_workers_do_not_outlive_who_replaces_them(folders):
    with running(*PROGRAM, folders["bag"], "--workers", 2) as server:
        workers = started(server, 2)
        server.process.kill()
        gone, left = psutil.wait_procs(workers, timeout=20)
        assert len(gone) == 2 and not left
        with pytest.raises(httpx.ConnectError):
            server.get("/health")


def test_a_killed_worker_comes_back(folders):
    with running(*PROGRAM, folders["bag"], "--workers", 2, "--deadline-ms", 60_000) as server:
        parent = psutil.Process(server.process.pid)
        workers = started(server, 2)
        end = time.monotonic() + 60
        workers[0].kill()
        while workers[0] in (now := serving(parent)) or len(now) < 2:
            assert time.monotonic() < end, "the worker did not come back"
            time.sleep(0.05)
        body = {"model": "bag", "query": "fox", "documents": ["a fox"]}
        counted = server.metric("matchwork_requests_total")
        for _ in range(10):
            assert server.post("/v2/rerank", body).status_code == 200
        assert server.metric("matchwork_requests_total") >= counted + 10  # of both together
        with connected(server) as client:
            client.sendall(HALF_A_REQUEST)
            server.wait_for("matchwork_requests_in_flight", 2)
            server.process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionRefusedError):  # at once, not when the last has finished
                while time.monotonic() < end:
                    connected(server).close()
                    time.sleep(0.05)
            assert server.process.poll() is None
        assert server.process.wait(20) == 0


def started(server, number):
    """So many workers, each of which has said that it is ready."""
    end = time.monotonic() + 60
    while server.log().count("Application startup complete") < number:
        assert time.monotonic() < end
        time.sleep(0.05)
    return serving(psutil.Process(server.process.pid))


def serving(parent):
    """The workers: children that are not helpers of multiprocessing."""
    found = []
    for child in parent.children():
        try:
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found
