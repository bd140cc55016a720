export const NOTIFICATIONS = [
  "approval.requested",
  "approval.decided",
  "agent.suspended",
  "agent.resumed",
  "budget.threshold",
  "endpoint.degraded",
  "endpoint.opened",
  "endpoint.recovered",
  "endpoint.warned",
  "endpoint.disabled",
  "delivery.failed",
] as const;

export type NotificationName = (typeof NOTIFICATIONS)[number];
