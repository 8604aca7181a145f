"""The operator's page in a real Chromium: numbers, a selection, its export and its removal."""

import gzip
import json
from contextlib import contextmanager

import httpx
import numpy as np
import pytest
from web.donating import agree, sentence, swipe_body
from web.donating_page import DESKTOP
from web.serving import opened

from glissando.layout import load_layout
from glissando.synth import swipe
from glissando.web.codes import session_id
from glissando.web.selection import Selection


def points(word):
    gesture = swipe(word, load_layout("qwerty"), np.random.default_rng(0), 0.2)
    return np.stack([gesture.x, gesture.y, gesture.t], axis=-1).tolist()


@pytest.fixture
def donors(collection_site):
    """The hashes of two new donors: one gave two good swipes and a skip, the other a wrong word."""
    with httpx.Client(base_url=collection_site, timeout=60) as client:
        prompt = sentence(client)
        typed = [word["typed"] for word in prompt["words"]]
        wrong = "zebra" if typed[0] != "zebra" else "quilt"
        sessions = [agree(client)["session"] for _ in range(2)]
        gifts = [(0, 0, points(typed[0])), (0, 1, points(typed[1])), (0, 2, []), (1, 0, points(wrong))]
        for attempt, (who, index, path) in enumerate(gifts, 1):
            body = swipe_body(sessions[who], prompt, index, points=path, attempt=attempt)
            assert client.post("/api/swipes", json=body).status_code == 200
    return [session_id(session) for session in sessions]


@contextmanager
def operating(browser, site, **options):
    with opened(browser, f"{site}/operator", **options) as page:
        page.fill("#token", "t")
        page.keyboard.press("Enter")
        page.wait_for_selector("#recent canvas")
        yield page


def total(page, name):
    return page.locator("#totals li", has_text=name).locator("strong").inner_text()


def choose(page, donor):
    with page.expect_response("**/api/operator/summary?*"):
        page.fill("[name=session]", donor)
        page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelectorAll('#donors tr').length === 1")


def test_numbers_of_a_selection(browser, collection_site, donors):
    with operating(browser, collection_site) as page:
        assert page.locator("#distances rect").count() == 11
        assert page.locator("#rates rect").count() == 8
        assert page.locator("#hours rect").count() >= 1
        choose(page, donors[0])
        assert [total(page, name) for name in ("donors", "swipes", "skipped", "languages")] == ["1", "2", "1", "1"]
        assert page.locator("#recent li").count() == 2
        choose(page, donors[1])
        assert total(page, "flagged") == "100%"
        assert page.locator("#recent li.flagged").count() == 1
        assert page.locator("#distances rect.poor").count() == 3
        with page.expect_response("**/api/operator/summary?"):
            page.locator("#clear").tap()
        with page.expect_response("**/api/operator/summary?"):
            page.locator("#refresh").tap()
        page.wait_for_function("() => document.querySelectorAll('#donors tr').length >= 2")


def test_a_wrong_token_and_log_out(browser, collection_site, donors):
    with opened(browser, f"{collection_site}/operator") as page:
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#toast:not([hidden])")
        assert "not the operator's token" in page.locator("#toast").inner_text()
        assert page.locator("#login").is_visible()
        page.fill("#token", "t")
        page.keyboard.press("Enter")
        page.wait_for_selector("#recent canvas")
        page.reload()  # the tab remembers the token
        page.wait_for_selector("#recent canvas")
        page.locator("#logout").tap()
        assert page.locator("#login").is_visible()
        assert page.locator("#recent li").count() == 0
        page.reload()
        assert page.locator("#login").is_visible()
        assert page.evaluate("sessionStorage.length") == 0


def test_exports_of_a_selection(browser, collection_site, donors):
    with operating(browser, collection_site, **DESKTOP) as page:
        choose(page, donors[0])
        with page.expect_download() as found:
            page.locator("[data-export=jsonl]").click()
        assert found.value.suggested_filename == "swipes.jsonl.gz"
        with gzip.open(found.value.path()) as file:
            assert len([json.loads(line) for line in file]) == 2
        page.locator("#skipped").check()
        with page.expect_download() as found, page.expect_request("**/api/operator/export?*") as asked:
            page.locator("[data-export=npz]").click()
        assert found.value.suggested_filename == "swipes.npz"
        assert f"session={donors[0]}" in asked.value.url
        assert "skipped=true" in asked.value.url
        page.select_option("[name=flagged]", "true")
        page.locator("[data-export=parquet]").click()
        page.wait_for_selector("#toast:not([hidden])")  # nothing is flagged of this donor, or there is no Parquet
        assert page.locator("#summary").is_visible()


def test_a_donor_and_flagged_swipes_are_removed_after_a_look(browser, collection_site, donors, collection_store):
    def left():
        return [row.session for row in collection_store.rows(Selection(), skipped=True) if row.session in donors]

    with operating(browser, collection_site) as page:
        choose(page, donors[1])
        page.locator("#remove-flagged").tap()
        page.wait_for_selector("#confirm[open]")
        assert "1 swipe or skipped word with a flag" in page.locator("#confirm-text").inner_text()
        page.locator("#confirm [data-close]").tap()
        assert len(left()) == 4
        page.locator("#remove-flagged").tap()
        page.locator("#confirm-yes", has_text="Remove 1").tap()
        page.wait_for_function("() => document.querySelector('#toast').textContent === '1 removed.'")
        assert set(left()) == {donors[0]}
        page.locator("#clear").tap()
        page.get_by_role("button", name=f"Remove donor {donors[0][:8]}").tap()
        page.wait_for_selector("#confirm[open]")
        assert "nothing of this session is taken any more" in page.locator("#confirm-text").inner_text()
        changed = {"error": {"kind": "ConfirmationError", "message": "4 now"}}
        page.route("**/api/operator/removal", lambda route: route.fulfill(status=409, json=changed), times=1)
        page.locator("#confirm-yes").tap()
        page.wait_for_function("() => document.querySelector('#toast').textContent.includes('has changed')")
        assert len(left()) == 3
        page.locator("#confirm-yes", has_text="Remove 3").tap()
        page.wait_for_function("() => document.querySelector('#toast').textContent === '3 removed.'")
        assert left() == []
