import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = { readonly network: Address; readonly bits: number };

const MAPPED_BITS = 96;

/** An IPv4-mapped address is returned as IPv4; null if the text is no address. */
export const parseAddress = (text: string): Address | null =>
  // ipaddr.js alone would also take `127.1` and `0x7f.1`, which other programs read differently.
  isIP(text) === 0 ? null : ipaddr.process(text);

/** A range inside `::ffff:0:0/96` is returned as the IPv4 range it maps; null if the text is no range. */
export const parseCidr = (text: string): Cidr | null => {
  const parts = /^([^/%]+)\/(\d{1,3})$/.exec(text.trim());
  if (parts === null) return null;
  const [, base = "", length = ""] = parts;
  if (isIP(base) === 0) return null;
  const bits = Number(length);
  const network = ipaddr.parse(base);
  if (bits > (network instanceof ipaddr.IPv4 ? 32 : 128)) return null;
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= MAPPED_BITS)
    return { network: network.toIPv4Address(), bits: bits - MAPPED_BITS };
  return { network, bits };
};

export const contains = ({ network, bits }: Cidr, address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

export const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (parsed === null) throw new Error(`${text} is not an address range such as 10.0.0.0/8`);
  return parsed;
};
