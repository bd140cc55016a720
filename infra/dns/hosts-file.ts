import { isIP } from "node:net";

export const parseHosts = (text: string): ReadonlyMap<string, readonly string[]> => {
  const byName = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = (line.split("#")[0] ?? "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, "");
      const addresses = byName.get(key);
      if (addresses === undefined) byName.set(key, [address]);
      else if (!addresses.includes(address)) addresses.push(address);
    }
  }
  return byName;
};
