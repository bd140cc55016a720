import { euro, shortId } from "../../design/format.ts";
import { shownWords } from "./decision-words.ts";
import { ledgerOf } from "./record-ledgers.ts";
import { fieldIn, type NameOf, type Parts, partsOf } from "./record-parts.ts";
import { sentenceFor } from "./record-sentences.ts";

/** Records of the audit as sentences, whose subject is the person or the part of the service beside them. Pure. */

export type Entry = {
  readonly type: string;
  readonly subject: string;
  readonly subject_name?: string | null | undefined;
  readonly data: unknown;
  readonly personal: unknown;
};

/** What was done before and after the name of what it was done to, which stands in bold; and the line below. */
export type Told = {
  readonly before: string;
  readonly name: string;
  readonly after: string;
  readonly note: string;
};

/** "EventAdmitted" is told as "event admitted". */
export const wordsOf = (type: string): string => type.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();

const subjectName = ({ subject, subject_name: given }: Entry, nameOf: NameOf): string => {
  if (given !== null && given !== undefined)
    return given.replace(/ (\d+\.\d{2,6}) EUR$/, (_, sum) => ` ${euro(Number(sum))}`);
  const ledger = ledgerOf(subject);
  if (ledger === null) return nameOf(subject) ?? shortId(subject);
  const owner = nameOf(ledger.owner) ?? shortId(ledger.owner);
  return ledger.of === "" ? owner : `${owner}, ${ledger.of}`;
};

/** A person's own words, which are kept apart from the record and can be erased. */
const quoted = ({ data, personal }: Entry): string => {
  for (const field of ["comment", "reason"]) {
    const words = fieldIn(data, field);
    const id = fieldIn(fieldIn(words, "words") ?? words, "id");
    const value = typeof id === "string" ? fieldIn(personal, id) : undefined;
    if (typeof value === "string") return `: “${value}”`;
  }
  return "";
};

/** Which form of the request a vote's person was shown, and whether the form itself is kept. */
const formNote = ({ type, data }: Entry): string => {
  const shown = fieldIn(data, "shown");
  const [form, hidden] = [fieldIn(shown, "form"), fieldIn(shown, "hidden")];
  if (type !== "VoteCast" || typeof form !== "string" || !Array.isArray(hidden)) return "";
  const kept = fieldIn(data, "shown_form") === undefined ? "" : " The form is kept; an export with payloads has it.";
  return `. ${shownWords({ form, hidden: hidden.map(String) })}${kept}`;
};

const policyNote = (parts: Parts): string => {
  const policy = parts.part("verdict").part("policy");
  const name = policy.named("id");
  return name === "" ? "" : ` by ${name} v${policy.text("version")}`;
};

export const toldOf = (entry: Entry, nameOf: NameOf): Told => {
  const parts = partsOf(entry.data, nameOf);
  const [before, after] = sentenceFor(entry.type, parts, entry.subject) ?? [`${wordsOf(entry.type)}: `, ""];
  return {
    ...{ before, after, name: subjectName(entry, nameOf) },
    note: `${entry.type}${policyNote(parts)}${quoted(entry)}${formNote(entry)}`,
  };
};
