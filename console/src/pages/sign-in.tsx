import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { announce, call, type Me } from "../api/api.ts";
import type { Problem } from "../api/calls.ts";
import { Fault, Gate } from "./gate.tsx";

type FormProps = {
  /** Set while someone else's tab or an ended session asks for the same member. */
  readonly email?: string;
  readonly onSignedIn: (who: Me) => void;
};

/** Every wrong pair gets the same message. */
export const SignInForm = ({ email, onSignedIn }: FormProps) => {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy || !(event.currentTarget instanceof HTMLFormElement)) return;
    const { email: address = "", password = "" } = fieldsOf(event.currentTarget);
    setBusy(true);
    const answer = await call("POST /v1/auth/login", { body: { email: address, password } });
    setBusy(false);
    if (!answer.ok) return setProblem(answer.problem);
    announce(answer.body.member.id);
    onSignedIn(answer.body);
  };
  return (
    <form class="form" aria-label="Sign in" onSubmit={(event) => void onSubmit(event)}>
      {problem === null ? null : <Fault text={problem.detail} />}
      <Field
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        required
        {...(email === undefined ? {} : { value: email })}
      />
      <Field label="Password" name="password" type="password" autocomplete="current-password" required />
      <div class="row">
        <button class="btn big first" type="submit" disabled={isBusy}>
          Sign in
        </button>
      </div>
    </form>
  );
};

/** The service lets strangers make accounts. The shell says so. */
const isOpen = (): boolean => document.querySelector('meta[name="sign-up"]')?.getAttribute("content") === "open";

const SignUpForm = ({ onSignedIn }: Pick<FormProps, "onSignedIn">) => {
  const [fault, setFault] = useState<string | null>(null);
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const { email = "", password = "", account_name } = fieldsOf(event.currentTarget);
    const body = { email, password, ...(account_name === undefined ? {} : { account_name }) };
    const answer = await call("POST /v1/auth/signup", { body });
    if (!answer.ok) return setFault(answer.problem.detail);
    announce(answer.body.member.id);
    onSignedIn(answer.body);
  };
  return (
    <form class="form" aria-label="Create an account" onSubmit={(event) => void onSubmit(event)}>
      {fault === null ? null : <Fault text={fault} />}
      <Field label="E-mail" name="email" type="email" autocomplete="username" required />
      <Field label="Name of the account" name="account_name" autocomplete="organization" maxLength={100} />
      <Field label="Password" name="password" type="password" autocomplete="new-password" minLength={10} required />
      <div class="row">
        <button class="btn big first" type="submit">
          Create the account
        </button>
      </div>
    </form>
  );
};

/** `to` is where the reader goes then; null loads the present address again, with its fragment. */
const SignIn = ({ to }: { readonly to: string | null }) => {
  const [isNew, setNew] = useState(false);
  const onSignedIn = (): void => (to === null ? location.reload() : location.replace(to));
  return (
    <Gate title={isNew ? "Create an account" : "Sign in"}>
      {isNew ? <SignUpForm onSignedIn={onSignedIn} /> : <SignInForm onSignedIn={onSignedIn} />}
      {isOpen() ? (
        <button class="btn bare" type="button" onClick={() => setNew(!isNew)}>
          {isNew ? "I have an account" : "Create an account"}
        </button>
      ) : (
        <p class="meta">Without an account? An owner invites you.</p>
      )}
      <p class="meta">If you cannot sign in, ask an owner for a link that sets a new password.</p>
    </Gate>
  );
};

export default SignIn;
