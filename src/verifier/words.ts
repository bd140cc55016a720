import type { Completeness, Report, Verdict } from "./report.ts";

const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  authentic: "a key that you gave verified everything in the file.",
  consistent: "the file does not contradict itself. No key was given, so nothing is said about who made it.",
  incomplete: "what is there is right, but something is missing.",
  broken: "do not rely on this file.",
};

const NOTHING_CHECKED = "nothing in the file was checked, because what a check needs is missing.";
const REPLACED =
  "records that the earlier checkpoint covered are gone or were changed, and the operator has declared a restore.";

/** What the verdict means for this report, without the verdict's own word. */
export const meaning = ({ verdict, head, isReplaced }: Report): string => {
  if (verdict !== "incomplete") return VERDICT_WORDS[verdict];
  if (head === null) return NOTHING_CHECKED;
  return isReplaced ? REPLACED : VERDICT_WORDS.incomplete;
};

const SHOWN_MAX = 20;

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;

/** At most so many of the lines, and how many there are beyond. */
const some = (lines: readonly string[]): readonly string[] =>
  lines.length <= SHOWN_MAX ? lines : [...lines.slice(0, SHOWN_MAX), `and ${lines.length - SHOWN_MAX} more`];

const faultLines = ({ fault }: Report): readonly string[] => {
  if (fault === null) return [];
  return [fault.index === null ? fault.reason : `Record ${fault.index}: ${fault.reason}`];
};

const headLines = ({ head, key, witnesses }: Report): readonly string[] => {
  if (head === null) return [];
  return [
    `As of size ${head.size} of ${head.origin}, root ${head.root}.`,
    ...(key === null ? [] : [`Signed by ${key}.`]),
    ...witnesses.map(({ witness, time, size }) => `Cosigned by ${witness} at ${time}: the records below ${size}.`),
    ...(witnesses.length === 0
      ? ["No witness whose key was given has cosigned: another history may have been shown to others."]
      : []),
  ];
};

const completeWords = ({ key, number, size }: Completeness): string =>
  number === 0
    ? `There is no record of ${key} below ${size}.`
    : `These are all ${number} records of ${key} below ${size}: none is left out.`;

export const timeConflictLines = ({ timeConflicts }: Report): readonly string[] =>
  some(timeConflicts.map(({ index, recorded_at, reason }) => `Record ${index} says ${recorded_at}, but ${reason}.`));

export const noteLines = ({ notes }: Report): readonly string[] => notes.map((note) => `Note: ${note}.`);

const recordLines = (report: Report): readonly string[] => {
  const { records, range, complete, unknownTypes, payloads } = report;
  const { verified, erased, withheld } = payloads;
  return [
    ...(records === 0
      ? []
      : [`${count(records, "record")}${range === null ? "" : `, from ${range.from} to ${range.to - 1}`}.`]),
    ...(complete === null ? [] : [completeWords(complete)]),
    ...Object.entries(unknownTypes).map(([type, n]) => `${count(n, "record")} of the unknown type ${type}.`),
    ...(verified + erased + withheld === 0
      ? []
      : [`Payloads: ${verified} verified, ${erased} erased, ${withheld} withheld.`]),
    ...some(report.erased.map(({ id, at, by }) => `The payload ${id} was erased at ${at} by ${by}.`)),
    ...timeConflictLines(report),
  ];
};

/** The report as lines, in the same words for the command and the page. The first line is the verdict. */
export const inWords = (report: Report): readonly string[] => [
  `${report.verdict.toUpperCase()}: ${meaning(report)}`,
  ...faultLines(report),
  ...some(report.missing.map((what) => `Missing: ${what}.`)),
  ...headLines(report),
  // After a fault the records were not all looked at.
  ...(report.fault === null ? recordLines(report) : []),
  ...noteLines(report),
];
