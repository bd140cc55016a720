import ipaddr from "ipaddr.js";
import { parseAddress } from "./cidr.ts";

/**
 * Bits of the smallest networks that are routed separately: a customer seldom has more than a /24 or less than a /48.
 */
const IPV4_BITS = 24;
const IPV6_BITS = 48;

/** The network as `192.0.2.0/24` or `2001:db8:1::/48`; a text that is no address is returned unchanged. */
export const networkOf = (ip: string): string => {
  const address = parseAddress(ip.replace(/%.*$/, ""));
  if (address === null) return ip;
  if (address instanceof ipaddr.IPv4) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${IPV4_BITS}`).toString()}/${IPV4_BITS}`;
  }
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${IPV6_BITS}`).toString()}/${IPV6_BITS}`;
};
