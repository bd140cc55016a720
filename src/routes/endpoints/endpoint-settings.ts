import { defined } from "../../../domain/defined.ts";
import type { EndpointSettings, OwnHeader } from "../../../domain/endpoint/events.ts";
import { headerFault, headersFault } from "../../../domain/endpoint/own-headers.ts";
import { escapePointer } from "../../../domain/gate/field-path.ts";
import type { HeaderDigest } from "../../../infra/crypto/header-digest.ts";
import type { SecretBox } from "../../../infra/crypto/secret-box.ts";
import type { AddressRules } from "../../../infra/http/addresses.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import { type EndpointBody, REDACTED } from "./endpoint-input.ts";

export type SettingsDeps = {
  readonly box: SecretBox;
  readonly headerDigest: HeaderDigest;
  readonly addresses: Pick<AddressRules, "vetUrl">;
};

export type Before = {
  readonly account: string;
  readonly stream: string;
  readonly headers: EndpointSettings["headers"];
};

const invalid = (path: string, message: string): Problem =>
  problem("invalid-request", `In the body: ${path} ${message}.`, { errors: [{ path, message }] });

const WHY: Readonly<Record<string, string>> = {
  scheme: "it must begin with http:// or https://",
  userinfo: "send credentials as a header instead",
  "not-a-url": "it must be an absolute URL without blanks",
  "too-long": "it is too long",
};

const refusedAddress = async (
  addresses: SettingsDeps["addresses"],
  url: string,
  account: string,
): Promise<Problem | null> => {
  const vetted = await addresses.vetUrl(url, account);
  if (vetted.ok) return null;
  const { host, address, rule } = vetted;
  const where = host === "" ? "The URL" : address === null || address === host ? host : `${host} (${address})`;
  const why = WHY[rule] ?? "only public addresses are delivered to, unless DELIVERY_ALLOW_CIDRS opens more";
  return problem("address-not-allowed", `${where} is refused by the rule ${rule}: ${why}.`, {
    errors: [{ path: "/url", message: why }],
    extra: { host, address, rule },
  });
};

/** Seals each header's value for its name. A value that is sent back redacted, or unchanged, keeps its seal. */
const sealedHeaders = (
  { box, headerDigest }: Pick<SettingsDeps, "box" | "headerDigest">,
  { account, stream, headers: before }: Before,
  given: NonNullable<EndpointBody["headers"]>,
): { readonly headers: EndpointSettings["headers"] } | Problem => {
  const known = new Map(Object.entries(before));
  const plain = new Map<string, string>();
  const sealed = new Map<string, OwnHeader>();
  for (const [written, header] of Object.entries(given)) {
    const { value, secret } = typeof header === "string" ? { value: header, secret: null } : header;
    const name = written.toLowerCase();
    const path = `/headers/${escapePointer(written)}`;
    const at = { account, stream, field: `headers.${name}` };
    const kept = value === REDACTED ? known.get(name) : undefined;
    if (plain.has(name)) return invalid(path, "is there twice");
    if (value === REDACTED && kept === undefined) return invalid(path, "has no value yet that could be kept");
    const fault = headerFault(name, value);
    if (fault !== null) return invalid(path, fault);
    const opened = kept === undefined ? value : box.open(kept.sealed, at);
    // A header that is secret (it has no digest) stays so unless the change says otherwise.
    const isSecret = secret ?? known.get(name)?.digest === null;
    const digest = isSecret ? null : headerDigest(account, name, opened);
    const same = digest !== null && known.get(name)?.digest === digest ? known.get(name) : kept;
    plain.set(name, opened);
    sealed.set(name, { sealed: same?.sealed ?? box.seal(value, at), digest });
  }
  const fault = headersFault(plain);
  return fault === null ? { headers: Object.fromEntries(sealed) } : invalid("/headers", fault);
};

export const settingsOf = async (
  deps: SettingsDeps,
  before: Before,
  body: EndpointBody,
): Promise<Partial<EndpointSettings> | Problem> => {
  const { headers: given, ...changes } = body;
  const sealed: Partial<Pick<EndpointSettings, "headers">> | Problem =
    given === undefined ? {} : sealedHeaders(deps, before, given);
  if ("problem" in sealed) return sealed;
  if (body.url !== undefined) {
    const refused = await refusedAddress(deps.addresses, body.url, before.account);
    if (refused !== null) return refused;
  }
  return { ...changes, ...defined({ name: body.name?.trim() }), ...sealed };
};
