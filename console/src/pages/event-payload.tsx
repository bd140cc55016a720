import { useRef, useState } from "preact/hooks";
import { bytes } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { Icon } from "../../design/mark.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Note, Section, Time } from "../../design/text.tsx";
import { JsonTree } from "../../design/tree.tsx";
import { type AnswerOf, call, callText } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { whyNotAdmin } from "./act.tsx";
import { ActButton } from "./act-button.tsx";
import { AskWhy } from "./ask-why.tsx";

type Event = AnswerOf<"GET /v1/events/{id}">;

/** What has ended may lose its payload; before that it is still to be sent. */
const ENDED: readonly string[] = ["delivered", "failed", "blocked", "recorded", "rejected", "expired", "cancelled"];

const EraseAct = ({ event, onDone }: { readonly event: Event; readonly onDone: () => void }) => {
  const [isAsking, setAsking] = useState(false);
  const why = whyNotAdmin() ?? (ENDED.includes(event.status) ? null : "This event is still on its way.");
  return (
    <p class="row">
      <ActButton why={why} onPress={() => setAsking(true)}>
        Erase the payload…
      </ActButton>
      {isAsking ? (
        <AskWhy
          question="Erase this payload?"
          act="Erase the payload"
          keep="Keep it"
          send={(reason) => call("DELETE /v1/events/{id}/payload", { params: { id: event.id }, body: { reason } })}
          done="The payload is erased."
          onDone={onDone}
          onClose={() => setAsking(false)}
        >
          Its content is gone for good. The record and its proof stay.
        </AskWhy>
      ) : null}
    </p>
  );
};

/** Above this size the raw bytes are offered in place of the tree. */
const TREE_BYTES = 1_000_000;

/** What was sent; `f` searches in it. */
export const Payload = ({ event, onDone }: { readonly event: Event; readonly onDone: () => void }) => {
  const { id, payload } = event;
  const [search, setSearch] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useKeys({ f: () => field.current?.focus() });
  const isShown = payload.erased_at === null && payload.size <= TREE_BYTES;
  const text = useAnswer<string>({ key: `${id} ${isShown}`, on: null }, () =>
    isShown ? callText("GET /v1/events/{id}/payload", { params: { id } }) : Promise.resolve({ ok: true, body: "" }),
  );
  const kind = `${payload.content_type || "no content type"}, ${bytes(payload.size)}`;
  return (
    <Section
      title="Payload"
      beside={
        <>
          <span class="meta">{kind}</span>
          {isShown ? (
            <div class="find">
              <Icon name="search" />
              <input
                ref={field}
                class="bare"
                aria-label="Search keys and values"
                placeholder="Search keys and values"
                onInput={(it) => setSearch(it.currentTarget.value)}
              />
            </div>
          ) : null}
        </>
      }
    >
      {payload.erased_at === null ? null : (
        <Note mark="erased">
          <p>
            The payload was erased <Time at={payload.erased_at} as="precise" />. Its record and proof remain.
          </p>
        </Note>
      )}
      {payload.size > TREE_BYTES && payload.erased_at === null ? (
        <p>
          <a class="btn" href={`/v1/events/${encodeURIComponent(id)}/payload`} download>
            Save the raw bytes
          </a>
        </p>
      ) : null}
      {text.problem === null ? null : (
        <Note>
          <p>{text.problem.detail}</p>
        </Note>
      )}
      {isShown && text.body === null && text.problem === null ? <Loading rows={4} /> : null}
      {isShown && text.body !== null ? <JsonTree text={text.body} label="Payload" search={search} /> : null}
      {payload.erased_at === null ? <EraseAct event={event} onDone={onDone} /> : null}
    </Section>
  );
};
