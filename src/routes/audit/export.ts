import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../../domain/defined.ts";
import { filterKeyOf, KEY_FILTERS } from "../../../domain/evidence/filter-keys.ts";
import { type AuditHead, audit } from "../../../projections/audit.ts";
import type { AccountEvidence } from "../../audit/account-evidence.ts";
import { type Exported, exportLines } from "../../audit/export.ts";
import { erasureLines } from "../../audit/export-erasures.ts";
import { type Chosen, chainIndexes, searchedIndexes } from "../../audit/export-filter.ts";
import { eventsAt } from "../../audit/records.ts";
import { type AnswerLimits, answerSlots } from "../../http/answer-slots.ts";
import { VIEW_WAIT_MS } from "../../http/limits.ts";
import { invalid } from "../../http/listing.ts";
import { type Answer, type Call, type Handler, type JsonSchema, type Route, route } from "../../http/route.ts";
import { TIME_RANGE_QUERY, timeRangeOf } from "../../http/time-range.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import { documentIn } from "../../views/typed-documents.ts";
import { notSealed, signing } from "./checkpoints.ts";
import { type ExportPayloadsDeps, erasedLines, payloadLines } from "./export-payloads.ts";

export type ExportDeps = ExportPayloadsDeps & {
  readonly evidence: AccountEvidence | null;
  readonly exportLimits?: AnswerLimits;
  /** `TAIL_RECORDS_MAX` but in tests. */
  readonly tailMax?: number;
};

/** Each export reads the log all the time, and takes some 200 KiB of memory. */
const EXPORT_LIMITS: AnswerLimits = { accountMax: 2, max: 16 };
const CHUNK_CHARACTERS = 64 * 1024;
/** The credential is checked this often (ms), so that a revoked one ends the export. */
const RECHECK_MS = 1_000;
/** A checkpoint covers a sealed map within two seconds. */
const COVERED_MAX_MS = 5_000;
const LOOK_MS = 100;
const VIEW = audit.schema.name;

const TEXT_LENGTH_MAX = 512;
const filterBy = (description: string) =>
  ({ type: "string", minLength: 1, maxLength: TEXT_LENGTH_MAX, description }) as const satisfies JsonSchema;
const indexBound = (description: string) =>
  ({ type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }) as const satisfies JsonSchema;

const QUERY = {
  from_index: indexBound("Begin with this record. With a filter it is the same as resume_from"),
  to_index: indexBound("End before this record. Not with a filter, and not with resume_from"),
  resume_from: indexBound(
    "An export that was cut off goes on with this record. The records before it are left out, which you have, and the header, " +
      "the proofs, the erasures and the count are those of all records: see docs/auditor.md",
  ),
  ...TIME_RANGE_QUERY,
  type: filterBy("Only records of this type"),
  actor: filterBy("Only records of what this member, key, source or part of the system did"),
  subject: filterBy("Only records about this id"),
  stream: filterBy("Only records of this stream: its name, or the id in it"),
  event_id: filterBy(
    "Only records that name this event. With one of these ids alone, the export proves that it is whole; a value that is no " +
      "whole id of its kind is refused, because it would be proved to have no record",
  ),
  source_id: filterBy("Only records that name this source"),
  agent_id: filterBy("Only records that name this agent"),
  endpoint_id: filterBy("Only records that name this endpoint"),
  policy_id: filterBy("Only records that name this policy"),
  approval_id: filterBy("Only records that name this approval"),
  bundle_id: filterBy("Only records that name this bundle"),
  member_id: filterBy("Only records that name this member"),
  action: filterBy("Only records of this action's name"),
  payloads: { enum: ["1"], description: "With the payloads, headers and personal data that an auditor may read" },
} as const satisfies Record<string, JsonSchema>;

type Asked = Call<{ query: typeof QUERY }>;

/** The filters as they were asked for, which the export's header repeats; null if there are none. */
const filterOf = ({ query }: Asked): Readonly<Record<string, string>> | null => {
  const { from_index: _from, to_index: _to, resume_from: _resumeFrom, payloads: _payloads, ...filters } = query;
  const given = Object.entries(filters).filter((it): it is [string, string] => typeof it[1] === "string");
  return given.length === 0 ? null : Object.fromEntries(given);
};

const chosenBy = ({ query, principal: { account } }: Asked): Chosen | Problem => {
  const range = timeRangeOf(query);
  if ("problem" in range) return range;
  const { type, actor, subject, stream } = query;
  const keys: string[] = [];
  for (const name of KEY_FILTERS) {
    const value = query[name];
    if (value === undefined) continue;
    const found = filterKeyOf(name, value, account);
    if ("must" in found) return invalid(name, found.must);
    keys.push(found.key);
  }
  return { keys, search: { account, ...range, ...defined({ type, actor, subject, stream }) } };
};

