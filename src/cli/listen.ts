import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { defined } from "../../domain/defined.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { visibleLine } from "../../domain/visible-text.ts";
import { makeSigningSecret, signedHeaders } from "../../infra/http/standard-webhooks.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, type Api, apiOf, isHttpUrl, Refusal, untilAnswered } from "./api.ts";
import { type Command, UsageError } from "./command.ts";
import { FILTER_OPTIONS, filterQuery } from "./event-filter.ts";
import type { EventLine } from "./event-line.ts";
import { eventLines, matches } from "./events-tail.ts";
import { withIds } from "./find-named.ts";
import { json, shownTime } from "./formats.ts";
import { followRecords, type StreamRecord } from "./record-stream.ts";

type Forwarded = Pick<EventLine, "at" | "id" | "type"> & {
  readonly status_code: number | null;
  readonly duration_ms: number;
  readonly failure: string | null;
};

const SENT_BY: readonly string[] = ["EventAdmitted", "EventReleased", "EventReplayed"];
/** Time for the local program to answer, long enough for one that is stopped in a debugger. */
const FORWARD_MS_MAX = 300_000;
/** First records that stay in memory. About the others the service is asked. */
const KNOWN_MAX = 10_000;
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/** The parts of an event's first record that a delivery tells the receiver; each is absent from older records. */
type Requested = Partial<Pick<Request, "run" | "bundle" | "sample">>;

const SPAN_BYTES = 8;

/** The headers of a real delivery (`src/delivery/outbound.ts`). The span is a new one, as no attempt is recorded here. */
const moreHeaders = ({ origin, type }: EventLine, { run, bundle, sample }: Requested, trace: string | null) => ({
  ...(sample === undefined ? {} : { "countersign-sample": "true" }),
  ...(origin.kind !== "agent"
    ? {}
    : {
        "countersign-action": type,
        "countersign-agent": origin.id,
        ...defined({
          "countersign-bundle": bundle?.id,
          "countersign-run": run?.id ?? undefined,
          "countersign-depth": run === undefined ? undefined : String(run.depth + 1),
        }),
      }),
  ...defined({
    traceparent: trace === null ? undefined : `00-${trace}-${randomBytes(SPAN_BYTES).toString("hex")}-01`,
  }),
});

const FIRST: readonly string[] = ["EventAdmitted", "EventHeld", "EventBlocked"];

type FirstRecord = { readonly requested: Requested; readonly trace: string | null };

/** Resolves to the record with which the delivery began: only it says who requested what, and in which trace. */
const firstRecords = (api: Api) => {
  const known = new LRUCache<string, FirstRecord>({ max: KNOWN_MAX });
  const asked = async (id: string): Promise<FirstRecord> => {
    type Found = { data: readonly { data: Requested; metadata: { trace_id?: string } }[] };
    const query = { stream: `delivery-${id}`, order: "asc", limit: 1 };
    const [first] = (await untilAnswered(() => api.get<Found>("/v1/audit", query))).data;
    return { requested: first?.data ?? {}, trace: first?.metadata.trace_id ?? null };
  };
  return {
    seen(record: StreamRecord): void {
      if (FIRST.includes(record.type)) known.set(record.id, { requested: record.data, trace: record.trace });
    },
    of: async (id: string): Promise<FirstRecord> => known.get(id) ?? asked(id),
  };
};

type Forward = { readonly url: string; readonly secret: string };

const send = async ({ url, secret }: Forward, id: string, payload: Response, more: Record<string, string>) => {
  const body = new Uint8Array(await payload.arrayBuffer());
  const encoding = payload.headers.get("countersign-content-encoding");
  const headers = {
    "content-type": payload.headers.get("content-type") ?? "application/octet-stream",
    ...defined({ "content-encoding": encoding ?? undefined }),
    "user-agent": "Countersign/listen",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
    "countersign-attempt": "1",
    ...more,
  };
  return fetch(url, {
    method: "POST",
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(FORWARD_MS_MAX),
    headers: { ...headers, ...signedHeaders([secret], headers, body, "listen") },
  });
};

type Forwarding = { readonly api: Api; readonly to: Forward; readonly records: ReturnType<typeof firstRecords> };

