import pytest

from kbcite.web.addresses import is_private

PRIVATE = (
    "127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 255.255.255.255 224.0.0.1 192.0.2.1 ::1 :: "
    "fe80::1%eth0 fc00::1 fd12::1 fec0::1 ff02::1 2001:db8::1 ::ffff:10.0.0.1 2002:0a00:0001:: 64:ff9b::7f00:1"
)


@pytest.mark.parametrize("address", PRIVATE.split())
def test_what_is_not_public_is_private(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]
)
def test_public_addresses_are_not(address: str) -> None:
    assert not is_private(address)
