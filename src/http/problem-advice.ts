import type { ProblemCode } from "../streams/problems.ts";

/** For each problem, what happened and what the reader can do next. */
export const PROBLEM_ADVICE: Readonly<Record<ProblemCode, readonly [happened: string, next: string]>> = {
  "invalid-request": [
    "A part of the request is missing, unknown or malformed.",
    "Read `detail` and `errors`, which name each part by its path, and send a corrected request.",
  ],
  "authorization-pending": [
    "Nobody has let this command line in yet.",
    "Ask again after `interval` seconds, until the person has decided or the code has expired.",
  ],
  "slow-down": ["The command line asked again too soon.", "Wait 5 seconds longer than before between two calls."],
  "access-denied": [
    "A person has refused the login of this command line.",
    "Run `countersign login` again if that was a mistake.",
  ],
  "expired-token": [
    "The code is unknown, was used already, or has expired.",
    "Run `countersign login` again for a new code.",
  ],
  "mixed-credentials": [
    "The request carries a session cookie and an Authorization header, or several of one kind.",
    "Send one credential only.",
  ],
  unauthenticated: [
    "The request has no credential, or one that is unknown, revoked or expired.",
    "Log in again, or send Authorization: Bearer with a valid key.",
  ],
  "invalid-credentials": [
    "The e-mail address and the password do not belong together.",
    "Check both. An owner of the account can make a link with which you set a new password.",
  ],
  "invalid-signature": [
    "The signature or token of the webhook does not match the secrets of the source.",
    "Read `reason`. Compare the secret at the provider with the one of the source, and send the body byte for byte as it was signed.",
  ],
  forbidden: [
    "The credential is valid, but its role does not allow this call.",
    "Use a credential with the needed role, or ask an owner of the account.",
  ],
  "person-required": [
    "The change weakens a control, so an API key may not make it.",
    "Ask a person to make the change in the console.",
  ],
  "self-approval": [
    "You count as the requester, and the policy does not let requesters approve.",
    "Ask another approver to decide.",
  ],
  "cross-site": [
    "The call came with a session cookie from a page of another site.",
    "Make the call from the console's own address, or use an API key.",
  ],
  "agent-suspended": [
    "An administrator has suspended this agent.",
    "Ask an administrator of the account to resume it.",
  ],
  "signup-closed": ["This service does not let strangers sign up.", "Ask the owner of an account to invite you."],
  "out-of-scope": [
    "The agent's scope does not include this action.",
    "Choose an action of the scope, or ask an administrator to extend it.",
  ],
  "plan-limit": ["The account has as many sources as its plan includes.", "Remove a source, or choose a larger plan."],
  "not-found": [
    "There is nothing at this address that this credential may see.",
    "Check the id and the account to which the credential belongs.",
  ],
  "unknown-action": [
    "The account has no action of this name.",
    "Check the name, or register the action with PUT /v1/actions/{name}.",
  ],
  "method-not-allowed": [
    "The address exists, but does not have this method.",
    "Use one of the methods in the Allow header.",
  ],
  "request-timeout": [
    "The request did not arrive completely in time.",
    "Send it again over a faster connection, or send less.",
  ],
  "email-taken": ["An account with this e-mail address exists.", "Log in with it, or sign up with another address."],
  "in-progress": [
    "The first request with this Idempotency-Key has not been answered yet.",
    "Wait a moment and repeat the same request.",
  ],
  "delivery-id-reused": [
    "Another body arrived earlier with the same delivery id, and a delivery is taken once.",
    "Send a new event under a new delivery id.",
  ],
  "source-paused": ["The source is paused and takes no webhooks.", "Activate the source, and send the webhook again."],
  "endpoint-in-use": [
    "Sources or actions still deliver to this endpoint.",
    "Give them another endpoint first; the answer names them.",
  ],
  "policy-in-use": ["Sources, agents, endpoints or actions still use this policy.", "Give them another policy first."],
  "digest-mismatch": [
    "The digest is not the one of the request that waits, so you may have read another version of it.",
    "Read the approval again, and decide with its present digest.",
  ],
  "already-decided": ["The approval was decided before your vote arrived.", "Read the approval to see the decision."],
  expired: ["Nobody decided before the approval expired, so the request was refused.", "Have the request sent again."],
  "already-delivered": [
    "The event reached its endpoint, and is not delivered a second time.",
    "Nothing is to be done. If the receiver lost it, read the payload of the event.",
  ],
  "endpoint-disabled": ["The endpoint is disabled, so nothing is sent to it.", "Enable the endpoint, and ask again."],
  "not-sealed": ["The record is not part of a signed checkpoint yet.", "Repeat the request in a few seconds."],
  "not-witnessed": [
    "No witness has signed a checkpoint with this record yet.",
    "Repeat the request later, or take the proof without `witnessed`.",
  ],
  conflict: [
    "The present state does not allow this change.",
    "Read the present state, and ask again if it is still what you want.",
  ],
  "too-large": ["The body is larger than this call takes.", "Send a smaller body. Large data belongs behind a link."],
  "unsupported-media-type": [
    "The call takes JSON only, without a content encoding.",
    "Send Content-Type: application/json.",
  ],
  "too-few-approvers": [
    "Fewer people could approve than the policy needs.",
    "Invite more approvers, or change the policy.",
  ],
  "weak-password": [
    "The password is too short, too common or like the address.",
    "Choose a longer one, such as several unrelated words.",
  ],
  "unknown-event-type": [
    "There is no sample of this event type for the source's provider.",
    "Choose one of the types that the answer lists.",
  ],
  "unknown-provider": [
    "The source's type is none that this service knows.",
    "Choose a type of `providers` in the answer, or `hmac`.",
  ],
  "address-not-allowed": [
    "The address is not public, so deliveries to it are refused.",
    "Use a public address. An operator can open a range with DELIVERY_ALLOW_CIDRS.",
  ],
  "invalid-policy": [
    "A part of the policy's definition is not valid.",
    "Read `errors`, which name each part, and send a corrected definition.",
  ],
  "invalid-action": [
    "A part of the action's definition is not valid.",
    "Read `errors`, which name each part, and send a corrected definition.",
  ],
  "invalid-bundle": [
    "A step of the bundle is not valid.",
    "Read `errors`, which name the step, and send a corrected bundle.",
  ],
  "irreversible-not-last": [
    "A step that cannot be undone is followed by other steps.",
    "Move the irreversible step to the end.",
  ],
  "no-compensation": [
    "A step could not be undone, because its action has no compensation.",
    "Give the action a compensation, or make it the last step.",
  ],
  "idempotency-key-reused": [
    "Another request was sent earlier with this Idempotency-Key.",
    "Send a new request under a new key.",
  ],
  "gate-require-fields": [
    "The policy requires fields that the payload does not have.",
    "Read `verdict`, add the fields, and send a new request.",
  ],
  "gate-content": [
    "A rule of the policy refuses requests with this content.",
    "Read `verdict`, which names the rule. Change the request, or ask an administrator about the rule.",
  ],
  "cost-unknown": [
    "The policy has a budget or a price, and the cost of this request cannot be read.",
    "Send the amount at the place that the policy names, as a number.",
  ],
  "gate-schema": [
    "The payload does not match the schema of the policy or action.",
    "Read `verdict`, which names the place, and send a corrected payload.",
  ],
  "rate-limited": [
    "Too many requests were made in a short time.",
    "Wait for the seconds in Retry-After, and send fewer requests.",
  ],
  "gate-rate": [
    "The policy's number of requests a minute is reached.",
    "Repeat the request after the seconds in Retry-After.",
  ],
  "gate-budget": [
    "The request would cost more than is left of the policy's budget.",
    "Repeat it when the budget begins anew, or ask an administrator to raise it.",
  ],
  "gate-loop": [
    "Too many identical requests, or too many of one run, were made.",
    "Check whether the sender repeats itself. Repeat the request after Retry-After if it was meant.",
  ],
  "gate-quota": [
    "The events that the plan includes are used up.",
    "Choose a larger plan, or wait for the next period.",
  ],
  "headers-too-large": [
    "The headers of the request are larger than the service takes.",
    "Send fewer or shorter headers and cookies.",
  ],
  "limit-reached": [
    "The account has as many of these as its plan includes.",
    "Remove some of them, or choose a larger plan. `limit` names the limit.",
  ],
  "payload-not-kept": ["Only the beginning of this payload was kept.", "Ask the sender to send the webhook again."],
  "payload-damaged": [
    "The stored payload does not match its hash, so it is not used.",
    "Tell the operator, who can restore it from a backup.",
  ],
  internal: [
    "The service has made a mistake.",
    "Repeat the request. If it fails again, tell the operator the trace_id.",
  ],
  overloaded: [
    "The service has more requests than it can take.",
    "Repeat the request after the seconds in Retry-After.",
  ],
  unavailable: [
    "A part that the service needs does not answer at the moment.",
    "Repeat the request later, with the same Idempotency-Key if it changes something.",
  ],
  "view-behind": ["The view does not contain the position in `after` yet.", "Repeat the request in a second."],
};
