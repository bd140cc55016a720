import { randomUUID } from "node:crypto";
import { INSTANCE_STREAM, type InstanceEvent } from "../../domain/evidence/instance-events.ts";
import { type KeyLink, keysOfRecord, leafBytes, leafOf } from "../../domain/evidence/leaf.ts";
import { append, EMPTY_FRONTIER, leafHash } from "../../domain/evidence/merkle.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { EvidenceStore } from "../../domain/ports/evidence-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { sqliteEvidenceStore } from "../../infra/sqlite/evidence-store.ts";
import { isRecord } from "../../projections/audit.ts";
import type { LeafReads } from "../../src/audit/record-leaves.ts";
import { EvidenceFollower } from "../../src/evidence/evidence-follower.ts";

const idOf = (prefix: string, n: number): string =>
  `${prefix}_${"abcdefghijklmnopqrstuvwxyz234567".charAt(n % 32).repeat(32)}`;

export const accountOf = (n: number): string => idOf("acc", n);

/** Appends one record of an account, which names an event and one of a few sources. */
export const appendRecord = async (log: EventLog, account: string, n: number): Promise<void> => {
  const meta = {
    account,
    actor: { kind: "source", id: idOf("src", n % 3) },
    command_id: `command-${n}`,
    trace_id: "0".repeat(32),
    span_id: "0".repeat(16),
    causation_id: null,
    recorded_at: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
    schema: 1,
  } as const;
  const data = { event_id: idOf("evt", n), number: n };
  await log.append(`delivery-${idOf("evt", n)}`, "any", [{ id: randomUUID(), type: "EventAdmitted", data, meta }]);
};

export const appendInstance = async (log: EventLog, ...events: readonly InstanceEvent[]): Promise<void> => {
  const meta = {
    account: "",
    actor: { kind: "system", id: "sealing" },
    command_id: "seal",
    trace_id: "0".repeat(32),
    span_id: "0".repeat(16),
    causation_id: null,
    recorded_at: "2026-01-01T00:00:00.000Z",
    schema: 1,
  } as const;
  await log.append(
    INSTANCE_STREAM,
    "any",
    // The data of these events is plain JSON.
    events.map(({ type, data }) => ({ id: randomUUID(), type, data: data as unknown as JsonObject, meta })),
  );
};

/** Folds the log to its end in pages of this size. */
export const foldAll = async (follower: EvidenceFollower, log: EventLog, pageSize = 1_000): Promise<void> => {
  for (;;) {
    const page = await log.readAll(follower.position(), pageSize, "records");
    if (page.length === 0) return;
    await follower.advance(page);
  }
};

export const folded = async (log: EventLog, store: EvidenceStore, pageSize?: number): Promise<EvidenceFollower> => {
  const follower = new EvidenceFollower(log, store);
  await follower.claim();
  await foldAll(follower, log, pageSize);
  return follower;
};

/** The frontiers of an account's tree at every size from 0 on, from the log alone. */
export const frontiersOf = (records: readonly RecordedEvent[], account: string) => {
  const links = new Map<string, KeyLink>();
  const frontiers = [EMPTY_FRONTIER];
  for (const [index, record] of records.filter((it) => isRecord(it) && it.meta.account === account).entries()) {
    const keys: Record<string, KeyLink> = {};
    for (const key of keysOfRecord(record)) {
      const [n, last] = links.get(key) ?? ([0, null] as const);
      keys[key] = [n, last];
      links.set(key, [n + 1, index]);
    }
    const leaf = leafBytes(leafOf(sha256, record, { index, keys }));
    frontiers.push(append(sha256, frontiers[index] ?? EMPTY_FRONTIER, leafHash(sha256, leaf)));
  }
  return frontiers;
};

/** The leaves of a log that a test appends to; so many records of each account count as sealed, and as witnessed. */
export const foldedLeaves = async (
  log: EventLog,
  covered: { readonly sealed: number; readonly witnessed: number } = { sealed: 0, witnessed: 0 },
): Promise<LeafReads> => {
  const store = sqliteEvidenceStore(":memory:");
  const follower = await folded(log, store);
  return {
    damaged: async () => undefined,
    async folded(account) {
      await foldAll(follower, log);
      return (await store.head(account)).size;
    },
    links: (account, indexes) => store.maps.recordLinks(account, indexes),
    covered: async () => covered,
  };
};
