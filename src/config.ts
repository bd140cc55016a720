import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { PLANS, type Plan } from "../domain/account/plans.ts";
import { ConfigError, type Env } from "./config-error.ts";
import type { KafkaLocation, OtlpLocation, StripeOptions } from "./engine/open-engines.ts";
import { readStripe } from "./stripe-config.ts";
import { readWitnesses } from "./witness-config.ts";
import type { WitnessConfig } from "./witnessing/witness-config.ts";

export type Role = "api" | "projector" | "deliverer" | "feed";
const ROLES: readonly Role[] = ["api", "projector", "deliverer", "feed"];
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const SIGNUPS = ["open", "closed"] as const;
export type Signup = (typeof SIGNUPS)[number];

const DELIVERY_DNS = ["direct", "system"] as const;

export type Config = {
  readonly host: string;
  readonly port: number;
  /** The service's address, without a slash at the end; null for http://localhost with the port in use. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly key: string | null;
  /** The file of the key that signs checkpoints; null for one that is made in `dataDir`. */
  readonly auditKeyFile: string | null;
  readonly roles: readonly Role[];
  readonly deliveryAllowCidrs: readonly string[];
  /** "direct": this process asks the DNS servers itself; "system": getaddrinfo does. */
  readonly deliveryDns: (typeof DELIVERY_DNS)[number];
  /** Addresses of DNS servers, each with its port if that is not 53; empty to use the servers of /etc/resolv.conf. */
  readonly deliveryDnsServers: readonly string[];
  /** Number of libuv's threads, on which getaddrinfo runs. */
  readonly threadPoolSize: number;
  readonly trustProxy: boolean | string[];
  /** The bearer token with which other machines may read /metrics; if null, they may not. */
  readonly metricsToken: string | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly signup: Signup;
  readonly signupPlan: Plan["name"];
  readonly eventstoreUrl: string | null;
  readonly mongodbUrl: string | null;
  readonly kafka: KafkaLocation | null;
  readonly otlp: OtlpLocation | null;
  readonly serviceName: string;
  /** If null, no payment provider is asked: plans change without a payment. */
  readonly stripe: StripeOptions | null;
  /** Null if no witness is asked. */
  readonly witnesses: WitnessConfig | null;
  readonly version: string;
  readonly commit: string;
};

const oneOf = <T extends string>(env: Env, name: string, allowed: readonly T[], otherwise: T): T => {
  const value = env[name] || otherwise;
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new ConfigError(`${name} is "${value}": it has to be one of ${allowed.join(", ")}.`);
  return found;
};

const list = (value: string | undefined): string[] =>
  (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const PORT_MAX = 65_535;

const port = (value: string): number => {
  const parsed = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(parsed <= PORT_MAX)) throw new ConfigError(`PORT is "${value}": it has to be a number from 0 to 65535.`);
  return parsed;
};

/** A server as the operator writes it: `10.0.0.2`, `10.0.0.2:5353` or `[fd00::2]:53`. */
const DNS_SERVER = /^(?:\[(?<ipv6>[\da-fA-F:.]+)\]|(?<ipv4>[\d.]+))(?::(?<port>\d{1,5}))?$/;

const dnsServers = (value: string | undefined): readonly string[] => {
  const servers = list(value);
  for (const server of servers) {
    const { ipv6, ipv4, port: number = "53" } = DNS_SERVER.exec(server)?.groups ?? {};
    if (isIP(server) === 0 && (isIP(ipv4 ?? ipv6 ?? "") === 0 || !(Number(number) <= PORT_MAX))) {
      throw new ConfigError(
        `DELIVERY_DNS_SERVERS names "${server}": it takes addresses such as 10.0.0.2 or 10.0.0.2:53.`,
      );
    }
  }
  return servers;
};

const THREADS_MAX = 1_024;

