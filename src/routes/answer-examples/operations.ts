import type { AnswerExamples } from "../../http/openapi-document.ts";

export const OPERATIONS: AnswerExamples["bodies"] = {
  Health: {
    status: "ok",
  },
  Readiness: {
    status: "ok",
    checks: {
      log: "ok",
      projector: "ok",
      views: "ok",
      deliverer: "ok",
    },
    informational: {
      sealing: "ok",
      reactions: "ok",
    },
  },
  Version: {
    version: "0.1.0",
    commit: "unknown",
  },
  Runtime: {
    version: "0.1.0",
    node: "v20.20.2",
    started_at: "2026-11-28T15:42:18.365Z",
    uptime_s: 7,
    engines: {
      log: "sqlite",
      views: "sqlite",
      feed: "none",
    },
    erasure: {
      bytes_removed: "within-seconds",
    },
    roles: ["api", "projector", "deliverer", "feed"],
    projections: [
      {
        view: "events.v3",
        position: "lg6a-0000000000000119",
        lag_events: 0,
        lag_s: 0,
      },
    ],
    feed: null,
    memory: {
      rss: 203755520,
      heap_used: 53558536,
      heap_total: 81952768,
      external: 7295403,
    },
  },
  ViewSchemas: {
    data: [
      {
        view: "events.v3",
        description:
          "One document for every webhook that was authenticated and decided on, with its attempts and its timeline; documents without a status list the types and senders of an account's events.",
        url: "https://countersign.example/schemas/events.v3",
      },
    ],
    next_cursor: null,
  },
  ViewSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://countersign.example/schemas/events.v3",
    title: "events.v3",
  },
  StatusSummary: {
    status: "operational",
    updated_at: "2026-11-28T15:42:32.321Z",
    components: [
      {
        name: "log",
        status: "operational",
      },
      {
        name: "projector",
        status: "operational",
      },
      {
        name: "views",
        status: "operational",
      },
      {
        name: "sealing",
        status: "operational",
      },
      {
        name: "reactions",
        status: "operational",
      },
      {
        name: "deliverer",
        status: "operational",
      },
    ],
    last_24h: {
      admitted: "<10",
      blocked: "<10",
      delivered: "<10",
      failed: "<10",
      delivery_success_rate: null,
      delivery_p50_ms: null,
      delivery_p99_ms: null,
    },
    days: [
      {
        date: "2026-11-28",
        status: "operational",
        observed: true,
        admitted: "<10",
        delivered: "<10",
        failed: "<10",
      },
      {
        date: "2026-11-27",
        status: "operational",
        observed: false,
        admitted: "<10",
        delivered: "<10",
        failed: "<10",
      },
    ],
  },
};
