import { Resolver } from "node:dns";
import type { ResolvConf } from "./resolv-conf.ts";

/** "absent": the name has no address. "trouble": the DNS gave no answer, so the name may have addresses. */
export type NameAnswer =
  | { readonly outcome: "found"; readonly addresses: readonly string[] }
  | { readonly outcome: "absent" }
  | { readonly outcome: "trouble"; readonly code: string };

/** c-ares' codes (node:dns, "Error codes") for a name that has no address or that cannot be asked for. */
const ABSENT: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);
/** Milliseconds to wait for IPv6 after IPv4 addresses have come (RFC 8305, section 3, has 50 ms). */
const SECOND_FAMILY_MS = 200;

const answerOf = (error: NodeJS.ErrnoException | null, addresses: readonly string[]): NameAnswer => {
  if (error === null) return addresses.length === 0 ? { outcome: "absent" } : { outcome: "found", addresses };
  const code = error.code ?? error.message;
  return ABSENT.has(code) ? { outcome: "absent" } : { outcome: "trouble", code };
};

const together = (ipv4: NameAnswer, ipv6: NameAnswer): NameAnswer => {
  const addresses = [ipv4, ipv6].flatMap((it) => (it.outcome === "found" ? it.addresses : []));
  if (addresses.length > 0) return { outcome: "found", addresses };
  return ipv4.outcome === "trouble" ? ipv4 : ipv6;
};

export class NameQuery {
  readonly #resolver: Resolver;

  constructor({ servers, timeoutMs, attempts }: ResolvConf) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries: attempts });
    if (servers.length > 0) this.#resolver.setServers(servers);
  }

  async ask(name: string): Promise<NameAnswer> {
    let timer: NodeJS.Timeout | undefined;
    const ipv6 = new Promise<NameAnswer>((resolve) =>
      this.#resolver.resolve6(name, (error, addresses) => resolve(answerOf(error, addresses))),
    );
    const ipv4 = await new Promise<NameAnswer>((resolve) =>
      this.#resolver.resolve4(name, (error, addresses) => resolve(answerOf(error, addresses))),
    );
    if (ipv4.outcome === "found") timer = setTimeout(() => this.#resolver.cancel(), SECOND_FAMILY_MS);
    const both = together(ipv4, await ipv6);
    clearTimeout(timer);
    return both;
  }

  cancel(): void {
    this.#resolver.cancel();
  }
}
