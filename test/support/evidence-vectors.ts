import { toBase64, toHex, utf8 } from "../../domain/evidence/bytes.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { ExportFilter, ExportLine, MapLine, RecordLine } from "../../domain/evidence/export-lines.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { Verdict } from "../../src/verifier/report.ts";
import {
  ACCOUNT,
  EvidenceWorld,
  idOf,
  KEY,
  NEXT_KEY,
  ndjson,
  type Signer,
  STRANGER,
  secondsOf,
  sha256,
  WITNESS,
  WITNESS_AGAIN,
} from "./evidence-world.ts";

/** A file or several, what is known from outside, and what a verifier has to say. */
export type Vector = {
  readonly name: string;
  /** Why it is good or refused, in one sentence. */
  readonly why: string;
  readonly files: Readonly<Record<string, string>>;
  readonly keys: readonly string[];
  readonly witnesses: readonly string[];
  readonly previous: readonly string[];
  readonly verdict: Verdict;
  /** The first bad record; null if no single one is at fault. */
  readonly index: number | null;
};

const AGENT = idOf("agt", "agent");
const OTHER_AGENT = idOf("agt", "other agent");
const STRANGE_AGENT = idOf("agt", "nobody");
const eventOf = (number: number): string => idOf("evt", `event ${number}`);
const byAgent = (agent: string) => ({ kind: "agent", id: agent }) as const;

const SALT = sha256(utf8("salt")).subarray(0, 16);
const BODY = utf8('{"amount":"12.00"}');
const ERASED_EVENT = eventOf(2);
const commitmentOf = (id: string, bytes: Uint8Array): JsonObject => ({
  id,
  commitment: toHex(sha256(new Uint8Array([...SALT, ...bytes]))),
  size: bytes.length,
});
const PAYLOAD: ExportLine = { kind: "payload", id: `${eventOf(1)}/0`, salt: toBase64(SALT), bytes: toBase64(BODY) };
const WRITER = { kind: "system", id: "deliverer" } as const;

const admitted = (world: EvidenceWorld, number: number, agent: string): number =>
  world.write({
    stream: `delivery-${eventOf(number)}`,
    type: "EventAdmitted",
    data: { agent_id: agent, action: { name: "refund" }, payload: commitmentOf(`${eventOf(number)}/0`, BODY) },
    actor: byAgent(agent),
  });

/** Two agents, four events, an erasure, a record of a type that nobody knows, and a sealed map before two last records. */
const smallWorld = (world = new EvidenceWorld()): EvidenceWorld => {
  world.write({ stream: `account-${ACCOUNT}`, type: "AccountOpened", data: { account: ACCOUNT, name: "Example" } });
  admitted(world, 1, AGENT);
  admitted(world, 2, OTHER_AGENT);
  world.write({ stream: `delivery-${eventOf(1)}`, type: "AttemptStarted", data: { attempt: 1 }, actor: WRITER });
  admitted(world, 3, AGENT);
  world.write({
    stream: `delivery-${ERASED_EVENT}`,
    type: "PayloadErased",
    data: { event_id: ERASED_EVENT, reason: "the retention ended", up_to: 0 },
    actor: WRITER,
  });
  const map = world.mapNow();
  world.write({ stream: `delivery-${eventOf(3)}`, type: "OfALaterVersion", data: { new: true }, actor: WRITER });
  world.sealMap(map);
  admitted(world, 4, AGENT);
  return world;
};

const isRecord = (line: ExportLine): line is RecordLine => line.kind === "record";
const indexIs = (index: number) => (line: ExportLine) => isRecord(line) && line.index === index;
const leafText = ({ leaf }: RecordLine): string => Buffer.from(leaf, "base64").toString();

/** The lines with the leaf of one record replaced by another text. */
const withLeaf = (
  lines: readonly ExportLine[],
  index: number,
  change: (text: string) => string,
): readonly ExportLine[] =>
  lines.map((line) =>
    isRecord(line) && line.index === index ? { ...line, leaf: toBase64(utf8(change(leafText(line)))) } : line,
  );
const withMember = (lines: readonly ExportLine[], index: number, change: (leaf: JsonObject) => JsonObject) =>
  withLeaf(lines, index, (text) => canonicalJson(change(JSON.parse(text) as JsonObject))); // A leaf is an object.
const withLast = (lines: readonly ExportLine[], text: string): readonly ExportLine[] =>
  lines.map((line) => (line.kind === "checkpoint" ? { ...line, text } : line));
