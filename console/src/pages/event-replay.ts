import { counted } from "../../design/format.ts";
import { stateOf } from "../../design/states.ts";

/** What has these states may be sent again; what was refused passes the gates again. */
const REPLAYABLE: readonly string[] = ["failed", "blocked", "expired", "cancelled", "rejected"];

type Replayed = { readonly id: string; readonly status: string; readonly bundle: object | null };

export const isReplayable = ({ status, bundle }: Replayed): boolean => bundle === null && REPLAYABLE.includes(status);

/** Which of the selected events are sent again, and why the others are not: "1 is delivered; 2 are bundle steps". */
export const planOf = <Row extends Replayed>(
  rows: readonly Row[],
): { readonly sent: readonly Row[]; readonly text: string } => {
  const sent = rows.filter(isReplayable);
  const reasons = new Map<string, number>();
  for (const row of rows) {
    if (isReplayable(row)) continue;
    const reason = row.bundle === null ? stateOf(row.status).word.toLowerCase() : "";
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const skipped = [...reasons].map(([reason, many]) => {
    if (reason === "") return many === 1 ? "1 is a step of a bundle" : `${many} are steps of bundles`;
    return `${many} ${many === 1 ? "is" : "are"} ${reason}`;
  });
  const left = rows.length - sent.length;
  return {
    sent,
    text: `Sends ${counted(sent.length, "event")} again.${left === 0 ? "" : ` Skips ${left}: ${skipped.join("; ")}.`}`,
  };
};