const threadPoolSize = (value: string): number => {
  const parsed = /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (parsed >= 1 && parsed <= THREADS_MAX) return parsed;
  throw new ConfigError(`UV_THREADPOOL_SIZE is "${value}": it has to be a number from 1 to ${THREADS_MAX}.`);
};

const publicUrl = (value: string | undefined): string | null => {
  if (value === undefined || value === "") return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new ConfigError(
      `PUBLIC_URL is "${value}": it has to be an http or https address such as https://hooks.example.com.`,
    );
  }
  return url.href.replace(/\/+$/, "");
};

/** Matches a host as `URL` writes it, which normalizes IPv4 addresses and puts IPv6 ones in brackets. */
const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** By default strangers may sign up only if PUBLIC_URL is local or not set, so that other machines cannot reach it. */
const signup = (env: Env, url: string | null): Signup =>
  oneOf(env, "SIGNUP", SIGNUPS, url === null || LOCAL_HOST.test(new URL(url).hostname) ? "open" : "closed");

const roles = (value: string | undefined): readonly Role[] => {
  const named = list(value);
  if (named.length === 0) return ROLES;
  return named.map((name) => {
    const role = ROLES.find((candidate) => candidate === name);
    if (role === undefined) throw new ConfigError(`ROLES names "${name}": it takes some of ${ROLES.join(", ")}.`);
    return role;
  });
};

const TOKEN_LENGTH_MIN = 16;

const metricsToken = (value: string | undefined): string | null => {
  if (value === undefined || value === "") return null;
  if (value.length < TOKEN_LENGTH_MIN || !/^[\x21-\x7e]+$/.test(value)) {
    throw new ConfigError(
      `METRICS_TOKEN has to be at least ${TOKEN_LENGTH_MIN} visible ASCII characters (openssl rand -hex 24).`,
    );
  }
  return value;
};

const trustProxy = (value: string | undefined): boolean | string[] => {
  if (value === undefined || value === "" || value === "false") return false;
  return value === "true" ? true : list(value);
};

/** The message never repeats the value, because the URL may contain a password. */
const engineUrl = (env: Env, name: string, scheme: RegExp, example: string): string | null => {
  const value = env[name] || null;
  if (value !== null && !scheme.test(value)) throw new ConfigError(`${name} has to be like ${example}.`);
  return value;
};

const BROKER = /^(?:[\w.-]+|\[[\da-fA-F:.]+\]):(?<port>\d{1,5})$/;
const isBroker = (text: string): boolean => {
  const port = Number(BROKER.exec(text)?.groups?.port ?? 0);
  return port > 0 && port <= PORT_MAX;
};
const TOPIC = /^(?!\.{1,2}$)[\w.-]{1,249}$/;

const kafka = (env: Env): Config["kafka"] => {
  const brokers = list(env.KAFKA_BROKERS);
  if (brokers.length === 0) return null;
  const wrong = brokers.find((broker) => !isBroker(broker));
  if (wrong !== undefined) throw new ConfigError(`KAFKA_BROKERS names "${wrong}": it takes host:port,host:port.`);
  const topic = env.KAFKA_TOPIC || "countersign.events";
  if (!TOPIC.test(topic)) {
    throw new ConfigError(
      `KAFKA_TOPIC is "${topic}": it takes up to 249 letters, digits, dots, dashes and underscores.`,
    );
  }
  return { brokers, topic };
};

/** The exporter sets these headers itself, or they belong to one connection (RFC 9110, sections 7.6.1 and 8.6). */
const FRAMING: ReadonlySet<string> = new Set([
  ...["connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive"],
  ...["proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
]);

/** Parses `name=value,name=value`, each percent-encoded, as OpenTelemetry's exporter specification has it. */
const otlpHeaders = (value: string | undefined): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {};
  for (const pair of list(value)) {
    const [name = "", ...rest] = pair.split("=");
    try {
      headers[name.trim()] = decodeURIComponent(rest.join("=").trim());
    } catch {
      headers[name.trim()] = "";
    }
    // The message does not repeat the value, because a header may be a credential.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name.trim()) || !/^[\x20-\x7e]+$/.test(headers[name.trim()] ?? "")) {
      throw new ConfigError("OTEL_EXPORTER_OTLP_HEADERS has to be like name=value,name=value, percent-encoded.");
    }
    if (FRAMING.has(name.trim().toLowerCase())) {
      throw new ConfigError(
        `OTEL_EXPORTER_OTLP_HEADERS sets ${name.trim()}, which the exporter sets itself: leave it out.`,
      );
    }
  }
  return headers;
};

