/** Compiled with everything else and never run: each line that must not compile is marked, and an error when it does. */
import { Countersign, CountersignError, type ErrorCode, hasEnded, isCountersignError } from "../../../src/sdk/index.ts";

type Actions = {
  readonly "refund.create": {
    readonly payload: { readonly charge: string; readonly amount?: number };
    readonly result: { readonly refund: string };
  };
  readonly "mail.send": { readonly payload: { readonly to: string } };
};

interface AsInterface {
  "refund.create": { payload: { charge: string }; result?: { refund: string } };
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => {};

const OPTIONS = { baseUrl: "https://countersign.test", key: "csa_" };

export const anActionIsTypedByTheMap = async (): Promise<void> => {
  const countersign = new Countersign<Actions>(OPTIONS);
  const done = await countersign.execute("refund.create", { charge: "ch_1" }, { runId: "1", signal: undefined });
  await countersign.execute("mail.send", { to: "a@example.com" });

  // @ts-expect-error an unknown action
  await countersign.execute("refund.delete", { charge: "ch_1" });
  // @ts-expect-error a member of the wrong type
  await countersign.execute("refund.create", { charge: 1 });
  // @ts-expect-error a member that is missing
  await countersign.execute("refund.create", {});
  // @ts-expect-error a member that is not known
  await countersign.execute("refund.create", { charge: "ch_1", amout: 3 });
  // @ts-expect-error the payload of another action
  await countersign.execute("refund.create", { to: "a@example.com" });
  // @ts-expect-error an option that there is not
  await countersign.execute("mail.send", { to: "a@example.com" }, { wait: 3 });
  // @ts-expect-error a key is needed
  new Countersign<Actions>({ baseUrl: "https://countersign.test" });

  // @ts-expect-error only what is delivered has a result of the action
  done.result.body.refund;
  if (done.status === "delivered") {
    same<typeof done.result.body, { readonly refund: string }>(true);
    // @ts-expect-error the result has no such member
    done.result.body.mail;
    // @ts-expect-error what is delivered waits for nobody
    done.approvalId;
  }
  if (done.status === "held") same<typeof done.approvalId, string>(true);
  if (!hasEnded(done)) same<typeof done.status, "held" | "queued" | "delivering" | "retrying">(true);
};

export const whatIsNotSaidIsUnknown = async (): Promise<void> => {
  const countersign = new Countersign<Actions>(OPTIONS);
  const sent = await countersign.execute("mail.send", { to: "a@example.com" });
  if (sent.status === "delivered") same<typeof sent.result.body, unknown>(true);
  const some = await countersign.waitForApproval("evt_1");
  if (some.status === "delivered") same<typeof some.result.body, unknown>(true);
  const refund = await countersign.waitForApproval<"refund.create">("evt_1");
  if (refund.status === "delivered") same<typeof refund.result.body, { readonly refund: string }>(true);
  // @ts-expect-error what has ended is not held
  refund.status === "held";
};

export const mapsOfAllKindsWill = async (): Promise<void> => {
  const free = new Countersign(OPTIONS);
  await free.execute("anything", [1, "two", null]);
  const typed = new Countersign<AsInterface>(OPTIONS);
  const done = await typed.execute("refund.create", { charge: "ch_1" });
  if (done.status === "delivered") same<typeof done.result.body, { refund: string }>(true);
  // What a generator writes has no results: they are added to it.
  type Known = { readonly "mail.send": { readonly payload: { readonly to: string } } };
  const added = new Countersign<Known & { "mail.send": { result: { id: number } } }>(OPTIONS);
  const mail = await added.execute("mail.send", { to: "a@example.com" });
  if (mail.status === "delivered") same<typeof mail.result.body, { id: number }>(true);
  // @ts-expect-error the payload is still the known one
  await added.execute("mail.send", { to: 1 });
  // @ts-expect-error an action has a payload
  new Countersign<{ "mail.send": { to: string } }>(OPTIONS);
};

export const aBundleIsTypedStepByStep = async (): Promise<void> => {
  const countersign = new Countersign<Actions>(OPTIONS);
  const done = await countersign.bundle(
    [
      { action: "refund.create", payload: { charge: "ch_1" } },
      { action: "mail.send", payload: { to: { $result: { step: 0, pointer: "/refund" } } } },
    ],
    { name: "both", runId: "1" },
  );
  await countersign.bundle([{ action: "mail.send", payload: { $result: { step: 0, pointer: "" } } }]);
  same<typeof done.steps.length, 2>(true);
  const [refund, mail] = done.steps;
  // @ts-expect-error only what succeeded has a result of the action
  refund.result.body.refund;
  if (refund.status === "succeeded") same<typeof refund.result.body, { readonly refund: string }>(true);
  if (mail.status === "succeeded") same<typeof mail.result.body, unknown>(true);
  if (!hasEnded(done)) same<typeof done.status, "held" | "running" | "rolling_back">(true);
  else same<typeof done.status, "committed" | "rolled_back" | "rollback_incomplete" | "blocked" | "cancelled">(true);
  const ended = await countersign.waitForBundle(done.bundleId);
  // @ts-expect-error what has ended is not held
  ended.status === "held";

  // @ts-expect-error an unknown action
  await countersign.bundle([{ action: "refund.delete", payload: {} }]);
  // @ts-expect-error the payload of another action
  await countersign.bundle([{ action: "mail.send", payload: { charge: "ch_1" } }]);
  // @ts-expect-error a member that is not known
  await countersign.bundle([{ action: "refund.create", payload: { charge: "ch_1", amout: 3 } }]);
  // @ts-expect-error no place in a result
  await countersign.bundle([{ action: "mail.send", payload: { to: { $result: { step: "0", pointer: "" } } } }]);
  // @ts-expect-error an option of a single action
  await countersign.bundle([{ action: "mail.send", payload: { to: "a" } }], { costEur: 1 });

  const free = await new Countersign(OPTIONS).bundle([{ action: "anything", payload: [1, null] }]);
  const [anything] = free.steps;
  if (anything.status === "succeeded") same<typeof anything.result.body, unknown>(true);
};

export const anyFetchWill = (): void => {
  new Countersign({ ...OPTIONS, fetch });
  new Countersign({ ...OPTIONS, fetch: undefined });
  new Countersign({ ...OPTIONS, fetch: async () => new Response() });
  // @ts-expect-error an answer is needed
  new Countersign({ ...OPTIONS, fetch: async () => undefined });
};

export const codesAreClosed = (error: unknown): string => {
  if (!isCountersignError(error)) return "another's";
  same<typeof error.code, ErrorCode>(true);
  if (isCountersignError(error, "gate-budget", "gate-loop")) {
    same<typeof error.code, "gate-budget" | "gate-loop">(true);
  }
  // @ts-expect-error a code that there is not
  isCountersignError(error, "gate-budgets");
  // @ts-expect-error a code that there is not
  new CountersignError({ code: "other", detail: "", retryable: false });
  return error.detail;
};
