import re

from glissando.web.codes import new_secret, receipt_id, receipt_of, session_id


def test_a_receipt_can_be_read_out_and_written_down():
    receipt = receipt_of("a secret")
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}", receipt)
    assert receipt == receipt_of("a secret") != receipt_of("another")
    assert len({receipt_of(new_secret()) for _ in range(100)}) == 100


def test_how_a_receipt_is_typed_does_not_matter():
    typed = ["0ABC-1DEF-1XYZ-0000", " oabc ldef ixyz oooo", "0AbC1dEf1xYz0000", "0abc–1def–1xyz–0000\n"]
    assert len({receipt_id(code) for code in typed}) == 1
    assert receipt_id("0ABC-1DEF-1XYZ-0001") != receipt_id(typed[0])


def test_hashes_tell_nothing_of_each_other():
    secret = new_secret()
    receipt = receipt_of(secret)
    assert len({session_id(secret), receipt_id(receipt), session_id(receipt), receipt_id(secret)}) == 4
