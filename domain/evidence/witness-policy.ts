/**
 * A witness policy as C2SP tlog-policy has it: which logs and witnesses are known, and which witnesses together make a
 * quorum. A file is read as bytes, because the specification treats all octets above 0x7f as opaque.
 */
import { sameBytes } from "./bytes.ts";
import type { Sha256 } from "./merkle.ts";
import { ED25519, ED25519_COSIGNATURE, parseVerifierKey, type VerifierKey } from "./signed-note.ts";

type PolicyLog = { readonly key: VerifierKey; readonly url: string | null };
type PolicyWitness = { readonly name: string; readonly key: VerifierKey; readonly url: string | null };
type Group = { readonly name: string; readonly threshold: number; readonly members: readonly string[] };

export type WitnessPolicy = {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  /** A group stands after the groups that it names. */
  readonly groups: readonly Group[];
  /** The witness or group that has to have cosigned; null for `quorum none`, which asks for no cosignature. */
  readonly quorum: string | null;
};

export type ParsedPolicy =
  | { readonly ok: true; readonly policy: WitnessPolicy }
  /** `problem` is a sentence that names the line. */
  | { readonly ok: false; readonly problem: string };

export const POLICY_BYTES_MAX = 65_536;
/** Twice the 32 logs, witnesses and groups that the specification recommends to support. */
const ENTRIES_MAX = 64;

class Refused extends Error {}

const TYPES = { logs: ED25519, witnesses: ED25519_COSIGNATURE } as const;

type Draft = {
  readonly sha256: Sha256;
  readonly logs: PolicyLog[];
  readonly witnesses: PolicyWitness[];
  readonly groups: Group[];
  readonly names: Set<string>;
  /** Names that a group has as members; none may be a member twice. */
  readonly members: Set<string>;
  quorum: string | null | undefined;
};

/** Each byte becomes one character, so that names stay opaque octets. */
const octets = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};

const utf8 = (word: string): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(word, (char) => char.charCodeAt(0)));

/** Two keys are the same if their public keys are, whatever their names. */
const keyOf = ({ sha256, ...draft }: Draft, word: string | undefined, of: "logs" | "witnesses"): VerifierKey => {
  const key = word === undefined ? null : parseVerifierKey(sha256, utf8(word));
  if (key?.type !== TYPES[of]) throw new Refused(`has no Ed25519 verifier key of the type 0x0${TYPES[of]}`);
  if (draft[of].some((other) => sameBytes(other.key.publicKey, key.publicKey)))
    throw new Refused("repeats the public key of an earlier line");
  return key;
};

const urlOf = (word: string | undefined): string | null => (word === undefined ? null : utf8(word));

const newName = (draft: Draft, name: string | undefined): string => {
  if (name === undefined) throw new Refused("has no name");
  if (name === "none" || draft.names.has(name)) throw new Refused(`gives the name ${utf8(name)} again`);
  draft.names.add(name);
  return name;
};

const THRESHOLD = /^[1-9]\d{0,3}$/;

const thresholdOf = (word: string | undefined, count: number): number => {
  if (word === "all") return count;
  if (word === "any") return 1;
  const threshold = THRESHOLD.test(word ?? "") ? Number(word) : 0;
  if (threshold < 1 || threshold > count) {
    throw new Refused(
      `asks for ${utf8(word ?? "nothing")} of ${count} members: it takes all, any or a number up to it`,
    );
  }
  return threshold;
};

const LINES: Readonly<Record<string, (draft: Draft, words: readonly string[]) => void>> = {
  log(draft, [vkey, url, ...rest]) {
    if (rest.length > 0) throw new Refused("has too many words");
    draft.logs.push({ key: keyOf(draft, vkey, "logs"), url: urlOf(url) });
  },
  witness(draft, [name, vkey, url, ...rest]) {
    if (rest.length > 0) throw new Refused("has too many words");
    draft.witnesses.push({ name: newName(draft, name), key: keyOf(draft, vkey, "witnesses"), url: urlOf(url) });
  },
  group(draft, [name, threshold, ...members]) {
    for (const member of members) {
      if (!draft.names.has(member)) throw new Refused(`names ${utf8(member)}, which no line above defines`);
      if (draft.members.has(member)) throw new Refused(`makes ${utf8(member)} a member again`);
      draft.members.add(member);
    }
    if (members.length === 0) throw new Refused("has no members");
    const needed = thresholdOf(threshold, members.length);
    draft.groups.push({ name: newName(draft, name), threshold: needed, members });
  },
  quorum(draft, [name, ...rest]) {
    if (name === undefined || rest.length > 0) throw new Refused("does not have one name");
    if (draft.quorum !== undefined) throw new Refused("is the second quorum");
    if (name !== "none" && !draft.names.has(name)) {
      throw new Refused(`names ${utf8(name)}, which no line above defines`);
    }
    draft.quorum = name === "none" ? null : name;
  },
};

/** Control characters other than tab, which is whitespace, and the newline, at which the text was split. */
const isForbidden = (line: string): boolean =>
  [...line].some((char) => (char < " " && char !== "\t") || char === "\u007f");

const readLine = (draft: Draft, line: string): void => {
  if (isForbidden(line)) throw new Refused("has a control character");
  const words = line.split(/[ \t]+/).filter((word) => word !== "");
  const [keyword, ...rest] = words;
  if (keyword === undefined || keyword.startsWith("#")) return;
  const read = Object.hasOwn(LINES, keyword) ? LINES[keyword] : undefined;
  if (read === undefined) throw new Refused("begins with none of log, witness, group, quorum");
  read(draft, rest);
  if (Math.max(draft.logs.length, draft.witnesses.length, draft.groups.length) > ENTRIES_MAX) {
    throw new Refused(`is one too many: at most ${ENTRIES_MAX} logs, witnesses and groups are taken`);
  }
};

export const parseWitnessPolicy = (sha256: Sha256, bytes: Uint8Array): ParsedPolicy => {
  if (bytes.length > POLICY_BYTES_MAX) return { ok: false, problem: `it has over ${POLICY_BYTES_MAX} bytes` };
  const draft: Draft = {
    ...{ sha256, logs: [], witnesses: [], groups: [], quorum: undefined },
    names: new Set(),
    members: new Set(),
  };
  for (const [index, line] of octets(bytes).split("\n").entries()) {
    try {
      readLine(draft, line);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { ok: false, problem: `line ${index + 1} ${error.message}` };
    }
  }
  const { logs, witnesses, groups, quorum } = draft;
  if (quorum === undefined) return { ok: false, problem: "it has no quorum line" };
  return { ok: true, policy: { logs, witnesses, groups, quorum } };
};

/** True if the witnesses of these names have cosigned enough; `quorum none` holds without any. */
export const isQuorum = ({ groups, quorum }: WitnessPolicy, cosigned: ReadonlySet<string>): boolean => {
  const reached = new Set(cosigned);
  for (const { name, threshold, members } of groups) {
    if (members.filter((member) => reached.has(member)).length >= threshold) reached.add(name);
  }
  return quorum === null || reached.has(quorum);
};
