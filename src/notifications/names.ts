/**
 * What an endpoint can subscribe to. Only what is sent: a name that nothing comes of yet is refused, so that nobody waits
 * for it.
 */
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