const withCount = (lines: readonly ExportLine[]): readonly ExportLine[] =>
  lines.map((line) => (line.kind === "checkpoint" ? { ...line, count: lines.filter(isRecord).length } : line));

const changedData = (leaf: JsonObject): JsonObject => ({ ...leaf, data: { ...(leaf.data as JsonObject), attempt: 2 } });

type Options = Partial<Omit<Vector, "name" | "why" | "verdict">>;

const vector = (
  name: string,
  why: string,
  verdict: Verdict,
  file: readonly ExportLine[] | string,
  options: Options = {},
): Vector => ({
  name,
  why,
  files: typeof file === "string" ? { [name]: file } : { [`${name}.ndjson`]: ndjson(file) },
  keys: [KEY.vkey],
  witnesses: [],
  previous: [],
  index: null,
  verdict,
  ...options,
});

/** Records that the map does not cover: one of no agent, and one of the agent. The record between them seals the map. */
const BESIDE = [6, 8];
const agentExport = (
  world: EvidenceWorld,
  indexes: readonly number[],
  { map = world.mapLine(AGENT), beside = BESIDE }: { readonly map?: MapLine; readonly beside?: readonly number[] } = {},
) => world.export({ indexes, beside, filter: { agent_id: AGENT }, map });

const AGENTS = [1, 4, 7];
/** What a witness saw: the first five records. */
const SEEN = 5;

const good = (world: EvidenceWorld): readonly Vector[] => {
  const full = world.export();
  const range = world.export({ from: 2, to: 6 });
  const proof = world.tlogProof(4);
  const leaf = new TextDecoder().decode(world.account.leaves[4]);
  const older = world.signed(world.accountText(SEEN));
  const consistency = `${JSON.stringify(world.consistency(SEEN, world.account.size))}\n`;
  return [
    vector(
      "agent-payloads",
      "all records of an agent have their payloads, also the one that the map does not cover",
      "authentic",
      agentPayloads(world, [1, 3, 4]),
    ),
    vector("full", "all records of an account give the root that the given key signed", "authentic", full),
    vector("no-key", "the file is in order, but no key was given", "consistent", full, { keys: [] }),
    vector("range", "the proofs of its ends lead from a part of the records to the root", "authentic", range),
    vector("one-record", "a range of one record", "authentic", world.export({ from: 8, to: 9 })),
    vector(
      "agent",
      "the chain and the map prove that these are all records of an agent",
      "authentic",
      agentExport(world, AGENTS),
    ),
    vector(
      "absent-agent",
      "the map proves that there is no record of an agent",
      "authentic",
      world.export({
        ...{ indexes: [7], beside: [6, 8] },
        ...{ filter: { agent_id: STRANGE_AGENT }, map: world.mapLine(STRANGE_AGENT) },
      }),
    ),
    vector(
      "action",
      "all records of an action",
      "authentic",
      world.export({
        ...{ indexes: [1, 2, 4, 7], beside: BESIDE },
        ...{ filter: { action: "refund" }, map: world.mapLine("action:refund") },
      }),
    ),
    vector("previous", "the records give an earlier checkpoint, too", "authentic", full, { previous: [older] }),
    vector("proof", "a record's proof leads from its leaf to the root", "authentic", proof, {
      files: { "proof.tlog-proof": proof, "proof.leaf.json": leaf },
    }),
    vector("checkpoints", "a consistency proof leads from an earlier checkpoint to a later one", "authentic", "", {
      files: {
        "checkpoints.later.txt": world.signed(world.accountText()),
        "checkpoints.consistency.json": consistency,
      },
      previous: [older],
    }),
    vector(
      "payloads",
      "one payload is there, one was erased",
      "authentic",
      world.export({ from: 0, to: 6, payloads: [PAYLOAD, { ...PAYLOAD, id: `${eventOf(3)}/0` }] }),
    ),
    vector(
      "payload-twice",
      "a payload that several records name comes again",
      "authentic",
      world.export({ from: 0, to: 6, payloads: [PAYLOAD, { ...PAYLOAD, id: `${eventOf(3)}/0` }, PAYLOAD] }),
    ),
  ];
};

/** An event whose payload came with headers. */
const withHeaders = (): EvidenceWorld => {
  const world = new EvidenceWorld();
  const payload = commitmentOf(`${eventOf(1)}/0`, BODY);
  const headers = commitmentOf(`${eventOf(1)}/0/headers`, utf8('{"accept":"*/*"}'));
  const data = { agent_id: AGENT, payload: { ...payload, headers } };
  world.write({ stream: `delivery-${eventOf(1)}`, type: "EventAdmitted", data, actor: byAgent(AGENT) });
  return world;
};

