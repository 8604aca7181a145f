"""Schemathesis makes requests from our own description of the API; none may end in a 5xx."""

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from hypothesis import HealthCheck, given, settings  # noqa: E402
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
    ("/api/health", "GET"), ("/api/collection", "GET"), ("/api/sessions", "POST"), ("/api/sessions", "DELETE"),
    ("/api/sentences", "GET"), ("/api/swipes", "POST"), ("/api/operator/summary", "GET"),
]  # fmt: skip


@pytest.fixture(scope="module")
def schema(client):
    return schemathesis.openapi.from_dict(client.get("/openapi.json").json())


def test_the_list_is_the_apis(schema):
    operations = [result.ok() for result in schema.get_all_operations()]
    assert sorted((one.path, one.method.upper()) for one in operations) == sorted(OPERATIONS)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["sound", "broken"])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_ends_in_a_server_error(client, schema, path, method, mode):
    strategy = schema[path][method].as_strategy(generation_mode=mode)

    @settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=strategy)
    def ask(case):
        request = case.as_transport_kwargs(base_url="http://testserver")
        response = client.request(**{name: value for name, value in request.items() if value is not None})
        case.validate_response(response, checks=CHECKS)

    try:
        ask()
    except Unsatisfiable:
        pytest.skip("this operation takes nothing that could be broken")
