/** The service's own notifications to endpoints are events, too; they are shown on request. */
export const WITHOUT_NOTIFICATIONS = "source,agent";
export const WITH_NOTIFICATIONS = "source,agent,system";