/** Later records of an agent, and of an event, are left out with a map that was sealed before them. */
const throughOldMap = (): readonly Vector[] => {
  const world = smallWorld();
  const event = eventOf(5);
  const [ofAgent, ofEvent] = [world.mapLine(AGENT), world.mapLine(event)];
  admitted(world, 5, AGENT);
  world.sealMap();
  return [
    vector(
      "old-map",
      "the agent's last records are left out through a key map from before them",
      "incomplete",
      world.export({ indexes: AGENTS, beside: [6], filter: { agent_id: AGENT }, map: ofAgent }),
    ),
    vector(
      "old-map-absent",
      "an event is said to have no record, through a key map from before it",
      "incomplete",
      world.export({ indexes: [7], filter: { event_id: event }, map: ofEvent }),
    ),
  ];
};

/** Of a generation that does not give a checkpoint of the one before. */
const afterRestore = (): readonly Vector[] => {
  const before = new EvidenceWorld();
  for (let n = 0; n < SEEN; n += 1) admitted(before, n, AGENT);
  const previous = [before.signed(before.accountText())];
  return [
    vector(
      "replaced",
      "records that an earlier checkpoint covered are others since a restore",
      "incomplete",
      smallWorld(new EvidenceWorld(ACCOUNT, 2)).export(),
      { previous },
    ),
  ];
};

const incomplete = (world: EvidenceWorld): readonly Vector[] => {
  const full = world.export();
  const text = ndjson(full);
  return [
    vector("cut-off", "the file ends in the middle of a line", "incomplete", "", {
      files: { "cut-off.ndjson": text.slice(0, -300) },
    }),
    vector("tail-cut", "the last lines are not there", "incomplete", full.slice(0, -3)),
    vector(
      "changed-and-cut",
      "a record was changed in a file without its last line, so nothing in it can be checked",
      "incomplete",
      withMember(full, 3, changedData).slice(0, -1),
    ),
    vector(
      "map-tail-left-out",
      "a record that the map does not cover is left out, and it may be the agent's",
      "incomplete",
      agentExport(world, AGENTS, { beside: [8] }),
    ),
    ...throughOldMap(),
    ...afterRestore(),
    vector(
      "left-out",
      "one record of the agent is left out, and the proof made anew",
      "incomplete",
      agentExport(world, [4, 7]),
    ),
    vector(
      "last-left-out",
      "the agent's last record below the map's size is left out",
      "incomplete",
      agentExport(world, [1, 7]),
    ),
    vector(
      "type-filter",
      "a filter that is no key proves no completeness",
      "incomplete",
      world.export({ indexes: [1, 2, 4, 8], filter: { type: "EventAdmitted" } }),
    ),
    vector(
      "withheld",
      "a payload is neither there nor erased",
      "incomplete",
      world.export({ from: 0, to: 6, payloads: [PAYLOAD] }),
    ),
    vector(
      "headers-withheld",
      "a payload is there, and not the headers that came with it",
      "incomplete",
      withHeaders().export({ payloads: [PAYLOAD] }),
    ),
    vector(
      "own-witness",
      "a witness of one's own cosigned an earlier checkpoint, which the records give",
      "authentic",
      full,
      {
        witnesses: [WITNESS.vkey],
        previous: [world.signed(world.accountText(SEEN), [KEY], [[WITNESS, secondsOf(SEEN)]])],
      },
    ),
    vector(
      "own-witness-unproved",
      "nothing proves that the tree that a witness of one's own saw is that of a later range",
      "incomplete",
      world.export({ from: SEEN + 1 }),
      {
        witnesses: [WITNESS.vkey],
        previous: [world.signed(world.accountText(SEEN), [KEY], [[WITNESS, secondsOf(SEEN)]])],
      },
    ),
    vector(
      "tail-withheld",
      "the payload of the agent's record that the map does not cover is neither there nor erased",
      "incomplete",
      agentPayloads(world, [1, 3]),
    ),
    vector("not-cosigned", "the witness that was named cosigned nothing", "incomplete", full, {
      witnesses: [WITNESS.vkey],
    }),
    vector(
      "proof-without-leaf",
      "a proof without the leaf proves nothing about a record",
      "incomplete",
      world.tlogProof(4),
      {},
    ),
  ];
};

/** A world whose operator seals what the rule forbids. */
const sealedWrongly = (change: (world: EvidenceWorld) => void): readonly ExportLine[] => {
  const world = smallWorld();
  change(world);
  return world.export();
};

