import { Loading } from "../../design/placeholders.tsx";
import { Section } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";

type Sources = AnswerOf<"GET /v1/sources">;
type Actions = AnswerOf<"GET /v1/actions">;

const MOST = 100;

/** The sources and actions that send to it; it cannot be deleted while there are any. */
export const EndpointUses = ({ id }: { readonly id: string }) => {
  const sources = useAnswer<Sources>({ key: id, on: { topic: "sources", id: null } }, () =>
    call("GET /v1/sources", { query: { limit: MOST } }),
  );
  const actions = useAnswer<Actions>({ key: id, on: { topic: "actions", id: null } }, () =>
    call("GET /v1/actions", { query: { limit: MOST } }),
  );
  if (sources.body === null || actions.body === null)
    return sources.problem === null && actions.problem === null ? <Loading rows={2} /> : null;
  const uses = [
    ...sources.body.data
      .filter(({ endpoint_id: to }) => to === id)
      .map(({ id: key, name }) => ({ kind: "Source", name, href: `/sources/${encodeURIComponent(key)}` })),
    ...actions.body.data
      .filter(({ endpoint_id: to }) => to === id)
      .map(({ name }) => ({ kind: "Action", name, href: `/agents/actions/${encodeURIComponent(name)}` })),
  ];
  const isCut = sources.body.next_cursor !== null || actions.body.next_cursor !== null;
  return (
    <Section title="What uses it">
      {uses.length === 0 && !isCut ? <p class="soft">No source and no action sends to it.</p> : null}
      <ul class="lines">
        {uses.map(({ kind, name, href }) => (
          <li key={href}>
            <span>
              <span class="soft">{kind}</span> <a href={href}>{name}</a>
            </span>
          </li>
        ))}
      </ul>
      {isCut ? <p class="meta">Of more than {MOST} sources or actions the first were looked at.</p> : null}
    </Section>
  );
};