/** Waits until the view has this many records of the account, as the export finds them by it. */
const hasFolded = async ({ views }: ExportDeps, account: string, size: number): Promise<boolean> => {
  const end = performance.now() + VIEW_WAIT_MS;
  for (;;) {
    if (((await documentIn<AuditHead>(views, audit, account))?.count ?? 0) >= size) return true;
    if (performance.now() >= end) return false;
    await sleep(LOOK_MS);
  }
};

type End = NonNullable<Awaited<ReturnType<AccountEvidence["newest"]>>>;

/** The newest checkpoint, once it covers this record; null if it does not in time. */
const covering = async (evidence: AccountEvidence, account: string, index: number): Promise<End | null> => {
  const last = performance.now() + COVERED_MAX_MS;
  for (;;) {
    const end = await evidence.newest(account);
    if (end !== null && end.size > index) return end;
    if (performance.now() >= last) return null;
    await sleep(LOOK_MS);
  }
};

/**
 * The newest sealed map of the key, once it covers all records before this index: an export that goes on has them in `record`
 * lines, and with an older map they would stand in its tail as well. Null if there is none in time.
 */
const mapFrom = async (evidence: AccountEvidence, account: string, key: string, resumeFrom: number) => {
  const last = performance.now() + COVERED_MAX_MS;
  for (;;) {
    const sealed = await evidence.mapProof(account, key);
    if (sealed === null || sealed.size >= resumeFrom) return sealed;
    if (performance.now() >= last) return null;
    await sleep(LOOK_MS);
  }
};

type Planned = Pick<Exported, "from" | "to" | "filter" | "indexes" | "map" | "resumeFrom"> & { readonly end: End };

/** By exactly one key: with its whole chain below the size of the sealed map, and the map's proof. */
const plannedByKey = async (
  deps: ExportDeps,
  evidence: AccountEvidence,
  chosen: Chosen & { readonly key: string; readonly resumeFrom: number },
): Promise<Omit<Planned, "filter"> | Problem> => {
  const { account } = chosen.search;
  const sealed = await mapFrom(evidence, account, chosen.key, chosen.resumeFrom);
  const end = sealed === null ? null : await covering(evidence, account, sealed.index);
  if (sealed === null || end === null) {
    const what = chosen.resumeFrom === 0 ? "" : ` that covers all records before ${chosen.resumeFrom}`;
    return problem(
      "not-sealed",
      `No map of the account's keys${what} is sealed yet: that takes ten seconds after a record.`,
      { retryAfterS: 5 },
    );
  }
  const { number, last } = sealed.proof.end.kind === "present" ? sealed.proof.end : { number: 0, last: null };
  const chain = { number, last, size: sealed.size };
  const indexes = () => chainIndexes({ sources: deps, evidence }, chosen, chain);
  return { end, from: 0, to: end.size, indexes, map: { key: chosen.key, sealed } };
};

const plannedBySearch = async (
  deps: ExportDeps,
  evidence: AccountEvidence,
  chosen: Chosen,
): Promise<Omit<Planned, "filter"> | Problem> => {
  const { account } = chosen.search;
  const end = await evidence.newest(account);
  if (end === null) return notSealed("No record of the account was sealed yet.");
  const [key] = chosen.keys;
  const from = { sources: deps, evidence };
  const [number, last] = key === undefined ? [0, null] : await evidence.keyEnd(account, key);
  const indexes =
    key === undefined
      ? () => searchedIndexes(from, chosen, end.size)
      : () => chainIndexes(from, chosen, { number, last, size: end.size });
  return { end, from: 0, to: end.size, indexes, map: null };
};

const plannedByFilter = async (
  deps: ExportDeps,
  evidence: AccountEvidence,
  call: Asked,
  filter: NonNullable<Planned["filter"]>,
): Promise<Planned | Problem> => {
  const { from_index, to_index, resume_from = from_index ?? 0 } = call.query;
  if (to_index !== undefined)
    return invalid("to_index", "cannot be combined with a filter: the proof is about all records");
  const chosen = chosenBy(call);
  if ("problem" in chosen) return chosen;
  const newest = await evidence.newest(call.principal.account);
  const asked = call.query.resume_from === undefined ? "from_index" : "resume_from";
  if (newest !== null && resume_from > newest.size) return invalid(asked, `must be at most ${newest.size}`);
  const [key, ...others] = chosen.keys;
  const isByKey = key !== undefined && others.length === 0 && Object.keys(filter).length === 1;
  const plan = isByKey
    ? await plannedByKey(deps, evidence, { ...chosen, key, resumeFrom: resume_from })
    : await plannedBySearch(deps, evidence, chosen);
  return "problem" in plan ? plan : { ...plan, filter, resumeFrom: resume_from };
};