const forgedLeaf = (change: (leaf: JsonObject) => Json) => (world: EvidenceWorld) => {
  const index = admitted(world, 5, AGENT);
  const forged = new EvidenceWorld();
  const leaves = [...world.account.leaves];
  const leaf = JSON.parse(new TextDecoder().decode(leaves[index])) as JsonObject; // A leaf is an object.
  leaves[index] = utf8(canonicalJson(change(leaf)));
  for (const it of leaves) forged.account.add(it);
  Object.assign(world, { account: forged.account });
};

/** A second record names the payload of an event that another one has named, with another commitment. */
const withTwoCommitments = (): readonly ExportLine[] => {
  const world = smallWorld();
  const payload = commitmentOf(`${eventOf(1)}/0`, utf8("another body"));
  world.write({ stream: `delivery-${eventOf(1)}`, type: "EventAdmitted", data: { payload }, actor: WRITER });
  return world.export({ payloads: [PAYLOAD] });
};

/** The agent's export with the payloads of these events. */
const agentPayloads = (world: EvidenceWorld, events: readonly number[]): readonly ExportLine[] =>
  world.export({
    ...{ indexes: AGENTS, beside: BESIDE, filter: { agent_id: AGENT }, map: world.mapLine(AGENT) },
    payloads: events.map((number) => ({ ...PAYLOAD, id: `${eventOf(number)}/0` })),
  });

const changedRecords = (world: EvidenceWorld): readonly Vector[] => {
  const full = world.export();
  const withHashes = world.export({ withHashes: true });
  const foreign = new EvidenceWorld(idOf("acc", "other"));
  foreign.write({ stream: `account-${foreign.accountId}`, type: "AccountOpened", data: {} });
  const [, stranger] = foreign.export();
  const without = full.filter((line) => !indexIs(4)(line));
  const swapped = full.map((line) =>
    indexIs(2)(line) ? (full.find(indexIs(3)) ?? line) : indexIs(3)(line) ? (full.find(indexIs(2)) ?? line) : line,
  );
  const twice = full.flatMap((line) => (indexIs(3)(line) ? [line, line] : [line]));
  return [
    vector("two-commitments", "two records commit to different payloads of one id", "broken", withTwoCommitments(), {
      index: 9,
    }),
    vector("deleted", "a record is not there", "broken", withCount(without), { index: 4 }),
    vector("deleted-same-count", "a record is not there, and the count was kept", "broken", without, { index: 4 }),
    vector("inserted", "a record stands twice", "broken", twice, { index: 3 }),
    vector("swapped", "two records changed places", "broken", swapped, { index: 2 }),
    vector("changed", "the data of a record was changed", "broken", withMember(full, 3, changedData)),
    vector(
      "changed-with-hashes",
      "the data of a record was changed in a file that has the hash of each",
      "broken",
      withMember(withHashes, 3, changedData),
      { index: 3 },
    ),
    vector(
      "changed-before-previous",
      "a record that an earlier checkpoint covers was changed",
      "broken",
      withMember(full, 3, changedData),
      { previous: [world.signed(world.accountText(3)), world.signed(world.accountText(4))], index: 3 },
    ),
    vector(
      "not-canonical",
      "the bytes of a leaf are not their canonical form",
      "broken",
      withLeaf(full, 3, (text) => text.replace(":", ": ")),
      { index: 3 },
    ),
    vector("two-leaves", "a record has two leaves, and readers differ in which of them they take", "broken", "", {
      files: { "two-leaves.ndjson": ndjson(full).replace('"index":3,', '"index":3,"leaf":"e30=",') },
    }),
    vector("two-kinds", "a line is a record to some readers, and a proof to others", "broken", "", {
      files: {
        "two-kinds.ndjson": ndjson(full).replace(
          '{"kind":"record","index":3,',
          '{"kind":"record","index":3,"kind":"proof","hashes":[]}\n$&',
        ),
      },
    }),
    vector(
      "other-account",
      "the leaf of another account stands in place of one",
      "broken",
      full.map((line) => (indexIs(0)(line) ? (stranger ?? line) : line)),
      { index: 0 },
    ),
    vector(
      "unknown-type-left-out",
      "the record of an unknown type is left out",
      "broken",
      full.filter((line) => !indexIs(6)(line)),
      { index: 6 },
    ),
    vector(
      "attributed",
      "a record is attributed to another agent",
      "broken",
      withMember(full, 1, (leaf) => ({ ...leaf, actor: byAgent(OTHER_AGENT) })),
      { index: 1 },
    ),
    vector(
      "tail-removed",
      "the last records were removed, and the count was kept",
      "broken",
      full.filter((line) => !indexIs(8)(line)),
      { index: 8 },
    ),
  ];
};

