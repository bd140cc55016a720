import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { LoadError } from "../../design/placeholders.tsx";
import { Facts } from "../../design/text.tsx";
import { type AnswerOf, announce, type CallName, call } from "../api/api.ts";
import type { Answered } from "../api/calls.ts";
import { HOME, type LinkPath, SIGN_IN } from "../shell/addresses.ts";
import { Fault, Gate } from "./gate.tsx";
import { RIGHTS, roleWord } from "./settings-text.ts";

const PASSWORD_HINT = "At least 10 characters. Several words are easier to remember than one.";

const LINKS = {
  "/join": {
    title: "Join the account",
    lead: "You were invited. Choose a password that only you know; nobody can see or set it.",
    button: "Join",
    send: "POST /v1/auth/invitations/accept",
  },
  "/reset": {
    title: "Set a new password",
    lead: "This ends all of your sessions and opens a new one here.",
    button: "Set the password",
    send: "POST /v1/auth/reset",
  },
  "/start": {
    title: "Create the first account",
    lead: "You become its owner, and can invite others afterwards.",
    button: "Create the account",
    send: "POST /v1/auth/start",
  },
} as const satisfies Record<LinkPath, { readonly send: CallName } & Record<string, string>>;

/** A new account has no source yet, and without one nothing can happen in it. */
const FIRST_PAGE = "/sources/new";

const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const sent = (
  path: LinkPath,
  token: string,
  { email = "", password = "", account_name = "" }: Record<string, string>,
) => {
  if (path === "/start") {
    const body = { token, email, password, account_name, time_zone: zoneHere() };
    return call("POST /v1/auth/start", { body });
  }
  return call(LINKS[path].send, { body: { token, password } });
};

type LinkProps = {
  readonly path: LinkPath;
  /** From the address's fragment, which the shell has removed at once; empty if there was none. */
  readonly token: string;
};

type Invitation = AnswerOf<"POST /v1/auth/invitations/read">;

/** What is offered and by whom, as names from strangers: they stand beside our words, never in a sentence or a title. */
const Offer = ({ account_name, role, email, invited_by }: Invitation) => (
  <Facts
    rows={[
      ["Account", <b>{account_name}</b>],
      ["Your role", `${roleWord(role)}: you may ${RIGHTS[role] ?? "read"}`],
      ["Invited by", invited_by],
      ["You sign in as", email],
    ]}
  />
);

/** Whose password it is. */
const Whose = ({ account_name, email }: AnswerOf<"POST /v1/auth/reset/read">) => (
  <Facts
    rows={[
      ["Account", <b>{account_name}</b>],
      ["You sign in as", email],
    ]}
  />
);

/** What a link is for, as whoever holds it is told. */
const readLink = async (path: "/join" | "/reset", token: string): Promise<Answered<ComponentChildren>> => {
  if (path === "/join") {
    const answer = await call("POST /v1/auth/invitations/read", { body: { token } });
    return answer.ok ? { ok: true, body: <Offer {...answer.body} /> } : answer;
  }
  const answer = await call("POST /v1/auth/reset/read", { body: { token } });
  return answer.ok ? { ok: true, body: <Whose {...answer.body} /> } : answer;
};

/** An invitation and a reset say what they are for before anything is asked for. */
const ReadLink = (props: LinkProps & { readonly path: "/join" | "/reset" }) => {
  const [answer, setAnswer] = useState<Answered<ComponentChildren> | null>(null);
  const { path, token } = props;
  const read = (): void => void readLink(path, token).then(setAnswer);
  useEffect(read, [path, token]);
  if (answer?.ok === true) return <LinkForm {...props}>{answer.body}</LinkForm>;
  return (
    <Gate title={LINKS[path].title}>
      {answer === null ? null : answer.problem.status === 404 ? (
        <>
          <Fault text={answer.problem.detail} />
          <p>
            {path === "/join" ? "If you have joined already, " : "If you know your password, "}
            <a href={SIGN_IN}>sign in</a>.
          </p>
        </>
      ) : (
        // The link has left the address, so that loading the page once more would find none.
        <LoadError
          what={path === "/join" ? "The invitation" : "The link"}
          failure={answer.problem}
          since={null}
          onRetry={read}
        />
      )}
    </Gate>
  );
};

/** First start, invitation and reset: a one-time link leads here. */
const OneTimeLink = (props: LinkProps) => {
  if (props.token === "")
    return (
      <Gate title={LINKS[props.path].title}>
        <Fault text="This address has no link in it. Open the whole link that you were given." />
      </Gate>
    );
  const { path } = props;
  return path === "/start" ? <LinkForm {...props} /> : <ReadLink {...props} path={path} />;
};

const LinkForm = ({ path, token, children }: LinkProps & { readonly children?: ComponentChildren }) => {
  const { title, lead, button } = LINKS[path];
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    // A second press would find the link used.
    if (isBusy || !(event.currentTarget instanceof HTMLFormElement)) return;
    setBusy(true);
    const answer = await sent(path, token, fieldsOf(event.currentTarget));
    setBusy(false);
    if (!answer.ok) return setFault(answer.problem.detail);
    announce(answer.body.member.id);
    location.replace(path === "/start" ? FIRST_PAGE : HOME);
  };
  return (
    <Gate title={title}>
      <p class="soft">{lead}</p>
      {children}
      <form class="form" aria-label={title} onSubmit={(event) => void onSubmit(event)}>
        {fault === null ? null : <Fault text={fault} />}
        {path === "/start" ? (
          <>
            <Field label="E-mail" name="email" type="email" autocomplete="username" maxLength={254} required />
            <Field
              label="Name of the account"
              name="account_name"
              autocomplete="organization"
              maxLength={100}
              required
            />
          </>
        ) : null}
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="new-password"
          minLength={10}
          hint={PASSWORD_HINT}
          required
        />
        <div class="row">
          <button class="btn big first" type="submit" disabled={isBusy}>
            {button}
          </button>
        </div>
      </form>
    </Gate>
  );
};

export default OneTimeLink;
