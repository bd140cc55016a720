export const changeStream = (changeId: string): string => `change-${changeId}`;