const forwarded = async (
  { api, to, records }: Forwarding,
  line: EventLine,
  { position }: StreamRecord,
): Promise<Forwarded> => {
  const { at, id, type } = line;
  const began = performance.now();
  const ended = (status_code: number | null, failure: string | null): Forwarded => ({
    at,
    id,
    type,
    status_code,
    duration_ms: Math.round(performance.now() - began),
    failure,
  });
  try {
    const path = `/v1/events/${id}/payload?after=${encodeURIComponent(position)}`;
    const payload = await untilAnswered(() => api.open(path));
    const { requested, trace } = await records.of(id);
    const response = await send(to, id, payload, moreHeaders(line, requested, trace));
    await response.body?.cancel();
    return ended(response.status, null);
  } catch (error) {
    if (error instanceof Refusal && (error.status === 401 || error.status === 403)) throw error;
    const { message, cause } = error as Error;
    return ended(null, error instanceof Refusal ? message : String(cause ?? message));
  }
};

const isAccepted = ({ status_code: status }: Forwarded): boolean => status !== null && status >= 200 && status < 300;

const shown = ({ at, id, type, status_code, duration_ms, failure }: Forwarded): string =>
  [
    shownTime(at),
    id,
    visibleLine(type) || "-",
    status_code === null ? `not forwarded: ${visibleLine(failure ?? "")}` : `${status_code} in ${duration_ms} ms`,
  ].join("  ");

const { status: _status, from: _from, to: _to, ...FILTERS } = FILTER_OPTIONS;

export const listen: Command = {
  synopsis: `--forward <url> [--secret <whsec_…>] [<filters>] ${API_SYNOPSIS}`,
  help: [
    "Forwards new deliveries to a local program as well, one after the other: the payload as it came in,",
    "with its content type, signed as Standard Webhooks. The program's answer changes nothing at the",
    "service. The key needs the role auditor; below admin, the policy may hide fields of payloads. Runs",
    "until it is interrupted, and continues after the last record if its connection ends.",
    "--forward <url>     http://localhost:3000/hooks",
    "--secret <secret>   for the signature, whsec_…; default: COUNTERSIGN_SIGNING_SECRET, or a new one, shown",
    "--source <id>       only of this source, by id or name; also --agent <id>, --endpoint <id>, --action <name>, --q <text>",
    ...API_HELP.map((line) => line.replace(/ {2,}/, (gap) => `${gap}       `)),
  ],
  options: { ...API_OPTIONS, ...FILTERS, forward: { type: "string" }, secret: { type: "string" } },
  async run(args, env, terminal) {
    const { positionals, options } = args;
    const url = String(options.forward ?? "");
    if (positionals.length > 0 || !isHttpUrl(url))
      throw new UsageError("listen takes --forward, an http or https URL.");
    const given = options.secret ?? (env.COUNTERSIGN_SIGNING_SECRET || undefined);
    // The message does not repeat the secret.
    if (given !== undefined && !SECRET.test(String(given)))
      throw new UsageError("A signing secret is whsec_ and 24 to 64 bytes in base64.");
    const secret = given === undefined ? makeSigningSecret(randomBytes(32)) : String(given);
    const api = apiOf(args, env);
    const query = await withIds(api, filterQuery(options, Date.now()));
    const lines = eventLines(api);
    const forwarding = { api, to: { url, secret }, records: firstRecords(api) };
    for await (const item of followRecords(api, terminal.note)) {
      if (item.kind === "open") {
        terminal.note(`forwarding to ${url}${given === undefined ? `, signed with ${secret}` : ""}`);
        continue;
      }
      forwarding.records.seen(item.record);
      if (!SENT_BY.includes(item.record.type)) continue;
      const line = await lines.after(item.record);
      // An event of origin "system" is a notification, which is forwarded only if `--endpoint` asks for its endpoint.
      const isOwn = line?.origin.kind === "system" && query.endpoint_id === undefined;
      if (line === null || isOwn || !matches(query, line)) continue;
      const done = await forwarded(forwarding, line, item.record);
      if (options.json === true) terminal.out(json(done));
      else terminal.out(shown(done), isAccepted(done) ? "good" : "bad");
    }
  },
};
