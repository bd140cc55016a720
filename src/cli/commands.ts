import type { CommandEntry } from "./command.ts";
import { resourceCommands } from "./resource-entries.ts";

export const COMMANDS: readonly CommandEntry[] = [
  { name: "serve", summary: "runs the service", load: async () => (await import("./serve.ts")).serve },
  {
    name: "send",
    summary: "sends a realistic sample event of a source's provider",
    load: async () => (await import("./send.ts")).send,
  },
  {
    name: "listen",
    summary: "forwards each new delivery to a program on this machine as well",
    load: async () => (await import("./listen.ts")).listen,
  },
  {
    name: "status",
    summary: "the health of a service; with a key also the account's usage and endpoints",
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "events tail",
    summary: "the newest events, and with --follow their changes as they happen",
    load: async () => (await import("./events-tail.ts")).eventsTail,
  },
  {
    name: "events show",
    summary: "one event: its verdict, its timeline and every attempt",
    load: async () => (await import("./events-show.ts")).eventsShow,
  },
  {
    name: "replay",
    summary: "sends failed events again, or has the gates decide blocked ones again",
    load: async () => (await import("./replay.ts")).replay,
  },
  {
    name: "replay cancel",
    summary: "stops a bulk replay; events that it has sent stay sent",
    load: async () => (await import("./replay.ts")).replayCancel,
  },
  {
    name: "login",
    summary: "logs this command line in as a person, who lets it in on the console's page",
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "logout",
    summary: "ends this command line's session",
    load: async () => (await import("./logout.ts")).logout,
  },
  {
    name: "whoami",
    summary: "the person as whom this command line calls, and the service",
    load: async () => (await import("./whoami.ts")).whoami,
  },
  {
    name: "profiles",
    summary: "the profiles of this command line, and which one is current",
    load: async () => (await import("./profile-commands.ts")).profilesList,
  },
  {
    name: "profiles use",
    summary: "makes another profile the current one",
    load: async () => (await import("./profile-commands.ts")).profilesUse,
  },
  {
    name: "profiles remove",
    summary: "forgets a profile, and the key in it",
    load: async () => (await import("./profile-commands.ts")).profilesRemove,
  },
  {
    name: "approvals show",
    summary: "what one approval is about, with its digest",
    load: async () => (await import("./approvals.ts")).approvalsShow,
  },
  {
    name: "approvals approve",
    summary: "approves a request, as the person who is logged in",
    load: async () => (await import("./approvals.ts")).approvalsApprove,
  },
  {
    name: "approvals reject",
    summary: "rejects a request, with the reason",
    load: async () => (await import("./approvals.ts")).approvalsReject,
  },
  ...resourceCommands,
  {
    name: "evidence",
    summary: "makes a folder of evidence for an auditor: records, proofs, claims and a report",
    load: async () => (await import("./evidence.ts")).evidence,
  },
  {
    name: "verify",
    summary: "checks an export, a proof or a checkpoint offline, without trusting whoever made it",
    load: async () => (await import("./verify.ts")).verify,
  },
  {
    name: "witness",
    summary: "cosigns a log's checkpoints, and refuses any that takes something back",
    load: async () => (await import("./witness.ts")).witness,
  },
  {
    name: "backup",
    summary: "copies the log and its keys, while the service may run",
    load: async () => (await import("./backup.ts")).backup,
  },
  {
    name: "log copy",
    summary: "copies a log into another engine, and continues an interrupted copy",
    load: async () => (await import("./log-copy.ts")).logCopy,
  },
  {
    name: "log verify",
    summary: "compares a log with what was sealed, and counts and hashes its records",
    load: async () => (await import("./log-verify.ts")).logVerify,
  },
  {
    name: "views rebuild",
    summary: "rebuilds views from the log, while the service may run",
    load: async () => (await import("./views-rebuild.ts")).viewsRebuild,
  },
  {
    name: "key rotate",
    summary: "seals the keys in the log under a new COUNTERSIGN_KEY, on the service's machine",
    load: async () => (await import("./key-rotate.ts")).keyRotate,
  },
  {
    name: "audit make-key",
    summary: "makes a key that signs checkpoints, for AUDIT_KEY_FILE",
    load: async () => (await import("./audit-keys.ts")).auditMakeKey,
  },
  {
    name: "audit rotate-key",
    summary: "replaces the key that signs checkpoints, on the service's machine",
    load: async () => (await import("./audit-keys.ts")).auditRotateKey,
  },
  {
    name: "audit reopen",
    summary: "goes on sealing after a restore that was meant, in a new generation of the log's proofs",
    load: async () => (await import("./audit-keys.ts")).auditReopen,
  },
  {
    name: "account recover",
    summary: "a reset link for an owner, or the end of a policy's protection, on the service's machine",
    load: async () => (await import("./account-recover.ts")).accountRecover,
  },
  {
    name: "sdk types",
    summary: "the TypeScript types of the account's actions, for the agent SDK",
    load: async () => (await import("./sdk-types.ts")).sdkTypes,
  },
  {
    name: "completion",
    summary: "prints a script that makes a shell complete these commands",
    load: async () => (await import("./completion.ts")).completion(() => COMMANDS),
  },
];
