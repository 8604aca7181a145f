"""Schemathesis makes requests from our own description of the API; none may end in a 5xx."""

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
# from_dict imports this in a test, beside the server's threads, and CPython 3.11 may fail to parse a module while
# another thread parses one (SystemError: AST constructor recursion depth mismatch).
pytest.importorskip("schemathesis.specs.openapi.schemas")

from hypothesis import HealthCheck, given  # noqa: E402
from hypothesis import settings as hypothesis_settings  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


OPERATIONS = [
    ("/api/decode", "POST"), ("/api/explain", "POST"), ("/api/known", "GET"), ("/api/layouts", "GET"),
    ("/api/health", "GET"), ("/api/collection", "GET"), ("/api/sessions", "POST"), ("/api/withdrawals", "POST"),
    ("/api/sentences", "GET"),
    ("/api/swipes", "POST"), ("/api/operator/summary", "GET"), ("/api/operator/export", "GET"),
    ("/api/operator/removal", "POST"),
]  # fmt: skip


@pytest.fixture(scope="module")
def schema(client):
    return schemathesis.openapi.from_dict(client.get("/openapi.json").json())


def test_the_list_is_the_apis(schema):
    operations = [result.ok() for result in schema.get_all_operations()]
    assert sorted((one.path, one.method.upper()) for one in operations) == sorted(OPERATIONS)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["sound", "broken"])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_ends_in_a_server_error(client, settings, schema, path, method, mode):
    strategy = schema[path][method].as_strategy(generation_mode=mode)
    token = {"authorization": f"Bearer {settings.token}"} if "operator" in path else {}

    @hypothesis_settings(
        max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=strategy)
    def ask(case):
        request = case.as_transport_kwargs(base_url="http://testserver")
        request = {name: value for name, value in request.items() if value is not None}
        request["headers"] = {**(request.get("headers") or {}), **token}  # else every answer would be 401
        case.validate_response(client.request(**request), checks=CHECKS)

    try:
        ask()
    except Unsatisfiable:
        pytest.skip("this operation takes nothing that could be broken")
