import { isIP } from "node:net";

/**
 * The options are checked here, because at an unknown one the client prints the whole string with the password.
 * https://developers.eventstore.com/clients/grpc/getting-started.html#connection-string
 */
export type ConnectionString = {
  readonly url: string;
  readonly address: string;
  readonly asksAddressForTls: boolean;
};

/** The options that db-client 6.2.1 knows (`parseConnectionString`); their names may differ in case and dashes. */
const OPTIONS = [
  "connectionName",
  "defaultDeadline",
  "discoveryInterval",
  "gossipTimeout",
  "keepAliveInterval",
  "keepAliveTimeout",
  "maxDiscoverAttempts",
  "nodePreference",
  "throwOnAppendFailure",
  "tls",
  "tlsCAFile",
  "tlsVerifyCert",
  "userCertFile",
  "userKeyFile",
] as const;

const flat = (name: string): string => name.trim().toLowerCase().replace(/[_-]/g, "");
const BY_FLAT_NAME = new Map(OPTIONS.map((name) => [flat(name), name]));

const KEEP_ALIVE_INTERVAL_MS_MIN = 10_000;

const EXAMPLE = "esdb://127.0.0.1:2113?tls=false";
const IT = "EventStoreDB's connection string";
const TO_ENCODE =
  `${IT} has a character in a user name, password or option that has to be percent-encoded: ` +
  "@ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25";

const URL =
  /^(?<scheme>esdb(?:\+discover)?:\/\/)(?:(?<credentials>.*)@)?(?<hosts>[^@/?#]*)\/*(?:\?(?<query>[^@?#]*))?$/s;
const CREDENTIALS = /^[^:@/?#]+:[^:@/?#]+$/;
const HOST = /^(?<name>[\p{L}\p{N}._-]+)(?::(?<port>\d{1,5}))?$/u;
const PORT_MAX = 65_535;

const isHost = (text: string): boolean => {
  const host = HOST.exec(text)?.groups;
  return host !== undefined && Number(host.port ?? 1) >= 1 && Number(host.port ?? 1) <= PORT_MAX;
};

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

type Option = { readonly name: (typeof OPTIONS)[number]; readonly value: string; readonly text: string };

const optionOf = (text: string): Option => {
  const [, key = "", value = ""] = /^([\w-]{1,40})=(.+)$/s.exec(text) ?? [];
  if (key === "") throw new Error(`${IT} has options that are not like ?name=value&name=value`);
  const name = BY_FLAT_NAME.get(flat(key));
  if (name === undefined)
    throw new Error(`${IT} has an option ${key}, which there is not: it takes ${OPTIONS.join(", ")}`);
  return { name, value: value.trim(), text };
};

const givenOf = (options: readonly Option[], wanted: Option["name"]): string | undefined =>
  options.findLast(({ name }) => name === wanted)?.value;

const checkOptions = (options: readonly Option[]): void => {
  if (givenOf(options, "tls") !== "false" && givenOf(options, "tlsVerifyCert") === "false")
    throw new Error(
      `${IT} has tlsVerifyCert=false, but certificates are always verified: name their authority in tlsCAFile instead`,
    );
  const interval = Number(givenOf(options, "keepAliveInterval") ?? KEEP_ALIVE_INTERVAL_MS_MIN);
  if (interval >= 0 && interval < KEEP_ALIVE_INTERVAL_MS_MIN)
    throw new Error(`${IT} has a keepAliveInterval below ${KEEP_ALIVE_INTERVAL_MS_MIN} ms: make it longer`);
};

export const readConnectionString = (text: string): ConnectionString => {
  const parts = URL.exec(text.trim())?.groups;
  if (parts === undefined) {
    if (/^esdb(?:\+discover)?:\/\/.*@/s.test(text)) throw new Error(TO_ENCODE);
    throw new Error(`it is not a connection string of EventStoreDB, such as ${EXAMPLE}`);
  }
  const { scheme = "", credentials, hosts = "", query = "" } = parts;
  if (credentials !== undefined && !CREDENTIALS.test(credentials)) {
    if (/^[^:]*:?$|^:/.test(credentials))
      throw new Error(`${IT} needs both a user name and a password, or none: esdb://name:password@host`);
    throw new Error(TO_ENCODE);
  }
  if (!isDecodable(text)) throw new Error(TO_ENCODE);
  const names = hosts.split(",");
  if (!names.every(isHost)) throw new Error(`${IT} has to name its hosts as ${EXAMPLE} does`);

  const options = query === "" ? [] : query.split("&").map(optionOf);
  checkOptions(options);
  const kept = options.filter(({ name }) => name !== "tlsVerifyCert").map(({ text: option }) => option);
  const address = `${scheme}${hosts}`;
  return {
    url: `${scheme}${credentials === undefined ? "" : `${credentials}@`}${hosts}${kept.length > 0 ? `?${kept.join("&")}` : ""}`,
    address,
    asksAddressForTls:
      givenOf(options, "tls") !== "false" && names.some((host) => isIP(host.replace(/:\d+$/, "")) !== 0),
  };
};
