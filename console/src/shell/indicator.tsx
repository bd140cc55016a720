import { useContext, useLayoutEffect } from "preact/hooks";
import { shortTime } from "../../design/format.ts";
import { isLossTold } from "../../design/placeholders.tsx";
import { ClockContext, Note, Time } from "../../design/text.tsx";
import { isBehind } from "../api/api.ts";
import { type Indication, indicationOf, NOTE_MS, nextAttemptText } from "../live/frames.ts";
import { connection, tryNow } from "../live/stream.ts";
import { now } from "./clock.ts";
import { waitingRows } from "./frame-state.ts";

const DOTS: Readonly<Record<Indication, string>> = { live: "", paused: "off", behind: "off", lost: "bad" };

/** A status region: screen readers hear it only when its words change. */
export const Indicator = () => {
  const clock = useContext(ClockContext);
  const facts = { now: now.value, isBehind: isBehind.value, hasWaiting: waitingRows.value !== "" };
  const indication = indicationOf(connection.value, facts);
  const words = {
    live: () => "Live",
    paused: () => `Paused while you read: ${waitingRows.value} new`,
    behind: () => "Catching up",
    lost: () => `Not connected, from ${shortTime(new Date(connection.value.since).toISOString(), clock)}`,
  } satisfies Readonly<Record<Indication, () => string>>;
  return (
    <span class="live end" role="status">
      <span class={`dot ${DOTS[indication]}`} />
      <span>{words[indication]()}</span>
    </span>
  );
};

/** After a minute without the stream a note says so above the content. Buttons still work: they do not use the stream. */
export const StaleNote = () => {
  const { isLive, since } = connection.value;
  const isTold = !isLive && now.value - since >= NOTE_MS;
  useLayoutEffect(() => {
    isLossTold.value = isTold;
  }, [isTold]);
  if (!isTold) return null;
  return (
    <Note role="wait" mark="degraded">
      <p>
        <b>Not connected.</b> What you see is from <Time at={new Date(since).toISOString()} />.{" "}
        {nextAttemptText(connection.value, now.value)}{" "}
        <button class="btn" type="button" onClick={tryNow}>
          Try now
        </button>
      </p>
    </Note>
  );
};
