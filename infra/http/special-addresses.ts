import ipaddr from "ipaddr.js";
import { type Address, type Cidr, cidr, contains } from "./cidr.ts";

type Special = readonly [rule: string, ...ranges: readonly Cidr[]];

const special = (rule: string, ...ranges: readonly string[]): Special => [rule, ...ranges.map(cidr)];

/** Addresses that the IANA registries (RFC 6890) do not call global unicast, and some that only look public. */
const SPECIAL: readonly Special[] = [
  special("unspecified", "0.0.0.0/32", "::/128"),
  special("this-network", "0.0.0.0/8"),
  special("loopback", "127.0.0.0/8", "::1/128"),
  // The metadata services of AWS (169.254.169.254, ECS, EC2 by IPv6), Azure's wire server, Alibaba and Oracle.
  special(
    "cloud-metadata",
    "169.254.169.254/32",
    "169.254.170.0/24",
    "168.63.129.16/32",
    "100.100.100.200/32",
    "192.0.0.192/32",
    "fd00:ec2::/32",
    "fd20:ce::/32",
  ),
  special("link-local", "169.254.0.0/16", "fe80::/10"),
  special("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
  special("shared-address-space", "100.64.0.0/10"),
  special("unique-local", "fc00::/7"),
  special("site-local", "fec0::/10"),
  special("multicast", "224.0.0.0/4", "ff00::/8"),
  special("broadcast", "255.255.255.255/32"),
  special("reserved", "240.0.0.0/4"),
  special("protocol-assignments", "192.0.0.0/24"),
  special("documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
  special("benchmarking", "198.18.0.0/15", "2001:2::/48"),
  special("6to4-relay", "192.88.99.0/24"),
  special("discard-only", "100::/64", "100:0:0:1::/64"),
  special("teredo", "2001::/32"),
  special("protocol-assignments", "2001::/23"),
  special("6to4", "2002::/16"),
  special("local-nat64", "64:ff9b:1::/48"),
  special("ipv4-compatible", "::/96"),
  special("ipv4-translated", "::ffff:0:0:0/96"),
  special("segment-routing", "5f00::/16"),
];

const GLOBAL_UNICAST = cidr("2000::/3");

/** NAT64's prefix (RFC 6052), by which machines with IPv6 alone reach IPv4 receivers: the address inside is judged. */
const NAT64 = cidr("64:ff9b::/96");
const EMBEDDED_AT = 12;

const embedded = (address: Address): Address =>
  contains(NAT64, address) ? new ipaddr.IPv4(address.toByteArray().slice(EMBEDDED_AT)) : address;

export const specialRule = (given: Address): string | null => {
  const address = embedded(given);
  for (const [rule, ...ranges] of SPECIAL) if (ranges.some((range) => contains(range, address))) return rule;
  if (address.kind() === "ipv6" && !contains(GLOBAL_UNICAST, address)) return "not-global-unicast";
  return null;
};
