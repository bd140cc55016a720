import * as fc from "fast-check";
import { approvalFacts, at, bundleFacts, deliveryFacts, endpointRegistered, type History, history } from "./history.ts";

/** Any facts about four events, three endpoints and two accounts, in any order: also such as no decider would allow. */
const step = fc.record({
  event: fc.integer({ min: 1, max: 4 }),
  endpoint: fc.integer({ min: 1, max: 3 }),
  fact: fc.constantFrom(
    ...(["admitted", "blocked", "started", "succeeded", "delivered", "attemptFailed", "lastFailed", "failed"] as const),
    ...(["held", "released", "holdEnded", "cancelling", "cancelled"] as const),
    ...(["asked", "voted", "granted", "notGranted", "notDecided", "stopped"] as const),
    ...([
      "bundle",
      "bundleHeld",
      "bundleBlocked",
      "bundleHoldEnded",
      "stepStarted",
      "stepRefused",
      "stepEnded",
    ] as const),
    ...(["rollback", "undoing", "undone", "resolved", "incomplete", "rolledBack", "spent"] as const),
    ...(["duplicates", "erased", "endpointRegistered", "unknown"] as const),
  ),
  number: fc.integer({ min: 1, max: 3 }),
  second: fc.integer({ min: 0, max: 200_000 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const add = (log: History, { event, endpoint, fact, number, second }: Step): void => {
  const id = `evt_${event}`;
  const facts = deliveryFacts(id, `end_${endpoint}`);
  const about = { account: `acc_${1 + (event % 2)}`, at: at(second) };
  const stream = `delivery-${id}`;
  const approval_id = `apr_${event}`;
  const approval = approvalFacts(approval_id, { account: about.account });
  const addToApproval = (told: ReturnType<typeof approval.granted>) => log.add(`approval-${approval_id}`, told, about);
  const bundle_id = `bun_${event}`;
  const bundle = bundleFacts(bundle_id);
  const addToBundle = (told: ReturnType<typeof bundle.committed>) => log.add(`bundle-${bundle_id}`, told, about);
  const index = number - 1;
  switch (fact) {
    case "bundle":
      return void addToBundle(bundle.admitted({ at: at(second) }));
    case "bundleHeld":
      return void addToBundle(bundle.held({ approval_id }));
    case "bundleBlocked":
      return void addToBundle(bundle.blocked({ at: at(second) }));
    case "bundleHoldEnded":
      return void addToBundle(bundle.holdEnded(second, "rejected", approval_id));
    case "stepStarted":
      return void addToBundle(bundle.started(index, second));
    case "stepRefused":
      return void addToBundle(bundle.refused(index, second));
    case "stepEnded":
      return void addToBundle(bundle.ended(index, second, number === 1 ? "succeeded" : "unknown"));
    case "undone":
      return void addToBundle(bundle.undone(index, second, number === 1 ? "failed" : "not-needed"));
    case "undoing":
    case "resolved":
      return void addToBundle(bundle[fact](index, second));
    case "incomplete":
      return void addToBundle(bundle.incomplete(second, index));
    case "spent":
      return void addToBundle(bundle.spent(second, number === 1 ? null : number));
    case "rollback":
    case "rolledBack":
      return void addToBundle(bundle[fact](second));
    case "held":
      return void log.add(stream, facts.held({ approval_id }, { at: at(second) }), about);
    case "released":
      return void log.add(stream, facts.released(second, approval_id, number === 1 ? null : `end_${endpoint}`), about);
    case "holdEnded":
      return void log.add(stream, facts.holdEnded(second, number === 1 ? "expired" : "cancelled", approval_id), about);
    case "cancelling":
    case "cancelled":
      return void log.add(stream, facts[fact](second), about);
    case "asked":
      return void addToApproval(approval.requested());
    case "voted":
      return void addToApproval(approval.voted(`mem_${number}`, number === 1 ? "reject" : "approve", second));
    case "granted":
      return void addToApproval(approval.granted(second));
    case "notGranted":
      return void addToApproval(approval.rejected(second));
    case "notDecided":
      return void addToApproval(approval.expired(second));
    case "stopped":
      return void addToApproval(approval.cancelled(second));
    case "admitted":
    case "blocked":
      return void log.add(stream, facts[fact]({ at: at(second), type: `type.${number}` }), about);
    case "started":
    case "succeeded":
      return void log.add(stream, facts[fact](number, second), about);
    case "attemptFailed":
      return void log.add(stream, facts.attemptFailed(number, second, at(second + 5)), about);
    case "lastFailed":
      return void log.add(stream, facts.attemptFailed(number, second, null), about);
    case "duplicates":
      return void log.add(stream, facts.duplicates(number, second), about);
    case "delivered":
    case "failed":
    case "erased":
      return void log.add(stream, facts[fact](second), about);
    case "endpointRegistered":
      return void log.add(`endpoint-end_${endpoint}`, endpointRegistered(`end_${endpoint}`), about);
    case "unknown":
      return void log.add(stream, { type: "constructor", data: {} }, about);
  }
};

export const randomHistory: fc.Arbitrary<History> = fc.array(step, { maxLength: 60 }).map((steps) => {
  const log = history();
  for (const one of steps) add(log, one);
  return log;
});
