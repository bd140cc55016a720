import type { Filter } from "../../design/filter-values.ts";
import { gateName } from "./gate-words.ts";

/** What may refuse or hold a request. */
const GATES = [
  ...["scope", "schema", "require_fields", "cost", "content", "rate"],
  ...["loop", "budget", "quota", "bytes", "approval", "bundle"],
];

export const GATE_FILTER: Filter = {
  ...{ name: "gate", label: "Gate", expects: "Choose a gate from the list." },
  choices: GATES.map((value) => ({ value, word: gateName(value) })),
};
