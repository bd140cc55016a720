import { useEffect, useState } from "preact/hooks";
import { call } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { whyNotAdmin } from "./act.tsx";
import { parsedDraft } from "./policy-draft.ts";
import type { PolicyProblem } from "./policy-problem.ts";

type Body = NonNullable<NonNullable<Parameters<typeof call<"POST /v1/policies/validate">>[1]>["body"]>;
/** After the last key: with the answer's way, a problem is shown within half a second. */
const QUIET_MS = 200;
/** After a refusal, because the account has validated as much as it may in a minute. */
const LATER_MS = 5_000;

const NOT_JSON: PolicyProblem = { path: "", message: "is not one JSON object in braces" };

const syntaxFault = (text: string): PolicyProblem => {
  try {
    JSON.parse(text);
  } catch (error) {
    // Browsers name the place in their own words.
    return { path: "", message: `is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
  return NOT_JSON;
};

export type Validated = {
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
  /** A sentence that says why it is not checked; null if it is. */
  readonly unchecked: string | null;
  /** True once the answer is about the present text. */
  readonly isCurrent: boolean;
};

const UNKNOWN: Omit<Validated, "isCurrent"> = { problems: [], warnings: [], unchecked: null };

/** A call that a member may not make is refused and recorded; opening a page is no reason for one. */
const NOT_ASKED = "An admin or an owner checks and publishes a draft";

/** What publishing the draft would say, asked while it is written by somebody who may publish it. */
export const useValidation = (text: string): Validated => {
  const [known, setKnown] = useState({ text: "", ...UNKNOWN });
  const [again, setAgain] = useState(0);
  const isAllowed = whyNotAdmin() === null;
  useEffect(() => {
    if (!isAllowed) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    let isGone = false;
    const ask = async (): Promise<void> => {
      const definition = parsedDraft(text);
      if (definition === null) return setKnown({ ...UNKNOWN, text, problems: [syntaxFault(text)] });
      // The service is asked exactly because it may be no definition.
      const body = definition as Body;
      const answer = await call("POST /v1/policies/validate", { body });
      if (isGone) return;
      if (answer.ok) setKnown({ text, problems: answer.body.errors, warnings: answer.body.warnings, unchecked: null });
      else {
        const unchecked = `The draft is not checked at the moment: ${answer.problem.detail}`;
        setKnown((before) => ({ ...before, text, unchecked }));
        timer = setTimeout(() => setAgain((it) => it + 1), LATER_MS);
      }
    };
    timer = setTimeout(() => void ask(), QUIET_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [text, again]);
  if (!isAllowed) return { ...UNKNOWN, unchecked: withHolders(NOT_ASKED, "admin"), isCurrent: false };
  const { text: about, ...rest } = known;
  return { ...rest, isCurrent: about === text };
};
