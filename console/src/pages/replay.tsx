import { WordedMark } from "../../design/mark.tsx";
import { Facts, Head, Id, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { Thing } from "./listing.tsx";
import { replayState, replayWord, skippedText, waitingText } from "./replay-text.ts";
import { filterText } from "./replays.tsx";

type Replay = AnswerOf<"GET /v1/replays/{id}">;

const Shown = ({ replay, onDone }: { readonly replay: Replay; readonly onDone: () => void }) => {
  const nameOf = useNames();
  const { id, filter, status } = replay;
  const { status: _status, ...events } = filter;
  return (
    <>
      <Head
        title={filterText(filter)}
        meta={
          <>
            <WordedMark value={replayState(replay)} word={replayWord(replay)} />
            <span>
              <Time at={replay.started_at} as="exact" />
            </span>
            <Id id={id} />
          </>
        }
        acts={
          status === "running" ? (
            <Act
              label="Cancel"
              act={() => call("POST /v1/replays/{id}/cancel", { params: { id }, body: {} })}
              done="No further event is sent again."
              onDone={onDone}
              why={whyNotAdmin()}
              ask={{
                question: "Cancel this replay?",
                text: "Events that were sent again stay sent.",
                keep: "Let it go on",
              }}
            />
          ) : null
        }
      />
      <Section title="What became of it">
        <Facts
          rows={[
            ["Events", String(replay.total)],
            ["Done", String(replay.done)],
            ["Delivered", String(replay.delivered)],
            ["Failed", String(replay.failed)],
            ["Waiting", String(replay.waiting)],
            ["Skipped", String(replay.skipped)],
            ["Reason", replay.reason ?? ""],
            ["Ended", replay.ended_at === null ? "" : <Time at={replay.ended_at} />],
          ]}
        />
      </Section>
      {replay.waiting_at.length === 0 ? null : (
        <Section title="Waiting">
          <ul class="checks">
            {replay.waiting_at.map((it) => (
              <li key={it.endpoint_id}>
                <a href={`/endpoints/${encodeURIComponent(it.endpoint_id)}`}>
                  {nameOf(it.endpoint_id) ?? "An endpoint"}
                </a>
                : {it.count}, {waitingText(it.reason)}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {replay.skipped_by.length === 0 ? null : (
        <Section title="Skipped">
          <ul class="checks">
            {replay.skipped_by.map(({ reason, count }) => (
              <li key={reason}>
                {count}: {skippedText(reason)}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <p class="row">
        <a class="btn" href={hrefOf("/events", { ...events, status: filter.status })}>
          Events that match now
        </a>
      </p>
    </>
  );
};

const ReplayPage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Replay>({ key: id, on: { topic: "replays", id } }, () =>
    call("GET /v1/replays/{id}", { params: { id } }),
  );
  return (
    <Thing what="The replay" shown={shown}>
      {(replay) => <Shown replay={replay} onDone={shown.again} />}
    </Thing>
  );
};

export default ReplayPage;
