import colorsys
import ipaddress
import secrets
import string

net = ipaddress.ip_network("192.168.0.0/29")
print(net, net.num_addresses, net.netmask, [str(h) for h in net.hosts()][:3], net.broadcast_address, ipaddress.ip_address("192.168.0.5") in net, list(map(str, net.subnets(new_prefix=30))))
v6 = ipaddress.ip_address("2001:db8::1")
print(v6, v6.exploded, v6.version, ipaddress.ip_address("127.0.0.1").is_loopback, ipaddress.ip_address("10.0.0.1").is_private, int(ipaddress.ip_address("0.0.1.0")), ipaddress.ip_address("::ffff:1.2.3.4").ipv4_mapped)
print(sorted(map(ipaddress.ip_address, ["10.0.0.10", "10.0.0.9"])), ipaddress.ip_interface("10.0.0.5/24").network, ipaddress.summarize_address_range(ipaddress.ip_address("10.0.0.0"), ipaddress.ip_address("10.0.0.3")).__next__())
for bad in ("256.1.1.1", "1.2.3", "10.0.0.1/33", "10.0.0.5/24"):
    try:
        ipaddress.ip_network(bad)
    except ValueError as error:
        print(error)
print([round(v, 4) for v in colorsys.rgb_to_hsv(0.2, 0.4, 0.6)], [round(v, 4) for v in colorsys.hls_to_rgb(0.5, 0.5, 0.5)])
for name in ("#ff8000", "#0af"):
    h = name.lstrip("#")
    h = "".join(c * 2 for c in h) if len(h) == 3 else h
    r, g, b = (int(h[i:i + 2], 16) for i in (0, 2, 4))
    print(name, (r, g, b), f"#{255 - r:02x}{255 - g:02x}{255 - b:02x}", round(0.299 * r + 0.587 * g + 0.114 * b, 3))
password = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(16))
print(len(password), password.isalnum(), len(secrets.token_hex(8)), secrets.compare_digest("a", "a"), 0 <= secrets.randbelow(10) < 10)
