import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { utf8 } from "../../domain/evidence/bytes.ts";

import { parseWitnessPolicy } from "../../domain/evidence/witness-policy.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import type { LimitedAnswer, LimitedCall } from "../../infra/http/limited-call.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { type OpenedWitness, openWitness } from "../../src/witness/open-witness.ts";
import type { InstanceTree } from "../../src/witnessing/instance-tree.ts";
import type { WitnessConfig } from "../../src/witnessing/witness-config.ts";
import { WitnessRounds } from "../../src/witnessing/witness-rounds.ts";
import { WitnessedCheckpoints } from "../../src/witnessing/witnessed.ts";
import { logKey, signedTree } from "./signed-tree.ts";

export const INSTANCE = "hooks.example.com/instance";
export const LOG = logKey(INSTANCE, 1);

type Tree = ReturnType<typeof signedTree>;
export type Call = (call: LimitedCall) => Promise<LimitedAnswer>;

/** A node's own tree; `size` is what it has folded and signed. */
export const nodeTree = (tree: Tree = signedTree(INSTANCE, LOG.signer)) => {
  const node = {
    size: 0,
    isCurrent: true,
    tree,
  };
  const instance: InstanceTree = {
    isCurrent: async () => node.isCurrent,
    origin: async () => (node.size === 0 ? null : node.tree.origin),
    async checkpoint() {
      const { size } = node;
      if (size === 0) return null;
      return { origin: node.tree.origin, size, root: node.tree.rootAt(size), note: node.tree.checkpoint(size) };
    },
    consistency: async (from, to) => node.tree.proof(from, to),
    rootAt: async (size) => (size > node.size ? null : node.tree.rootAt(size)),
    keys: async () => [LOG.key],
  };
  return Object.assign(node, { instance });
};

/** Witnesses in this process, and calls to them. */
export const witnesses = (folder: string, names: readonly string[], clock: { now(): number }) => {
  const opened = new Map<string, OpenedWitness>();
  for (const name of names)
    opened.set(
      name,
      openWitness({
        ...{ path: join(mkdtempSync(join(folder, "w-")), "state"), name: `example.com/${name}`, randomness, clock },
        ...{ logs: [LOG.key], onFork: () => undefined },
      }),
    );
  const call: Call = async ({ url, method, body = "" }) => {
    const { hostname, pathname } = new URL(url);
    const witness = opened.get(hostname)?.witness;
    if (witness === undefined) return { ok: false, problem: "cannot be reached: nobody is there" };
    if (method === "POST") return { ok: true, ...(await witness.add(utf8(body))) };
    const note = witness.newest(pathname.slice(1, 65));
    return { ok: true, status: note === null ? 404 : 200, body: note ?? "" };
  };
  const lines = [...opened].map(([name, { vkey }]) => `witness ${name} ${vkey} http://${name}`);
  const close = (): void => {
    for (const it of opened.values()) it.close();
  };
  return { opened, call, lines, close };
};

export const configOf = (lines: readonly string[], mode: WitnessConfig["mode"] = "open"): WitnessConfig => {
  const parsed = parseWitnessPolicy(sha256, utf8(lines.join("\n")));
  if (!parsed.ok) throw new Error(parsed.problem);
  return {
    policy: parsed.policy,
    witnesses: parsed.policy.witnesses.map((it) => ({ ...it, url: it.url ?? "" })),
    mode,
  };
};

export type World = {
  readonly log?: EventLog;
  readonly node?: ReturnType<typeof nodeTree>;
  readonly config: WitnessConfig;
  readonly call: Call;
  readonly clock: { now(): number };
};

export const witnessedNode = ({ log = memoryEventLog(), node = nodeTree(), config, call, clock }: World) => {
  const [failures, contradictions, outcomes]: [string[], string[], string[]] = [[], [], []];
  const rounds = new WitnessRounds({
    ...{ log, tree: node.instance, config, clock, call, stragglersMs: 5 },
    onFailure: (sentence) => void failures.push(sentence),
    onContradiction: (sentence) => void contradictions.push(sentence),
    onOutcome: (witness, outcome) => void outcomes.push(`${witness} ${outcome}`),
  });
  const reader = () => new WitnessedCheckpoints({ log, tree: node.instance, config });
  return { log, node, rounds, failures, contradictions, outcomes, newest: () => reader().newest(), reader };
};
