import { readFileSync } from "node:fs";
import { POLICY_BYTES_MAX, parseWitnessPolicy, type WitnessPolicy } from "../domain/evidence/witness-policy.ts";
import { sha256 } from "../infra/crypto/sha256.ts";
import { ConfigError, type Env } from "./config-error.ts";
import type { AskedWitness, WitnessConfig } from "./witnessing/witness-config.ts";

const MODES: readonly WitnessConfig["mode"][] = ["open", "closed"];

const modeOf = (value: string): WitnessConfig["mode"] => {
  const mode = MODES.find((candidate) => candidate === value);
  if (mode === undefined) throw new ConfigError(`AUDIT_WITNESS_MODE is "${value}": it has to be open or closed.`);
  return mode;
};

const readPolicy = (path: string): WitnessPolicy => {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new ConfigError(`AUDIT_WITNESSES names the file ${path}, which cannot be read: ${String(error)}.`);
  }
  const parsed = parseWitnessPolicy(sha256, bytes.subarray(0, POLICY_BYTES_MAX + 1));
  if (parsed.ok) return parsed.policy;
  throw new ConfigError(`AUDIT_WITNESSES names the file ${path}, which is no witness policy: ${parsed.problem}.`);
};

const asked = (path: string, witness: WitnessPolicy["witnesses"][number]): AskedWitness => {
  const url = witness.url !== null && URL.canParse(witness.url) ? new URL(witness.url) : null;
  // The message does not repeat the URL, because it may contain a password.
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new ConfigError(
      `AUDIT_WITNESSES: the witness ${witness.key.name} in ${path} needs an http or https address after its key.`,
    );
  // `fetch` refuses an address with a name and a password in it.
  if (url.username !== "" || url.password !== "")
    throw new ConfigError(
      `AUDIT_WITNESSES: the address of the witness ${witness.key.name} in ${path} has a user name.`,
    );
  return { ...witness, url: url.href.replace(/\/+$/, "") };
};

export const readWitnesses = (env: Env): WitnessConfig | null => {
  const mode = modeOf(env.AUDIT_WITNESS_MODE || "open");
  const path = env.AUDIT_WITNESSES;
  if (!path) {
    if (mode === "open") return null;
    throw new ConfigError(
      "AUDIT_WITNESS_MODE is closed without AUDIT_WITNESSES, so no checkpoint would ever be published: name a policy file.",
    );
  }
  const policy = readPolicy(path);
  const witnesses = policy.witnesses.map((witness) => asked(path, witness));
  if (witnesses.length === 0)
    throw new ConfigError(`AUDIT_WITNESSES names the file ${path}, which has no witness to ask.`);
  if (mode === "closed" && policy.quorum === null)
    throw new ConfigError(
      `AUDIT_WITNESS_MODE is closed, but the policy in ${path} asks for none: name a quorum in it.`,
    );
  return { policy, witnesses, mode };
};
