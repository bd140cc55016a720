import { useState } from "preact/hooks";
import { Field, fieldsOf, Select } from "../../design/field.tsx";
import { Layer } from "../../design/layer.tsx";
import { StateMark } from "../../design/mark.tsx";
import { Secret } from "../../design/secret.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking, ErrorText, Note, Section, Time } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import type { Problem } from "../api/calls.ts";
import { useRows } from "../shell/use-rows.ts";
import { Act } from "./act.tsx";
import { ActButton } from "./act-button.tsx";
import { AskErasure, EraseRemoved } from "./member-erase.tsx";
import { PlanLimit } from "./plan-limit.tsx";
import { RowsTable, SettingsFrame } from "./settings-frame.tsx";
import { ROLES, roleWord } from "./settings-text.ts";
import { WithRight } from "./with-right.tsx";

type Member = AnswerOf<"GET /v1/members">["data"][number];
type Changed = AnswerOf<"PATCH /v1/members/{id}">;
type Link = {
  readonly kind: "invitation" | "reset";
  readonly email: string;
  readonly url: string;
  readonly until: string;
};

/** The value of a select of roles. */
const roleIn = (text: string | undefined): Member["role"] =>
  ROLES.find(({ value }) => value === text)?.value ?? "viewer";

const Invite = ({ onMade }: { readonly onMade: (link: Link) => void }) => {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (form: HTMLFormElement): Promise<void> => {
    if (isBusy) return;
    const { email = "", role } = fieldsOf(form);
    setBusy(true);
    const answer = await call("POST /v1/members/invitations", { body: { email, role: roleIn(role) } });
    setBusy(false);
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    form.reset();
    onMade({ kind: "invitation", email, url: answer.body.invitation_url, until: answer.body.expires_at });
  };
  return (
    <Section title="Invite a person">
      <form
        class="ask stack"
        aria-label="Invite a person"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <Field
          label="E-mail"
          name="email"
          type="email"
          autocomplete="off"
          maxLength={254}
          required
          fault={problem?.detail ?? null}
        />
        <Select label="Role" name="role" value="viewer" choices={ROLES} />
        <button class="btn first" type="submit" disabled={isBusy}>
          Make the invitation
        </button>
        <PlanLimit problem={problem} />
      </form>
    </Section>
  );
};

type RoleProps = {
  readonly member: Member;
  readonly onClose: () => void;
  readonly onChanged: (answer: Changed) => void;
};

const ChangeRole = ({ member: { id, email, role }, onClose, onChanged }: RoleProps) => {
  const [fault, setFault] = useState<string | null>(null);
  const send = async (form: HTMLFormElement): Promise<void> => {
    const to = roleIn(fieldsOf(form).role);
    const answer = await call("PATCH /v1/members/{id}", { params: { id }, body: { role: to } });
    setFault(answer.ok ? null : answer.problem.detail);
    if (answer.ok) onChanged(answer.body);
  };
  return (
    <Layer label={`Role of ${email}`} kind="box" onClose={onClose}>
      <h3>
        Role of <Breaking text={email} />
      </h3>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <Select
          label="Role"
          name="role"
          value={role}
          choices={ROLES}
          hint="It counts from the next thing that they do."
        />
        <ErrorText text={fault} />
        <div class="row">
          <button class="btn end" type="button" onClick={onClose}>
            Keep {role}
          </button>
          <button class="btn first" type="submit">
            Change the role
          </button>
        </div>
      </form>
    </Layer>
  );
};

const LINKS = {
  invitation: { title: "This link is shown once.", what: "With it they join the account and choose a password." },
  reset: { title: "This link is shown once.", what: "With it they choose a new password, which ends their sessions." },
} as const;

const ShownLink = ({ link, onDone }: { readonly link: Link; readonly onDone: () => void }) => (
  <div>
    <Secret
      secret={link.url}
      title={LINKS[link.kind].title}
      text={`Give it to ${link.email} only. ${LINKS[link.kind].what}`}
      onDone={onDone}
    />
    <p class="meta">
      It works until <Time at={link.until} />, and once.
    </p>
  </div>
);

type Deeds = {
  readonly onRole: (member: Member) => void;
  readonly onErase: (member: Member) => void;
  readonly onLink: (link: Link) => void;
  readonly onGone: () => void;
  /** Why this member can neither leave nor get another role; null if they can. */
  readonly why: (member: Member) => string | null;
};

