"""Withdrawal in a real Chromium: of everything, offline, from another device; and swipes that wait are not lost."""

from datetime import UTC, datetime

from web.donating_page import (
    DESKTOP,
    SCRIBBLE,
    agree,
    all_sent,
    counts,
    delete_all,
    delete_by,
    donor,
    message,
    receipt,
    skip,
    swipe,
)
from web.serving import Finger, opened


def test_everything_is_deleted_also_what_earlier_sessions_gave(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        swipe(page)
        all_sent(page)
        page.evaluate(  # twelve hours pass
            """() => { const name = Object.keys(localStorage).find(key => key.startsWith('glissando:session:'));
                localStorage.setItem(name, JSON.stringify({ ...JSON.parse(localStorage[name]), expires: 1000 })); }"""
        )
        page.reload()
        agree(page)
        swipe(page)
        skip(page)
        all_sent(page)
        assert len({row.session for row in given()}) == 2
        page.locator("#delete").tap()
        day = datetime.now(UTC)
        assert f"{day.day} {day:%B} {day.year}" in page.locator("#withdraw-own").inner_text()
        page.locator("#withdraw-all").tap()
        assert "3 words removed" in message(page, "removed")
        assert given() == []
        assert page.locator("#agree").is_visible()
        assert not page.evaluate("Object.keys(localStorage).some(key => /:(session|swipe|withdraw):/.test(key))")


def test_deleting_offline_drops_what_waits_and_is_done_when_online(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        swipe(page)
        all_sent(page)
        page.context.set_offline(True)
        swipe(page)
        delete_all(page)
        assert "1 swipe that waited was dropped" in message(page, "as soon as the server can be reached")
        assert len(given()) == 1
        page.close()
        page.context.set_offline(False)
        page = page.context.new_page()
        page.goto(f"{collection_site}/collect")
        assert "1 word removed" in message(page, "removed")
        assert given() == []


def test_a_receipt_deletes_from_another_device(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        swipe(page)
        all_sent(page)
        code = receipt(page)
        page.locator("#more").tap()
        with opened(browser, f"{collection_site}/collect", **DESKTOP) as other:
            delete_by(other, code[:-1])
            assert other.locator("#withdraw-error").is_visible()
            other.fill("#withdraw-code", "0000000000000000")
            other.locator("#withdraw-form button").click()
            message(other, "Nothing is stored under this receipt")
            other.goto(f"{collection_site}/collect#withdraw={code}")
            other.wait_for_selector("#withdraw[open]")
            assert other.locator("#withdraw-code").input_value() == code
            other.fill("#withdraw-code", code.lower().replace("-", " "))
            other.locator("#withdraw-form button").click()
            assert "1 word removed" in message(other, "removed")
        assert given() == []
        before = counts(page)
        Finger(page).follow(*SCRIBBLE)  # the first device learns of it with the next swipe
        message(page, "deleted from another device")
        assert counts(page) == before
        assert page.locator("#agree").is_visible()
        assert given() == []


def test_an_older_pages_secret_is_kept(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        swipe(page)
        all_sent(page)
        page.evaluate(
            """() => { const name = Object.keys(localStorage).find(key => key.startsWith('glissando:session:'));
                const { session, expires, attempt } = JSON.parse(localStorage[name]);
                localStorage.clear();
                localStorage.setItem('glissando:session', JSON.stringify({ session, expires, attempt })); }"""
        )
        page.reload()
        page.wait_for_selector("#agree")
        delete_all(page)
        assert "1 word removed" in message(page, "removed")
        assert given() == []


def test_swipes_wait_through_a_closed_page(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        page.route("**/api/swipes", lambda route: route.abort())
        skip(page)
        assert given() == []
        page.unroute("**/api/swipes")
        page.goto(f"{collection_site}/collect")
        page.wait_for_function("() => !Object.keys(localStorage).some(key => key.startsWith('glissando:swipe'))")
        assert len(given()) == 1


def test_swipes_of_a_lost_session_wait_for_a_new_one(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        error = {"error": {"kind": "UnknownSessionError", "message": "no such session"}}
        page.route("**/api/swipes", lambda route: route.fulfill(status=404, json=error), times=1)
        skip(page)
        all_sent(page)
        assert [row.attempt for row in given()] == [1]
        assert (
            page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('glissando:session:')).length") == 2
        )


def test_where_nothing_can_be_stored_the_receipt_says_so(browser, collection_site):
    with opened(browser, "about:blank") as page:
        page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
        page.goto(f"{collection_site}/collect")
        agree(page)
        swipe(page)
        receipt(page)
        assert "Write the receipt down" in page.locator("#receipts .note").inner_text()
        delete_all(page)
        assert "1 word removed" in message(page, "removed")
