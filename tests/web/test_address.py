import pytest
from starlette.requests import Request

from glissando.web.address import page_address, phone_address, qr_rows


def request(host, scheme="http"):
    headers = [(b"host", host.encode("latin-1"))] if host is not None else []
    return Request({"type": "http", "scheme": scheme, "server": ("x", 1), "path": "/", "headers": headers})


@pytest.mark.parametrize(
    "host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "app.localhost", "LOCALHOST", "127.3.2.1:1"]
)
def test_phones_cannot_use_the_address_of_this_machine(host):
    assert page_address(request(host)) == f"http://{host}"
    assert phone_address(request(host), "") is None
    assert phone_address(request(host), "https://192.168.1.5:8000") == "https://192.168.1.5:8000"


@pytest.mark.parametrize("host", ["192.168.1.5:8000", "swipes.example.org", "[fe80::1]:8000"])
def test_the_address_that_a_visitor_used(host):
    assert phone_address(request(host, "https"), "") == f"https://{host}"


@pytest.mark.parametrize("host", [None, "", "a b", "x/../y", "<script>", "a" * 300, "user@host", "host:port"])
def test_what_is_no_host(host):
    assert page_address(request(host)) is None


def test_a_qr_code_is_square_and_has_its_corners():
    rows = qr_rows("https://192.168.1.5:8000/collect")
    assert {len(row) for row in rows} == {len(rows)}
    assert set("".join(rows)) == {"0", "1"}
    assert rows[0][:8] == rows[6][:8] == rows[0][:-9:-1] == "11111110"