const otlp = (env: Env): Config["otlp"] => {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined || endpoint === "") {
    if (!env.OTEL_EXPORTER_OTLP_HEADERS) return null;
    throw new ConfigError(
      "OTEL_EXPORTER_OTLP_HEADERS is set without OTEL_EXPORTER_OTLP_ENDPOINT: set where traces go, or unset it.",
    );
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new ConfigError("OTEL_EXPORTER_OTLP_ENDPOINT has to be an http or https address like http://localhost:4318.");
  }
  return { endpoint: url.href, headers: otlpHeaders(env.OTEL_EXPORTER_OTLP_HEADERS) };
};

export const build = (env: Env): { version: string; commit: string } => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return { version, commit: env.COMMIT || "unknown" };
};

export const readConfig = (env: Env): Config => {
  const eventstoreUrl = engineUrl(env, "EVENTSTORE_URL", /^esdb(\+discover)?:\/\/./, "esdb://host:2113?tls=true");
  const mongodbUrl = engineUrl(env, "MONGODB_URL", /^mongodb(\+srv)?:\/\/./, "mongodb://host:27017/countersign");
  // With EVENTSTORE_URL a key file would not do: it is on one machine, while the log serves several and outlives them.
  if (eventstoreUrl !== null && !env.COUNTERSIGN_KEY) {
    throw new ConfigError(
      "COUNTERSIGN_KEY is required with EVENTSTORE_URL: 32 bytes in base64, the same for every node (openssl rand -base64 32).",
    );
  }
  const signs = roles(env.ROLES).some((role) => role === "api" || role === "projector");
  if (eventstoreUrl !== null && signs && !env.AUDIT_KEY_FILE) {
    throw new ConfigError(
      "AUDIT_KEY_FILE is required with EVENTSTORE_URL: the file of the key that signs checkpoints, the same for every node (countersign audit make-key).",
    );
  }
  return {
    host: env.HOST || "127.0.0.1",
    port: port(env.PORT || "8080"),
    publicUrl: publicUrl(env.PUBLIC_URL),
    dataDir: env.DATA_DIR || "./data",
    key: env.COUNTERSIGN_KEY || null,
    auditKeyFile: env.AUDIT_KEY_FILE || null,
    roles: roles(env.ROLES),
    deliveryAllowCidrs: list(env.DELIVERY_ALLOW_CIDRS),
    deliveryDns: oneOf(env, "DELIVERY_DNS", DELIVERY_DNS, "direct"),
    deliveryDnsServers: dnsServers(env.DELIVERY_DNS_SERVERS),
    threadPoolSize: threadPoolSize(env.UV_THREADPOOL_SIZE || "4"),
    trustProxy: trustProxy(env.TRUST_PROXY),
    metricsToken: metricsToken(env.METRICS_TOKEN),
    logLevel: oneOf(env, "LOG_LEVEL", LOG_LEVELS, "info"),
    signup: signup(env, publicUrl(env.PUBLIC_URL)),
    signupPlan: oneOf(env, "SIGNUP_PLAN", Object.keys(PLANS) as Plan["name"][], "free"),
    eventstoreUrl,
    mongodbUrl,
    kafka: kafka(env),
    otlp: otlp(env),
    serviceName: env.OTEL_SERVICE_NAME || "countersign",
    stripe: readStripe(env),
    witnesses: readWitnesses(env),
    ...build(env),
  };
};
