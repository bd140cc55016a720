import { useState } from "preact/hooks";
import { counted } from "../../design/format.ts";
import { type AnswerOf, call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { ActButton } from "./act-button.tsx";
import { AskWhy } from "./ask-why.tsx";

type List = AnswerOf<"GET /v1/events">;

/** What a suspension stops, and what it does not: each counted, or in words while it is not known. */
const useTouched = (id: string): string => {
  const total = (status: "held" | "delivering") =>
    useAnswer<List>({ key: `${status} ${id}`, on: null }, () =>
      call("GET /v1/events", { query: { agent_id: id, status, limit: 1, total: "true" } }),
    ).body?.total;
  const [held, begun] = [total("held"), total("delivering")];
  const cancelled =
    held === undefined
      ? "Held requests are cancelled"
      : held === 0
        ? "Nothing is held for it"
        : `${counted(held, "held request")} ${held === 1 ? "is" : "are"} cancelled`;
  const finished =
    begun === undefined
      ? "a delivery that has begun is finished"
      : begun === 0
        ? "no delivery is under way"
        : begun === 1
          ? "1 delivery that has begun is finished"
          : `${begun} deliveries that have begun are finished`;
  return `Its key stops at once. ${cancelled}; ${finished}.`;
};

type SuspendProps = {
  readonly id: string;
  readonly name: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

const Ask = ({ id, name, onDone, onClose }: SuspendProps) => {
  const touched = useTouched(id);
  return (
    <AskWhy
      question={`Suspend ${name}?`}
      act={`Suspend ${name}`}
      keep="Keep it active"
      send={(reason) => call("POST /v1/agents/{id}/suspend", { params: { id }, body: { reason } })}
      done={`${name} is suspended.`}
      onDone={onDone}
      onClose={onClose}
    >
      {touched}
    </AskWhy>
  );
};

type ButtonProps = Omit<SuspendProps, "onClose"> & {
  /** Why the button does nothing; null if it works. */
  readonly why: string | null;
};

export const Suspend = ({ why, ...about }: ButtonProps) => {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <ActButton why={why} onPress={() => setAsking(true)}>
        Suspend…
      </ActButton>
      {isAsking ? <Ask {...about} onClose={() => setAsking(false)} /> : null}
    </>
  );
};