const MemberActs = ({ member, deeds }: { readonly member: Member; readonly deeds: Deeds }) => {
  const { id, email, state } = member;
  const params = { id };
  if (state === "invited")
    return (
      <div class="row">
        <Act
          label="Revoke"
          act={() => call("DELETE /v1/members/{id}", { params })}
          done={`The invitation of ${email} is revoked.`}
          onDone={deeds.onGone}
          why={null}
        />
      </div>
    );
  const why = deeds.why(member);
  return (
    <div class="row">
      <ActButton why={why} isTold onPress={() => deeds.onRole(member)}>
        Role…
      </ActButton>
      <Act
        label="Reset link"
        act={() => call("POST /v1/members/{id}/reset", { params })}
        done={null}
        onDone={(made) => deeds.onLink({ kind: "reset", email, url: made.reset_url, until: made.expires_at })}
        why={null}
        ask={{
          question: `Make a reset link for ${email}?`,
          text: "Their password and their sessions go on until the link is used. An earlier reset link stops working.",
          keep: "Make none",
        }}
      />
      <Act
        label="Remove"
        act={() => call("DELETE /v1/members/{id}", { params })}
        done={`${email} is removed.`}
        onDone={deeds.onGone}
        why={why}
        isTold
        ask={{
          question: `Remove ${email}?`,
          text: "Their sessions end at once. What they have decided stays in the audit, under their name.",
          keep: "Keep this member",
        }}
      />
      <ActButton why={why} isTold onPress={() => deeds.onErase(member)}>
        Erase…
      </ActButton>
    </div>
  );
};

const columns = (deeds: Deeds): readonly Column<Member>[] => [
  {
    name: "E-mail",
    as: "a",
    show: ({ id, email }) => (
      <>
        <b>
          <Breaking text={email} />
        </b>
        {id === me.value?.member.id ? <span class="soft"> (you)</span> : null}
      </>
    ),
  },
  { name: "Role", as: "b", show: ({ role }) => roleWord(role) },
  {
    name: "State",
    as: "c",
    show: ({ state, expires_at }) =>
      state === "active" ? (
        <StateMark value="active" word="Member" />
      ) : (
        <>
          <StateMark value="queued" word="Invited" />
          {expires_at === null ? null : (
            <span class="sub">
              until <Time at={expires_at} />
            </span>
          )}
        </>
      ),
  },
  {
    name: "Last sign-in",
    as: "soft",
    show: ({ state, last_sign_in_at: at }) =>
      state === "invited" ? null : (
        <>
          <span class="phone">Last sign-in: </span>
          {typeof at === "string" ? <Time at={at} /> : "never"}
        </>
      ),
  },
  { name: "Since", as: "soft hide wide", show: ({ created_at: at }) => <Time at={at} /> },
  { name: "Acts", as: "acts", show: (member) => <MemberActs member={member} deeds={deeds} /> },
];

/** A last owner keeps their role and stays: nobody else could make another one. */
const lastOwner = ({ email }: Member): string =>
  `${email} is the account's last owner. Make another member an owner before this one leaves or gets another role.`;

const Shown = () => {
  /** Each is shown once, so a further one takes no other away. */
  const [links, setLinks] = useState<readonly Link[]>([]);
  const [changing, setChanging] = useState<Member | null>(null);
  const [erasing, setErasing] = useState<Member | null>(null);
  const [held, setHeld] = useState<string | null>(null);
  const list = useRows<Member>({
    keyOf: ({ id }) => id,
    page: (cursor) => call("GET /v1/members", { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
  });
  const isOwner = ({ role, state }: Member): boolean => role === "owner" && state === "active";
  const owners = list.rows.filter(isOwner).length;
  const shownOnce = (link: Link): void => setLinks((before) => [link, ...before]);
  const deeds: Deeds = {
    onRole: setChanging,
    onErase: setErasing,
    onLink: shownOnce,
    onGone: list.again,
    // With further pages another owner may be on one of them, and the service knows.
    why: (member) => (isOwner(member) && owners === 1 && list.more === null ? lastOwner(member) : null),
  };
  const reason = list.rows.map(deeds.why).find((it) => it !== null);
  const changed = (answer: Changed): void => {
    setChanging(null);
    if (answer.status === "held") setHeld(String(answer.approval_id));
    else toast.value = { text: `${answer.email} is ${answer.role} now.` };
    list.again();
  };
  return (
    <>
      {links.map((link) => (
        <ShownLink key={link.url} link={link} onDone={() => setLinks((before) => before.filter((it) => it !== link))} />
      ))}
      {held === null ? null : (
        <Note role="wait" mark="held">
          <p>
            This change weakens a protected policy, so another person has to approve it.{" "}
            <a href={`/approvals/${encodeURIComponent(held)}`}>See the approval</a>
          </p>
        </Note>
      )}
      <Section title="Members and invitations">
        {reason === undefined ? null : <p class="soft">{reason}</p>}
        <RowsTable
          caption="Members and invitations"
          list={list}
          columns={columns(deeds)}
          keyOf={({ id }) => id}
          empty="Nobody is here."
        />
      </Section>
      <Invite
        onMade={(made) => {
          shownOnce(made);
          list.again();
        }}
      />
      <EraseRemoved onDone={list.again} />
      {erasing === null ? null : (
        <AskErasure id={erasing.id} name={erasing.email} onDone={list.again} onClose={() => setErasing(null)} />
      )}
      {changing === null ? null : (
        <ChangeRole member={changing} onClose={() => setChanging(null)} onChanged={changed} />
      )}
    </>
  );
};

const Members = () => (
  <SettingsFrame name="members">
    <WithRight needs="owner" says="Only an owner sees and changes members">
      <Shown />
    </WithRight>
  </SettingsFrame>
);

export default Members;