const planned = async (deps: ExportDeps, evidence: AccountEvidence, call: Asked): Promise<Planned | Problem> => {
  const { from_index, to_index: asked, resume_from } = call.query;
  if (resume_from !== undefined && (from_index !== undefined || asked !== undefined))
    return invalid(
      "resume_from",
      "cannot be combined with from_index or to_index: it goes on with an export of all records",
    );
  const filter = filterOf(call);
  if (filter !== null) return plannedByFilter(deps, evidence, call, filter);
  const end = await evidence.newest(call.principal.account);
  if (end === null) return notSealed("No record of the account was sealed yet.");
  const to = Math.min(asked ?? end.size, end.size);
  const [from, resumeFrom] = [from_index ?? 0, resume_from ?? 0];
  if (from > to)
    return invalid("from_index", asked === undefined ? `must be at most ${to}` : "must be at most to_index");
  if (resumeFrom > to) return invalid("resume_from", `must be at most ${to}`);
  return { end, from, to, filter, indexes: null, map: null, resumeFrom };
};

/** The lines in chunks. It throws, which cuts the answer off before its last line, when the caller may not go on. */
async function* chunksOf(call: Call, lines: AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  let waiting = "";
  let checkedAt = performance.now();
  for await (const line of lines) {
    waiting += line;
    if (waiting.length < CHUNK_CHARACTERS) continue;
    if (call.closing.aborted) throw new Error("the server closes");
    if (performance.now() - checkedAt >= RECHECK_MS) {
      if (!(await call.isStillAllowed())) throw new Error("the credential was revoked during an export");
      checkedAt = performance.now();
    }
    yield Buffer.from(waiting);
    waiting = "";
  }
  yield Buffer.from(waiting);
}

/** Of a payload that is not there, the erasure that the export does not have as one of its records. */
const erasuresBeside = (
  deps: ExportDeps,
  evidence: AccountEvidence,
  { account, plan: { end, from, to, filter, map } }: { readonly account: string; readonly plan: Planned },
) => {
  // A full export has all of them.
  if (filter === null && from === 0 && to === end.size) return async () => null;
  const hasRecord = (index: number, keys: ReadonlySet<string>): boolean => {
    if (filter === null) return from <= index && index < to;
    return map !== null && keys.has(map.key);
  };
  return erasureLines({ sources: deps, evidence }, { account, size: end.size, hasRecord });
};

const HEADERS = { "content-type": "application/x-ndjson; charset=utf-8" };

const answer = async (deps: ExportDeps, evidence: AccountEvidence, call: Asked, onEnd: () => void) => {
  const { account } = call.principal;
  const plan = await planned(deps, evidence, call);
  if ("problem" in plan) return plan;
  if (!(await hasFolded(deps, account, plan.end.size)))
    return problem("view-behind", "The view does not have all sealed records yet.", { retryAfterS: 1 });
  const verifierKey = (await evidence.verifierKey()) ?? "";
  const erasureOf = erasuresBeside(deps, evidence, { account, plan });
  // It reads no query.
  const payloads = call.query.payloads === undefined ? null : payloadLines(deps, call as unknown as Call, erasureOf);
  const erasures = payloads === null || plan.filter === null ? null : erasedLines(erasureOf);
  const records = (of: string, indexes: readonly number[]) => eventsAt(deps, of, indexes);
  const { tailMax } = deps;
  const exported = { ...plan, account, verifierKey, payloads, erasures, ...defined({ tailMax }) };
  const lines = exportLines({ evidence, records }, exported);
  const body = Readable.from(chunksOf(call as unknown as Call, lines), { objectMode: false });
  body.once("close", onEnd);
  return { status: 200, headers: HEADERS, body };
};

const streamed = (deps: ExportDeps): Handler<{ query: typeof QUERY }> => {
  const open = answerSlots("exports", deps.exportLimits ?? EXPORT_LIMITS);
  return async (call) => {
    const { principal } = call;
    const refusal = open.take(principal);
    if (refusal !== null) return refusal;
    let isStreaming = false;
    try {
      const made: Answer | Problem = await signing(deps.evidence, (evidence) =>
        answer(deps, evidence, call, () => open.giveBack(principal)),
      );
      isStreaming = !("problem" in made);
      return made;
    } finally {
      if (!isStreaming) open.giveBack(principal);
    }
  };
};

export const exportRoutes = (deps: ExportDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/audit/export",
    who: { session: "auditor", key: "auditor" },
    summary: "Export records with the proofs that they are sealed, as NDJSON",
    tag: "audit",
    query: QUERY,
    answers: {
      200: {
        type: "string",
        description:
          "One JSON object a line; `countersign verify` checks it offline. The last line is the checkpoint: an export without it " +
          "was cut off. All records are those of that checkpoint, whatever is recorded meanwhile.",
      },
    },
    produces: "application/x-ndjson",
    problems: ["not-sealed", "view-behind", "overloaded", "unavailable"],
    reads: [VIEW],
    handle: streamed(deps),
  }),
];