/** The record that seals the map waits for its place in the tree, which another one before it must not take. */
const withForgedSeal = (lines: readonly ExportLine[]): readonly ExportLine[] => {
  const forged = withMember(lines, 7, (leaf) => ({
    ...leaf,
    ...{ index: 8, data: { ...(leaf.data as JsonObject), payload: commitmentOf(`${eventOf(1)}/0`, BODY) } },
  })).flatMap((line) => (isRecord(line) && line.index === 7 ? [{ ...line, index: 8 }, PAYLOAD] : []));
  const withBoth = lines.flatMap((line) => (indexIs(7)(line) ? [...forged, line] : [line]));
  return withCount(withBoth.map((line) => (line.kind === "header" ? { ...line, payloads: true as const } : line)));
};

/** So that nobody asks for its payloads. */
const coveredAsTail = (lines: readonly ExportLine[]): readonly ExportLine[] => {
  const covered = lines.flatMap((line) =>
    indexIs(4)(line) && isRecord(line) ? [{ ...line, kind: "tail" as const }] : [],
  );
  return withCount(lines.flatMap((line) => (indexIs(4)(line) ? [] : indexIs(7)(line) ? [line, ...covered] : [line])));
};

const fraud = (world: EvidenceWorld): readonly Vector[] => {
  const agent = agentExport(world, AGENTS);
  const map = world.mapLine(AGENT);
  const foreign = agentExport(world, [1, 2, 4, 7]);
  const { other: _, ...present } = map;
  const absence: MapLine = { ...present, number: 0, last: null };
  return [
    vector(
      "false-key",
      "the operator sealed a record without one of its keys",
      "broken",
      sealedWrongly(forgedLeaf((leaf) => ({ ...leaf, keys: {} }))),
      { index: 9 },
    ),
    vector(
      "false-link",
      "the operator sealed a link that hides a record",
      "broken",
      sealedWrongly(forgedLeaf((leaf) => ({ ...leaf, keys: { ...(leaf.keys as JsonObject), [AGENT]: [2, 4] } }))),
      { index: 9 },
    ),
    vector(
      "false-map",
      "the operator sealed a key map that hides a record",
      "broken",
      sealedWrongly((it) => it.sealMap({ ...it.mapNow(), root: toHex(sha256(utf8("no map"))) })),
      { index: 9 },
    ),
    vector(
      "no-time",
      "the operator sealed a record that does not say when it was recorded",
      "broken",
      sealedWrongly((it) => it.write({ stream: "clock-1", type: "Ticked", data: {}, recordedAt: "some day" })),
      { index: 9 },
    ),
    vector(
      "tail-twice",
      "a record that the map does not cover stands twice",
      "broken",
      agentExport(world, AGENTS, { beside: [6, 6, 8] }),
      { index: 6 },
    ),
    vector(
      "forged-seal",
      "a record that nobody sealed, and its payload, stand before the one that seals the map",
      "broken",
      withForgedSeal(agent),
      { index: 7 },
    ),
    vector(
      "covered-as-tail",
      "a record that the map covers stands with those that it does not cover",
      "broken",
      coveredAsTail(agent),
      { index: 4 },
    ),
    vector("foreign-record", "the record of another agent was put in", "broken", foreign, { index: 2 }),
    vector(
      "forged-absence",
      "an agent that has records is said to have none",
      "broken",
      world.export({ indexes: [7], filter: { agent_id: AGENT }, map: absence }),
    ),
    vector(
      "other-size",
      "the proof of the gaps is one at another size",
      "broken",
      agent.map((line) =>
        line.kind === "proof"
          ? (world
              .export({ size: 5, indexes: [1, 4], filter: { agent_id: AGENT } })
              .find(({ kind }) => kind === "proof") ?? line)
          : line,
      ),
    ),
    vector(
      "range-other-size",
      "the proofs of a range are those at another size",
      "broken",
      [...world.export({ from: 2, to: 6, size: 8 }).slice(0, -1), ...world.export({ from: 2, to: 6 }).slice(-1)],
      { index: 2 },
    ),
    vector(
      "other-salt",
      "a payload has another salt",
      "broken",
      world.export({ payloads: [{ ...PAYLOAD, salt: toBase64(sha256(utf8("other")).subarray(0, 16)) } as ExportLine] }),
      { index: 1 },
    ),
    vector("proof-of-another", "the leaf is not the one of the proof", "broken", "", {
      files: {
        "proof-of-another.tlog-proof": world.tlogProof(4),
        "proof-of-another.leaf.json": new TextDecoder().decode(world.account.leaves[3]),
      },
      index: 4,
    }),
  ];
};

