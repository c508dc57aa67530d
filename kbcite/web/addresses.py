"""Which network addresses count as private: what a page on the web must never make kbcite talk to (SPEC 12)."""

from __future__ import annotations

import ipaddress

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_COMPATIBLE = ipaddress.ip_network("::/96")
_MORE_PRIVATE = (
    ipaddress.ip_network("192.0.0.0/24"),  # a cloud's metadata service is in it; older Pythons know only parts of it
    ipaddress.ip_network("64:ff9b:1::/48"),  # NAT64 of one's own network, RFC 8215
)


def is_private(address: str) -> bool:
    """Whether an IP address is anything but a public one: loopback, private, link-local, shared (100.64/10), multicast, reserved.

    An IPv6 address that carries an IPv4 one (mapped, compatible, 6to4, Teredo, NAT64) is judged by that. Raises ValueError for what is no
    IP address.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if (carried := _carried_ipv4(ip)) is not None:
            return is_private(str(carried))
        if ip.is_site_local:
            return True
    return not ip.is_global or ip.is_multicast or any(ip in network for network in _MORE_PRIVATE)


def _carried_ipv4(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    if ip.teredo is not None:
        return ip.teredo[1]
    if ip in _NAT64 or ip in _COMPATIBLE:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return None
