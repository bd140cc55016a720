import { suite } from "uvu";
import * as assert from "uvu/assert";
import { serviceInProcess } from "../../support/service-in-process.ts";

const test = suite("every route that changes something, and why it can or cannot weaken a control");

/** Decided by `domain/change-control/weakening.ts` before the change is made; a key gets 403 `person-required`. */
const CAN: Readonly<Record<string, string>> = {
  "POST /v1/agents": "a new agent may reach an action without the approvals that others need",
  "PATCH /v1/agents/{id}": "detaches or replaces its policy, widens its scope, or changes the name that conditions see",
  "DELETE /v1/agents/{id}": "the approvals that its policy asked for go with it",
  "POST /v1/agents/{id}/key": "whoever rotates the key has the agent's credential in hand",
  "POST /v1/sources": "a new source may send to an endpoint without the approvals that others need",
  "PATCH /v1/sources/{id}": "detaches or replaces its policy, or leads to another endpoint",
  "DELETE /v1/sources/{id}": "the approvals that its policy asked for go with it",
  "POST /v1/sources/{id}/secret": "whoever rotates the secret has the source's credential in hand",
  "PUT /v1/actions/{name}": "a second action on an endpoint, a lower cost, another undo, or no policy any more",
  "DELETE /v1/actions/{name}": "the policy on the action goes with it, and the action could be put again without one",
  "POST /v1/endpoints": "recorded for later decisions; a new endpoint itself is reached by nobody yet",
  "PATCH /v1/endpoints/{id}": "detaches or replaces its policy",
  "DELETE /v1/endpoints/{id}": "the actions that lead to it lose its policy and could lead elsewhere",
  "POST /v1/policies": "recorded for later decisions; a new policy itself is on nothing yet",
  "PUT /v1/policies/{id}": "a lower quorum, a narrower condition, or any other gate that lets more through",
  "POST /v1/members/invitations": "adds somebody who can approve; only an owner with a session may, and it is recorded",
  "PATCH /v1/members/{id}": "makes somebody an approver; only an owner with a session may, and it is recorded",
};

const ASKS = "it asks for something under the policies that there are, and changes none";
const OWN_LOGIN = "it changes how a person logs in to their own membership, and neither roles nor policies";

const CANNOT: Readonly<Record<string, string>> = {
  "POST /v1/policies/validate": "it only says what publishing would say",
  "DELETE /v1/policies/{id}/protection-lift": "it keeps the protection of a policy, which would have ended",
  "POST /v1/agents/{id}/suspend": "it takes ways away, and the policy stays",
  "POST /v1/agents/{id}/resume": "a suspended agent counts as one that reaches its actions",
  "POST /v1/api-keys": "a key never approves and never weakens; only a person with a session makes one",
  "DELETE /v1/api-keys/{id}": "a key is not part of any approval",
  "DELETE /v1/members/{id}": "fewer people can approve, and the quorum stays",
  "POST /v1/members/{id}/reset": "nobody becomes an approver; the record names who made the link and who used it",
  "POST /v1/endpoints/{id}/secret": "the receiver accepts only a secret that its own operator has entered",
  "POST /v1/endpoints/{id}/enable": "what waits was decided on before",
  "POST /v1/sources/{id}/sample": "its content is ours, it is marked, and it passes the policies as any event does",
  "POST /v1/endpoints/{id}/test": "it sends a marked test, nothing of an agent or a source",
  "POST /v1/approvals/{id}/approve": "a vote is what the control asks for",
  "POST /v1/approvals/{id}/reject": "a vote is what the control asks for",
  "POST /v1/approvals/{id}/reveal": "it shows fields where the policy lets it, and changes no approval",
  "POST /v1/execute": ASKS,
  "POST /v1/bundles": ASKS,
  "POST /v1/webhooks/{provider}/{source_id}": ASKS,
  "POST /v1/events/{id}/replay": ASKS,
  "POST /v1/replays": ASKS,
  "POST /v1/replays/{id}/cancel": "it sends less",
  "POST /v1/bundles/{id}/cancel": "it takes back what was done",
  "POST /v1/bundles/{id}/steps/{index}/resolve": "it records what a person did by hand",
  "DELETE /v1/bundles/{id}/payload": "nothing is left that could be sent",
  "DELETE /v1/events/{id}/payload": "nothing is left that could be sent",
  "DELETE /v1/audit/personal/{id}": "it erases data about persons, and no control",
  "POST /v1/billing/checkout/start": "a plan changes volumes, and no policy",
  "POST /v1/billing/portal": "a plan changes volumes, and no policy",
  "POST /v1/auth/signup": "it makes another account",
  "POST /v1/auth/start": "it makes the first account of the installation",
  "POST /v1/auth/login": OWN_LOGIN,
  "POST /v1/auth/logout": OWN_LOGIN,
  "POST /v1/auth/password": OWN_LOGIN,
  "POST /v1/auth/reset": OWN_LOGIN,
  "POST /v1/auth/device": "it asks a member for a login, and gives nothing",
  "POST /v1/auth/device/token": "a command line has the rights of the member who let it in",
  "POST /v1/auth/device/request": "it changes nothing",
  "POST /v1/auth/device/approve": OWN_LOGIN,
  "POST /v1/auth/device/deny": OWN_LOGIN,
  "DELETE /v1/auth/sessions": OWN_LOGIN,
  "DELETE /v1/auth/sessions/{id}": OWN_LOGIN,
  "PATCH /v1/account":
    "only a person changes the time zone, and a day that has begun is never begun again, so no budget is given twice",
  "PUT /v1/members/me/preferences": "it changes what a member sees and how, and nothing that is decided",
  "POST /v1/auth/invitations/read": "it changes nothing",
  "POST /v1/auth/reset/read": "it changes nothing",
  "POST /v1/auth/invitations/accept": "the role was decided on and recorded when the invitation was made",
};

const SAFE: ReadonlySet<string> = new Set(["get", "head", "options"]);

test("each route that changes anything is listed with the reason why it can or cannot weaken a control", async () => {
  const world = await serviceInProcess();
  // An OpenAPI document, which has its methods below its paths.
  const description = (await (await fetch(`${world.base}/openapi.json`)).json()) as { paths: Record<string, object> };
  await world.stop();
  const there = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => !SAFE.has(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const listed = new Set([...Object.keys(CAN), ...Object.keys(CANNOT)]);
  assert.equal(
    there.filter((route) => !listed.has(route)),
    [],
    "say of each new route in CAN or CANNOT why it can or cannot weaken a control; one that can asks `Controls.authorize`",
  );
  assert.equal(
    Object.keys(CAN).filter((route) => route in CANNOT),
    [],
  );
});

test("each route that can weaken a control says that it may answer person-required to a key", async () => {
  const world = await serviceInProcess();
  const { paths } = (await (await fetch(`${world.base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  await world.stop();
  for (const route of Object.keys(CAN).filter((it) => !it.includes("/members"))) {
    const [method = "", path = ""] = route.split(" ");
    const described = JSON.stringify(paths[path]?.[method.toLowerCase()]);
    assert.match(described, /person-required/, route);
    // One that is held takes one of the account's places for held changes.
    if (described.includes("change_id")) assert.match(described, /limit-reached/, route);
  }
});

test.run();