/** The map never has what can be no key, so a proof that it does not would prove nothing. */
const falseFilters = (world: EvidenceWorld): readonly Vector[] => {
  const absent = (name: string, why: string, filter: ExportFilter): Vector => {
    const [value = ""] = Object.values(filter);
    const key = "action" in filter ? `action:${value}` : value;
    return vector(name, why, "broken", world.export({ indexes: [7], beside: [6, 8], filter, map: world.mapLine(key) }));
  };
  return [
    absent("subject-no-id", "an action is said to have no record, as if its name were an id", { subject: "refund" }),
    absent("actor-no-id", "a part of the system is said to have done nothing, and its name is no key", {
      actor: WRITER.id,
    }),
    absent("own-account", "the account is said to have no record, and its id is in each of them", { subject: ACCOUNT }),
    absent("own-account-as-member", "the account's id is said to be a member's without a record", {
      member_id: ACCOUNT,
    }),
    absent("no-id", "a text that is no id is said to be an event without a record", { event_id: "run-7" }),
    absent("id-cut-off", "an agent's id without its last letter is said to have no record", {
      agent_id: AGENT.slice(0, -1),
    }),
    absent("id-and-space", "an agent's id with a space after it is said to have no record", { agent_id: `${AGENT} ` }),
    absent("no-action", "a text that can name no action is said to have no record", { action: "refund " }),
    vector(
      "other-kind",
      "all records of an agent are said to be those of an event",
      "broken",
      world.export({ indexes: AGENTS, beside: BESIDE, filter: { event_id: AGENT }, map: world.mapLine(AGENT) }),
    ),
  ];
};

const heads = (world: EvidenceWorld): readonly Vector[] => {
  const full = world.export();
  const otherTree = new EvidenceWorld();
  for (let i = 0; i < world.account.size; i += 1) otherTree.account.add(utf8(`${i}`));
  const forked = otherTree.signed(otherTree.accountText());
  const larger = smallWorld();
  admitted(larger, 5, AGENT);
  const rolledBack = larger.signed(larger.accountText());
  return [
    vector("strangers-key", "another key under the same name signed", "broken", world.export({ key: STRANGER })),
    vector(
      "other-signature",
      "the signature is one over another tree",
      "broken",
      withLast(
        full,
        world.signed(world.accountText()).replace(/^(.*\n.*\n).*\n/, `$1${toBase64(sha256(utf8("root")))}\n`),
      ),
    ),
    vector("two-of-one-size", "there are two checkpoints of one size", "broken", full, { previous: [forked] }),
    vector("rolled-back", "an earlier checkpoint has more records", "broken", full, {
      previous: [rolledBack],
      index: 9,
    }),
    vector(
      "rolled-back-and-on",
      "the log went back and on: an earlier checkpoint is one of other records",
      "broken",
      full,
      { previous: [otherTree.signed(otherTree.accountText(6))] },
    ),
  ];
};

const withLeafOf = (world: EvidenceWorld, name: string, signer: Signer): Readonly<Record<string, string>> => ({
  [`${name}.tlog-proof`]: world.tlogProof(4, { signers: [signer] }),
  [`${name}.leaf.json`]: new TextDecoder().decode(world.account.leaves[4]),
});

