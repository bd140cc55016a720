/** The groups of calls, in the order in which most readers come for them. */
export const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: "sources", description: "Where webhooks come from, the address that each provider posts to, and samples." },
  { name: "events", description: "What came in or was requested: its verdict, its attempts, its payload; figures." },
  { name: "endpoints", description: "The applications that events are delivered to, and their health." },
  { name: "policies", description: "What an event has to satisfy: schema, rules, rate, loops, budget, approval." },
  { name: "agents", description: "Agents, the actions that they may request, and their requests." },
  { name: "approvals", description: "What waits for people, and their decisions." },
  { name: "bundles", description: "Several actions as one, which are undone together." },
  { name: "replays", description: "Events that are delivered again, one or many." },
  { name: "audit", description: "The records, the proofs that they are complete, and exports." },
  { name: "accounts", description: "Sign-up, sessions, members, keys, erasure, and what the service is capable of." },
  { name: "billing", description: "The plan, its limits, what was used of it, and what it costs." },
  { name: "console", description: "The files of the console, and the verifier of exports as one file." },
  { name: "operations", description: "For the operator: health, metrics, versions." },
];
