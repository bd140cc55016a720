import { Readable } from "node:stream";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Signer } from "../../domain/ports/signer.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { sqliteEvidenceStore } from "../../infra/sqlite/evidence-store.ts";
import { type AuditHead, audit } from "../../projections/audit.ts";
import { events } from "../../projections/events.ts";
import { AccountEvidence, NO_WITNESSES } from "../../src/audit/account-evidence.ts";
import { KeyMaps } from "../../src/evidence/key-maps.ts";
import { sealMap } from "../../src/evidence/map-sealing.ts";
import { unsealedRoots } from "../../src/evidence/unsealed.ts";
import { vkeyOf } from "../../src/keys/signer-key.ts";
import { checkpointRoutes } from "../../src/routes/audit/checkpoints.ts";
import { coverageRoutes } from "../../src/routes/audit/coverage.ts";
import { exportRoutes } from "../../src/routes/audit/export.ts";
import { sealOnce } from "../../src/sealing/sealer.ts";
import { Sealing } from "../../src/sealing/sealing.ts";
import { makeSigningKey } from "../../src/sealing/signing-key.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { Projector } from "../../src/views/projector.ts";
import { documentIn } from "../../src/views/typed-documents.ts";
import type { Witnessed } from "../../src/witnessing/witnessed.ts";
import { caller } from "./call.ts";
import { accountOf, foldAll, folded } from "./evidence-log.ts";
import { until } from "./until.ts";

const CLOCK = { now: () => Date.UTC(2026, 0, 2) };
const KEY = makeSigningKey("hooks.example.com", randomness);
const SIGNER: Signer = { vkey: vkeyOf(KEY), sign: async (message) => ed25519Signer(KEY.seed).sign(message) };

const textOf = async (body: unknown): Promise<string> => {
  if (!(body instanceof Readable)) return body instanceof Uint8Array ? Buffer.from(body).toString() : "";
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
};

/** A node that folds, seals and answers as an auditor's calls ask it to, over a log in memory or a given one. */
export const evidenceService = async (
  log: EventLog = memoryEventLog(),
  {
    witnessed = NO_WITNESSES,
    limits,
    tailMax,
  }: {
    readonly witnessed?: Witnessed;
    readonly limits?: { readonly accountMax: number; readonly max: number };
    readonly tailMax?: number;
  } = {},
) => {
  const store = sqliteEvidenceStore(":memory:");
  const follower = await folded(log, store);
  const views = memoryViewStore([audit.schema, events.schema]);
  const projector = new Projector(log, views, [audit, events]);
  await projector.start();
  const maps = new KeyMaps(store.maps);
  const last = { read: async () => null, remember: async () => undefined, completeReopening: async () => false };
  const sealing = new Sealing({ log, store, signerFor: () => SIGNER, last });
  const evidence = new AccountEvidence(store, sealing, witnessed);
  const read: string[] = [];
  const call = caller([
    ...checkpointRoutes({ evidence, views, log }),
    ...coverageRoutes({ evidence, views }),
    ...exportRoutes({
      ...{ evidence, views, log, payloads: payloads(log, randomness) },
      calls: { payloadRead: (_, subject) => void read.push(subject) },
      ...(limits === undefined ? {} : { exportLimits: limits }),
      ...(tailMax === undefined ? {} : { tailMax }),
    }),
  ]);
  const fold = async (): Promise<void> => {
    await foldAll(follower, log);
    await maps.catchUp(() => false);
  };
  const unsealed = () => unsealedRoots(store);
  return {
    log,
    store,
    views,
    vkey: SIGNER.vkey,
    payloadsRead: read,
    /** As a node that is behind with its key maps. */
    foldWithoutMaps: () => foldAll(follower, log),
    /** Seals the key map of each of these accounts, and then all records. */
    async seal(...accounts: readonly string[]): Promise<void> {
      await fold();
      for (const account of accounts) {
        const candidate = await maps.candidate(account, (await store.head(account)).size);
        if (candidate !== null) await sealMap(log, CLOCK, candidate);
      }
      await fold();
      await sealOnce({ log, sealing, clock: CLOCK, unsealed });
      await fold();
      const isFolded = async (account: string): Promise<boolean> => {
        const document = await documentIn<AuditHead>(views, audit, account);
        return (document?.count ?? 0) === (await store.head(account)).size;
      };
      const known = [accountOf(0), accountOf(1)];
      await until("the views are folded", async () => (await Promise.all(known.map(isFolded))).every(Boolean));
    },
    async get(account: string, path: string, query: Readonly<Record<string, unknown>> = {}) {
      const principal = { kind: "key", account, id: "key_1", role: "auditor" } as const;
      const { outcome, body, detail } = await call("GET", path, { principal, query });
      return { outcome, body, detail, text: await textOf(body) };
    },
    call,
    async stop(): Promise<void> {
      await projector.stop();
      await store.close();
    },
  };
};