const rotations = (): readonly Vector[] => {
  const world = smallWorld();
  world.seal(SEEN);
  const handover = world.rotate(KEY, NEXT_KEY);
  const after = world.export({ key: NEXT_KEY, tail: [handover] });
  const second = smallWorld(new EvidenceWorld(ACCOUNT, 2));
  const reopened = second.export({ key: NEXT_KEY });
  const forged = smallWorld().rotate(KEY, STRANGER, [STRANGER]);
  return [
    vector("rotated", "the old key handed over to the new one, which signed", "authentic", after),
    vector("rotated-proof", "a proof is signed by the new key, and the old one was given", "incomplete", "", {
      files: withLeafOf(world, "rotated-proof", NEXT_KEY),
    }),
    vector("rotated-proof-both", "a proof is signed by one of the two keys that were given", "authentic", "", {
      files: withLeafOf(world, "rotated-proof-both", NEXT_KEY),
      keys: [KEY.vkey, NEXT_KEY.vkey],
    }),
    vector("rotated-checkpoint", "a checkpoint is signed by the old key, and the new one was given", "incomplete", "", {
      files: { "rotated-checkpoint.txt": world.signed(world.accountText()) },
      keys: [NEXT_KEY.vkey],
    }),
    vector("rotated-previous", "an earlier checkpoint is signed by a key that was not given", "incomplete", after, {
      keys: [NEXT_KEY.vkey],
      previous: [world.signed(world.accountText(SEEN))],
    }),
    vector("wrong-checkpoint", "a signature under the given key's name and id is wrong", "broken", "", {
      files: {
        "wrong-checkpoint.txt": world.signed(world.accountText()).replace(/^\d+$/m, `${world.account.size - 1}`),
      },
    }),
    vector("rotated-new-key", "the new key was given", "authentic", after, { keys: [NEXT_KEY.vkey] }),
    vector("rotated-and-reopened", "the key was rotated before the log was reopened", "incomplete", reopened),
    vector(
      "rotated-and-reopened-handover",
      "the old key handed over to the new one, which signed, before the log was reopened",
      "authentic",
      second.export({ key: NEXT_KEY, tail: [handover] }),
    ),
    vector(
      "rotated-and-reopened-forged",
      "the old key did not sign the handover to the key that signed after the log was reopened",
      "incomplete",
      second.export({ key: STRANGER, tail: [forged] }),
    ),
    vector(
      "rotated-and-reopened-both",
      "the keys from before and after the rotation were given",
      "authentic",
      reopened,
      {
        keys: [KEY.vkey, NEXT_KEY.vkey],
      },
    ),
    vector(
      "old-key-after-rotation",
      "the old key signed after it was replaced",
      "broken",
      world.export({ tail: [handover] }),
    ),
    vector(
      "forged-handover",
      "the old key did not sign the handover",
      "broken",
      world.export({ key: STRANGER, tail: [forged] }),
    ),
  ];
};

/** Files whose records do not give the tree that a witness saw. */
const witnessedInPart = (): readonly Vector[] => {
  const world = smallWorld();
  const index = world.seal(SEEN);
  const other = smallWorld();
  const witnesses = [WITNESS.vkey];
  const cosigners: [typeof WITNESS, number][] = [[WITNESS, secondsOf(SEEN)]];
  const { proof } = world.consistency(SEEN, world.account.size);
  const agent = { indexes: AGENTS, beside: BESIDE, filter: { agent_id: AGENT }, map: world.mapLine(AGENT) };
  const fork = new EvidenceWorld();
  fork.write({ stream: `account-${ACCOUNT}`, type: "AccountOpened", data: { account: ACCOUNT, name: "Another" } });
  for (let n = 1; n < SEEN; n += 1) admitted(fork, n, AGENT);
  const forked = fork.cosigned(fork.seal(), cosigners);
  const of = (line: ExportLine) => ({ ...agent, tail: [line] });
  return [
    vector(
      "witnessed-agent",
      "a proof leads from the tree that a witness saw to that of the records of an agent",
      "authentic",
      world.export(of(world.cosigned(index, cosigners, proof))),
      { witnesses },
    ),
    vector(
      "witnessed-agent-unproved",
      "nothing proves that a witness saw the tree of these records",
      "incomplete",
      world.export(of(forked)),
      { witnesses },
    ),
    vector(
      "witnessed-agent-other-tree",
      "a witness saw another tree than that of these records",
      "broken",
      world.export(of({ ...forked, consistency: proof } as ExportLine)),
      { witnesses },
    ),
    vector(
      "witnessed-range-unproved",
      "nothing proves that a witness saw the tree of a range that begins later",
      "incomplete",
      world.export({ from: 6, to: 8, tail: [forked] }),
      { witnesses },
    ),
    vector(
      "witnessed-same-size",
      "a witness saw another tree of the size of the newest checkpoint",
      "broken",
      world.export({ size: SEEN, indexes: [1, 4], filter: { agent_id: AGENT }, tail: [forked] }),
      { witnesses },
    ),
    vector(
      "witnessed-elsewhere",
      "the witness cosigned the tree of another log, into which the text was put",
      "broken",
      other.export({ tail: [other.cosignedElsewhere(other.seal(SEEN), cosigners)] }),
      { witnesses },
    ),
    vector(
      "witnessed-nothing",
      "a witness saw no record",
      "incomplete",
      other.export({ tail: [other.cosigned(other.seal(0), cosigners)] }),
      { witnesses },
    ),
  ];
};

const witnessed = (): readonly Vector[] => {
  const world = smallWorld();
  const index = world.seal(SEEN);
  const tail = (seconds: number) => [world.cosigned(index, [[WITNESS, seconds]])];
  const witnesses = [WITNESS.vkey];
  const seen = world.export({ tail: tail(secondsOf(SEEN)) });
  const wrong = ndjson(seen).replace(
    /(w1 [A-Za-z0-9+/]{40})(.)/,
    (_, before: string, it: string) => before + (it === "A" ? "B" : "A"),
  );
  /** In the first of two cosigned lines. */
  const renamed = (name: string, other: string): string => {
    const both = world.export({ tail: [...tail(secondsOf(SEEN)), ...tail(secondsOf(SEEN) + 1)] });
    return ndjson(both).replace(`\\n\u2014 ${name}`, `\\n\u2014 ${other}`);
  };
  return [
    vector("witnessed", "a witness whose key was given cosigned a tree that the records give", "authentic", seen, {
      witnesses,
    }),
    vector(
      "one-of-two-witnesses",
      "of two witnesses with one name whose keys were given, one cosigned",
      "incomplete",
      seen,
      { witnesses: [WITNESS.vkey, WITNESS_AGAIN.vkey] },
    ),
    vector("witness-not-given", "a cosignature whose key was not given counts for nothing", "authentic", seen),
    vector(
      "witnessed-other-tree",
      "a record was changed after a witness saw the tree",
      "broken",
      withMember(seen, 3, changedData),
      { witnesses },
    ),
    vector("wrong-cosignature", "a cosignature of a witness whose key was given is wrong", "broken", "", {
      files: { "wrong-cosignature.ndjson": wrong },
      witnesses,
    }),
    vector("renamed-signature", "the log's signature of what a witness saw has another name", "broken", "", {
      files: { "renamed-signature.ndjson": renamed("cs.example.com/instance ", "cs.example.com/instancf ") },
    }),
    vector("renamed-cosignature", "one cosignature of a witness whose key was given has another name", "broken", "", {
      files: { "renamed-cosignature.ndjson": renamed("witness.example.org/w1 ", "witness.example.org/w2 ") },
      witnesses,
    }),
    vector(
      "backdated",
      "a witness saw the tree an hour before the time that its records say",
      "authentic",
      world.export({ tail: tail(secondsOf(0) - 3_600) }),
      { witnesses },
    ),
  ];
};

/** Small files that a verifier has to accept or refuse, made anew by the definitions. */
/** A checkpoint with consistency proofs, each from the checkpoint of its own size. */
const throughConsistency = (world: EvidenceWorld): readonly Vector[] => {
  const size = world.account.size;
  const [three, five] = [world.consistency(3, size), world.consistency(SEEN, size)];
  const wrong = { ...five, proof: [...five.proof].reverse() };
  const later = world.signed(world.accountText());
  const previous = [3, SEEN].map((it) => world.signed(world.accountText(it)));
  const filesOf = (name: string, proofs: readonly ReturnType<EvidenceWorld["consistency"]>[]) => ({
    [`${name}.later.txt`]: later,
    ...Object.fromEntries(proofs.map((it, n) => [`${name}.${n}.json`, `${JSON.stringify(it)}\n`])),
  });
  const of = (
    name: string,
    why: string,
    verdict: Verdict,
    proofs: readonly ReturnType<EvidenceWorld["consistency"]>[],
    kept = previous,
  ) => vector(name, why, verdict, "", { files: filesOf(name, proofs), previous: kept });
  return [
    of("consistency-from-each", "a proof leads from each of two checkpoints to a later one", "authentic", [
      five,
      three,
    ]),
    of("consistency-from-one", "no proof leads from the other of two checkpoints", "incomplete", [three]),
    of("consistency-from-none", "no earlier checkpoint is there for the proof", "incomplete", [five], []),
    of(
      "consistency-to-another",
      "the proof leads to a checkpoint that is not there",
      "incomplete",
      [world.consistency(3, SEEN)],
      previous.slice(0, 1),
    ),
    of("consistency-wrong", "the proof from one of two checkpoints is wrong", "broken", [three, wrong]),
  ];
};

export const evidenceVectors = (): readonly Vector[] => {
  const world = smallWorld();
  return [
    ...good(world),
    ...incomplete(world),
    ...changedRecords(world),
    ...fraud(world),
    ...falseFilters(world),
    ...heads(world),
    ...rotations(),
    ...witnessed(),
    ...witnessedInPart(),
    ...throughConsistency(world),
  ];
};
